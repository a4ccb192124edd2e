/* SPDX-License-Identifier: Apache-2.0 */
#include "warpage/cudart.h"

#include "cudart/cudart.h"

wp_device *wp_cudart_device(void) {
    wp_device *device;
    return wpi_enter_any(&device) == cudaSuccess ? device : NULL;
}

wp_queue *wp_cudart_queue(struct CUstream_st *stream) {
    wp_device *device;
    wp_queue *queue = NULL;
    if (wpi_enter_any(&device) != cudaSuccess) return NULL;
    return wpi_stream_queue(device, stream, &queue) == cudaSuccess ? queue : NULL;
}
