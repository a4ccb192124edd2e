/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_cpu/cpu_partition.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"

static bool init_stream(wpi_cpu_stream *stream, wp_type type, wp_type given,
                        uint32_t morsel_count) {
    stream->type = type;
    stream->item_bytes = wp_type_bytes(type);
    stream->given_bytes = wp_type_bytes(given);
    const size_t items = (size_t)morsel_count * WPI_CPU_MORSEL;
    stream->items = wpi_cpu_memory_alloc(stream->item_bytes * items);
    return stream->items != NULL;
}

wp_status wpi_cpu_exchange_init(wpi_cpu_exchange *exchange, wp_type key_type,
                                uint32_t partition_count, uint32_t morsel_count,
                                uint32_t used_count, const wpi_shape *shape,
                                const wpi_cpu_traits *traits, wp_error *err) {
    *exchange = (wpi_cpu_exchange){.partition_count = partition_count,
                                   .morsel_count = morsel_count,
                                   .used_count = used_count,
                                   .value_count = shape->value_count};
    exchange->values = wpi_calloc(shape->value_count + 1, sizeof *exchange->values);
    exchange->nulls = wpi_calloc(shape->value_count + 1, sizeof *exchange->nulls);
    exchange->starts = wpi_calloc(morsel_count * (partition_count + (size_t)1), sizeof(uint32_t));
    bool is_ok = exchange->values != NULL && exchange->nulls != NULL && exchange->starts != NULL &&
                 init_stream(&exchange->keys, key_type, key_type, morsel_count);
    for (uint32_t i = 0; i < shape->value_count && is_ok; i++) {
        const wp_type given = shape->values[i];
        const wp_type type = traits->is_wide[i] ? given : wpi_cpu_narrow_type(given);
        is_ok = init_stream(&exchange->values[i], type, given, morsel_count) &&
                (!traits->has_nulls[i] ||
                 init_stream(&exchange->nulls[i], WP_TYPE_UINT8, WP_TYPE_UINT8, morsel_count));
    }
    if (is_ok) return WP_STATUS_OK;
    wpi_cpu_exchange_deinit(exchange);
    return WP_FAIL(err, NOMEM, "rows to be partitioned: %u morsels", morsel_count);
}

void wpi_cpu_exchange_deinit(wpi_cpu_exchange *exchange) {
    for (uint32_t i = 0; i < exchange->value_count; i++) {
        if (exchange->values != NULL) wpi_free(exchange->values[i].items);
        if (exchange->nulls != NULL) wpi_free(exchange->nulls[i].items);
    }
    wpi_free(exchange->keys.items);
    wpi_free(exchange->values);
    wpi_free(exchange->nulls);
    wpi_free(exchange->starts);
    *exchange = (wpi_cpu_exchange){0};
}

static uint32_t *start_of(const wpi_cpu_exchange *exchange, uint32_t morsel, uint32_t partition) {
    return &exchange->starts[(size_t)partition * exchange->morsel_count + morsel];
}

void wpi_cpu_exchange_clear(wpi_cpu_exchange *exchange, uint32_t used_count) {
    exchange->used_count = used_count;
    atomic_store(&exchange->row_count, 0);
    for (uint32_t i = 0; exchange->starts != NULL && i <= exchange->partition_count; i++)
        memset(start_of(exchange, 0, i), 0, used_count * sizeof *exchange->starts);
}

/* The index of each partition's first row: in the exchange, whose rows of the morsel begin at
 * `first`, and within the morsel. */
static void count(const wpi_cpu_exchange *exchange, uint32_t morsel, uint32_t first,
                  const wpi_cpu_routes *routes, uint32_t *next) {
    memset(next, 0, exchange->partition_count * sizeof *next);
    for (uint32_t i = 0; i < routes->count; i++)
        next[routes->partitions[i]]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < exchange->partition_count; i++) {
        const uint32_t here = next[i];
        *start_of(exchange, morsel, i) = first + sum;
        next[i] = sum;
        sum += here;
    }
    *start_of(exchange, morsel, exchange->partition_count) = first + sum;
}

/* Copies sorted rows to the exchange. */
static void move(const wpi_cpu_stream *stream, uint32_t first, uint32_t count, const void *items) {
    const size_t bytes = stream->item_bytes;
    memcpy(stream->items + first * bytes, items, count * bytes);
}

/* ---- rows with one narrow value or none: in one loop ---- */

#define SCATTER(bits)                                                                              \
    static void scatter_##bits(const wpi_cpu_routes *routes, uint32_t *restrict next,              \
                               const uint##bits##_t *restrict keys, uint##bits##_t *restrict to,   \
                               const uint64_t *restrict values, uint32_t *restrict values_to) {    \
        for (uint32_t i = 0; i < routes->count; i++) {                                             \
            const uint32_t row = routes->is_all ? i : routes->rows[i];                             \
            const uint32_t place = next[routes->partitions[i]]++;                                  \
            to[place] = keys[row];                                                                 \
            if (values_to != NULL) values_to[place] = (uint32_t)values[row];                       \
        }                                                                                          \
    }
SCATTER(16)
SCATTER(32)
SCATTER(64)

static bool is_simple(const wpi_cpu_exchange *exchange) {
    const wpi_cpu_stream *value = &exchange->values[0];
    if (exchange->value_count > 1) return false;
    return exchange->value_count == 0 ||
           (value->item_bytes == 4 && value->given_bytes == 8 && exchange->nulls[0].items == NULL);
}

static void scatter(const wpi_cpu_exchange *exchange, uint32_t first, wpi_cpu_routes *routes,
                    uint32_t *next, const void *keys, const wpi_cpu_values *values) {
    const bool is_with_value = exchange->value_count != 0;
    const void *from = is_with_value ? values[0].values : NULL;
    uint32_t *to = is_with_value ? (uint32_t *)routes->places : NULL;
    void *keys_to = routes->ordered;
    switch (exchange->keys.item_bytes) {
    case 2: scatter_16(routes, next, keys, keys_to, from, to); break;
    case 4: scatter_32(routes, next, keys, keys_to, from, to); break;
    default: scatter_64(routes, next, keys, keys_to, from, to); break;
    }
    move(&exchange->keys, first, routes->count, keys_to);
    if (is_with_value) move(&exchange->values[0], first, routes->count, to);
}

/* ---- others: places, then a column at a time ---- */

/* Rows of a partition keep their order. */
static void route(wpi_cpu_routes *routes, uint32_t *next) {
    for (uint32_t i = 0; i < routes->count; i++)
        routes->places[i] = next[routes->partitions[i]]++;
}

#define PUT(name, given, kept)                                                                     \
    static void put_##name(const wpi_cpu_routes *routes, const given *restrict from,               \
                           kept *restrict to) {                                                    \
        if (routes->is_all)                                                                        \
            for (uint32_t i = 0; i < routes->count; i++)                                           \
                to[routes->places[i]] = (kept)from[i];                                             \
        else                                                                                       \
            for (uint32_t i = 0; i < routes->count; i++)                                           \
                to[routes->places[i]] = (kept)from[routes->rows[i]];                               \
    }
PUT(8, uint8_t, uint8_t)
PUT(16, uint16_t, uint16_t)
PUT(32, uint32_t, uint32_t)
PUT(64, uint64_t, uint64_t)
PUT(narrow, uint64_t, uint32_t)

static void put(const wpi_cpu_stream *stream, uint32_t first, wpi_cpu_routes *routes,
                const void *from) {
    void *to = routes->ordered;
    switch (stream->item_bytes) {
    case 1: put_8(routes, from, to); break;
    case 2: put_16(routes, from, to); break;
    case 4:
        if (stream->given_bytes == 8)
            put_narrow(routes, from, to);
        else
            put_32(routes, from, to);
        break;
    default: put_64(routes, from, to); break;
    }
    move(stream, first, routes->count, to);
}

void wpi_cpu_exchange_put(wpi_cpu_exchange *exchange, uint32_t morsel, wpi_cpu_routes *routes,
                          const void *keys, const wpi_cpu_values *values) {
    uint32_t next[WPI_CPU_PARTITIONS_MAX];
    const uint32_t first = atomic_fetch_add(&exchange->row_count, routes->count);
    count(exchange, morsel, first, routes, next);
    if (is_simple(exchange)) {
        scatter(exchange, first, routes, next, keys, values);
        return;
    }
    route(routes, next);
    put(&exchange->keys, first, routes, keys);
    for (uint32_t i = 0; i < exchange->value_count; i++) {
        put(&exchange->values[i], first, routes, values[i].values);
        if (exchange->nulls[i].items != NULL)
            put(&exchange->nulls[i], first, routes, values[i].nulls);
    }
}

wpi_cpu_run wpi_cpu_exchange_run(const wpi_cpu_exchange *exchange, uint32_t morsel,
                                 uint32_t partition) {
    const uint32_t first = *start_of(exchange, morsel, partition);
    return (wpi_cpu_run){.count = *start_of(exchange, morsel, partition + 1) - first,
                         .keys = exchange->keys.items + (size_t)first * exchange->keys.item_bytes,
                         .first = first};
}

static void prefetch_items(const wpi_cpu_stream *stream, uint64_t first, uint32_t count) {
    const uint8_t *items = stream->items + first * stream->item_bytes;
    for (uint32_t at = 0; at < count * stream->item_bytes; at += 64)
        __builtin_prefetch(items + at);
}

void wpi_cpu_exchange_prefetch(const wpi_cpu_exchange *exchange, uint32_t morsel,
                               uint32_t partition) {
    if (morsel >= exchange->used_count) return;
    const wpi_cpu_run run = wpi_cpu_exchange_run(exchange, morsel, partition);
    const uint32_t count = run.count < WPI_CPU_BLOCK / 4 ? run.count : WPI_CPU_BLOCK / 4;
    prefetch_items(&exchange->keys, run.first, count);
    for (uint32_t i = 0; i < exchange->value_count; i++)
        prefetch_items(&exchange->values[i], run.first, count);
}

void wpi_cpu_stream_copy(const wpi_cpu_stream *stream, uint64_t first, uint32_t count, void *to,
                         uint32_t at) {
    const size_t bytes = stream->item_bytes;
    memcpy((uint8_t *)to + at * bytes, stream->items + first * bytes, count * bytes);
}

void wpi_cpu_exchange_values(const wpi_cpu_exchange *exchange, uint64_t first,
                             wpi_cpu_values *values) {
    for (uint32_t i = 0; i < exchange->value_count; i++) {
        const wpi_cpu_stream *stream = &exchange->values[i], *nulls = &exchange->nulls[i];
        values[i] = (wpi_cpu_values){.type = stream->type,
                                     .values = stream->items + first * stream->item_bytes,
                                     .nulls = nulls->items != NULL ? nulls->items + first : NULL};
    }
}
