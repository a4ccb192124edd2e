/* SPDX-License-Identifier: Apache-2.0 */
/** Integer functions that GPUs have an instruction for: bits reversed, bytes picked, wide products,
 * sums of differences. */
#include "device/devicelib/devicelib.h"

#include <stdint.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

int __nv_brev(int a) {
    uint32_t v = (uint32_t)a;
    v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
    v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
    return (int)__builtin_bswap32(v);
}

long long __nv_brevll(long long a) {
    uint64_t v = (uint64_t)a;
    v = ((v >> 1) & 0x5555555555555555u) | ((v & 0x5555555555555555u) << 1);
    v = ((v >> 2) & 0x3333333333333333u) | ((v & 0x3333333333333333u) << 2);
    v = ((v >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((v & 0x0f0f0f0f0f0f0f0fu) << 4);
    return (long long)__builtin_bswap64(v);
}

/* Four bytes picked from the eight of b:a by the low three bits of each nibble of the selector;
 * the nibble's top bit repeats the picked byte's sign instead. */
int __nv_byte_perm(int a, int b, int c) {
    const uint64_t bytes = ((uint64_t)(uint32_t)b << 32) | (uint32_t)a;
    uint32_t result = 0;
    for (unsigned int i = 0; i < 4; i++) {
        const uint32_t select = ((uint32_t)c >> (4 * i)) & 0xfu;
        uint32_t byte = (uint32_t)(bytes >> (8 * (select & 7u))) & 0xffu;
        if ((select & 8u) != 0) {
            byte = (byte & 0x80u) != 0 ? 0xffu : 0u;
        }
        result |= byte << (8 * i);
    }
    return (int)result;
}

int __nv_mulhi(int a, int b) {
    return (int)(((int64_t)a * b) >> 32);
}
unsigned int __nv_umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((uint64_t)a * b) >> 32);
}
long long __nv_mul64hi(long long a, long long b) {
    return (long long)(((wide)a * b) >> 64);
}
unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((uwide)a * b) >> 64);
}

/* The low 32 bits of the product of the low 24 bits. */
int __nv_mul24(int a, int b) {
    const int32_t x = (int32_t)((uint32_t)a << 8) >> 8;
    const int32_t y = (int32_t)((uint32_t)b << 8) >> 8;
    return (int)(uint32_t)((int64_t)x * y);
}
unsigned int __nv_umul24(unsigned int a, unsigned int b) {
    return (a & 0xffffffu) * (b & 0xffffffu);
}

/* |a - b| + c. */
int __nv_sad(int a, int b, int c) {
    const uint32_t difference = a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b;
    return (int)(difference + (uint32_t)c);
}
unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) {
    return (a < b ? b - a : a - b) + c;
}
