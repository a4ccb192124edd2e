/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays: memory with an element format and up to three dimensions, for textures and surfaces. */
#include "base/alloc.h"
#include "cudart/cudart.h"
#include "device/device.h"

#define ARRAY_FLAGS                                                                                \
    ((unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |                  \
                cudaArrayTextureGather))

static void destroy(struct cudaArray *array) {
    wpi_free(array);
}

static bool is_on(void *array, const void *device) {
    return ((struct cudaArray *)array)->device == device;
}

void wpi_arrays_forget(const wp_device *device) {
    struct cudaArray *array;
    while ((array = wpi_handle_take(WPI_HANDLE_ARRAY, is_on, device)) != NULL)
        destroy(array); /* the device frees the memory */
}

wpi_extent wpi_array_extent(cudaArray_const_t array) {
    const struct cudaExtent *e = &array->extent;
    return (wpi_extent){e->width * array->element_bytes, e->height != 0 ? e->height : 1,
                        e->depth != 0 ? e->depth : 1};
}

/* Bytes of an element; 0 when no GPU has such a format: 1, 2 or 4 components of 8, 16 or 32 bits.
 */
size_t wpi_channel_bytes(const struct cudaChannelFormatDesc *format) {
    const int bits[4] = {format->x, format->y, format->z, format->w};
    size_t components = 0;
    while (components < 4 && bits[components] != 0)
        components++;
    for (size_t i = 0; i < 4; i++)
        if (bits[i] != (i < components ? bits[0] : 0)) return 0;
    if (components != 1 && components != 2 && components != 4) return 0;
    if (bits[0] != 8 && bits[0] != 16 && bits[0] != 32) return 0;
    switch (format->f) {
    case cudaChannelFormatKindSigned:
    case cudaChannelFormatKindUnsigned: break;
    case cudaChannelFormatKindFloat:
        if (bits[0] == 8) return 0;
        break;
    default: return 0;
    }
    return components * (size_t)bits[0] / 8;
}

WP_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind f) {
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* Layers are counted by the depth; a cube map has square layers, six for each cube. */
static bool is_shape(struct cudaExtent e, unsigned flags) {
    const bool is_layered = (flags & cudaArrayLayered) != 0;
    if ((flags & cudaArrayCubemap) != 0)
        return e.width == e.height && (is_layered ? e.depth > 0 && e.depth % 6 == 0 : e.depth == 6);
    return is_layered ? e.depth > 0 : e.height != 0 || e.depth == 0;
}

WP_API cudaError_t cudaMalloc3DArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                     struct cudaExtent extent, unsigned int flags) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (array == NULL || desc == NULL || extent.width == 0 || (flags & ~ARRAY_FLAGS) != 0 ||
        !is_shape(extent, flags))
        return wpi_note(cudaErrorInvalidValue);
    struct cudaArray made = {.device = device,
                             .format = *desc,
                             .extent = extent,
                             .flags = flags,
                             .element_bytes = wpi_channel_bytes(desc)};
    if (made.element_bytes == 0) return wpi_note(cudaErrorInvalidChannelDescriptor);
    const wpi_extent e = wpi_array_extent(&made);
    size_t size_bytes;
    if (e.width_bytes / made.element_bytes != extent.width ||
        !wpi_mul_size(e.width_bytes, e.height, &size_bytes) ||
        !wpi_mul_size(size_bytes, e.depth, &size_bytes))
        return wpi_note(cudaErrorMemoryAllocation);

    struct cudaArray *kept = wpi_malloc(sizeof *kept);
    if (kept == NULL) return wpi_note(cudaErrorMemoryAllocation);
    void *base = NULL;
    wp_error err = {0};
    wpi_array described = {
        .width = extent.width,
        .height = extent.height,
        .depth = extent.depth,
        .element_bytes = made.element_bytes,
        .channel_bits = {(uint8_t)desc->x, (uint8_t)desc->y, (uint8_t)desc->z, (uint8_t)desc->w},
        .channel = (wpi_tex_channel)desc->f, /* the same numbers */
        .flags = flags};
    cudaError_t error = wpi_result(wpi_device_array_create(device, &described, &base, &err), &err);
    made.base = base;
    *kept = made;
    if (error == cudaSuccess && !wpi_handle_add(WPI_HANDLE_ARRAY, kept)) {
        error = wpi_note(cudaErrorMemoryAllocation);
        const wp_status ignored = wp_memory_free(device, base, NULL);
        (void)ignored;
    }
    if (error != cudaSuccess) {
        destroy(kept);
        return error;
    }
    *array = kept;
    return cudaSuccess;
}

WP_API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                   size_t width, size_t height, unsigned int flags) {
    return cudaMalloc3DArray(array, desc, (struct cudaExtent){width, height, 0}, flags);
}

WP_API cudaError_t cudaFreeArray(cudaArray_t array) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (array == NULL) return cudaSuccess;
    if (!wpi_handle_remove(WPI_HANDLE_ARRAY, array)) return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    const wp_status status = wp_memory_free(array->device, array->base, &err);
    destroy(array);
    return wpi_result(status, &err);
}

WP_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                                    unsigned int *flags, cudaArray_t array) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, array))
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (desc != NULL) *desc = array->format;
    if (extent != NULL) *extent = array->extent;
    if (flags != NULL) *flags = array->flags;
    return cudaSuccess;
}

WP_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *desc, cudaArray_const_t array) {
    if (desc == NULL) return wpi_note(cudaErrorInvalidValue);
    return cudaArrayGetInfo(desc, NULL, NULL, (cudaArray_t)(uintptr_t)array);
}
