#!/usr/bin/env bash
# setup.sh [--NAME VALUE]...: installs Tuff, and tells what follows that it is the Vulkan driver: by the files that GitHub names, or
# else by lines for `eval`. NAME is one of action.yml's inputs, which are read from TUFF_SETUP_NAME too.
set -euo pipefail

say() { echo "setup-tuff: $*" >&2; }
fail() { say "$@"; exit 1; }
# With sudo only where it is needed.
at() { local place=$1; shift; if [ "$(id -u)" = 0 ] || [ -w "$place" ]; then "$@"; else sudo "$@"; fi; }

names="version repository release package build sha256 prefix conformance"
: "${TUFF_SETUP_CONFORMANCE=1.4.0.0}"
for name in $names; do
    variable=TUFF_SETUP_${name^^}
    declare "$name=${!variable:-}"
done
while [ $# -gt 0 ]; do
    [[ $1 == --* && " $names " == *" ${1#--} "* ]] || fail "$1 is none of: --${names// / --}"
    [ $# -ge 2 ] || fail "$1 needs a value"
    declare "${1#--}=$2"
    shift 2
done
prefix=$(realpath -m -- "${prefix:-/opt/tuff}")
[[ $prefix != *$'\n'* ]] || fail "prefix has more than one line"
[[ $conformance =~ ^[0-9.]*$ ]] || fail "$(printf %q "$conformance") is no version"

ways=0
for way in "$version" "$release" "$package" "$build"; do [ -z "$way" ] || ways=$((ways + 1)); done
[ $ways = 1 ] || fail "name one of version, release, package and build; $ways are named"
machine=$(uname -m)
[[ $(uname -s)-$machine =~ ^Linux-(x86_64|aarch64)$ ]] ||
    fail "there are packages for Linux on x86-64 and on AArch64, and this is $(uname -s) on $machine"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fetch PLACE: a file of this machine as it is, or what an https address gives; prints its path.
fetch() {
    case $1 in
    https://*)
        curl --proto '=https' --fail --silent --show-error --location --retry 3 --output "$work/${1##*/}" "$1" ||
            fail "$1 cannot be fetched"
        echo "$work/${1##*/}"
        ;;
    *://*) fail "$1 is no https address" ;;
    *)
        [ -r "$1" ] || fail "$1 cannot be read"
        echo "$1"
        ;;
    esac
}

if [ -n "$version" ]; then
    [[ $version =~ ^(latest|v?[0-9]+(\.[0-9]+)*)$ ]] || fail "$(printf %q "$version") is no version, and is not latest"
    [[ $repository =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] || fail "repository must be OWNER/NAME, and is '$repository'"
    version=${version#v}
    where=download/v$version
    [ "$version" = latest ] && where=latest/download
    release=${GITHUB_SERVER_URL:-https://github.com}/$repository/releases/$where
fi
if [ -n "$release" ]; then
    sums=$(fetch "${release%/}/SHA256SUMS")
    # Of lines "HASH  NAME", the archive for this machine; names with folders are none.
    pattern="^[0-9a-f]{64}  tuff-[0-9.]+-$machine-linux\.tar\.gz$"
    [ "$(grep -cE "$pattern" "$sums" || true)" = 1 ] || fail "$release/SHA256SUMS does not name one tuff-*-$machine-linux.tar.gz"
    read -r listed name < <(grep -E "$pattern" "$sums")
    case $version in
    '' | latest) ;;
    *) [ "$name" = "tuff-$version-$machine-linux.tar.gz" ] || fail "$release has $name, not version $version" ;;
    esac
    package=$(fetch "${release%/}/$name")
    echo "$listed  $package" | sha256sum --check --quiet --status - || fail "$package is not what $release/SHA256SUMS says"
elif [ -n "$build" ]; then
    [ -r "$build/crates/xtask/Cargo.toml" ] || fail "$build is no checkout of Tuff"
    (cd "$build" && cargo run --quiet --locked --package xtask -- dist --out "$work/dist") >&2 || fail "$build cannot be built"
    package=$(echo "$work"/dist/tuff-*.tar.gz)
else
    package=$(fetch "$package")
fi
if [ -n "$sha256" ]; then
    echo "$sha256  $package" | sha256sum --check --quiet --status - ||
        fail "${package##*/} has the SHA-256 $(sha256sum <"$package" | cut -d' ' -f1), not $sha256"
fi

apt() {
    at /var/lib/dpkg apt-get update -q >&2
    at /var/lib/dpkg env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@" >&2
}
case $package in
*.deb)
    apt "$(realpath "$package")"
    prefix=/usr
    ;;
*.tar.gz)
    existing=$prefix
    while [ ! -e "$existing" ]; do existing=$(dirname "$existing"); done
    at "$existing" mkdir -p "$prefix"
    at "$prefix" tar -xzf "$package" -C "$prefix" --strip-components=1 --no-same-owner
    # The loader is the system's.
    if ! ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1 '; then
        if command -v apt-get >/dev/null; then apt libvulkan1; else say "there is no Vulkan loader (libvulkan.so.1): install it"; fi
    fi
    ;;
*) fail "$package is no .deb and no .tar.gz" ;;
esac

manifest=$prefix/share/vulkan/icd.d/tuff_icd.$machine.json
[ -r "$manifest" ] || fail "$package has no ${manifest#"$prefix/"}"
installed=$("$prefix/bin/tuff" --version) || fail "$prefix/bin/tuff does not run"
# tell NAME VALUE: a variable for what follows.
tell() {
    if [ -n "${GITHUB_ENV:-}" ]; then
        echo "$1=$2" >>"$GITHUB_ENV"
    else
        printf 'export %s=%q\n' "$1" "$2"
    fi
}
tell VK_DRIVER_FILES "$manifest"
# Loaders before 1.3.207 know this name alone.
tell VK_ICD_FILENAMES "$manifest"
[ -z "$conformance" ] || tell TUFF_CONFORMANCE "$conformance"
if [ "$prefix" != /usr ]; then
    if [ -n "${GITHUB_PATH:-}" ]; then
        echo "$prefix/bin" >>"$GITHUB_PATH"
    else
        printf 'export PATH=%q:$PATH\n' "$prefix/bin"
    fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'version=%s\nicd=%s\n' "${installed##* }" "$manifest" >>"$GITHUB_OUTPUT"
fi
say "$installed, in $prefix"
