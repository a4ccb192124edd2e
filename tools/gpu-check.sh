#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Everything worth doing when a GPU is at hand.
#
#     tools/gpu-check.sh pack <build folder> <folder>     makes a folder that needs only a driver: programs,
#                                                         libraries and this script, at most 60 MB
#     <folder>/gpu-check.sh run <results>                 there: all checks and measurements, under 9 minutes
#
# A run compares each program on the GPU with the same program on the CPU device: both must pass, and where
# what they print differs that is noted. Results: results.json, one line each; tests.txt; the environment.
# Environment of a run: DEVICE (cuda:0), LIMIT_S (500: no program starts later than that), WARPAGE_LIBCUDA.
# Exit status: 0 all passed, 1 some failed, 2 wrong usage, 77 no GPU.
set -u

usage() {
    sed -n 's/^#  *\(tools\/gpu-check.sh pack.*\|<folder>.*\)/\1/p' "$0" >&2
    exit 2
}

# ---- pack ----

pack() { # build folder, target
    build=$(cd "$1" && pwd) || exit 2
    root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
    mkdir -p "$2/bin" "$2/lib" "$2/programs" "$2/bench" "$2/examples" "$2/apps" || exit 2
    target=$(cd "$2" && pwd)
    wpcc=$build/bin/wpcc
    cp "$build/bin/warpage" "$target/bin/"
    cp -P "$build"/lib/libwarpage.so* "$target/lib/"
    # The small libraries beside libc: as files, for machines that have not got them.
    ldd "$build/lib/libwarpage.so" | sed -n 's/.*=> \([^ ]*lib\(jansson\|zstd\)[^ ]*\).*/\1/p' |
        while IFS= read -r library; do cp -L "$library" "$target/lib/"; done
    for source in "$root"/tests/e2e/*.cu; do
        name=$(basename "$source" .cu)
        # shellcheck disable=SC2046  # flags are words
        "$wpcc" $(sed -n '1,12s|^// FLAGS: *||p' "$source") "$source" -o "$target/programs/$name" ||
            { echo "gpu-check: $name does not compile" >&2; exit 1; }
        sed -n '1,12s|^// ENV: *||p' "$source" >"$target/programs/$name.env"
        [ -s "$target/programs/$name.env" ] || rm "$target/programs/$name.env"
    done
    for source in "$root"/bench/gpu/*.cu; do
        "$wpcc" -O2 "$source" -o "$target/bench/$(basename "$source" .cu)" || exit 1
    done
    for source in "$root"/examples/*.cu; do
        "$wpcc" "$source" -o "$target/examples/$(basename "$source" .cu)" || exit 1
    done
    for app in "$build"/apps/*; do
        [ -f "$app" ] && [ -x "$app" ] && cp "$app" "$target/apps/"
    done
    find "$target" -type f -size +16k -exec sh -c 'for f; do strip --strip-debug "$f" 2>/dev/null; done' sh {} +
    git -C "$root" rev-parse HEAD >"$target/commit" 2>/dev/null || echo unknown >"$target/commit"
    cp "$0" "$target/gpu-check.sh"
    kib=$(du -sk "$target" | cut -f1)
    echo "$target: $((kib / 1024)) MiB"
    [ "$kib" -le 58593 ] || { echo "gpu-check: more than 60 MB" >&2; exit 1; }
}

# ---- run ----

seconds() { echo $(($(date +%s) - start)); }

# Runs a program on a device: run_on <spec> <program> <output>
run_on() {
    environment=
    [ -f "$2.env" ] && environment=$(cat "$2.env")
    # shellcheck disable=SC2086  # rows of an environment are words
    env $environment WARPAGE_DEVICE="$1" timeout 30 "$2" >"$3" 2>"$3.err" </dev/null
}

check_program() { # program
    name=${1#"$here"/}
    if [ "$(seconds)" -ge "$LIMIT_S" ]; then
        echo "skipped  $name: no time left" >>"$results/tests.txt"
        skipped=$((skipped + 1))
        return
    fi
    run_on cpu "$1" "$work/cpu"
    cpu=$?
    run_on "$DEVICE" "$1" "$work/gpu"
    gpu=$?
    verdict=passed
    cmp -s "$work/cpu" "$work/gpu" || verdict="passed, prints something else than on the CPU"
    if [ $gpu -ne 0 ] || [ $cpu -ne 0 ]; then
        verdict="FAILED: exit status $gpu on $DEVICE, $cpu on cpu"
        failed=$((failed + 1))
    fi
    echo "$verdict  $name" >>"$results/tests.txt"
    case $verdict in
    passed) ;;
    *)
        echo "$name: $verdict"
        mkdir -p "$results/output"
        for device in cpu gpu; do
            { head -c 4000 "$work/$device"; head -c 4000 "$work/$device.err"; } \
                >"$results/output/$(echo "$name" | tr / _).$device"
        done
        ;;
    esac
}

measure() { # program arguments…
    program=$1
    shift
    if WARPAGE_DEVICE=$DEVICE timeout 120 "$here/bench/$program" "$@" >"$work/out" 2>"$work/err"; then
        grep '^{' "$work/out" | sed "s|^{|{\"command\": \"$program${*:+ $*}\", \"device\": \"$name_of_device\", \"driver\": \"$driver\", \"date\": \"$date\", \"commit\": \"$commit\", |" >>"$results/results.json"
    else
        echo "bench/$program: failed: $(head -n 1 "$work/err")"
        echo "FAILED  bench/$program" >>"$results/tests.txt"
        failed=$((failed + 1))
    fi
}

run() { # results
    here=$(cd "$(dirname "$0")" && pwd) || exit 2
    [ -x "$here/bin/warpage" ] || usage
    mkdir -p "$1" || exit 2
    results=$(cd "$1" && pwd)
    DEVICE=${DEVICE:-cuda:0} LIMIT_S=${LIMIT_S:-500}
    start=$(date +%s) failed=0 skipped=0
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    unset WARPAGE_DEVICE WARPAGE_CHECK
    : >"$results/tests.txt"
    : >"$results/results.json"
    "$here/bin/warpage" devices --measure --format=csv >"$results/devices.csv" 2>&1
    "$here/bin/warpage" doctor >"$results/doctor.txt" 2>&1
    row=$(grep "^$DEVICE,yes," "$results/devices.csv")
    if [ -z "$row" ]; then
        echo "gpu-check: no $DEVICE: $(grep "^$DEVICE" "$results/devices.csv")"
        exit 77
    fi
    name_of_device=$(echo "$row" | cut -d, -f3)
    driver=$(echo "$row" | sed -n 's/.*driver for \(CUDA [0-9.]*\).*/\1/p')
    date=$(date -u +%Y-%m-%d) commit=$(cat "$here/commit")
    { nvidia-smi -q 2>/dev/null || echo "no nvidia-smi"; uname -a; } >"$results/machine.txt"
    echo "$name_of_device, driver for $driver"

    measure bandwidth
    measure latency
    measure random_access
    for program in "$here"/examples/* "$here"/programs/*; do
        case $program in *.env) ;; *) check_program "$program" ;; esac
    done
    for app in "$here"/apps/*; do
        [ -x "$app" ] && check_program "$app"
    done
    passed=$(grep -c '^passed' "$results/tests.txt")
    echo "$passed passed, $failed failed, $skipped skipped in $(seconds) s; results in $results"
    [ "$failed" -eq 0 ]
}

case ${1-} in
pack) [ $# -eq 3 ] || usage && pack "$2" "$3" ;;
run) [ $# -eq 2 ] || usage && run "$2" ;;
*) usage ;;
esac
