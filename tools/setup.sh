#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that building and testing need, and those named as arguments, if any is
# missing. Needs root or sudo only then. WARPAGE_NO_SETUP=1 skips this.
set -eu
[ -z "${WARPAGE_NO_SETUP:-}" ] || exit 0

packages="
    clang-19 llvm-19 llvm-19-dev llvm-19-tools libclang-rt-19-dev libomp-19-dev libclc-19
    cmake ninja-build pkg-config
    gcc g++ libc6-dev binutils make
    libcmocka-dev libinih-dev libjansson-dev libzstd-dev uthash-dev zlib1g-dev libxml2-dev python3
    gnuplot-nox zstd
    $*
"

if ! command -v dpkg-query >/dev/null 2>&1; then
    echo "setup: not a Debian system; install by hand:" $packages >&2
    exit 0
fi
missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
        echo "setup: these packages are missing and need root to install:$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
$as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
# shellcheck disable=SC2086  # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
