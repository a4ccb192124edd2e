/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_chunk.h"

#include <string.h>

#include "base/alloc.h"

#define ROWS_GRANULE 64u /* columns begin at multiples of 64 bytes */
#define ROWS_MAX ((uint32_t)1 << 30)

/* ---- the format of chunks ---- */

static uint32_t add_column(wpi_gpu_format *format, wpi_gpu_column *columns, uint32_t bytes) {
    const uint32_t number = format->layout.column_count++;
    columns[number] = (wpi_gpu_column){.offset_bytes = format->row_bytes, .bytes = bytes};
    format->row_bytes += bytes;
    return number;
}

/* A column of values, unless it is there. */
static void add_values(wpi_gpu_format *format, wpi_gpu_column *columns, uint32_t value) {
    if (format->values[value] != WPI_GPU_NONE) return;
    format->values[value] =
        add_column(format, columns, wp_type_bytes(format->shape->values[value]));
    add_column(format, columns, 1);
}

/* The columns and their offsets in a chunk of one row. */
static void list_columns(wpi_gpu_format *format, wpi_gpu_column *columns) {
    const wpi_shape *shape = format->shape;
    format->key_bytes = wpi_keys_bits(format->keys) <= 32 ? 4 : 8;
    add_column(format, columns, format->key_bytes);
    format->layout.nulls = WPI_GPU_NONE;
    if (wpi_keys_form(format->keys) == WPI_KEYS_ONE && shape->keys[0].is_nullable)
        format->layout.nulls = add_column(format, columns, 1);
    for (uint32_t i = 0; i < shape->value_count; i++)
        format->values[i] = WPI_GPU_NONE;
    for (uint32_t i = 0; i < shape->accumulator_count; i++) {
        add_values(format, columns, shape->accumulators[i].value);
        if (shape->accumulators[i].weight != WP_ALL_ROWS)
            add_values(format, columns, shape->accumulators[i].weight);
    }
}

static uint32_t words_of(wpi_accumulate how) {
    if (how == WPI_ACCUMULATE_MOMENTS) return WPI_GPU_MOMENT_WORDS;
    return how == WPI_ACCUMULATE_SUM_INTEGER ? 2 : 1;
}

static void list_accumulators(wpi_gpu_format *format, wpi_gpu_accumulator *accumulators) {
    const wpi_shape *shape = format->shape;
    uint32_t word = 2; /* behind key and rows */
    for (uint32_t i = 0; i < shape->accumulator_count; i++) {
        const wpi_accumulator *it = &shape->accumulators[i];
        const uint32_t column = format->values[it->value];
        accumulators[i] = (wpi_gpu_accumulator){.how = it->how,
                                                .type = it->type,
                                                .column = column,
                                                .valid = column + 1,
                                                .word = word,
                                                .weight = WPI_GPU_NONE};
        if (it->weight != WP_ALL_ROWS) {
            accumulators[i].weight = format->values[it->weight];
            accumulators[i].weight_type = shape->values[it->weight];
        }
        word += words_of(it->how);
    }
    format->layout.accumulator_count = shape->accumulator_count;
    const bool is_narrow =
        word == 2 && format->key_bytes == 4 && format->layout.nulls == WPI_GPU_NONE;
    format->bucket_words = is_narrow ? 0 : word;
}

static void set_capacity(wpi_gpu_format *format, wpi_gpu_column *columns, uint64_t chunk_bytes,
                         uint64_t expected_rows) {
    uint64_t rows = chunk_bytes / format->row_bytes;
    if (expected_rows != 0 && rows > expected_rows) rows = expected_rows;
    if (rows > ROWS_MAX) rows = ROWS_MAX;
    format->capacity = (uint32_t)((rows + ROWS_GRANULE - 1) / ROWS_GRANULE * ROWS_GRANULE);
    if (format->capacity == 0) format->capacity = ROWS_GRANULE;
    for (uint32_t i = 0; i < format->layout.column_count; i++)
        columns[i].offset_bytes *= format->capacity;
    format->chunk_bytes = (uint64_t)format->capacity * format->row_bytes;
}

static wp_status put_on_device(wpi_gpu_format *format, wpi_gpu *gpu, const void *lists,
                               size_t columns_bytes, size_t bytes, wp_error *err) {
    WP_TRY(wpi_gpu_alloc(gpu, WP_MEMORY_DEVICE, bytes, &format->device_memory, err));
    WP_TRY(wp_queue_copy(gpu->work, format->device_memory, lists, bytes, err));
    format->device = format->layout;
    format->device.columns = format->device_memory;
    format->device.accumulators =
        (const wpi_gpu_accumulator *)(const void *)((char *)format->device_memory + columns_bytes);
    return wp_queue_wait(gpu->work, err);
}

wp_status wpi_gpu_format_init(wpi_gpu_format *format, wpi_gpu *gpu, const wpi_shape *shape,
                              wpi_keys *keys, uint64_t chunk_bytes, uint64_t rows, wp_error *err) {
    const size_t columns_bytes = (2 + 2 * (size_t)shape->value_count) * sizeof(wpi_gpu_column);
    const size_t bytes = columns_bytes + shape->accumulator_count * sizeof(wpi_gpu_accumulator);
    *format = (wpi_gpu_format){.shape = shape, .keys = keys};
    char *lists = wpi_calloc(1, bytes);
    format->layout.columns = (const wpi_gpu_column *)(const void *)lists;
    format->values = wpi_calloc(shape->value_count + 1, sizeof *format->values);
    format->buffer = wpi_calloc(WPI_GPU_PACK_ROWS, sizeof *format->buffer);
    if (lists == NULL || format->values == NULL || format->buffer == NULL)
        return WP_FAIL(err, NOMEM, "the format of chunks");
    wpi_gpu_column *columns = (wpi_gpu_column *)(void *)lists;
    wpi_gpu_accumulator *accumulators = (wpi_gpu_accumulator *)(void *)(lists + columns_bytes);
    format->layout.accumulators = accumulators;
    list_columns(format, columns);
    list_accumulators(format, accumulators);
    set_capacity(format, columns, chunk_bytes, rows);
    return put_on_device(format, gpu, lists, columns_bytes, bytes, err);
}

void wpi_gpu_format_deinit(wpi_gpu_format *format, wpi_gpu *gpu) {
    wpi_gpu_free(gpu, format->device_memory);
    wpi_free((void *)(uintptr_t)format->layout.columns);
    wpi_free(format->values);
    wpi_free(format->buffer);
    *format = (wpi_gpu_format){0};
}

/* ---- rows ---- */

static char *place(const wpi_gpu_format *format, char *chunk, uint32_t column, uint32_t row) {
    const wpi_gpu_column *it = &format->layout.columns[column];
    return chunk + it->offset_bytes + (size_t)row * it->bytes;
}

static wp_status put_keys(wpi_gpu_format *format, const wp_column *keys, uint64_t first,
                          uint32_t count, char *chunk, uint32_t at, wp_error *err) {
    for (uint32_t done = 0; done < count; done += WPI_GPU_PACK_ROWS) {
        const uint32_t now = count - done < WPI_GPU_PACK_ROWS ? count - done : WPI_GPU_PACK_ROWS;
        uint8_t *nulls = NULL;
        if (format->layout.nulls != WPI_GPU_NONE)
            nulls = (uint8_t *)place(format, chunk, format->layout.nulls, at + done);
        WP_TRY(wpi_keys_pack(format->keys, keys, first + done, now, format->buffer, nulls, err));
        char *to = place(format, chunk, 0, at + done);
        if (format->key_bytes == 8)
            memcpy(to, format->buffer, now * sizeof *format->buffer);
        else
            for (uint32_t i = 0; i < now; i++)
                ((uint32_t *)(void *)to)[i] = (uint32_t)format->buffer[i];
    }
    return WP_STATUS_OK;
}

static void put_values(const wpi_gpu_format *format, uint32_t column, const wp_column *values,
                       uint64_t first, uint32_t count, char *chunk, uint32_t at) {
    const size_t bytes = wp_type_bytes(values->type);
    uint8_t *valid = (uint8_t *)place(format, chunk, column + 1, at);
    memcpy(place(format, chunk, column, at), (const char *)values->values + first * bytes,
           count * bytes);
    for (uint32_t i = 0; i < count; i++)
        valid[i] = wpi_is_valid(values, first + i);
}

wp_status wpi_gpu_format_put(wpi_gpu_format *format, const wp_column *keys, const wp_column *values,
                             uint64_t first, uint32_t count, char *chunk, uint32_t at,
                             wp_error *err) {
    WP_TRY(put_keys(format, keys, first, count, chunk, at, err));
    for (uint32_t i = 0; i < format->shape->value_count; i++)
        if (format->values[i] != WPI_GPU_NONE)
            put_values(format, format->values[i], &values[i], first, count, chunk, at);
    return WP_STATUS_OK;
}

wp_status wpi_gpu_format_copy(const wpi_gpu_format *format, wp_queue *queue, char *to,
                              const char *from, uint32_t first, uint32_t rows, wp_error *err) {
    if (rows == format->capacity) return wp_queue_copy(queue, to, from, format->chunk_bytes, err);
    for (uint32_t i = 0; i < format->layout.column_count; i++) {
        const wpi_gpu_column *it = &format->layout.columns[i];
        const uint64_t offset_bytes = it->offset_bytes + (uint64_t)first * it->bytes;
        WP_TRY(wp_queue_copy(queue, to + offset_bytes, from + offset_bytes,
                             (uint64_t)rows * it->bytes, err));
    }
    return WP_STATUS_OK;
}
