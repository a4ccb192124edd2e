// RUN: %wpcc --stream=forwards:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=FORWARDS
// RUN: %wpcc --stream=backwards:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=BACKWARDS
// RUN: %wpcc --stream=unrolled:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=UNROLLED
// RUN: %wpcc --stream=by_index:text,index -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=INDEX
// RUN: %wpcc --stream=across:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=ACROSS
// RUN: %wpcc --stream=words:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=WORDS
// RUN: %wpcc --stream=few:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=FEW
// RUN: %wpcc --stream=until:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=UNTIL
// Kernels that read single bytes one after the other get windows, although threads could run ahead.

// FORWARDS: $stream1$facts" = {{.*}}single bytes are read one after the other, at stream_bytes.cu:
__global__ void forwards(const unsigned char *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (long i = threadIdx.x * n; i < (threadIdx.x + 1) * n; i++) sum = sum * 31 + text[i];
    out[threadIdx.x] = sum;
}

// BACKWARDS: $stream1$facts" = {{.*}}single bytes are read one after the other, at stream_bytes.cu:
__global__ void backwards(const unsigned char *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (const unsigned char *at = text + (threadIdx.x + 1) * n; at > text + threadIdx.x * n;) sum = sum * 31 + *--at;
    out[threadIdx.x] = sum;
}

// UNROLLED: $stream1$facts" = {{.*}}single bytes are read one after the other, at stream_bytes.cu:
__global__ void unrolled(const unsigned char *text, unsigned *out) {
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) sum = sum * 31 + text[threadIdx.x * 64 + i];
    out[threadIdx.x] = sum;
}

// What the host finds by an index.
// INDEX: $stream3$facts" = {{.*}}single bytes are read one after the other, at stream_bytes.cu:
__global__ void by_index(const unsigned char *text, const long *index, unsigned *out) {
    unsigned sum = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) sum = sum * 31 + text[index[threadIdx.x] + i];
    out[threadIdx.x] = sum;
}

// Not: a thread's bytes are far from one another, or few, or no single bytes.
// ACROSS-NOT: single bytes
// ACROSS: addresses:
__global__ void across(const unsigned char *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (long i = threadIdx.x; i < n; i += blockDim.x) sum = sum * 31 + text[i];
    out[threadIdx.x] = sum;
}

// WORDS-NOT: single bytes
// WORDS: addresses:
__global__ void words(const unsigned *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (long i = threadIdx.x * n; i < (threadIdx.x + 1) * n; i++) sum = sum * 31 + text[i];
    out[threadIdx.x] = sum;
}

// FEW-NOT: single bytes
// FEW: addresses:
__global__ void few(const unsigned char *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (long i = threadIdx.x; i < n; i += blockDim.x) sum = sum * 31 + text[4 * i] + text[4 * i + 1] + text[4 * i + 2];
    out[threadIdx.x] = sum;
}

// Where windows are needed, that is the reason.
// UNTIL: $stream1$facts" = {{.*}}depends on mapped data, read at stream_bytes.cu:
__global__ void until(const unsigned char *text, long n, unsigned *out) {
    unsigned sum = 0;
    for (long i = threadIdx.x * n; text[i] != 0; i++) sum++;
    out[threadIdx.x] = sum;
}
