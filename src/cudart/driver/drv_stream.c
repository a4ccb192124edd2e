/* SPDX-License-Identifier: Apache-2.0 */
/* Streams and events: the runtime's, whose handles are the same. */
#include "cudart/driver/driver.h"

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

WP_API CUresult cuEventElapsedTime(float *pMilliseconds, CUevent hStart, CUevent hEnd) {
    WPI_DRIVER_IN(false, cudaEventElapsedTime(pMilliseconds, hStart, hEnd));
}
