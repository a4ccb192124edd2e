#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Counts by line: they add up to the kernel's counters, to the picosecond; lines of small kernels have the counts
# that follow from their source; a replayed trace has the same; nothing changes the simulated time.
set -u
case $DEVICES in cpu) ;; *) exit 77 ;; esac
command -v python3 >/dev/null || exit 77
cd "$TMP" || exit 1

cat >p.cuh <<'PROGRAM'
__device__ __noinline__ int called(const int *a, int i) {
    return a[i]; // CALLED
}
#define READ(a, i) ((a)[i] + 1)
PROGRAM
cat >p.cu <<'PROGRAM'
#include <cuda_runtime.h>
#include "p.cuh"

__device__ int inlined(const int *a, int i) {
    return a[32 * i]; // INLINED
}

__global__ void one(const int *a, int *b, int n) {
    __shared__ int tile[1024];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = inlined(a, i & 127); // CALL
    int y = called(a, i);
    tile[threadIdx.x * 2 % 1024] = x; // TILE
    __syncthreads(); // BARRIER
    int z = READ(a, i); // MACRO
    if (threadIdx.x & 1)
        b[i] = x + y + z + tile[threadIdx.x]; // HALF
}

__global__ void two(int *a, const int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 16; k++)
        sum += b[(i + k * 65536) % n]; // LOOP
    if (sum < 0) atomicAdd(a, sum); // NEVER
    a[i] = sum; // STORE
}

int main() {
    const int threads = 1 << 15, n = 1 << 20;
    int *a, *b;
    cudaMallocManaged(&a, threads * sizeof *a);
    cudaMallocManaged(&b, n * sizeof *b);
    for (int i = 0; i < n; i++)
        a[i % threads] = b[i] = i & 15;
    for (int r = 0; r < 2; r++) {
        one<<<threads / 256, 256>>>(a, b, n);
        two<<<threads / 256, 256>>>(a, b, n);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
PROGRAM
"$WPCC" -O2 p.cu -o p || exit 1

run() { # profile, report, options...
    profile=$1 report=$2
    shift 2
    setarch -R "$WARPAGE" run --device "$profile" --report "$report" "$@" ./p && return
    echo "run on $profile: $*"
    exit 1
}
run sim:gtx1080ti plain.json
run sim:gtx1080ti lines.json --source 2>listing
{
run sim:gtx1080ti again.json --source
run sim:v100 volta.json --source
run sim:gtx1080ti batch.json --source --set paging.service=batch
run sim:gtx1080ti small.json --source --oversubscribe 200%
run sim:gtx1080ti step.json --source --in-step always
} 2>log || { cat log; exit 1; }
cmp lines.json again.json || exit 1
"$WARPAGE" trace record --device sim:gtx1080ti -o p.wpt -- ./p >/dev/null 2>&1 || exit 1
"$WARPAGE" trace replay --device sim:gtx1080ti --source --report replayed.json p.wpt 2>log || exit 1

grep -q 'return a\[i\]; // CALLED' listing && grep -q 'return a\[32 \* i\]' listing ||
    { echo "the listing lacks text" && tail -n 40 listing && exit 1; }

python3 - <<'CHECK'
import json
import sys

failures = []


def check(what, got, wanted):
    if got != wanted:
        failures.append(f"{what}: {got}, not {wanted}")


def simulation(path):
    return json.load(open(path))["simulation"], json.load(open(path))["kernels"]


def total(lines, count):
    return sum(line.get(count, 0) for line in lines)


SAME = {"warp_instructions": "kernel_warp_instructions", "thread_instructions": "kernel_thread_instructions",
        "shared_accesses": "shared_accesses", "shared_conflict_cycles": "shared_conflict_cycles",
        "tlb1_hits": "tlb_l1_hits", "tlb1_merges": "tlb_l1_merges", "tlb1_misses": "tlb_l1_misses",
        "tlb2_hits": "tlb_l2_hits", "tlb2_merges": "tlb_l2_merges", "tlb2_misses": "tlb_l2_misses",
        "walks": "walker_walks", "l1_hits": "l1_hits", "l1_merges": "l1_merges", "l1_misses": "l1_misses",
        "l2_hits": "l2_hits", "l2_merges": "l2_merges", "l2_misses": "l2_misses",
        "far_faults": "paging_far_faults", "remote": "paging_remote"}
for path in ("lines.json", "volta.json", "batch.json", "small.json", "step.json"):
    s, kernels = simulation(path)
    for kernel in kernels:
        lines = [line for line in s["lines"] if line["kernel"] == kernel["name"]]
        counters = kernel["counters"]
        for count, counter in SAME.items():
            if counter in counters:
                check(f"{path}: {kernel['name']}: {count}", total(lines, count), counters[counter])
        for count, end in (("accesses", "accesses"), ("sectors", "sectors")):
            wanted = sum(counters[f"memory_{kind}_{end}"] for kind in ("load", "store", "atomic", "reduce"))
            check(f"{path}: {kernel['name']}: {count}", total(lines, count), wanted)
        times = sum(v for line in lines for k, v in line.items() if k.endswith("_ps"))
        check(f"{path}: {kernel['name']}: time", times, counters["kernel_resident_warps_ps"])
    if path == "small.json" and total(s["lines"], "refaults") == 0:
        failures.append("small.json: no page faults again")

# Counting changes nothing.
plain, _ = simulation("plain.json")
s, _ = simulation("lines.json")
check("counters with and without lines", s["counters"], plain["counters"])
check("lines without --source", "lines" in plain, False)

# Known counts. 2 launches of 128 CTAs of 8 warps.
warps = 2 * 128 * 8
place = {}
for file in ("p.cu", "p.cuh"):
    for number, text in enumerate(open(file), 1):
        if "// " in text:
            place[text.split("// ")[1].strip()] = (file, number)


def at(name):
    return [line for line in s["lines"] if (line["file"].split("/")[-1], line["line"]) == place[name]]


for name, count, wanted in (
        ("INLINED", "accesses", warps), ("INLINED", "sectors", 32 * warps), ("INLINED", "lanes", 32 * warps),
        ("CALLED", "accesses", warps), ("CALLED", "sectors", 4 * warps),
        ("TILE", "shared_accesses", warps), ("TILE", "shared_conflict_cycles", warps),
        ("MACRO", "accesses", warps), ("HALF", "accesses", warps), ("HALF", "lanes", 16 * warps),
        ("HALF", "shared_accesses", warps), ("LOOP", "accesses", 16 * warps), ("LOOP", "sectors", 64 * warps),
        ("NEVER", "accesses", 0), ("STORE", "accesses", warps)):
    check(f"{name}: {count}", total(at(name), count), wanted)
check("calls of an inlined line", {line["calls"].split("/")[-1] for line in at("INLINED")}, {"p.cu:%d" % place["CALL"][1]})
check("calls of another function's line", {line["calls"] for line in at("CALLED")}, {""})
check("names at a line", {line["names"] for line in at("STORE")}, {"a"})
check("who waits at the barrier", [line["line"] for line in s["lines"] if line.get("barrier_ps")],
      [place["BARRIER"][1]])

replayed, _ = simulation("replayed.json")
check("lines of a replayed trace", replayed["lines"], s["lines"])
for failure in failures:
    print(" ", failure)
sys.exit(1 if failures else 0)
CHECK
