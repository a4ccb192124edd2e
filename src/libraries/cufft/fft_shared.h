/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuFFT's host code and its kernels share. The data are gathered from the program's layout
 * into work memory, `lines` of complex numbers, transformed there axis by axis, and stored.
 */
#ifndef WP_LIBRARIES_FFT_SHARED_H
#define WP_LIBRARIES_FFT_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_FFT_RANK_MAX 3
#define WPI_FFT_RADIX_MAX 13

/** Element (i, j, k) of batch b is at b * distance + ((i * embed[1] + j) * embed[2] + k) * stride.
 */
typedef struct wpi_fft_layout {
    long long embed[WPI_FFT_RANK_MAX], stride, distance;
} wpi_fft_layout;

typedef enum wpi_fft_side {
    WPI_FFT_COMPLEX = 0,
    WPI_FFT_REAL, /* imaginary parts are 0, or dropped */
    WPI_FFT_HALF /* the last dimension has n / 2 + 1 elements; the others are conjugates of these */
} wpi_fft_side;

/** Sizes of dimensions (1 for missing ones in front) and of the batch. */
typedef struct wpi_fft_shape {
    long long n[WPI_FFT_RANK_MAX], batch;
} wpi_fft_shape;

/** One pass along an axis of `length`, after passes of radices whose product is `done`. */
typedef struct wpi_fft_pass {
    const void *from;
    void *to;
    long long outer, length, inner, done;
    int radix, direction;
} wpi_fft_pass;

/** Bluestein's algorithm: a transform of `length` by convolution of `padded` elements. */
typedef struct wpi_fft_chirp {
    void *data, *padded_data; /* outer x length x inner; outer x inner lines of `padded` */
    const void *filter;       /* `padded` elements, transformed */
    long long outer, length, inner, padded;
    int direction;
} wpi_fft_chirp;

/** Launches for one precision. */
typedef struct wpi_fft_launches {
    cudaError_t (*load)(cudaStream_t, const wpi_fft_shape *, const wpi_fft_layout *, wpi_fft_side,
                        const void *in, void *work);
    cudaError_t (*store)(cudaStream_t, const wpi_fft_shape *, const wpi_fft_layout *, wpi_fft_side,
                         const void *work, void *out);
    cudaError_t (*pass)(cudaStream_t, const wpi_fft_pass *);
    cudaError_t (*chirp_filter)(cudaStream_t, const wpi_fft_chirp *, void *filter);
    cudaError_t (*chirp_load)(cudaStream_t, const wpi_fft_chirp *);
    cudaError_t (*chirp_multiply)(cudaStream_t, const wpi_fft_chirp *);
    cudaError_t (*chirp_store)(cudaStream_t, const wpi_fft_chirp *);
} wpi_fft_launches;

extern const wpi_fft_launches wpi_fft_single, wpi_fft_double;

/** A program's device function that loads or stores an element, and its arguments. */
typedef struct wpi_fft_callback {
    void *routine; /* NULL: none */
    void *info;
    unsigned int shared_bytes;
} wpi_fft_callback;

/** … and the kernels that call it, which are linked with the program's device code: [1] in double
 * precision. */
typedef struct wpi_fft_called {
    cudaError_t (*load[2])(cudaStream_t, const wpi_fft_shape *, const wpi_fft_layout *,
                           wpi_fft_side, const void *in, void *work, const wpi_fft_callback *);
    cudaError_t (*store[2])(cudaStream_t, const wpi_fft_shape *, const wpi_fft_layout *,
                            wpi_fft_side, const void *work, void *out, const wpi_fft_callback *);
} wpi_fft_called;

/** cufftXtSetCallback with these kernels; the numbers are cuFFT's. */
int wpi_cufft_set_callback(int plan, void *routine, int type, void *info,
                           const wpi_fft_called *kernels);

#ifdef __cplusplus
}
#endif
#endif
