/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: the runtime's, whose handles are the same. */
#include <string.h>

#include "cudart/driver/driver.h"
#include "cudart/graph/graph.h"

WP_API CUresult cuStreamCreate(CUstream *phStream, unsigned int Flags) {
    WPI_DRIVER(cudaStreamCreateWithFlags(phStream, Flags));
}

WP_API CUresult cuStreamCreateWithPriority(CUstream *phStream, unsigned int flags, int priority) {
    WPI_DRIVER(cudaStreamCreateWithPriority(phStream, flags, priority));
}

WP_API CUresult cuStreamDestroy(CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamDestroy(hStream));
}

WP_API CUresult cuStreamQuery(CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamQuery(hStream));
}

WP_API CUresult cuStreamSynchronize(CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamSynchronize(hStream));
}

WP_API CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamWaitEvent(hStream, hEvent, Flags));
}

/* The status that the callback receives has equal numbers in both APIs. */
WP_API CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void *userData,
                                    unsigned int flags) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaStreamAddCallback(hStream, (cudaStreamCallback_t)(void (*)(void))callback,
                                        userData, flags));
}

WP_API CUresult cuLaunchHostFunc(CUstream hStream, CUhostFn fn, void *userData) {
    WPI_DRIVER_IN(hStream == NULL, cudaLaunchHostFunc(hStream, fn, userData));
}

WP_API CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length,
                                       unsigned int flags) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamAttachMemAsync(hStream, wpi_at(dptr), length, flags));
}

WP_API CUresult cuStreamGetPriority(CUstream hStream, int *priority) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamGetPriority(hStream, priority));
}

WP_API CUresult cuStreamGetFlags(CUstream hStream, unsigned int *flags) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamGetFlags(hStream, flags));
}

WP_API CUresult cuStreamGetId(CUstream hStream, unsigned long long *streamId) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamGetId(hStream, streamId));
}

/* Streams belong to no context: the thread's own. */
WP_API CUresult cuStreamGetCtx(CUstream hStream, CUcontext *pctx) {
    unsigned flags;
    if (pctx == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(cuStreamGetFlags(hStream, &flags));
    *pctx = wpi_context_current();
    return CUDA_SUCCESS;
}

WP_API CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
    WPI_DRIVER_IN(dst == NULL || src == NULL, cudaStreamCopyAttributes(dst, src));
}

WP_API CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr,
                                     CUstreamAttrValue *value_out) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamGetAttribute(hStream, attr, value_out));
}

WP_API CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr,
                                     const CUstreamAttrValue *value) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamSetAttribute(hStream, attr, value));
}

/* ---- capture ---- */

WP_API CUresult cuStreamBeginCapture(CUstream hStream, CUstreamCaptureMode mode) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaStreamBeginCapture(hStream, (enum cudaStreamCaptureMode)mode));
}

WP_API CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph,
                                            const CUgraphNode *dependencies,
                                            const CUgraphEdgeData *dependencyData,
                                            size_t numDependencies, CUstreamCaptureMode mode) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaStreamBeginCaptureToGraph(hStream, hGraph, dependencies, dependencyData,
                                                numDependencies, (enum cudaStreamCaptureMode)mode));
}

WP_API CUresult cuStreamEndCapture(CUstream hStream, CUgraph *phGraph) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamEndCapture(hStream, phGraph));
}

WP_API CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus *captureStatus) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamIsCapturing(hStream, (void *)captureStatus));
}

WP_API CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus *captureStatus_out,
                                       cuuint64_t *id_out, CUgraph *graph_out,
                                       const CUgraphNode **dependencies_out,
                                       size_t *numDependencies_out) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaStreamGetCaptureInfo_v2(hStream, (void *)captureStatus_out, (void *)id_out,
                                              graph_out, dependencies_out, numDependencies_out));
}

WP_API CUresult cuStreamGetCaptureInfo_v3(CUstream hStream,
                                          CUstreamCaptureStatus *captureStatus_out,
                                          cuuint64_t *id_out, CUgraph *graph_out,
                                          const CUgraphNode **dependencies_out,
                                          const CUgraphEdgeData **edgeData_out,
                                          size_t *numDependencies_out) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaStreamGetCaptureInfo_v3(hStream, (void *)captureStatus_out, (void *)id_out,
                                              graph_out, dependencies_out, edgeData_out,
                                              numDependencies_out));
}

WP_API CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode *dependencies,
                                                  size_t numDependencies, unsigned int flags) {
    WPI_DRIVER_IN(hStream == NULL, cudaStreamUpdateCaptureDependencies(hStream, dependencies,
                                                                       numDependencies, flags));
}

WP_API CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode *dependencies,
                                                     const CUgraphEdgeData *dependencyData,
                                                     size_t numDependencies, unsigned int flags) {
    if (!wpi_edges_are_plain(dependencyData, numDependencies)) return CUDA_ERROR_NOT_SUPPORTED;
    return cuStreamUpdateCaptureDependencies(hStream, dependencies, numDependencies, flags);
}

WP_API CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
    WPI_DRIVER_IN(false, cudaThreadExchangeStreamCaptureMode((void *)mode));
}

/* ---- events ---- */

WP_API CUresult cuEventCreate(CUevent *phEvent, unsigned int Flags) {
    WPI_DRIVER(cudaEventCreateWithFlags(phEvent, Flags));
}

WP_API CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
    WPI_DRIVER_IN(false, cudaEventRecord(hEvent, hStream));
}

WP_API CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
    WPI_DRIVER_IN(false, cudaEventRecordWithFlags(hEvent, hStream, flags));
}

WP_API CUresult cuEventQuery(CUevent hEvent) {
    WPI_DRIVER_IN(false, cudaEventQuery(hEvent));
}

WP_API CUresult cuEventSynchronize(CUevent hEvent) {
    WPI_DRIVER_IN(false, cudaEventSynchronize(hEvent));
}

WP_API CUresult cuEventDestroy(CUevent hEvent) {
    WPI_DRIVER_IN(false, cudaEventDestroy(hEvent));
}

WP_API CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event) {
    WPI_DRIVER_IN(false, cudaIpcGetEventHandle((void *)pHandle, event));
}

WP_API CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle) {
    cudaIpcEventHandle_t same;
    memcpy(&same, &handle, sizeof same);
    WPI_DRIVER(cudaIpcOpenEventHandle(phEvent, same));
}

WP_API CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    WPI_DRIVER_IN(false, cudaEventElapsedTime(pMilliseconds, hStart, hEnd));
}
