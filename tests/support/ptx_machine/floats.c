/* SPDX-License-Identifier: Apache-2.0 */
#include "floats.h"

#include <fenv.h>
#include <math.h>

double pm_half_to_double(uint16_t bits) {
    const int exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    double value;
    if (exponent == 0x1f)
        value = fraction != 0 ? NAN : INFINITY;
    else
        value = exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 0x400, exponent - 25);
    return (bits & 0x8000) != 0 ? -value : value;
}

double pm_bfloat_to_double(uint16_t bits) {
    return (double)pm_float((uint64_t)bits << 16);
}

/* A whole number at or beside `value`, which is not negative but stands for one that may be. */
static double round_whole(double value, bool is_negative, pm_rounding rounding) {
    const double below = floor(value);
    const bool is_up = rounding == PM_RM ? is_negative : rounding == PM_RP ? !is_negative : false;
    if (rounding == PM_ROUND_NONE || rounding == PM_RN) return nearbyint(value);
    return below != value && is_up ? below + 1 : below;
}

/* The significand as a whole number and its exponent; too large: beyond `largest`. Returns whether
 * it is. The processor rounds to nearest here. */
static bool narrow(double magnitude, bool is_negative, pm_rounding rounding, int digits, int least,
                   double largest, double *significand, int *exponent) {
    int e = magnitude != 0 ? ilogb(magnitude) : least;
    if (e < least) e = least;
    *exponent = e;
    *significand = round_whole(ldexp(magnitude, digits - 1 - e), is_negative, rounding);
    if (ldexp(*significand, e - digits + 1) > largest) return true;
    if (*significand >= ldexp(1, digits)) {
        *significand /= 2;
        ++*exponent;
    }
    return false;
}

/* Whether what is too large becomes infinite, or the largest number. */
static bool goes_to_infinity(bool is_negative, pm_rounding rounding) {
    return rounding == PM_RM ? is_negative : rounding == PM_RP ? !is_negative : rounding != PM_RZ;
}

static uint16_t to_bits(double value, pm_rounding rounding, int digits, int least, double largest,
                        uint16_t infinite) {
    if (isnan(value)) return 0x7fff;
    const bool is_negative = signbit(value) != 0;
    const uint16_t sign = is_negative ? 0x8000 : 0;
    double significand;
    int exponent;
    if (isinf(value)) return sign | infinite;
    if (narrow(fabs(value), is_negative, rounding, digits, least, largest, &significand, &exponent))
        return (uint16_t)(sign |
                          (goes_to_infinity(is_negative, rounding) ? infinite : infinite - 1));
    const int whole = (int)significand, leading = 1 << (digits - 1);
    const int biased = whole < leading ? 0 : exponent - least + 1;
    return (uint16_t)(sign | biased << (digits - 1) | (whole & (leading - 1)));
}

uint16_t pm_double_to_half(double value, pm_rounding rounding) {
    return to_bits(value, rounding, 11, -14, 65504, 0x7c00);
}

uint16_t pm_double_to_bfloat(double value, pm_rounding rounding) {
    return to_bits(value, rounding, 8, -126, 0x1.fep127, 0x7f80);
}

void pm_run_rounded(pm_warp *w, const pm_insn *in) {
    static const int modes[] = {[PM_RN] = FE_TONEAREST,
                                [PM_RZ] = FE_TOWARDZERO,
                                [PM_RM] = FE_DOWNWARD,
                                [PM_RP] = FE_UPWARD};
    (void)fesetround(modes[in->rounding]);
    in->inner(w, in);
    (void)fesetround(FE_TONEAREST);
}

void pm_set_rounding(pm_insn *in) {
    if (in->rounding != PM_RZ && in->rounding != PM_RM && in->rounding != PM_RP) return;
    in->inner = in->run;
    in->run = pm_run_rounded;
}
