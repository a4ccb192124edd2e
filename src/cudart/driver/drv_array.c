/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, textures and surfaces of the driver API: those of the runtime API, described otherwise.
 */
#include "cudart/driver/driver.h"

/* The calls take each other's handles: a CUarray is a cudaArray_t, objects have the same numbers.
 */
static cudaArray_t runtime_array(CUarray array) {
    return (cudaArray_t)(void *)array;
}

/* ---- formats ---- */

static const struct format_row {
    CUarray_format format;
    int bits;
    enum cudaChannelFormatKind kind;
} formats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 8, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT16, 16, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_UNSIGNED_INT32, 32, cudaChannelFormatKindUnsigned},
    {CU_AD_FORMAT_SIGNED_INT8, 8, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT16, 16, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_SIGNED_INT32, 32, cudaChannelFormatKindSigned},
    {CU_AD_FORMAT_HALF, 16, cudaChannelFormatKindFloat},
    {CU_AD_FORMAT_FLOAT, 32, cudaChannelFormatKindFloat},
};

static bool to_channels(CUarray_format format, unsigned count, struct cudaChannelFormatDesc *out) {
    if (count != 1 && count != 2 && count != 4) return false;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].format == format) {
            const int bits = formats[i].bits;
            *out = (struct cudaChannelFormatDesc){bits, count > 1 ? bits : 0, count > 2 ? bits : 0,
                                                  count > 2 ? bits : 0, formats[i].kind};
            return true;
        }
    return false;
}

static void from_channels(const struct cudaChannelFormatDesc *from, CUarray_format *format,
                          unsigned *count) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (formats[i].bits == from->x && formats[i].kind == from->f) *format = formats[i].format;
    *count = from->w != 0 ? 4 : from->y != 0 ? 2 : 1;
}

/* ---- arrays ---- */

static cudaError_t create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d) {
    struct cudaChannelFormatDesc format;
    cudaArray_t made = NULL;
    if (out == NULL || !to_channels(d->Format, d->NumChannels, &format))
        return cudaErrorInvalidValue;
    const cudaError_t error = cudaMalloc3DArray(
        &made, &format, (struct cudaExtent){d->Width, d->Height, d->Depth}, d->Flags);
    if (error == cudaSuccess) *out = (CUarray)(void *)made;
    return error;
}

WP_API CUresult cuArray3DCreate(CUarray *pHandle, const CUDA_ARRAY3D_DESCRIPTOR *pAllocateArray) {
    WPI_DRIVER(pAllocateArray == NULL ? cudaErrorInvalidValue
                                      : create_array(pHandle, pAllocateArray));
}

WP_API CUresult cuArrayCreate(CUarray *pHandle, const CUDA_ARRAY_DESCRIPTOR *pAllocateArray) {
    if (pAllocateArray == NULL) WPI_DRIVER(cudaErrorInvalidValue);
    const CUDA_ARRAY3D_DESCRIPTOR d = {.Width = pAllocateArray->Width,
                                       .Height = pAllocateArray->Height,
                                       .Format = pAllocateArray->Format,
                                       .NumChannels = pAllocateArray->NumChannels};
    WPI_DRIVER(create_array(pHandle, &d));
}

static cudaError_t describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *out) {
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent;
    unsigned flags;
    const cudaError_t error = cudaArrayGetInfo(&format, &extent, &flags, runtime_array(array));
    if (error != cudaSuccess) return error;
    *out = (CUDA_ARRAY3D_DESCRIPTOR){
        .Width = extent.width, .Height = extent.height, .Depth = extent.depth, .Flags = flags};
    from_channels(&format, &out->Format, &out->NumChannels);
    return cudaSuccess;
}

WP_API CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    WPI_DRIVER(pArrayDescriptor == NULL ? cudaErrorInvalidValue
                                        : describe(hArray, pArrayDescriptor));
}

static cudaError_t describe_2d(CUarray array, CUDA_ARRAY_DESCRIPTOR *out) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    const cudaError_t error = describe(array, &d);
    if (error != cudaSuccess) return error;
    *out = (CUDA_ARRAY_DESCRIPTOR){d.Width, d.Height, d.Format, d.NumChannels};
    return cudaSuccess;
}

WP_API CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *pArrayDescriptor, CUarray hArray) {
    WPI_DRIVER(pArrayDescriptor == NULL ? cudaErrorInvalidValue
                                        : describe_2d(hArray, pArrayDescriptor));
}

WP_API CUresult cuArrayDestroy(CUarray hArray) {
    WPI_DRIVER(hArray == NULL ? cudaErrorInvalidResourceHandle
                              : cudaFreeArray(runtime_array(hArray)));
}

/* ---- copies along an array's first row ---- */

WP_API CUresult cuMemcpyHtoA(CUarray dstArray, size_t dstOffset, const void *srcHost,
                             size_t ByteCount) {
    WPI_DRIVER(cudaMemcpyToArray(runtime_array(dstArray), dstOffset, 0, srcHost, ByteCount,
                                 cudaMemcpyHostToDevice));
}

WP_API CUresult cuMemcpyHtoAAsync(CUarray dstArray, size_t dstOffset, const void *srcHost,
                                  size_t ByteCount, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaMemcpyToArrayAsync(runtime_array(dstArray), dstOffset, 0, srcHost, ByteCount,
                                         cudaMemcpyHostToDevice, hStream));
}

WP_API CUresult cuMemcpyAtoH(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount) {
    WPI_DRIVER(cudaMemcpyFromArray(dstHost, runtime_array(srcArray), srcOffset, 0, ByteCount,
                                   cudaMemcpyDeviceToHost));
}

WP_API CUresult cuMemcpyAtoHAsync(void *dstHost, CUarray srcArray, size_t srcOffset,
                                  size_t ByteCount, CUstream hStream) {
    WPI_DRIVER_IN(hStream == NULL,
                  cudaMemcpyFromArrayAsync(dstHost, runtime_array(srcArray), srcOffset, 0,
                                           ByteCount, cudaMemcpyDeviceToHost, hStream));
}

WP_API CUresult cuMemcpyDtoA(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice,
                             size_t ByteCount) {
    WPI_DRIVER(cudaMemcpyToArray(runtime_array(dstArray), dstOffset, 0, wpi_at(srcDevice),
                                 ByteCount, cudaMemcpyDeviceToDevice));
}

WP_API CUresult cuMemcpyAtoD(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount) {
    WPI_DRIVER(cudaMemcpyFromArray(wpi_at(dstDevice), runtime_array(srcArray), srcOffset, 0,
                                   ByteCount, cudaMemcpyDeviceToDevice));
}

WP_API CUresult cuMemcpyAtoA(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset,
                             size_t ByteCount) {
    WPI_DRIVER(cudaMemcpyArrayToArray(runtime_array(dstArray), dstOffset, 0,
                                      runtime_array(srcArray), srcOffset, 0, ByteCount,
                                      cudaMemcpyDeviceToDevice));
}

/* ---- textures and surfaces ---- */

bool wpi_driver_resource(const CUDA_RESOURCE_DESC *from, struct cudaResourceDesc *out) {
    *out = (struct cudaResourceDesc){.resType = (enum cudaResourceType)from->resType};
    switch (from->resType) { /* the same numbers */
    case CU_RESOURCE_TYPE_ARRAY:
        out->res.array.array = runtime_array(from->res.array.hArray);
        return true;
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = wpi_at(from->res.linear.devPtr);
        out->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        return to_channels(from->res.linear.format, from->res.linear.numChannels,
                           &out->res.linear.desc);
    case CU_RESOURCE_TYPE_PITCH2D:
        out->res.pitch2D.devPtr = wpi_at(from->res.pitch2D.devPtr);
        out->res.pitch2D.width = from->res.pitch2D.width;
        out->res.pitch2D.height = from->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        return to_channels(from->res.pitch2D.format, from->res.pitch2D.numChannels,
                           &out->res.pitch2D.desc);
    default: return false;
    }
}

static void from_resource(const struct cudaResourceDesc *from, CUDA_RESOURCE_DESC *out) {
    *out = (CUDA_RESOURCE_DESC){.resType = (CUresourcetype)from->resType};
    switch (out->resType) {
    case CU_RESOURCE_TYPE_LINEAR:
        out->res.linear.devPtr = (CUdeviceptr)(uintptr_t)from->res.linear.devPtr;
        out->res.linear.sizeInBytes = from->res.linear.sizeInBytes;
        from_channels(&from->res.linear.desc, &out->res.linear.format,
                      &out->res.linear.numChannels);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        out->res.pitch2D.devPtr = (CUdeviceptr)(uintptr_t)from->res.pitch2D.devPtr;
        out->res.pitch2D.width = from->res.pitch2D.width;
        out->res.pitch2D.height = from->res.pitch2D.height;
        out->res.pitch2D.pitchInBytes = from->res.pitch2D.pitchInBytes;
        from_channels(&from->res.pitch2D.desc, &out->res.pitch2D.format,
                      &out->res.pitch2D.numChannels);
        break;
    default: out->res.array.hArray = (CUarray)(void *)from->res.array.array; break;
    }
}

/* Integers of 8 and 16 bits are read as floats from 0 (or -1) to 1 unless the flag says otherwise;
 * other elements as they are. */
static bool reads_floats(const struct cudaResourceDesc *r, unsigned flags) {
    struct cudaChannelFormatDesc format = {0};
    if ((flags & CU_TRSF_READ_AS_INTEGER) != 0) return false;
    switch (r->resType) {
    case cudaResourceTypeArray:
        if (r->res.array.array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, r->res.array.array))
            return false; /* creating the object refuses it */
        format = r->res.array.array->format;
        break;
    case cudaResourceTypeLinear: format = r->res.linear.desc; break;
    case cudaResourceTypePitch2D: format = r->res.pitch2D.desc; break;
    case cudaResourceTypeMipmappedArray: break;
    }
    return format.f != cudaChannelFormatKindFloat && format.x < 32;
}

void wpi_driver_texture_modes(const struct cudaResourceDesc *r, const CUDA_TEXTURE_DESC *t,
                              struct cudaTextureDesc *out) {
    *out = (struct cudaTextureDesc){
        .filterMode = (enum cudaTextureFilterMode)t->filterMode,
        .readMode =
            reads_floats(r, t->flags) ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = (t->flags & CU_TRSF_SRGB) != 0,
        .normalizedCoords = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .maxAnisotropy = t->maxAnisotropy};
    for (int i = 0; i < 3; i++)
        out->addressMode[i] = (enum cudaTextureAddressMode)t->addressMode[i];
    for (int i = 0; i < 4; i++)
        out->borderColor[i] = t->borderColor[i];
}

static cudaError_t create_texture(CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                                  const CUDA_TEXTURE_DESC *t) {
    struct cudaResourceDesc r;
    struct cudaTextureDesc modes;
    if (out == NULL || resource == NULL || t == NULL || !wpi_driver_resource(resource, &r))
        return cudaErrorInvalidValue;
    wpi_driver_texture_modes(&r, t, &modes);
    return cudaCreateTextureObject(out, &r, &modes, NULL);
}

WP_API CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                                  const CUDA_TEXTURE_DESC *pTexDesc,
                                  const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    WPI_DRIVER(pResViewDesc != NULL ? cudaErrorNotSupported
                                    : create_texture(pTexObject, pResDesc, pTexDesc));
}

WP_API CUresult cuTexObjectDestroy(CUtexObject texObject) {
    WPI_DRIVER(cudaDestroyTextureObject(texObject));
}

static cudaError_t get_resource(unsigned long long object, bool is_surface,
                                CUDA_RESOURCE_DESC *out) {
    struct cudaResourceDesc r;
    if (out == NULL) return cudaErrorInvalidValue;
    const cudaError_t error = is_surface ? cudaGetSurfaceObjectResourceDesc(&r, object)
                                         : cudaGetTextureObjectResourceDesc(&r, object);
    if (error == cudaSuccess) from_resource(&r, out);
    return error;
}

WP_API CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    WPI_DRIVER(get_resource(texObject, false, pResDesc));
}

static cudaError_t create_surface(CUsurfObject *out, const CUDA_RESOURCE_DESC *resource) {
    struct cudaResourceDesc r;
    if (out == NULL || resource == NULL || !wpi_driver_resource(resource, &r))
        return cudaErrorInvalidValue;
    return cudaCreateSurfaceObject(out, &r);
}

WP_API CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    WPI_DRIVER(create_surface(pSurfObject, pResDesc));
}

WP_API CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    WPI_DRIVER(cudaDestroySurfaceObject(surfObject));
}

WP_API CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    WPI_DRIVER(get_resource(surfObject, true, pResDesc));
}
