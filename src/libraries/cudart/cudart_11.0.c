/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcudart.so.11.0: programs linked with CUDA 11's runtime look for its symbols by this version,
 * and find them in libwarpage, which this library needs. Here are the functions that had other
 * parameters or another structure in CUDA 11; libwarpage's have those of CUDA 12. Their symbols are
 * the plain names, so they have another name in this file.
 */
#include <string.h>

#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/error.h"

#define VERSION_11 11080
/* CUDA 12 added properties behind those of CUDA 11. */
#define PROPERTIES_BYTES 728

WP_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
WP_API cudaError_t properties_11(void *p, int device) __asm__("cudaGetDeviceProperties");
WP_API cudaError_t version_11(int *version) __asm__("cudaRuntimeGetVersion");
WP_API cudaError_t instantiate_11(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *failed,
                                  char *log, size_t log_bytes) __asm__("cudaGraphInstantiate");

cudaError_t properties_11(void *p, int device) {
    struct cudaDeviceProp all;
    const cudaError_t error = cudaGetDeviceProperties_v2(p != NULL ? &all : NULL, device);
    if (error == cudaSuccess) memcpy(p, &all, PROPERTIES_BYTES);
    return error;
}

cudaError_t version_11(int *version) {
    if (version == NULL) return cudaErrorInvalidValue;
    *version = VERSION_11;
    return cudaSuccess;
}

/* A graph that cannot be instantiated has no node to name: the reason is printed. */
cudaError_t instantiate_11(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *failed,
                           char *log, size_t log_bytes) {
    if (failed != NULL) *failed = NULL;
    if (log != NULL && log_bytes != 0) log[0] = '\0';
    return cudaGraphInstantiateWithFlags(exec, graph, 0);
}
