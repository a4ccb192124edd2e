/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unimplemented calls of CUDA 12.4's driver API, so that programs which look up all of it (by
 * dlsym) start, and get an error where they call one. cuda.h declares few of them. To implement a
 * call, move it from here to the file of its subject. The comments are reasons, which
 * docs/guide/cuda-support.md repeats.
 */
#include "cudart/driver/named_call.h"
#include "cudart/unsupported.h"

/* clang-format off */
#define UNSUPPORTED_MAP(X) \
    /* graphs have no nodes of semaphores and of words of memory, and keep no objects alive */ \
    X(cuGraphAddBatchMemOpNode) X(cuGraphAddExternalSemaphoresSignalNode) \
    X(cuGraphAddExternalSemaphoresWaitNode) X(cuGraphBatchMemOpNodeGetParams) \
    X(cuGraphBatchMemOpNodeSetParams) X(cuGraphExecBatchMemOpNodeSetParams) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams) X(cuGraphExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphReleaseUserObject) X(cuGraphRetainUserObject) X(cuUserObjectCreate) \
    X(cuUserObjectRelease) X(cuUserObjectRetain) \
    /* there are no mipmapped, sparse or planar arrays, and no other views of an array */ \
    X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) X(cuArrayGetSparseProperties) \
    X(cuDeviceGetTexture1DLinearMaxWidth) X(cuExternalMemoryGetMappedMipmappedArray) \
    X(cuGraphicsResourceGetMappedMipmappedArray) X(cuMemMapArrayAsync) X(cuMipmappedArrayCreate) \
    X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) \
    X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties) \
    X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) X(cuTexRefGetMipmappedArray) \
    X(cuTexRefSetMipmappedArray) X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias) \
    X(cuTexRefGetMipmapLevelClamp) X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias) \
    X(cuTexRefSetMipmapLevelClamp) \
    /* memory of graphics interfaces and of others' libraries, pools in other processes */ \
    X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) X(cuExternalMemoryGetMappedBuffer) \
    X(cuFlushGPUDirectRDMAWrites) X(cuGLCtxCreate_v2) X(cuGLGetDevices_v2) X(cuGLInit) \
    X(cuGraphicsGLRegisterBuffer) X(cuGraphicsGLRegisterImage) X(cuGraphicsMapResources) \
    X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceSetMapFlags_v2) \
    X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources) \
    X(cuGraphicsUnregisterResource) X(cuImportExternalMemory) X(cuImportExternalSemaphore) \
    X(cuMemGetHandleForAddressRange) X(cuMemPoolExportPointer) \
    X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle) \
    X(cuMemPoolImportPointer) X(cuSignalExternalSemaphoresAsync) \
    X(cuWaitExternalSemaphoresAsync) \
    /* devices are undivided; no launch and no multicast reaches several */ \
    X(cuCtxGetExecAffinity) X(cuDeviceGetExecAffinitySupport) X(cuDeviceGetLuid) \
    X(cuLaunchCooperativeKernelMultiDevice) \
    X(cuMulticastAddDevice) X(cuMulticastBindAddr) X(cuMulticastBindMem) \
    X(cuMulticastCreate) X(cuMulticastGetGranularity) X(cuMulticastUnbind) \
    X(cuGreenCtxCreate) X(cuGreenCtxDestroy) X(cuCtxFromGreenCtx) X(cuDeviceGetDevResource) \
    X(cuCtxGetDevResource) X(cuGreenCtxGetDevResource) X(cuDevSmResourceSplitByCount) \
    X(cuDevResourceGenerateDesc) X(cuGreenCtxRecordEvent) X(cuGreenCtxWaitEvent) \
    X(cuStreamGetGreenCtx) \
    /* no device notifies a program of a budget of memory */ \
    X(cuDeviceRegisterAsyncNotification) X(cuDeviceUnregisterAsyncNotification) \
    /* maps of images for convolutions */ \
    X(cuTensorMapEncodeIm2col) \
    /* core dumps */ \
    X(cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute) \
    X(cuCoredumpSetAttributeGlobal) \
    /* others */ \
    X(cuCtxSetFlags) X(cuLibraryGetUnifiedFunction) \
    X(cuMemRetainAllocationHandle) \
    X(cuPointerSetAttribute)

/* clang-format on */

/* CUDA_ERROR_NOT_SUPPORTED has the runtime's number. */
UNSUPPORTED_MAP(WPI_UNSUPPORTED_CALL)

#define ROW(name) {#name, (void (*)(void))(name)},

static const wpi_named_call rows[] = {UNSUPPORTED_MAP(ROW)};

const wpi_named_call *wpi_unsupported_calls(size_t *count) {
    *count = sizeof rows / sizeof *rows;
    return rows;
}
