/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What cuDNN's host code and its kernels share. A kernel walks over the elements of its result, or
 * over those that share a sum: the item of a number has the coordinate
 *
 *     (item / every[d]) % size[d]
 *
 * in dimension d, where dimensions with small strides change fastest.
 */
#ifndef WP_LIBRARIES_DNN_SHARED_H
#define WP_LIBRARIES_DNN_SHARED_H

#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/cuda/cudnn.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WPI_DNN_DIMS CUDNN_DIM_MAX
#define WPI_DNN_SPACE 3 /* depth, height, width: dimensions 2 to 4 */

/** Strides are in elements. */
typedef struct wpi_dnn_tensor {
    void *data;
    int type; /* cudnnDataType_t */
    int dims;
    int size[WPI_DNN_DIMS];
    long long stride[WPI_DNN_DIMS];
} wpi_dnn_tensor;

typedef struct wpi_dnn_walk {
    unsigned count;
    int dims;
    unsigned every[WPI_DNN_DIMS], size[WPI_DNN_DIMS];
} wpi_dnn_walk;

/** All tensors have five dimensions. */
typedef struct wpi_dnn_convolution {
    wpi_dnn_tensor x, w, y;
    int pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE], dilation[WPI_DNN_SPACE];
    int is_flipped; /* the filter, as mathematics has it */
    int groups;
    double alpha, beta;
} wpi_dnn_convolution;

/** A mode besides cudnnPointwiseMode_t: 1 - a. */
#define WPI_DNN_ONE_LESS 99

/** What a convolution computes: y, x from y, or w from y. */
typedef enum wpi_dnn_way {
    WPI_DNN_FORWARD,
    WPI_DNN_DATA,
    WPI_DNN_FILTER,
} wpi_dnn_way;

typedef struct wpi_dnn_shift {
    int before[WPI_DNN_SPACE];
} wpi_dnn_shift;

/** A convolution of one way as a product of matrices for each group (dnn_product.h): `a` is w, or y
 * for the filter's gradient; `from` is gathered; `to` is the result. */
typedef struct wpi_dnn_product {
    wpi_dnn_tensor a, from, to;
    wpi_dnn_way way;
    int window[WPI_DNN_SPACE], pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE], dilation[WPI_DNN_SPACE];
    int shift[WPI_DNN_SPACE]; /* zeros before the first element of `from` */
    int groups, classes;      /* of elements of x by remainders, for x from y */
    int channels; /* of a group that the depth or, of the filter's gradient, a column has */
    int rows, columns, depth;                               /* of a group; the largest class */
    long long a_row, a_group, from_group, to_row, to_group; /* strides */
    int is_flipped, is_channel_fast, is_inside /* no padding is read */;
    int is_a_by_rows, is_b_by_depth; /* what neighbouring threads read */
    double alpha, beta;
    void *partials; /* parts of the depth, of part_slices slices, have results of their own; or NULL
                     */
    long long part_count;
    int part_slices;
} wpi_dnn_product;

/** y = scale f(alpha a, beta b, c) + old y. Operands have y's dimensions, or 1; data NULL: none.
 * Modes from CUDNN_POINTWISE_RELU_BWD on: a is the gradient, b what the function was given, or its
 * result (is_of_result). */
typedef struct wpi_dnn_pointwise {
    wpi_dnn_tensor a, b, c, y;
    int mode; /* cudnnPointwiseMode_t */
    int is_of_result, axis;
    double alpha, beta, scale, old;
    double lower, upper, slope, parameter; /* of ReLU; of ELU, softplus, swish */
} wpi_dnn_pointwise;

/** y = alpha reduction(x) + beta y over the dimensions in which y has 1 element. */
typedef struct wpi_dnn_reduction {
    wpi_dnn_tensor x, y;
    int op; /* cudnnReduceTensorOp_t */
    double alpha, beta;
} wpi_dnn_reduction;

/** y = a b of matrices in the last two dimensions, batches before. Element k of a row of a is
 * k * a_step behind its first, whose offset does not depend on y's column; so columns of b. */
typedef struct wpi_dnn_matmul {
    wpi_dnn_tensor a, b, y;
    long long a_step, b_step;
    int depth;
} wpi_dnn_matmul;

/** Forward: y from x; backward: dx from x and dy. All tensors have five dimensions. */
typedef struct wpi_dnn_pooling {
    wpi_dnn_tensor x, y, dy, dx;
    int window[WPI_DNN_SPACE], pad[WPI_DNN_SPACE], step[WPI_DNN_SPACE];
    int mode; /* cudnnPoolingMode_t */
    double alpha, beta;
} wpi_dnn_pooling;

/** Forward (dy.data NULL): y from x; backward: x from y and dy. */
typedef struct wpi_dnn_softmax {
    wpi_dnn_tensor x, y, dy;
    int is_log;
    double alpha, beta;
} wpi_dnn_softmax;

/** y = (x - mean) / sqrt(variance + epsilon) * factor + bias, by channels or activations; the
 * parameters are of the type of the sums. */
typedef struct wpi_dnn_norm {
    wpi_dnn_tensor x, y, parameter; /* shape of the parameters; its data: the factor */
    wpi_dnn_tensor dy;              /* backward: y is dx */
    const void *bias;
    void *mean, *variance;             /* given, or with training running ones, or NULL */
    void *kept_mean, *kept_inverse;    /* of training, for backward; NULL: none */
    void *factor_change, *bias_change; /* backward: results */
    int is_training;
    double momentum, epsilon, alpha, beta, parameter_alpha, parameter_beta;
} wpi_dnn_norm;

/** In device memory. */
typedef struct wpi_dnn_dropout_states {
    unsigned long long seed, drawn; /* how often */
} wpi_dnn_dropout_states;

/** y = x / (1 - rate), or 0 where the mask is; `states`: draws the mask. Any dimensions. */
typedef struct wpi_dnn_dropout {
    wpi_dnn_tensor x, y;
    float rate;
    unsigned char *mask;
    wpi_dnn_dropout_states *states;
} wpi_dnn_dropout;

/** Forward (dy.data NULL): y = x / (k + factor * sum of squares of channels around)^power;
 * backward: y is x's gradient. Five dimensions. */
typedef struct wpi_dnn_lrn {
    wpi_dnn_tensor x, y, dy;
    int before, after; /* channels */
    double k, factor, power, alpha, beta;
} wpi_dnn_lrn;

cudaError_t wpi_dnn_dropout_seed(cudaStream_t stream, wpi_dnn_dropout_states *states,
                                 unsigned long long seed);
cudaError_t wpi_dnn_dropout_run(cudaStream_t stream, const wpi_dnn_dropout *p);
cudaError_t wpi_dnn_lrn_run(cudaStream_t stream, const wpi_dnn_lrn *p);
/** Each thread by itself an element: for any convolution. */
cudaError_t wpi_dnn_convolve(cudaStream_t stream, wpi_dnn_way way, const wpi_dnn_convolution *p);
/** By tiles: for GPUs, and with others for the CPU device. */
cudaError_t wpi_dnn_product_run(cudaStream_t stream, wpi_dnn_product *p);
cudaError_t wpi_dnn_product_run_wide(cudaStream_t stream, wpi_dnn_product *p);
/** Sets the result's tensor, and the strides by it. */
void wpi_dnn_product_into(wpi_dnn_product *p, const wpi_dnn_tensor *to);
cudaError_t wpi_dnn_pointwise_run(cudaStream_t stream, const wpi_dnn_pointwise *p);
cudaError_t wpi_dnn_reduce(cudaStream_t stream, const wpi_dnn_reduction *p);
cudaError_t wpi_dnn_multiply(cudaStream_t stream, const wpi_dnn_matmul *p);
cudaError_t wpi_dnn_pool(cudaStream_t stream, const wpi_dnn_pooling *p, int is_backward);
/** `is_by_channel`: each place in space by itself. */
cudaError_t wpi_dnn_softmax_run(cudaStream_t stream, const wpi_dnn_softmax *p, int is_by_channel);
cudaError_t wpi_dnn_normalise(cudaStream_t stream, const wpi_dnn_norm *p, int is_backward);

#ifdef __cplusplus
}
#endif
#endif
