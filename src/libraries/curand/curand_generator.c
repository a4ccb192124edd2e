/* SPDX-License-Identifier: Apache-2.0 */
/* cuRAND's host API. States are made when the first numbers are asked for; those of a host
 * generator are made on the device, too, and copied. */
#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "libraries/cuda_library.h"
#include "libraries/curand/random_shared.h"
#include "warpage/cuda/curand.h"
#include "warpage/cudart.h"

#define MAGIC UINT64_C(0x776172702d726e64)
#define LAMBDA_MAX 400000.0

struct curandGenerator_st {
    uint64_t magic;
    wpi_random_kind kind;
    bool is_host;
    cudaStream_t stream;
    unsigned long long seed, offset;
    bool is_started;
    unsigned int next; /* stream of the next item */
    void *states;
};

#define CURAND_TRY(expression)                                                                     \
    do {                                                                                           \
        const curandStatus_t curand_try = (expression);                                            \
        if (curand_try != CURAND_STATUS_SUCCESS) return curand_try;                                \
    } while (0)

static curandStatus_t enter(curandGenerator_t g) {
    return g != NULL && g->magic == MAGIC ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}

static curandStatus_t status_of(cudaError_t error) {
    switch (error) {
    case cudaSuccess: return CURAND_STATUS_SUCCESS;
    case cudaErrorMemoryAllocation: return CURAND_STATUS_ALLOCATION_FAILED;
    default: return CURAND_STATUS_LAUNCH_FAILURE;
    }
}

/* ---- create, destroy ---- */

/* The kind; false for types that have no implementation, which are named once. */
static bool kind_of(curandRngType_t type, wpi_random_kind *out) {
    static atomic_bool is_said;
    switch (type) {
    case CURAND_RNG_PSEUDO_DEFAULT:
    case CURAND_RNG_PSEUDO_XORWOW: *out = WPI_RANDOM_XORWOW; return true;
    case CURAND_RNG_PSEUDO_MRG32K3A: *out = WPI_RANDOM_MRG32K3A; return true;
    case CURAND_RNG_PSEUDO_PHILOX4_32_10: *out = WPI_RANDOM_PHILOX; return true;
    case CURAND_RNG_PSEUDO_MTGP32:
    case CURAND_RNG_PSEUDO_MT19937: *out = WPI_RANDOM_MERSENNE; return true;
    default:
        if (type >= CURAND_RNG_QUASI_DEFAULT && type <= CURAND_RNG_QUASI_SCRAMBLED_SOBOL64)
            wpi_library_missing("curand", "a generator of Sobol's sequence",
                                "CURAND_STATUS_TYPE_ERROR", &is_said);
        return false;
    }
}

static curandStatus_t create(curandGenerator_t *out, curandRngType_t type, bool is_host) {
    wpi_random_kind kind;
    if (out == NULL) return CURAND_STATUS_NOT_INITIALIZED;
    *out = NULL;
    if (!kind_of(type, &kind)) return CURAND_STATUS_TYPE_ERROR;
    if (wp_cudart_device() == NULL) return CURAND_STATUS_INITIALIZATION_FAILED;
    curandGenerator_t g = wpi_calloc(1, sizeof *g);
    if (g == NULL) return CURAND_STATUS_ALLOCATION_FAILED;
    *g = (struct curandGenerator_st){.magic = MAGIC, .kind = kind, .is_host = is_host};
    if (cudaMalloc(&g->states, WPI_RANDOM_STREAMS * wpi_random[kind].state_bytes) != cudaSuccess) {
        wpi_free(g);
        return CURAND_STATUS_ALLOCATION_FAILED;
    }
    *out = g;
    return CURAND_STATUS_SUCCESS;
}

WP_API curandStatus_t curandCreateGenerator(curandGenerator_t *generator,
                                            curandRngType_t rng_type) {
    return create(generator, rng_type, false);
}

WP_API curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator,
                                                curandRngType_t rng_type) {
    return create(generator, rng_type, true);
}

WP_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    CURAND_TRY(enter(generator));
    const cudaError_t error = cudaFree(generator->states); /* waits for queued work */
    generator->magic = 0;
    wpi_free(generator);
    return status_of(error);
}

/* ---- settings ---- */

WP_API curandStatus_t curandGetVersion(int *version) {
    if (version == NULL) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}

WP_API curandStatus_t curandGetProperty(libraryPropertyType type, int *value) {
    static const int values[] = {CURAND_VER_MAJOR, CURAND_VER_MINOR, CURAND_VER_PATCH};
    if (value == NULL || (unsigned)type > PATCH_LEVEL) return CURAND_STATUS_OUT_OF_RANGE;
    *value = values[type];
    return CURAND_STATUS_SUCCESS;
}

WP_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    CURAND_TRY(enter(generator));
    generator->stream = stream;
    return CURAND_STATUS_SUCCESS;
}

WP_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                         unsigned long long seed) {
    CURAND_TRY(enter(generator));
    generator->seed = seed;
    generator->is_started = false;
    return CURAND_STATUS_SUCCESS;
}

WP_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                               unsigned long long offset) {
    CURAND_TRY(enter(generator));
    generator->offset = offset;
    generator->is_started = false;
    return CURAND_STATUS_SUCCESS;
}

/* There is one order. */
WP_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                 curandOrdering_t order) {
    CURAND_TRY(enter(generator));
    return order >= CURAND_ORDERING_PSEUDO_BEST && order <= CURAND_ORDERING_PSEUDO_DYNAMIC
               ? CURAND_STATUS_SUCCESS
               : CURAND_STATUS_OUT_OF_RANGE;
}

WP_API curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t generator,
                                                              unsigned int num_dimensions) {
    (void)num_dimensions;
    CURAND_TRY(enter(generator));
    return CURAND_STATUS_TYPE_ERROR;
}

WP_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    CURAND_TRY(enter(generator));
    if (generator->is_started) return CURAND_STATUS_SUCCESS;
    CURAND_TRY(status_of(wpi_random[generator->kind].start(generator->stream, generator->states,
                                                           generator->seed, generator->offset)));
    generator->next = (unsigned int)(generator->offset % WPI_RANDOM_STREAMS);
    generator->is_started = true;
    return CURAND_STATUS_SUCCESS;
}

/* ---- numbers ---- */

static curandStatus_t generate(curandGenerator_t g, wpi_distribution distribution, void *out,
                               size_t n, size_t bytes, double mean, double deviation) {
    CURAND_TRY(enter(g));
    const bool is_paired = distribution >= WPI_DISTRIBUTION_NORMAL &&
                           distribution <= WPI_DISTRIBUTION_LOG_NORMAL_DOUBLE;
    if (is_paired && n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    if (n == 0) return CURAND_STATUS_SUCCESS;
    if (out == NULL) return CURAND_STATUS_OUT_OF_RANGE;
    CURAND_TRY(curandGenerateSeeds(g));
    void *to = out;
    if (g->is_host && cudaMalloc(&to, n * bytes) != cudaSuccess)
        return CURAND_STATUS_ALLOCATION_FAILED;
    const wpi_draw draw = {.distribution = distribution,
                           .first = g->next,
                           .count = is_paired ? n / 2 : n,
                           .states = g->states,
                           .out = to,
                           .mean = mean,
                           .deviation = deviation};
    cudaError_t error = wpi_random[g->kind].draw(g->stream, &draw);
    if (error == cudaSuccess) g->next = (unsigned int)((g->next + draw.count) % WPI_RANDOM_STREAMS);
    if (g->is_host) {
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(out, to, n * bytes, cudaMemcpyDeviceToHost, g->stream);
        if (error == cudaSuccess) error = cudaStreamSynchronize(g->stream);
        const cudaError_t freed = cudaFree(to);
        if (error == cudaSuccess) error = freed;
    }
    return status_of(error);
}

WP_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned int *outputPtr,
                                     size_t num) {
    return generate(generator, WPI_DISTRIBUTION_BITS, outputPtr, num, sizeof *outputPtr, 0, 0);
}

/* For 64-bit quasirandom generators, of which there is none. */
WP_API curandStatus_t curandGenerateLongLong(curandGenerator_t generator,
                                             unsigned long long *outputPtr, size_t num) {
    (void)outputPtr, (void)num;
    CURAND_TRY(enter(generator));
    return CURAND_STATUS_TYPE_ERROR;
}

WP_API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *outputPtr,
                                            size_t num) {
    return generate(generator, WPI_DISTRIBUTION_UNIFORM, outputPtr, num, sizeof *outputPtr, 0, 0);
}

WP_API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *outputPtr,
                                                  size_t num) {
    return generate(generator, WPI_DISTRIBUTION_UNIFORM_DOUBLE, outputPtr, num, sizeof *outputPtr,
                    0, 0);
}

WP_API curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *outputPtr, size_t n,
                                           float mean, float stddev) {
    return generate(generator, WPI_DISTRIBUTION_NORMAL, outputPtr, n, sizeof *outputPtr,
                    (double)mean, (double)stddev);
}

WP_API curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *outputPtr,
                                                 size_t n, double mean, double stddev) {
    return generate(generator, WPI_DISTRIBUTION_NORMAL_DOUBLE, outputPtr, n, sizeof *outputPtr,
                    mean, stddev);
}

WP_API curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *outputPtr,
                                              size_t n, float mean, float stddev) {
    return generate(generator, WPI_DISTRIBUTION_LOG_NORMAL, outputPtr, n, sizeof *outputPtr,
                    (double)mean, (double)stddev);
}

WP_API curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *outputPtr,
                                                    size_t n, double mean, double stddev) {
    return generate(generator, WPI_DISTRIBUTION_LOG_NORMAL_DOUBLE, outputPtr, n, sizeof *outputPtr,
                    mean, stddev);
}

WP_API curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned int *outputPtr,
                                            size_t n, double lambda) {
    CURAND_TRY(enter(generator));
    if (!(lambda > 0) || lambda > LAMBDA_MAX) return CURAND_STATUS_OUT_OF_RANGE;
    return generate(generator, WPI_DISTRIBUTION_POISSON, outputPtr, n, sizeof *outputPtr, lambda,
                    0);
}
