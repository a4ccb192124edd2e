/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudaProfilerStart and cudaProfilerStop mark the region that a report with --region covers; they
 * wait for earlier launches. Otherwise they have no effect, like CUDA's without a profiler.
 */
#include "cudart/cudart.h"
#include "report/selection.h"

static cudaError_t mark(bool is_inside) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (!wpi_selection_has_region()) return cudaSuccess;
    wp_error err = {0};
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err));
    wpi_selection_set_region(is_inside);
    return cudaSuccess;
}

WP_API cudaError_t cudaProfilerStart(void) {
    return mark(true);
}

WP_API cudaError_t cudaProfilerStop(void) {
    return mark(false);
}

/* Removed in CUDA 12: it configured a profiler that no longer exists. */
WP_API cudaError_t cudaProfilerInitialize(const char *configFile, const char *outputFile,
                                          cudaOutputMode_t outputMode) {
    (void)configFile, (void)outputFile, (void)outputMode;
    return wpi_note(cudaErrorNotSupported);
}
