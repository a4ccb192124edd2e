/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches as in CUDA 3: calls set the block's shape, the size of dynamic shared memory and the
 * arguments of a function, one by one, and cuLaunchGrid launches it with these. They are kept by
 * function until its module is unloaded.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/driver/driver.h"
#include "cudart/hash_map.h"

#define ARGUMENT_BYTES_MAX 4096 /* of a launch */

typedef struct setup {
    CUfunction function;
    dim3 block; /* x 0: not set */
    unsigned shared_bytes;
    size_t size_bytes; /* of the arguments */
    _Alignas(16) char arguments[ARGUMENT_BYTES_MAX];
    UT_hash_handle hh;
} setup;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static setup *setups;

/* Under the lock. What is set of a function so far; NULL: out of memory. */
static setup *find_setup(CUfunction f) {
    setup *found = NULL;
    HASH_FIND_PTR(setups, &f, found);
    if (found != NULL || (found = wpi_calloc(1, sizeof *found)) == NULL) return found;
    found->function = f;
    HASH_ADD_PTR(setups, function, found);
    if (found->hh.tbl != NULL) return found;
    wpi_free(found);
    return NULL;
}

void wpi_launch_setup_forget(CUfunction f) {
    setup *found = NULL;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(setups, &f, found);
    if (found != NULL) HASH_DEL(setups, found);
    pthread_mutex_unlock(&lock);
    wpi_free(found);
}

/* ---- settings ---- */

/* What a call sets: only fields that are not NULL. */
typedef struct change {
    const dim3 *block;
    const unsigned *shared_bytes;
    const unsigned *size_bytes;
    const void *bytes; /* of arguments … */
    size_t offset, byte_count;
} change;

static cudaError_t set_checked(CUfunction f, const change *c) {
    WPI_TRY(wpi_driver_function_check(f));
    pthread_mutex_lock(&lock);
    setup *s = find_setup(f);
    if (s != NULL) {
        if (c->block != NULL) s->block = *c->block;
        if (c->shared_bytes != NULL) s->shared_bytes = *c->shared_bytes;
        if (c->size_bytes != NULL) s->size_bytes = *c->size_bytes;
        if (c->bytes != NULL) memcpy(s->arguments + c->offset, c->bytes, c->byte_count);
    }
    pthread_mutex_unlock(&lock);
    return s != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

WP_API CUresult cuFuncSetBlockShape(CUfunction hfunc, int x, int y, int z) {
    if (x <= 0 || y <= 0 || z <= 0) return CUDA_ERROR_INVALID_VALUE;
    const dim3 block = {(unsigned)x, (unsigned)y, (unsigned)z};
    WPI_DRIVER(set_checked(hfunc, &(change){.block = &block}));
}

WP_API CUresult cuFuncSetSharedSize(CUfunction hfunc, unsigned int bytes) {
    WPI_DRIVER(set_checked(hfunc, &(change){.shared_bytes = &bytes}));
}

WP_API CUresult cuParamSetSize(CUfunction hfunc, unsigned int numbytes) {
    if (numbytes > ARGUMENT_BYTES_MAX) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(set_checked(hfunc, &(change){.size_bytes = &numbytes}));
}

WP_API CUresult cuParamSetv(CUfunction hfunc, int offset, void *ptr, unsigned int numbytes) {
    if (ptr == NULL || offset < 0 || numbytes > ARGUMENT_BYTES_MAX ||
        (unsigned)offset > ARGUMENT_BYTES_MAX - numbytes)
        return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(set_checked(
        hfunc, &(change){.bytes = ptr, .offset = (size_t)offset, .byte_count = numbytes}));
}

WP_API CUresult cuParamSeti(CUfunction hfunc, int offset, unsigned int value) {
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

WP_API CUresult cuParamSetf(CUfunction hfunc, int offset, float value) {
    return cuParamSetv(hfunc, offset, &value, sizeof value);
}

/* ---- launches ---- */

static cudaError_t launch(CUfunction f, int width, int height, CUstream stream) {
    setup s;
    WPI_TRY(wpi_driver_function_check(f));
    pthread_mutex_lock(&lock);
    const setup *found = find_setup(f);
    if (found != NULL) s = *found;
    pthread_mutex_unlock(&lock);
    if (found == NULL) return cudaErrorMemoryAllocation;
    if (width <= 0 || height <= 0 || s.block.x == 0) return cudaErrorInvalidValue;
    const cudaLaunchConfig_t config = {.gridDim = {(unsigned)width, (unsigned)height, 1},
                                       .blockDim = s.block,
                                       .dynamicSmemBytes = s.shared_bytes,
                                       .stream = stream};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, s.arguments, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &s.size_bytes, CU_LAUNCH_PARAM_END};
    return wpi_driver_launch(f, &config, NULL, extra);
}

WP_API CUresult cuLaunchGridAsync(CUfunction f, int grid_width, int grid_height, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, launch(f, grid_width, grid_height, hStream));
}

WP_API CUresult cuLaunchGrid(CUfunction f, int grid_width, int grid_height) {
    return cuLaunchGridAsync(f, grid_width, grid_height, NULL);
}

WP_API CUresult cuLaunch(CUfunction f) {
    return cuLaunchGridAsync(f, 1, 1, NULL);
}
