#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# DEVICES: sim:gtx1080ti
# A run of 40 times the accesses takes the same memory: threads that run ahead, words, reports. (The first 200 rounds fill what is of fixed size.)
set -u
cat >"$TMP/scale.cu" <<'PROGRAM'
#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void walk(int *a, int n, int rounds)
{
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < rounds; i++) {
        a[at] += i;
        at = (at * 7 + 1) % n;
    }
}

int main(int, char **arguments)
{
    const int n = 1 << 16;
    int *a;
    char line[256];
    cudaMalloc(&a, n * sizeof *a);
    walk<<<32, 64>>>(a, n, atoi(arguments[1]));
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "VmHWM:", 6)) fputs(line, stdout);
    return 0;
}
PROGRAM
"$WPCC" -O2 "$TMP/scale.cu" -o "$TMP/scale" || exit 1
kib() { # rounds
    "$WARPAGE" run --device sim:gtx1080ti --report "$TMP/r.json" -- "$TMP/scale" "$1" >"$TMP/out" 2>&1 || { cat "$TMP/out" >&2; exit 1; }
    sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB.*/\1/p' "$TMP/out"
}
loads() { sed -n 's/^ *"memory_load_accesses": \([0-9]*\).*/\1/p' "$TMP/r.json" | head -n 1; }
kib 200 >/dev/null # the variant is compiled
few=$(kib 200) few_loads=$(loads)
many=$(kib 8000) many_loads=$(loads)
[ "$many_loads" -eq $((40 * few_loads)) ] || { echo "$few_loads and $many_loads loads"; exit 1; }
[ "$many" -le $((few + few / 20)) ] || { echo "$few_loads loads: $few KiB; $many_loads loads: $many KiB"; exit 1; }
