/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_70
/* Relaxed and acquire loads, relaxed and release stores of vectors: other blocks see all of one
 * store or nothing of it. Half of the blocks write pairs that belong together, the others look
 * whether what they read does. */
#include "check.h"

#define TURNS 200

__device__ void write_pair(uint2 *p, unsigned x) {
    asm volatile("st.relaxed.gpu.v2.u32 [%0], {%1, %2};" ::"l"(p), "r"(x), "r"(~x) : "memory");
}
__device__ bool is_torn(uint2 *p) {
    uint2 v;
    asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];"
                 : "=r"(v.x), "=r"(v.y)
                 : "l"(p)
                 : "memory");
    return v.y != ~v.x;
}
__device__ void write_pair(ulonglong2 *p, unsigned long long x) {
    asm volatile("st.release.gpu.v2.u64 [%0], {%1, %2};" ::"l"(p), "l"(x), "l"(~x) : "memory");
}
__device__ bool is_torn(ulonglong2 *p) {
    ulonglong2 v;
    asm volatile("ld.acquire.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(v.x), "=l"(v.y)
                 : "l"(p)
                 : "memory");
    return v.y != ~v.x;
}
__device__ void write_pair(uint4 *p, unsigned x) {
    asm volatile("st.relaxed.gpu.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(x), "r"(~x), "r"(x),
                 "r"(~x)
                 : "memory");
}
__device__ bool is_torn(uint4 *p) {
    uint4 v;
    asm volatile("ld.relaxed.gpu.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p)
                 : "memory");
    return v.y != ~v.x || v.z != v.x || v.w != v.y;
}
__device__ void write_pair(ushort4 *p, unsigned x) {
    unsigned short low = (unsigned short)x, high = (unsigned short)~x;
    asm volatile("st.relaxed.gpu.v4.u16 [%0], {%1, %2, %3, %4};" ::"l"(p), "h"(low), "h"(high),
                 "h"(low), "h"(high)
                 : "memory");
}
__device__ bool is_torn(ushort4 *p) {
    ushort4 v;
    asm volatile("ld.relaxed.gpu.v4.u16 {%0, %1, %2, %3}, [%4];"
                 : "=h"(v.x), "=h"(v.y), "=h"(v.z), "=h"(v.w)
                 : "l"(p)
                 : "memory");
    return v.y != (unsigned short)~v.x || v.z != v.x || v.w != v.y;
}

template <typename vector>
__global__ void exchange(vector *places, unsigned *torn, unsigned *readers) {
    vector *place = &places[threadIdx.x % 4];
    if (blockIdx.x % 2 == 0) {
        for (unsigned i = 1; i <= TURNS; i++) {
            write_pair(place, i * 7919 + blockIdx.x + threadIdx.x);
            __nanosleep((i * 31 + blockIdx.x * 17) % 64);
        }
        return;
    }
    unsigned count = 0;
    for (unsigned i = 0; i < TURNS; i++)
        count += is_torn(place);
    atomicAdd(torn, count);
    atomicAdd(readers, 1);
}

template <typename vector> void exchange_all(const char *name) {
    vector *places = check_managed<vector>(4);
    unsigned *counts = check_managed<unsigned>(2);
    exchange<<<1, 4>>>(places, counts, counts + 1); /* writes only: zeros are no pair */
    exchange<<<8, 64>>>(places, counts, counts + 1);
    KERNEL_OK();
    if (counts[0]) printf("%s: %u reads torn\n", name, counts[0]);
    CHECK_EQ(counts[0], 0u);
    CHECK_EQ(counts[1], 256u);
}

int main() {
    exchange_all<uint2>("2 x 32 bits");
    exchange_all<ulonglong2>("2 x 64 bits");
    exchange_all<uint4>("4 x 32 bits");
    exchange_all<ushort4>("4 x 16 bits");
    return check_done();
}
