/* SPDX-License-Identifier: Apache-2.0 */
/* PTX's conversions of 8-bit floats, in pairs: E4M3 has 4 bits of exponent and no infinity, E5M2 is
 * the upper half of a half. What is too large becomes the largest number, as .satfinite says, which
 * they always have. */
#include <math.h>
#include <stdint.h>
#include <string.h>

uint16_t __wp_ptx_cvt_e4m3x2(float high, float low, uint32_t is_relu);
uint16_t __wp_ptx_cvt_e5m2x2(float high, float low, uint32_t is_relu);
uint32_t __wp_ptx_cvt_f16x2_e4m3x2(uint16_t pair, uint32_t is_relu);
uint32_t __wp_ptx_cvt_f16x2_e5m2x2(uint16_t pair, uint32_t is_relu);

typedef struct format {
    int fraction_bits;
    int least; /* exponent of the smallest number */
    float most_value;
    uint32_t most;
} format;

static const format e4m3 = {3, -9, 448.0f, 0x7e}, e5m2 = {2, -16, 57344.0f, 0x7b};

/* To nearest even. The steps of a number are those of its binade; 2^fraction_bits of them carry
 * into the exponent. */
static uint32_t narrow(const format *f, float value, uint32_t is_relu) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (value != value) return 0x7f;
    const uint32_t sign = bits >> 24 & 0x80u, magnitude = bits & 0x7fffffffu;
    if (is_relu != 0 && sign != 0) return 0;
    if (fabsf(value) >= f->most_value) return sign | f->most;
    const int exponent = (int)(magnitude >> 23) - 127 - f->fraction_bits;
    const int unit = exponent > f->least ? exponent : f->least;
    const uint32_t inverse = (uint32_t)(127 - unit) << 23;
    float scale;
    memcpy(&scale, &inverse, sizeof scale);
    const uint32_t steps = (uint32_t)rintf(fabsf(value) * scale);
    const uint32_t code = ((uint32_t)(unit - f->least) << f->fraction_bits) + steps;
    return sign | (code < f->most ? code : f->most);
}

/* The bits of a half, which holds every number of both formats. */
static uint32_t widen_e4m3(uint32_t code) {
    static const uint16_t small[8] = {0, 0x1800, 0x1c00, 0x1e00, 0x2000, 0x2100, 0x2200, 0x2300};
    const uint32_t sign = (code & 0x80u) << 8, magnitude = code & 0x7fu;
    if (magnitude == 0x7f) return 0x7fff;
    return sign | (magnitude < 8 ? small[magnitude] : (magnitude << 7) + (8u << 10));
}

static uint32_t widen_e5m2(uint32_t code) {
    return (code & 0x7fu) > 0x7cu ? 0x7fff : (code & 0xffu) << 8;
}

static uint32_t relu(uint32_t half, uint32_t is_relu) {
    return is_relu != 0 && (half & 0x8000u) != 0 ? 0 : half;
}

uint16_t __wp_ptx_cvt_e4m3x2(float high, float low, uint32_t is_relu) {
    return (uint16_t)(narrow(&e4m3, high, is_relu) << 8 | narrow(&e4m3, low, is_relu));
}

uint16_t __wp_ptx_cvt_e5m2x2(float high, float low, uint32_t is_relu) {
    return (uint16_t)(narrow(&e5m2, high, is_relu) << 8 | narrow(&e5m2, low, is_relu));
}

uint32_t __wp_ptx_cvt_f16x2_e4m3x2(uint16_t pair, uint32_t is_relu) {
    return relu(widen_e4m3(pair >> 8), is_relu) << 16 | relu(widen_e4m3(pair & 0xffu), is_relu);
}

uint32_t __wp_ptx_cvt_f16x2_e5m2x2(uint16_t pair, uint32_t is_relu) {
    return relu(widen_e5m2(pair >> 8), is_relu) << 16 | relu(widen_e5m2(pair & 0xffu), is_relu);
}
