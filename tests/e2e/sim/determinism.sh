#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The same bytes from every run: stdout, and the report but for the wall time, with one worker or two, whether the
# system randomises addresses or not, in step or ahead, for programs with memory of every kind and for the apps.
set -u
apps=$(cd "$E2E/../../apps" && pwd)
built=$(dirname "$WPCC")/../apps
failures=0
fixed=
setarch -R true 2>/dev/null && fixed="setarch -R" # not in every container

run() { # number, what runs it...
    n=$1
    shift
    env FILLER="$(printf '%*s' $((n * 3000)) x)" WARPAGE_DEVICE=sim:p100 WARPAGE_WORKERS=$((n % 2 + 1)) "$WARPAGE" run --report "$TMP/$n.json" \
        -- "$@" >"$TMP/$n.out" 2>"$TMP/$n.err"
    grep -v '"wall_time_ns"' "$TMP/$n.json" >"$TMP/$n.report"
}

same() { # label, program, arguments...
    label=$1
    shift
    run 1 "$@"
    run 2 "$@"
    [ -z "$fixed" ] || run 3 $fixed "$@"
    [ -z "$fixed" ] || sed -i '/"program": \[/,/\]/d' "$TMP/1.report" "$TMP/2.report" "$TMP/3.report"
    grep -q '"time_ns": [1-9]' "$TMP/1.report" || { echo "$label: no times"; failures=1; }
    for n in 2 ${fixed:+3}; do
        cmp -s "$TMP/1.report" "$TMP/$n.report" || { echo "$label: run $n's report differs"; failures=1; }
        cmp -s "$TMP/1.out" "$TMP/$n.out" || { echo "$label: run $n's output differs"; failures=1; }
    done
}

for program in async_overlap atomics_float blocks_wait clocks constant_symbols device_malloc host_memory \
    managed_variables streams_order; do
    exe=${COMPILED:-$TMP}/$program
    # shellcheck disable=SC2046  # flags are words
    [ -n "${COMPILED:-}" ] || "$WPCC" $(sed -n '1,12s|^// FLAGS: *||p' "$E2E/$program.cu") "$E2E/$program.cu" -o "$exe" || exit 1
    same $program "$exe"
done
app() { # app, arguments
    exe=$built/$1
    [ -x "$exe" ] || "$WPCC" -O2 -I "$apps" "$apps/$1"/*.cu "$apps"/common/*.c "$apps"/common/*.cu \
        -o "$TMP/$1" || exit 1
    [ -x "$exe" ] || exe=$TMP/$1
    shift
    same "$exe" "$exe" "$@"
}
app bfs --size 3000
app sssp --size 2000
app pagerank --size 2000
app pvc --size 2000
app kmeans --size 2000
app hotspot --size 3000 --iterations 3
app backprop --size 500 --iterations 2 --memory managed
app fdtd-2d --size 3000 --iterations 3 --memory managed
app srad --size 3000 --iterations 3 --memory managed
app nw --size 70 --memory managed
app ra --size 2K --memory managed
app triad --size 5000 --memory managed
app sgemm --size 3000 --memory managed
app stencil --size 9000 --depth 9 --iterations 2 --memory managed
app spmv --size 500 --memory managed
app pathfinder --size 20K --rows 30 --memory managed
app conv2d --size 20000 --memory managed
app atax --size 20000 --memory managed
app xs-lookup --size 20 --lookups 1000 --memory managed
app md --size 500 --iterations 1 --memory managed
app cg --size 500 --iterations 2 --memory managed
app lud --size 70 --memory managed
app adi --size 3000 --iterations 1 --memory managed
app mis --size 1000 --memory managed
app color --graph grid --size 1000 --memory managed
app bc --size 1000 --sources 1 --memory managed
WARPAGE_IN_STEP=always app bfs --size 1500
WARPAGE_IN_STEP=always app pvc --size 800
exit $failures
