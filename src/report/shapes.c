/* SPDX-License-Identifier: Apache-2.0 */
#include "report/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const uint32_t rest[3] = {0, 0, 0};

bool wpi_shape_is_rest(const wp_run_shape *shape) {
    return memcmp(shape->grid, rest, sizeof rest) == 0;
}

static bool is_of(const wp_run_shape *shape, const uint32_t grid[3], const uint32_t block[3]) {
    return memcmp(shape->grid, grid, sizeof shape->grid) == 0 &&
           memcmp(shape->block, block, sizeof shape->block) == 0;
}

/* The row, created if new; NULL: out of memory. The latest shapes repeat most often. */
static wp_run_shape *find(wp_run_kernel *kernel, const uint32_t grid[3], const uint32_t block[3]) {
    for (size_t i = kernel->shape_count; i-- > 0;)
        if (is_of(&kernel->shapes[i], grid, block)) return &kernel->shapes[i];
    if (kernel->shape_count >= WP_RUN_SHAPES && memcmp(grid, rest, sizeof rest) != 0)
        return find(kernel, rest, rest);
    wp_run_shape *larger =
        wpi_realloc(kernel->shapes, (kernel->shape_count + 1) * sizeof *kernel->shapes);
    if (larger == NULL) return NULL;
    kernel->shapes = larger;
    wp_run_shape *shape = &kernel->shapes[kernel->shape_count++];
    *shape = (wp_run_shape){.time_min_ns = UINT64_MAX};
    memcpy(shape->grid, grid, sizeof shape->grid);
    memcpy(shape->block, block, sizeof shape->block);
    return shape;
}

void wpi_shapes_add(wp_run_kernel *kernel, const uint32_t grid[3], const uint32_t block[3],
                    uint64_t time_ns) {
    wp_run_shape *shape = find(kernel, grid, block);
    if (shape == NULL) return;
    shape->launches++;
    shape->time_ns += time_ns;
    if (time_ns < shape->time_min_ns) shape->time_min_ns = time_ns;
    if (time_ns > shape->time_max_ns) shape->time_max_ns = time_ns;
}

static int by_time(const void *a, const void *b) {
    const wp_run_shape *x = a;
    const wp_run_shape *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    for (int i = 0; i < 3; i++) {
        if (x->grid[i] != y->grid[i]) return x->grid[i] > y->grid[i] ? -1 : 1;
        if (x->block[i] != y->block[i]) return x->block[i] > y->block[i] ? -1 : 1;
    }
    return 0;
}

void wpi_shapes_sort(wp_run_kernel *kernel) {
    if (kernel->shape_count != 0)
        qsort(kernel->shapes, kernel->shape_count, sizeof *kernel->shapes, by_time);
}

const char *wpi_shape_dim(const uint32_t dim[3], char out[40]) {
    if (dim[2] > 1)
        (void)snprintf(out, 40, "%" PRIu32 " × %" PRIu32 " × %" PRIu32, dim[0], dim[1], dim[2]);
    else if (dim[1] > 1)
        (void)snprintf(out, 40, "%" PRIu32 " × %" PRIu32, dim[0], dim[1]);
    else
        (void)snprintf(out, 40, "%" PRIu32, dim[0]);
    return out;
}

static json_t *triple(const uint32_t values[3]) {
    json_t *array = json_array();
    for (int i = 0; i < 3; i++)
        wpi_json_append(array, wpi_json_number(values[i]));
    return array;
}

json_t *wpi_shapes_to_json(const wp_run_kernel *kernel) {
    json_t *array = json_array();
    for (size_t i = 0; i < kernel->shape_count; i++) {
        const wp_run_shape *s = &kernel->shapes[i];
        json_t *object = json_object();
        wpi_json_set(object, "grid", triple(s->grid));
        wpi_json_set(object, "block", triple(s->block));
        wpi_json_set(object, "launches", wpi_json_number(s->launches));
        wpi_json_set(object, "time_ns", wpi_json_number(s->time_ns));
        wpi_json_set(object, "time_min_ns", wpi_json_number(s->time_min_ns));
        wpi_json_set(object, "time_max_ns", wpi_json_number(s->time_max_ns));
        wpi_json_append(array, object);
    }
    return array;
}

static void read_triple(wpi_json_reader *r, const json_t *object, const char *key,
                        uint32_t out[3]) {
    const json_t *array = wpi_json_member(r, object, key, JSON_ARRAY);
    for (size_t i = 0; i < 3; i++)
        out[i] = (uint32_t)json_integer_value(json_array_get(array, i));
}

void wpi_shapes_from_json(wpi_json_reader *r, const json_t *array, wp_run_kernel *out) {
    const size_t count = json_array_size(array);
    if (count == 0) return;
    out->shapes = wpi_calloc(count, sizeof *out->shapes);
    WP_CHECK(out->shapes != NULL);
    for (; out->shape_count < count; out->shape_count++) {
        const json_t *object = json_array_get(array, out->shape_count);
        wp_run_shape *s = &out->shapes[out->shape_count];
        read_triple(r, object, "grid", s->grid);
        read_triple(r, object, "block", s->block);
        s->launches = wpi_json_read_number(r, object, "launches");
        s->time_ns = wpi_json_read_number(r, object, "time_ns");
        s->time_min_ns = wpi_json_read_number(r, object, "time_min_ns");
        s->time_max_ns = wpi_json_read_number(r, object, "time_max_ns");
    }
}
