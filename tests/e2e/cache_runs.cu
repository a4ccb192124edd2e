/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --cache
/* Loops over consecutive elements, which wpcc --cache takes 16 bytes at a time: from every offset in a line, to memory
 * that overlaps what is read, in place, with ways out that depend on data, with indices that wrap around. A thread has
 * a region of its own; the host does the same, element by element. */
#include "check.h"

enum { OFFSETS = 20, THREADS = OFFSETS * OFFSETS, OWN = 160 };

#define BOTH __host__ __device__ static inline

template <class T> BOTH T turned(T v) { return (T)(v * 3 + 1); }

/* `in` and `out` may be the same memory, or overlap. */
template <class T> BOTH void shift(const T *in, T *out, int n) {
    for (int i = 0; i < n; i++) out[i] = turned(in[i]);
}

template <class T> BOTH void in_place(T *data, unsigned n) {
    for (unsigned i = 0; i != n; i++) data[i] = turned(data[i]);
}

template <class T> BOTH unsigned find(const T *in, int n, T what) {
    int i = 0;
    while (i < n && in[i] != what) i++;
    return (unsigned)i;
}

/* Downwards counting, elements in pairs, and an index of 32 bits without a sign. */
template <class T> BOTH unsigned mixed(const T *in, const T *other, unsigned first, int n) {
    unsigned s = 0;
    for (int left = n / 2; left > 0; left--) {
        const int i = n / 2 - left;
        s = s * 31 + (unsigned)in[2 * i] - (unsigned)in[2 * i + 1];
    }
#pragma unroll 1
    for (unsigned i = first; i < first + (unsigned)n; i++) s = s * 7 + (unsigned)other[i];
    return s;
}

/* The index is no step where it wraps around. */
template <class T> BOTH unsigned around(const T *in, unsigned first, unsigned n) {
    unsigned s = 0;
#pragma unroll 1
    for (unsigned i = 0; i < n; i++) s = s * 7 + (unsigned)in[(first + i) % OWN];
    return s;
}

template <class T> BOTH void work(T *region, unsigned *sums, int t, int n) {
    const int a = t / OFFSETS, b = t % OFFSETS;
    shift(region + a, region + b, n);
    in_place(region + b, (unsigned)(n + a));
    sums[t] = find(region + a, n + b, (T)(t * 5)) + 1000 * mixed(region + a, region, (unsigned)b, n);
    sums[t] += around(region, 0u - (unsigned)(a * 3), (unsigned)n);
}

template <class T> __global__ void all(T *data, unsigned *sums, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < THREADS) work(data + (size_t)t * OWN, sums, t, n);
}

template <class T> static void check(void) {
    T *data = check_managed<T>(THREADS * OWN), *expected = (T *)malloc(THREADS * OWN * sizeof(T));
    unsigned *sums = check_managed<unsigned>(THREADS), *expected_sums = (unsigned *)malloc(THREADS * sizeof *sums);
    const int counts[] = {0, 7, 33, 120};
    for (int n : counts) {
        uint32_t seed = 11;
        for (int i = 0; i < THREADS * OWN; i++) data[i] = expected[i] = (T)check_random(&seed);
        for (int t = 0; t < THREADS; t++) work(expected + (size_t)t * OWN, expected_sums, t, n);
        all<<<(THREADS + 63) / 64, 64>>>(data, sums, n);
        KERNEL_OK();
        CHECK(memcmp(data, expected, THREADS * OWN * sizeof(T)) == 0);
        for (int t = 0; t < THREADS; t++) CHECK_EQ(sums[t], expected_sums[t]);
    }
    free(expected);
    free(expected_sums);
}

int main(void) {
    check<unsigned char>();
    check<unsigned>();
    return check_done();
}
