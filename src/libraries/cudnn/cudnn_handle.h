/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of cuDNN share: handles, descriptors, checks. */
#ifndef WP_LIBRARIES_CUDNN_HANDLE_H
#define WP_LIBRARIES_CUDNN_HANDLE_H

#include <stdbool.h>
#include <stddef.h>

#include "libraries/cudnn/dnn_shared.h"
#include "warpage/error.h"

struct cudnnContext {
    cudaStream_t stream;
    bool is_on_host; /* the device is the host's processor */
};

struct cudnnTensorStruct {
    wpi_dnn_tensor t; /* data NULL */
};

struct cudnnFilterStruct {
    wpi_dnn_tensor t;
    cudnnTensorFormat_t format;
};

struct cudnnActivationStruct {
    cudnnActivationMode_t mode;
    cudnnNanPropagation_t nan;
    double coefficient, swish_beta;
};

struct cudnnDropoutStruct {
    float rate;
    wpi_dnn_dropout_states *states; /* device memory, or NULL */
    unsigned long long seed;
};

#define CUDNN_TRY(call)                                                                            \
    do {                                                                                           \
        const cudnnStatus_t try_status = (call);                                                   \
        if (try_status != CUDNN_STATUS_SUCCESS) return try_status;                                 \
    } while (0)

/** Defines create and destroy of a descriptor's kind: all bytes 0 at first. */
#define CUDNN_DESCRIPTOR(kind)                                                                     \
    WP_API cudnnStatus_t cudnnCreate##kind##Descriptor(cudnn##kind##Descriptor_t *made) {          \
        return wpi_cudnn_create((void **)made, sizeof **made);                                     \
    }                                                                                              \
    WP_API cudnnStatus_t cudnnDestroy##kind##Descriptor(cudnn##kind##Descriptor_t one) {           \
        wpi_free(one);                                                                             \
        return CUDNN_STATUS_SUCCESS;                                                               \
    }

cudnnStatus_t wpi_cudnn_create(void **made, size_t bytes);
cudnnStatus_t wpi_cudnn_status(cudaError_t error);

/** Sets shape and strides; `strides` NULL: packed, with channels last for NHWC. NOT_SUPPORTED: the
 * type, or 2^31 elements and more. */
cudnnStatus_t wpi_cudnn_shape(wpi_dnn_tensor *t, cudnnTensorFormat_t format, int type, int dims,
                              const int *sizes, const int *strides);
/** The bytes from the first element to the end of the last. */
size_t wpi_cudnn_bytes(const wpi_dnn_tensor *t);
/** A factor of an operation on tensors of a type. */
double wpi_cudnn_factor(const void *factor, int type);
/** The value as an element of the type has it. */
double wpi_cudnn_round(double value, int type);
/** The same elements with five dimensions: batch, channels, depth, height, width. BAD_PARAM: the
 * tensor has fewer than three or more than five. */
cudnnStatus_t wpi_cudnn_in_space(const wpi_dnn_tensor *t, const void *data, wpi_dnn_tensor *out);
/** An operand with data, which repeats where it has one element and `like` more. BAD_PARAM: the
 * shapes differ otherwise. */
cudnnStatus_t wpi_cudnn_operand(const wpi_dnn_tensor *t, const void *data,
                                const wpi_dnn_tensor *like, wpi_dnn_tensor *out);
bool wpi_cudnn_same_shape(const wpi_dnn_tensor *a, const wpi_dnn_tensor *b);

/** Sets all elements to the one that `value` points to, in host memory and of the tensor's type. */
cudnnStatus_t wpi_cudnn_fill(cudnnHandle_t handle, const wpi_dnn_tensor *t, const void *value);

/** Of sizes after padding: places of a window of `window` elements, `dilation` apart. */
int wpi_cudnn_places(int size, int pad_before, int pad_after, int window, int dilation, int step);
/** x, w, y in five dimensions, with a convolution's numbers in the last `space` of them. BAD_PARAM:
 * they do not fit together. */
cudnnStatus_t wpi_cudnn_convolution(wpi_dnn_convolution *p, const wpi_dnn_tensor *x,
                                    const void *x_data, const wpi_dnn_tensor *w, const void *w_data,
                                    const wpi_dnn_tensor *y, const void *y_data, const int *pad,
                                    const int *step, const int *dilation, int space);
/** Computes y, x or w by the kernels that suit the shapes and the device. */
cudnnStatus_t wpi_cudnn_convolve(cudnnHandle_t handle, wpi_dnn_way way,
                                 const wpi_dnn_convolution *p);

#endif
