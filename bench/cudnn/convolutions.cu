/* SPDX-License-Identifier: Apache-2.0 */
/* convolutions: the seconds of cuDNN's convolutions of float, NCHW, with both gradients. Arguments: rounds, then shapes as
 * NAME:images,channels,size,maps,window,step,pad,groups. A line a shape: name, then the fastest call of each way by the
 * wall clock and the processor seconds of the call that took least. */
#include <cudnn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OK(call)                                                                             \
    do {                                                                                     \
        const int status = (int)(call);                                                      \
        if (status != 0) {                                                                   \
            fprintf(stderr, "convolutions: %s returned %d\n", #call, status);                \
            return 1;                                                                        \
        }                                                                                    \
    } while (0)

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float *filled(size_t count) {
    float *host = (float *)malloc(count * sizeof *host), *data;
    for (size_t i = 0; i < count; i++) host[i] = (float)(i * 2654435761u % 255) / 64 - 2;
    if (cudaMalloc(&data, count * sizeof *data) != cudaSuccess) return NULL;
    cudaMemcpy(data, host, count * sizeof *host, cudaMemcpyHostToDevice);
    free(host);
    return data;
}

int main(int argc, char **argv) {
    const float one = 1, none = 0;
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    cudnnHandle_t handle;
    OK(cudnnCreate(&handle));
    for (int s = 2; s < argc; s++) {
        char name[64];
        int n, c, size, k, window, step, pad, groups, places;
        if (sscanf(argv[s], "%63[^:]:%d,%d,%d,%d,%d,%d,%d,%d", name, &n, &c, &size, &k, &window, &step, &pad, &groups) != 9) return 2;
        cudnnTensorDescriptor_t x, y;
        cudnnFilterDescriptor_t w;
        cudnnConvolutionDescriptor_t d;
        OK(cudnnCreateTensorDescriptor(&x));
        OK(cudnnCreateTensorDescriptor(&y));
        OK(cudnnCreateFilterDescriptor(&w));
        OK(cudnnCreateConvolutionDescriptor(&d));
        OK(cudnnSetConvolution2dDescriptor(d, pad, pad, step, step, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
        OK(cudnnSetConvolutionGroupCount(d, groups));
        OK(cudnnSetTensor4dDescriptor(x, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, size, size));
        OK(cudnnSetFilter4dDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, c / groups, window, window));
        OK(cudnnGetConvolution2dForwardOutputDim(d, x, w, &n, &k, &places, &places));
        OK(cudnnSetTensor4dDescriptor(y, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, k, places, places));
        float *xs = filled((size_t)n * c * size * size), *ws = filled((size_t)k * c / groups * window * window),
              *ys = filled((size_t)n * k * places * places);
        if (xs == NULL || ws == NULL || ys == NULL) return 1;
        double wall[3] = {1e9, 1e9, 1e9}, work[3] = {1e9, 1e9, 1e9};
        for (int r = 0; r <= rounds; r++)
            for (int way = 0; way < 3; way++) {
                const double from = now(CLOCK_MONOTONIC), from_work = now(CLOCK_PROCESS_CPUTIME_ID);
                if (way == 0)
                    OK(cudnnConvolutionForward(handle, &one, x, xs, w, ws, d, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, NULL, 0,
                                               &none, y, ys));
                if (way == 1)
                    OK(cudnnConvolutionBackwardData(handle, &one, w, ws, y, ys, d, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, NULL, 0,
                                                    &none, x, xs));
                if (way == 2)
                    OK(cudnnConvolutionBackwardFilter(handle, &one, x, xs, y, ys, d, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1, NULL, 0,
                                                      &none, w, ws));
                OK(cudaDeviceSynchronize());
                if (r == 0 && rounds > 0) continue; /* compiles kernels */
                wall[way] = fmin(wall[way], now(CLOCK_MONOTONIC) - from);
                work[way] = fmin(work[way], now(CLOCK_PROCESS_CPUTIME_ID) - from_work);
            }
        printf("%s %.9f %.9f %.9f %.9f %.9f %.9f\n", name, wall[0], wall[1], wall[2], work[0], work[1], work[2]);
        OK(cudaFree(xs));
        OK(cudaFree(ws));
        OK(cudaFree(ys));
    }
    return 0;
}
