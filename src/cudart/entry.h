/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions that compiled objects call without the program's source naming them, in clang's
 * and nvcc's registration code and kernel stubs. The names and signatures are theirs; programs do
 * not include this header.
 *
 * An object registers its image first, then each kernel and variable by the address that host code
 * uses for it. Registration only records: other objects may not be initialised yet, and the first
 * call of the runtime opens the device.
 */
#ifndef WP_CUDART_ENTRY_H
#define WP_CUDART_ENTRY_H

#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/error.h"

#define WPI_FATBIN_MAGIC 0x466243b1u

/** What clang passes to __cudaRegisterFatBinary. */
typedef struct wpi_fatbin {
    unsigned magic;
    unsigned version;
    const void *data; /* wp_image_header, or another compiler's code */
    void *unused;
} wpi_fatbin;

WP_API void **__cudaRegisterFatBinary(void *fatbin);
WP_API void __cudaRegisterFatBinaryEnd(void **handle);
WP_API void __cudaUnregisterFatBinary(void **handle);
WP_API char __cudaInitModule(void **handle);
WP_API int __cudaRegisterFunction(void **handle, const char *host, char *device,
                                  const char *device_name, int thread_limit, uint3 *tid, uint3 *bid,
                                  dim3 *block, dim3 *grid, int *warp_size);
WP_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *device_name,
                              int is_extern, size_t size_bytes, int is_constant, int is_global);
WP_API void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                     const char *device_name, int is_extern, size_t size_bytes,
                                     int is_constant, int is_global);
WP_API void __cudaRegisterTexture(void **handle, const struct textureReference *host,
                                  const void **device, const char *device_name, int dim,
                                  int is_normalized, int is_extern);
WP_API void __cudaRegisterSurface(void **handle, const struct surfaceReference *host,
                                  const void **device, const char *device_name, int dim,
                                  int is_extern);
/** For an object compiled with -dc: `image` (a wp_image_header) is shared with the other objects of
 * the link; `callback` registers this object's kernels and variables with it. */
WP_API void wp_register_linked(const void *image, void (*callback)(void **handle));

/** The variable at `address` or, when there is none, the one called `name`: its host address.
 *  `address` when there is neither. Called by cuda_runtime.h's typed forms. */
WP_API const void *wp_symbol_find(const void *address, const char *name);

WP_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                            struct CUstream_st *stream);
WP_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                              void *stream);

/** The host stubs of nvcc 13 look a kernel up once and launch it by its handle. */
WP_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *function);
WP_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared_bytes, cudaStream_t stream);

/** Stands for a function that only a program's own runtime has (libraries/cudart/cudart_static.c):
 * says that `name` is not supported, and returns cudaErrorNotSupported, noted. */
WP_API int wp_unsupported_call(const char *name);

#endif
