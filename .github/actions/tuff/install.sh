#!/usr/bin/env bash
# install.sh PACKAGE [SHA256 [PREFIX]]: installs Tuff's .deb or .tar.gz (a path or an https address), and tells what follows
# that it is the Vulkan driver: by the files that GitHub names, or else by lines for `eval`.
set -euo pipefail
package=$1 sha256=${2:-} prefix=${3:-/opt/tuff}

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }
say() { echo "$@" >&2; }

if [[ $package == https://* ]]; then
    file=$(mktemp -d)/${package##*/}
    curl --fail --silent --show-error --location --output "$file" "$package"
    package=$file
fi
if [ -n "$sha256" ]; then
    echo "$sha256  $package" | sha256sum --check --quiet - >&2
fi

case $package in
*.deb)
    as_root apt-get update -q >&2
    DEBIAN_FRONTEND=noninteractive as_root apt-get install -q -y --no-install-recommends "$(realpath "$package")" >&2
    prefix=/usr
    ;;
*.tar.gz)
    # The loader is the system's.
    as_root mkdir -p "$prefix"
    as_root tar -xzf "$package" -C "$prefix" --strip-components=1
    ;;
*)
    say "$package is no .deb and no .tar.gz"
    exit 1
    ;;
esac

manifest=$prefix/share/vulkan/icd.d/tuff_icd.$(uname -m).json
[ -r "$manifest" ] || { say "$package has no $manifest"; exit 1; }
# Loaders before 1.3.207 know the second name alone.
for variable in VK_DRIVER_FILES VK_ICD_FILENAMES; do
    if [ -n "${GITHUB_ENV:-}" ]; then
        echo "$variable=$manifest" >>"$GITHUB_ENV"
    else
        echo "export $variable=$manifest"
    fi
done
if [ "$prefix" != /usr ]; then
    if [ -n "${GITHUB_PATH:-}" ]; then
        echo "$prefix/bin" >>"$GITHUB_PATH"
    else
        echo "export PATH=$prefix/bin:\$PATH"
    fi
fi
"$prefix/bin/tuff" --version >&2
