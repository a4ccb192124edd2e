/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies and fills. Pageable memory of the host is read when the copy is queued, and has been
 * written when the call returns; all other copies are done in their turn.
 */
#include "fake.h"

size_t fake_element_bytes(const wpi_cu_array_desc *a) {
    const size_t component = a->format == WPI_CU_FORMAT_U8 || a->format == WPI_CU_FORMAT_S8 ? 1
                             : a->format == WPI_CU_FORMAT_U16 || a->format == WPI_CU_FORMAT_S16 ||
                                     a->format == WPI_CU_FORMAT_HALF
                                 ? 2
                                 : 4;
    return component * a->channel_count;
}

/* The first byte of a side, and how far its rows are apart; NULL: a misuse. */
static char *side_at(int type, const void *host, wpi_cu_ptr device, wpi_cu_array array, size_t x,
                     size_t y, size_t z, size_t pitch, size_t width, size_t height, size_t *step,
                     const char *what) {
    const size_t span = (height - 1) * pitch + width;
    char *base;
    *step = pitch;
    switch (type) {
    case WPI_CU_MEMORY_HOST:
        base = (char *)(uintptr_t)host;
        if (fake_touches_device(base))
            return fake_misuse("%s: device memory given as host memory", what), NULL;
        break;
    case WPI_CU_MEMORY_DEVICE:
        base = (char *)(uintptr_t)device;
        if (!fake_is_device_range(base + x + y * pitch, span))
            return fake_misuse("%s: %p is not %zu bytes of device memory", what, (void *)base,
                               span),
                   NULL;
        break;
    case WPI_CU_MEMORY_ARRAY: {
        const fake_object *a = fake_check_handle(array, FAKE_ARRAY, what);
        if (a == NULL) return NULL;
        if (x + width > a->row_bytes || y + height > a->rows || z >= a->slices ||
            x % fake_element_bytes(&a->array) != 0 || width % fake_element_bytes(&a->array) != 0)
            return fake_misuse("%s: %zu bytes x %zu rows at %zu, %zu, %zu leave the array", what,
                               width, height, x, y, z),
                   NULL;
        *step = a->row_bytes;
        return a->base + (z * a->rows + y) * a->row_bytes + x;
    }
    default: return fake_misuse("%s: memory type %d", what, type), NULL;
    }
    if (height > 1 && pitch < width)
        return fake_misuse("%s: pitch %zu < width %zu", what, pitch, width), NULL;
    return base + x + y * pitch;
}

/* ---- work ---- */

typedef struct copy_work {
    char *to;
    const char *from;
    size_t to_step, from_step, width, height;
    char staged[]; /* what was read from pageable memory */
} copy_work;

static int do_copy(void *argument) {
    copy_work *c = argument;
    for (size_t y = 0; y < c->height; y++)
        memmove(c->to + y * c->to_step, c->from + y * c->from_step, c->width);
    free(c);
    return 0;
}

typedef struct fill_work {
    char *to;
    unsigned char value[4];
    size_t value_bytes, count;
} fill_work;

static int do_fill(void *argument) {
    const fill_work *f = argument;
    for (size_t i = 0; i < f->count; i++)
        memcpy(f->to + i * f->value_bytes, f->value, f->value_bytes);
    free(argument);
    return 0;
}

static bool is_in_array(const char *address) {
    return fake_find_range(address, 1, FAKE_ARRAY) != NULL;
}

static bool is_pageable(const char *address) {
    return !fake_is_device_range(address, 1) && !is_in_array(address) &&
           fake_find_range(address, 1, FAKE_HOST) == NULL &&
           fake_find_range(address, 1, FAKE_REGISTERED) == NULL;
}

static copy_work *make_copy(char *to, size_t to_step, const char *from, size_t from_step,
                            size_t width, size_t height, bool is_staged) {
    copy_work *c = malloc(sizeof *c + (is_staged ? width * height : 0));
    if (c == NULL) abort();
    *c = (copy_work){to, from, to_step, from_step, width, height};
    if (!is_staged) return c;
    for (size_t y = 0; y < height; y++)
        memcpy(c->staged + y * width, from + y * from_step, width);
    c->from = c->staged;
    c->from_step = width;
    return c;
}

static int copy_rows(wpi_cu_stream stream, char *to, size_t to_step, const char *from,
                     size_t from_step, size_t width, size_t height) {
    if (to == NULL || from == NULL) return WPI_CU_INVALID_VALUE;
    const bool waits = is_pageable(to);
    copy_work *c =
        make_copy(to, to_step, from, from_step, width, height, !waits && is_pageable(from));
    if (waits) return fake_enqueue_and_wait(stream, do_copy, c);
    (void)fake_enqueue(stream, do_copy, c, NULL);
    return 0;
}

/* ---- the driver's functions ---- */

EXPORT wpi_cu_result cuMemcpyAsync(wpi_cu_ptr dst, wpi_cu_ptr src, size_t bytes,
                                   wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpyAsync");
    char *to = (char *)(uintptr_t)dst;
    const char *from = (const char *)(uintptr_t)src;
    if (result == 0 && !fake_check_stream(stream, "cuMemcpyAsync")) result = 400;
    if (result == 0 && ((fake_touches_device(to) && !fake_is_device_range(to, bytes)) ||
                        (fake_touches_device(from) && !fake_is_device_range(from, bytes))))
        result = fake_misuse("cuMemcpyAsync: a range leaves its allocation");
    if (result == 0) result = copy_rows(stream, to, bytes, from, bytes, bytes, 1);
    RETURN;
}

EXPORT wpi_cu_result cuMemcpyHtoD_v2(wpi_cu_ptr dst, const void *src, size_t bytes) {
    CALL_IN_CONTEXT("cuMemcpyHtoD_v2");
    char *to = (char *)(uintptr_t)dst;
    if (result == 0 && !fake_is_device_range(to, bytes))
        result = fake_misuse("cuMemcpyHtoD: not device memory");
    if (result == 0)
        result =
            fake_enqueue_and_wait(NULL, do_copy, make_copy(to, bytes, src, bytes, bytes, 1, false));
    RETURN;
}

EXPORT wpi_cu_result cuMemcpy2DAsync_v2(const wpi_cu_copy_2d *c, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpy2DAsync_v2");
    if (result == 0 && !fake_check_stream(stream, "cuMemcpy2DAsync")) result = 400;
    if (result == 0) {
        size_t to_step, from_step;
        char *from = side_at(c->src_type, c->src_host, c->src_device, c->src_array, c->src_x_bytes,
                             c->src_y, 0, c->src_pitch_bytes, c->width_bytes, c->height, &from_step,
                             "cuMemcpy2DAsync: source");
        char *to = side_at(c->dst_type, c->dst_host, c->dst_device, c->dst_array, c->dst_x_bytes,
                           c->dst_y, 0, c->dst_pitch_bytes, c->width_bytes, c->height, &to_step,
                           "cuMemcpy2DAsync: destination");
        result = copy_rows(stream, to, to_step, from, from_step, c->width_bytes, c->height);
    }
    RETURN;
}

EXPORT wpi_cu_result cuMemcpy3DAsync_v2(const wpi_cu_copy_3d *c, wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemcpy3DAsync_v2");
    if (result == 0 && !fake_check_stream(stream, "cuMemcpy3DAsync")) result = 400;
    if (result == 0 && (c->depth != 1 || c->src_lod != 0 || c->dst_lod != 0 ||
                        c->reserved_0 != NULL || c->reserved_1 != NULL))
        result = fake_misuse("cuMemcpy3DAsync: depth, level or reserved field");
    if (result == 0) {
        size_t to_step, from_step;
        char *from = side_at(c->src_type, c->src_host, c->src_device, c->src_array, c->src_x_bytes,
                             c->src_y, c->src_z, c->src_pitch_bytes, c->width_bytes, c->height,
                             &from_step, "cuMemcpy3DAsync: source");
        char *to = side_at(c->dst_type, c->dst_host, c->dst_device, c->dst_array, c->dst_x_bytes,
                           c->dst_y, c->dst_z, c->dst_pitch_bytes, c->width_bytes, c->height,
                           &to_step, "cuMemcpy3DAsync: destination");
        result = copy_rows(stream, to, to_step, from, from_step, c->width_bytes, c->height);
    }
    RETURN;
}

static int fill(wpi_cu_ptr dst, const void *value, size_t value_bytes, size_t count,
                wpi_cu_stream stream, const char *call) {
    char *to = (char *)(uintptr_t)dst;
    if (!fake_check_stream(stream, call)) return 400;
    if ((uintptr_t)to % value_bytes != 0)
        return fake_misuse("%s: %p is misaligned", call, (void *)to);
    if (!fake_is_device_range(to, count * value_bytes) &&
        !fake_find_range(to, count * value_bytes, FAKE_HOST) &&
        !fake_find_range(to, count * value_bytes, FAKE_REGISTERED))
        return fake_misuse("%s: not memory that the device knows", call);
    fill_work *f = malloc(sizeof *f);
    if (f == NULL) abort();
    *f = (fill_work){.to = to, .value_bytes = value_bytes, .count = count};
    memcpy(f->value, value, value_bytes);
    (void)fake_enqueue(stream, do_fill, f, NULL);
    return 0;
}

#define FILL(name, type)                                                                           \
    EXPORT wpi_cu_result name(wpi_cu_ptr dst, type value, size_t count, wpi_cu_stream stream) {    \
        CALL_IN_CONTEXT(#name);                                                                    \
        if (result == 0) result = fill(dst, &value, sizeof value, count, stream, #name);           \
        RETURN;                                                                                    \
    }
FILL(cuMemsetD8Async, unsigned char)
FILL(cuMemsetD16Async, unsigned short)
FILL(cuMemsetD32Async, unsigned)
