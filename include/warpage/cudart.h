/* SPDX-License-Identifier: Apache-2.0 */
/**
 * From the CUDA runtime to Warpage's own interface: the device and the queues behind cuda… calls,
 * so that a CUDA program can use actors, host work and other functions that CUDA does not have.
 *
 * Thread rule: any thread. The results belong to the runtime: never close or destroy them.
 */
#ifndef WARPAGE_CUDART_H
#define WARPAGE_CUDART_H

#include "warpage/device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

/** The device of this process, opened if it is not yet. NULL where that fails; the reason is on
 * stderr, and cudaGetLastError has the code. */
WP_API wp_device *wp_cudart_device(void);
/** The queue behind a cudaStream_t: 0 is the default stream's. NULL as above, or if there is no
 * such stream (cudaErrorInvalidResourceHandle). It lives as long as the stream. */
WP_API wp_queue *wp_cudart_queue(struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif
#endif
