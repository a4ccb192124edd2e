#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI runs, the same by hand:    tools/ci.sh quick|full|nightly|test
#   quick    unit, contract, ir, cli and model tests under the address and undefined-behaviour sanitizers
#   full     everything in a release build; unit and contract tests under the thread sanitizer
#   nightly  full, and the benchmarks
#   test     quick and full: what `make test` runs. Ends with CTest's summary of the release build.
# WARPAGE_JOBS sets how many jobs build and test at once (default: all processors).
set -eu
cd "$(dirname "$0")/.."
jobs=${WARPAGE_JOBS:-$(nproc)}

build() { # preset
    cmake --preset "$1" >"build/configure-$1.log" 2>&1 || { cat "build/configure-$1.log"; exit 1; }
    cmake --build --preset "$1" -j "$jobs"
}

run_tests() { # preset, more options of ctest
    preset=$1
    shift
    echo "==== tests: $preset"
    ctest --preset "$preset" -j "$jobs" --no-tests=error "$@"
}

quick() {
    build asan
    run_tests asan -L 'unit|contract|ir|cli|model'
}

thread_sanitizer() {
    build tsan
    run_tests tsan -L 'unit|contract'
}

release() {
    tools/ptxas.sh >/dev/null
    build release
    run_tests release
}

tools/setup.sh
mkdir -p build
case ${1:-} in
quick) quick ;;
full)
    thread_sanitizer
    release
    ;;
test)
    quick
    thread_sanitizer
    release
    ;;
nightly)
    quick
    thread_sanitizer
    release
    if [ -x bench/run.sh ]; then bench/run.sh build/release/bin; fi
    ;;
*)
    echo "usage: tools/ci.sh quick|full|nightly|test" >&2
    exit 2
    ;;
esac
