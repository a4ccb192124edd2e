/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The driver API over the runtime API: both share the device, streams, events and memory. Most
 * calls have the shape
 *
 *     CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize)
 *     {
 *         WPI_DRIVER(cudaMalloc((void **)dptr, bytesize));
 *     }
 *
 * which checks that the driver was initialised and the thread has a context, calls, leaves the
 * runtime's last error as it was, and translates the result.
 *
 * Thread rule: any thread.
 */
#ifndef WP_CUDART_DRIVER_H
#define WP_CUDART_DRIVER_H

#include "cudart/cudart.h"
#include "warpage/cuda/cuda.h"

/** The driver's code of an error of the runtime. */
CUresult wpi_driver_result(cudaError_t error);
/** NOT_INITIALIZED before cuInit; INVALID_CONTEXT if `needs_context` and the thread has none. */
CUresult wpi_driver_check(bool needs_context);

/** Around calls of the runtime: keeps the thread's last error. */
cudaError_t wpi_driver_begin(void);
CUresult wpi_driver_end(cudaError_t kept, cudaError_t error);

#define WPI_DRIVER_TRY(expression)                                                                 \
    do {                                                                                           \
        const CUresult wpi_driver_try = (expression);                                              \
        if (wpi_driver_try != CUDA_SUCCESS) return wpi_driver_try;                                 \
    } while (0)

#define WPI_DRIVER_IN(needs_context, call)                                                         \
    do {                                                                                           \
        WPI_DRIVER_TRY(wpi_driver_check(needs_context));                                           \
        const cudaError_t wpi_kept = wpi_driver_begin();                                           \
        return wpi_driver_end(wpi_kept, (call));                                                   \
    } while (0)
#define WPI_DRIVER(call) WPI_DRIVER_IN(true, call)

/** The device's address as a pointer. */
static inline void *wpi_at(CUdeviceptr address) {
    return (void *)(uintptr_t)address;
}

/* ---- drv_context.c ---- */

/** The context of this thread; NULL: none. */
CUcontext wpi_context_current(void);
/** The current context if it is on that device, else the device's primary one. */
CUcontext wpi_context_on(const wp_device *device);
/** cudaSetDevice: the device's primary context becomes the current one. */
void wpi_context_follow(uint32_t device);

/* ---- drv_launch.c ---- */

#define WPI_DRIVER_ARGUMENTS_MAX 512 /* PTX: 4096 bytes in all */

/** Whether it is a live function of the current device. */
cudaError_t wpi_driver_function_check(CUfunction f);
/** A launch; `args` or `extra` has the arguments. Binds the references that changed before. */
cudaError_t wpi_driver_launch(CUfunction f, const cudaLaunchConfig_t *config, void **args,
                              void **extra);
/** Where the arguments are that `extra` packs: [WPI_DRIVER_ARGUMENTS_MAX]. */
cudaError_t wpi_function_unpack(CUfunction f, void **extra, void **pointers);

/* ---- drv_launch_grid.c ---- */

/** Forgets what cuParamSetv and others set: the function ends. */
void wpi_launch_setup_forget(CUfunction f);

/* ---- drv_array.c ---- */

/** Memory of a texture or a surface as the runtime describes it; false: no such memory. */
bool wpi_driver_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *out);
void wpi_driver_texture_modes(const struct cudaResourceDesc *r, const CUDA_TEXTURE_DESC *t,
                              struct cudaTextureDesc *out);

/* ---- drv_reference.c ---- */

/** Binds the references of the device's modules that changed after the last launch. */
cudaError_t wpi_references_bind(const wp_device *device);
/** Frees a module's references. */
void wpi_module_references_forget(CUmodule module);

/* ---- drv_memory.c ---- */

/** A copy as the runtime describes it; and back. */
cudaError_t wpi_driver_copy(const CUDA_MEMCPY3D *copy, struct cudaMemcpy3DParms *out);
void wpi_driver_copy_of(const struct cudaMemcpy3DParms *params, CUDA_MEMCPY3D *out);

/* ---- drv_module.c ---- */

/** Where a module's variable is, by its name in the source. Noted. */
cudaError_t wpi_module_variable(CUmodule m, const char *name, wp_device **device, void **address,
                                size_t *size_bytes);

#endif
