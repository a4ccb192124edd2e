/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of devices, their settings, and access of one to another's memory.
 *
 * Properties that a device does not have (texture extents, say) are those of a GPU of its compute
 * capability, because programs size things by them.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cudart/cudart.h"
#include "cudart/driver/driver.h"
#include "cudart/graph/graph.h"
#include "device/device.h"

#define PCI_BUS_ID_BYTES sizeof "0000:00:00.0"

#define DEVICE_FLAGS                                                                               \
    ((unsigned)(cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax |           \
                cudaDeviceSyncMemops))

static cudaError_t check_device(int device) {
    wp_device *opened;
    return wpi_enter_device(device, &opened);
}

/* ---- the current device ---- */

WP_API cudaError_t cudaGetDeviceCount(int *count) {
    if (count == NULL) return wpi_note(cudaErrorInvalidValue);
    wp_device *device;
    *count = 0;
    WPI_TRY(wpi_enter_any(&device));
    *count = (int)wpi_device_count();
    return cudaSuccess;
}

WP_API cudaError_t cudaSetDevice(int device) {
    wp_device *opened;
    if (wpi_in_callback()) return wpi_note(cudaErrorNotPermitted);
    WPI_TRY(wpi_enter_device(device, &opened));
    wpi_device_set_current((uint32_t)device);
    wpi_context_follow((uint32_t)device);
    return wpi_enter(&opened);
}

WP_API cudaError_t cudaInitDevice(int device, unsigned int deviceFlags, unsigned int flags) {
    if ((flags & ~(unsigned)cudaInitDeviceFlagsAreValid) != 0)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(cudaSetDevice(device));
    return flags != 0 ? cudaSetDeviceFlags(deviceFlags) : cudaSuccess;
}

WP_API cudaError_t cudaGetDevice(int *device) {
    wp_device *opened;
    WPI_TRY(wpi_enter_any(&opened));
    if (device == NULL) return wpi_note(cudaErrorInvalidValue);
    *device = (int)wpi_device_current();
    return cudaSuccess;
}

WP_API cudaError_t cudaSetValidDevices(int *device_arr, int len) {
    if (len < 0 || (device_arr == NULL && len > 0)) return wpi_note(cudaErrorInvalidValue);
    for (int i = 0; i < len; i++)
        WPI_TRY(check_device(device_arr[i]));
    return cudaSuccess;
}

/* The first one that has what is asked for: fields that are 0 do not matter. */
WP_API cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop) {
    wp_device *opened;
    if (device == NULL || prop == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter_any(&opened));
    *device = (int)wpi_device_current();
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        const wp_device_info *info = wp_device_get_info(wpi_device_at(d));
        const int asked = prop->major * 10 + prop->minor;
        if ((int)(info->compute_major * 10 + info->compute_minor) < asked ||
            info->memory_bytes < prop->totalGlobalMem)
            continue;
        *device = (int)d;
        break;
    }
    return cudaSuccess;
}

/* Devices that are on no such bus have their number as the bus. */
static void format_bus_id(const wp_device *device, char out[32]) {
    const char *id = wp_device_get_info(device)->pci_id;
    if (id[0] != '\0')
        (void)snprintf(out, 32, "%s", id);
    else
        (void)snprintf(out, 32, "0000:%02x:00.0", (unsigned)device->number);
}

static bool parse_bus_id(const char *text, unsigned id[4]) {
    if (sscanf(text, "%x:%x:%x.%x", &id[0], &id[1], &id[2], &id[3]) == 4) return true;
    id[0] = 0;
    return sscanf(text, "%x:%x.%x", &id[1], &id[2], &id[3]) == 3;
}

WP_API cudaError_t cudaDeviceGetPCIBusId(char *pciBusId, int len, int device) {
    wp_device *opened;
    char id[32];
    WPI_TRY(wpi_enter_device(device, &opened));
    if (pciBusId == NULL || len < (int)PCI_BUS_ID_BYTES) return wpi_note(cudaErrorInvalidValue);
    format_bus_id(opened, id);
    (void)snprintf(pciBusId, (size_t)len, "%s", id);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *pciBusId) {
    unsigned asked[4], own[4];
    wp_device *opened;
    if (device == NULL || pciBusId == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter_any(&opened));
    if (!parse_bus_id(pciBusId, asked)) return wpi_note(cudaErrorInvalidValue);
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        char id[32];
        format_bus_id(wpi_device_at(d), id);
        if (!parse_bus_id(id, own) || memcmp(asked, own, sizeof own) != 0) continue;
        *device = (int)d;
        return cudaSuccess;
    }
    return wpi_note(cudaErrorInvalidDevice);
}

/* ---- versions ---- */

WP_API cudaError_t cudaDriverGetVersion(int *driverVersion) {
    if (driverVersion == NULL) return wpi_note(cudaErrorInvalidValue);
    *driverVersion = CUDART_VERSION;
    wp_device *device = wpi_device_if_open();
    const uint32_t version = device != NULL ? wp_device_get_info(device)->driver_version : 0;
    if (version != 0) *driverVersion = (int)version;
    return cudaSuccess;
}

WP_API cudaError_t cudaRuntimeGetVersion(int *runtimeVersion) {
    if (runtimeVersion == NULL) return wpi_note(cudaErrorInvalidValue);
    *runtimeVersion = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- properties ---- */

static int to_int(uint64_t value) {
    return value < INT_MAX ? (int)value : INT_MAX;
}

static void fill_properties(const wp_device *device, struct cudaDeviceProp *p) {
    const wp_device_info *info = wp_device_get_info(device);
    *p = (struct cudaDeviceProp){
        .totalGlobalMem = info->memory_bytes,
        .sharedMemPerBlock = info->shared_bytes_per_block,
        .regsPerBlock = (int)info->registers_per_block,
        .warpSize = WP_WARP_LANES,
        .memPitch = INT_MAX,
        .maxThreadsPerBlock = (int)info->threads_per_block_max,
        .maxThreadsDim = {(int)info->threads_per_block_max, (int)info->threads_per_block_max, 64},
        .maxGridSize = {INT_MAX, 65535, 65535},
        .clockRate = to_int(info->clock_hz / 1000),
        .totalConstMem = info->constant_bytes,
        .major = (int)info->compute_major,
        .minor = (int)info->compute_minor,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .deviceOverlap = 1,
        .multiProcessorCount = (int)info->sm_count,
        .canMapHostMemory = 1,
        .computeMode = cudaComputeModeDefault,
        .maxTexture1D = 131072,
        .maxTexture1DLinear = 268435456,
        .maxTexture2D = {131072, 65536},
        .maxTexture2DLinear = {131072, 65000, 2097120},
        .maxTexture3D = {16384, 16384, 16384},
        .maxTexture3DAlt = {16384, 16384, 16384},
        .surfaceAlignment = 512,
        .concurrentKernels = 1,
        .asyncEngineCount = 2,
        .unifiedAddressing = 1,
        .memoryClockRate = to_int(info->memory_clock_hz / 1000),
        .memoryBusWidth = (int)info->memory_bus_bits,
        .l2CacheSize = to_int(info->l2_bytes),
        .maxThreadsPerMultiProcessor = (int)info->threads_per_sm_max,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .sharedMemPerMultiprocessor = info->shared_bytes_per_sm,
        .regsPerMultiprocessor = (int)info->registers_per_sm,
        .managedMemory = 1,
        .singleToDoublePrecisionPerfRatio = 2,
        .concurrentManagedAccess = 1,
        .computePreemptionSupported = 1,
        .canUseHostPointerForRegisteredMem = 1,
        .cooperativeLaunch = 1,
        .clusterLaunch = info->cluster_blocks_max != 0,
        .sharedMemPerBlockOptin = info->shared_bytes_per_block_optin,
        .reservedSharedMemPerBlock = info->shared_reserved_bytes,
        .maxBlocksPerMultiProcessor = (int)info->blocks_per_sm_max,
        .hostRegisterSupported = 1,
        .memoryPoolsSupported = 1,
        .ipcEventSupported = device->ops->range_reserve != NULL,
        .hostRegisterReadOnlySupported = 1,
        .pciBusID = (int)device->number,
    };
    memcpy(p->name, info->name, sizeof info->name);
    /* Recognisable and the same in every run. */
    static const char uuid[] = "warpage-device-";
    memcpy(p->uuid.bytes, uuid, sizeof uuid - 1);
    p->uuid.bytes[sizeof uuid - 1] = "0123456789abcdef"[device->number];
    if (info->host_pointers_are_device_pointers) {
        p->integrated = 1;
        p->pageableMemoryAccess = 1;
        p->pageableMemoryAccessUsesHostPageTables = 1;
        p->directManagedMemAccessFromHost = 1;
        p->hostNativeAtomicSupported = 1;
    }
}

/* Properties that the device may have; others stay. */
static void ask_device(wp_device *device, struct cudaDeviceProp *p) {
    const struct {
        enum cudaDeviceAttr attribute;
        int *property;
    } rows[] = {
        {cudaDevAttrIntegrated, &p->integrated},
        {cudaDevAttrCanMapHostMemory, &p->canMapHostMemory},
        {cudaDevAttrComputeMode, &p->computeMode},
        {cudaDevAttrKernelExecTimeout, &p->kernelExecTimeoutEnabled},
        {cudaDevAttrEccEnabled, &p->ECCEnabled},
        {cudaDevAttrPciBusId, &p->pciBusID},
        {cudaDevAttrPciDeviceId, &p->pciDeviceID},
        {cudaDevAttrPciDomainId, &p->pciDomainID},
        {cudaDevAttrTccDriver, &p->tccDriver},
        {cudaDevAttrAsyncEngineCount, &p->asyncEngineCount},
        {cudaDevAttrMaxTexture1DLinearWidth, &p->maxTexture1DLinear},
        {cudaDevAttrManagedMemory, &p->managedMemory},
        {cudaDevAttrConcurrentManagedAccess, &p->concurrentManagedAccess},
        {cudaDevAttrPageableMemoryAccess, &p->pageableMemoryAccess},
        {cudaDevAttrPageableMemoryAccessUsesHostPageTables,
         &p->pageableMemoryAccessUsesHostPageTables},
        {cudaDevAttrDirectManagedMemAccessFromHost, &p->directManagedMemAccessFromHost},
        {cudaDevAttrHostNativeAtomicSupported, &p->hostNativeAtomicSupported},
        {cudaDevAttrComputePreemptionSupported, &p->computePreemptionSupported},
        {cudaDevAttrCanUseHostPointerForRegisteredMem, &p->canUseHostPointerForRegisteredMem},
        {cudaDevAttrCooperativeLaunch, &p->cooperativeLaunch},
        {cudaDevAttrSingleToDoublePrecisionPerfRatio, &p->singleToDoublePrecisionPerfRatio},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int value;
        if (wpi_device_attribute(device, (int)rows[i].attribute, &value, NULL) == WP_STATUS_OK)
            *rows[i].property = value;
    }
}

static cudaError_t read_properties(struct cudaDeviceProp *prop, int device, wp_device **opened) {
    WPI_TRY(wpi_enter_any(opened));
    if (prop == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter_device(device, opened));
    fill_properties(*opened, prop);
    ask_device(*opened, prop);
    return cudaSuccess;
}

WP_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device) {
    wp_device *opened;
    WPI_TRY(read_properties(prop, device, &opened));
    wpi_device_note_query(opened, "cudaGetDeviceProperties", WPI_INFO_ALL);
    return cudaSuccess;
}

/* The name in objects compiled with NVIDIA's headers of CUDA 12. */
WP_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device);
WP_API cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *prop, int device) {
    return cudaGetDeviceProperties(prop, device);
}

/* Attributes that are properties under another name. */
#define PROPERTY_MAP(X)                                                                            \
    X(MaxThreadsPerBlock, p.maxThreadsPerBlock)                                                    \
    X(MaxBlockDimX, p.maxThreadsDim[0])                                                            \
    X(MaxBlockDimY, p.maxThreadsDim[1])                                                            \
    X(MaxBlockDimZ, p.maxThreadsDim[2])                                                            \
    X(MaxGridDimX, p.maxGridSize[0])                                                               \
    X(MaxGridDimY, p.maxGridSize[1])                                                               \
    X(MaxGridDimZ, p.maxGridSize[2])                                                               \
    X(MaxSharedMemoryPerBlock, p.sharedMemPerBlock)                                                \
    X(TotalConstantMemory, p.totalConstMem)                                                        \
    X(WarpSize, p.warpSize)                                                                        \
    X(MaxPitch, p.memPitch)                                                                        \
    X(MaxRegistersPerBlock, p.regsPerBlock)                                                        \
    X(ClockRate, p.clockRate)                                                                      \
    X(TextureAlignment, p.textureAlignment)                                                        \
    X(GpuOverlap, p.deviceOverlap)                                                                 \
    X(MultiProcessorCount, p.multiProcessorCount)                                                  \
    X(KernelExecTimeout, p.kernelExecTimeoutEnabled)                                               \
    X(Integrated, p.integrated)                                                                    \
    X(CanMapHostMemory, p.canMapHostMemory)                                                        \
    X(ComputeMode, p.computeMode)                                                                  \
    X(MaxTexture1DWidth, p.maxTexture1D)                                                           \
    X(MaxTexture2DWidth, p.maxTexture2D[0])                                                        \
    X(MaxTexture2DHeight, p.maxTexture2D[1])                                                       \
    X(MaxTexture3DWidth, p.maxTexture3D[0])                                                        \
    X(MaxTexture3DHeight, p.maxTexture3D[1])                                                       \
    X(MaxTexture3DDepth, p.maxTexture3D[2])                                                        \
    X(MaxTexture2DLayeredWidth, p.maxTexture2DLayered[0])                                          \
    X(MaxTexture2DLayeredHeight, p.maxTexture2DLayered[1])                                         \
    X(MaxTexture2DLayeredLayers, p.maxTexture2DLayered[2])                                         \
    X(SurfaceAlignment, p.surfaceAlignment)                                                        \
    X(ConcurrentKernels, p.concurrentKernels)                                                      \
    X(EccEnabled, p.ECCEnabled)                                                                    \
    X(PciBusId, p.pciBusID)                                                                        \
    X(PciDeviceId, p.pciDeviceID)                                                                  \
    X(TccDriver, p.tccDriver)                                                                      \
    X(MemoryClockRate, p.memoryClockRate)                                                          \
    X(GlobalMemoryBusWidth, p.memoryBusWidth)                                                      \
    X(L2CacheSize, p.l2CacheSize)                                                                  \
    X(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)                                  \
    X(AsyncEngineCount, p.asyncEngineCount)                                                        \
    X(UnifiedAddressing, p.unifiedAddressing)                                                      \
    X(MaxTexture1DLayeredWidth, p.maxTexture1DLayered[0])                                          \
    X(MaxTexture1DLayeredLayers, p.maxTexture1DLayered[1])                                         \
    X(MaxTexture2DGatherWidth, p.maxTexture2DGather[0])                                            \
    X(MaxTexture2DGatherHeight, p.maxTexture2DGather[1])                                           \
    X(MaxTexture3DWidthAlt, p.maxTexture3DAlt[0])                                                  \
    X(MaxTexture3DHeightAlt, p.maxTexture3DAlt[1])                                                 \
    X(MaxTexture3DDepthAlt, p.maxTexture3DAlt[2])                                                  \
    X(PciDomainId, p.pciDomainID)                                                                  \
    X(TexturePitchAlignment, p.texturePitchAlignment)                                              \
    X(MaxTextureCubemapWidth, p.maxTextureCubemap)                                                 \
    X(MaxTextureCubemapLayeredWidth, p.maxTextureCubemapLayered[0])                                \
    X(MaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1])                               \
    X(MaxSurface1DWidth, p.maxSurface1D)                                                           \
    X(MaxSurface2DWidth, p.maxSurface2D[0])                                                        \
    X(MaxSurface2DHeight, p.maxSurface2D[1])                                                       \
    X(MaxSurface3DWidth, p.maxSurface3D[0])                                                        \
    X(MaxSurface3DHeight, p.maxSurface3D[1])                                                       \
    X(MaxSurface3DDepth, p.maxSurface3D[2])                                                        \
    X(MaxSurface1DLayeredWidth, p.maxSurface1DLayered[0])                                          \
    X(MaxSurface1DLayeredLayers, p.maxSurface1DLayered[1])                                         \
    X(MaxSurface2DLayeredWidth, p.maxSurface2DLayered[0])                                          \
    X(MaxSurface2DLayeredHeight, p.maxSurface2DLayered[1])                                         \
    X(MaxSurface2DLayeredLayers, p.maxSurface2DLayered[2])                                         \
    X(MaxSurfaceCubemapWidth, p.maxSurfaceCubemap)                                                 \
    X(MaxSurfaceCubemapLayeredWidth, p.maxSurfaceCubemapLayered[0])                                \
    X(MaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1])                               \
    X(MaxTexture1DLinearWidth, p.maxTexture1DLinear)                                               \
    X(MaxTexture2DLinearWidth, p.maxTexture2DLinear[0])                                            \
    X(MaxTexture2DLinearHeight, p.maxTexture2DLinear[1])                                           \
    X(MaxTexture2DLinearPitch, p.maxTexture2DLinear[2])                                            \
    X(MaxTexture2DMipmappedWidth, p.maxTexture2DMipmap[0])                                         \
    X(MaxTexture2DMipmappedHeight, p.maxTexture2DMipmap[1])                                        \
    X(ComputeCapabilityMajor, p.major)                                                             \
    X(ComputeCapabilityMinor, p.minor)                                                             \
    X(MaxTexture1DMipmappedWidth, p.maxTexture1DMipmap)                                            \
    X(StreamPrioritiesSupported, p.streamPrioritiesSupported)                                      \
    X(GlobalL1CacheSupported, p.globalL1CacheSupported)                                            \
    X(LocalL1CacheSupported, p.localL1CacheSupported)                                              \
    X(MaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor)                              \
    X(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)                                      \
    X(ManagedMemory, p.managedMemory)                                                              \
    X(IsMultiGpuBoard, p.isMultiGpuBoard)                                                          \
    X(MultiGpuBoardGroupID, p.multiGpuBoardGroupID)                                                \
    X(HostNativeAtomicSupported, p.hostNativeAtomicSupported)                                      \
    X(SingleToDoublePrecisionPerfRatio, p.singleToDoublePrecisionPerfRatio)                        \
    X(PageableMemoryAccess, p.pageableMemoryAccess)                                                \
    X(ConcurrentManagedAccess, p.concurrentManagedAccess)                                          \
    X(ComputePreemptionSupported, p.computePreemptionSupported)                                    \
    X(CanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem)                      \
    X(Reserved92, 1) /* streams wait for words: 92 to 94, and 122, 123 in CUDA's other form */     \
    X(Reserved93, 1)                                                                               \
    X(Reserved94, 1)                                                                               \
    X(Reserved122, 1)                                                                              \
    X(Reserved123, 1)                                                                              \
    X(CooperativeLaunch, p.cooperativeLaunch)                                                      \
    X(CooperativeMultiDeviceLaunch, p.cooperativeMultiDeviceLaunch)                                \
    X(MaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin)                                      \
    X(CanFlushRemoteWrites, 0)                                                                     \
    X(HostRegisterSupported, p.hostRegisterSupported)                                              \
    X(PageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables)            \
    X(DirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost)                            \
    X(MaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)                                    \
    X(MaxPersistingL2CacheSize, p.persistingL2CacheMaxSize)                                        \
    X(MaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize)                                      \
    X(ReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock)                                   \
    X(SparseCudaArraySupported, p.sparseCudaArraySupported)                                        \
    X(HostRegisterReadOnlySupported, p.hostRegisterReadOnlySupported)                              \
    X(TimelineSemaphoreInteropSupported, p.timelineSemaphoreInteropSupported)                      \
    X(MemoryPoolsSupported, p.memoryPoolsSupported)                                                \
    X(GPUDirectRDMASupported, p.gpuDirectRDMASupported)                                            \
    X(GPUDirectRDMAFlushWritesOptions, p.gpuDirectRDMAFlushWritesOptions)                          \
    X(GPUDirectRDMAWritesOrdering, p.gpuDirectRDMAWritesOrdering)                                  \
    X(MemoryPoolSupportedHandleTypes, p.memoryPoolSupportedHandleTypes)                            \
    X(ClusterLaunch, p.clusterLaunch)                                                              \
    X(DeferredMappingCudaArraySupported, p.deferredMappingCudaArraySupported)                      \
    X(IpcEventSupport, p.ipcEventSupported)                                                        \
    X(MemSyncDomainCount, 1)                                                                       \
    X(NumaConfig, 0)                                                                               \
    X(NumaId, -1)                                                                                  \
    X(MpsEnabled, 0)                                                                               \
    X(HostNumaId, 0)

/* Whether the attribute is the device's; others describe this runtime. */
static bool is_devices(enum cudaDeviceAttr attr) {
    switch (attr) {
    case cudaDevAttrCooperativeMultiDeviceLaunch:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrIpcEventSupport: return false;
    default: return true;
    }
}

/* The device's properties that an attribute depends on; the rest is the same on every simulated
 * one. */
static uint32_t fields_of(enum cudaDeviceAttr attr) {
    switch (attr) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return WPI_INFO_SET(THREADS_PER_BLOCK);
    case cudaDevAttrMaxSharedMemoryPerBlock: return WPI_INFO_SET(SHARED_PER_BLOCK);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return WPI_INFO_SET(SHARED_OPTIN);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return WPI_INFO_SET(SHARED_PER_SM);
    case cudaDevAttrTotalConstantMemory: return WPI_INFO_SET(CONSTANT);
    case cudaDevAttrMaxRegistersPerBlock: return WPI_INFO_SET(REGISTERS_PER_BLOCK);
    case cudaDevAttrMaxRegistersPerMultiprocessor: return WPI_INFO_SET(REGISTERS_PER_SM);
    case cudaDevAttrClockRate: return WPI_INFO_SET(CLOCK);
    case cudaDevAttrMemoryClockRate: return WPI_INFO_SET(MEMORY_CLOCK);
    case cudaDevAttrGlobalMemoryBusWidth: return WPI_INFO_SET(BUS_WIDTH);
    case cudaDevAttrMultiProcessorCount: return WPI_INFO_SET(SM_COUNT);
    case cudaDevAttrL2CacheSize: return WPI_INFO_SET(L2);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return WPI_INFO_SET(THREADS_PER_SM);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return WPI_INFO_SET(BLOCKS_PER_SM);
    case cudaDevAttrComputeCapabilityMajor: return WPI_INFO_SET(COMPUTE_MAJOR);
    case cudaDevAttrComputeCapabilityMinor: return WPI_INFO_SET(COMPUTE_MINOR);
    default: return 0;
    }
}

WP_API cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device) {
    if (value == NULL) return wpi_note(cudaErrorInvalidValue);
    struct cudaDeviceProp p;
    wp_device *opened;
    WPI_TRY(read_properties(&p, device, &opened));
    if (is_devices(attr) && wpi_device_attribute(opened, (int)attr, value, NULL) == WP_STATUS_OK)
        return cudaSuccess;
    wpi_device_note_query(opened, "cudaDeviceGetAttribute", fields_of(attr));
    switch (attr) {
#define ATTRIBUTE_CASE(name, expression)                                                           \
    case cudaDevAttr##name: *value = (int)(expression); break;
        PROPERTY_MAP(ATTRIBUTE_CASE)
#undef ATTRIBUTE_CASE
    default: return wpi_note(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t *maxWidthInElements,
                                                        const struct cudaChannelFormatDesc *fmtDesc,
                                                        int device) {
    if (maxWidthInElements == NULL || fmtDesc == NULL) return wpi_note(cudaErrorInvalidValue);
    struct cudaDeviceProp p;
    wp_device *opened;
    WPI_TRY(read_properties(&p, device, &opened));
    *maxWidthInElements = (size_t)p.maxTexture1DLinear;
    return cudaSuccess;
}

/* ---- waits and resets ---- */

WP_API cudaError_t cudaDeviceSynchronize(void) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (wpi_capture_is_any()) return wpi_note(cudaErrorStreamCaptureUnsupported);
    wp_error err = {0};
    return wpi_result(wp_device_wait(device, &err), &err);
}

static void forget_peers(wp_device *device);

WP_API cudaError_t cudaDeviceReset(void) {
    if (wpi_in_callback()) return wpi_note(cudaErrorNotPermitted);
    wp_device *device;
    WPI_TRY(wpi_enter_any(&device));
    wp_error err = {0};
    /* Work under way ends first; its errors are dropped. */
    const wp_status ignored = wp_device_wait(device, NULL);
    (void)ignored;
    if (wpi_device_count() > 1) (void)wpi_wait_all(); /* others may use its memory */
    wpi_streaming_forget();
    wpi_cache_collect();
    wpi_context_forget(device);
    forget_peers(device);
    WPI_TRY(wpi_result(wp_device_reset(device, &err), &err));
    (void)cudaGetLastError();
    return cudaSuccess;
}

/* ---- settings ---- */

WP_API cudaError_t cudaSetDeviceFlags(unsigned int flags) {
    const unsigned schedule = flags & cudaDeviceScheduleMask;
    if ((flags & ~DEVICE_FLAGS) != 0 || (schedule & (schedule - 1)) != 0)
        return wpi_note(cudaErrorInvalidValue);
    wpi_context_set_flags(flags);
    return cudaSuccess;
}

WP_API cudaError_t cudaGetDeviceFlags(unsigned int *flags) {
    if (flags == NULL) return wpi_note(cudaErrorInvalidValue);
    *flags = wpi_context_flags() | cudaDeviceMapHost;
    return cudaSuccess;
}

/* Limits of features that Warpage's devices lack: stored, since programs read them back. */
static atomic_size_t fetch_granularity = 64;

static atomic_size_t *remembered_limit(enum cudaLimit limit) {
    return limit == cudaLimitMaxL2FetchGranularity ? &fetch_granularity : NULL;
}

static bool device_limit(enum cudaLimit limit, wpi_limit *out) {
    switch (limit) {
    case cudaLimitStackSize: *out = WPI_LIMIT_STACK; return true;
    case cudaLimitMallocHeapSize: *out = WPI_LIMIT_HEAP; return true;
    case cudaLimitPrintfFifoSize: *out = WPI_LIMIT_PRINTF_FIFO; return true;
    case cudaLimitDevRuntimeSyncDepth: *out = WPI_LIMIT_SYNC_DEPTH; return true;
    case cudaLimitDevRuntimePendingLaunchCount: *out = WPI_LIMIT_PENDING_LAUNCHES; return true;
    default: return false;
    }
}

static cudaError_t limit_result(wp_status status, const wp_error *err) {
    if (status == WP_STATUS_UNSUPPORTED) return wpi_note(cudaErrorUnsupportedLimit);
    return wpi_result(status, err);
}

WP_API cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    wpi_limit ours;
    wp_error err = {0};
    if (device_limit(limit, &ours))
        return limit_result(wpi_device_set_limit(device, ours, value, &err), &err);
    atomic_size_t *remembered = remembered_limit(limit);
    if (remembered == NULL) return wpi_note(cudaErrorUnsupportedLimit);
    atomic_store(remembered, value);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetLimit(size_t *pValue, enum cudaLimit limit) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (pValue == NULL) return wpi_note(cudaErrorInvalidValue);
    wpi_limit ours;
    wp_error err = {0};
    uint64_t value = 0;
    if (device_limit(limit, &ours)) {
        WPI_TRY(limit_result(wpi_device_get_limit(device, ours, &value, &err), &err));
        *pValue = value;
        return cudaSuccess;
    }
    atomic_size_t *remembered = remembered_limit(limit);
    if (remembered == NULL) return wpi_note(cudaErrorUnsupportedLimit);
    *pValue = atomic_load(remembered);
    return cudaSuccess;
}

/* Preferences between L1 and shared memory, and of bank widths: hints, as in CUDA. */
static atomic_int cache_config = cudaFuncCachePreferNone;
static atomic_int bank_config = cudaSharedMemBankSizeFourByte;

WP_API cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache cacheConfig) {
    if ((unsigned)cacheConfig > cudaFuncCachePreferEqual) return wpi_note(cudaErrorInvalidValue);
    atomic_store(&cache_config, (int)cacheConfig);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *pCacheConfig) {
    if (pCacheConfig == NULL) return wpi_note(cudaErrorInvalidValue);
    *pCacheConfig = (enum cudaFuncCache)atomic_load(&cache_config);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config) {
    if ((unsigned)config > cudaSharedMemBankSizeEightByte) return wpi_note(cudaErrorInvalidValue);
    atomic_store(&bank_config, config == cudaSharedMemBankSizeDefault
                                   ? (int)cudaSharedMemBankSizeFourByte
                                   : (int)config);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *pConfig) {
    if (pConfig == NULL) return wpi_note(cudaErrorInvalidValue);
    *pConfig = (enum cudaSharedMemConfig)atomic_load(&bank_config);
    return cudaSuccess;
}

WP_API cudaError_t cudaCtxResetPersistingL2Cache(void) {
    wp_device *device;
    return wpi_enter(&device); /* no line can persist: the size of that part is 0 */
}

/* ---- peers ---- */

/* Bit p of entry d: kernels of device d may use the memory of device p. */
static atomic_uint peers_of[WP_DEVICES_MAX];

static cudaError_t find_pair(int device, int peer, wp_device **first, wp_device **second) {
    WPI_TRY(wpi_enter_device(device, first));
    return wpi_enter_device(peer, second);
}

WP_API cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice) {
    wp_device *first, *second;
    if (canAccessPeer == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_pair(device, peerDevice, &first, &second));
    *canAccessPeer = first != second && wpi_device_can_access_peer(first, second);
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice,
                                             int dstDevice) {
    wp_device *first, *second;
    if (value == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_pair(srcDevice, dstDevice, &first, &second));
    if (first == second) return wpi_note(cudaErrorInvalidDevice);
    switch (attr) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; break;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = wpi_device_can_access_peer(first, second);
        break;
    default: return wpi_note(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

WP_API cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags) {
    wp_device *device, *peer;
    if (flags != 0) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_enter_device(peerDevice, &peer));
    if (peer == device) return wpi_note(cudaErrorInvalidDevice); /* none is its own peer */
    if (!wpi_device_can_access_peer(device, peer)) return wpi_note(cudaErrorPeerAccessUnsupported);
    const unsigned bit = 1u << peer->number;
    if ((atomic_fetch_or(&peers_of[device->number], bit) & bit) != 0)
        return wpi_note(cudaErrorPeerAccessAlreadyEnabled);
    wp_error err = {0};
    return wpi_result(wpi_device_set_peer_access(device, peer, true, &err), &err);
}

WP_API cudaError_t cudaDeviceDisablePeerAccess(int peerDevice) {
    wp_device *device, *peer;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_enter_device(peerDevice, &peer));
    const unsigned bit = 1u << peer->number;
    if ((atomic_fetch_and(&peers_of[device->number], ~bit) & bit) == 0)
        return wpi_note(cudaErrorPeerAccessNotEnabled);
    wp_error err = {0};
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err)); /* kernels may be using it */
    return wpi_result(wpi_device_set_peer_access(device, peer, false, &err), &err);
}

/* After a reset no device has access to it, nor it to others. */
static void forget_peers(wp_device *device) {
    const unsigned bit = 1u << device->number;
    for (uint32_t d = 0; d < wpi_device_count(); d++) {
        wp_device *other = wpi_device_at(d);
        const unsigned mask = other == device ? ~0u : bit;
        const unsigned had = atomic_fetch_and(&peers_of[d], ~mask) & mask;
        for (uint32_t p = 0; p < wpi_device_count(); p++) {
            if ((had >> p & 1) == 0) continue;
            const wp_status ignored =
                wpi_device_set_peer_access(other, wpi_device_at(p), false, NULL);
            (void)ignored;
        }
    }
}

/* ---- names from before CUDA 4 ---- */

WP_API cudaError_t cudaThreadExit(void) {
    return cudaDeviceReset();
}

WP_API cudaError_t cudaThreadSynchronize(void) {
    return cudaDeviceSynchronize();
}

WP_API cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) {
    return cudaDeviceSetLimit(limit, value);
}

WP_API cudaError_t cudaThreadGetLimit(size_t *pValue, enum cudaLimit limit) {
    return cudaDeviceGetLimit(pValue, limit);
}

WP_API cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache cacheConfig) {
    return cudaDeviceSetCacheConfig(cacheConfig);
}

WP_API cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *pCacheConfig) {
    return cudaDeviceGetCacheConfig(pCacheConfig);
}

/* Only devices without double precision needed these: the value stays as it is. */
WP_API cudaError_t cudaSetDoubleForDevice(double *d) {
    return wpi_note(d != NULL ? cudaSuccess : cudaErrorInvalidValue);
}

WP_API cudaError_t cudaSetDoubleForHost(double *d) {
    return wpi_note(d != NULL ? cudaSuccess : cudaErrorInvalidValue);
}
