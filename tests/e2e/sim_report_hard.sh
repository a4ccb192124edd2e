#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Reports of runs on a simulated GPU that do not go smoothly: launches at the same time, a kernel that fails
# and a device that is reset, a process that ends while a thread waits for a kernel.
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
expect() { # what, got, wanted
    [ "$2" = "$3" ] || fail "$1: $2, expected $3"
}

# The first value of a member behind a line that matches.
member() { # file, line, member
    awk -v line="$2" -v member="\"$3\":" '$0 ~ line { inside = 1 }
        inside && $1 == member { gsub(/[^0-9.]/, "", $2); print $2; exit }' "$1"
}

cat >streams.cu <<'PROGRAM'
#include <cuda_runtime.h>
__global__ void fill(int *a, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = i;
}
int main() {
    const int n = 1 << 16;
    int *a;
    cudaStream_t streams[2];
    cudaMalloc(&a, 2 * n * sizeof *a);
    for (int i = 0; i < 2; i++) {
        cudaStreamCreate(&streams[i]);
        fill<<<1, 128, 0, streams[i]>>>(a + i * n, n);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    fill<<<1, 128>>>(a, n);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
PROGRAM
"$WPCC" streams.cu -o streams || exit 1
"$WARPAGE" run --device sim:gtx1080ti --output out ./streams || fail "two streams"
expect "launches beside others" "$(member out/report.json '"kernels"' overlapped_launches)" 2
# Each launch stores 65536 words, 32 a warp; the run counts them once.
expect "stores of the kernel" "$(member out/report.json '"kernels"' kernel_stores)" $((3 * 65536 / 32))
expect "stores of the run" "$(member out/report.json '"simulation"' memory_store_accesses)" $((3 * 65536 / 32))
grep -q '2 launches overlapped with others' out/report.txt || fail "the report does not say that launches overlapped"
expect "streams on the timeline" "$(grep -c '"thread_name"' out/timeline.json)" 3

cat >reset.cu <<'PROGRAM'
#include <cuda_runtime.h>
__global__ void add(int *a) { a[threadIdx.x] += 1; }
int main() {
    int *a;
    cudaMalloc(&a, 4096);
    add<<<1, 64>>>(a);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    add<<<1, 64>>>((int *)64);
    if (cudaDeviceSynchronize() == cudaSuccess) return 2;
    if (cudaDeviceReset() != cudaSuccess) return 3;
    cudaMalloc(&a, 4096);
    add<<<1, 64>>>(a);
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 4;
}
PROGRAM
"$WPCC" reset.cu -o reset || exit 1
"$WARPAGE" run --device sim:gtx1080ti --report reset.json ./reset 2>reset.err || fail "a reset: $?"
expect "launches that ended" "$(member reset.json '"kernels"' launches)" 2
expect "loads of these" "$(member reset.json '"kernels"' kernel_loads)" 4
[ "$(member reset.json '"simulation"' memory_load_accesses)" -ge 4 ] || fail "counts from before the reset are lost"

cat >leave.cu <<'PROGRAM'
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdlib.h>
__global__ void work(int *a, int n) {
    for (int i = 0; i < n; i++) a[i % 1024] += i;
}
static void *wait_for_it(void *) {
    cudaDeviceSynchronize();
    return 0;
}
int main() {
    int *a;
    pthread_t thread;
    cudaMalloc(&a, 4096);
    work<<<256, 256>>>(a, 1 << 6);
    pthread_create(&thread, 0, wait_for_it, 0);
    exit(7);
}
PROGRAM
"$WPCC" leave.cu -o leave -lpthread || exit 1
timeout 200 "$WARPAGE" run --device sim:gtx1080ti --report leave.json ./leave 2>leave.err
expect "exit status of a process that leaves early" $? 7
expect "loads of a run that was left early" "$(member leave.json '"simulation"' kernel_loads)" $((64 * 65536 / 32))

[ $failures -eq 0 ]
