/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, and the making of texture and surface objects. */
#include "fake.h"

static bool is_format(int format, unsigned channels) {
    return ((format >= 1 && format <= 3) || (format >= 8 && format <= 10) || format == 0x10 ||
            format == 0x20) &&
           (channels == 1 || channels == 2 || channels == 4);
}

EXPORT wpi_cu_result cuArray3DCreate_v2(wpi_cu_array *out, const wpi_cu_array_desc *d) {
    CALL_IN_CONTEXT("cuArray3DCreate_v2");
    if (result == 0 && (d->width == 0 || !is_format(d->format, d->channel_count) ||
                        (d->height == 0 && d->depth != 0 && (d->flags & 1) == 0)))
        result = fake_misuse("cuArray3DCreate: a description that cannot be");
    if (result == 0) {
        fake_object *o = fake_make(FAKE_ARRAY);
        o->array = *d;
        o->row_bytes = d->width * fake_element_bytes(d);
        o->rows = d->height != 0 ? d->height : 1;
        o->slices = d->depth != 0 ? d->depth : 1;
        o->bytes = o->row_bytes * o->rows * o->slices;
        o->base = calloc(1, o->bytes);
        *out = (wpi_cu_array)(void *)o;
    }
    RETURN;
}

EXPORT wpi_cu_result cuArrayDestroy(wpi_cu_array array) {
    CALL_IN_CONTEXT("cuArrayDestroy");
    if (result == 0) {
        (void)fake_wait_all();
        result = fake_destroy(array, FAKE_ARRAY, "cuArrayDestroy");
    }
    RETURN;
}

static int check_resource(const wpi_cu_resource *r) {
    if (r->flags != 0) return fake_misuse("a resource with flags");
    switch (r->kind) {
    case WPI_CU_RESOURCE_ARRAY:
        return fake_check_handle(r->u.array.array, FAKE_ARRAY, "resource") != NULL ? 0 : 400;
    case WPI_CU_RESOURCE_LINEAR:
        if (!is_format(r->u.linear.format, r->u.linear.channel_count) ||
            r->u.linear.data % 512 != 0)
            return WPI_CU_INVALID_VALUE;
        return fake_is_device_range((void *)(uintptr_t)r->u.linear.data, r->u.linear.size_bytes)
                   ? 0
                   : fake_misuse("a texture of memory that is not the device's");
    case WPI_CU_RESOURCE_PITCH_2D:
        if (!is_format(r->u.pitch_2d.format, r->u.pitch_2d.channel_count) ||
            r->u.pitch_2d.data % 512 != 0 || r->u.pitch_2d.pitch_bytes % 32 != 0)
            return WPI_CU_INVALID_VALUE;
        return 0;
    default: return fake_misuse("a resource of kind %d", r->kind);
    }
}

EXPORT wpi_cu_result cuTexObjectCreate(wpi_cu_object *out, const wpi_cu_resource *resource,
                                       const wpi_cu_texture *texture, const void *view) {
    CALL_IN_CONTEXT("cuTexObjectCreate");
    if (result == 0) result = check_resource(resource);
    if (result == 0 && (view != NULL || (texture->flags & ~3u) != 0))
        result = fake_misuse("a texture");
    if (result == 0) {
        fake_object *o = fake_make(FAKE_TEXTURE);
        o->resource = *resource;
        o->texture = *texture;
        *out = (wpi_cu_object)(uintptr_t)o;
    }
    RETURN;
}

EXPORT wpi_cu_result cuSurfObjectCreate(wpi_cu_object *out, const wpi_cu_resource *resource) {
    CALL_IN_CONTEXT("cuSurfObjectCreate");
    if (result == 0) result = check_resource(resource);
    if (result == 0 && (resource->kind != WPI_CU_RESOURCE_ARRAY ||
                        (((fake_object *)(void *)resource->u.array.array)->array.flags & 2) == 0))
        result = fake_misuse("a surface of something else than an array for surfaces");
    if (result == 0) {
        fake_object *o = fake_make(FAKE_SURFACE);
        o->resource = *resource;
        *out = (wpi_cu_object)(uintptr_t)o;
    }
    RETURN;
}

#define DESTROY_OBJECT(name, kind)                                                                 \
    EXPORT wpi_cu_result name(wpi_cu_object handle) {                                              \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0) (void)fake_wait_all();                                                    \
        if (result == 0) result = fake_destroy((void *)(uintptr_t)handle, kind, #name);            \
        RETURN;                                                                                    \
    }
DESTROY_OBJECT(cuTexObjectDestroy, FAKE_TEXTURE)
DESTROY_OBJECT(cuSurfObjectDestroy, FAKE_SURFACE)
