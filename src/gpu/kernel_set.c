/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernel_set.h"

static wp_module *loaded(const wpi_gpu *gpu, const void *image) {
    for (uint32_t i = 0; i < WPI_GPU_KERNELS_MAX; i++)
        if (gpu->images[i] == image) return gpu->modules[i];
    return NULL;
}

static wp_status load(wpi_gpu *gpu, const void *(*kernel_of)(uint32_t kernel),
                      uint32_t kernel_count, wp_error *err) {
    WP_CHECK(kernel_count <= WPI_GPU_KERNELS_MAX);
    for (uint32_t k = 0; k < kernel_count; k++) {
        const void *image;
        const char *name;
        WP_TRY(wp_image_find(kernel_of(k), &image, &name, err));
        wp_module *module = loaded(gpu, image);
        if (module == NULL) {
            WP_TRY(wp_module_load(gpu->device, image, &module, err));
            gpu->images[k] = image;
            gpu->modules[k] = module;
        }
        WP_TRY(wp_module_find_kernel(module, name, &gpu->kernels[k], err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_gpu_init(wpi_gpu *gpu, wp_device *device, const void *(*kernel_of)(uint32_t kernel),
                       uint32_t kernel_count, uint64_t thread_count, wp_error *err) {
    *gpu = (wpi_gpu){.device = device, .thread_count = thread_count};
    wp_status status = load(gpu, kernel_of, kernel_count, err);
    if (status == WP_STATUS_OK) status = wp_queue_create(device, false, &gpu->work, err);
    if (status == WP_STATUS_OK) status = wp_queue_create(device, false, &gpu->copies, err);
    if (status != WP_STATUS_OK) wpi_gpu_deinit(gpu);
    return status;
}

void wpi_gpu_deinit(wpi_gpu *gpu) {
    wp_queue_destroy(gpu->work);
    wp_queue_destroy(gpu->copies);
    for (uint32_t i = 0; i < WPI_GPU_KERNELS_MAX; i++)
        wp_module_unload(gpu->modules[i]);
    *gpu = (wpi_gpu){0};
}

/* ---- launches ---- */

static uint32_t block_threads(const wpi_gpu *gpu) {
    const bool is_few = gpu->thread_count != 0 && gpu->thread_count < WPI_GPU_BLOCK_THREADS;
    return is_few ? (uint32_t)gpu->thread_count : WPI_GPU_BLOCK_THREADS;
}

uint32_t wpi_gpu_blocks(const wpi_gpu *gpu, uint32_t kernel, uint64_t items,
                        uint32_t shared_bytes) {
    const uint32_t threads = block_threads(gpu);
    const uint32_t of_sm = wp_kernel_occupancy_blocks(gpu->kernels[kernel], threads, shared_bytes);
    uint64_t blocks =
        (uint64_t)(of_sm == 0 ? 1 : of_sm) * wp_device_get_info(gpu->device)->sm_count;
    if (gpu->thread_count != 0 && blocks > gpu->thread_count / threads)
        blocks = gpu->thread_count / threads;
    if (blocks > (items + threads - 1) / threads) blocks = (items + threads - 1) / threads;
    return blocks == 0 ? 1 : (uint32_t)blocks;
}

wp_status wpi_gpu_launch(wpi_gpu *gpu, uint32_t kernel, uint32_t blocks, uint32_t shared_bytes,
                         void **args, wp_error *err) {
    const wp_launch launch = {.kernel = gpu->kernels[kernel],
                              .grid = {blocks, 1, 1},
                              .block = {block_threads(gpu), 1, 1},
                              .shared_dynamic_bytes = shared_bytes,
                              .args = args};
    return wp_queue_launch(gpu->work, &launch, err);
}

wp_status wpi_gpu_launch_over(wpi_gpu *gpu, uint32_t kernel, uint64_t items, void **args,
                              wp_error *err) {
    return wpi_gpu_launch(gpu, kernel, wpi_gpu_blocks(gpu, kernel, items, 0), 0, args, err);
}

/* ---- memory ---- */

wp_status wpi_gpu_alloc(wpi_gpu *gpu, wp_memory_kind kind, uint64_t bytes, void *out,
                        wp_error *err) {
    return wp_memory_alloc(gpu->device, kind, bytes, 0, out, err);
}

/* Fails only if the device is lost. */
void wpi_gpu_free(wpi_gpu *gpu, void *memory) {
    if (memory == NULL) return;
    const wp_status ignored = wp_memory_free(gpu->device, memory, NULL);
    (void)ignored;
}

wp_status wpi_gpu_fetch(wpi_gpu *gpu, void *to, const void *from, uint64_t bytes, wp_error *err) {
    WP_TRY(wp_queue_copy(gpu->work, to, from, bytes, err));
    return wp_queue_wait(gpu->work, err);
}
