/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions by name: cuGetProcAddress and cudaGetDriverEntryPoint. A plain name gives the form that
 * cuda.h declares under it.
 */
#include <string.h>

#include "base/log.h"
#include "cudart/driver/driver.h"
#include "cudart/driver/named_call.h"

/* clang-format off */
#define NAME_MAP(X) \
    X(cuInit) X(cuDriverGetVersion) X(cuGetErrorString) X(cuGetErrorName) X(cuGetProcAddress) \
    X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetUuid) \
    X(cuDeviceGetUuid_v2) X(cuDeviceTotalMem) X(cuDeviceGetAttribute) X(cuDeviceGetProperties) \
    X(cuDeviceComputeCapability) X(cuDeviceGetByPCIBusId) X(cuDeviceGetPCIBusId) \
    X(cuDeviceCanAccessPeer) X(cuDeviceGetP2PAttribute) X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) \
    X(cuDevicePrimaryCtxSetFlags) X(cuDevicePrimaryCtxGetState) X(cuDevicePrimaryCtxReset) \
    X(cuCtxCreate) X(cuCtxCreate_v3) X(cuCtxCreate_v4) X(cuCtxDestroy) X(cuCtxPushCurrent) X(cuCtxPopCurrent) X(cuCtxSetCurrent) \
    X(cuCtxGetCurrent) X(cuCtxGetDevice) X(cuCtxGetFlags) X(cuCtxGetId) X(cuCtxGetApiVersion) \
    X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuCtxGetLimit) X(cuCtxGetCacheConfig) \
    X(cuCtxSetCacheConfig) X(cuCtxGetSharedMemConfig) X(cuCtxSetSharedMemConfig) \
    X(cuCtxGetStreamPriorityRange) X(cuCtxEnablePeerAccess) X(cuCtxDisablePeerAccess) \
    X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleLoadFatBinary) \
    X(cuModuleUnload) X(cuModuleGetLoadingMode) X(cuModuleGetFunction) X(cuModuleGetGlobal) \
    X(cuLinkCreate) X(cuLinkAddData) X(cuLinkAddFile) X(cuLinkComplete) X(cuLinkDestroy) \
    X(cuLibraryLoadData) X(cuLibraryLoadFromFile) X(cuLibraryUnload) X(cuLibraryGetKernel) \
    X(cuLibraryGetModule) X(cuLibraryGetGlobal) X(cuLibraryGetManaged) X(cuKernelGetFunction) \
    X(cuKernelGetName) X(cuKernelGetParamInfo) X(cuKernelGetAttribute) X(cuKernelSetAttribute) X(cuKernelSetCacheConfig) \
    X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuFuncSetCacheConfig) \
    X(cuFuncSetSharedMemConfig) X(cuFuncGetModule) X(cuFuncGetName) X(cuFuncGetParamInfo) \
    X(cuLaunchKernel) X(cuLaunchKernelEx) X(cuLaunchCooperativeKernel) X(cuLaunchHostFunc) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) X(cuOccupancyMaxPotentialBlockSize) \
    X(cuOccupancyMaxPotentialBlockSizeWithFlags) X(cuOccupancyAvailableDynamicSMemPerBlock) \
    X(cuOccupancyMaxActiveClusters) X(cuOccupancyMaxPotentialClusterSize) \
    X(cuMemGetInfo) X(cuMemAlloc) X(cuMemAllocPitch) X(cuMemFree) X(cuMemAllocAsync) \
    X(cuMemFreeAsync) X(cuMemGetAddressRange) X(cuMemAllocHost) X(cuMemFreeHost) \
    X(cuMemHostAlloc) X(cuMemHostGetDevicePointer) X(cuMemHostGetFlags) X(cuMemHostRegister) \
    X(cuMemHostUnregister) X(cuMemAllocManaged) X(cuMemAdvise) X(cuMemPrefetchAsync) \
    X(cuMemAdvise_v2) X(cuMemPrefetchAsync_v2) \
    X(cuPointerGetAttribute) X(cuPointerGetAttributes) X(cuMemcpy) X(cuMemcpyAsync) \
    X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) \
    X(cuMemcpyDtoDAsync) X(cuMemcpyPeer) X(cuMemcpyPeerAsync) X(cuMemcpy2D) \
    X(cuMemcpy2DUnaligned) X(cuMemcpy2DAsync) X(cuMemcpy3D) X(cuMemcpy3DAsync) X(cuArrayCreate) \
    X(cuArray3DCreate) X(cuArrayGetDescriptor) X(cuArray3DGetDescriptor) X(cuArrayDestroy) \
    X(cuMemcpyHtoA) X(cuMemcpyAtoH) X(cuMemcpyDtoA) X(cuMemcpyAtoD) X(cuMemcpyAtoA) \
    X(cuMemcpyHtoAAsync) X(cuMemcpyAtoHAsync) X(cuTexObjectCreate) X(cuTexObjectDestroy) \
    X(cuTexObjectGetResourceDesc) X(cuSurfObjectCreate) X(cuSurfObjectDestroy) \
    X(cuSurfObjectGetResourceDesc) X(cuMemsetD8) \
    X(cuMemsetD16) X(cuMemsetD32) X(cuMemsetD8Async) X(cuMemsetD16Async) X(cuMemsetD32Async) \
    X(cuMemsetD2D8) X(cuMemsetD2D16) X(cuMemsetD2D32) X(cuMemGetAllocationGranularity) \
    X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) \
    X(cuMemUnmap) X(cuMemSetAccess) X(cuMemGetAccess) X(cuMemGetAllocationPropertiesFromHandle) \
    X(cuDeviceGetDefaultMemPool) X(cuDeviceGetMemPool) X(cuDeviceSetMemPool) \
    X(cuMemPoolCreate) X(cuMemPoolDestroy) X(cuMemPoolTrimTo) X(cuMemPoolSetAttribute) \
    X(cuMemPoolGetAttribute) X(cuMemPoolSetAccess) X(cuMemPoolGetAccess) \
    X(cuMemAllocFromPoolAsync) \
    X(cuMemRangeGetAttribute) X(cuMemRangeGetAttributes) X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync) \
    X(cuMemsetD2D8Async) X(cuMemsetD2D16Async) X(cuMemsetD2D32Async) X(cuStreamCopyAttributes) \
    X(cuStreamGetAttribute) X(cuStreamSetAttribute) X(cuCtxResetPersistingL2Cache) X(cuCtxAttach) \
    X(cuCtxDetach) X(cuStreamBeginCapture) X(cuStreamBeginCaptureToGraph) X(cuStreamEndCapture) \
    X(cuStreamIsCapturing) X(cuStreamGetCaptureInfo) X(cuStreamGetCaptureInfo_v3) \
    X(cuStreamUpdateCaptureDependencies) X(cuThreadExchangeStreamCaptureMode) X(cuGraphCreate) \
    X(cuGraphDestroy) X(cuGraphClone) X(cuGraphDebugDotPrint) X(cuGraphGetNodes) \
    X(cuGraphGetRootNodes) X(cuGraphGetEdges) X(cuGraphGetEdges_v2) X(cuGraphAddDependencies) \
    X(cuGraphAddDependencies_v2) X(cuGraphRemoveDependencies) X(cuGraphNodeGetType) \
    X(cuGraphNodeGetDependencies) X(cuGraphNodeGetDependencies_v2) \
    X(cuGraphNodeGetDependentNodes) X(cuGraphNodeFindInClone) X(cuGraphDestroyNode) \
    X(cuGraphConditionalHandleCreate) X(cuDeviceGraphMemTrim) X(cuDeviceGetGraphMemAttribute) \
    X(cuDeviceSetGraphMemAttribute) X(cuGraphAddNode) X(cuGraphAddNode_v2) \
    X(cuGraphNodeSetParams) X(cuGraphAddKernelNode) X(cuGraphKernelNodeGetParams) \
    X(cuGraphKernelNodeSetParams) X(cuGraphKernelNodeGetAttribute) \
    X(cuGraphKernelNodeSetAttribute) X(cuGraphKernelNodeCopyAttributes) X(cuGraphAddMemcpyNode) \
    X(cuGraphMemcpyNodeGetParams) X(cuGraphMemcpyNodeSetParams) X(cuGraphAddMemsetNode) \
    X(cuGraphMemsetNodeGetParams) X(cuGraphMemsetNodeSetParams) X(cuGraphAddHostNode) \
    X(cuGraphHostNodeGetParams) X(cuGraphHostNodeSetParams) X(cuGraphAddChildGraphNode) \
    X(cuGraphChildGraphNodeGetGraph) X(cuGraphAddEmptyNode) X(cuGraphAddEventRecordNode) \
    X(cuGraphEventRecordNodeGetEvent) X(cuGraphEventRecordNodeSetEvent) \
    X(cuGraphAddEventWaitNode) X(cuGraphEventWaitNodeGetEvent) X(cuGraphEventWaitNodeSetEvent) \
    X(cuGraphAddMemAllocNode) X(cuGraphMemAllocNodeGetParams) X(cuGraphAddMemFreeNode) \
    X(cuGraphMemFreeNodeGetParams) X(cuGraphInstantiateWithFlags) X(cuGraphInstantiateWithParams) \
    X(cuGraphExecDestroy) X(cuGraphExecGetFlags) X(cuGraphUpload) X(cuGraphLaunch) \
    X(cuGraphExecUpdate) X(cuGraphExecNodeSetParams) X(cuGraphExecKernelNodeSetParams) \
    X(cuGraphExecMemcpyNodeSetParams) X(cuGraphExecMemsetNodeSetParams) \
    X(cuGraphExecHostNodeSetParams) X(cuGraphExecChildGraphNodeSetParams) \
    X(cuGraphExecEventRecordNodeSetEvent) X(cuGraphExecEventWaitNodeSetEvent) \
    X(cuGraphNodeGetEnabled) X(cuGraphNodeSetEnabled) \
    X(cuTensorMapEncodeTiled) X(cuTensorMapReplaceAddress) \
    X(cuModuleGetTexRef) X(cuModuleGetSurfRef) X(cuTexRefCreate) X(cuTexRefDestroy) \
    X(cuTexRefSetArray) X(cuTexRefSetAddress) X(cuTexRefSetAddress2D) X(cuTexRefSetFormat) \
    X(cuTexRefSetAddressMode) X(cuTexRefSetFilterMode) X(cuTexRefSetFlags) \
    X(cuTexRefSetBorderColor) X(cuTexRefSetMaxAnisotropy) X(cuTexRefGetAddress) \
    X(cuTexRefGetArray) X(cuTexRefGetAddressMode) X(cuTexRefGetFilterMode) X(cuTexRefGetFormat) \
    X(cuTexRefGetFlags) X(cuTexRefGetBorderColor) X(cuTexRefGetMaxAnisotropy) \
    X(cuSurfRefSetArray) X(cuSurfRefGetArray) X(cuFuncSetBlockShape) X(cuFuncSetSharedSize) \
    X(cuParamSetSize) X(cuParamSeti) X(cuParamSetf) X(cuParamSetv) X(cuParamSetTexRef) \
    X(cuLaunch) X(cuLaunchGrid) X(cuLaunchGridAsync) \
    X(cuStreamCreate) X(cuStreamCreateWithPriority) X(cuStreamDestroy) X(cuStreamQuery) \
    X(cuStreamSynchronize) X(cuStreamWaitEvent) X(cuStreamWaitValue32) X(cuStreamWaitValue64) X(cuStreamWriteValue32) X(cuStreamWriteValue64) X(cuStreamBatchMemOp) X(cuStreamAddCallback) X(cuStreamAttachMemAsync) \
    X(cuStreamGetPriority) X(cuStreamGetFlags) X(cuStreamGetId) X(cuStreamGetCtx) \
    X(cuEventCreate) X(cuEventRecord) X(cuEventRecordWithFlags) X(cuEventQuery) \
    X(cuEventSynchronize) X(cuEventDestroy) X(cuEventElapsedTime) X(cuIpcGetEventHandle) \
    X(cuIpcOpenEventHandle) X(cuIpcGetMemHandle) X(cuIpcOpenMemHandle) X(cuIpcCloseMemHandle) \
    X(cuModuleGetFunctionCount) X(cuModuleEnumerateFunctions) X(cuLibraryGetKernelCount) \
    X(cuLibraryEnumerateKernels) X(cuKernelGetLibrary) X(cuFuncIsLoaded) X(cuFuncLoad) \
    X(cuMemExportToShareableHandle) X(cuMemImportFromShareableHandle) X(cuProfilerStart) \
    X(cuProfilerStop) X(cuProfilerInitialize)
/* clang-format on */

/* The name in the library: the macros of cuda.h have been applied. */
#define SYMBOL(name) #name
#define ROW(name) {SYMBOL(name), (void (*)(void))(name)},

static const wpi_named_call rows[] = {NAME_MAP(ROW)};

/* "cuMemAlloc" and "cuMemAlloc_v2" name the same function. */
static bool is_called(const char *symbol, const char *name) {
    const size_t length = strlen(name);
    return strncmp(symbol, name, length) == 0 &&
           (symbol[length] == '\0' || strcmp(symbol + length, "_v2") == 0);
}

static void *find_in(const wpi_named_call *calls, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (is_called(calls[i].name, name)) return (void *)(uintptr_t)calls[i].function;
    return NULL;
}

/* Unimplemented calls are found, too: programs look all of the driver up before they call it. */
static void *find(const char *name) {
    void *found = find_in(rows, sizeof rows / sizeof *rows, name);
    if (found != NULL) return found;
    size_t count;
    const wpi_named_call *unsupported = wpi_unsupported_calls(&count);
    return find_in(unsupported, count, name);
}

/* The first form of cuGetProcAddress (drv_old_names.c). */
static CUresult get_without_status(const char *symbol, void **pfn, int version, cuuint64_t flags) {
    return cuGetProcAddress(symbol, pfn, version, flags, NULL);
}

/* Functions whose parameters differ by version; the newest form of a name first. */
static const struct {
    const char *name;
    int version;
    const char *found;
} newer[] = {{"cuCtxCreate", 12050, "cuCtxCreate_v4"},
             {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
             {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
             {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"}};

/* Functions are not newer than the header, but for these. */
static void *find_of_version(const char *name, int version) {
    if (version < 12000 && strcmp(name, "cuGetProcAddress") == 0)
        return (void *)(uintptr_t)get_without_status;
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (version >= newer[i].version && strcmp(name, newer[i].name) == 0)
            return find(newer[i].found);
    return find(name);
}

WP_API CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *symbolStatus) {
    (void)flags;
    if (symbol == NULL || pfn == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (symbol[0] == '\0') /* as its start-up begins */
        wpi_log(WP_LOG_WARN, "cuda",
                "the program contains NVIDIA's own runtime, which needs NVIDIA's driver: start the "
                "program with warpage run, which replaces that runtime if the program has a symbol "
                "table, or link it with nvcc -cudart shared");
    *pfn = find_of_version(symbol, cudaVersion);
    if (symbolStatus != NULL)
        *symbolStatus =
            *pfn != NULL ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *pfn != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

WP_API cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol, void **funcPtr, unsigned int cudaVersion, unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *driverStatus) {
    if (symbol == NULL || funcPtr == NULL || flags > cudaEnablePerThreadDefaultStream)
        return wpi_note(cudaErrorInvalidValue);
    (void)cuInit(0); /* the runtime initialises the driver; the function reports a failure */
    *funcPtr = find_of_version(symbol, (int)cudaVersion);
    if (driverStatus != NULL)
        *driverStatus =
            *funcPtr != NULL ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    return *funcPtr != NULL || driverStatus != NULL ? cudaSuccess
                                                    : wpi_note(cudaErrorSymbolNotFound);
}

WP_API cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **funcPtr,
                                           unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *driverStatus) {
    return cudaGetDriverEntryPointByVersion(symbol, funcPtr, CUDART_VERSION, flags, driverStatus);
}

/* The key of a kernel's entry is its host function. */
WP_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr) {
    wp_device *device;
    wpi_function *f;
    if (functionPtr == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_function_find(device, symbolPtr, &f));
    *functionPtr = (cudaFunction_t)(uintptr_t)symbolPtr;
    return cudaSuccess;
}
