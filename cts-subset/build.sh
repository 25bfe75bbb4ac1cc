#!/usr/bin/env bash
# build.sh DIR [MIRRORS]: builds deqp-vk at DIR/build/external/vulkancts/modules/vulkan for a machine without a window system, about an hour
# of CPU time. MIRRORS holds repositories as OWNER+NAME/repo, as bare ones, of which some old objects may be absent; without it they are
# cloned from GitHub, each at the commit that the suite's own fetch_sources.py names.
# Needs cmake, ninja, g++, git, libx11-dev, python3 and python3-lxml. Called again, it goes on where it was.
set -euo pipefail
dir=$(realpath -m "$1") mirrors=${2:-}

# checkout OWNER/NAME FOLDER [COMMIT]: files of a commit, the newest where the mirror lacks it.
checkout() {
    [ ! -e "$2/.checked-out" ] || return 0
    mkdir -p "$2"
    if [ -z "$mirrors" ]; then
        rm -rf "$2" && git clone -q "https://github.com/$1" "$2" && git -C "$2" checkout -q "${3:-HEAD}"
    else
        local git="$mirrors/${1/\//+}/repo" at=${3:-HEAD} index
        export GIT_NO_LAZY_FETCH=1
        git --git-dir="$git" cat-file -e "$at^{commit}" 2>/dev/null || { echo "$1: no $at, its newest instead"; at=HEAD; }
        index=$(mktemp -u)
        git --git-dir="$git" ls-tree -r "$at" | grep -v ' commit ' >"$index.tree"
        awk '{print $3}' "$index.tree" | git --git-dir="$git" cat-file --batch-check | paste -d'\t' - "$index.tree" |
            awk -F'\t' '$1 !~ / missing$/' | cut -f2- | GIT_INDEX_FILE=$index git --git-dir="$git" update-index --index-info
        GIT_INDEX_FILE=$index git --git-dir="$git" --work-tree="$2" checkout-index -a -f --prefix="$2/"
        rm -f "$index" "$index.tree"
    fi
    touch "$2/.checked-out"
}

checkout KhronosGroup/VK-GL-CTS "$dir"
# The commit that the suite wants of a repository.
wanted() { grep -A2 "https://github.com/$1.git" "$dir/external/fetch_sources.py" | grep -oE '"[0-9a-f]{40}"' | tr -d '"'; }
for of in KhronosGroup/SPIRV-Tools:spirv-tools KhronosGroup/glslang:glslang KhronosGroup/SPIRV-Headers:spirv-headers \
    KhronosGroup/Vulkan-Docs:vulkan-docs KhronosGroup/Vulkan-ValidationLayers:vulkan-validationlayers google/amber:amber \
    open-source-parsers/jsoncpp:jsoncpp KhronosGroup/VulkanSC-pcutil:vulkansc-pcutil Igalia/video_generator:video_generator; do
    checkout "${of%%:*}" "$dir/external/${of#*:}/src" "$(wanted "${of%%:*}")"
done
checkout madler/zlib "$dir/external/zlib/src" v1.2.13
checkout pnggroup/libpng "$dir/external/libpng/src" v1.6.50
cp -n "$dir/external/libpng/src/scripts/pnglibconf.h.prebuilt" "$dir/external/libpng/src/pnglibconf.h"

# The target without windows has a driver of its own that does nothing: the loader instead.
python3 - "$dir/framework/platform/null/tcuNullPlatform.cpp" <<'PATCH'
import sys
path = sys.argv[1]
text = open(path).read()
if "RealVulkan" not in text:
    text = text.replace('#include "vkNullDriver.hpp"\n', '#include "vkNullDriver.hpp"\n#include "vkPlatform.hpp"\n#include "tcuFunctionLibrary.hpp"\n')
    text = text.replace("namespace null\n{\n", """namespace null
{
class RealVulkan : public vk::Library
{
public:
    RealVulkan(const char *path) : m_library(path ? path : "libvulkan.so.1"), m_driver(m_library) {}
    const vk::PlatformInterface &getPlatformInterface(void) const { return m_driver; }
    const tcu::FunctionLibrary &getFunctionLibrary(void) const { return m_library; }
private:
    const tcu::DynamicFunctionLibrary m_library;
    const vk::PlatformDriver m_driver;
};
""", 1)
    text = text.replace("    DE_UNREF(libraryPath);\n    return vk::createNullDriver();", "    return new RealVulkan(libraryPath);")
    text = text.replace("limits.totalDeviceLocalMemory            = 0;", "limits.totalDeviceLocalMemory            = 128 * 1024 * 1024;")
    open(path, "w").write(text)
PATCH

mkdir -p "$dir/build" && cd "$dir/build"
[ -e build.ninja ] || cmake .. -GNinja -DDEQP_DISABLE_VK_VIDEO_TESTS=ON -DCMAKE_BUILD_TYPE=Release -DDEQP_TARGET=null \
    -DCMAKE_C_FLAGS=-O1 -DCMAKE_CXX_FLAGS='-O1 -w' -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG -DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG
nice ninja deqp-vk
