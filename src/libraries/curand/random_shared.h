/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuRAND's host code and its kernels share. A generator is WPI_RANDOM_STREAMS states, one a
 * subsequence; number n of a generator is the next one of stream n mod WPI_RANDOM_STREAMS, as
 * cuRAND documents for XORWOW and MRG32k3a.
 */
#ifndef WP_LIBRARIES_RANDOM_SHARED_H
#define WP_LIBRARIES_RANDOM_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_RANDOM_STREAMS 4096u

typedef enum wpi_random_kind {
    WPI_RANDOM_XORWOW = 0,
    WPI_RANDOM_MRG32K3A,
    WPI_RANDOM_PHILOX,
    WPI_RANDOM_MERSENNE,
    WPI_RANDOM_KINDS /* must be last */
} wpi_random_kind;

typedef enum wpi_distribution {
    WPI_DISTRIBUTION_BITS = 0, /* unsigned int */
    WPI_DISTRIBUTION_UNIFORM,
    WPI_DISTRIBUTION_UNIFORM_DOUBLE,
    WPI_DISTRIBUTION_NORMAL, /* in pairs, as the four below but the last */
    WPI_DISTRIBUTION_NORMAL_DOUBLE,
    WPI_DISTRIBUTION_LOG_NORMAL,
    WPI_DISTRIBUTION_LOG_NORMAL_DOUBLE,
    WPI_DISTRIBUTION_POISSON /* unsigned int */
} wpi_distribution;

/** `count` items (numbers or pairs) to `out`; the first is of stream `first`. */
typedef struct wpi_draw {
    wpi_distribution distribution;
    unsigned int first;
    unsigned long long count;
    void *states, *out;
    double mean, deviation; /* the mean alone of POISSON */
} wpi_draw;

typedef struct wpi_random_launches {
    size_t state_bytes;
    /** `skipped` numbers of the generator precede the first. */
    cudaError_t (*start)(cudaStream_t, void *states, unsigned long long seed,
                         unsigned long long skipped);
    cudaError_t (*draw)(cudaStream_t, const wpi_draw *draw);
} wpi_random_launches;

extern const wpi_random_launches wpi_random[WPI_RANDOM_KINDS];

#ifdef __cplusplus
}
#endif
#endif
