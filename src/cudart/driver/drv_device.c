/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the device: attributes have the runtime's numbers. */
#include <stdio.h>
#include <string.h>

#include "cudart/driver/driver.h"
#include "device/device.h"

#define ATTRIBUTE_LAST 147 /* CUDA 13.0 */

static CUresult get_properties(struct cudaDeviceProp *p, CUdevice dev) {
    WPI_DRIVER_IN(false, cudaGetDeviceProperties(p, dev));
}

WP_API CUresult cuDeviceGetCount(int *count) {
    WPI_DRIVER_IN(false, cudaGetDeviceCount(count));
}

WP_API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal < 0 || (uint32_t)ordinal >= wpi_device_count()) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceGetName(char *name, int len, CUdevice dev) {
    struct cudaDeviceProp p;
    if (name == NULL || len <= 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(get_properties(&p, dev));
    (void)snprintf(name, (size_t)len, "%s", p.name);
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev) {
    struct cudaDeviceProp p;
    if (uuid == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(get_properties(&p, dev));
    *uuid = p.uuid;
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice dev) {
    return cuDeviceGetUuid(uuid, dev);
}

WP_API CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev) {
    struct cudaDeviceProp p;
    if (bytes == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(get_properties(&p, dev));
    *bytes = p.totalGlobalMem;
    return CUDA_SUCCESS;
}

static bool has_virtual_memory(void) {
    const wp_device *device = wpi_device_if_open();
    return device != NULL && device->ops->range_reserve != NULL;
}

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice dev) {
    WPI_DRIVER_IN(false, cudaDeviceGetAttribute(value, (enum cudaDeviceAttr)attribute, dev));
}

/* Attributes that the runtime does not have, up to those of CUDA 13: features, which the device
 * lacks. A start-up that asks for one must not fail. */
static bool is_newer(CUdevice_attribute attribute) {
    return attribute > 0 && attribute <= ATTRIBUTE_LAST;
}

WP_API CUresult cuDeviceGetAttribute(int *pi, CUdevice_attribute attrib, CUdevice dev) {
    if (pi != NULL && dev >= 0 && (uint32_t)dev < wpi_device_count() &&
        (attrib == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
         attrib == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
        WPI_DRIVER_TRY(wpi_driver_check(false));
        *pi = has_virtual_memory() ? 1 : 0;
        return CUDA_SUCCESS;
    }
    const CUresult result = get_attribute(pi, attrib, dev);
    if (result != CUDA_ERROR_INVALID_VALUE || pi == NULL || !is_newer(attrib)) return result;
    *pi = 0;
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceGetProperties(CUdevprop *prop, CUdevice dev) {
    struct cudaDeviceProp p;
    if (prop == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(get_properties(&p, dev));
    *prop = (CUdevprop){.maxThreadsPerBlock = p.maxThreadsPerBlock,
                        .sharedMemPerBlock = (int)p.sharedMemPerBlock,
                        .totalConstantMemory = (int)p.totalConstMem,
                        .SIMDWidth = p.warpSize,
                        .memPitch = (int)p.memPitch,
                        .regsPerBlock = p.regsPerBlock,
                        .clockRate = p.clockRate,
                        .textureAlign = (int)p.textureAlignment};
    memcpy(prop->maxThreadsDim, p.maxThreadsDim, sizeof prop->maxThreadsDim);
    memcpy(prop->maxGridSize, p.maxGridSize, sizeof prop->maxGridSize);
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice dev) {
    struct cudaDeviceProp p;
    if (major == NULL || minor == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(get_properties(&p, dev));
    *major = p.major;
    *minor = p.minor;
    return CUDA_SUCCESS;
}

WP_API CUresult cuDeviceGetByPCIBusId(CUdevice *dev, const char *pciBusId) {
    WPI_DRIVER_IN(false, cudaDeviceGetByPCIBusId(dev, pciBusId));
}

WP_API CUresult cuDeviceGetPCIBusId(char *pciBusId, int len, CUdevice dev) {
    WPI_DRIVER_IN(false, cudaDeviceGetPCIBusId(pciBusId, len, dev));
}

WP_API CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attrib,
                                        CUdevice srcDevice, CUdevice dstDevice) {
    WPI_DRIVER_IN(false, cudaDeviceGetP2PAttribute(value, (enum cudaDeviceP2PAttr)attrib, srcDevice,
                                                   dstDevice));
}

WP_API CUresult cuDeviceCanAccessPeer(int *canAccessPeer, CUdevice dev, CUdevice peerDev) {
    WPI_DRIVER_IN(false, cudaDeviceCanAccessPeer(canAccessPeer, dev, peerDev));
}
