/* SPDX-License-Identifier: Apache-2.0 */
/* 32-bit atomics on global and shared memory, contended: the final value, and the old values returned. */
#include "check.h"

#define THREADS 256
#define BLOCKS 20
#define N (THREADS * BLOCKS)

enum { ADD, SUB, MIN, MAX, AND, OR, XOR, INC, DEC, EXCH, CAS, UADD, UMIN, UMAX, OPS };

__global__ void global_forms(int *v, int *old_add)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned *u = (unsigned *)v;
    old_add[i] = atomicAdd(&v[ADD], 1);
    atomicSub(&v[SUB], 2);
    atomicMin(&v[MIN], 100 - i);
    atomicMax(&v[MAX], i - 100);
    atomicAnd(&v[AND], ~(1 << (i % 30)));
    atomicOr(&v[OR], 1 << (i % 31));
    atomicXor(&v[XOR], i);
    atomicInc(&u[INC], 99u);
    atomicDec(&u[DEC], 99u);
    atomicExch(&v[EXCH], i);
    atomicCAS(&v[CAS], 0, i + 1);
    atomicAdd(&u[UADD], 0x80000001u);
    atomicMin(&u[UMIN], 0xffffffffu - (unsigned)i);
    atomicMax(&u[UMAX], 0x80000000u + (unsigned)i);
}

__global__ void shared_forms(int *sums)
{
    __shared__ int v[OPS];
    unsigned *u = (unsigned *)v;
    int t = threadIdx.x;
    if (t < OPS)
        v[t] = t == MIN ? 1000 : t == AND ? -1 : t == UMIN ? -1 : 0;
    __syncthreads();
    atomicAdd(&v[ADD], t);
    atomicSub(&v[SUB], t);
    atomicMin(&v[MIN], -t);
    atomicMax(&v[MAX], t);
    atomicAnd(&v[AND], ~(1 << (t % 7)));
    atomicOr(&v[OR], 1 << (t % 9));
    atomicXor(&v[XOR], t);
    atomicInc(&u[INC], 6u);
    atomicDec(&u[DEC], 6u);
    atomicExch(&v[EXCH], 77);
    atomicCAS(&v[CAS], 0, 5);
    atomicAdd(&u[UADD], 3u);
    atomicMin(&u[UMIN], 0xfffffff0u - t);
    atomicMax(&u[UMAX], 0xf0000000u + t);
    __syncthreads();
    if (t < OPS)
        sums[blockIdx.x * OPS + t] = v[t];
}

/* one thread: every old value is what was there */
__global__ void old_values(int *out)
{
    __shared__ int s;
    __shared__ unsigned u;
    s = 10;
    u = 3;
    int i = 0;
    out[i++] = atomicAdd(&s, -4);       /* 10 -> 6 */
    out[i++] = atomicSub(&s, 7);        /* 6 -> -1 */
    out[i++] = atomicMin(&s, 0);        /* -1 stays */
    out[i++] = atomicMax(&s, 12);       /* -1 -> 12 */
    out[i++] = atomicAnd(&s, 6);        /* 12 -> 4 */
    out[i++] = atomicOr(&s, 3);         /* 4 -> 7 */
    out[i++] = atomicXor(&s, 2);        /* 7 -> 5 */
    out[i++] = atomicExch(&s, 8);       /* 5 -> 8 */
    out[i++] = atomicCAS(&s, 9, 1);     /* 8 stays */
    out[i++] = atomicCAS(&s, 8, 1);     /* 8 -> 1 */
    out[i++] = s;
    out[i++] = (int)atomicInc(&u, 4u);  /* 3 -> 4 */
    out[i++] = (int)atomicInc(&u, 4u);  /* 4 -> 0 */
    out[i++] = (int)atomicInc(&u, 4u);  /* 0 -> 1 */
    out[i++] = (int)atomicDec(&u, 4u);  /* 1 -> 0 */
    out[i++] = (int)atomicDec(&u, 4u);  /* 0 -> 4 */
    u = 9;
    out[i++] = (int)atomicDec(&u, 4u);  /* 9 > 4 -> 4 */
    out[i++] = (int)u;
    u = 9;
    out[i++] = (int)atomicInc(&u, 4u);  /* 9 >= 4 -> 0 */
    out[i++] = (int)u;
}

int main(void)
{
    int *v = check_managed<int>(OPS), *old_add = check_managed<int>(N);
    v[MIN] = 1 << 30;
    v[AND] = -1;
    v[UMIN] = -1;
    global_forms<<<BLOCKS, THREADS>>>(v, old_add);
    KERNEL_OK();
    CHECK_EQ(v[ADD], N);
    CHECK_EQ(v[SUB], -2 * N);
    CHECK_EQ(v[MIN], 100 - (N - 1));
    CHECK_EQ(v[MAX], N - 1 - 100);
    CHECK_EQ(v[AND], (int)0xc0000000);
    CHECK_EQ(v[OR], 0x7fffffff);
    int x = 0;
    for (int i = 0; i < N; i++)
        x ^= i;
    CHECK_EQ(v[XOR], x);
    CHECK_EQ(v[INC], N % 100);
    CHECK_EQ(v[DEC], (100 - N % 100) % 100);
    CHECK(v[EXCH] >= 0 && v[EXCH] < N);
    CHECK(v[CAS] >= 1 && v[CAS] <= N);
    CHECK_EQ((unsigned)v[UADD], (unsigned)N * 0x80000001u);
    CHECK_EQ((unsigned)v[UMIN], 0xffffffffu - (N - 1));
    CHECK_EQ((unsigned)v[UMAX], 0x80000000u + (N - 1));
    unsigned char seen[N] = {0}; /* a contended counter hands out each number once */
    for (int i = 0; i < N; i++) {
        CHECK(old_add[i] >= 0 && old_add[i] < N && !seen[old_add[i]]);
        if (old_add[i] >= 0 && old_add[i] < N)
            seen[old_add[i]] = 1;
    }
    int *sums = check_managed<int>(BLOCKS * OPS);
    shared_forms<<<BLOCKS, THREADS>>>(sums);
    KERNEL_OK();
    for (int b = 0; b < BLOCKS; b++) {
        const int expected[OPS] = {255 * 128, -255 * 128, -255, 255, ~127, 511, 0, 256 % 7,
                                   (7 - 256 % 7) % 7, 77, 5, 768, (int)(0xfffffff0u - 255),
                                   (int)(0xf0000000u + 255)};
        for (int op = 0; op < OPS; op++)
            CHECK_EQ(sums[b * OPS + op], expected[op]);
    }
    old_values<<<1, 1>>>(old_add);
    KERNEL_OK();
    const int old[] = {10, 6, -1, -1, 12, 4, 7, 5, 8, 8, 1, 3, 4, 0, 1, 0, 9, 4, 9, 0};
    for (int i = 0; i < 20; i++)
        CHECK_EQ(old_add[i], old[i]);
    return check_done();
}
