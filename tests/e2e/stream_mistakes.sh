#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What must not be done with mapped data: each ends in an error, with one sentence that says what and where.
set -u
cat >"$TMP/mistakes.cu" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/stream.h>

__global__ void twice(int *data, long count) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (long)blockDim.x)
        data[i] *= 2;
}
__global__ void follow(const int *data, int *out) {
    out[threadIdx.x] = data[data[threadIdx.x]];
}
__global__ void look(const int *data, int *out) { // wraps at 32 bits
    out[threadIdx.x] = data[(unsigned)data[threadIdx.x] * 4u >> 2];
}
__global__ void shift(const int *in, int *out, int count) {
    for (int i = threadIdx.x; i + 1 < count; i += blockDim.x)
        out[i + 1] = in[i];
}
__global__ void carry(const int *in, int *out) { // another thread's, by another name
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x + 64] = in[threadIdx.x];
}
__global__ void await(volatile int *flag, int *out) { // another block's answer
    if (blockIdx.x == 0) *flag = 1;
    else while (*flag == 0);
    *out = 1;
}
__global__ void add_up(int *data) { // another thread's sum
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) data[threadIdx.x] += data[threadIdx.x + step];
        __syncthreads();
    }
}

struct view {
    int *data;
    long count;
};
__global__ void hidden(view v) { // only parameters are streamed
    if (threadIdx.x < v.count) v.data[threadIdx.x] = 1;
}

int main(int argc, char **argv) {
    enum { COUNT = 1000 };
    static int host[COUNT];
    int *a, *b, *memory;
    streamingOptions options = {};
    const char *what = argv[1];
    for (int i = 0; i < COUNT; i++)
        host[i] = i == 7 ? 5000 : i >= COUNT - 20 ? -1 : i;
    cudaMalloc(&memory, COUNT * sizeof *memory);
    streamingMalloc(&a, COUNT * sizeof *a);
    streamingMap(a, host, COUNT * sizeof *host);
    streamingMalloc(&b, COUNT * sizeof *b);
    streamingMap(b, host + COUNT / 2, COUNT / 2 * sizeof *host);
    if (!strcmp(what, "overlap")) shift<<<1, 32>>>(a, b, COUNT / 2);
    else if (!strcmp(what, "parts")) carry<<<1, 32>>>(a, a + 1);
    else if (!strcmp(what, "communicate")) await<<<2, 32>>>(a, memory);
    else if (!strcmp(what, "threads")) add_up<<<2, 32>>>(a);
    else if (!strcmp(what, "copy")) return cudaMemcpy(memory, a, 4, cudaMemcpyDefault) != cudaSuccess;
    else if (!strcmp(what, "free")) return cudaFree(a) != cudaSuccess;
    else if (!strcmp(what, "structure")) hidden<<<1, 32>>>(view{a, COUNT});
    else if (!strcmp(what, "past")) twice<<<2, 32>>>(a, COUNT + 3);
    else if (!strcmp(what, "all-past")) twice<<<8, 32>>>(a + COUNT - 1, COUNT);
    else if (!strcmp(what, "past-index")) follow<<<1, 32>>>(a, memory);
    else if (!strcmp(what, "past-windows")) look<<<1, 32>>>(a, memory);
    else if (!strcmp(what, "index-past")) follow<<<1, 32>>>(a + COUNT - 20, memory);
    else if (!strcmp(what, "pinned")) {
        options.pinned_bytes = 5000;
        streamingSetOptions(&options);
        twice<<<2, 32>>>(a, COUNT);
    } else if (!strcmp(what, "pinned-windows")) {
        options.pinned_bytes = 500;
        streamingSetOptions(&options);
        look<<<1, 32>>>(a, memory);
    } else if (!strcmp(what, "device")) {
        options.device_bytes = 1000;
        streamingSetOptions(&options);
        twice<<<2, 32>>>(a, COUNT);
    } else if (!strcmp(what, "halves")) shift<<<1, 32>>>(a, a + COUNT / 2, COUNT / 2); // not a mistake
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    return error != cudaSuccess;
}
EOF
"$WPCC" "$TMP/mistakes.cu" -o "$TMP/mistakes" || exit 1
failures=0
try() { # what, extended regular expression that a line of stderr has to match
    "$TMP/mistakes" "$1" 2>"$TMP/stderr" && { echo "  $1: succeeded"; failures=1; }
    grep -Eq -- "$2" "$TMP/stderr" || { echo "  $1: no '$2' in"; cat "$TMP/stderr"; failures=1; }
}
for WARPAGE_DEVICE in cpu sim:gtx680; do
    export WARPAGE_DEVICE
    try overlap "kernel shift\(.*\) cannot be streamed: parameters 1 and 0 are mapped to the same memory, and it writes to parameter 1"
    try parts "kernel carry\(.*\) cannot be streamed: .* reads mapped data that another thread may have written at .* two parameters are in one reservation: reserve what is only read by itself"
    try communicate "kernel await\(.*\) cannot be streamed: .*mistakes.cu:26 is a volatile access to mapped data: blocks cannot communicate"
    try threads "kernel add_up\(.*\) cannot be streamed: .*mistakes.cu:32 reads mapped data that another thread may have written at .*mistakes.cu:32 before the barrier at .*mistakes.cu:33: threads cannot communicate"
    try copy "was reserved by streamingMalloc: only kernels can use it"
    try free "was reserved by streamingMalloc: only kernels can use it, streamingFree frees it"
    try structure "accessed address .*, byte [0-9]+ of the streaming reservation of 4000 bytes at .*: a mapped pointer must be a parameter of the kernel"
    try all-past "kernel twice.* reads 4 bytes at offset [0-9]+ .*, where nothing is mapped"
    [ "$(grep -c 'nothing is mapped' "$TMP/stderr")" -eq 1 ] || { echo "  all-past: several blocks told it"; failures=1; }
    try past "kernel twice\(.*\): block 1, thread (8|9|10) reads 4 bytes at offset 40(00|04|08) \(element 100[012]\) of the streaming reservation"
    try past-index "kernel follow\(.*\): block 0, thread 7 reads 4 bytes at offset 20000 \(element 5000\) of the streaming reservation"
    try index-past "kernel follow\(.*\): block 0, thread 20 reads 4 bytes at offset 4000 \(element 1000\) of the streaming reservation"
    try past-windows "kernel look\(.*\): block 0, thread 7 reads 4 bytes at offset 20000 \(element 5000\) of the streaming reservation"
    try pinned "smallest buffers of a streamed launch take [0-9]+ bytes of page-locked memory, but 5000 may be used"
    try pinned-windows "smallest buffers of a streamed launch take [0-9]+ bytes of page-locked memory, but 500 may be used"
    try device "smallest buffers of a streamed launch take [0-9]+ bytes of device memory, but 1000 may be used"
    "$TMP/mistakes" halves || { echo "  two halves of an array: failed"; failures=1; }
done
exit $failures
