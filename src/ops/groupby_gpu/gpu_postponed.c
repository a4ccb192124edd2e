/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_postponed.h"

#include "base/alloc.h"

void wpi_gpu_postponed_deinit(wpi_gpu_postponed *postponed, wpi_gpu *gpu) {
    for (uint32_t i = 0; i < postponed->chunk_count; i++)
        wpi_gpu_free(gpu, postponed->chunks[i]);
    wpi_free(postponed->chunks);
    *postponed = (wpi_gpu_postponed){0};
}

uint32_t wpi_gpu_postponed_rows(const wpi_gpu_postponed *postponed, const wpi_gpu_format *format,
                                uint32_t i) {
    return i + 1 < postponed->chunk_count ? format->capacity : postponed->filled;
}

/* Allocates one more chunk, which becomes the last once it has rows. */
static wp_status make_chunk(const wpi_gpu_postponed *postponed, wpi_gpu *gpu,
                            const wpi_gpu_format *format, char **chunk, wp_error *err) {
    const wp_status status = wpi_gpu_alloc(gpu, WP_MEMORY_PINNED, format->chunk_bytes, chunk, err);
    return status == WP_STATUS_OK ? status
                                  : WP_FAIL(err, NOMEM, "%llu postponed rows in host memory",
                                            (unsigned long long)postponed->rows + format->capacity);
}

static wp_status list_room(wpi_gpu_postponed *postponed, wp_error *err) {
    if (postponed->chunk_count < postponed->chunk_capacity) return WP_STATUS_OK;
    const uint32_t capacity = 2 * postponed->chunk_capacity + 4;
    char **chunks = wpi_realloc(postponed->chunks, capacity * sizeof *chunks);
    if (chunks == NULL) return WP_FAIL(err, NOMEM, "a list of chunks");
    postponed->chunks = chunks;
    postponed->chunk_capacity = capacity;
    return WP_STATUS_OK;
}

static wp_status gather(wpi_gpu *gpu, const wpi_gpu_format *format, wpi_gpu_rows rows, char *to,
                        uint32_t at, wp_error *err) {
    wpi_gpu_layout layout = format->device;
    void *args[] = {&rows, &to, &layout, &at};
    if (rows.count == 0) return WP_STATUS_OK;
    return wpi_gpu_launch_over(gpu, WPI_GPU_GATHER, rows.count, args, err);
}

wp_status wpi_gpu_postponed_add(wpi_gpu_postponed *postponed, wpi_gpu *gpu,
                                const wpi_gpu_format *format, const char *chunk,
                                const uint32_t *list, uint32_t count, wp_error *err) {
    const uint32_t left = postponed->chunk_count == 0 ? 0 : format->capacity - postponed->filled;
    const uint32_t here = count < left ? count : left;
    wpi_gpu_rows rows = {.chunk = chunk, .list = list, .count = here};
    char *next = NULL;
    if (here < count) { /* `count` is at most a chunk */
        WP_TRY(list_room(postponed, err));
        WP_TRY(make_chunk(postponed, gpu, format, &next, err));
        postponed->chunks[postponed->chunk_count] = next;
    }
    char *last = postponed->chunk_count == 0 ? NULL : postponed->chunks[postponed->chunk_count - 1];
    wp_status status = gather(gpu, format, rows, last, postponed->filled, err);
    postponed->filled += here;
    if (next != NULL) {
        rows.list = list + here;
        rows.count = count - here;
        if (status == WP_STATUS_OK) status = gather(gpu, format, rows, next, 0, err);
        postponed->chunk_count++;
        postponed->filled = rows.count;
    }
    postponed->rows += count;
    return status == WP_STATUS_OK ? wp_queue_wait(gpu->work, err) : status;
}
