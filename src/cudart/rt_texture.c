/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texture and surface objects, and texture and surface references, which are objects kept in a
 * variable:
 *
 *     texture<float> t;   host: struct textureReference     device: 8 bytes, an object's handle
 *     cudaBindTexture     makes an object of the reference's modes and the memory, and stores its
 *                         handle in the device's variable
 *
 * Kernels already queued must use the binding of their launch, so another binding waits for them;
 * binding the same again changes nothing and does not wait.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "cudart/hash_map.h"
#include "device/device.h"

/* The description of an object, by its handle. References have entries, too, by their address. */
typedef struct entry {
    uint64_t key;
    wp_device *device;
    bool is_surface;
    struct cudaResourceDesc resource;
    struct cudaTextureDesc modes;
    struct cudaResourceViewDesc view;
    wpi_texture texture; /* references: what is bound … */
    uint64_t handle;     /* … its object … */
    void *variable;      /* … and where kernels find that */
    UT_hash_handle hh;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *objects, *references;

static entry *find_entry(entry *table, uint64_t key) {
    entry *found = NULL;
    HASH_FIND(hh, table, &key, sizeof key, found);
    return found;
}

/* ---- descriptions ---- */

static void set_format(wpi_texture *t, const struct cudaChannelFormatDesc *format) {
    const int bits[4] = {format->x, format->y, format->z, format->w};
    for (int i = 0; i < 4; i++)
        t->channel_bits[i] = (uint8_t)bits[i];
    t->channel = (wpi_tex_channel)format->f; /* the same numbers */
}

static void set_array(wpi_texture *t, cudaArray_const_t array) {
    const wpi_extent e = wpi_array_extent(array);
    set_format(t, &array->format);
    t->data = array->base;
    t->width = array->extent.width;
    t->height = array->extent.height;
    t->depth = array->extent.depth;
    t->pitch_bytes = e.width_bytes;
    t->slice_bytes = e.width_bytes * e.height;
}

/* The most bytes that a linear binding can cover: programs often give no size. */
static size_t bytes_from(const void *pointer, size_t most_bytes) {
    wp_allocation allocation;
    if (!wpi_allocation_find(pointer, &allocation, NULL)) return most_bytes;
    const size_t left_bytes =
        allocation.size_bytes - (size_t)((const char *)pointer - (const char *)allocation.base);
    return most_bytes < left_bytes ? most_bytes : left_bytes;
}

/* The memory half of a texture. The error is not noted. */
static cudaError_t set_resource(const struct cudaResourceDesc *r, wpi_texture *t) {
    size_t element_bytes, size_bytes;
    switch (r->resType) {
    case cudaResourceTypeArray:
        if (r->res.array.array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, r->res.array.array))
            return cudaErrorInvalidValue;
        set_array(t, r->res.array.array);
        return cudaSuccess;
    case cudaResourceTypeLinear:
        element_bytes = wpi_channel_bytes(&r->res.linear.desc);
        if (element_bytes == 0) return cudaErrorInvalidChannelDescriptor;
        /* As on GPUs, the size may exceed the allocation: what is beyond is out of range. */
        size_bytes = bytes_from(r->res.linear.devPtr, r->res.linear.sizeInBytes);
        if (size_bytes < element_bytes || !wpi_is_device_range(r->res.linear.devPtr, size_bytes))
            return cudaErrorInvalidValue;
        set_format(t, &r->res.linear.desc);
        t->data = r->res.linear.devPtr;
        t->width = size_bytes / element_bytes;
        return cudaSuccess;
    case cudaResourceTypePitch2D:
        element_bytes = wpi_channel_bytes(&r->res.pitch2D.desc);
        if (element_bytes == 0) return cudaErrorInvalidChannelDescriptor;
        if (r->res.pitch2D.width == 0 || r->res.pitch2D.height == 0 ||
            r->res.pitch2D.pitchInBytes / element_bytes < r->res.pitch2D.width ||
            !wpi_mul_size(r->res.pitch2D.pitchInBytes, r->res.pitch2D.height - 1, &size_bytes) ||
            !wpi_is_device_range(r->res.pitch2D.devPtr,
                                 size_bytes + r->res.pitch2D.width * element_bytes))
            return cudaErrorInvalidValue;
        set_format(t, &r->res.pitch2D.desc);
        t->data = r->res.pitch2D.devPtr;
        t->width = r->res.pitch2D.width;
        t->height = r->res.pitch2D.height;
        t->pitch_bytes = r->res.pitch2D.pitchInBytes;
        return cudaSuccess;
    case cudaResourceTypeMipmappedArray: return cudaErrorNotSupported;
    }
    return cudaErrorInvalidValue;
}

/* The other half: coordinates and the format of results. The error is not noted. */
static cudaError_t set_modes(const struct cudaTextureDesc *m, wpi_texture *t) {
    for (int i = 0; i < 3; i++) {
        if ((unsigned)m->addressMode[i] > cudaAddressModeBorder) return cudaErrorInvalidValue;
        t->address[i] = (wpi_tex_address)m->addressMode[i]; /* the same numbers */
    }
    t->is_linear = m->filterMode == cudaFilterModeLinear;
    t->is_normalized = m->normalizedCoords != 0;
    t->reads_floats = m->readMode == cudaReadModeNormalizedFloat;
    memcpy(t->border, m->borderColor, sizeof t->border);
    const bool is_integer = t->channel != WPI_TEX_CHANNEL_FLOAT;
    if (t->reads_floats && is_integer && t->channel_bits[0] == 32)
        return cudaErrorInvalidNormSetting;
    if (t->is_linear && is_integer && !t->reads_floats) return cudaErrorInvalidFilterSetting;
    if (m->sRGB != 0) return cudaErrorNotSupported;
    return cudaSuccess;
}

/* ---- objects ---- */

static cudaError_t create_object(wp_device *device, entry *made, unsigned long long *out) {
    wpi_texture t = {0};
    WPI_TRY(wpi_note(set_resource(&made->resource, &t)));
    if (!made->is_surface) WPI_TRY(wpi_note(set_modes(&made->modes, &t)));
    entry *kept = wpi_malloc(sizeof *kept);
    if (kept == NULL) return wpi_note(cudaErrorMemoryAllocation);
    *kept = *made;
    kept->device = device;
    wp_error err = {0};
    const cudaError_t error =
        wpi_result(wpi_device_texture_create(device, &t, kept->is_surface, &kept->key, &err), &err);
    if (error != cudaSuccess) {
        wpi_free(kept);
        return error;
    }
    const uint64_t handle = kept->key;
    pthread_mutex_lock(&lock);
    HASH_ADD(hh, objects, key, sizeof kept->key, kept);
    const bool is_in = kept->hh.tbl != NULL;
    pthread_mutex_unlock(&lock);
    if (!is_in) {
        wpi_device_texture_destroy(device, handle, kept->is_surface);
        wpi_free(kept);
        return wpi_note(cudaErrorMemoryAllocation);
    }
    *out = handle;
    return cudaSuccess;
}

static cudaError_t destroy_object(unsigned long long handle, bool is_surface) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (handle == 0) return cudaSuccess;
    pthread_mutex_lock(&lock);
    entry *found = find_entry(objects, handle);
    if (found != NULL && found->is_surface == is_surface)
        HASH_DEL(objects, found);
    else
        found = NULL;
    pthread_mutex_unlock(&lock);
    if (found == NULL) return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    device = found->device;
    const wp_status status = wp_device_wait(device, &err); /* kernels may be fetching */
    wpi_device_texture_destroy(device, handle, is_surface);
    wpi_free(found);
    return wpi_result(status, &err);
}

/* A copy of an object's entry. */
static cudaError_t copy_object(unsigned long long handle, bool is_surface, entry *out) {
    pthread_mutex_lock(&lock);
    const entry *found = find_entry(objects, handle);
    const bool is_found = found != NULL && found->is_surface == is_surface;
    if (is_found) *out = *found;
    pthread_mutex_unlock(&lock);
    return wpi_note(is_found ? cudaSuccess : cudaErrorInvalidValue);
}

WP_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *pTexObject,
                                           const struct cudaResourceDesc *pResDesc,
                                           const struct cudaTextureDesc *pTexDesc,
                                           const struct cudaResourceViewDesc *pResViewDesc) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (pTexObject == NULL || pResDesc == NULL || pTexDesc == NULL)
        return wpi_note(cudaErrorInvalidValue);
    if (pResViewDesc != NULL && pResViewDesc->format != cudaResViewFormatNone)
        return wpi_note(cudaErrorNotSupported);
    entry made = {.resource = *pResDesc, .modes = *pTexDesc};
    if (pResViewDesc != NULL) made.view = *pResViewDesc;
    return create_object(device, &made, pTexObject);
}

WP_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texObject) {
    return destroy_object(texObject, false);
}

WP_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                    cudaTextureObject_t texObject) {
    entry found;
    if (pResDesc == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(copy_object(texObject, false, &found));
    *pResDesc = found.resource;
    return cudaSuccess;
}

WP_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *pTexDesc,
                                                   cudaTextureObject_t texObject) {
    entry found;
    if (pTexDesc == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(copy_object(texObject, false, &found));
    *pTexDesc = found.modes;
    return cudaSuccess;
}

WP_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *pResViewDesc,
                                                        cudaTextureObject_t texObject) {
    entry found;
    if (pResViewDesc == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(copy_object(texObject, false, &found));
    *pResViewDesc = found.view;
    return cudaSuccess;
}

/* Whether kernels can write it as a surface: arrays created for that. */
static bool is_surface_memory(const struct cudaResourceDesc *r) {
    return r->resType == cudaResourceTypeArray && r->res.array.array != NULL &&
           wpi_handle_is_live(WPI_HANDLE_ARRAY, r->res.array.array) &&
           (r->res.array.array->flags & cudaArraySurfaceLoadStore) != 0;
}

WP_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *pSurfObject,
                                           const struct cudaResourceDesc *pResDesc) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (pSurfObject == NULL || pResDesc == NULL || !is_surface_memory(pResDesc))
        return wpi_note(cudaErrorInvalidValue);
    entry made = {.is_surface = true, .resource = *pResDesc};
    return create_object(device, &made, pSurfObject);
}

WP_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surfObject) {
    return destroy_object(surfObject, true);
}

WP_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *pResDesc,
                                                    cudaSurfaceObject_t surfObject) {
    entry found;
    if (pResDesc == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(copy_object(surfObject, true, &found));
    *pResDesc = found.resource;
    return cudaSuccess;
}

/* ---- references ---- */

/* Stores a handle in the variable and records the texture; `t` NULL: nothing is bound. */
static cudaError_t bind(wp_device *device, const wpi_variable *v, const wpi_texture *t) {
    const uint64_t key = (uint64_t)(uintptr_t)v->host + device->number; /* it has many bytes */
    pthread_mutex_lock(&lock);
    entry *found = find_entry(references, key);
    const bool is_same = t != NULL && found != NULL && found->handle != 0 &&
                         memcmp(&found->texture, t, sizeof *t) == 0;
    pthread_mutex_unlock(&lock);
    if (is_same) return cudaSuccess;

    wp_error err = {0};
    uint64_t handle = 0;
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err));
    const bool is_surface = v->kind == WP_VARIABLE_SURFACE;
    if (t != NULL)
        WPI_TRY(wpi_result(wpi_device_texture_create(device, t, is_surface, &handle, &err), &err));
    pthread_mutex_lock(&lock);
    found = find_entry(references, key);
    if (found == NULL && (found = wpi_calloc(1, sizeof *found)) != NULL) {
        found->key = key;
        found->device = device;
        HASH_ADD(hh, references, key, sizeof found->key, found);
        if (found->hh.tbl == NULL) {
            wpi_free(found);
            found = NULL;
        }
    }
    uint64_t unused = handle;
    cudaError_t error = found != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
    if (found != NULL) {
        const wp_status status = wpi_device_texture_bind(device, v->address, handle, &err);
        if (status == WP_STATUS_OK) {
            unused = found->handle;
            found->handle = handle;
            found->is_surface = is_surface;
            found->variable = v->address;
            /* Bytes between the fields count in the comparison above: copy them, too. */
            if (t != NULL) memcpy(&found->texture, t, sizeof *t);
        }
        error = wpi_result(status, &err);
    }
    pthread_mutex_unlock(&lock);
    wpi_device_texture_destroy(device, unused, is_surface);
    return wpi_note(error);
}

static cudaError_t find_reference(wp_device *device, const void *reference, wp_variable_kind kind,
                                  wpi_variable *out) {
    const cudaError_t missing =
        kind == WP_VARIABLE_TEXTURE ? cudaErrorInvalidTexture : cudaErrorInvalidSurface;
    if (reference == NULL || wpi_variable_find(device, reference, out) != cudaSuccess ||
        out->kind != kind)
        return wpi_note(missing);
    return cudaSuccess;
}

static cudaError_t bind_texture(const struct textureReference *texref,
                                struct cudaResourceDesc *resource) {
    wp_device *device;
    wpi_variable v;
    wpi_texture t;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find_reference(device, texref, WP_VARIABLE_TEXTURE, &v));
    struct cudaTextureDesc modes = {
        .filterMode = texref->filterMode,
        .readMode =
            v.texture_reads_normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType,
        .sRGB = texref->sRGB,
        .normalizedCoords = texref->normalized,
    };
    memcpy(modes.addressMode, texref->addressMode, sizeof modes.addressMode);
    memset(&t, 0, sizeof t); /* also between the fields: `bind` compares bytes */
    WPI_TRY(wpi_note(set_resource(resource, &t)));
    WPI_TRY(wpi_note(set_modes(&modes, &t)));
    return bind(device, &v, &t);
}

WP_API cudaError_t cudaBindTexture(size_t *offset, const struct textureReference *texref,
                                   const void *devPtr, const struct cudaChannelFormatDesc *desc,
                                   size_t size) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (offset != NULL) *offset = 0; /* any address is aligned enough */
    if (devPtr == NULL || desc == NULL) return wpi_note(cudaErrorInvalidValue);
    struct cudaResourceDesc r = {.resType = cudaResourceTypeLinear};
    r.res.linear.devPtr = (void *)(uintptr_t)devPtr;
    r.res.linear.desc = *desc;
    r.res.linear.sizeInBytes = bytes_from(devPtr, size);
    return bind_texture(texref, &r);
}

WP_API cudaError_t cudaBindTexture2D(size_t *offset, const struct textureReference *texref,
                                     const void *devPtr, const struct cudaChannelFormatDesc *desc,
                                     size_t width, size_t height, size_t pitch) {
    if (offset != NULL) *offset = 0;
    if (devPtr == NULL || desc == NULL) return wpi_note(cudaErrorInvalidValue);
    struct cudaResourceDesc r = {.resType = cudaResourceTypePitch2D};
    r.res.pitch2D.devPtr = (void *)(uintptr_t)devPtr;
    r.res.pitch2D.desc = *desc;
    r.res.pitch2D.width = width;
    r.res.pitch2D.height = height;
    r.res.pitch2D.pitchInBytes = pitch;
    return bind_texture(texref, &r);
}

WP_API cudaError_t cudaBindTextureToArray(const struct textureReference *texref,
                                          cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc *desc) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, array))
        return wpi_note(cudaErrorInvalidResourceHandle);
    if (desc != NULL && wpi_channel_bytes(desc) != array->element_bytes)
        return wpi_note(cudaErrorInvalidChannelDescriptor);
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray};
    r.res.array.array = (cudaArray_t)(uintptr_t)array;
    return bind_texture(texref, &r);
}

WP_API cudaError_t cudaUnbindTexture(const struct textureReference *texref) {
    wp_device *device;
    wpi_variable v;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(find_reference(device, texref, WP_VARIABLE_TEXTURE, &v));
    return bind(device, &v, NULL);
}

WP_API cudaError_t cudaGetTextureAlignmentOffset(size_t *offset,
                                                 const struct textureReference *texref) {
    wp_device *device;
    wpi_variable v;
    WPI_TRY(wpi_enter(&device));
    if (offset == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_reference(device, texref, WP_VARIABLE_TEXTURE, &v));
    pthread_mutex_lock(&lock);
    const entry *found = find_entry(references, (uint64_t)(uintptr_t)v.host);
    const bool is_bound = found != NULL && found->handle != 0;
    pthread_mutex_unlock(&lock);
    if (!is_bound) return wpi_note(cudaErrorInvalidTextureBinding);
    *offset = 0;
    return cudaSuccess;
}

WP_API cudaError_t cudaGetTextureReference(const struct textureReference **texref,
                                           const void *symbol) {
    wp_device *device;
    wpi_variable v;
    WPI_TRY(wpi_enter(&device));
    if (texref == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_reference(device, symbol, WP_VARIABLE_TEXTURE, &v));
    *texref = v.host; /* a reference is its own symbol */
    return cudaSuccess;
}

WP_API cudaError_t cudaBindSurfaceToArray(const struct surfaceReference *surfref,
                                          cudaArray_const_t array,
                                          const struct cudaChannelFormatDesc *desc) {
    wp_device *device;
    wpi_variable v;
    WPI_TRY(wpi_enter(&device));
    struct cudaResourceDesc r = {.resType = cudaResourceTypeArray};
    r.res.array.array = (cudaArray_t)(uintptr_t)array;
    if (desc == NULL || !is_surface_memory(&r)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_reference(device, surfref, WP_VARIABLE_SURFACE, &v));
    wpi_texture t;
    memset(&t, 0, sizeof t);
    set_array(&t, array);
    return bind(device, &v, &t);
}

WP_API cudaError_t cudaGetSurfaceReference(const struct surfaceReference **surfref,
                                           const void *symbol) {
    wp_device *device;
    wpi_variable v;
    WPI_TRY(wpi_enter(&device));
    if (surfref == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find_reference(device, symbol, WP_VARIABLE_SURFACE, &v));
    *surfref = v.host;
    return cudaSuccess;
}

/* ---- references of modules ---- */

cudaError_t wpi_reference_bind(wp_device *device, const void *key, void *variable,
                               const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *modes) {
    const wpi_variable v = {.host = key,
                            .address = variable,
                            .kind = modes != NULL ? WP_VARIABLE_TEXTURE : WP_VARIABLE_SURFACE};
    wpi_texture t;
    memset(&t, 0, sizeof t);
    if (modes == NULL && !is_surface_memory(resource)) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_note(set_resource(resource, &t)));
    if (modes != NULL) WPI_TRY(wpi_note(set_modes(modes, &t)));
    return bind(device, &v, &t);
}

void wpi_reference_forget(wp_device *device, const void *key, void *variable, bool is_surface) {
    const wpi_variable v = {.host = key,
                            .address = variable,
                            .kind = is_surface ? WP_VARIABLE_SURFACE : WP_VARIABLE_TEXTURE};
    pthread_mutex_lock(&lock);
    entry *found = find_entry(references, (uint64_t)(uintptr_t)key + device->number);
    pthread_mutex_unlock(&lock);
    if (found == NULL) return; /* never bound, or the device was reset */
    const cudaError_t ignored = bind(device, &v, NULL);
    (void)ignored; /* a failed device has no variables */
    pthread_mutex_lock(&lock);
    HASH_DEL(references, found);
    pthread_mutex_unlock(&lock);
    wpi_free(found);
}

/* Device reset: the memory is gone, and with it every object. Nothing is running. */
void wpi_textures_forget(wp_device *device) {
    pthread_mutex_lock(&lock);
    entry *e, *next;
    HASH_ITER(hh, objects, e, next) {
        if (e->device != device) continue;
        HASH_DEL(objects, e);
        wpi_device_texture_destroy(device, e->key, e->is_surface);
        wpi_free(e);
    }
    HASH_ITER(hh, references, e, next) {
        if (e->device != device) continue;
        HASH_DEL(references, e);
        const wp_status ignored = wpi_device_texture_bind(device, e->variable, 0, NULL);
        (void)ignored; /* a failed device creates its variables again */
        wpi_device_texture_destroy(device, e->handle, e->is_surface);
        wpi_free(e);
    }
    pthread_mutex_unlock(&lock);
}
