/* SPDX-License-Identifier: Apache-2.0 */
/** Launches of this library's kernels that leave the program's last error alone. */
#ifndef WP_LIBRARIES_BLAS_LAUNCH_H
#define WP_LIBRARIES_BLAS_LAUNCH_H

static cudaError_t launch(const void *kernel, dim3 grid, cudaStream_t stream, void **arguments) {
    return cudaLaunchKernel(kernel, grid, dim3(BLOCK, 1, 1), arguments, 0, stream);
}

/* The arguments are pointers to the kernel's parameters, which must have these types. */
#define LAUNCH(kernel, grid, ...)                                                                  \
    launch((const void *)kernel, dim3(grid), stream, (void *[]){__VA_ARGS__})

#endif
