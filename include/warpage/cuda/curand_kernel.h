/* SPDX-License-Identifier: Apache-2.0 */
/**
 * cuRAND's device API: generators whose state a kernel keeps.
 *
 *     curandState state;
 *     curand_init(seed, thread, 0, &state);
 *     float x = curand_uniform(&state);          in (0, 1]
 *
 * Generators, with the seeding that curand_init gives them:
 * - XORWOW (Marsaglia, "Xorshift RNGs", 2003), curandState: the seed is mixed into Marsaglia's
 * start values as public reimplementations of cuRAND do; subsequences are 2^67 steps apart.
 * - Philox4x32-10 (Salmon et al., 2011): the seed is the key, the subsequence the upper half of the
 *   counter; the offset counts single numbers, of which a counter gives four.
 * - MRG32k3a (L'Ecuyer 1999): seed 0 is six times 12345, the published start; subsequences are 2^76
 *   steps apart.
 *
 * Normal numbers are made by Box and Muller's transformation, the sine first. The numbers of
 * curand_poisson are those of Warpage's own algorithm, not of cuRAND's.
 */
#ifndef WARPAGE_CUDA_CURAND_KERNEL_H
#define WARPAGE_CUDA_CURAND_KERNEL_H

#define CURAND_KERNEL_H_

#include "cuda_runtime.h"
#include "curand.h"

#if defined(__cplusplus)

#include <math.h>

#define WP_CURAND static __inline__ __device__ __attribute__((unused))

struct curandStateXORWOW {
    unsigned int d, v[5]; /* the counter that is added; the words */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra; /* the second number of a pair, if the flag is set */
    double boxmuller_extra_double;
};

struct curandStateMRG32k3a {
    unsigned int s1[3], s2[3]; /* the oldest first */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* output: of ctr */
    uint2 key;
    unsigned int STATE; /* how many of output were used */
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};

typedef struct curandStateXORWOW curandStateXORWOW_t, curandState_t, curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

#if defined(__CUDACC__) /* other compilers see the states alone */

#include "wp/curand_jumps.h"

/* ---- XORWOW ---------------------------------------------------------------------------------- */

WP_CURAND void wp_xorwow_step(unsigned int v[5]) {
    const unsigned int t = v[0] ^ (v[0] >> 2);
    v[0] = v[1];
    v[1] = v[2];
    v[2] = v[3];
    v[3] = v[4];
    v[4] = (v[4] ^ (v[4] << 4)) ^ (t ^ (t << 1));
}

/* Applies a polynomial of the step to the words. */
WP_CURAND void wp_xorwow_apply(const unsigned int polynomial[5], unsigned int v[5]) {
    unsigned int sum[5] = {0, 0, 0, 0, 0};
    for (int word = 0; word < 5; word++) {
        unsigned int bits = polynomial[word];
        for (int i = 0; i < 32; i++) {
            const unsigned int mask = 0u - (bits & 1u);
            for (int j = 0; j < 5; j++)
                sum[j] ^= v[j] & mask;
            bits >>= 1;
            wp_xorwow_step(v);
        }
    }
    for (int j = 0; j < 5; j++)
        v[j] = sum[j];
}

WP_CURAND void wp_xorwow_jump(const unsigned int jumps[16][15][5], unsigned long long n,
                              unsigned int v[5]) {
    for (int k = 0; n != 0; k++, n >>= 4)
        if ((n & 15) != 0) wp_xorwow_apply(jumps[k][(n & 15) - 1], v);
}

/** The next 32 bits. */
WP_CURAND unsigned int curand(curandStateXORWOW_t *state) {
    wp_xorwow_step(state->v);
    state->d += 362437u;
    return state->d + state->v[4];
}

/** Skips `n` numbers. */
WP_CURAND void skipahead(unsigned long long n, curandStateXORWOW_t *state) {
    wp_xorwow_jump(wp_xorwow_offset, n, state->v);
    state->d += 362437u * (unsigned int)n;
}

/** Skips `n` times 2^67 numbers. */
WP_CURAND void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state) {
    wp_xorwow_jump(wp_xorwow_sequence, n, state->v); /* 2^67 is a multiple of the counter's 2^32 */
}

WP_CURAND void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStateXORWOW_t *state) {
    const unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
    const unsigned int high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    state->d = 6615241u + low + high;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

/* ---- MRG32k3a -------------------------------------------------------------------------------- */

#define WP_MRG_M1 4294967087u
#define WP_MRG_M2 4294944443u

/* A number from 1 to m1. */
WP_CURAND unsigned int curand(curandStateMRG32k3a_t *state) {
    const unsigned long long a = 1403580ull * state->s1[1] + 810728ull * (WP_MRG_M1 - state->s1[0]);
    const unsigned long long b = 527612ull * state->s2[2] + 1370589ull * (WP_MRG_M2 - state->s2[0]);
    const unsigned int p1 = (unsigned int)(a % WP_MRG_M1), p2 = (unsigned int)(b % WP_MRG_M2);
    state->s1[0] = state->s1[1];
    state->s1[1] = state->s1[2];
    state->s1[2] = p1;
    state->s2[0] = state->s2[1];
    state->s2[1] = state->s2[2];
    state->s2[2] = p2;
    return p1 <= p2 ? p1 - p2 + WP_MRG_M1 : p1 - p2;
}

WP_CURAND void wp_mrg_apply(const unsigned int matrix[9], unsigned long long m, unsigned int s[3]) {
    unsigned int r[3];
    for (int i = 0; i < 3; i++) {
        unsigned long long sum = 0;
        for (int j = 0; j < 3; j++)
            sum = (sum + (unsigned long long)matrix[3 * i + j] * s[j] % m) % m;
        r[i] = (unsigned int)sum;
    }
    for (int i = 0; i < 3; i++)
        s[i] = r[i];
}

WP_CURAND void wp_mrg_jump(const unsigned int (*one)[9], const unsigned int (*two)[9],
                           unsigned long long n, curandStateMRG32k3a_t *state) {
    for (int k = 0; n != 0; k++, n >>= 1)
        if ((n & 1) != 0) {
            wp_mrg_apply(one[k], WP_MRG_M1, state->s1);
            wp_mrg_apply(two[k], WP_MRG_M2, state->s2);
        }
}

WP_CURAND void skipahead(unsigned long long n, curandStateMRG32k3a_t *state) {
    wp_mrg_jump(wp_mrg1_offset, wp_mrg2_offset, n, state);
}

/** Skips `n` times 2^76 numbers. */
WP_CURAND void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    wp_mrg_jump(wp_mrg1_subsequence, wp_mrg2_subsequence, n, state);
}

/** Skips `n` times 2^127 numbers. */
WP_CURAND void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state) {
    wp_mrg_jump(wp_mrg1_subsequence + 51, wp_mrg2_subsequence + 51, n, state);
}

WP_CURAND void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStateMRG32k3a_t *state) {
    const unsigned long long low = (unsigned int)seed ^ 0x55555555u;
    const unsigned long long high = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    for (int i = 0; i < 3; i++) {
        state->s1[i] = state->s2[i] = 12345u;
        if (seed == 0) continue;
        state->s1[i] = (unsigned int)((i == 1 ? high : low) * 12345u % WP_MRG_M1);
        state->s2[i] = (unsigned int)((i == 1 ? low : high) * 12345u % WP_MRG_M2);
    }
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
}

/* ---- Philox4x32-10 --------------------------------------------------------------------------- */

/** The upper half of a product, for hosts' compilers, too. */
WP_CURAND unsigned int wp_curand_high(unsigned int a, unsigned int b) {
    return (unsigned int)((unsigned long long)a * b >> 32);
}

/** The ten rounds: four numbers of a counter and a key. */
WP_CURAND uint4 curand_Philox4x32_10(uint4 c, uint2 key) {
    for (int round = 0; round < 10; round++) {
        const unsigned int low0 = 0xd2511f53u * c.x, high0 = wp_curand_high(0xd2511f53u, c.x);
        const unsigned int low1 = 0xcd9e8d57u * c.z, high1 = wp_curand_high(0xcd9e8d57u, c.z);
        c = make_uint4(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key.x += 0x9e3779b9u;
        key.y += 0xbb67ae85u;
    }
    return c;
}

WP_CURAND void wp_philox_add(curandStatePhilox4_32_10_t *state, unsigned long long n) {
    const unsigned long long before = state->ctr.x | (unsigned long long)state->ctr.y << 32;
    const unsigned long long after = before + n;
    state->ctr.x = (unsigned int)after;
    state->ctr.y = (unsigned int)(after >> 32);
    if (after < before && ++state->ctr.z == 0) state->ctr.w++;
}

WP_CURAND void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    const unsigned int within = state->STATE + (unsigned int)(n & 3);
    state->STATE = within & 3;
    wp_philox_add(state, (n >> 2) + (within >> 2));
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

/** Skips `n` times 2^66 numbers. */
WP_CURAND void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state) {
    const unsigned long long after = (state->ctr.z | (unsigned long long)state->ctr.w << 32) + n;
    state->ctr.z = (unsigned int)after;
    state->ctr.w = (unsigned int)(after >> 32);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}

WP_CURAND void curand_init(unsigned long long seed, unsigned long long subsequence,
                           unsigned long long offset, curandStatePhilox4_32_10_t *state) {
    state->ctr = make_uint4(0, 0, 0, 0);
    state->key = make_uint2((unsigned int)seed, (unsigned int)(seed >> 32));
    state->STATE = 0;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}

WP_CURAND unsigned int curand(curandStatePhilox4_32_10_t *state) {
    const uint4 o = state->output;
    const unsigned int used = state->STATE++;
    const unsigned int r = used == 0 ? o.x : used == 1 ? o.y : used == 2 ? o.z : o.w;
    if (used == 3) {
        state->STATE = 0;
        wp_philox_add(state, 1);
        state->output = curand_Philox4x32_10(state->ctr, state->key);
    }
    return r;
}

/** The next four. */
WP_CURAND uint4 curand4(curandStatePhilox4_32_10_t *state) {
    uint4 r;
    r.x = curand(state);
    r.y = curand(state);
    r.z = curand(state);
    r.w = curand(state);
    return r;
}

/* ---- distributions --------------------------------------------------------------------------- */

#define WP_CURAND_2M32 2.3283064365386963e-10f /* 2^-32 */
#define WP_CURAND_2M53 1.1102230246251565e-16  /* 2^-53 */
#define WP_CURAND_MRG 2.328306549295728e-10    /* 1 / (m1 + 1) */

WP_CURAND float wp_curand_unit(unsigned int x) {
    return x * WP_CURAND_2M32 + WP_CURAND_2M32 / 2;
}

WP_CURAND double wp_curand_unit_double(unsigned int x, unsigned int y) {
    const unsigned long long z = x ^ (unsigned long long)y << (53 - 32);
    return z * WP_CURAND_2M53 + WP_CURAND_2M53 / 2;
}

/** Uniform in (0, 1]. */
WP_CURAND float curand_uniform(curandStateXORWOW_t *state) {
    return wp_curand_unit(curand(state));
}
WP_CURAND float curand_uniform(curandStatePhilox4_32_10_t *state) {
    return wp_curand_unit(curand(state));
}
WP_CURAND float curand_uniform(curandStateMRG32k3a_t *state) {
    return (float)(curand(state) * WP_CURAND_MRG);
}
WP_CURAND float4 curand_uniform4(curandStatePhilox4_32_10_t *state) {
    const uint4 x = curand4(state);
    return make_float4(wp_curand_unit(x.x), wp_curand_unit(x.y), wp_curand_unit(x.z),
                       wp_curand_unit(x.w));
}

WP_CURAND double curand_uniform_double(curandStateXORWOW_t *state) {
    const unsigned int x = curand(state), y = curand(state);
    return wp_curand_unit_double(x, y);
}
WP_CURAND double curand_uniform_double(curandStatePhilox4_32_10_t *state) {
    const unsigned int x = curand(state), y = curand(state);
    return wp_curand_unit_double(x, y);
}
WP_CURAND double curand_uniform_double(curandStateMRG32k3a_t *state) {
    return curand(state) * WP_CURAND_MRG;
}
WP_CURAND double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state) {
    const uint4 x = curand4(state);
    return make_double2(wp_curand_unit_double(x.x, x.y), wp_curand_unit_double(x.z, x.w));
}
WP_CURAND double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state) {
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return make_double4(a.x, a.y, b.x, b.y);
}

/* Two normal numbers of two uniform ones. */
WP_CURAND float2 wp_curand_pair(float u, float turn) {
    const float radius = sqrtf(-2.0f * logf(u));
    float2 r;
    sincosf(turn * 6.2831855f, &r.x, &r.y);
    r.x *= radius;
    r.y *= radius;
    return r;
}

WP_CURAND double2 wp_curand_pair_double(double u, double turn) {
    const double radius = sqrt(-2.0 * log(u));
    double2 r;
    sincospi(2 * turn, &r.x, &r.y);
    r.x *= radius;
    r.y *= radius;
    return r;
}

#define WP_CURAND_NORMAL(type)                                                                     \
    WP_CURAND float2 curand_normal2(type *state) {                                                 \
        const float u = curand_uniform(state), turn = curand_uniform(state);                       \
        return wp_curand_pair(u, turn);                                                            \
    }                                                                                              \
    WP_CURAND double2 curand_normal2_double(type *state) {                                         \
        const double u = curand_uniform_double(state), turn = curand_uniform_double(state);        \
        return wp_curand_pair_double(u, turn);                                                     \
    }                                                                                              \
    WP_CURAND float curand_normal(type *state) {                                                   \
        if (state->boxmuller_flag != 0) {                                                          \
            state->boxmuller_flag = 0;                                                             \
            return state->boxmuller_extra;                                                         \
        }                                                                                          \
        const float2 pair = curand_normal2(state);                                                 \
        state->boxmuller_extra = pair.y;                                                           \
        state->boxmuller_flag = 1;                                                                 \
        return pair.x;                                                                             \
    }                                                                                              \
    WP_CURAND double curand_normal_double(type *state) {                                           \
        if (state->boxmuller_flag_double != 0) {                                                   \
            state->boxmuller_flag_double = 0;                                                      \
            return state->boxmuller_extra_double;                                                  \
        }                                                                                          \
        const double2 pair = curand_normal2_double(state);                                         \
        state->boxmuller_extra_double = pair.y;                                                    \
        state->boxmuller_flag_double = 1;                                                          \
        return pair.x;                                                                             \
    }                                                                                              \
    WP_CURAND float curand_log_normal(type *state, float mean, float stddev) {                     \
        return expf(mean + stddev * curand_normal(state));                                         \
    }                                                                                              \
    WP_CURAND float2 curand_log_normal2(type *state, float mean, float stddev) {                   \
        const float2 pair = curand_normal2(state);                                                 \
        return make_float2(expf(mean + stddev * pair.x), expf(mean + stddev * pair.y));            \
    }                                                                                              \
    WP_CURAND double curand_log_normal_double(type *state, double mean, double stddev) {           \
        return exp(mean + stddev * curand_normal_double(state));                                   \
    }                                                                                              \
    WP_CURAND double2 curand_log_normal2_double(type *state, double mean, double stddev) {         \
        const double2 pair = curand_normal2_double(state);                                         \
        return make_double2(exp(mean + stddev * pair.x), exp(mean + stddev * pair.y));             \
    }                                                                                              \
    /* Small means: products of uniform numbers (Knuth). Large ones: rejection under a             \
     * transformed table mountain (Hoermann 1993, PTRS). */                                        \
    WP_CURAND unsigned int curand_poisson(type *state, double lambda) {                            \
        if (!(lambda > 0)) return 0;                                                               \
        if (lambda < 10) {                                                                         \
            const double end = exp(-lambda);                                                       \
            double product = curand_uniform_double(state);                                         \
            unsigned int n = 0;                                                                    \
            for (; product > end; n++)                                                             \
                product *= curand_uniform_double(state);                                           \
            return n;                                                                              \
        }                                                                                          \
        const double b = 0.931 + 2.53 * sqrt(lambda), a = -0.059 + 0.02483 * b;                    \
        const double alpha = 1.1239 + 1.1328 / (b - 3.4), limit = 0.9277 - 3.6224 / (b - 2);       \
        for (;;) {                                                                                 \
            const double u = curand_uniform_double(state) - 0.5;                                   \
            const double v = curand_uniform_double(state), us = 0.5 - fabs(u);                     \
            const double k = floor((2 * a / us + b) * u + lambda + 0.43);                          \
            if (us >= 0.07 && v <= limit) return (unsigned int)k;                                  \
            if (k < 0 || (us < 0.013 && v > us)) continue;                                         \
            if (log(v) + log(alpha) - log(a / (us * us) + b) <=                                    \
                k * log(lambda) - lambda - lgamma(k + 1))                                          \
                return (unsigned int)k;                                                            \
        }                                                                                          \
    }

WP_CURAND_NORMAL(curandStateXORWOW_t)
WP_CURAND_NORMAL(curandStateMRG32k3a_t)
WP_CURAND_NORMAL(curandStatePhilox4_32_10_t)

WP_CURAND float4 curand_normal4(curandStatePhilox4_32_10_t *state) {
    const float2 a = curand_normal2(state), b = curand_normal2(state);
    return make_float4(a.x, a.y, b.x, b.y);
}
WP_CURAND float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float stddev) {
    const float2 a = curand_log_normal2(state, mean, stddev);
    const float2 b = curand_log_normal2(state, mean, stddev);
    return make_float4(a.x, a.y, b.x, b.y);
}
WP_CURAND uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double lambda) {
    uint4 r;
    r.x = curand_poisson(state, lambda);
    r.y = curand_poisson(state, lambda);
    r.z = curand_poisson(state, lambda);
    r.w = curand_poisson(state, lambda);
    return r;
}

#endif
#endif
#endif
