/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unimplemented calls of CUDA 12.3's driver API, so that programs which look up all of it (by
 * dlsym) start, and get an error where they call one. cuda.h does not declare them. To implement
 * a call, move it from here to the file of its subject. The comments are reasons, which
 * docs/guide/cuda-support.md repeats.
 */
#include "cudart/unsupported.h"

/* clang-format off */
#define UNSUPPORTED_MAP(X) \
    /* graphs and capture: the runtime API has most of it */ \
    X(cuDeviceGetGraphMemAttribute) X(cuDeviceGraphMemTrim) X(cuDeviceSetGraphMemAttribute) \
    X(cuGraphAddBatchMemOpNode) X(cuGraphAddChildGraphNode) X(cuGraphAddDependencies) \
    X(cuGraphAddEmptyNode) X(cuGraphAddEventRecordNode) X(cuGraphAddEventWaitNode) \
    X(cuGraphAddExternalSemaphoresSignalNode) X(cuGraphAddExternalSemaphoresWaitNode) \
    X(cuGraphAddHostNode) X(cuGraphAddMemAllocNode) X(cuGraphAddMemFreeNode) \
    X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphAddNode) \
    X(cuGraphBatchMemOpNodeGetParams) X(cuGraphBatchMemOpNodeSetParams) \
    X(cuGraphChildGraphNodeGetGraph) X(cuGraphClone) X(cuGraphCreate) X(cuGraphDebugDotPrint) \
    X(cuGraphDestroy) X(cuGraphDestroyNode) X(cuGraphEventRecordNodeGetEvent) \
    X(cuGraphEventRecordNodeSetEvent) X(cuGraphEventWaitNodeGetEvent) \
    X(cuGraphEventWaitNodeSetEvent) X(cuGraphExecBatchMemOpNodeSetParams) \
    X(cuGraphExecChildGraphNodeSetParams) X(cuGraphExecDestroy) \
    X(cuGraphExecEventRecordNodeSetEvent) X(cuGraphExecEventWaitNodeSetEvent) \
    X(cuGraphExecExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExecExternalSemaphoresWaitNodeSetParams) X(cuGraphExecGetFlags) \
    X(cuGraphExecHostNodeSetParams) X(cuGraphExecKernelNodeSetParams) \
    X(cuGraphExecMemcpyNodeSetParams) X(cuGraphExecMemsetNodeSetParams) \
    X(cuGraphExecNodeSetParams) X(cuGraphExecUpdate) \
    X(cuGraphExternalSemaphoresSignalNodeGetParams) \
    X(cuGraphExternalSemaphoresSignalNodeSetParams) \
    X(cuGraphExternalSemaphoresWaitNodeGetParams) X(cuGraphExternalSemaphoresWaitNodeSetParams) \
    X(cuGraphGetEdges) X(cuGraphGetNodes) X(cuGraphGetRootNodes) X(cuGraphHostNodeGetParams) \
    X(cuGraphHostNodeSetParams) X(cuGraphInstantiateWithParams) X(cuGraphInstantiate_v2) \
    X(cuGraphKernelNodeCopyAttributes) X(cuGraphKernelNodeGetAttribute) \
    X(cuGraphKernelNodeGetParams) X(cuGraphKernelNodeSetParams) X(cuGraphLaunch) \
    X(cuGraphMemAllocNodeGetParams) X(cuGraphMemFreeNodeGetParams) X(cuGraphMemcpyNodeGetParams) \
    X(cuGraphMemcpyNodeSetParams) X(cuGraphMemsetNodeGetParams) X(cuGraphMemsetNodeSetParams) \
    X(cuGraphNodeFindInClone) X(cuGraphNodeGetDependencies) X(cuGraphNodeGetDependentNodes) \
    X(cuGraphNodeGetEnabled) X(cuGraphNodeGetType) X(cuGraphNodeSetEnabled) \
    X(cuGraphNodeSetParams) X(cuGraphReleaseUserObject) X(cuGraphRemoveDependencies) \
    X(cuGraphRetainUserObject) X(cuGraphUpload) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) \
    X(cuStreamGetCaptureInfo_v2) X(cuStreamUpdateCaptureDependencies_v2) \
    X(cuThreadExchangeStreamCaptureMode) X(cuUserObjectCreate) X(cuUserObjectRelease) \
    X(cuUserObjectRetain) \
    /* there are no mipmapped, sparse or planar arrays, and no other views of an array */ \
    X(cuArrayGetMemoryRequirements) X(cuArrayGetPlane) X(cuArrayGetSparseProperties) \
    X(cuDeviceGetTexture1DLinearMaxWidth) X(cuExternalMemoryGetMappedMipmappedArray) \
    X(cuGraphicsResourceGetMappedMipmappedArray) X(cuMemMapArrayAsync) X(cuMipmappedArrayCreate) \
    X(cuMipmappedArrayDestroy) X(cuMipmappedArrayGetLevel) \
    X(cuMipmappedArrayGetMemoryRequirements) X(cuMipmappedArrayGetSparseProperties) \
    X(cuTexObjectGetResourceViewDesc) X(cuTexObjectGetTextureDesc) X(cuTexRefGetMipmappedArray) \
    X(cuTexRefSetMipmappedArray) \
    /* texture and surface references of modules */ \
    X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuParamSetTexRef) X(cuSurfRefGetArray) \
    X(cuSurfRefSetArray) X(cuTexRefCreate) X(cuTexRefDestroy) X(cuTexRefGetAddressMode) \
    X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor) \
    X(cuTexRefGetFilterMode) X(cuTexRefGetFlags) X(cuTexRefGetFormat) \
    X(cuTexRefGetMaxAnisotropy) X(cuTexRefGetMipmapFilterMode) X(cuTexRefGetMipmapLevelBias) \
    X(cuTexRefGetMipmapLevelClamp) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode) \
    X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor) \
    X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) X(cuTexRefSetFormat) \
    X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias) \
    X(cuTexRefSetMipmapLevelClamp) \
    /* memory and events are not shared with other processes or graphics interfaces */ \
    X(cuDestroyExternalMemory) X(cuDestroyExternalSemaphore) X(cuExternalMemoryGetMappedBuffer) \
    X(cuFlushGPUDirectRDMAWrites) X(cuGLCtxCreate_v2) X(cuGLGetDevices_v2) X(cuGLInit) \
    X(cuGraphicsGLRegisterBuffer) X(cuGraphicsGLRegisterImage) X(cuGraphicsMapResources) \
    X(cuGraphicsResourceGetMappedPointer_v2) X(cuGraphicsResourceSetMapFlags_v2) \
    X(cuGraphicsSubResourceGetMappedArray) X(cuGraphicsUnmapResources) \
    X(cuGraphicsUnregisterResource) X(cuImportExternalMemory) X(cuImportExternalSemaphore) \
    X(cuIpcCloseMemHandle) X(cuIpcGetEventHandle) X(cuIpcGetMemHandle) X(cuIpcOpenEventHandle) \
    X(cuIpcOpenMemHandle_v2) X(cuMemExportToShareableHandle) X(cuMemGetHandleForAddressRange) \
    X(cuMemImportFromShareableHandle) X(cuMemPoolExportPointer) \
    X(cuMemPoolExportToShareableHandle) X(cuMemPoolImportFromShareableHandle) \
    X(cuMemPoolImportPointer) X(cuSignalExternalSemaphoresAsync) \
    X(cuWaitExternalSemaphoresAsync) \
    /* devices are undivided; no launch and no multicast reaches several */ \
    X(cuCtxGetExecAffinity) X(cuDeviceGetExecAffinitySupport) X(cuDeviceGetLuid) \
    X(cuLaunchCooperativeKernelMultiDevice) X(cuMemcpy3DPeer) \
    X(cuMemcpy3DPeerAsync) X(cuMulticastAddDevice) X(cuMulticastBindAddr) X(cuMulticastBindMem) \
    X(cuMulticastCreate) X(cuMulticastGetGranularity) X(cuMulticastUnbind) \
    /* streams do not wait for words of memory */ \
    X(cuStreamBatchMemOp_v2) X(cuStreamWaitValue32_v2) X(cuStreamWaitValue64_v2) \
    X(cuStreamWriteValue32_v2) X(cuStreamWriteValue64_v2) \
    /* maps of images for convolutions */ \
    X(cuTensorMapEncodeIm2col) \
    /* calls of CUDA 3 */ \
    X(cuCtxAttach) X(cuCtxDetach) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize) X(cuLaunch) \
    X(cuLaunchGrid) X(cuLaunchGridAsync) X(cuParamSetSize) X(cuParamSetf) X(cuParamSeti) \
    X(cuParamSetv) \
    /* core dumps */ \
    X(cuCoredumpGetAttribute) X(cuCoredumpGetAttributeGlobal) X(cuCoredumpSetAttribute) \
    X(cuCoredumpSetAttributeGlobal) \
    /* others */ \
    X(cuCtxResetPersistingL2Cache) X(cuCtxSetFlags) X(cuFuncIsLoaded) X(cuFuncLoad) \
    X(cuKernelGetLibrary) X(cuLibraryGetUnifiedFunction) X(cuMemRangeGetAttribute) \
    X(cuMemRangeGetAttributes) X(cuMemRetainAllocationHandle) X(cuMemsetD2D16Async) \
    X(cuMemsetD2D32Async) X(cuMemsetD2D8Async) X(cuPointerSetAttribute) \
    X(cuStreamCopyAttributes) X(cuStreamGetAttribute) X(cuStreamIsCapturing) \
    X(cuStreamSetAttribute)
/* clang-format on */

/* CUDA_ERROR_NOT_SUPPORTED has the runtime's number. */
UNSUPPORTED_MAP(WPI_UNSUPPORTED_CALL)
