#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The report says what a kernel compiled with wpcc --cache cached, and why a kernel was not: as text and JSON.
set -e
cat >"$TMP/a.cu" <<'END'
#include <cstdio>
__global__ void along(const char *in, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}
__global__ void apart(const int *in, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[(threadIdx.x * 65 + 64 * i) % (64 * 1024)];
    out[threadIdx.x] = s;
}
__global__ void beside(const int *in, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[threadIdx.x + 64 * i];
    out[threadIdx.x] = s;
}
__global__ void alike(const int *in, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[i] * threadIdx.x;
    out[threadIdx.x] = s;
}
__global__ void no_loop(unsigned *out) { out[threadIdx.x] = 1; }
__global__ void crowded(const char *in, unsigned *out, int n) {
    __shared__ unsigned all[12 * 1024];
    for (int i = 0; i < n; i++) all[(threadIdx.x * 192 + i) % (12 * 1024)] = in[threadIdx.x * n + i];
    __syncthreads();
    out[threadIdx.x] = all[(threadIdx.x * 192 + n) % (12 * 1024)];
}
typedef unsigned (*turn)(unsigned, char);
__device__ unsigned more(unsigned a, char b) { return a + b; }
__device__ unsigned less(unsigned a, char b) { return a - b; }
__device__ turn turns[2] = {more, less};
__global__ void indirect(const char *in, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s = turns[i & 1](s, in[threadIdx.x * n + i]);
    out[threadIdx.x] = s;
}
__global__ void sized(const char *in, unsigned *out, int n) {
    unsigned s;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(s));
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}
struct table { char at[4072]; };
__global__ void wide(const char *in, unsigned *out, int n, table factors) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i] * factors.at[i];
    out[threadIdx.x] = s;
}
__global__ void search(const char *in, const char *until, unsigned *out, int n) {
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    for (int i = 0; i < n && until[threadIdx.x * n + i] == 1; i++) s += i;
    out[threadIdx.x] = s;
}
int main() {
    void *in; unsigned *out, got[64];
    cudaMalloc(&in, 64 * 1024 * 4); cudaMemset(in, 1, 64 * 1024 * 4); cudaMalloc((void **)&out, sizeof got);
    along<<<1, 64>>>((const char *)in, out, 1024);
    apart<<<1, 64>>>((const int *)in, out, 1024);
    alike<<<1, 64>>>((const int *)in, out, 1024);
    beside<<<1, 64>>>((const int *)in, out, 1024);
    crowded<<<1, 64>>>((const char *)in, out, 1024);
    indirect<<<1, 64>>>((const char *)in, out, 1024);
    sized<<<1, 64>>>((const char *)in, out, 1024);
    search<<<1, 64>>>((const char *)in, (const char *)in, out, 1024);
    table factors = {};
    wide<<<1, 64>>>((const char *)in, out, 1024, factors);
    no_loop<<<1, 64>>>(out);
    cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    cudaFree(in); cudaFree(out);
    return got[0] == 1 ? 0 : 1;
}
END
"$WPCC" --cache "$TMP/a.cu" -o "$TMP/a"
# `along` reads consecutive bytes: without the cache's lines, 16 bytes at a time.
"$WARPAGE" run --report "$TMP/r.txt" -- "$TMP/a"
grep -q 'parameter 0 in, read-only  *16 bytes at a time where loops allow it$' "$TMP/r.txt" || { cat "$TMP/r.txt"; exit 1; }
grep -q 'loops, 16 bytes at a time  *64 begun by threads$' "$TMP/r.txt"
WARPAGE_SOFTWARE_CACHE_RUNS=off
export WARPAGE_SOFTWARE_CACHE_RUNS
for device in $DEVICES sim:titan-black; do
    "$WARPAGE" run --device "$device" --report "$TMP/r.json" -- "$TMP/a"
    "$WARPAGE" run --device "$device" -- "$TMP/a" >"$TMP/r.txt" 2>&1 || { cat "$TMP/r.txt"; exit 1; }
    grep -q 'lines a thread  *1: ' "$TMP/r.txt" || { cat "$TMP/r.txt"; exit 1; }
    grep -q 'parameter 0 in, read-only  *9[0-9]\.[0-9] % hits of [0-9]* monitored; cached$' "$TMP/r.txt"
    grep -q 'parameter 0 in, read-only  *0\.0 % hits of [0-9]* monitored; not cached: at most 50 % hits$' "$TMP/r.txt"
    grep -q 'plain because  *what its loops may cache the lanes of a warp read at the same addresses' "$TMP/r.txt"
    grep -q 'plain because  *the lanes of a warp access what its loops may cache side by side' "$TMP/r.txt"
    grep -q 'plain because  *the kernel has no loops' "$TMP/r.txt"
    grep -q 'plain because  *its loops call functions through pointers' "$TMP/r.txt"
    grep -q 'parameter 1 until, read-only .*not cached: loops access it that end where data say, or in which lanes meet$' "$TMP/r.txt"
    grep -q 'plain because  *it reads the size of its shared memory' "$TMP/r.txt"
    grep -q 'plain because  *its parameters leave less than 16 of 4096 bytes' "$TMP/r.txt"
    [ $device != sim:titan-black ] ||
        grep -q 'plain because  *the shared memory that is left is less than a line for each thread of an SM' "$TMP/r.txt"
    [ $device != sim:titan-black ] ||
        grep -q 'registers  *[0-9]* a thread, .*; the difference is [0-9.]* % of an SM.s$' "$TMP/r.txt"
    python3 - "$TMP/r.json" $device <<'END'
import json, sys
rows = {r["display_name"].split("(")[0]: r for r in json.load(open(sys.argv[1]))["cached"]}
along, apart, none = rows["along"], rows["apart"], rows["no_loop"]
structure = along["structures"][0]
assert along["lines"] == 1 and along["launches"] == 1 and along["plain_launches"] == 0, along
if sys.argv[2] == "sim:titan-black":
    assert along["registers"] > along["plain_registers"] > 0 and along["registers_per_sm"] == 65536, along
assert along["left"] == 64 and along["stayed"] + along["left"] >= 64, along
assert structure["chosen"] == 64 and structure["name"] == "in" and not structure["is_written"], along
# A line of 16 bytes is filled once for its 16 reads.
assert along["filled_lines"] <= 64 * (1024 - 60) / 16 + 64 and along["flushed_lines"] == 0, along
assert apart["structures"][0]["seldom"] == 64 and apart["filled_lines"] == 0, apart
assert none["plain_launches"] == 1 and none["reason"] == "the kernel has no loops", none
assert along["cached_instructions"] > along["instructions"] > 0
# A block takes all of the shared memory (crowded), nothing is read again (beside): not these.
on = {name: row["l1_launches"] for name, row in rows.items()}
wanted = {"along": 0, "apart": 0, "alike": 1, "beside": 0, "crowded": 0, "indirect": 1, "no_loop": 0, "sized": 1, "wide": 1, "search": 0}
assert on == (wanted if sys.argv[2] == "sim:titan-black" else dict.fromkeys(wanted, 0)), on
END
done
grep -q "hardware's L1  *in 1 of the plain launches" "$TMP/r.txt" || { cat "$TMP/r.txt"; exit 1; }
alike_ns() {
    "$WARPAGE" run --device sim:titan-black --report "$TMP/k.json" -- "$TMP/a" &&
        python3 -c 'import json, sys
print([k["time_ns"] for k in json.load(open(sys.argv[1]))["kernels"] if k["display_name"].startswith("alike")][0])' "$TMP/k.json"
}
# A trace keeps the choice.
"$WARPAGE" trace record --device sim:titan-black -o "$TMP/t.wpt" -- "$TMP/a"
"$WARPAGE" trace replay --device sim:titan-black --report "$TMP/p.json" "$TMP/t.wpt"
"$WARPAGE" run --device sim:titan-black --report "$TMP/k.json" -- "$TMP/a"
python3 - "$TMP/k.json" "$TMP/p.json" <<'END'
import json, sys
ran, replayed = ({k["display_name"]: k["time_ns"] for k in json.load(open(name))["kernels"]} for name in sys.argv[1:])
assert all(abs(replayed[name] / ran[name] - 1) < 0.02 for name in ran), (ran, replayed)
END
chosen=$(alike_ns) without=$(WARPAGE_SOFTWARE_CACHE_L1=off alike_ns)
[ $((chosen * 5)) -lt $((without * 4)) ] || { echo "$chosen, $without without L1"; exit 1; }
WARPAGE_SOFTWARE_CACHE=off "$WARPAGE" run -- "$TMP/a" 2>&1 | grep -q 'cached kernel' && exit 1
"$WARPAGE" run --check -- "$TMP/a" >"$TMP/c.txt" 2>&1 || { cat "$TMP/c.txt"; exit 1; }
grep -q 'plain because  *--check runs the plain kernel' "$TMP/c.txt"
# A setting that is none is an error, not "off".
for setting in CACHE CACHE_RUNS CACHE_COUNTS CACHE_DATA_EXITS CACHE_L1 CACHE_HITS_PCT CACHE_THRESHOLD; do
    env "WARPAGE_SOFTWARE_$setting=maybe" "$TMP/a" >"$TMP/e.txt" 2>&1 && { echo "$setting=maybe is taken"; exit 1; }
    grep -q "software-cache.*'maybe'" "$TMP/e.txt" || { cat "$TMP/e.txt"; exit 1; }
done
