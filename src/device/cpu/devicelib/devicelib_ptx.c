/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions for inline PTX that is a loop or a table rather than an expression. Compiled by
 * clang to bitcode at build time, as all of the device library; called by what lower_asm emits,
 * under the names in docs/rooms/inline_ptx.md. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/abi.h"

uint32_t __wp_ptx_prmt_b32(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_f4e(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_b4e(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_rc8(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_ecl(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_ecr(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_prmt_b32_rc16(uint32_t a, uint32_t b, uint32_t selector);
uint32_t __wp_ptx_fns_b32(uint32_t mask, uint32_t base, uint32_t offset);
uint32_t __wp_ptx_dynamic_smem_size(void);
uint32_t __wp_ptx_total_smem_size(void);

/* ---- bytes ---- */

/* Byte `index` of the eight bytes b:a. */
static uint32_t byte_of(uint32_t a, uint32_t b, uint32_t index) {
    uint64_t both = (uint64_t)b << 32 | a;
    return (uint32_t)(both >> 8 * (index & 7)) & 0xff;
}

static uint32_t gather(uint32_t a, uint32_t b, uint32_t i3, uint32_t i2, uint32_t i1, uint32_t i0) {
    return byte_of(a, b, i3) << 24 | byte_of(a, b, i2) << 16 | byte_of(a, b, i1) << 8 |
           byte_of(a, b, i0);
}

/* Each selector nibble: which byte, and with bit 3 set its sign instead. */
uint32_t __wp_ptx_prmt_b32(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t nibble = selector >> 4 * i & 0xf, byte = byte_of(a, b, nibble);
        if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

uint32_t __wp_ptx_prmt_b32_f4e(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = selector & 3;
    return gather(a, b, s + 3, s + 2, s + 1, s);
}

uint32_t __wp_ptx_prmt_b32_b4e(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = selector & 3; /* backwards, around the end */
    return gather(a, b, s + 5, s + 6, s + 7, s);
}

uint32_t __wp_ptx_prmt_b32_rc8(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = selector & 3;
    return gather(a, b, s, s, s, s);
}

uint32_t __wp_ptx_prmt_b32_ecl(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = selector & 3; /* bytes left of s move down to it */
    return gather(a, b, 3, s > 2 ? s : 2, s > 1 ? s : 1, s);
}

uint32_t __wp_ptx_prmt_b32_ecr(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = selector & 3;
    return gather(a, b, s, s < 2 ? s : 2, s < 1 ? s : 1, 0);
}

uint32_t __wp_ptx_prmt_b32_rc16(uint32_t a, uint32_t b, uint32_t selector) {
    uint32_t s = (selector & 1) * 2;
    return gather(a, b, s + 1, s, s + 1, s);
}

/* The position of the offset-th set bit, counted from `base`: upwards for offset > 0, downwards for
 * offset < 0, the bit itself for 0. All ones if there is none. */
uint32_t __wp_ptx_fns_b32(uint32_t mask, uint32_t base, uint32_t offset) {
    int32_t wanted = (int32_t)offset;
    if (base > 31) return UINT32_MAX;
    if (wanted == 0) return mask >> base & 1 ? base : UINT32_MAX;
    int32_t step = wanted > 0 ? 1 : -1;
    if (wanted < 0) wanted = -wanted;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --wanted == 0) return (uint32_t)at;
    return UINT32_MAX;
}

/* ---- shared memory sizes ---- */

uint32_t __wp_ptx_dynamic_smem_size(void) {
    return wp_rt_block->shared_dynamic_bytes;
}

uint32_t __wp_ptx_total_smem_size(void) {
    return wp_rt_block->shared_bytes;
}

/* ---- atomics on 16-bit floats ---- */

__extension__ typedef _Float16 half;

static float from_f16(uint16_t bits) {
    half value;
    memcpy(&value, &bits, sizeof value);
    return (float)value;
}

static uint16_t to_f16(float value) {
    half narrow = (half)value;
    uint16_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

static float from_bf16(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

static uint16_t to_bf16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16); /* to nearest even */
}

static float sum(float a, float b) {
    return a + b;
}

#define HALF_ATOMIC(name, format, combine)                                                         \
    uint16_t __wp_ptx_atom_##name##_##format(uint16_t *address, uint16_t value);                   \
    uint32_t __wp_ptx_atom_##name##_##format##x2(uint32_t *address, uint32_t value);               \
    uint16_t __wp_ptx_atom_##name##_##format(uint16_t *address, uint16_t value) {                  \
        uint16_t old = __atomic_load_n(address, __ATOMIC_RELAXED), next;                           \
        do                                                                                         \
            next = to_##format(combine(from_##format(old), from_##format(value)));                 \
        while (!__atomic_compare_exchange_n(address, &old, next, 1, __ATOMIC_ACQ_REL,              \
                                            __ATOMIC_RELAXED));                                    \
        return old;                                                                                \
    }                                                                                              \
    uint32_t __wp_ptx_atom_##name##_##format##x2(uint32_t *address, uint32_t value) {              \
        uint16_t *halves = (uint16_t *)address; /* each half is atomic, as PTX has it */           \
        uint32_t low = __wp_ptx_atom_##name##_##format(&halves[0], (uint16_t)value);               \
        uint32_t high = __wp_ptx_atom_##name##_##format(&halves[1], (uint16_t)(value >> 16));      \
        return high << 16 | low;                                                                   \
    }

HALF_ATOMIC(add, f16, sum)
HALF_ATOMIC(min, f16, fminf)
HALF_ATOMIC(max, f16, fmaxf)
HALF_ATOMIC(add, bf16, sum)
HALF_ATOMIC(min, bf16, fminf)
HALF_ATOMIC(max, bf16, fmaxf)
