/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texture and surface references of modules. A reference is what its calls set: memory, format,
 * modes. The order of these calls is free, so that the object which kernels fetch from is made, and
 * its handle written into the module's variable, at the next launch (rt_texture.c).
 *
 * References of cuTexRefCreate belong to no module, and no kernel reads them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/driver/driver.h"
#include "device/device.h"

/* A CUtexref or CUsurfref. */
typedef struct reference {
    struct reference *next;
    CUmodule module; /* NULL: of cuTexRefCreate */
    wp_device *device;
    void *variable;
    bool is_surface;
    bool has_memory;
    bool is_changed; /* after the last binding */
    CUarray_format format;
    unsigned channels;
    CUDA_RESOURCE_DESC resource; /* format and channels: above, at the binding */
    CUDA_TEXTURE_DESC modes;
} reference;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reference *references;
static atomic_uint changed_count; /* of references of modules */

/* ---- finding ---- */

/* Under the lock; NULL: not live, or of the other kind. */
static reference *find(const void *handle, bool is_surface) {
    reference *r = references;
    while (r != NULL && (r != handle || r->is_surface != is_surface))
        r = r->next;
    return r;
}

static void note_change(reference *r) {
    if (r->is_changed || r->module == NULL) return;
    r->is_changed = true;
    atomic_fetch_add(&changed_count, 1);
}

static reference *add_locked(CUmodule module, wp_device *device, void *variable, bool is_surface) {
    reference *r = references;
    while (r != NULL && (module == NULL || r->module != module || r->variable != variable))
        r = r->next;
    if (r != NULL) return r->is_surface == is_surface ? r : NULL;
    if ((r = wpi_calloc(1, sizeof *r)) == NULL) return NULL;
    *r = (reference){.next = references,
                     .module = module,
                     .device = device,
                     .variable = variable,
                     .is_surface = is_surface,
                     .format = CU_AD_FORMAT_FLOAT,
                     .channels = 1};
    for (int i = 0; i < 3; i++)
        r->modes.addressMode[i] = CU_TR_ADDRESS_MODE_CLAMP;
    references = r;
    return r;
}

static cudaError_t add(CUmodule module, const char *name, bool is_surface, void **out) {
    wp_device *device = NULL;
    void *variable = NULL;
    size_t size_bytes = 0;
    if (out == NULL || (module != NULL && name == NULL)) return cudaErrorInvalidValue;
    if (module != NULL) {
        WPI_TRY(wpi_module_variable(module, name, &device, &variable, &size_bytes));
        if (size_bytes != sizeof(cudaTextureObject_t)) return cudaErrorSymbolNotFound;
    }
    pthread_mutex_lock(&lock);
    *out = add_locked(module, device, variable, is_surface);
    pthread_mutex_unlock(&lock);
    return *out != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

WP_API CUresult cuModuleGetTexRef(CUtexref *pTexRef, CUmodule hmod, const char *name) {
    if (hmod == NULL) return CUDA_ERROR_INVALID_HANDLE;
    WPI_DRIVER(add(hmod, name, false, (void **)pTexRef));
}

WP_API CUresult cuModuleGetSurfRef(CUsurfref *pSurfRef, CUmodule hmod, const char *name) {
    if (hmod == NULL) return CUDA_ERROR_INVALID_HANDLE;
    WPI_DRIVER(add(hmod, name, true, (void **)pSurfRef));
}

WP_API CUresult cuTexRefCreate(CUtexref *pTexRef) {
    WPI_DRIVER(add(NULL, NULL, false, (void **)pTexRef));
}

/* Under the lock. */
static void remove_locked(reference *r) {
    reference **link = &references;
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    if (r->is_changed) atomic_fetch_sub(&changed_count, 1);
    if (r->module != NULL) wpi_reference_forget(r->device, r, r->variable, r->is_surface);
    wpi_free(r);
}

WP_API CUresult cuTexRefDestroy(CUtexref hTexRef) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    pthread_mutex_lock(&lock);
    reference *r = find(hTexRef, false);
    const bool is_found = r != NULL && r->module == NULL;
    if (is_found) remove_locked(r);
    pthread_mutex_unlock(&lock);
    return is_found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

void wpi_module_references_forget(CUmodule module) {
    pthread_mutex_lock(&lock);
    for (reference *r = references, *next; r != NULL; r = next) {
        next = r->next;
        if (r->module == module) remove_locked(r);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- binding ---- */

static cudaError_t bind_locked(reference *r) {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc modes;
    CUDA_RESOURCE_DESC with_format = r->resource;
    if (with_format.resType == CU_RESOURCE_TYPE_LINEAR) {
        with_format.res.linear.format = r->format;
        with_format.res.linear.numChannels = r->channels;
    } else if (with_format.resType == CU_RESOURCE_TYPE_PITCH2D) {
        with_format.res.pitch2D.format = r->format;
        with_format.res.pitch2D.numChannels = r->channels;
    }
    if (!wpi_driver_resource(&with_format, &resource)) return cudaErrorInvalidValue;
    wpi_driver_texture_modes(&resource, &r->modes, &modes);
    WPI_TRY(
        wpi_reference_bind(r->device, r, r->variable, &resource, r->is_surface ? NULL : &modes));
    r->is_changed = false;
    atomic_fetch_sub(&changed_count, 1);
    return cudaSuccess;
}

cudaError_t wpi_references_bind(const wp_device *device) {
    if (atomic_load(&changed_count) == 0) return cudaSuccess;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    for (reference *r = references; r != NULL && error == cudaSuccess; r = r->next)
        if (r->is_changed && r->has_memory && r->device == device) error = bind_locked(r);
    pthread_mutex_unlock(&lock);
    return error;
}

/* ---- settings ---- */

/* Calls `set` with the live reference of the handle. */
static CUresult change(const void *handle, bool is_surface,
                       CUresult (*set)(reference *r, const void *value), const void *value) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    pthread_mutex_lock(&lock);
    reference *r = find(handle, is_surface);
    const CUresult result = r != NULL ? set(r, value) : CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS) note_change(r);
    pthread_mutex_unlock(&lock);
    return result;
}

static CUresult set_resource(reference *r, const void *value) {
    r->resource = *(const CUDA_RESOURCE_DESC *)value;
    r->has_memory = true;
    return CUDA_SUCCESS;
}

static CUresult set_array(reference *r, const void *value) {
    CUDA_ARRAY3D_DESCRIPTOR d;
    set_resource(r, value);
    WPI_DRIVER_TRY(cuArray3DGetDescriptor(&d, r->resource.res.array.hArray));
    r->format = d.Format;
    r->channels = d.NumChannels;
    return CUDA_SUCCESS;
}

static CUresult change_array(const void *handle, bool is_surface, CUarray array) {
    if (array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, array))
        return CUDA_ERROR_INVALID_HANDLE;
    const CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    return change(handle, is_surface, set_array, &r);
}

WP_API CUresult cuTexRefSetArray(CUtexref hTexRef, CUarray hArray, unsigned int Flags) {
    if (Flags != CU_TRSA_OVERRIDE_FORMAT) return CUDA_ERROR_INVALID_VALUE;
    return change_array(hTexRef, false, hArray);
}

WP_API CUresult cuSurfRefSetArray(CUsurfref hSurfRef, CUarray hArray, unsigned int Flags) {
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return change_array(hSurfRef, true, hArray);
}

WP_API CUresult cuTexRefSetAddress(size_t *ByteOffset, CUtexref hTexRef, CUdeviceptr dptr,
                                   size_t bytes) {
    if (ByteOffset != NULL) *ByteOffset = 0; /* any address is aligned enough */
    const CUDA_RESOURCE_DESC r = {.resType = CU_RESOURCE_TYPE_LINEAR,
                                  .res.linear = {.devPtr = dptr, .sizeInBytes = bytes}};
    return change(hTexRef, false, set_resource, &r);
}

typedef struct rows {
    CUDA_RESOURCE_DESC resource;
    const CUDA_ARRAY_DESCRIPTOR *array;
} rows;

static CUresult set_rows(reference *r, const void *value) {
    const rows *from = value;
    r->format = from->array->Format;
    r->channels = from->array->NumChannels;
    return set_resource(r, &from->resource);
}

WP_API CUresult cuTexRefSetAddress2D(CUtexref hTexRef, const CUDA_ARRAY_DESCRIPTOR *desc,
                                     CUdeviceptr dptr, size_t Pitch) {
    if (desc == NULL) return CUDA_ERROR_INVALID_VALUE;
    const rows from = {.resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                    .res.pitch2D = {.devPtr = dptr,
                                                    .width = desc->Width,
                                                    .height = desc->Height,
                                                    .pitchInBytes = Pitch}},
                       .array = desc};
    return change(hTexRef, false, set_rows, &from);
}

static CUresult set_format(reference *r, const void *value) {
    const CUDA_ARRAY_DESCRIPTOR *d = value;
    r->format = d->Format;
    r->channels = d->NumChannels;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetFormat(CUtexref hTexRef, CUarray_format fmt, int NumPackedComponents) {
    const int n = NumPackedComponents;
    if (n != 1 && n != 2 && n != 4) return CUDA_ERROR_INVALID_VALUE;
    const CUDA_ARRAY_DESCRIPTOR d = {.Format = fmt, .NumChannels = (unsigned)n};
    return change(hTexRef, false, set_format, &d);
}

typedef struct dim_mode {
    int dim;
    CUaddress_mode mode;
} dim_mode;

static CUresult set_address_mode(reference *r, const void *value) {
    const dim_mode *m = value;
    r->modes.addressMode[m->dim] = m->mode;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetAddressMode(CUtexref hTexRef, int dim, CUaddress_mode am) {
    if (dim < 0 || dim > 2 || (unsigned)am > CU_TR_ADDRESS_MODE_BORDER)
        return CUDA_ERROR_INVALID_VALUE;
    return change(hTexRef, false, set_address_mode, &(dim_mode){dim, am});
}

static CUresult set_filter_mode(reference *r, const void *value) {
    r->modes.filterMode = *(const CUfilter_mode *)value;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetFilterMode(CUtexref hTexRef, CUfilter_mode fm) {
    if ((unsigned)fm > CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
    return change(hTexRef, false, set_filter_mode, &fm);
}

static CUresult set_flags(reference *r, const void *value) {
    r->modes.flags = *(const unsigned *)value;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetFlags(CUtexref hTexRef, unsigned int Flags) {
    return change(hTexRef, false, set_flags, &Flags);
}

static CUresult set_border(reference *r, const void *value) {
    memcpy(r->modes.borderColor, value, sizeof r->modes.borderColor);
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetBorderColor(CUtexref hTexRef, float *pBorderColor) {
    if (pBorderColor == NULL) return CUDA_ERROR_INVALID_VALUE;
    return change(hTexRef, false, set_border, pBorderColor);
}

static CUresult set_anisotropy(reference *r, const void *value) {
    r->modes.maxAnisotropy = *(const unsigned *)value; /* of mipmaps only */
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefSetMaxAnisotropy(CUtexref hTexRef, unsigned int maxAniso) {
    return change(hTexRef, false, set_anisotropy, &maxAniso);
}

WP_API CUresult cuParamSetTexRef(CUfunction hfunc, int texunit, CUtexref hTexRef) {
    if (texunit != CU_PARAM_TR_DEFAULT) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    const bool is_live = find(hTexRef, false) != NULL;
    pthread_mutex_unlock(&lock);
    if (!is_live) return CUDA_ERROR_INVALID_HANDLE;
    WPI_DRIVER(wpi_driver_function_check(hfunc)); /* kernels read the reference of their module */
}

/* ---- queries ---- */

/* A copy of the live reference of the handle. */
static CUresult copy(const void *handle, bool is_surface, const void *out, reference *to) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (out == NULL) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    const reference *r = find(handle, is_surface);
    if (r != NULL) *to = *r;
    pthread_mutex_unlock(&lock);
    return r != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

WP_API CUresult cuTexRefGetAddress(CUdeviceptr *pdptr, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pdptr, &r));
    if (!r.has_memory || r.resource.resType == CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    *pdptr = r.resource.resType == CU_RESOURCE_TYPE_LINEAR ? r.resource.res.linear.devPtr
                                                           : r.resource.res.pitch2D.devPtr;
    return CUDA_SUCCESS;
}

static CUresult get_array(CUarray *out, const void *handle, bool is_surface) {
    reference r;
    WPI_DRIVER_TRY(copy(handle, is_surface, out, &r));
    if (!r.has_memory || r.resource.resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    *out = r.resource.res.array.hArray;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetArray(CUarray *phArray, CUtexref hTexRef) {
    return get_array(phArray, hTexRef, false);
}

WP_API CUresult cuSurfRefGetArray(CUarray *phArray, CUsurfref hSurfRef) {
    return get_array(phArray, hSurfRef, true);
}

WP_API CUresult cuTexRefGetAddressMode(CUaddress_mode *pam, CUtexref hTexRef, int dim) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pam, &r));
    if (dim < 0 || dim > 2) return CUDA_ERROR_INVALID_VALUE;
    *pam = r.modes.addressMode[dim];
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetFilterMode(CUfilter_mode *pfm, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pfm, &r));
    *pfm = r.modes.filterMode;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetFormat(CUarray_format *pFormat, int *pNumChannels, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pFormat, &r));
    *pFormat = r.format;
    if (pNumChannels != NULL) *pNumChannels = (int)r.channels;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetFlags(unsigned int *pFlags, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pFlags, &r));
    *pFlags = r.modes.flags;
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetBorderColor(float *pBorderColor, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pBorderColor, &r));
    memcpy(pBorderColor, r.modes.borderColor, sizeof r.modes.borderColor);
    return CUDA_SUCCESS;
}

WP_API CUresult cuTexRefGetMaxAnisotropy(int *pmaxAniso, CUtexref hTexRef) {
    reference r;
    WPI_DRIVER_TRY(copy(hTexRef, false, pmaxAniso, &r));
    *pmaxAniso = (int)r.modes.maxAnisotropy;
    return CUDA_SUCCESS;
}
