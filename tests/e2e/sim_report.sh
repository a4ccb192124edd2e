#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report of a run on a simulated GPU: its numbers fit the program and each other, two runs give the same
# bytes, and selections leave out what they say.
#
# Run by run.sh: $WPCC, $WARPAGE, $TMP (an empty folder), $DEVICES (the device).
set -u
case $DEVICES in cpu) ;; *) exit 77 ;; esac
cd "$TMP" || exit 1
failures=0
fail() {
    echo "  $*"
    failures=$((failures + 1))
}

cat >p.cu <<'PROGRAM'
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

__device__ int table[1024];

__global__ void add(const int *a, int *b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] += a[i];
}

__global__ void look_up(const int *a, int *b) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = table[a[i] & 1023];
}

int main() {
    const int n = 1 << 16;
    int *a, *b;
    cudaMalloc(&a, n * sizeof *a);
    cudaMalloc(&b, n * sizeof *b);
    cudaMemset(a, 1, n * sizeof *a);
    add<<<n / 256, 256>>>(a, b);
    cudaProfilerStart();
    add<<<n / 256, 256>>>(a, b);
    look_up<<<n / 256, 256>>>(a, b);
    cudaProfilerStop();
    add<<<n / 256, 256>>>(a, b);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
PROGRAM
"$WPCC" p.cu -o p || exit 1

run() { # report, options...
    report=$1
    shift
    setarch -R "$WARPAGE" run --device sim:gtx1080ti --report "$report" "$@" ./p || fail "run $*"
}

# The value of a counter in the CSV: row (kernel or run), name's start, column.
cell() {
    awk -F, -v row="$1" -v name="$2" -v column="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $1 == row && index($0, row "," name) == 1 || $1 == row && index($0, row ",\"" name) == 1 {
            gsub(/"[^"]*"/, "name"); print $at; exit }' "$4" | tr -d '\r'
}

expect() { # what, got, wanted
    [ "$2" = "$3" ] || fail "$1: $2, expected $3"
}

run a.json && run b.json && cmp -s a.json b.json || fail "two runs, two JSON reports"
run a.csv && run b.csv && cmp -s a.csv b.csv || fail "two runs, two CSV reports"
run a.txt && run b.txt && cmp -s a.txt b.txt || fail "two runs, two text reports"
grep -q '"simulated_time_ns": [1-9]' a.json || fail "no simulated_time_ns"
grep -q wall_time a.json && fail "wall time in a simulated report"

# 65536 threads a launch: a load of each operand, 8 warps of 32 lanes on whole lines, 4 sectors each.
expect "launches of add" "$(cell kernel add count a.csv)" 3
expect "loads of add" "$(cell kernel add kernel_loads a.csv)" $((3 * 2 * 65536 / 32))
expect "stores of look_up" "$(cell kernel look_up kernel_stores a.csv)" $((65536 / 32))
expect "sectors a load" "$(cell kernel add sectors_per_load a.csv)" 4

# Kernels add up to the run.
for column in kernel_thread_instructions kernel_warp_instructions memory_load_sectors walker_walks; do
    sum=$(($(cell kernel add $column a.csv) + $(cell kernel look_up $column a.csv)))
    expect "sum of $column" "$(cell run '' $column a.csv)" $sum
done
# … and where their time went to the time they took.
spent=0
for part in issue translation l1 l2 dram link queue; do
    spent=$((spent + $(cell run '' memory_spent_${part}_ps a.csv)))
done
latency=$(awk '/"simulation"/ { run = 1 } run && /"memory_[a-z]*_latency_ps": \{/ { inside = 1 }
    inside && /"sum"/ { gsub(/[^0-9]/, ""); sum += $0; inside = 0 } END { printf "%.0f\n", sum }' a.json)
expect "time of accesses" "$spent" "$latency"

# Allocations: by the parameter through which they were reached, and who asked for them.
allocation() { # name, member
    awk -v name="\"$1\"," -v member="\"$2\":" '$1 == "\"name\":" { inside = $2 == name }
        inside && $1 == member { gsub(/[",]/, ""); sub(/^ *[a-z_]*: /, ""); print; exit }' a.json
}
expect "reads of a" "$(allocation a reads)" $((4 * 65536 / 32))
expect "reads of the table" "$(allocation table kind)" variable
expect "bytes of b" "$(allocation b bytes)" 262144
case $(allocation b site) in main+0x*) ;; *) fail "b was allocated by '$(allocation b site)'" ;; esac

# What warps spent their time on adds up to their time, of each kernel and of the run.
for row in "kernel add" "kernel look_up" "run "; do
    spent=0
    for part in execute not_selected lsu shared barrier threads fence code translation fault l1 l2 dram link drain; do
        spent=$((spent + $(cell "${row% *}" "${row#* }" warp_time_${part}_ps a.csv)))
    done
    expect "time of warps, $row" "$spent" "$(cell "${row% *}" "${row#* }" kernel_resident_warps_ps a.csv)"
done
# An instruction takes at least a slot of its scheduler.
[ "$(cell kernel add kernel_issue_ps a.csv)" -gt "$(cell kernel add kernel_warp_instructions a.csv)" ] ||
    fail "schedulers of add were occupied for $(cell kernel add kernel_issue_ps a.csv) ps"

# Selections.
run k.csv --kernels '^look'
expect "kernels that match" "$(grep -c ^kernel, k.csv)" 1
expect "work of the run, one kernel" "$(cell run '' kernel_thread_instructions k.csv)" \
    "$(cell kernel look_up kernel_thread_instructions k.csv)"
expect "the kernel alone" "$(cell kernel look_up kernel_thread_instructions k.csv)" \
    "$(cell kernel look_up kernel_thread_instructions a.csv)"
run n.csv --kernels nowhere 2>err
grep -q 'no launch was selected' err || fail "a selection of none is not told: $(cat err)"
run w.csv --warmup 1 --kernels add
expect "launches behind the warm-up" "$(cell kernel add count w.csv)" 2
run l.csv --launches 2-3
expect "launches 2-3, add" "$(cell kernel add count l.csv)" 1
expect "launches 2-3, look_up" "$(cell kernel look_up count l.csv)" 1
run r.csv --region
expect "region, add" "$(cell kernel add count r.csv)" 1
expect "region, look_up" "$(cell kernel look_up count r.csv)" 1

# An early end: the program's last launches are not there, what is counted is just beyond the limit.
setarch -R "$WARPAGE" run --device sim:gtx1080ti --max-instructions 2000000 --report m.csv ./p 2>m.err ||
    fail "run --max-instructions"
grep -q 'the program is stopped' m.err || fail "an early end is not said"
expect "launches of add up to the limit" "$(cell kernel add count m.csv)" 2
counted=$(cell run '' kernel_thread_instructions m.csv)
[ "$counted" -ge 2000000 ] && [ "$counted" -lt 3000000 ] || fail "counted $counted of 2000000 instructions"
run m2.csv --max-instructions 2000000 2>/dev/null && cmp -s m.csv m2.csv || fail "two early ends, two reports"

# The full set: the same bytes but for the host's times; without gnuplot everything but the plots.
full() { # folder
    setarch -R "$WARPAGE" run --device sim:gtx1080ti --output "$1" ./p 2>"$1.err" || fail "run --output $1"
}
full one
full two
for file in report.txt report.json report.csv index.html timeline.json; do
    cmp "one/$file" "two/$file" || fail "$file differs"
done
grep -q wall_time_ns one/host.json || fail "no wall time beside the report"
grep -qE '(src|href)=.?(https?:|//)' one/index.html && fail "index.html needs other files"
if command -v gnuplot >/dev/null; then
    for plot in utilisation accesses pages; do # and walks, if their latencies differ by powers of two
        grep -q '<svg' one/$plot.svg || fail "no plot $plot"
    done
    expect "plots in the page" "$(grep -c '<div class=plot' one/index.html)" \
        "$(find one -name '*.svg' ! -name utilisation.svg | wc -l)"
fi
mkdir bin
ln -s "$(command -v setarch)" bin
(PATH=$PWD/bin && full bare)
grep -q 'gnuplot is not installed' bare.err || fail "it is not said that gnuplot is missing"
grep -q 'gnuplot is not installed' bare/index.html || fail "the page does not say that plots are missing"
cmp -s one/report.json bare/report.json || fail "the report without gnuplot differs"
[ -e bare/utilisation.svg ] && fail "a plot without gnuplot"
# Kernels and streams on the timeline; counters beside them.
expect "kernels on the timeline" "$(grep -c '"cat":"kernel"' one/timeline.json)" 4
for counter in DRAM 'page walkers' 'TLB misses: accesses that wait'; do
    grep -q "\"ph\":\"C\".*\"$counter\"" one/timeline.json || fail "no counter '$counter' on the timeline"
done
"$WARPAGE" run --timeline cpu.json ./p 2>/dev/null || fail "a timeline of the CPU device"
expect "kernels on the CPU's timeline" "$(grep -c '"cat":"kernel"' cpu.json)" 4

[ $failures -eq 0 ]
