/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms of calls for programs compiled with --default-stream per-thread: stream 0 means the calling
 * thread's own stream. Each is the plain call with a flag set for this thread meanwhile. The
 * suffixes are CUDA's: _ptds for calls without a stream parameter, _ptsz for those with one.
 */
#include "cudart/cudart.h"
#include "cudart/entry.h"

/* Parameters and arguments come in parentheses. */
#define PER_THREAD(name, suffix, parameters, arguments)                                            \
    WP_API cudaError_t name##_##suffix parameters;                                                 \
    WP_API cudaError_t name##_##suffix parameters {                                                \
        wpi_default_stream_set_per_thread(true);                                                   \
        const cudaError_t error = name arguments;                                                  \
        wpi_default_stream_set_per_thread(false);                                                  \
        return error;                                                                              \
    }

PER_THREAD(cudaMemcpy, ptds, (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind),
           (dst, src, count, kind))
PER_THREAD(cudaMemcpy2D, ptds,
           (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
            enum cudaMemcpyKind kind),
           (dst, dpitch, src, spitch, width, height, kind))
PER_THREAD(cudaMemcpy3D, ptds, (const struct cudaMemcpy3DParms *p), (p))
PER_THREAD(cudaMemcpy3DPeer, ptds, (const struct cudaMemcpy3DPeerParms *p), (p))
PER_THREAD(cudaMemcpyToSymbol, ptds,
           (const void *symbol, const void *src, size_t count, size_t offset,
            enum cudaMemcpyKind kind),
           (symbol, src, count, offset, kind))
PER_THREAD(cudaMemcpyFromSymbol, ptds,
           (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind),
           (dst, symbol, count, offset, kind))
PER_THREAD(cudaMemcpyToArray, ptds,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
            enum cudaMemcpyKind kind),
           (dst, wOffset, hOffset, src, count, kind))
PER_THREAD(cudaMemcpyFromArray, ptds,
           (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
            enum cudaMemcpyKind kind),
           (dst, src, wOffset, hOffset, count, kind))
PER_THREAD(cudaMemcpyArrayToArray, ptds,
           (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
            size_t wOffsetSrc, size_t hOffsetSrc, size_t count, enum cudaMemcpyKind kind),
           (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, count, kind))
PER_THREAD(cudaMemcpy2DToArray, ptds,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
            size_t width, size_t height, enum cudaMemcpyKind kind),
           (dst, wOffset, hOffset, src, spitch, width, height, kind))
PER_THREAD(cudaMemcpy2DFromArray, ptds,
           (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
            size_t width, size_t height, enum cudaMemcpyKind kind),
           (dst, dpitch, src, wOffset, hOffset, width, height, kind))
PER_THREAD(cudaMemcpy2DArrayToArray, ptds,
           (cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst, cudaArray_const_t src,
            size_t wOffsetSrc, size_t hOffsetSrc, size_t width, size_t height,
            enum cudaMemcpyKind kind),
           (dst, wOffsetDst, hOffsetDst, src, wOffsetSrc, hOffsetSrc, width, height, kind))
PER_THREAD(cudaMemset, ptds, (void *devPtr, int value, size_t count), (devPtr, value, count))
PER_THREAD(cudaMemset2D, ptds, (void *devPtr, size_t pitch, int value, size_t width, size_t height),
           (devPtr, pitch, value, width, height))
PER_THREAD(cudaMemset3D, ptds,
           (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent),
           (pitchedDevPtr, value, extent))
PER_THREAD(cudaMemcpyAsync, ptsz,
           (void *dst, const void *src, size_t count, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (dst, src, count, kind, stream))
PER_THREAD(cudaMemcpy2DAsync, ptsz,
           (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (dst, dpitch, src, spitch, width, height, kind, stream))
PER_THREAD(cudaMemcpy3DAsync, ptsz, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
           (p, stream))
PER_THREAD(cudaMemcpy3DPeerAsync, ptsz,
           (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p, stream))
PER_THREAD(cudaMemcpyToSymbolAsync, ptsz,
           (const void *symbol, const void *src, size_t count, size_t offset,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (symbol, src, count, offset, kind, stream))
PER_THREAD(cudaMemcpyFromSymbolAsync, ptsz,
           (void *dst, const void *symbol, size_t count, size_t offset, enum cudaMemcpyKind kind,
            cudaStream_t stream),
           (dst, symbol, count, offset, kind, stream))
PER_THREAD(cudaMemcpyToArrayAsync, ptsz,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t count,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (dst, wOffset, hOffset, src, count, kind, stream))
PER_THREAD(cudaMemcpyFromArrayAsync, ptsz,
           (void *dst, cudaArray_const_t src, size_t wOffset, size_t hOffset, size_t count,
            enum cudaMemcpyKind kind, cudaStream_t stream),
           (dst, src, wOffset, hOffset, count, kind, stream))
PER_THREAD(cudaMemcpy2DToArrayAsync, ptsz,
           (cudaArray_t dst, size_t wOffset, size_t hOffset, const void *src, size_t spitch,
            size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
           (dst, wOffset, hOffset, src, spitch, width, height, kind, stream))
PER_THREAD(cudaMemcpy2DFromArrayAsync, ptsz,
           (void *dst, size_t dpitch, cudaArray_const_t src, size_t wOffset, size_t hOffset,
            size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),
           (dst, dpitch, src, wOffset, hOffset, width, height, kind, stream))
PER_THREAD(cudaMemsetAsync, ptsz, (void *devPtr, int value, size_t count, cudaStream_t stream),
           (devPtr, value, count, stream))
PER_THREAD(cudaMemset2DAsync, ptsz,
           (void *devPtr, size_t pitch, int value, size_t width, size_t height,
            cudaStream_t stream),
           (devPtr, pitch, value, width, height, stream))
PER_THREAD(cudaMemset3DAsync, ptsz,
           (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
            cudaStream_t stream),
           (pitchedDevPtr, value, extent, stream))
PER_THREAD(cudaMemPrefetchAsync, ptsz,
           (const void *devPtr, size_t count, int dstDevice, cudaStream_t stream),
           (devPtr, count, dstDevice, stream))
PER_THREAD(cudaMallocAsync, ptsz, (void **devPtr, size_t size, cudaStream_t hStream),
           (devPtr, size, hStream))
PER_THREAD(cudaFreeAsync, ptsz, (void *devPtr, cudaStream_t hStream), (devPtr, hStream))
PER_THREAD(cudaStreamSynchronize, ptsz, (cudaStream_t stream), (stream))
PER_THREAD(cudaStreamQuery, ptsz, (cudaStream_t stream), (stream))
PER_THREAD(cudaStreamWaitEvent, ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
           (stream, event, flags))
PER_THREAD(cudaStreamAddCallback, ptsz,
           (cudaStream_t stream, cudaStreamCallback_t callback, void *userData, unsigned int flags),
           (stream, callback, userData, flags))
PER_THREAD(cudaLaunchHostFunc, ptsz, (cudaStream_t stream, cudaHostFn_t fn, void *userData),
           (stream, fn, userData))
PER_THREAD(cudaStreamGetFlags, ptsz, (cudaStream_t hStream, unsigned int *flags), (hStream, flags))
PER_THREAD(cudaStreamGetPriority, ptsz, (cudaStream_t hStream, int *priority), (hStream, priority))
PER_THREAD(cudaStreamGetId, ptsz, (cudaStream_t hStream, unsigned long long *streamId),
           (hStream, streamId))
PER_THREAD(cudaStreamIsCapturing, ptsz,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *pCaptureStatus),
           (stream, pCaptureStatus))
PER_THREAD(cudaStreamAttachMemAsync, ptsz,
           (cudaStream_t stream, void *devPtr, size_t length, unsigned int flags),
           (stream, devPtr, length, flags))
PER_THREAD(cudaEventRecord, ptsz, (cudaEvent_t event, cudaStream_t stream), (event, stream))
PER_THREAD(cudaEventRecordWithFlags, ptsz,
           (cudaEvent_t event, cudaStream_t stream, unsigned int flags), (event, stream, flags))
PER_THREAD(cudaLaunchKernel, ptsz,
           (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
            cudaStream_t stream),
           (func, gridDim, blockDim, args, sharedMem, stream))
PER_THREAD(__cudaLaunchKernel, ptsz,
           (cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared_bytes,
            cudaStream_t stream),
           (kernel, grid, block, args, shared_bytes, stream))
PER_THREAD(cudaLaunchKernelExC, ptsz,
           (const cudaLaunchConfig_t *config, const void *func, void **args), (config, func, args))
PER_THREAD(cudaLaunchCooperativeKernel, ptsz,
           (const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
            cudaStream_t stream),
           (func, gridDim, blockDim, args, sharedMem, stream))
PER_THREAD(cudaMemPrefetchAsync_v2, ptsz,
           (const void *devPtr, size_t count, struct cudaMemLocation location, unsigned int flags,
            cudaStream_t stream),
           (devPtr, count, location, flags, stream))
PER_THREAD(cudaMallocFromPoolAsync, ptsz,
           (void **ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream),
           (ptr, size, memPool, stream))
PER_THREAD(cudaStreamBeginCapture, ptsz, (cudaStream_t stream, enum cudaStreamCaptureMode mode),
           (stream, mode))
PER_THREAD(cudaStreamEndCapture, ptsz, (cudaStream_t stream, cudaGraph_t *pGraph), (stream, pGraph))
PER_THREAD(cudaStreamGetCaptureInfo_v2, ptsz,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
            unsigned long long *id_out, cudaGraph_t *graph_out,
            const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out),
           (stream, captureStatus_out, id_out, graph_out, dependencies_out, numDependencies_out))
PER_THREAD(cudaStreamGetCaptureInfo_v3, ptsz,
           (cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
            unsigned long long *id_out, cudaGraph_t *graph_out,
            const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
            size_t *numDependencies_out),
           (stream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
            numDependencies_out))
PER_THREAD(cudaGraphLaunch, ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream),
           (graphExec, stream))
PER_THREAD(cudaGraphUpload, ptsz, (cudaGraphExec_t graphExec, cudaStream_t stream),
           (graphExec, stream))
