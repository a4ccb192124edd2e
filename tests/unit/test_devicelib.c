/* SPDX-License-Identifier: Apache-2.0 */
/**
 * devicelib: directed rounding against the processor's own rounding modes, conversions against
 * their definition, functions against identities. The parts are included as text: kernels get them
 * as bitcode, and no library holds them.
 */
#define _GNU_SOURCE 1

#include "wp_random.h"
#include "wp_test.h"

#include <fenv.h>
#include <limits.h>
#include <math.h>

#include "device/cpu/devicelib/devicelib_convert.c"
#include "device/cpu/devicelib/devicelib_float.c"
#include "device/cpu/devicelib/devicelib_math.c"
#include "device/cpu/devicelib/devicelib_round.c"
#include "device/cpu/devicelib/devicelib_wide.c"
#include "device/devicelib/devicelib_bits.c"
#include "device/devicelib/devicelib_builtin.c"
#include "device/devicelib/devicelib_derived.c"
#include "device/devicelib/devicelib_integer.c"
#include "device/devicelib/devicelib_length.c"
#include "device/devicelib/devicelib_normal.c"
#include "device/devicelib/devicelib_simd.c"

static uint64_t seed = 20260721;

static uint64_t next_random(void) {
    return wp_random_next(&seed);
}

/* Any double; half of them close to 1, or to the one before, or special. */
static double random_double(double before) {
    static const double special[] = {0.0,
                                     -0.0,
                                     1.0,
                                     -1.0,
                                     0x1p-1074,
                                     -0x1p-1074,
                                     0x1p-1022,
                                     0x1p1023,
                                     HUGE_VAL,
                                     -HUGE_VAL,
                                     0x1.fffffffffffffp1023};
    const uint64_t bits = next_random();
    switch (next_random() % 8) {
    case 0: return special[bits % (sizeof(special) / sizeof(special[0]))];
    case 1: return 1.0 + (double)(bits >> 40) * 0x1p-52;
    case 2: return nextafter(-before, HUGE_VAL);
    case 3: return before * 0x1p-54;
    case 4: /* subnormal products and quotients */
        return ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, -500 - (int)(bits % 40));
    case 5: return ldexp(1.0 + (double)(bits >> 12) * 0x1p-52, -1074 + (int)(bits % 60));
    default: return __nv_longlong_as_double((long long)bits);
    }
}

static float random_float(float before) {
    static const float special[] = {0.0f,      -0.0f,      1.0f,           -1.0f,
                                    0x1p-149f, -0x1p-149f, 0x1p-126f,      0x1p127f,
                                    HUGE_VALF, -HUGE_VALF, 0x1.fffffep127f};
    const uint64_t bits = next_random();
    switch (next_random() % 8) {
    case 0: return special[bits % (sizeof(special) / sizeof(special[0]))];
    case 1: return 1.0f + (float)(bits >> 52) * 0x1p-23f;
    case 2: return nextafterf(-before, HUGE_VALF);
    case 3: return before * 0x1p-25f;
    case 4: return ldexpf(1.0f + (float)(bits >> 41) * 0x1p-23f, -70 - (int)(bits % 20));
    default: return __nv_uint_as_float((unsigned int)bits);
    }
}

static void same_double(const char *what, double a, double b, double c, double got, double want) {
    if (!(isnan(got) && isnan(want)) && memcmp(&got, &want, sizeof(got)) != 0) {
        fail_msg("%s(%a, %a, %a) is %a, expected %a", what, a, b, c, got, want);
    }
}

static const int modes[3] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
#define BY_MODE(i, name, arguments)                                                                \
    ((i) == 0 ? name##_rd arguments : (i) == 1 ? name##_ru arguments : name##_rz arguments)

static void double_arithmetic_rounds_as_the_processor_does(void **state) {
    (void)state;
    double before = 1.0;
    for (int n = 0; n < 300000; n++) {
        volatile double a = random_double(before), b = random_double(a), c = random_double(a * b);
        before = b;
        for (int i = 0; i < 3; i++) {
            volatile double want[6];
            fesetround(modes[i]);
            want[0] = a + b;
            want[1] = a - b;
            want[2] = a * b;
            want[3] = a / b;
            want[4] = sqrt(a);
            want[5] = fma(a, b, c);
            fesetround(FE_TONEAREST);
            same_double("add", a, b, i, BY_MODE(i, __nv_dadd, (a, b)), want[0]);
            same_double("sub", a, b, i, BY_MODE(i, __nv_dsub, (a, b)), want[1]);
            same_double("mul", a, b, i, BY_MODE(i, __nv_dmul, (a, b)), want[2]);
            same_double("div", a, b, i, BY_MODE(i, __nv_ddiv, (a, b)), want[3]);
            same_double("sqrt", a, 0, i, BY_MODE(i, __nv_dsqrt, (a)), want[4]);
            same_double("fma", a, b, c, BY_MODE(i, __nv_fma, (a, b, c)), want[5]);
        }
    }
}

static void float_arithmetic_rounds_as_the_processor_does(void **state) {
    (void)state;
    float before = 1.0f;
    for (int n = 0; n < 300000; n++) {
        volatile float a = random_float(before), b = random_float(a), c = random_float(a * b);
        volatile double x = random_double((double)a);
        before = b;
        for (int i = 0; i < 3; i++) {
            volatile float want[7];
            fesetround(modes[i]);
            want[0] = a + b;
            want[1] = a - b;
            want[2] = a * b;
            want[3] = a / b;
            want[4] = sqrtf(a);
            want[5] = fmaf(a, b, c);
            want[6] = (float)x;
            fesetround(FE_TONEAREST);
            same_double("addf", a, b, i, BY_MODE(i, __nv_fadd, (a, b)), want[0]);
            same_double("subf", a, b, i, BY_MODE(i, __nv_fsub, (a, b)), want[1]);
            same_double("mulf", a, b, i, BY_MODE(i, __nv_fmul, (a, b)), want[2]);
            same_double("divf", a, b, i, BY_MODE(i, __nv_fdiv, (a, b)), want[3]);
            same_double("sqrtf", a, 0, i, BY_MODE(i, __nv_fsqrt, (a)), want[4]);
            same_double("fmaf", a, b, c, BY_MODE(i, __nv_fmaf, (a, b, c)), want[5]);
            same_double("narrow", x, 0, i, BY_MODE(i, __nv_double2float, (x)), want[6]);
        }
    }
}

static void integers_become_floats_as_the_processor_rounds(void **state) {
    (void)state;
    for (int n = 0; n < 300000; n++) {
        volatile long long a = (long long)next_random() >> (next_random() % 64);
        volatile unsigned long long u = (unsigned long long)a;
        for (int i = 0; i < 3; i++) {
            volatile float want_f, want_uf;
            volatile double want_d, want_ud;
            fesetround(modes[i]);
            want_f = (float)a;
            want_d = (double)a;
            /* Two halves, since the compiler's code for unsigned numbers rounds on the way. */
            want_ud = (double)(unsigned int)(u >> 32) * 0x1p32 + (double)(unsigned int)u;
            fesetround(FE_TONEAREST);
            want_uf = BY_MODE(i, __nv_double2float, ((double)(u >> 11)));
            same_double("ll2float", (double)a, 0, i, BY_MODE(i, __nv_ll2float, (a)), want_f);
            same_double("ll2double", (double)a, 0, i, BY_MODE(i, __nv_ll2double, (a)), want_d);
            same_double("ull2double", (double)u, 0, i, BY_MODE(i, __nv_ull2double, (u)), want_ud);
            same_double("ull2float", (double)u, 0, i, BY_MODE(i, __nv_ull2float, (u >> 11)),
                        want_uf);
        }
    }
}

static void floats_become_integers_that_saturate(void **state) {
    (void)state;
    assert_int_equal(__nv_float2int_rn(2.5f), 2);
    assert_int_equal(__nv_float2int_rn(3.5f), 4);
    assert_int_equal(__nv_float2int_rz(-2.9f), -2);
    assert_int_equal(__nv_float2int_ru(-2.9f), -2);
    assert_int_equal(__nv_float2int_rd(-2.1f), -3);
    assert_int_equal(__nv_float2int_rz(1e20f), INT_MAX);
    assert_int_equal(__nv_float2int_rz(-HUGE_VALF), INT_MIN);
    assert_int_equal(__nv_float2int_rz(NAN), 0);
    assert_int_equal(__nv_double2int_rz((double)NAN), INT_MIN);
    assert_int_equal(__nv_double2int_rn(2147483647.5), INT_MAX);
    assert_int_equal(__nv_double2int_rd(2147483646.5), 2147483646);
    assert_true(__nv_float2uint_rz(-1.0f) == 0u);
    assert_true(__nv_float2uint_rz(4294967296.0f) == UINT_MAX);
    assert_true(__nv_double2uint_ru(4294967294.5) == UINT_MAX);
    assert_true(__nv_float2ll_rz(1e30f) == LLONG_MAX);
    assert_true(__nv_float2ll_rz(NAN) == LLONG_MIN);
    assert_true(__nv_double2ll_rd(-0x1p63) == LLONG_MIN);
    assert_true(__nv_double2ull_rz(0x1p63) == 1ull << 63);
    assert_true(__nv_double2ull_rz(-5.0) == 0);
    assert_true(__nv_llround(2.5) == 3);
    assert_true(__nv_llrint(2.5) == 2);
}

static void every_half_survives_the_way_to_float_and_back(void **state) {
    (void)state;
    for (unsigned int h = 0; h < 0x10000u; h++) {
        const float f = __nv_half2float((unsigned short)h);
        if (f != f) {
            assert_true((h & 0x7c00u) == 0x7c00u && (h & 0x3ffu) != 0);
            continue;
        }
        assert_int_equal(__nv_float2half_rn(f), h);
        /* Half way to the next one goes to the even one. */
        const float next = __nv_half2float((unsigned short)(h + 1));
        if ((h & 0x7fffu) < 0x7bffu) {
            const unsigned int even = (h & 1u) != 0 ? h + 1 : h;
            assert_int_equal(__nv_float2half_rn((f + next) / 2.0f), even);
        }
    }
    assert_int_equal(__nv_float2half_rn(65519.996f), 0x7bff);
    assert_int_equal(__nv_float2half_rn(65520.0f), 0x7c00);
    assert_int_equal(__nv_float2half_rn(0x1p-25f), 0);
    assert_int_equal(__nv_float2half_rn(0x1.000002p-25f), 1);
}

static void bits_of_a_double_come_apart_and_together(void **state) {
    (void)state;
    for (int n = 0; n < 1000; n++) {
        const double a = __nv_longlong_as_double((long long)next_random());
        const double b = __nv_hiloint2double(__nv_double2hiint(a), __nv_double2loint(a));
        assert_memory_equal(&a, &b, sizeof(a));
    }
    assert_int_equal(__nv_float_as_int(-0.0f), INT_MIN);
}

static void integer_functions_keep_their_definitions(void **state) {
    (void)state;
    for (int n = 0; n < 20000; n++) {
        const uint32_t a = (uint32_t)next_random(), b = (uint32_t)next_random();
        const uint64_t l = next_random() >> (next_random() % 64);
        uint32_t reversed = 0;
        for (unsigned int i = 0; i < 32; i++) {
            reversed |= ((a >> i) & 1u) << (31 - i);
        }
        assert_true((uint32_t)__nv_brev((int)a) == reversed);
        assert_true(__nv_brevll(__nv_brevll((long long)l)) == (long long)l);
        assert_int_equal(__nv_popcll(l) + __nv_popcll(~l), 64);
        assert_true(l == 0 || l >> (63 - __nv_clzll((long long)l)) == 1);
        assert_true((uint32_t)__nv_mulhi((int)a, (int)b) ==
                    (uint32_t)(((int64_t)(int32_t)a * (int32_t)b) >> 32));
        assert_true(__nv_umul64hi(l, 1ull << 32) == l >> 32);
        assert_true(__nv_mul64hi(-(long long)(l >> 1), 2) == ((l >> 1) == 0 ? 0 : -1));
        assert_true((uint32_t)__nv_byte_perm((int)a, (int)b, 0x3210) == a);
        assert_true((uint32_t)__nv_byte_perm((int)a, (int)b, 0x7654) == b);
        assert_true((uint32_t)__nv_byte_perm((int)a, (int)b, 0x0123) == __builtin_bswap32(a));
        assert_true(__nv_uhadd(a, b) == (int)(a / 2 + b / 2 + (a & b & 1u)));
    }
    assert_int_equal(__nv_byte_perm(0x80, 0, 0x8888), -1);
    assert_int_equal(__nv_clz(0), 32);
    assert_int_equal(__nv_ffs(0), 0);
    assert_int_equal(__nv_ffs(INT_MIN), 32);
    assert_int_equal(__nv_hadd(INT_MAX, INT_MAX), INT_MAX);
    assert_int_equal(__nv_rhadd(-3, -4), -3);
    assert_int_equal(__nv_sad(INT_MAX, INT_MIN, 1), 0);
    assert_int_equal(__nv_mul24(0xffffff, 5), -5);
    assert_true(__nv_umul24(0xffffffffu, 0x1000001u) == 0xffffffu);
    assert_int_equal(__nv_abs(INT_MIN), INT_MIN);
}

static void packed_lanes_do_not_touch_each_other(void **state) {
    (void)state;
    assert_true((uint32_t)__nv_vadd4((int)0xff01ff7fu, 0x01010101) == 0x00020080u);
    assert_true((uint32_t)__nv_vaddus4((int)0xff01ff7fu, 0x01010101) == 0xff02ff80u);
    assert_true((uint32_t)__nv_vaddss4((int)0x7f80ff01u, (int)0x0180ff01u) == 0x7f80fe02u);
    assert_true((uint32_t)__nv_vsub2(0x00010000, 0x00020001) == 0xffffffffu);
    assert_true((uint32_t)__nv_vsubus2(0x00010005, 0x00020001) == 0x00000004u);
    assert_true((uint32_t)__nv_vcmpgtu4((int)0xff010002u, 0x01010101) == 0xff0000ffu);
    assert_true((uint32_t)__nv_vcmpgts4((int)0xff010002u, 0x01010101) == 0x000000ffu);
    assert_true((uint32_t)__nv_vseteq2(0x00050007, 0x00050008) == 0x00010000u);
    assert_int_equal(__nv_vsadu4(0x01020304, 0x04030201), 8);
    assert_int_equal(__nv_vsads2((int)0xffff0001u, 0x00010001), 2);
    assert_true((uint32_t)__nv_vabs2((int)0x8000ffffu) == 0x80000001u);
    assert_true((uint32_t)__nv_vabsss2((int)0x8000ffffu) == 0x7fff0001u);
    assert_true((uint32_t)__nv_vavgu4(0x01020304, 0x02030405) == 0x02030405u);
    assert_true((uint32_t)__nv_vavgs2((int)0xfffe0001u, (int)0xffff0002u) == 0xfffe0002u);
    assert_true((uint32_t)__nv_vmins2((int)0x8000ffffu, 0x00010001) == 0x8000ffffu);
    assert_true((uint32_t)__nv_vmaxu2((int)0x8000ffffu, 0x00010001) == 0x8000ffffu);
    assert_true((uint32_t)__nv_vnegss4((int)0x80017fffu) == 0x7fff8101u);
}

/* ---- exponentials and logarithms of floats ---- */

static float float_of(uint32_t bits) {
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

/* Floats between two of the same sign, or 1 for zeros of different signs; numbers that are none are
 * alike. */
static uint32_t steps_between(float a, float b) {
    int32_t x, y;
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b) ? 0 : UINT32_MAX;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    if ((x < 0) != (y < 0)) return a == b ? 1 : UINT32_MAX;
    return (uint32_t)(x > y ? x - y : y - x);
}

typedef struct float_function {
    const char *name;
    float (*of)(float a);
    double (*exact)(double a);
} float_function;

/* Of floats from all over the range, all but one in ten thousand are the nearest float, and that is
 * the one beside. */
static void check_float_function(const float_function *f) {
    const uint32_t step = 9973;
    uint32_t differing = 0, count = 0;
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += step, count++) {
        const float a = float_of((uint32_t)bits);
        const uint32_t steps = steps_between(f->of(a), (float)f->exact(a));
        if (steps > 1) fail_msg("%s(%a) is %a, not %a", f->name, a, f->of(a), f->exact(a));
        differing += steps;
    }
    if (differing > count / 10000) fail_msg("%s: %u of %u differ", f->name, differing, count);
}

static void exponentials_and_logarithms_are_the_nearest_float(void **state) {
    (void)state;
    static const float_function all[] = {
        {"exp", __nv_expf, exp},       {"exp2", __nv_exp2f, exp2},    {"exp10", __nv_exp10f, exp10},
        {"expm1", __nv_expm1f, expm1}, {"tanh", __nv_tanhf, tanh},    {"log", __nv_logf, log},
        {"log2", __nv_log2f, log2},    {"log10", __nv_log10f, log10}, {"log1p", __nv_log1pf, log1p},
        {"erf", __nv_erff, erf}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        check_float_function(&all[i]);
}

static void powers_of_floats_are_the_nearest_float(void **state) {
    (void)state;
    static const float special[] = {0,          -0.0f,     1,         -1,          0.5f,
                                    2,          -2,        3,         -3,          1.5f,
                                    -1.5f,      1e-45f,    -1e-45f,   3e38f,       -3e38f,
                                    INFINITY,   -INFINITY, NAN,       0.99999994f, 1.0000001f,
                                    8388607.5f, 16777215,  -16777215, 16777216,    -16777216};
    enum { COUNT = sizeof special / sizeof special[0], RANDOM = 400000 };
    uint32_t differing = 0;
    for (uint32_t i = 0; i < COUNT * COUNT + RANDOM; i++) {
        const uint64_t random = next_random();
        const bool is_special = i < COUNT * COUNT;
        const float a = is_special ? special[i / COUNT] : fabsf(float_of((uint32_t)random));
        const float b = is_special ? special[i % COUNT] : (float)(int32_t)(random >> 32) * 1e-8f;
        const uint32_t steps = steps_between(__nv_powf(a, b), (float)pow(a, b));
        if (steps > 1) fail_msg("pow(%a, %a) is %a, not %a", a, b, __nv_powf(a, b), pow(a, b));
        differing += steps;
    }
    assert_true(differing <= RANDOM / 10000);
}

static void functions_of_pi_are_exact_at_quarter_turns(void **state) {
    (void)state;
    assert_true(__nv_sinpi(1e15) == 0.0 && __nv_sinpi(0.5) == 1.0 && __nv_sinpi(-1.5) == 1.0);
    assert_true(signbit(__nv_sinpi(-3.0)) && !signbit(__nv_sinpi(3.0)));
    assert_true(__nv_cospi(1.0) == -1.0 && __nv_cospi(2.5) == 0.0 && __nv_cospi(1e300) == 1.0);
    assert_near(__nv_sinpi(1.0 / 6), 0.5, 1e-15);
    assert_near(__nv_cospi(-4.0 / 3), -0.5, 1e-15);
}

static void inverses_undo_what_they_invert(void **state) {
    (void)state;
    for (int n = -80; n <= 80; n++) {
        const double x = n / 20.0;
        assert_near(1.0 + __nv_erfinv(erf(x)), 1.0 + x,
                    1e-10 * exp(x * x > 9.0 ? x * x : 0.0) + 4e-13);
        assert_near(__nv_erfcinv(erfc(x)), x, x < -2.0 ? 1e-8 : 1e-13 + (n == 0 ? 1.0 : 0.0));
        assert_near(__nv_normcdf(__nv_normcdfinv(__nv_normcdf(x))), __nv_normcdf(x), 1e-13);
    }
    assert_near(__nv_erfcx(__nv_erfcinv(1e-300)) * exp(-pow(__nv_erfcinv(1e-300), 2.0)), 1e-300,
                1e-11);
    assert_near(__nv_erfinv(1e-200), 1e-200 * 0.88622692545275801365, 1e-13);
    assert_true(__nv_erfinv(1.0) == HUGE_VAL && isnan(__nv_erfinv(1.5)));
    assert_true(__nv_erfcinv(0.0) == HUGE_VAL && __nv_erfcinv(2.0) == -HUGE_VAL);
    assert_near(__nv_erfcx(10.0), __nv_erfcx(nextafter(10.0, 0.0)), 1e-13);
    assert_near(__nv_erfcx(1e200), 0.56418958354775628695e-200, 1e-15);
}

static void lengths_neither_overflow_nor_vanish(void **state) {
    (void)state;
    assert_near(__nv_norm3d(3e300, 4e300, 0.0), 5e300, 1e-15);
    assert_near(__nv_norm4d(1e-310, 1e-310, 1e-310, 1e-310), 2e-310, 1e-12);
    assert_true(__nv_norm3d(NAN, -HUGE_VAL, 1.0) == HUGE_VAL);
    assert_true(__nv_rnorm3df(0.0f, 2.0f, 0.0f) == 0.5f);
    assert_near(__nv_rhypot(3.0, 4.0), 0.2, 1e-15);
    const float v[5] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    assert_near(__nv_normf(5, v), sqrt(55.0), 1e-7);
}

static void bessel_functions_have_their_known_values(void **state) {
    (void)state;
    /* Abramowitz and Stegun, tables 9.8 and 9.11. */
    assert_near(__nv_cyl_bessel_i0(1.0), 1.2660658777520082, 1e-15);
    assert_near(__nv_cyl_bessel_i1(1.0), 0.5651591039924851, 1e-15);
    assert_near(__nv_cyl_bessel_i0(10.0), 2815.716628466254, 1e-14);
    assert_near(__nv_cyl_bessel_i1(-5.0), -24.335642142450528, 1e-14);
}

static void odd_arguments_give_cuda_s_answers(void **state) {
    (void)state;
    assert_true(__nv_saturatef(NAN) == 0.0f && __nv_saturatef(7.0f) == 1.0f);
    assert_int_equal(__nv_ilogb(0.0), INT_MIN);
    assert_int_equal(__nv_ilogb(-HUGE_VAL), INT_MAX);
    assert_near(__nv_powi(2.0, -3), 0.125, 0);
    assert_near(__nv_powif(-3.0f, 3), -27.0f, 0);
    assert_true(__nv_fmaxf(NAN, 1.0f) == 1.0f && __nv_fmin(1.0, NAN) == 1.0);
    assert_true(__nv_isinff(-HUGE_VALF) && !__nv_isinfd(1.0) && __nv_isnanf(NAN));
    assert_near(__nv_rcp64h(3.0), 1.0 / 3.0, 1e-6);
    assert_near(__nv_lgamma(0.5), log(sqrt(WP_PI)), 1e-14);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(double_arithmetic_rounds_as_the_processor_does),
        cmocka_unit_test(float_arithmetic_rounds_as_the_processor_does),
        cmocka_unit_test(integers_become_floats_as_the_processor_rounds),
        cmocka_unit_test(floats_become_integers_that_saturate),
        cmocka_unit_test(every_half_survives_the_way_to_float_and_back),
        cmocka_unit_test(bits_of_a_double_come_apart_and_together),
        cmocka_unit_test(integer_functions_keep_their_definitions),
        cmocka_unit_test(packed_lanes_do_not_touch_each_other),
        cmocka_unit_test(exponentials_and_logarithms_are_the_nearest_float),
        cmocka_unit_test(powers_of_floats_are_the_nearest_float),
        cmocka_unit_test(functions_of_pi_are_exact_at_quarter_turns),
        cmocka_unit_test(inverses_undo_what_they_invert),
        cmocka_unit_test(lengths_neither_overflow_nor_vanish),
        cmocka_unit_test(bessel_functions_have_their_known_values),
        cmocka_unit_test(odd_arguments_give_cuda_s_answers),
    };
    return wp_test_main(tests);
}
