/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unimplemented calls of CUDA 12.4, so that programs which contain them link, and get an error at
 * run time. To implement a call, move it from here to the file of its subject.
 */
#include "cudart/unsupported.h"

#include "warpage/error.h"

/* clang-format off */
#define UNSUPPORTED_MAP(X) \
    /* graphs */ \
    X(cudaGraphAddExternalSemaphoresSignalNode) X(cudaGraphAddExternalSemaphoresWaitNode) \
    X(cudaGraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphExternalSemaphoresSignalNodeGetParams) \
    X(cudaGraphExternalSemaphoresSignalNodeSetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeGetParams) \
    X(cudaGraphExternalSemaphoresWaitNodeSetParams) \
    X(cudaGraphReleaseUserObject) X(cudaGraphRetainUserObject) \
    X(cudaUserObjectCreate) X(cudaUserObjectRelease) X(cudaUserObjectRetain) \
    /* sharing with other processes and interfaces */ \
    X(cudaDestroyExternalMemory) X(cudaDestroyExternalSemaphore) \
    X(cudaExternalMemoryGetMappedBuffer) X(cudaExternalMemoryGetMappedMipmappedArray) \
    X(cudaImportExternalMemory) X(cudaImportExternalSemaphore) \
    X(cudaSignalExternalSemaphoresAsync) \
    X(cudaSignalExternalSemaphoresAsync_v2) X(cudaWaitExternalSemaphoresAsync) \
    X(cudaWaitExternalSemaphoresAsync_v2) \
    /* memory pools */ \
    X(cudaMemPoolExportPointer) X(cudaMemPoolExportToShareableHandle) \
    X(cudaMemPoolImportFromShareableHandle) X(cudaMemPoolImportPointer) \
    /* special arrays */ \
    X(cudaArrayGetMemoryRequirements) X(cudaArrayGetPlane) X(cudaArrayGetSparseProperties) \
    X(cudaBindTextureToMipmappedArray) X(cudaFreeMipmappedArray) X(cudaGetMipmappedArrayLevel) \
    X(cudaMallocMipmappedArray) \
    X(cudaMipmappedArrayGetMemoryRequirements) \
    X(cudaMipmappedArrayGetSparseProperties) \
    /* graphics */ \
    X(cudaGLGetDevices) X(cudaGLMapBufferObject) X(cudaGLRegisterBufferObject) \
    X(cudaGLSetGLDevice) X(cudaGLUnmapBufferObject) X(cudaGLUnregisterBufferObject) \
    X(cudaGraphicsGLRegisterBuffer) X(cudaGraphicsGLRegisterImage) X(cudaGraphicsMapResources) \
    X(cudaGraphicsResourceGetMappedEglFrame) X(cudaGraphicsResourceGetMappedMipmappedArray) \
    X(cudaGraphicsResourceGetMappedPointer) X(cudaGraphicsResourceSetMapFlags) \
    X(cudaGraphicsSubResourceGetMappedArray) X(cudaGraphicsUnmapResources) \
    X(cudaGraphicsUnregisterResource) \
    /* others */ \
    X(cudaDeviceFlushGPUDirectRDMAWrites) X(cudaDeviceGetNvSciSyncAttributes) \
    X(cudaEventCreateFromEGLSync) \
    X(cudaDeviceRegisterAsyncNotification) X(cudaDeviceUnregisterAsyncNotification) \
    X(cudaLaunchCooperativeKernelMultiDevice)
/* clang-format on */

UNSUPPORTED_MAP(WPI_UNSUPPORTED_CALL)
