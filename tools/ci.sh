#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What CI runs, the same by hand:    tools/ci.sh STAGES...
#   asan      unit, contract, ir, cli and model tests under the address and undefined-behaviour sanitizers
#   tsan      unit and contract tests under the thread sanitizer
#   release   everything in a release build; after asan without the ir tests and unit.compiler_memory
#   optional  installs the optional packages (tools/optional.sh), and runs what `release` skipped again
# and by one word:
#   quick     asan
#   full      tsan release
#   test      asan tsan release: what `make test` runs
# Every stage runs, also when one before it failed. Ends with a line for each stage, and the sum alone on the last
# line: `N passed, N failed, N skipped`, out of what CTest noted in build/results. Exit status: 0 if nothing failed.
# WARPAGE_JOBS sets how many jobs build and test at once (default: as many as there are processors, and one test more);
# WARPAGE_CI_NOTE is a line to print before the last; WARPAGE_BUILD_CPU_ISA the processors that the release build compiles
# our own kernels and the programs of apps/ for.
set -u
cd "$(dirname "$0")/.." || exit 2
jobs=${WARPAGE_JOBS:-$(nproc)}
tests=${WARPAGE_JOBS:-$((jobs + 1))} # tests also wait: for files, other processes, and time to pass
results=build/results

stages=
for word; do
    case $word in
    asan | tsan | release | optional) stages="$stages $word" ;;
    quick) stages="$stages asan" ;;
    full) stages="$stages tsan release" ;;
    test) stages="$stages asan tsan release" ;;
    *) stages= && break ;;
    esac
done
if [ -z "$stages" ]; then
    echo "usage: tools/ci.sh asan|tsan|release|optional|quick|full|test..." >&2
    exit 2
fi

build() { # preset, more options of cmake
    echo "==== build: $1"
    [ "$1" != release ] || set -- "$@" ${WARPAGE_BUILD_CPU_ISA:+"-DWARPAGE_APPS_CPU_ISA=$WARPAGE_BUILD_CPU_ISA" \
        "-DWARPAGE_CPU_ISA=$WARPAGE_BUILD_CPU_ISA"}
    if ! cmake --preset "$@" >"build/configure-$1.log" 2>&1; then
        cat "build/configure-$1.log"
        problem="the configuration"
        return 1
    fi
    cmake --build --preset "$1" -j "$jobs" || {
        problem="the build"
        return 1
    }
}

# ctest's exit status is not looked at: what failed is in its results, and these are missing if it broke off.
run_tests() { # stage, preset, more options of ctest
    result=$PWD/$results/$1.xml
    preset=$2
    shift 2
    echo "==== tests: $preset"
    ctest --preset "$preset" -j "$tests" --no-tests=error --output-junit "$result" "$@"
    [ -f "$result" ] || problem="CTest, which left no results"
}

asan() { build asan "-DWARPAGE_KERNELS_FROM=$kernels" && run_tests asan asan -L 'unit|contract|ir|cli|model'; }
tsan() { build tsan "-DWARPAGE_KERNELS_FROM=$kernels" && run_tests tsan tsan -L 'unit|contract'; }
release() {
    tools/ptxas.sh >/dev/null && tools/ptxas.sh 11 >/dev/null # if this fails, the tests that need them say so
    build release || return
    # The passes do the same in each build, as does wpcc when memory runs out, and under sanitizers their memory is
    # checked, too.
    case $stages in
    *asan*release*) [ ! -f $results/asan.xml ] || set -- -LE '^ir$' -E '^unit\.compiler_memory$' ;;
    esac
    run_tests release release "$@"
}
optional() {
    if [ ! -f $results/release.xml ]; then
        problem="what release skipped is not known: it was not tested"
        return
    fi
    skipped=$(python3 tools/ci-summary.py --skipped $results/release.xml)
    [ -n "$skipped" ] || return
    python=$(tools/optional.sh) || problem="the optional packages"
    WARPAGE_PYTHON=${python:-python3} run_tests optional release -FA . -R "$skipped"
}

mkdir -p $results
rm -f $results/stages
if ! tools/setup.sh; then
    echo "ci.sh: the packages needed to build could not be installed; nothing was built or tested" >&2
    printf '%s\n' ${WARPAGE_CI_NOTE:+"$WARPAGE_CI_NOTE"} "0 passed, 1 failed, 0 skipped" >$results/summary
    cat $results/summary
    exit 1
fi
# Sanitizers' builds take our own kernels from the release build where that is wanted, too: it compiles them in half the
# time, and once. If it fails, they compile them, and its own stage says why.
kernels=
case $stages in
*san*release*)
    start=$(date +%s)
    build release && kernels=$PWD/build/release
    echo "build $(($(date +%s) - start))" >>$results/stages
    ;;
esac
for stage in $stages; do
    rm -f "$results/$stage.xml"
    problem=
    start=$(date +%s)
    "$stage"
    echo "$stage $(($(date +%s) - start)) $problem" >>$results/stages
done
python3 tools/ci-summary.py $results ${WARPAGE_CI_NOTE:+"$WARPAGE_CI_NOTE"} >$results/summary
status=$?
echo
cat $results/summary
exit $status
