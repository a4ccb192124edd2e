/* SPDX-License-Identifier: Apache-2.0 */
/** The occupancy calculator: how many blocks of a kernel fit on a multiprocessor, computed from
 * numbers alone, without a device or a library. Of CUDA's public interface. The device's and the
 * function's numbers may be changed before, to ask about another GPU.
 *
 *     blocks = the least of   blocks a multiprocessor holds at most
 *                             threads of it      / threads of a block, in whole warps
 *                             warps by registers / warps of a block
 *                             shared memory      / shared memory of a block, in granules
 *
 * Functions return CUDA_OCC_ERROR_INVALID_INPUT for a NULL pointer or a number that is not
 * possible, and CUDA_OCC_ERROR_UNKNOWN_DEVICE for a compute capability that is none of 2.0 to 12.x.
 */
#ifndef WARPAGE_CUDA_OCCUPANCY_H
#define WARPAGE_CUDA_OCCUPANCY_H

#include <limits.h>
#include <stddef.h>
#if defined(__cplusplus)
#define WP_OCC_INLINE static inline
#else
#define WP_OCC_INLINE static inline __attribute__((unused))
#endif

typedef enum cudaOccError_enum {
    CUDA_OCC_SUCCESS = 0,
    CUDA_OCC_ERROR_INVALID_INPUT = 1,
    CUDA_OCC_ERROR_UNKNOWN_DEVICE = 2
} cudaOccError;

typedef enum cudaOccCacheConfig_enum {
    CACHE_PREFER_NONE = 0,
    CACHE_PREFER_SHARED = 1,
    CACHE_PREFER_L1 = 2,
    CACHE_PREFER_EQUAL = 3
} cudaOccCacheConfig;

/** Besides these, any percentage from 0 to 100. */
typedef enum cudaOccCarveoutConfig_enum {
    SHAREDMEM_CARVEOUT_DEFAULT = -1,
    SHAREDMEM_CARVEOUT_MAX_L1 = 0,
    SHAREDMEM_CARVEOUT_HALF = 50,
    SHAREDMEM_CARVEOUT_MAX_SHARED = 100
} cudaOccCarveoutConfig;

typedef enum cudaOccPartitionedGCConfig_enum {
    PARTITIONED_GC_OFF = 0,
    PARTITIONED_GC_ON = 1,
    PARTITIONED_GC_ON_STRICT = 2
} cudaOccPartitionedGCConfig;

typedef enum cudaOccFuncShmemConfig_enum {
    FUNC_SHMEM_LIMIT_DEFAULT = 0,
    FUNC_SHMEM_LIMIT_OPTIN = 1
} cudaOccFuncShmemConfig;

typedef enum cudaOccLimitingFactor_enum {
    OCC_LIMIT_WARPS = 0x01,
    OCC_LIMIT_REGISTERS = 0x02,
    OCC_LIMIT_SHARED_MEMORY = 0x04,
    OCC_LIMIT_BLOCKS = 0x08,
    OCC_LIMIT_BARRIERS = 0x10 /* never: a block's barriers fit where the block does */
} cudaOccLimitingFactor;

/** Fields as in cudaDeviceProp, from which C++ converts. */
typedef struct cudaOccDeviceProp {
    int computeMajor;
    int computeMinor;
    int maxThreadsPerBlock;
    int maxThreadsPerMultiprocessor;
    int regsPerBlock;
    int regsPerMultiprocessor;
    int warpSize;
    size_t sharedMemPerBlock;
    size_t sharedMemPerMultiprocessor;
    int numSms;
    size_t sharedMemPerBlockOptin;
    size_t reservedSharedMemPerBlock;
#if defined(__cplusplus)
    cudaOccDeviceProp()
        : computeMajor(0), computeMinor(0), maxThreadsPerBlock(0), maxThreadsPerMultiprocessor(0),
          regsPerBlock(0), regsPerMultiprocessor(0), warpSize(0), sharedMemPerBlock(0),
          sharedMemPerMultiprocessor(0), numSms(0), sharedMemPerBlockOptin(0),
          reservedSharedMemPerBlock(0) {
    }
    template <typename Properties>
    cudaOccDeviceProp(const Properties &p)
        : computeMajor(p.major), computeMinor(p.minor), maxThreadsPerBlock(p.maxThreadsPerBlock),
          maxThreadsPerMultiprocessor(p.maxThreadsPerMultiProcessor), regsPerBlock(p.regsPerBlock),
          regsPerMultiprocessor(p.regsPerMultiprocessor), warpSize(p.warpSize),
          sharedMemPerBlock(p.sharedMemPerBlock),
          sharedMemPerMultiprocessor(p.sharedMemPerMultiprocessor), numSms(p.multiProcessorCount),
          sharedMemPerBlockOptin(p.sharedMemPerBlockOptin),
          reservedSharedMemPerBlock(p.reservedSharedMemPerBlock) {
    }
#endif
} cudaOccDeviceProp;

/** Fields as in cudaFuncAttributes, from which C++ converts. */
typedef struct cudaOccFuncAttributes {
    int maxThreadsPerBlock;
    int numRegs; /* of a thread */
    size_t sharedSizeBytes;
    cudaOccPartitionedGCConfig partitionedGCConfig;
    cudaOccFuncShmemConfig shmemLimitConfig; /* OPTIN: maxDynamicSharedSizeBytes is allowed */
    size_t maxDynamicSharedSizeBytes;
    int numBlockBarriers;
#if defined(__cplusplus)
    cudaOccFuncAttributes()
        : maxThreadsPerBlock(0), numRegs(0), sharedSizeBytes(0),
          partitionedGCConfig(PARTITIONED_GC_OFF), shmemLimitConfig(FUNC_SHMEM_LIMIT_OPTIN),
          maxDynamicSharedSizeBytes(0), numBlockBarriers(0) {
    }
    template <typename Attributes>
    cudaOccFuncAttributes(const Attributes &a)
        : maxThreadsPerBlock(a.maxThreadsPerBlock), numRegs(a.numRegs),
          sharedSizeBytes(a.sharedSizeBytes), partitionedGCConfig(PARTITIONED_GC_OFF),
          shmemLimitConfig(FUNC_SHMEM_LIMIT_OPTIN),
          maxDynamicSharedSizeBytes((size_t)a.maxDynamicSharedSizeBytes), numBlockBarriers(1) {
    }
#endif
} cudaOccFuncAttributes;

typedef struct cudaOccDeviceState {
    cudaOccCacheConfig cacheConfig; /* of capabilities below 7.0 … */
    int carveoutConfig;             /* … and from 7.0 on */
#if defined(__cplusplus)
    cudaOccDeviceState()
        : cacheConfig(CACHE_PREFER_NONE), carveoutConfig(SHAREDMEM_CARVEOUT_DEFAULT) {
    }
#endif
} cudaOccDeviceState;

typedef struct cudaOccResult {
    int activeBlocksPerMultiprocessor;
    unsigned int limitingFactors; /* OCC_LIMIT_… that allow no more */
    int blockLimitRegs;           /* INT_MAX: does not limit */
    int blockLimitSharedMem;
    int blockLimitWarps;
    int blockLimitBlocks;
    int blockLimitBarriers;
    int allocatedRegistersPerBlock;
    size_t allocatedSharedMemPerBlock;
    cudaOccPartitionedGCConfig partitionedGCConfig;
} cudaOccResult;

/* ---- what a compute capability has ----------------------------------------------------------- */

/* Programs call it, too. */
WP_OCC_INLINE int __occDivideRoundUp(int value, int by) {
    return (value + by - 1) / by;
}

WP_OCC_INLINE size_t wp_occ_rounded(size_t value, size_t granule) {
    return (value + granule - 1) / granule * granule;
}

WP_OCC_INLINE cudaOccError wp_occ_check(const cudaOccDeviceProp *p) {
    if (p == NULL || p->maxThreadsPerBlock <= 0 || p->maxThreadsPerMultiprocessor <= 0 ||
        p->regsPerMultiprocessor <= 0 || p->warpSize <= 0)
        return CUDA_OCC_ERROR_INVALID_INPUT;
    return p->computeMajor < 2 || p->computeMajor == 4 || p->computeMajor > 12
               ? CUDA_OCC_ERROR_UNKNOWN_DEVICE
               : CUDA_OCC_SUCCESS;
}

/** Blocks that a multiprocessor holds at most. */
WP_OCC_INLINE cudaOccError cudaOccMaxBlocksPerMultiprocessor(int *limit,
                                                             const cudaOccDeviceProp *properties) {
    const cudaOccError error = wp_occ_check(properties);
    if (limit == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    const int version = 10 * properties->computeMajor + properties->computeMinor;
    *limit = version < 30                                       ? 8
             : version < 50                                     ? 16
             : version == 75 || version == 86 || version == 87  ? 16
             : version == 89 || version == 101 || version > 109 ? 24
                                                                : 32;
    return CUDA_OCC_SUCCESS;
}

/** Bytes that shared memory is allocated in. */
WP_OCC_INLINE cudaOccError cudaOccSMemAllocationGranularity(int *limit,
                                                            const cudaOccDeviceProp *properties) {
    const cudaOccError error = wp_occ_check(properties);
    if (limit == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    *limit = properties->computeMajor == 2 || properties->computeMajor >= 8 ? 128 : 256;
    return CUDA_OCC_SUCCESS;
}

/** Registers that a warp's registers are allocated in. */
WP_OCC_INLINE cudaOccError cudaOccRegAllocationGranularity(int *limit,
                                                           const cudaOccDeviceProp *properties) {
    const cudaOccError error = wp_occ_check(properties);
    if (limit == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    *limit = properties->computeMajor == 2 ? 64 : 256;
    return CUDA_OCC_SUCCESS;
}

WP_OCC_INLINE cudaOccError cudaOccRegAllocationMaxPerThread(int *limit,
                                                            const cudaOccDeviceProp *properties) {
    const cudaOccError error = wp_occ_check(properties);
    if (limit == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    const int version = 10 * properties->computeMajor + properties->computeMinor;
    *limit = version < 32 ? 63 : 255;
    return CUDA_OCC_SUCCESS;
}

/** Parts of a multiprocessor, each with its share of the registers. */
WP_OCC_INLINE cudaOccError
cudaOccSubPartitionsPerMultiprocessor(int *limit, const cudaOccDeviceProp *properties) {
    const cudaOccError error = wp_occ_check(properties);
    if (limit == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    const int has_two = properties->computeMajor == 2 ||
                        (properties->computeMajor == 6 && properties->computeMinor == 0);
    *limit = has_two ? 2 : 4;
    return CUDA_OCC_SUCCESS;
}

/* ---- shared memory of a multiprocessor ------------------------------------------------------- */

/* From 7.0 on the sizes to which shared memory can be set, in KiB, ascending; the list ends with 0.
 */
WP_OCC_INLINE const short *wp_occ_shared_sizes(const cudaOccDeviceProp *p) {
    static const short volta[] = {8, 16, 32, 64, 96, 0};
    static const short turing[] = {32, 64, 0};
    static const short ampere[] = {8, 16, 32, 64, 100, 132, 164, 0};
    static const short ada[] = {8, 16, 32, 64, 100, 0};
    static const short hopper[] = {8, 16, 32, 64, 100, 132, 164, 196, 228, 0};
    const int version = 10 * p->computeMajor + p->computeMinor;
    return version == 75                    ? turing
           : version < 80                   ? volta
           : version == 80 || version == 87 ? ampere
           : version < 90 || version >= 120 ? ada
                                            : hopper;
}

/* What kernels have of it, where a block takes `block_bytes`: a preference is raised until the
 * block fits, as drivers do. */
WP_OCC_INLINE size_t wp_occ_shared_bytes(const cudaOccDeviceProp *p, const cudaOccDeviceState *s,
                                         size_t block_bytes) {
    const size_t all = p->sharedMemPerMultiprocessor;
    if (p->computeMajor < 5) { /* one memory with the first-level cache, divided in three ways */
        const size_t share = s->cacheConfig == CACHE_PREFER_L1      ? all - (32 << 10)
                             : s->cacheConfig == CACHE_PREFER_EQUAL ? all - (16 << 10)
                                                                    : all;
        return all <= (32u << 10) || share < block_bytes ? all : share;
    }
    if (p->computeMajor < 7 || s->carveoutConfig == SHAREDMEM_CARVEOUT_DEFAULT) return all;
    const size_t asked = all * (size_t)s->carveoutConfig / 100;
    for (const short *size = wp_occ_shared_sizes(p); *size != 0; size++) {
        const size_t bytes = (size_t)*size << 10;
        if (bytes >= asked && bytes >= block_bytes && bytes <= all) return bytes;
    }
    return all;
}

/* ---- blocks that fit ------------------------------------------------------------------------- */

WP_OCC_INLINE cudaOccError cudaOccMaxActiveBlocksPerMultiprocessor(
    cudaOccResult *result, const cudaOccDeviceProp *properties,
    const cudaOccFuncAttributes *attributes, const cudaOccDeviceState *state, int blockSize,
    size_t dynamicSmemSize) {
    const cudaOccDeviceProp *const p = properties;
    const cudaOccFuncAttributes *const f = attributes;
    int parts, granule, shared_granule, most_registers;
    cudaOccResult r;
    if (result == NULL || f == NULL || state == NULL || blockSize <= 0 || f->numRegs < 0 ||
        f->maxThreadsPerBlock <= 0 || state->carveoutConfig < -1 || state->carveoutConfig > 100)
        return CUDA_OCC_ERROR_INVALID_INPUT;
    cudaOccError error = cudaOccMaxBlocksPerMultiprocessor(&r.blockLimitBlocks, p);
    if (error != CUDA_OCC_SUCCESS) return error;
    (void)cudaOccSubPartitionsPerMultiprocessor(&parts, p);
    (void)cudaOccRegAllocationGranularity(&granule, p);
    (void)cudaOccSMemAllocationGranularity(&shared_granule, p);
    (void)cudaOccRegAllocationMaxPerThread(&most_registers, p);

    const int warps = __occDivideRoundUp(blockSize, p->warpSize);
    const int is_too_large = blockSize > p->maxThreadsPerBlock || blockSize > f->maxThreadsPerBlock;
    r.blockLimitWarps = is_too_large ? 0 : p->maxThreadsPerMultiprocessor / (warps * p->warpSize);

    const int warp_registers =
        (int)wp_occ_rounded((size_t)(f->numRegs * p->warpSize), (size_t)granule);
    r.allocatedRegistersPerBlock =
        warp_registers * (int)wp_occ_rounded((size_t)warps, (size_t)parts);
    if (f->numRegs == 0)
        r.blockLimitRegs = INT_MAX;
    else if (f->numRegs > most_registers || r.allocatedRegistersPerBlock > p->regsPerBlock)
        r.blockLimitRegs = 0;
    else
        r.blockLimitRegs = p->regsPerMultiprocessor / parts / warp_registers * parts / warps;

    const size_t asked = f->sharedSizeBytes + dynamicSmemSize;
    const size_t most =
        f->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN && p->sharedMemPerBlockOptin != 0
            ? p->sharedMemPerBlockOptin
            : p->sharedMemPerBlock;
    r.allocatedSharedMemPerBlock =
        wp_occ_rounded(asked + p->reservedSharedMemPerBlock, (size_t)shared_granule);
    if (asked > most)
        r.blockLimitSharedMem = 0;
    else if (r.allocatedSharedMemPerBlock == 0)
        r.blockLimitSharedMem = INT_MAX;
    else
        r.blockLimitSharedMem = (int)(wp_occ_shared_bytes(p, state, r.allocatedSharedMemPerBlock) /
                                      r.allocatedSharedMemPerBlock);

    r.blockLimitBarriers = INT_MAX;
    r.partitionedGCConfig = PARTITIONED_GC_OFF;
    int least = r.blockLimitBlocks;
    if (r.blockLimitWarps < least) least = r.blockLimitWarps;
    if (r.blockLimitRegs < least) least = r.blockLimitRegs;
    if (r.blockLimitSharedMem < least) least = r.blockLimitSharedMem;
    r.activeBlocksPerMultiprocessor = least;
    r.limitingFactors = (r.blockLimitWarps == least ? OCC_LIMIT_WARPS : 0u) |
                        (r.blockLimitRegs == least ? OCC_LIMIT_REGISTERS : 0u) |
                        (r.blockLimitSharedMem == least ? OCC_LIMIT_SHARED_MEMORY : 0u) |
                        (r.blockLimitBlocks == least ? OCC_LIMIT_BLOCKS : 0u);
    *result = r;
    return CUDA_OCC_SUCCESS;
}

/** The dynamic shared memory that each of `numBlocks` blocks on a multiprocessor can have. */
WP_OCC_INLINE cudaOccError
cudaOccAvailableDynamicSMemPerBlock(size_t *bytesAvailable, const cudaOccDeviceProp *properties,
                                    const cudaOccFuncAttributes *attributes,
                                    const cudaOccDeviceState *state, int numBlocks, int blockSize) {
    cudaOccResult r;
    int granule;
    if (bytesAvailable == NULL || numBlocks <= 0) return CUDA_OCC_ERROR_INVALID_INPUT;
    const cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&r, properties, attributes, state, blockSize, 0);
    if (error != CUDA_OCC_SUCCESS) return error;
    if (r.activeBlocksPerMultiprocessor < numBlocks) return CUDA_OCC_ERROR_INVALID_INPUT;
    (void)cudaOccSMemAllocationGranularity(&granule, properties);
    const size_t share = wp_occ_shared_bytes(properties, state, 0) / (size_t)numBlocks /
                         (size_t)granule * (size_t)granule;
    const size_t used = attributes->sharedSizeBytes + properties->reservedSharedMemPerBlock;
    const size_t most = attributes->shmemLimitConfig == FUNC_SHMEM_LIMIT_OPTIN &&
                                properties->sharedMemPerBlockOptin != 0
                            ? properties->sharedMemPerBlockOptin
                            : properties->sharedMemPerBlock;
    const size_t left = share > used ? share - used : 0;
    *bytesAvailable =
        left + attributes->sharedSizeBytes > most ? most - attributes->sharedSizeBytes : left;
    return CUDA_OCC_SUCCESS;
}

/* ---- the block size that keeps most threads busy --------------------------------------------- */

/* Of equal ones the largest, as cudaOccupancyMaxPotentialBlockSize. */
WP_OCC_INLINE cudaOccError wp_occ_better_block(int *grid, int *block, int *best, int size,
                                               const cudaOccDeviceProp *p,
                                               const cudaOccFuncAttributes *f,
                                               const cudaOccDeviceState *s, size_t shared_bytes) {
    cudaOccResult r;
    const cudaOccError error =
        cudaOccMaxActiveBlocksPerMultiprocessor(&r, p, f, s, size, shared_bytes);
    if (error != CUDA_OCC_SUCCESS) return error;
    const int threads = r.activeBlocksPerMultiprocessor * size;
    if (threads <= *best) return CUDA_OCC_SUCCESS;
    *best = threads;
    *block = size;
    *grid = r.activeBlocksPerMultiprocessor * p->numSms;
    return CUDA_OCC_SUCCESS;
}

/* The block sizes to try, from the largest; the most threads of a block in `*most`. */
WP_OCC_INLINE cudaOccError wp_occ_first_block(int *grid, int *block, int *most,
                                              const cudaOccDeviceProp *p,
                                              const cudaOccFuncAttributes *f) {
    const cudaOccError error = wp_occ_check(p);
    if (grid == NULL || block == NULL || f == NULL) return CUDA_OCC_ERROR_INVALID_INPUT;
    if (error != CUDA_OCC_SUCCESS) return error;
    *grid = *block = 0;
    *most = p->maxThreadsPerBlock < f->maxThreadsPerBlock ? p->maxThreadsPerBlock
                                                          : f->maxThreadsPerBlock;
    return CUDA_OCC_SUCCESS;
}

WP_OCC_INLINE cudaOccError cudaOccMaxPotentialOccupancyBlockSize(
    int *minGridSize, int *blockSize, const cudaOccDeviceProp *properties,
    const cudaOccFuncAttributes *attributes, const cudaOccDeviceState *state,
    size_t (*blockSizeToDynamicSMemSize)(int), size_t dynamicSMemSize) {
    int most, best = 0;
    cudaOccError error = wp_occ_first_block(minGridSize, blockSize, &most, properties, attributes);
    for (int size = most; error == CUDA_OCC_SUCCESS && size > 0;
         size = (size - 1) / properties->warpSize * properties->warpSize)
        error = wp_occ_better_block(
            minGridSize, blockSize, &best, size, properties, attributes, state,
            blockSizeToDynamicSMemSize != NULL ? blockSizeToDynamicSMemSize(size)
                                               : dynamicSMemSize);
    return error;
}

#if defined(__cplusplus)
template <typename SharedOf>
cudaOccError cudaOccMaxPotentialOccupancyBlockSizeVariableSMem(
    int *minGridSize, int *blockSize, const cudaOccDeviceProp *properties,
    const cudaOccFuncAttributes *attributes, const cudaOccDeviceState *state,
    SharedOf blockSizeToDynamicSMemSize) {
    int most, best = 0;
    cudaOccError error = wp_occ_first_block(minGridSize, blockSize, &most, properties, attributes);
    for (int size = most; error == CUDA_OCC_SUCCESS && size > 0;
         size = (size - 1) / properties->warpSize * properties->warpSize)
        error = wp_occ_better_block(minGridSize, blockSize, &best, size, properties, attributes,
                                    state, blockSizeToDynamicSMemSize(size));
    return error;
}

static inline cudaOccError
cudaOccMaxPotentialOccupancyBlockSize(int *minGridSize, int *blockSize,
                                      const cudaOccDeviceProp *properties,
                                      const cudaOccFuncAttributes *attributes,
                                      const cudaOccDeviceState *state, size_t dynamicSMemSize = 0) {
    return cudaOccMaxPotentialOccupancyBlockSize(minGridSize, blockSize, properties, attributes,
                                                 state, (size_t (*)(int))0, dynamicSMemSize);
}
#endif

#undef WP_OCC_INLINE
#endif
