/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting kernels. `k<<<grid, block, shared, stream>>>(args)` becomes a push of the configuration,
 * the evaluation of the arguments (which may launch other kernels: hence a stack), and a call of
 * the host stub, which pops it and calls cudaLaunchKernel. Programs from before CUDA 7 configure,
 * set up each argument by its offset, and launch.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "cache/cache_launch.h"
#include "cudart/cudart.h"
#include "cudart/entry.h"
#include "cudart/graph/graph.h"
#include "stream/stream_launch.h"

/* CUDA's limits on shapes; the number of threads in a block is the device's. */
#define GRID_X_MAX 2147483647u
#define GRID_YZ_MAX 65535u
#define BLOCK_XY_MAX 1024u
#define BLOCK_Z_MAX 64u

#define CONFIGURATIONS_MAX 32 /* nesting of launches in launch arguments */
#define ARGUMENT_BYTES_MAX 4096
#define ARGUMENTS_MAX 512

typedef struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    dim3 cluster; /* 0: as the kernel says */
} configuration;

/* A thread's configurations that are not launched yet. Not thread-local itself: a library that is
 * loaded late (by Python, say) gets only a few hundred bytes of that memory. */
typedef struct pending {
    configuration items[CONFIGURATIONS_MAX];
    unsigned count;
    /* Arguments of the old API, by offset. */
    _Alignas(16) unsigned char bytes[ARGUMENT_BYTES_MAX];
    void *pointers[ARGUMENTS_MAX];
    unsigned argument_count;
} pending;

static _Thread_local pending *own_pending;
static pthread_key_t pending_key;
static pthread_once_t pending_once = PTHREAD_ONCE_INIT;

static void free_pending(void *p) { /* its thread ends */
    own_pending = NULL;
    wpi_free(p);
}

static void make_pending_key(void) {
    WP_CHECK(pthread_key_create(&pending_key, free_pending) == 0);
}

/* NULL: out of memory. */
static pending *get_pending(void) {
    if (own_pending != NULL) return own_pending;
    (void)pthread_once(&pending_once, make_pending_key);
    pending *p = wpi_calloc(1, sizeof *p);
    if (p == NULL || pthread_setspecific(pending_key, p) != 0) {
        wpi_free(p);
        return NULL;
    }
    own_pending = p;
    return p;
}

/* ---- launching ---- */

/* A kernel's name for people. */
typedef struct shown_name {
    char text[256];
} shown_name;

static shown_name name_of(const wpi_function *f) {
    shown_name name;
    char *demangled = wpi_cxx_demangle(f->info->name);
    (void)snprintf(name.text, sizeof name.text, "%s",
                   demangled != NULL ? demangled : f->info->name);
    wpi_free(demangled);
    return name;
}

static cudaError_t refuse_shape(const wpi_function *f, const char *what, dim3 shape,
                                const char *limit, unsigned limit_value) {
    wp_error err = {0};
    (void)WP_FAIL(&err, LAUNCH, "%s: a %s of %u x %u x %u cannot be launched: %s %u",
                  name_of(f).text, what, shape.x, shape.y, shape.z, limit, limit_value);
    return wpi_explain(cudaErrorInvalidConfiguration, &err);
}

static cudaError_t check_shape(const wp_device_info *info, const wpi_function *f, dim3 grid,
                               dim3 block) {
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;
    if (block.x == 0 || block.y == 0 || block.z == 0)
        return refuse_shape(f, "block", block, "each number must be at least", 1);
    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return refuse_shape(f, "grid", grid, "each number must be at least", 1);
    if (block.x > BLOCK_XY_MAX || block.y > BLOCK_XY_MAX || threads > info->threads_per_block_max)
        return refuse_shape(f, "block", block,
                            "a block has at most this many threads:", info->threads_per_block_max);
    if (block.z > BLOCK_Z_MAX)
        return refuse_shape(f, "block", block, "its third number is at most", BLOCK_Z_MAX);
    if (grid.x > GRID_X_MAX)
        return refuse_shape(f, "grid", grid, "its first number is at most", GRID_X_MAX);
    if (grid.y > GRID_YZ_MAX || grid.z > GRID_YZ_MAX)
        return refuse_shape(f, "grid", grid, "its second and third numbers are at most",
                            GRID_YZ_MAX);
    if (f->info->threads_per_block_max != 0 && threads > f->info->threads_per_block_max) {
        wp_error err = {0};
        (void)WP_FAIL(
            &err, LAUNCH,
            "%s: %u threads per block, but its __launch_bounds__ or its %u registers per thread "
            "allow at most %u",
            name_of(f).text, (unsigned)threads, f->info->register_count,
            f->info->threads_per_block_max);
        return wpi_explain(cudaErrorLaunchOutOfResources, &err);
    }
    return cudaSuccess;
}

static cudaError_t check_shared(const wpi_function *f, size_t shared_bytes) {
    if (shared_bytes <= f->shared_dynamic_bytes_max) return cudaSuccess;
    wp_error err = {0};
    (void)WP_FAIL(
        &err, LAUNCH,
        "%s: %zu bytes of dynamic shared memory, but at most %u in addition to the kernel's static "
        "%u; cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize) allows "
        "more if the device supports it",
        name_of(f).text, shared_bytes, f->shared_dynamic_bytes_max, f->info->shared_static_bytes);
    return wpi_explain(cudaErrorInvalidValue, &err);
}

/* All blocks of a cooperative launch must be on the device at once. Where more of the kernel as
 * written are than of its cached form, the kernel as written runs. */
static cudaError_t check_cooperative(const wp_device_info *info, const wpi_function *f, dim3 grid,
                                     dim3 block, size_t shared_bytes) {
    const uint64_t blocks = (uint64_t)grid.x * grid.y * grid.z;
    const uint32_t threads = block.x * block.y * block.z, shared = (uint32_t)shared_bytes;
    const uint32_t plain = wp_kernel_occupancy_blocks(f->kernel, threads, shared);
    const uint32_t run = wpi_function_occupancy(f, threads, shared);
    const uint64_t room = (uint64_t)info->sm_count * (run > plain ? run : plain);
    if (blocks <= room) return cudaSuccess;
    wp_error err = {0};
    (void)WP_FAIL(
        &err, LAUNCH,
        "%s: %llu blocks in a cooperative launch, but only %llu can be resident on the device",
        name_of(f).text, (unsigned long long)blocks, (unsigned long long)room);
    return wpi_explain(cudaErrorCooperativeLaunchTooLarge, &err);
}

static cudaError_t refuse_cluster(const wpi_function *f, dim3 cluster, cudaError_t error,
                                  const char *why) {
    wp_error err = {0};
    (void)WP_FAIL(&err, LAUNCH, "%s: clusters of %u x %u x %u blocks cannot be launched: %s",
                  name_of(f).text, cluster.x, cluster.y, cluster.z, why);
    return wpi_explain(error, &err);
}

cudaError_t wpi_check_cluster(const wp_device_info *info, const wpi_function *f, dim3 grid,
                              dim3 given) {
    const uint32_t *own = f->info->cluster_dim;
    dim3 c = given;
    if (c.x == 0) c = (dim3){own[0], own[1], own[2]};
    if (c.x == 0 || (own[0] == 0 && c.x <= 1 && c.y <= 1 && c.z <= 1)) return cudaSuccess;
    if (info->cluster_blocks_max == 0)
        return refuse_cluster(f, c,
                              own[0] != 0 ? cudaErrorNoKernelImageForDevice : cudaErrorNotSupported,
                              "the device has none; they need compute capability 9.0");
    if (own[0] != 0 && (c.x != own[0] || c.y != own[1] || c.z != own[2]))
        return refuse_cluster(f, c, cudaErrorInvalidClusterSize,
                              "the kernel's __cluster_dims__ are others");
    const uint64_t size = (uint64_t)c.x * (c.y <= 65535u ? c.y : 0u) * (c.z <= 65535u ? c.z : 0u);
    if (size == 0 || size > info->cluster_blocks_max)
        return refuse_cluster(f, c, cudaErrorInvalidClusterSize, "at most 16 blocks are a cluster");
    if (size > WPI_CLUSTER_PORTABLE && !f->allows_large_clusters)
        return refuse_cluster(f, c, cudaErrorInvalidClusterSize,
                              "more than 8 blocks need "
                              "cudaFuncAttributeNonPortableClusterSizeAllowed");
    if (grid.x % c.x != 0 || grid.y % c.y != 0 || grid.z % c.z != 0)
        return refuse_cluster(f, c, cudaErrorInvalidClusterSize,
                              "the grid is not made of whole clusters");
    return cudaSuccess;
}

static cudaError_t refuse_stream(const wpi_function *f, const wp_device *device,
                                 const wp_queue *queue) {
    wp_error err = {0};
    (void)WP_FAIL(&err, INVALID,
                  "%s: launched in a stream of device %u while device %u is current; "
                  "cudaSetDevice(%u) before the launch",
                  name_of(f).text, queue->device->number, device->number, queue->device->number);
    return wpi_explain(cudaErrorInvalidResourceHandle, &err);
}

static cudaError_t launch(const void *function, const configuration *c, void **args,
                          bool is_cooperative) {
    wp_device *device;
    wpi_function *f;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_function_find(device, function, &f));
    WPI_TRY(wpi_stream_queue(device, c->stream, &queue));
    if (queue->device != device) return refuse_stream(f, device, queue);
    const wp_device_info *info = wp_device_get_info(device);
    WPI_TRY(check_shape(info, f, c->grid, c->block));
    WPI_TRY(check_shared(f, c->shared_bytes));
    WPI_TRY(wpi_check_cluster(info, f, c->grid, c->cluster));
    if (is_cooperative) WPI_TRY(check_cooperative(info, f, c->grid, c->block, c->shared_bytes));
    if (args == NULL && f->info->param_count != 0) return wpi_note(cudaErrorInvalidValue);
    cudaError_t captured;
    if (wpi_capture_is_on(c->stream, &captured) || captured != cudaSuccess) {
        WPI_TRY(captured);
        const wpi_kernel_node node = {function,       c->grid, c->block,  c->shared_bytes,
                                      is_cooperative, args,    c->cluster};
        return wpi_capture_kernel(c->stream, &node);
    }
    const wp_launch command = {.kernel = f->kernel,
                               .grid = {c->grid.x, c->grid.y, c->grid.z},
                               .block = {c->block.x, c->block.y, c->block.z},
                               .shared_dynamic_bytes = (uint32_t)c->shared_bytes,
                               .args = args,
                               .is_cooperative = is_cooperative,
                               .cluster = {c->cluster.x, c->cluster.y, c->cluster.z}};
    wp_error err = {0};
    const uint64_t mask = wpi_stream_mask(f->info, args);
    if (mask != 0) return wpi_launch_streamed(device, f, queue, &command, mask);
    return wpi_result(f->cached != NULL ? wpi_cache_launch_queue(f->cached, queue, &command, &err)
                                        : wp_queue_launch(queue, &command, &err),
                      &err);
}

WP_API cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                    size_t sharedMem, cudaStream_t stream) {
    const configuration c = {gridDim, blockDim, sharedMem, stream, {0, 0, 0}};
    return launch(func, &c, args, false);
}

WP_API cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                               void **args, size_t sharedMem, cudaStream_t stream) {
    const configuration c = {gridDim, blockDim, sharedMem, stream, {0, 0, 0}};
    return launch(func, &c, args, true);
}

bool wpi_launch_attribute_is_hint(cudaLaunchAttributeID id) {
    switch (id) {
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeSynchronizationPolicy:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization: /* only allows an overlap */
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain: return true;
    default: return false;
    }
}

cudaError_t wpi_launch_node(const wpi_kernel_node *k, cudaStream_t stream) {
    const configuration c = {k->grid, k->block, k->shared_bytes, stream, k->cluster};
    return launch(k->function, &c, k->args, k->is_cooperative);
}

/* A kernel's handle is its host function, which the launch looks up. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function) {
    if (kernel == NULL) return wpi_note(cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)(uintptr_t)function;
    return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared_bytes, cudaStream_t stream) {
    return cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

WP_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                       void **args) {
    if (config == NULL || (config->numAttrs != 0 && config->attrs == NULL))
        return wpi_note(cudaErrorInvalidValue);
    bool is_cooperative = false;
    dim3 cluster = {0, 0, 0};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const cudaLaunchAttribute *a = &config->attrs[i];
        if (a->id == cudaLaunchAttributeCooperative) {
            is_cooperative = a->val.cooperative != 0;
        } else if (a->id == cudaLaunchAttributeClusterDimension) {
            cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
            if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0)
                return wpi_note(cudaErrorInvalidClusterSize);
        } else if (!wpi_launch_attribute_is_hint(a->id)) {
            return wpi_note(cudaErrorNotSupported);
        }
    }
    const configuration c = {config->gridDim, config->blockDim, config->dynamicSmemBytes,
                             config->stream, cluster};
    return launch(func, &c, args, is_cooperative);
}

/* ---- configurations ---- */

static cudaError_t push(dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream) {
    pending *p = get_pending();
    if (p == NULL) return wpi_note(cudaErrorMemoryAllocation);
    if (p->count == CONFIGURATIONS_MAX) return wpi_note(cudaErrorLaunchMaxDepthExceeded);
    p->items[p->count++] = (configuration){grid, block, shared_bytes, stream, {0, 0, 0}};
    return cudaSuccess;
}

static bool pop(configuration *out) {
    pending *p = own_pending;
    if (p == NULL || p->count == 0) return false;
    *out = p->items[--p->count];
    return true;
}

/* Not 0 makes the caller skip the launch. */
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     struct CUstream_st *stream) {
    return (unsigned)push(grid, block, shared_bytes, stream);
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                       void *stream) {
    configuration c;
    if (!pop(&c)) return wpi_note(cudaErrorMissingConfiguration);
    *grid = c.grid;
    *block = c.block;
    *shared_bytes = c.shared_bytes;
    *(cudaStream_t *)stream = c.stream;
    return cudaSuccess;
}

WP_API cudaError_t cudaConfigureCall(dim3 gridDim, dim3 blockDim, size_t sharedMem,
                                     cudaStream_t stream) {
    if (own_pending != NULL) own_pending->argument_count = 0;
    return push(gridDim, blockDim, sharedMem, stream);
}

WP_API cudaError_t cudaSetupArgument(const void *arg, size_t size, size_t offset) {
    pending *p = get_pending();
    if (p == NULL) return wpi_note(cudaErrorMemoryAllocation);
    if (arg == NULL || offset > ARGUMENT_BYTES_MAX || size > ARGUMENT_BYTES_MAX - offset ||
        p->argument_count == ARGUMENTS_MAX)
        return wpi_note(cudaErrorInvalidValue);
    memcpy(p->bytes + offset, arg, size);
    p->pointers[p->argument_count++] = p->bytes + offset;
    return cudaSuccess;
}

WP_API cudaError_t cudaLaunch(const void *func) {
    configuration c;
    if (!pop(&c)) return wpi_note(cudaErrorMissingConfiguration);
    pending *p = own_pending; /* not NULL: it had a configuration */
    const unsigned count = p->argument_count;
    p->argument_count = 0;
    wp_device *device;
    wpi_function *f;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_function_find(device, func, &f));
    if (count < f->info->param_count) return wpi_note(cudaErrorInvalidValue);
    return launch(func, &c, p->pointers, false);
}
