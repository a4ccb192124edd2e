/* SPDX-License-Identifier: Apache-2.0 */
/** A plan: sizes, layouts and work memory; and its execution. Thread rule: one thread a plan. */
#ifndef WP_LIBRARIES_FFT_PLAN_H
#define WP_LIBRARIES_FFT_PLAN_H

#include <stdbool.h>

#include "libraries/cufft/fft_shared.h"
#include "warpage/cuda/cufft.h"

typedef struct wpi_fft_plan {
    bool is_made, is_default_layout, has_own_memory;
    cufftType type;
    wpi_fft_shape shape;
    wpi_fft_layout in, out;
    cudaStream_t stream;
    void *work, *own_work;
    size_t work_bytes;
    wpi_fft_callback load, store;
    const wpi_fft_called *called; /* of both */
} wpi_fft_plan;

/** The next radix of a length; 0 if Bluestein's algorithm is needed for it. */
int wpi_fft_radix(long long length);
/** Whether the length is a product of radices. */
bool wpi_fft_is_smooth(long long length);
/** Bytes of work memory of a shape and type. */
size_t wpi_fft_work_bytes(const wpi_fft_shape *shape, cufftType type);
/** Queues the transform. */
cudaError_t wpi_fft_execute(const wpi_fft_plan *plan, void *in, void *out, int direction);

static inline bool wpi_fft_is_double(cufftType type) {
    return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D;
}
static inline bool wpi_fft_is_from_real(cufftType type) {
    return type == CUFFT_R2C || type == CUFFT_D2Z;
}
static inline bool wpi_fft_is_to_real(cufftType type) {
    return type == CUFFT_C2R || type == CUFFT_Z2D;
}

#endif
