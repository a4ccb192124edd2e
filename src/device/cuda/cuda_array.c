/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arrays, textures and surfaces.
 *
 * The layout of an array is private to the GPU: only copies, textures and surfaces can access it.
 * Callers nevertheless use addresses for places in arrays, as if rows followed each other without
 * gaps. So an array reserves a range of unmapped addresses, and a copy that begins in such a range
 * is converted to one with array and position:
 *
 *     base + (z * rows + y) * row_bytes + x   ──►   array, x, y, z
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "device/cuda/cuda.h"

static int format_of(wpi_tex_channel channel, unsigned bits) {
    switch (channel) {
    case WPI_TEX_CHANNEL_SIGNED:
        return bits == 8 ? WPI_CU_FORMAT_S8 : bits == 16 ? WPI_CU_FORMAT_S16 : WPI_CU_FORMAT_S32;
    case WPI_TEX_CHANNEL_UNSIGNED:
        return bits == 8 ? WPI_CU_FORMAT_U8 : bits == 16 ? WPI_CU_FORMAT_U16 : WPI_CU_FORMAT_U32;
    default: return bits == 16 ? WPI_CU_FORMAT_HALF : WPI_CU_FORMAT_FLOAT;
    }
}

static unsigned channel_count(const uint8_t bits[4]) {
    unsigned count = 0;
    while (count < 4 && bits[count] != 0)
        count++;
    return count;
}

static size_t range_bytes(const wpi_cuda_array *array) {
    return array->row_bytes * array->rows * array->slices;
}

/* ---- life ---- */

static wp_status measure(const wpi_array *d, wpi_cuda_array *array, size_t *size_bytes,
                         wp_error *err) {
    array->rows = d->height != 0 ? d->height : 1;
    array->slices = d->depth != 0 ? d->depth : 1;
    if (!wpi_mul_size(d->width, d->element_bytes, &array->row_bytes) ||
        !wpi_mul_size(array->row_bytes, array->rows, size_bytes) ||
        !wpi_mul_size(*size_bytes, array->slices, size_bytes)) {
        return WP_FAIL(err, DEVICE_NOMEM, "an array of %zu x %zu x %zu elements", d->width,
                       d->height, d->depth);
    }
    return WP_STATUS_OK;
}

wp_status wpi_cuda_array_create(wp_device *base, const wpi_array *d, void **out, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    wp_status status = WP_STATUS_OK;
    size_t size_bytes;
    wpi_cuda_array *array = wpi_calloc(1, sizeof *array);
    if (array == NULL) return WP_FAIL(err, NOMEM, "array");
    WP_TRY_GOTO(measure(d, array, &size_bytes, err), failed);
    void *range =
        mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        status = WP_FAIL(err, NOMEM, "the system has no address range of %zu bytes", size_bytes);
        goto failed;
    }
    array->base = range;
    const wpi_cu_array_desc description = {.width = d->width,
                                           .height = d->height,
                                           .depth = d->depth,
                                           .format = format_of(d->channel, d->channel_bits[0]),
                                           .channel_count = channel_count(d->channel_bits),
                                           .flags = d->flags};
    WP_TRY_GOTO(wpi_cuda_check(device, device->cu->array_create(&array->array, &description),
                               "making an array", err),
                failed_range);
    const wpi_memory_entry entry = {
        .allocation = {.base = range, .size_bytes = size_bytes, .kind = WP_MEMORY_ARRAY},
        .device = base};
    WP_TRY_GOTO(wpi_memory_map_add(wpi_memory_map_global(), &entry, err), failed_array);
    wpi_link_add(device, &device->arrays, &array->link);
    *out = range;
    return WP_STATUS_OK;

failed_array:
    (void)device->cu->array_destroy(array->array);
failed_range:
    (void)munmap(range, size_bytes);
failed:
    wpi_free(array);
    return status;
}

wpi_cuda_array *wpi_cuda_array_find(wpi_cuda_device *device, const void *address) {
    wpi_cuda_array *found = NULL;
    pthread_mutex_lock(&device->lock);
    for (wpi_link *l = device->arrays.next; l != &device->arrays && found == NULL; l = l->next) {
        wpi_cuda_array *array = WPI_MEMBER(l, wpi_cuda_array);
        if ((uintptr_t)address - (uintptr_t)array->base < range_bytes(array)) found = array;
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

wp_status wpi_cuda_array_free(wpi_cuda_device *device, const void *base, wp_error *err) {
    wpi_cuda_array *array = wpi_cuda_array_find(device, base);
    if (array == NULL || !wpi_memory_map_remove(wpi_memory_map_global(), base, NULL)) {
        return WP_FAIL(err, INVALID, "%p was freed by another thread", base);
    }
    wpi_link_remove(device, &array->link);
    wp_status status = wpi_cuda_enter(device, err);
    if (status == WP_STATUS_OK)
        status = wpi_cuda_check_end(device, device->cu->array_destroy(array->array),
                                    "freeing an array", err);
    (void)munmap(array->base, range_bytes(array));
    wpi_free(array);
    return status;
}

/* ---- copies ---- */

/* One side of a copy: a place in an array, or an address. */
typedef struct side {
    wpi_cuda_array *array;
    char *address;
    size_t pitch_bytes;
} side;

static side side_at(wpi_cuda_device *device, const void *address, size_t pitch_bytes) {
    return (side){wpi_cuda_array_find(device, address), (char *)(uintptr_t)address, pitch_bytes};
}

static size_t x_of(const side *s) {
    return (size_t)(s->address - s->array->base) % s->array->row_bytes;
}

static size_t y_of(const side *s) {
    return (size_t)(s->address - s->array->base) / s->array->row_bytes % s->array->rows;
}

static size_t z_of(const side *s) {
    return (size_t)(s->address - s->array->base) / s->array->row_bytes / s->array->rows;
}

/* Copies rows that are consecutive on both sides. */
static wp_status copy_box(wpi_cuda_queue *queue, const side *dst, const side *src,
                          size_t width_bytes, size_t height, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(queue->base.device);
    wpi_cu_copy_3d c = {.width_bytes = width_bytes, .height = height, .depth = 1};
    if (src->array != NULL) {
        c.src_type = WPI_CU_MEMORY_ARRAY;
        c.src_array = src->array->array;
        c.src_x_bytes = x_of(src);
        c.src_y = y_of(src);
        c.src_z = z_of(src);
    } else {
        c.src_type = wpi_cuda_memory_type(src->address);
        if (c.src_type == WPI_CU_MEMORY_HOST)
            c.src_host = src->address;
        else
            c.src_device = (wpi_cu_ptr)(uintptr_t)src->address;
        c.src_pitch_bytes = src->pitch_bytes;
        c.src_height = height;
    }
    if (dst->array != NULL) {
        c.dst_type = WPI_CU_MEMORY_ARRAY;
        c.dst_array = dst->array->array;
        c.dst_x_bytes = x_of(dst);
        c.dst_y = y_of(dst);
        c.dst_z = z_of(dst);
    } else {
        c.dst_type = wpi_cuda_memory_type(dst->address);
        if (c.dst_type == WPI_CU_MEMORY_HOST)
            c.dst_host = dst->address;
        else
            c.dst_device = (wpi_cu_ptr)(uintptr_t)dst->address;
        c.dst_pitch_bytes = dst->pitch_bytes;
        c.dst_height = height;
    }
    return wpi_cuda_check(device, device->cu->copy_3d(&c, queue->stream), "copying an array", err);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Copies bytes in the order of elements, across row ends: the rest of a row, then whole rows that
 * are consecutive on both sides, then the remainder. */
static wp_status copy_linear(wpi_cuda_queue *queue, side dst, side src, size_t bytes,
                             wp_error *err) {
    while (bytes != 0) {
        size_t width = bytes, rows = SIZE_MAX, whole = 0;
        bool is_whole = true;
        const side *const sides[2] = {&dst, &src};
        for (int i = 0; i < 2; i++) {
            const side *s = sides[i];
            if (s->array == NULL) continue;
            width = least(width, s->array->row_bytes - x_of(s));
            rows = least(rows, s->array->rows - y_of(s));
            is_whole = is_whole && x_of(s) == 0 && (whole == 0 || whole == s->array->row_bytes);
            whole = s->array->row_bytes;
        }
        is_whole = is_whole && bytes >= whole;
        const size_t height = is_whole ? least(rows, bytes / whole) : 1;
        dst.pitch_bytes = src.pitch_bytes = width;
        WP_TRY(copy_box(queue, &dst, &src, width, height, err));
        dst.address += width * height;
        src.address += width * height;
        bytes -= width * height;
    }
    return WP_STATUS_OK;
}

/* Whether rows `pitch` apart are consecutive rows of the array. */
static bool is_box(const side *s, size_t width_bytes, size_t height) {
    return s->array == NULL ||
           (s->pitch_bytes == s->array->row_bytes && width_bytes <= s->array->row_bytes - x_of(s) &&
            height <= s->array->rows - y_of(s));
}

static bool is_inside(const side *s, size_t width_bytes, size_t height) {
    if (s->array == NULL) return true;
    const size_t left_bytes = range_bytes(s->array) - (size_t)(s->address - s->array->base);
    return (height - 1) * s->pitch_bytes + width_bytes <= left_bytes;
}

wp_status wpi_cuda_array_copy(wpi_cuda_queue *queue, void *dst, size_t dst_pitch_bytes,
                              const void *src, size_t src_pitch_bytes, size_t width_bytes,
                              size_t height, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(queue->base.device);
    side to = side_at(device, dst, dst_pitch_bytes), from = side_at(device, src, src_pitch_bytes);
    if (!is_inside(&to, width_bytes, height) || !is_inside(&from, width_bytes, height))
        return WP_FAIL(err, INVALID, "a copy exceeds the array");
    if (height > 1 && is_box(&to, width_bytes, height) && is_box(&from, width_bytes, height))
        return copy_box(queue, &to, &from, width_bytes, height, err);
    for (size_t y = 0; y < height; y++) {
        WP_TRY(copy_linear(queue, to, from, width_bytes, err));
        to.address += dst_pitch_bytes;
        from.address += src_pitch_bytes;
    }
    return WP_STATUS_OK;
}

/* ---- textures and surfaces ---- */

static wp_status describe(wpi_cuda_device *device, const wpi_texture *t, bool is_surface,
                          wpi_cu_resource *out, wp_error *err) {
    *out = (wpi_cu_resource){.kind = WPI_CU_RESOURCE_ARRAY};
    const wpi_cuda_array *array = wpi_cuda_array_find(device, t->data);
    if (array != NULL) {
        out->u.array.array = array->array;
        return WP_STATUS_OK;
    }
    if (is_surface) return WP_FAIL(err, INVALID, "a surface needs an array");
    const wpi_cu_ptr data = (wpi_cu_ptr)(uintptr_t)t->data;
    const int format = format_of(t->channel, t->channel_bits[0]);
    const unsigned channels = channel_count(t->channel_bits);
    if (t->height == 0) {
        int width_max = 0;
        WP_TRY(wpi_cuda_check(device,
                              device->cu->device_attribute(&width_max,
                                                           WPI_CU_ATTRIBUTE_TEXTURE_1D_LINEAR_WIDTH,
                                                           device->number),
                              "asking for an attribute", err));
        /* Bindings without a size extend to the end of the allocation, which may exceed the
         * limit. */
        const size_t width = least(t->width, width_max > 0 ? (size_t)width_max : t->width);
        out->kind = WPI_CU_RESOURCE_LINEAR;
        out->u.linear.data = data;
        out->u.linear.format = format;
        out->u.linear.channel_count = channels;
        out->u.linear.size_bytes = width * channels * t->channel_bits[0] / 8;
    } else {
        out->kind = WPI_CU_RESOURCE_PITCH_2D;
        out->u.pitch_2d.data = data;
        out->u.pitch_2d.format = format;
        out->u.pitch_2d.channel_count = channels;
        out->u.pitch_2d.width = t->width;
        out->u.pitch_2d.height = t->height;
        out->u.pitch_2d.pitch_bytes = t->pitch_bytes;
    }
    return WP_STATUS_OK;
}

wp_status wpi_cuda_texture_create(wp_device *base, const wpi_texture *t, bool is_surface,
                                  uint64_t *handle, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    wpi_cu_resource resource;
    WP_TRY(wpi_cuda_enter(device, err));
    WP_TRY(describe(device, t, is_surface, &resource, err));
    wpi_cu_object object = 0;
    if (is_surface) {
        WP_TRY(wpi_cuda_check(device, device->cu->surface_create(&object, &resource),
                              "making a surface object", err));
    } else {
        wpi_cu_texture modes = {.filter = t->is_linear ? 1 : 0};
        for (int i = 0; i < 3; i++)
            modes.address[i] = (int)t->address[i];
        if (t->is_normalized) modes.flags |= WPI_CU_TEXTURE_NORMALIZED;
        if (!t->reads_floats && t->channel != WPI_TEX_CHANNEL_FLOAT)
            modes.flags |= WPI_CU_TEXTURE_AS_INTEGER;
        memcpy(modes.border, t->border, sizeof modes.border);
        WP_TRY(wpi_cuda_check(device, device->cu->texture_create(&object, &resource, &modes, NULL),
                              "making a texture object", err));
    }
    *handle = object;
    return WP_STATUS_OK;
}

void wpi_cuda_texture_destroy(wp_device *base, uint64_t handle, bool is_surface) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    if (wpi_cuda_enter(device, NULL) != WP_STATUS_OK) return;
    const wpi_cu_result result =
        is_surface ? device->cu->surface_destroy(handle) : device->cu->texture_destroy(handle);
    const wp_status ignored =
        wpi_cuda_check_end(device, result, "destroying a texture or surface object", NULL);
    (void)ignored;
}

wp_status wpi_cuda_texture_bind(wp_device *base, void *variable, uint64_t handle, wp_error *err) {
    wpi_cuda_device *device = wpi_cuda_of(base);
    WP_TRY(wpi_cuda_enter(device, err));
    return wpi_cuda_check(
        device, device->cu->copy_in((wpi_cu_ptr)(uintptr_t)variable, &handle, sizeof handle),
        "binding a texture or surface reference", err);
}
