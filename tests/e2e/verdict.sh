#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What holds a run back: programs with one known fault each, the rule that finds it, and the estimate of what the remedy
# gives, in the text, the JSON and the page.
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

cat >program.cu <<'PROGRAM'
#include <stdio.h>
#include <stdlib.h>
// Sweeps over all of the data again and again.
__global__ void sweep(int *data, int count)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) data[i]++;
}
// Neighbouring threads read far from each other.
__global__ void gather(float *out, const float *table, unsigned entries)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        x = x * 2654435761u + 12345u;
        sum += table[(x >> 4) % entries];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
// One lane of a warp has nearly all of the work.
__global__ void uneven(float *out)
{
    float x = threadIdx.x;
    for (int k = 0; k < (threadIdx.x % 32 == 0 ? 2000 : 2); k++) x = x * x + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
__global__ void fine(float *out)
{
    float x = threadIdx.x;
    for (int k = 0; k < 20; k++) x = x * x + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
int main(int argc, char **argv)
{
    const unsigned entries = 1 << 22;
    float *out, *table;
    int *data;
    puts("the program's own");
    if (argc < 2) return 1;
    cudaMalloc(&out, sizeof *out << 16);
    switch (argv[1][0]) {
    case 's':
        cudaMallocManaged(&data, 4 << 20);
        for (int i = 0; i < 4; i++) sweep<<<16, 256>>>(data, 1 << 20);
        break;
    case 'g':
        cudaMalloc(&table, sizeof *table * entries);
        gather<<<256, 256>>>(out, table, entries);
        break;
    case 'u': uneven<<<256, 256>>>(out); break;
    default: fine<<<256, 256>>>(out);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
PROGRAM
"$WPCC" -O2 -lineinfo program.cu -o program || exit 1

run() { # case, device, options...
    name=$1 device=$2
    shift 2
    "$WARPAGE" run --device "$device" --output "$name" "$@" ./program "$name" >"$name.out" 2>"$name.err" ||
        fail "$name: $(cat "$name.err")"
    [ "$(cat "$name.out")" = "the program's own" ] || fail "$name printed: $(cat "$name.out")"
}

# The JSON's rules, one a line; a member of a rule.
rules() { sed -n 's/^ *"rule": "\(.*\)",\{0,1\}$/\1/p' "$1/report.json"; }
member() { # case, rule, member
    awk -v rule="\"$2\"" -v member="\"$3\":" '$1 == "\"rule\":" { inside = index($2, rule) }
        inside && $1 == member { print $2; exit }' "$1/report.json" | tr -d ','
}

run sweep sim:gtx1080ti --oversubscribe 150% --estimate
rules sweep | grep -qx oversubscription || fail "sweep: $(rules sweep)"
grep -q 'had been evicted before, 100 % of them in `data`' sweep/report.txt || fail "$(sed -n '/what holds/,/^$/p' sweep/report.txt)"
run gather sim:p100 --source
rules gather | grep -qx coalescing || fail "gather: $(rules gather)"
grep -q 'A load touches 3[0-9.]* sectors' gather/index.html || fail "gather's page lacks the verdict"
at=$(sed -n '/sum += table/=' program.cu)
tr '\n' ' ' <gather/report.txt | tr -s ' ' | grep -q "of that at program.cu:$at\." || fail "the verdict does not name line $at"
run uneven sim:p100
[ "$(rules uneven | head -n 1)" = divergence ] || fail "uneven: $(rules uneven)"
run fine sim:p100
[ -z "$(rules fine | grep -v -e issue-slots -e launches)" ] || fail "fine: $(rules fine)"

# An estimate: the run with the part for nothing is faster, and all forms say by how much.
now=$(sed -n 's/^ *"simulated_time_ns": \([0-9]*\),*/\1/p' sweep/report.json)
ideal=$(member sweep oversubscription ideal_time_ns)
[ -n "$ideal" ] && [ "$ideal" -gt 0 ] && [ "$ideal" -lt "$now" ] || fail "an estimate of '$ideal' of $now ns"
times=$(awk -v a="$now" -v b="${ideal:-1}" 'BEGIN { printf "%.2f times as fast", a / b }')
for form in report.txt index.html; do
    tr '\n' ' ' <sweep/$form | tr -s ' ' | grep -q "Estimate: with memory for all of the data, sweep takes .* as fast, and the run takes .*$times" ||
        fail "$form lacks the estimate of $times"
done
! grep -q 'ideal_time_ns' gather/report.json || fail "an estimate without --estimate"
awk 'length > 400 { exit 1 }' sweep/report.txt || fail "lines of the text are not wrapped"

# Other devices have no parts that can cost nothing.
"$WARPAGE" run --estimate ./program fine >out 2>err && fail "--estimate on the CPU"
grep -q 'needs a simulated GPU' err && [ ! -s out ] || fail "--estimate on the CPU: $(cat err out)"

[ $failures -eq 0 ]
