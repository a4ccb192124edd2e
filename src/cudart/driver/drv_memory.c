/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and copies. Addresses are the runtime's pointers. */
#include <string.h>

#include "base/alloc.h"
#include "cudart/driver/driver.h"

static void **pointer_to(CUdeviceptr *address) {
    return (void **)(void *)address; /* both have 64 bits */
}

/* ---- allocation ---- */

/* Either may be NULL. */
WP_API CUresult cuMemGetInfo(size_t *free, size_t *total) {
    size_t unused;
    WPI_DRIVER(cudaMemGetInfo(free != NULL ? free : &unused, total != NULL ? total : &unused));
}

WP_API CUresult cuMemAlloc(CUdeviceptr *dptr, size_t bytesize) {
    if (bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(cudaMalloc(pointer_to(dptr), bytesize));
}

/* ---- shared with other processes ---- */

WP_API CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr) {
    WPI_DRIVER(cudaIpcGetMemHandle((void *)pHandle, wpi_at(dptr)));
}

WP_API CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags) {
    cudaIpcMemHandle_t same;
    memcpy(&same, &handle, sizeof same);
    WPI_DRIVER(cudaIpcOpenMemHandle(pointer_to(pdptr), same, Flags));
}

WP_API CUresult cuIpcCloseMemHandle(CUdeviceptr dptr) {
    WPI_DRIVER(cudaIpcCloseMemHandle(wpi_at(dptr)));
}

WP_API CUresult cuMemAllocPitch(CUdeviceptr *dptr, size_t *pPitch, size_t WidthInBytes,
                                size_t Height, unsigned int ElementSizeBytes) {
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
        return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER(cudaMallocPitch(pointer_to(dptr), pPitch, WidthInBytes, Height));
}

WP_API CUresult cuMemFree(CUdeviceptr dptr) {
    WPI_DRIVER(cudaFree(wpi_at(dptr)));
}

/* A stream has its context, so none need be current. */
WP_API CUresult cuMemAllocAsync(CUdeviceptr *dptr, size_t bytesize, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaMallocAsync(pointer_to(dptr), bytesize, hStream));
}

WP_API CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaFreeAsync(wpi_at(dptr), hStream));
}

WP_API CUresult cuMemAllocHost(void **pp, size_t bytesize) {
    WPI_DRIVER(cudaMallocHost(pp, bytesize));
}

WP_API CUresult cuMemFreeHost(void *p) {
    WPI_DRIVER(cudaFreeHost(p));
}

WP_API CUresult cuMemHostAlloc(void **pp, size_t bytesize, unsigned int Flags) {
    WPI_DRIVER(cudaHostAlloc(pp, bytesize, Flags));
}

WP_API CUresult cuMemHostGetDevicePointer(CUdeviceptr *pdptr, void *p, unsigned int Flags) {
    WPI_DRIVER(cudaHostGetDevicePointer(pointer_to(pdptr), p, Flags));
}

WP_API CUresult cuMemHostGetFlags(unsigned int *pFlags, void *p) {
    WPI_DRIVER(cudaHostGetFlags(pFlags, p));
}

WP_API CUresult cuMemHostRegister(void *p, size_t bytesize, unsigned int Flags) {
    WPI_DRIVER(cudaHostRegister(p, bytesize, Flags));
}

WP_API CUresult cuMemHostUnregister(void *p) {
    WPI_DRIVER(cudaHostUnregister(p));
}

WP_API CUresult cuMemAllocManaged(CUdeviceptr *dptr, size_t bytesize, unsigned int flags) {
    WPI_DRIVER(cudaMallocManaged(pointer_to(dptr), bytesize, flags));
}

WP_API CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                            CUdevice device) {
    WPI_DRIVER(cudaMemAdvise(wpi_at(devPtr), count, (enum cudaMemoryAdvise)advice, device));
}

WP_API CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice,
                                   CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaMemPrefetchAsync(wpi_at(devPtr), count, dstDevice, hStream));
}

static struct cudaMemLocation at_location(CUmemLocation location) {
    return (struct cudaMemLocation){.type = (enum cudaMemLocationType)location.type,
                                    .id = location.id};
}

WP_API CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice,
                               CUmemLocation location) {
    WPI_DRIVER(cudaMemAdvise_v2(wpi_at(devPtr), count, (enum cudaMemoryAdvise)advice,
                                at_location(location)));
}

WP_API CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location,
                                      unsigned int flags, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaMemPrefetchAsync_v2(wpi_at(devPtr), count,
                                                           at_location(location), flags, hStream));
}

/* ---- queries ---- */

static cudaError_t find(CUdeviceptr address, wp_allocation *out, wp_device **owner) {
    WPI_TRY(wpi_enter_any(owner));
    return wpi_allocation_find(wpi_at(address), out, owner) ? cudaSuccess : cudaErrorInvalidValue;
}

static CUresult find_allocation(CUdeviceptr address, wp_allocation *out, wp_device **owner) {
    WPI_DRIVER(find(address, out, owner));
}

WP_API CUresult cuMemGetAddressRange(CUdeviceptr *pbase, size_t *psize, CUdeviceptr dptr) {
    wp_allocation a;
    wp_device *owner;
    const CUresult result = find_allocation(dptr, &a, &owner);
    if (result == CUDA_ERROR_INVALID_VALUE) return CUDA_ERROR_NOT_FOUND;
    WPI_DRIVER_TRY(result);
    if (pbase != NULL) *pbase = (CUdeviceptr)(uintptr_t)a.base;
    if (psize != NULL) *psize = a.size_bytes;
    return CUDA_SUCCESS;
}

static bool is_host(const wp_allocation *a) {
    return a->kind == WP_MEMORY_PINNED || a->kind == WP_MEMORY_REGISTERED;
}

#define SET(type, value) *(type *)data = (type)(value)

WP_API CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    wp_allocation a;
    if (data == NULL) return CUDA_ERROR_INVALID_VALUE;
    wp_device *owner;
    WPI_DRIVER_TRY(find_allocation(ptr, &a, &owner));
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: SET(CUcontext, wpi_context_on(owner)); break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        SET(CUmemorytype, is_host(&a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
        break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: SET(CUdeviceptr, ptr); break;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!is_host(&a) && a.kind != WP_MEMORY_MANAGED) return CUDA_ERROR_INVALID_VALUE;
        SET(void *, wpi_at(ptr));
        break;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: SET(unsigned, 0); break;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: SET(unsigned long long, (uintptr_t)a.base); break;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: SET(unsigned, a.kind == WP_MEMORY_MANAGED); break;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: SET(int, owner->number); break;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE: SET(int, 0); break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: SET(CUdeviceptr, (uintptr_t)a.base); break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: SET(size_t, a.size_bytes); break;
    case CU_POINTER_ATTRIBUTE_MAPPED: SET(int, 1); break;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: SET(unsigned long long, 0); break;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE: SET(int, 0); break;
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: SET(int, CU_MEM_ACCESS_FLAGS_PROT_READWRITE); break;
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: SET(CUmemoryPool, wpi_pool_of(a.base)); break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Attributes that do not fit the pointer are left as they are, except those for unknown memory. */
WP_API CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                       void **data, CUdeviceptr ptr) {
    if (attributes == NULL || data == NULL) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(wpi_driver_check(true));
    for (unsigned i = 0; i < numAttributes; i++)
        (void)cuPointerGetAttribute(data[i], attributes[i], ptr);
    return CUDA_SUCCESS;
}

WP_API CUresult cuMemRangeGetAttribute(void *data, size_t dataSize, CUmem_range_attribute attribute,
                                       CUdeviceptr devPtr, size_t count) {
    WPI_DRIVER(cudaMemRangeGetAttribute(data, dataSize, (enum cudaMemRangeAttribute)attribute,
                                        wpi_at(devPtr), count));
}

WP_API CUresult cuMemRangeGetAttributes(void **data, size_t *dataSizes,
                                        CUmem_range_attribute *attributes, size_t numAttributes,
                                        CUdeviceptr devPtr, size_t count) {
    WPI_DRIVER(cudaMemRangeGetAttributes(data, dataSizes, (void *)attributes, numAttributes,
                                         wpi_at(devPtr), count));
}

/* ---- copies ---- */

WP_API CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount) {
    WPI_DRIVER(cudaMemcpy(wpi_at(dst), wpi_at(src), ByteCount, cudaMemcpyDefault));
}

WP_API CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t ByteCount,
                              CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaMemcpyAsync(wpi_at(dst), wpi_at(src), ByteCount, cudaMemcpyDefault, hStream));
}

WP_API CUresult cuMemcpyHtoD(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount) {
    WPI_DRIVER(cudaMemcpy(wpi_at(dstDevice), srcHost, ByteCount, cudaMemcpyHostToDevice));
}

WP_API CUresult cuMemcpyDtoH(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount) {
    WPI_DRIVER(cudaMemcpy(dstHost, wpi_at(srcDevice), ByteCount, cudaMemcpyDeviceToHost));
}

WP_API CUresult cuMemcpyDtoD(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount) {
    WPI_DRIVER(
        cudaMemcpy(wpi_at(dstDevice), wpi_at(srcDevice), ByteCount, cudaMemcpyDeviceToDevice));
}

WP_API CUresult cuMemcpyHtoDAsync(CUdeviceptr dstDevice, const void *srcHost, size_t ByteCount,
                                  CUstream hStream) {
    WPI_DRIVER(
        cudaMemcpyAsync(wpi_at(dstDevice), srcHost, ByteCount, cudaMemcpyHostToDevice, hStream));
}

WP_API CUresult cuMemcpyDtoHAsync(void *dstHost, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream) {
    WPI_DRIVER(
        cudaMemcpyAsync(dstHost, wpi_at(srcDevice), ByteCount, cudaMemcpyDeviceToHost, hStream));
}

WP_API CUresult cuMemcpyDtoDAsync(CUdeviceptr dstDevice, CUdeviceptr srcDevice, size_t ByteCount,
                                  CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, cudaMemcpyAsync(wpi_at(dstDevice), wpi_at(srcDevice), ByteCount,
                                                   cudaMemcpyDeviceToDevice, hStream));
}

/* One address space: contexts do not matter. */
WP_API CUresult cuMemcpyPeer(CUdeviceptr dstDevice, CUcontext dstContext, CUdeviceptr srcDevice,
                             CUcontext srcContext, size_t ByteCount) {
    (void)dstContext, (void)srcContext;
    return cuMemcpyDtoD(dstDevice, srcDevice, ByteCount);
}

WP_API CUresult cuMemcpyPeerAsync(CUdeviceptr dstDevice, CUcontext dstContext,
                                  CUdeviceptr srcDevice, CUcontext srcContext, size_t ByteCount,
                                  CUstream hStream) {
    (void)dstContext, (void)srcContext;
    return cuMemcpyDtoDAsync(dstDevice, srcDevice, ByteCount, hStream);
}

/* ---- copies of boxes ---- */

/* One side, as CUDA_MEMCPY2D and 3D describe it. */
typedef struct side {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t x_bytes, y, z, pitch_bytes, height;
} side;

static bool place(const side *s, struct cudaMemcpy3DParms *p, bool is_source) {
    struct cudaPitchedPtr at = {.pitch = s->pitch_bytes, .ysize = s->height};
    struct cudaPos pos = {s->x_bytes, s->y, s->z};
    cudaArray_t array = NULL;
    switch (s->type) {
    case CU_MEMORYTYPE_HOST: at.ptr = (void *)(uintptr_t)s->host; break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: at.ptr = wpi_at(s->device); break;
    case CU_MEMORYTYPE_ARRAY:
        array = (cudaArray_t)(void *)s->array;
        if (array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, array) ||
            s->x_bytes % array->element_bytes != 0)
            return false;
        pos.x = s->x_bytes / array->element_bytes;
        at = (struct cudaPitchedPtr){0};
        break;
    default: return false;
    }
    if (array == NULL && at.ptr == NULL) return false;
    if (is_source) {
        p->srcArray = array;
        p->srcPtr = at;
        p->srcPos = pos;
    } else {
        p->dstArray = array;
        p->dstPtr = at;
        p->dstPos = pos;
    }
    return true;
}

static cudaError_t make_params(const side *src, const side *dst, struct cudaExtent extent,
                               struct cudaMemcpy3DParms *out) {
    struct cudaMemcpy3DParms p = {.extent = extent, .kind = cudaMemcpyDefault};
    if (!place(src, &p, true) || !place(dst, &p, false)) return cudaErrorInvalidValue;
    if (p.srcArray == NULL && p.srcPtr.pitch == 0) p.srcPtr.pitch = extent.width + src->x_bytes;
    if (p.dstArray == NULL && p.dstPtr.pitch == 0) p.dstPtr.pitch = extent.width + dst->x_bytes;
    cudaArray_const_t array = p.srcArray != NULL ? p.srcArray : p.dstArray;
    if (array != NULL) { /* the runtime counts the width in elements then */
        if (extent.width % array->element_bytes != 0) return cudaErrorInvalidValue;
        p.extent.width = extent.width / array->element_bytes;
    }
    *out = p;
    return cudaSuccess;
}

static cudaError_t copy_params(const struct cudaMemcpy3DParms *p, CUstream stream, bool is_async) {
    return is_async ? cudaMemcpy3DAsync(p, stream) : cudaMemcpy3D(p);
}

static cudaError_t copy_2d(const CUDA_MEMCPY2D *c, CUstream stream, bool is_async) {
    if (c == NULL) return cudaErrorInvalidValue;
    const side src = {
        c->srcMemoryType,          c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes, c->srcY,
        .pitch_bytes = c->srcPitch};
    const side dst = {
        c->dstMemoryType,          c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes, c->dstY,
        .pitch_bytes = c->dstPitch};
    const struct cudaExtent extent = {c->WidthInBytes, c->Height, 1};
    struct cudaMemcpy3DParms p;
    WPI_TRY(make_params(&src, &dst, extent, &p));
    return copy_params(&p, stream, is_async);
}

cudaError_t wpi_driver_copy(const CUDA_MEMCPY3D *c, struct cudaMemcpy3DParms *out) {
    if (c == NULL || c->srcLOD != 0 || c->dstLOD != 0) return cudaErrorInvalidValue;
    const side src = {c->srcMemoryType, c->srcHost, c->srcDevice, c->srcArray, c->srcXInBytes,
                      c->srcY,          c->srcZ,    c->srcPitch,  c->srcHeight};
    const side dst = {c->dstMemoryType, c->dstHost, c->dstDevice, c->dstArray, c->dstXInBytes,
                      c->dstY,          c->dstZ,    c->dstPitch,  c->dstHeight};
    const struct cudaExtent extent = {c->WidthInBytes, c->Height, c->Depth};
    return make_params(&src, &dst, extent, out);
}

static CUmemorytype type_at(const void *pointer) {
    struct cudaPointerAttributes a;
    if (cudaPointerGetAttributes(&a, pointer) != cudaSuccess) return CU_MEMORYTYPE_HOST;
    return a.type == cudaMemoryTypeDevice    ? CU_MEMORYTYPE_DEVICE
           : a.type == cudaMemoryTypeManaged ? CU_MEMORYTYPE_UNIFIED
                                             : CU_MEMORYTYPE_HOST;
}

void wpi_driver_copy_of(const struct cudaMemcpy3DParms *p, CUDA_MEMCPY3D *out) {
    cudaArray_const_t array = p->srcArray != NULL ? p->srcArray : p->dstArray;
    const size_t unit = array != NULL ? array->element_bytes : 1;
    *out = (CUDA_MEMCPY3D){
        .srcXInBytes = p->srcPos.x * (p->srcArray != NULL ? unit : 1),
        .srcY = p->srcPos.y,
        .srcZ = p->srcPos.z,
        .srcMemoryType = p->srcArray != NULL ? CU_MEMORYTYPE_ARRAY : type_at(p->srcPtr.ptr),
        .srcHost = p->srcPtr.ptr,
        .srcDevice = (CUdeviceptr)(uintptr_t)p->srcPtr.ptr,
        .srcArray = (CUarray)(void *)p->srcArray,
        .srcPitch = p->srcPtr.pitch,
        .srcHeight = p->srcPtr.ysize,
        .dstXInBytes = p->dstPos.x * (p->dstArray != NULL ? unit : 1),
        .dstY = p->dstPos.y,
        .dstZ = p->dstPos.z,
        .dstMemoryType = p->dstArray != NULL ? CU_MEMORYTYPE_ARRAY : type_at(p->dstPtr.ptr),
        .dstHost = p->dstPtr.ptr,
        .dstDevice = (CUdeviceptr)(uintptr_t)p->dstPtr.ptr,
        .dstArray = (CUarray)(void *)p->dstArray,
        .dstPitch = p->dstPtr.pitch,
        .dstHeight = p->dstPtr.ysize,
        .WidthInBytes = p->extent.width * unit,
        .Height = p->extent.height,
        .Depth = p->extent.depth};
}

static cudaError_t copy_3d(const CUDA_MEMCPY3D *c, CUstream stream, bool is_async) {
    struct cudaMemcpy3DParms p;
    WPI_TRY(wpi_driver_copy(c, &p));
    return copy_params(&p, stream, is_async);
}

/* One address space: contexts do not matter. */
static cudaError_t copy_3d_peer(const CUDA_MEMCPY3D_PEER *c, CUstream stream, bool is_async) {
    if (c == NULL) return cudaErrorInvalidValue;
    const CUDA_MEMCPY3D local = {.srcXInBytes = c->srcXInBytes,
                                 .srcY = c->srcY,
                                 .srcZ = c->srcZ,
                                 .srcLOD = c->srcLOD,
                                 .srcMemoryType = c->srcMemoryType,
                                 .srcHost = c->srcHost,
                                 .srcDevice = c->srcDevice,
                                 .srcArray = c->srcArray,
                                 .srcPitch = c->srcPitch,
                                 .srcHeight = c->srcHeight,
                                 .dstXInBytes = c->dstXInBytes,
                                 .dstY = c->dstY,
                                 .dstZ = c->dstZ,
                                 .dstLOD = c->dstLOD,
                                 .dstMemoryType = c->dstMemoryType,
                                 .dstHost = c->dstHost,
                                 .dstDevice = c->dstDevice,
                                 .dstArray = c->dstArray,
                                 .dstPitch = c->dstPitch,
                                 .dstHeight = c->dstHeight,
                                 .WidthInBytes = c->WidthInBytes,
                                 .Height = c->Height,
                                 .Depth = c->Depth};
    return copy_3d(&local, stream, is_async);
}

WP_API CUresult cuMemcpy2D(const CUDA_MEMCPY2D *pCopy) {
    WPI_DRIVER(copy_2d(pCopy, NULL, false));
}

WP_API CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *pCopy) {
    WPI_DRIVER(copy_2d(pCopy, NULL, false));
}

WP_API CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *pCopy, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, copy_2d(pCopy, hStream, true));
}

WP_API CUresult cuMemcpy3D(const CUDA_MEMCPY3D *pCopy) {
    WPI_DRIVER(copy_3d(pCopy, NULL, false));
}

WP_API CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, copy_3d(pCopy, hStream, true));
}

WP_API CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy) {
    WPI_DRIVER(copy_3d_peer(pCopy, NULL, false));
}

WP_API CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL, copy_3d_peer(pCopy, hStream, true));
}

/* ---- fills ---- */

static cudaError_t fill(CUdeviceptr at, size_t pitch, uint32_t value, uint32_t value_bytes,
                        size_t width, size_t height, CUstream stream, bool is_async) {
    size_t width_bytes;
    if (!wpi_mul_size(width, value_bytes, &width_bytes)) return cudaErrorInvalidValue;
    const wpi_box box = {.first = wpi_at(at), .pitch_bytes = pitch};
    return wpi_fill(stream, box, value, value_bytes, wpi_rows_of(width_bytes, height), is_async);
}

#define FILL(name, type, bits)                                                                     \
    WP_API CUresult cuMemsetD##bits##_v2(CUdeviceptr dstDevice, type value, size_t N) {            \
        WPI_DRIVER(fill(dstDevice, 0, value, sizeof(type), N, 1, NULL, false));                    \
    }                                                                                              \
    WP_API CUresult cuMemsetD##bits##Async(CUdeviceptr dstDevice, type value, size_t N,            \
                                           CUstream hStream) {                                     \
        WPI_DRIVER_IN(hStream == NULL,                                                             \
                      fill(dstDevice, 0, value, sizeof(type), N, 1, hStream, true));               \
    }                                                                                              \
    WP_API CUresult cuMemsetD2D##bits##_v2(CUdeviceptr dstDevice, size_t dstPitch, type value,     \
                                           size_t Width, size_t Height) {                          \
        WPI_DRIVER(fill(dstDevice, dstPitch, value, sizeof(type), Width, Height, NULL, false));    \
    }                                                                                              \
    WP_API CUresult cuMemsetD2D##bits##Async(CUdeviceptr dstDevice, size_t dstPitch, type value,   \
                                             size_t Width, size_t Height, CUstream hStream) {      \
        WPI_DRIVER_IN(hStream == NULL, fill(dstDevice, dstPitch, value, sizeof(type), Width,       \
                                            Height, hStream, true));                               \
    }

FILL(char, unsigned char, 8)
FILL(short, unsigned short, 16)
FILL(int, unsigned int, 32)
