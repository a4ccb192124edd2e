/* SPDX-License-Identifier: Apache-2.0 */
/** A device with Warpage's kernels: they are loaded once and launched by number. One thread. */
#ifndef WP_OPS_GPU_H
#define WP_OPS_GPU_H

#include "base/fail.h"
#include "warpage/device.h"

#define WPI_GPU_KERNELS_MAX 12u
#define WPI_GPU_BLOCK_THREADS 256u

typedef struct wpi_gpu {
    wp_device *device;
    wp_queue *work, *copies; /* two queues, so that copies overlap with kernels */
    const void *images[WPI_GPU_KERNELS_MAX];
    wp_module *modules[WPI_GPU_KERNELS_MAX];
    wp_kernel *kernels[WPI_GPU_KERNELS_MAX];
    uint64_t thread_count; /* of a launch, at most; 0: as many as run at once */
} wpi_gpu;

/** `kernel_of` names the host's functions of kernels 0 to kernel_count - 1. */
WP_NODISCARD wp_status wpi_gpu_init(wpi_gpu *gpu, wp_device *device,
                                    const void *(*kernel_of)(uint32_t kernel),
                                    uint32_t kernel_count, uint64_t thread_count, wp_error *err);
void wpi_gpu_deinit(wpi_gpu *gpu); /* `{0}` is fine */

/** The number of blocks of a launch for so many items: as many as run at once, or fewer. */
uint32_t wpi_gpu_blocks(const wpi_gpu *gpu, uint32_t kernel, uint64_t items, uint32_t shared_bytes);
/** Queues a launch of `blocks` blocks, each with the usual number of threads, or fewer if
 * `thread_count` is less.
 */
WP_NODISCARD wp_status wpi_gpu_launch(wpi_gpu *gpu, uint32_t kernel, uint32_t blocks,
                                      uint32_t shared_bytes, void **args, wp_error *err);
/** … with threads that loop over the items. */
WP_NODISCARD wp_status wpi_gpu_launch_over(wpi_gpu *gpu, uint32_t kernel, uint64_t items,
                                           void **args, wp_error *err);

WP_NODISCARD wp_status wpi_gpu_alloc(wpi_gpu *gpu, wp_memory_kind kind, uint64_t bytes, void *out,
                                     wp_error *err);
void wpi_gpu_free(wpi_gpu *gpu, void *memory);
/** Copies, and waits for it and all work before. */
WP_NODISCARD wp_status wpi_gpu_fetch(wpi_gpu *gpu, void *to, const void *from, uint64_t bytes,
                                     wp_error *err);

#endif
