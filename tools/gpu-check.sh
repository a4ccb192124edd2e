#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs all checks and measurements that need a GPU.
#
#     tools/gpu-check.sh pack <build folder> <folder>     makes a folder that needs only a driver: programs,
#                                                         libraries and this script, at most 60 MB
#     <folder>/gpu-check.sh run <results>                 there: all checks and measurements, under 9 minutes
#
# A run measures first (bench/), then goes through cases.txt. A case of kind "both" runs on the GPU and on the
# CPU device: both must exit with 0 and print the same, whole numbers exactly, others to 4 digits, lines in
# whatever order. A case of kind "gpu" checks itself, at a size for GPUs. Results: results.json, a
# measurement a line; tests.txt, a case a line; output/ of cases that failed; a description of the machine.
#
# Environment of a run: DEVICE (cuda:0), LIMIT_S (510: nothing runs longer than that), WARPAGE_LIBCUDA.
# Exit status: 0 all passed, 1 some failed or were left out, 2 wrong usage, 77 no GPU.
set -u

usage() {
    sed -n 's/^#  *\(tools\/gpu-check.sh pack.*\|<folder>.*\)/\1/p' "$0" >&2
    exit 2
}

# ---- pack ----

flags_of() { sed -n '1,12s|^// FLAGS: *||p' "$1"; }

# "<kind> <seconds> <program> <arguments…>", a case a line.
list_cases() { # the folder
    echo "probe 150"
    echo "both 20 examples/hello"
    echo "both 20 examples/vecadd"
    echo "both 20 examples/histogram gpu-check.sh"
    for memory in copy managed zerocopy; do
        for app in "bfs --variant queue" "bfs --variant mask --graph grid" "sssp --variant near-far" \
            "sssp --variant bellman-ford --graph rmat" "pagerank --variant thread" "pagerank --variant warp" \
            "pvc" "kmeans" "hotspot" "backprop" "fdtd-2d" "srad" "nw" \
            "ra --variant update" "ra --variant lookup" "triad" "triad --type float" "sgemm" "stencil" "spmv" \
            "spmv --variant warp --matrix band" "pathfinder" "conv2d" "atax" "xs-lookup" \
            "xs-lookup --grid nuclide" "md" "cg" "cg --format ell" "lud" "adi" "mis" "color" "color --variant max-min" \
            "bc"; do
            echo "both 40 apps/$app --memory $memory --check"
        done
    done
    for app in "bfs --size 128MiB" "bfs --size 128MiB --memory managed" "sssp --size 4M" "pagerank --size 128MiB" \
        "pvc --size 256MiB" "kmeans --size 128MiB" "hotspot --size 16M --iterations 20" "backprop --size 1M" \
        "fdtd-2d --size 16M --iterations 20" "srad --size 8M --iterations 20" "nw --size 4K" \
        "ra --size 16M" "triad --size 64M --iterations 10" "sgemm --size 1M" \
        "stencil --size 16M --depth 64 --iterations 10" "spmv --size 2M" "pathfinder --size 64M" \
        "conv2d --size 16M" "atax --size 16M" "xs-lookup --size 2K --lookups 1M" "md --size 32000" \
        "cg --size 512K --iterations 20" "lud --size 2K" "adi --size 4M" "mis --size 1M" \
        "color --graph uniform --degree 4 --size 1M" "bc --size 1M"; do
        echo "gpu 60 apps/$app --check"
    done
    for program in "$1"/programs/*; do
        case $program in
        *.env) ;;
        *) echo "both 40 programs/$(basename "$program")" ;;
        esac
    done
}

pack() { # build folder, target
    build=$(cd "$1" && pwd) || exit 2
    root=$(cd "$(dirname "$0")/.." && pwd) || exit 2
    mkdir -p "$2/bin" "$2/lib" "$2/programs" "$2/bench" "$2/examples" "$2/apps" || exit 2
    target=$(cd "$2" && pwd)
    wpcc=$build/bin/wpcc
    cp "$build/bin/warpage" "$target/bin/"
    cp -P "$build"/lib/libwarpage*.so* "$target/lib/"
    # The small libraries beside libc: as files, for machines that have not got them.
    ldd "$build/bin/warpage" | sed -n 's/.*=> \([^ ]*lib\(jansson\|inih\|z\)[^ ]*\).*/\1/p' |
        while IFS= read -r library; do cp -L "$library" "$target/lib/"; done
    for source in "$root"/tests/e2e/*.cu; do
        name=$(basename "$source" .cu)
        # shellcheck disable=SC2046  # flags are words
        "$wpcc" $(flags_of "$source") "$source" -o "$target/programs/$name" ||
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
    list_cases "$target" >"$target/cases.txt"
    git -C "$root" rev-parse HEAD >"$target/commit" 2>/dev/null || echo unknown >"$target/commit"
    cp "$0" "$target/gpu-check.sh"
    kib=$(du -sk "$target" | cut -f1)
    echo "$target: $((kib / 1024)) MiB, $(grep -c . "$target/cases.txt") cases"
    [ "$kib" -le 58593 ] || { echo "gpu-check: more than 60 MB" >&2; exit 1; }
}

# ---- run ----

seconds() { echo $(($(date +%s) - start)); }

# bounded <seconds> <command…>: 124 or 137 when the time is over. When programs hang one after the other it
# is the GPU that hangs: then each gets little time, so that the rest is tried, too.
bounded() {
    allowed=$1
    shift
    [ "$hung" -lt 3 ] || [ "$allowed" -lt 5 ] || allowed=5
    rest=$((LIMIT_S - $(seconds)))
    [ "$rest" -ge "$allowed" ] || allowed=$rest
    [ "$allowed" -ge 1 ] || return 124
    timeout -k 2 "$allowed" "$@"
}

# same <a> <b>: 0 the same bytes, 1 the same but for the last digits of numbers with a point, 2 others.
same() {
    cmp -s "$1" "$2" && return 0
    awk -v other="$2" '
        function take(line, numbers) { # the numbers of a line; `text` is what is left
            count = 0
            text = ""
            while (match(line, /[0-9][0-9,]*(\.[0-9]+)?([eE][-+]?[0-9]+)?/)) {
                numbers[++count] = substr(line, RSTART, RLENGTH)
                text = text substr(line, 1, RSTART - 1) "#"
                line = substr(line, RSTART + RLENGTH)
            }
            text = text line
            return count
        }
        function near(x, y) { return x - y <= 1e-4 * (x + y) / 2 && y - x <= 1e-4 * (x + y) / 2 }
        {
            if ((getline line < other) <= 0) differ = 1
            n = take($0, a)
            kept = text
            if (take(line, b) != n || text != kept) differ = 1
            for (i = 1; i <= n; i++)
                if (a[i] != b[i] && (a[i] !~ /[.eE]/ || b[i] !~ /[.eE]/ || !near(a[i] + 0, b[i] + 0))) differ = 1
        }
        END {
            if ((getline line < other) > 0) differ = 1
            exit differ ? 2 : 1
        }' "$1"
}

# Runs a program on a device: run_on <spec> <output> <seconds> <program> <arguments…>
run_on() {
    spec=$1 output=$2 most=$3 program=$4
    shift 4
    environment=
    [ -f "$here/$program.env" ] && environment=$(cat "$here/$program.env")
    # shellcheck disable=SC2086  # rows of an environment are words
    bounded "$most" env $environment WARPAGE_DEVICE="$spec" "$here/$program" "$@" \
        >"$output" 2>"$output.err" </dev/null
}

says() { # exit status
    case $1 in
    0) echo "passed" ;;
    124 | 137) echo "ran out of time" ;;
    *) echo "exit status $1" ;;
    esac
}

compare() { # sets verdict
    same "$work/cpu" "$work/gpu"
    case $? in
    0) return ;;
    1) verdict="passed, last digits differ" && return ;;
    esac
    sort "$work/cpu" >"$work/cpu.sorted"
    sort "$work/gpu" >"$work/gpu.sorted"
    same "$work/cpu.sorted" "$work/gpu.sorted"
    case $? in
    0 | 1) verdict="passed, lines in another order" ;;
    *) verdict="FAILED: prints something else than on the CPU" ;;
    esac
}

keep_output() { # name of the case
    mkdir -p "$results/output"
    for device in cpu gpu; do
        [ -f "$work/$device" ] || continue
        { head -c 4000 "$work/$device"; head -c 4000 "$work/$device.err"; } \
            >"$results/output/$(echo "$1" | tr '/ ' __).$device"
    done
}

check_case() { # kind, seconds, program, arguments…
    kind=$1 most=$2
    shift 2
    if [ "$(seconds)" -ge "$((LIMIT_S - 1))" ]; then
        echo "skipped: no time left  $*" >>"$results/tests.txt"
        skipped=$((skipped + 1))
        return
    fi
    began=$(seconds)
    rm -f "$work"/*
    run_on "$DEVICE" "$work/gpu" "$most" "$@"
    gpu=$?
    cpu=0
    [ "$kind" = gpu ] || { run_on cpu "$work/cpu" "$most" "$@"; cpu=$?; }
    verdict=passed
    if [ $gpu -ne 0 ] || [ $cpu -ne 0 ]; then
        verdict="FAILED: $(says $gpu) on $DEVICE"
        [ "$kind" = gpu ] || verdict="$verdict, $(says $cpu) on cpu"
    elif [ "$kind" = both ]; then
        compare
    fi
    case $gpu in
    124 | 137) hung=$((hung + 1)) ;;
    *) hung=0 ;;
    esac
    echo "$verdict  $*  ($(($(seconds) - began)) s)" >>"$results/tests.txt"
    case $verdict in
    FAILED*)
        failed=$((failed + 1))
        echo "$verdict  $*"
        keep_output "$*"
        ;;
    esac
    case $1 in apps/*) [ $gpu -eq 0 ] && keep_times "$work/gpu.err" "$*" ;; esac
}

# ---- measurements ----

# Puts where, when and how before what a program says of itself, {"what": …}.
add_lines() { # command; lines on stdin
    sed "s|^{|{\"command\": \"$1\", \"device\": \"$name_of_device\", \"driver\": \"$driver\", \"date\": \"$date\", \"commit\": \"$commit\", |" >>"$results/results.json"
}

# The times that the programs of apps/ tell: "  kernels   338.93 ms   6 launches …"
keep_times() { # their stderr, command
    awk '$1 == "kernels" || ($1 == "copy" && $2 == "to") {
            at = $1 == "copy" ? 4 : 2
            what = $1 == "copy" ? "copy to " $3 : "kernels"
            scale = $(at + 1) == "s" ? 1 : $(at + 1) == "ms" ? 1e-3 : $(at + 1) == "us" ? 1e-6 : 0
            value = $at
            gsub(",", "", value)
            if (scale > 0)
                printf "{\"what\": \"%s\", \"unit\": \"s\", \"median\": %.6g, \"repeats\": 1}\n", what, value * scale
        }' "$1" | add_lines "$2"
}

measure() { # seconds, program, arguments…
    most=$1 program=$2
    shift 2
    rm -f "$work"/*
    WARPAGE_DEVICE=$DEVICE bounded "$most" "$here/bench/$program" "$@" >"$work/gpu" 2>"$work/gpu.err" </dev/null
    status=$?
    grep '^{' "$work/gpu" | add_lines "bench/$program${*:+ $*}"
    if [ $status -eq 0 ]; then
        echo "passed  bench/$program" >>"$results/tests.txt"
        return
    fi
    failed=$((failed + 1))
    echo "FAILED: $(says $status)  bench/$program: $(head -n 1 "$work/gpu.err")" | tee -a "$results/tests.txt"
    keep_output "bench/$program"
}

# A case of kind "probe" finds the GPU's TLBs. Its curves and samples are kept.
probe() { # seconds
    bounded "$1" "$here/bin/warpage" probe --device "$DEVICE" --budget "$(($1 - 30))s" \
        --output "$results/probe" >"$work/gpu" 2>"$work/gpu.err" </dev/null
    status=$?
    [ $status -eq 0 ] && echo "passed  probe" >>"$results/tests.txt" && return
    failed=$((failed + 1))
    echo "FAILED: $(says $status)  probe: $(tail -n 1 "$work/gpu.err")" | tee -a "$results/tests.txt"
}

describe_machine() {
    bounded 15 nvidia-smi -q 2>/dev/null || echo "no nvidia-smi"
    uname -a
    sed -n '/^model name/{p;q;}' /proc/cpuinfo
    nproc
}

find_device() { # sets name_of_device, driver
    bounded 60 "$here/bin/warpage" devices --measure --format=csv >"$results/devices.csv" 2>"$work/err"
    if ! grep -q '^cpu,' "$results/devices.csv"; then
        echo "gpu-check: the programs do not run on this machine: $(head -n 1 "$work/err")"
        exit 1
    fi
    row=$(grep "^$DEVICE,yes," "$results/devices.csv")
    if [ -z "$row" ]; then
        echo "gpu-check: no $DEVICE: $(grep "^$DEVICE," "$results/devices.csv")"
        exit 77
    fi
    name_of_device=$(echo "$row" | cut -d, -f3)
    driver=$(echo "$row" | sed -n 's/.*driver for \(CUDA [0-9.]*\).*/\1/p')
    version=$(bounded 15 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    [ -z "$version" ] || driver="$version, $driver"
}

run() { # results
    here=$(cd "$(dirname "$0")" && pwd) || exit 2
    [ -x "$here/bin/warpage" ] || usage
    mkdir -p "$1" || exit 2
    results=$(cd "$1" && pwd)
    cd "$here" || exit 2 # arguments of cases are files here
    DEVICE=${DEVICE:-cuda:0} LIMIT_S=${LIMIT_S:-510}
    start=$(date +%s) failed=0 skipped=0 hung=0
    work=$(mktemp -d) || exit 2
    trap 'rm -rf "$work"' EXIT
    LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    unset WARPAGE_DEVICE WARPAGE_CHECK
    : >"$results/tests.txt"
    : >"$results/results.json"
    find_device
    date=$(date -u +%Y-%m-%dT%H:%M:%SZ) commit=$(cat "$here/commit")
    bounded 30 "$here/bin/warpage" doctor >"$results/doctor.txt" 2>&1
    describe_machine >"$results/machine.txt"
    echo "$name_of_device, driver $driver"

    measure 60 bandwidth
    measure 60 latency
    measure 90 random_access
    while read -r line; do
        # shellcheck disable=SC2086  # a case is words
        case $line in
        probe*) probe ${line#probe} ;;
        *) check_case $line ;;
        esac
    done <"$here/cases.txt"
    passed=$(grep -c '^passed' "$results/tests.txt")
    echo "$passed passed, $failed failed, $skipped left out in $(seconds) s; results in $results"
    [ "$failed" -eq 0 ] && [ "$skipped" -eq 0 ]
}

case ${1-} in
pack) [ $# -eq 3 ] || usage && pack "$2" "$3" ;;
run) [ $# -eq 2 ] || usage && run "$2" ;;
*) usage ;;
esac
