/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cudaProfilerStart and cudaProfilerStop mark what a profiler should look at. Like CUDA without a
 * profiler attached they have no effect of their own.
 */
#include "cudart/cudart.h"

WP_API cudaError_t cudaProfilerStart(void) {
    wp_device *device;
    return wpi_enter(&device);
}

WP_API cudaError_t cudaProfilerStop(void) {
    wp_device *device;
    return wpi_enter(&device);
}

/* Gone from CUDA 12: it configured a profiler that no longer exists. */
WP_API cudaError_t cudaProfilerInitialize(const char *configFile, const char *outputFile,
                                          cudaOutputMode_t outputMode) {
    (void)configFile, (void)outputFile, (void)outputMode;
    return wpi_note(cudaErrorNotSupported);
}
