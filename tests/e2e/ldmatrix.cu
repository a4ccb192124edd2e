/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_90
// ENV: FAKE_CUDA_SM=90
/* ldmatrix, stmatrix, movmatrix: 8 by 8 matrices of 16-bit elements between shared memory and the
 * registers of a warp; cp.async, whose data they use; shared addresses of 32 bits from memory. */
#include "check.h"

enum { PITCH = 24 }; /* 16-bit elements from row to row */

__device__ unsigned address_of(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

__global__ void loads(const unsigned short *in, unsigned *out) {
    __shared__ __align__(16) unsigned short tile[32 * PITCH];
    int lane = threadIdx.x;
    asm volatile(
        "cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(address_of(&tile[lane * PITCH])),
        "l"(in + lane * 8));
    asm volatile("cp.async.commit_group;");
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncwarp();
    unsigned row = address_of(&tile[lane * PITCH]);
    unsigned *d = out + lane * 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
                 : "r"(row)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])
                 : "r"(row)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%0,%1}, [%2+48];"
                 : "=r"(d[8]), "=r"(d[9])
                 : "r"(row)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(d[10])
                 : "r"(row)
                 : "memory");
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d[11]) : "r"(d[0]));
}

/* Each lane finds its row's address in memory, where no compiler can see what it points to. */
__global__ void stores(const unsigned *in, unsigned short *out, unsigned *addresses) {
    __shared__ __align__(16) unsigned short tile[32 * PITCH], other[32 * PITCH];
    int lane = threadIdx.x;
    addresses[lane] = address_of(&tile[lane * PITCH]);
    __syncwarp();
    unsigned row = *(volatile unsigned *)&addresses[lane];
    const unsigned *x = in + lane * 4;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row),
                 "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3])
                 : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%0], {%1,%2};" ::"r"(
                     address_of(&other[lane * PITCH])),
                 "r"(x[2]), "r"(x[3])
                 : "memory");
    __syncwarp();
    for (int i = 0; i < 8; i++) {
        out[lane * 8 + i] = tile[lane * PITCH + i];
        if (lane < 16) out[256 + lane * 8 + i] = other[lane * PITCH + i];
    }
}

int main(void) {
    unsigned short *in = check_managed<unsigned short>(256);
    unsigned *out = check_managed<unsigned>(512);
    for (int i = 0; i < 256; i++)
        in[i] = (unsigned short)(1000 + i); /* row r, column c: 1000 + 8 * r + c */
    loads<<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++) {
        int row = lane / 4, column = lane % 4 * 2;
        unsigned *d = out + lane * 16;
        for (int q = 0; q < 4; q++) {
            unsigned straight = 1000 + 64 * q + 8 * row + column;
            unsigned turned = 1000 + 64 * q + 8 * column + row;
            CHECK_EQ(d[q], straight | (straight + 1) << 16);
            CHECK_EQ(d[4 + q], turned | (turned + 8) << 16);
            if (q < 2) CHECK_EQ(d[8 + q], (straight + 8) | (straight + 9) << 16);
        }
        CHECK_EQ(d[10], d[4]);
        CHECK_EQ(d[11], d[4]);
    }

    unsigned *words = check_managed<unsigned>(128), *addresses = check_managed<unsigned>(32);
    unsigned short *rows = check_managed<unsigned short>(512);
    for (int lane = 0; lane < 32; lane++)
        for (int q = 0; q < 4; q++)
            words[lane * 4 + q] = (unsigned)(q * 64 + lane * 2) | (unsigned)(q * 64 + lane * 2 + 1)
                                                                      << 16;
    stores<<<1, 32>>>(words, rows, addresses);
    KERNEL_OK();
    for (int r = 0; r < 32; r++)
        for (int c = 0; c < 8; c++) {
            CHECK_EQ(rows[r * 8 + c], r * 8 + c);
            if (r < 16) CHECK_EQ(rows[256 + r * 8 + c], 128 + r / 8 * 64 + c * 8 + r % 8);
        }
    return check_done();
}
