/* SPDX-License-Identifier: Apache-2.0 */
/** Floating-point values as bits, of every format that PTX has. */
#ifndef PM_FLOATS_H
#define PM_FLOATS_H

#include "machine.h"

#define PM_NAN_32 0x7fffffffu /* what operations on .f32 make of anything that is no number */

static inline float pm_float(uint64_t bits) {
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static inline double pm_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t pm_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline uint64_t pm_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Subnormal floats become zeroes of their sign. */
static inline double pm_flush(double value) {
    const double least = 0x1p-126;
    return value > -least && value < least ? (value < 0 ? -0.0 : value * 0) : value;
}

double pm_half_to_double(uint16_t bits);
double pm_bfloat_to_double(uint16_t bits);
/* Rounded to nearest even, or as `rounding` says. */
uint16_t pm_double_to_half(double value, pm_rounding rounding);
uint16_t pm_double_to_bfloat(double value, pm_rounding rounding);

static inline double pm_to_double(uint64_t bits, pm_type type) {
    if (type.kind == PM_BFLOAT) return pm_bfloat_to_double((uint16_t)bits);
    if (type.bytes == 2) return pm_half_to_double((uint16_t)bits);
    return type.bytes == 4 ? (double)pm_float(bits) : pm_double(bits);
}

/* Runs `in->inner` with the processor's rounding as the instruction says. */
void pm_run_rounded(pm_warp *w, const pm_insn *in);
/* For handlers that round: chooses between running at once and through pm_run_rounded. */
void pm_set_rounding(pm_insn *in);

#endif
