/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel's attributes and opt-ins, and the number of its blocks that fit an SM. */
#include "cache/cache_launch.h"
#include "cudart/cudart.h"
#include "device/device.h"

#define ARCH_LOWEST 70 /* wpcc's lowest, which an image without PTX does not say */

uint32_t wpi_function_occupancy(const wpi_function *f, uint32_t block_threads,
                                uint32_t shared_dynamic_bytes) {
    return f->cached != NULL
               ? wpi_cache_occupancy_blocks(f->cached, block_threads, shared_dynamic_bytes)
               : wp_kernel_occupancy_blocks(f->kernel, block_threads, shared_dynamic_bytes);
}

static cudaError_t find(const void *function, wp_device **device, wpi_function **out) {
    WPI_TRY(wpi_enter(device));
    return wpi_function_find(*device, function, out);
}

/* The architecture that the kernel was compiled for, as `-arch` named it: libraries choose the
 * shape of their launches by it, and the kernel has the same choice compiled in. */
static int compiled_arch(const wpi_function *f) {
    const wp_image_header *header = f->image;
    const wp_image_section *sections = (const wp_image_section *)(header + 1);
    for (uint32_t i = 0; i < header->section_count; i++)
        if (sections[i].kind == WP_SECTION_PTX && sections[i].arch != 0)
            return (int)sections[i].arch;
    return ARCH_LOWEST;
}

WP_API cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func) {
    wp_device *device;
    wpi_function *f;
    if (attr == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    const wp_device_info *info = wp_device_get_info(device);
    const int version = (int)(info->compute_major * 10 + info->compute_minor);
    const uint32_t threads_max = f->info->threads_per_block_max;
    *attr = (struct cudaFuncAttributes){
        .sharedSizeBytes = f->info->shared_static_bytes,
        .constSizeBytes = f->info->constant_bytes,
        .localSizeBytes = f->info->local_bytes,
        .maxThreadsPerBlock = (int)(threads_max != 0 ? threads_max : info->threads_per_block_max),
        .numRegs = (int)f->info->register_count,
        .ptxVersion = compiled_arch(f),
        .binaryVersion = version,
        .cacheModeCA = 0,
        .maxDynamicSharedSizeBytes = (int)f->shared_dynamic_bytes_max,
        .preferredShmemCarveout = f->shared_carveout_pct,
        .clusterDimMustBeSet = 0,
        .requiredClusterWidth = (int)f->info->cluster_dim[0],
        .requiredClusterHeight = (int)f->info->cluster_dim[1],
        .requiredClusterDepth = (int)f->info->cluster_dim[2],
        .nonPortableClusterSizeAllowed = f->allows_large_clusters,
    };
    return cudaSuccess;
}

static cudaError_t set_shared_max(const wp_device_info *info, wpi_function *f, int value) {
    const uint64_t limit_bytes = info->shared_bytes_per_block_optin;
    const uint64_t static_bytes = f->info->shared_static_bytes;
    if (value < 0 || (uint64_t)value + static_bytes > limit_bytes)
        return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    WPI_TRY(wpi_result(wpi_kernel_set_shared_max(f->kernel, (uint32_t)value, &err), &err));
    f->shared_dynamic_bytes_max = (uint32_t)value;
    return cudaSuccess;
}

static cudaError_t set_carveout(wpi_function *f, int pct) {
    wp_error err = {0};
    if (pct < cudaSharedmemCarveoutDefault || pct > cudaSharedmemCarveoutMaxShared)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_result(wpi_kernel_set_carveout(f->kernel, pct, &err), &err));
    f->shared_carveout_pct = pct;
    return cudaSuccess;
}

WP_API cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value) {
    wp_device *device;
    wpi_function *f;
    WPI_TRY(find(func, &device, &f));
    switch (attr) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        return set_shared_max(wp_device_get_info(device), f, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout: return set_carveout(f, value);
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
        return wpi_note(cudaErrorNotSupported); /* __cluster_dims__ and launches say them */
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        if (value != 0 && value != 1) return wpi_note(cudaErrorInvalidValue);
        f->allows_large_clusters = value != 0;
        return cudaSuccess;
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return (unsigned)value <= cudaClusterSchedulingPolicyLoadBalancing
                   ? cudaSuccess
                   : wpi_note(cudaErrorInvalidValue);
    default: return wpi_note(cudaErrorInvalidValue);
    }
}

WP_API cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig) {
    wp_device *device;
    wpi_function *f;
    WPI_TRY(find(func, &device, &f));
    if ((unsigned)cacheConfig > cudaFuncCachePreferEqual) return wpi_note(cudaErrorInvalidValue);
    f->cache_config = (int)cacheConfig;
    return cudaSuccess;
}

/* A hint about bank widths, which GPUs since 2014 ignore, too. */
WP_API cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config) {
    wp_device *device;
    wpi_function *f;
    WPI_TRY(find(func, &device, &f));
    if ((unsigned)config > cudaSharedMemBankSizeEightByte) return wpi_note(cudaErrorInvalidValue);
    return cudaSuccess;
}

WP_API cudaError_t cudaFuncGetName(const char **name, const void *func) {
    wp_device *device;
    wpi_function *f;
    if (name == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    *name = f->name;
    return cudaSuccess;
}

bool wpi_function_param(const wpi_function *f, size_t i, size_t *offset, size_t *size) {
    if (i >= f->info->param_count) return false;
    const wpi_param_place place = wpi_kernel_param_place(f->kernel, (uint32_t)i);
    *offset = place.offset_bytes;
    *size = place.size_bytes;
    return true;
}

WP_API cudaError_t cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                        size_t *paramSize) {
    wp_device *device;
    wpi_function *f;
    size_t unused;
    if (paramOffset == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    return wpi_function_param(f, paramIndex, paramOffset, paramSize != NULL ? paramSize : &unused)
               ? cudaSuccess
               : wpi_note(cudaErrorInvalidValue);
}

/* ---- occupancy ---- */

WP_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned int flags) {
    wp_device *device;
    wpi_function *f;
    if (numBlocks == NULL || blockSize <= 0 ||
        (flags & ~(unsigned)cudaOccupancyDisableCachingOverride) != 0)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    if (dynamicSMemSize > wp_device_get_info(device)->shared_bytes_per_sm) {
        *numBlocks = 0;
        wpi_device_note_query(device, "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
                              WPI_INFO_SET(SHARED_PER_SM));
        return cudaSuccess;
    }
    const uint32_t shared_bytes = (uint32_t)dynamicSMemSize;
    const uint32_t blocks = wpi_function_occupancy(f, (uint32_t)blockSize, shared_bytes);
    if (f->cached != NULL)
        wpi_cache_plan_note(f->cached, (uint32_t)blockSize, shared_bytes);
    else
        wpi_device_note_occupancy(f->kernel, (uint32_t)blockSize, shared_bytes, blocks);
    *numBlocks = (int)blocks;
    return cudaSuccess;
}

WP_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                                 int blockSize,
                                                                 size_t dynamicSMemSize) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize,
                                                                  dynamicSMemSize, 0);
}

/* The most dynamic shared memory with which `numBlocks` blocks still fit one SM. */
WP_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                             const void *func, int numBlocks,
                                                             int blockSize) {
    wp_device *device;
    wpi_function *f;
    if (dynamicSmemSize == NULL || numBlocks <= 0 || blockSize <= 0)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    const wp_device_info *info = wp_device_get_info(device);
    const uint64_t share_bytes = info->shared_bytes_per_sm / (uint64_t)numBlocks;
    const uint64_t most_bytes = share_bytes < info->shared_bytes_per_block_optin
                                    ? share_bytes
                                    : info->shared_bytes_per_block_optin;
    if (wp_kernel_occupancy_blocks(f->kernel, (uint32_t)blockSize, 0) < (uint32_t)numBlocks ||
        most_bytes < f->info->shared_static_bytes)
        return wpi_note(cudaErrorInvalidValue);
    wpi_device_note_query(device, "cudaOccupancyAvailableDynamicSMemPerBlock",
                          WPI_INFO_SET(SHARED_PER_SM) | WPI_INFO_SET(SHARED_OPTIN));
    *dynamicSmemSize = most_bytes - f->info->shared_static_bytes;
    return cudaSuccess;
}

/* ---- clusters ---- */

/* Clusters of `size` blocks that are on the device at once: an SM holds several blocks of one, and
 * on a simulated GPU all are in one GPC. */
static uint32_t active_clusters(const wp_device *device, const wpi_function *f, uint32_t size,
                                uint32_t threads, uint32_t shared_bytes) {
    const wp_device_info *info = wp_device_get_info(device);
    const uint32_t blocks = wpi_function_occupancy(f, threads, shared_bytes);
    const uint32_t groups = info->sm_groups != 0 ? info->sm_groups : 1;
    uint32_t count = 0;
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t sms = (g + 1) * info->sm_count / groups - g * info->sm_count / groups;
        count += sms * blocks / size;
    }
    return count;
}

static dim3 cluster_of(const cudaLaunchConfig_t *config) {
    dim3 cluster = {0, 0, 0};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeClusterDimension)
            cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
    }
    return cluster;
}

static bool is_config(const cudaLaunchConfig_t *config) {
    return config != NULL && (config->numAttrs == 0 || config->attrs != NULL) &&
           config->blockDim.x != 0 && config->blockDim.y != 0 && config->blockDim.z != 0 &&
           (uint64_t)config->blockDim.x * config->blockDim.y * config->blockDim.z <= 1024 &&
           config->dynamicSmemBytes <= UINT32_MAX;
}

WP_API cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                  const cudaLaunchConfig_t *launchConfig) {
    wp_device *device;
    wpi_function *f;
    if (numClusters == NULL || !is_config(launchConfig)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    const wp_device_info *info = wp_device_get_info(device);
    const uint32_t *own = f->info->cluster_dim;
    dim3 c = cluster_of(launchConfig);
    if (c.x == 0) c = own[0] != 0 ? (dim3){own[0], own[1], own[2]} : (dim3){1, 1, 1};
    WPI_TRY(wpi_check_cluster(info, f, c, c));
    const dim3 block = launchConfig->blockDim;
    *numClusters = (int)active_clusters(device, f, c.x * c.y * c.z, block.x * block.y * block.z,
                                        (uint32_t)launchConfig->dynamicSmemBytes);
    return cudaSuccess;
}

/* The largest cluster of which one fits. */
WP_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                        const cudaLaunchConfig_t *launchConfig) {
    wp_device *device;
    wpi_function *f;
    if (clusterSize == NULL || !is_config(launchConfig)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(func, &device, &f));
    const wp_device_info *info = wp_device_get_info(device);
    const dim3 block = launchConfig->blockDim;
    if (info->cluster_blocks_max == 0) return wpi_note(cudaErrorNotSupported);
    uint32_t size = f->allows_large_clusters ? info->cluster_blocks_max : WPI_CLUSTER_PORTABLE;
    while (size > 1 && active_clusters(device, f, size, block.x * block.y * block.z,
                                       (uint32_t)launchConfig->dynamicSmemBytes) == 0)
        size /= 2;
    *clusterSize = (int)size;
    return cudaSuccess;
}
