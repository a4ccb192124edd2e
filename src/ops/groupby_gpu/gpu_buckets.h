/* SPDX-License-Identifier: Apache-2.0 */
/* Device functions of group-by for rows, buckets and accumulators. Written as C. */
#ifndef WP_OPS_GPU_BUCKETS_H
#define WP_OPS_GPU_BUCKETS_H

#include <cuda_runtime.h>

#include "ops/groupby_gpu/gpu_kernels.h"
#include "ops/key_hash.h"
#include "ops/shape.h"
#include "ops/word_bits.h"

#define ALL_SCOPES WPI_GPU_NONE

typedef unsigned long long word; /* the 64-bit type of atomics */

/* ---- places of keys ---- */

typedef struct place {
    uint64_t scope, offset;
} place;

/* The hash as a fraction selects the scope; the remainder, as a fraction, the bucket in the
 * scope. */
static __device__ place place_of(const wpi_gpu_table *table, uint64_t key, uint32_t key_bytes) {
    if (key_bytes == 4) {
        const uint64_t scaled = wpi_hash_half_word((uint32_t)key) * table->scope_count;
        return (place){scaled >> 32, (uint32_t)scaled * table->scope_buckets >> 32};
    }
    const uint64_t hash = wpi_hash_word(key);
    return (place){__umul64hi(hash, table->scope_count),
                   __umul64hi(hash * table->scope_count, table->scope_buckets)};
}

static __device__ uint64_t key_of(const char *chunk, uint32_t key_bytes, uint32_t row) {
    return key_bytes == 4 ? ((const uint32_t *)chunk)[row] : ((const uint64_t *)chunk)[row];
}

/* ---- rows ---- */

static __device__ uint32_t thread_number(void) {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint32_t thread_count(void) {
    return gridDim.x * blockDim.x;
}

#define WARP_LANES 32u

typedef struct warp {
    uint32_t lanes, lane; /* lanes of the warp (fewer in a block's last one); this lane */
} warp;

static __device__ warp this_warp(void) {
    const uint32_t lane = threadIdx.x % WARP_LANES, threads = blockDim.x - (threadIdx.x - lane);
    return (warp){threads >= WARP_LANES ? UINT32_MAX : (1u << threads) - 1, lane};
}

/* Reads a partition's bounds, which only the device knows. */
static __device__ wpi_gpu_rows bounded(wpi_gpu_rows rows) {
    if (rows.bounds == NULL) return rows;
    rows.first = rows.bounds[0];
    rows.count = rows.bounds[rows.bound_step] - rows.first;
    return rows;
}

/* The row of the chunk that is the i-th of `rows`. */
static __device__ uint32_t row_at(const wpi_gpu_rows *rows, uint32_t i) {
    return rows->list != NULL ? rows->list[i] : rows->first + i;
}

static __device__ void move_value(const wpi_gpu_column *column, const char *from, uint32_t from_row,
                                  char *to, uint32_t to_row) {
    from += column->offset_bytes;
    to += column->offset_bytes;
    switch (column->bytes) {
    case 1: to[to_row] = from[from_row]; break;
    case 2: ((uint16_t *)to)[to_row] = ((const uint16_t *)from)[from_row]; break;
    case 4: ((uint32_t *)to)[to_row] = ((const uint32_t *)from)[from_row]; break;
    default: ((uint64_t *)to)[to_row] = ((const uint64_t *)from)[from_row]; break;
    }
}

static __device__ void move_values(const wpi_gpu_layout *layout, const char *from,
                                   uint32_t from_row, char *to, uint32_t to_row) {
    for (uint32_t i = 1; i < layout->column_count; i++)
        move_value(&layout->columns[i], from, from_row, to, to_row);
}

static __device__ void move_key(uint64_t key, uint32_t key_bytes, char *to, uint32_t row) {
    if (key_bytes == 4)
        ((uint32_t *)to)[row] = (uint32_t)key;
    else
        ((uint64_t *)to)[row] = key;
}

static __device__ void move_row(const wpi_gpu_layout *layout, uint64_t key, const char *from,
                                uint32_t from_row, char *to, uint32_t to_row) {
    move_key(key, layout->columns[0].bytes, to, to_row);
    move_values(layout, from, from_row, to, to_row);
}

static __device__ bool is_null_key(const wpi_gpu_layout *layout, const char *chunk, uint32_t row) {
    return layout->nulls != WPI_GPU_NONE &&
           chunk[layout->columns[layout->nulls].offset_bytes + row] != 0;
}

static __device__ void note_overflow(const wpi_gpu_notes *notes, uint32_t row) {
    notes->overflowed[atomicAdd(&notes->state->overflowed, 1u)] = row;
}

/* ---- narrow buckets ---- */

/* The key's bucket, made if missing; NULL: there is no place. */
static __device__ wpi_gpu_narrow *find_narrow(const wpi_gpu_table *table, uint32_t key, place at,
                                              uint32_t *created) {
    wpi_gpu_narrow *scope = (wpi_gpu_narrow *)table->buckets + at.scope * table->scope_buckets;
    for (uint32_t probe = 0; probe < table->probe_max; probe++) {
        wpi_gpu_narrow *bucket = &scope[at.offset];
        uint32_t found = bucket->key;
        if (found == 0) {
            found = atomicCAS(&bucket->key, 0u, key);
            *created += found == 0;
        }
        if (found == 0 || found == key) return bucket;
        at.offset = at.offset + 1 == table->scope_buckets ? 0 : at.offset + 1;
    }
    return NULL;
}

/* ---- wide buckets ---- */

static __device__ uint64_t *find_wide(const wpi_gpu_table *table, uint64_t key, place at,
                                      uint32_t *created) {
    uint64_t *scope =
        (uint64_t *)table->buckets + at.scope * table->scope_buckets * table->bucket_words;
    for (uint32_t probe = 0; probe < table->probe_max; probe++) {
        uint64_t *bucket = &scope[at.offset * table->bucket_words];
        uint64_t found = *bucket;
        if (found == 0) {
            found = atomicCAS((word *)bucket, (word)0, (word)key);
            *created += found == 0;
        }
        if (found == 0 || found == key) return bucket;
        at.offset = at.offset + 1 == table->scope_buckets ? 0 : at.offset + 1;
    }
    return NULL;
}

/* The bucket of a row's key. Key 0 and NULL have special ones. */
static __device__ uint64_t *bucket_of(const wpi_gpu_table *table, uint64_t key, bool is_null,
                                      place at, uint32_t *created) {
    if (key != 0) return find_wide(table, key, at, created);
    return is_null ? table->special + table->bucket_words : table->special;
}

/* ---- accumulators ---- */

/* The contribution of one or several rows to an accumulator; zeros change nothing. A sum of
 * integers has 128 bits. */
typedef struct amount {
    uint64_t low, high;
} amount;

static __device__ uint64_t ordered(wp_type type, uint64_t value) {
    if (!wpi_type_is_float(type)) return wpi_ordered_integer(type, value);
    const double number = wpi_double_of(value);
    return wpi_ordered_float(number != number ? UINT64_C(0x7ff8000000000000) : value);
}

static __device__ amount amount_of(const wpi_gpu_accumulator *how, const wpi_gpu_column *columns,
                                   const char *chunk, uint32_t row) {
    const char *valid = chunk + columns[how->valid].offset_bytes;
    const wp_type type = (wp_type)how->type;
    if (valid[row] == 0) return (amount){0, 0};
    if (how->how == WPI_ACCUMULATE_COUNT) return (amount){1, 0};
    const uint64_t value = wpi_load_word(type, chunk + columns[how->column].offset_bytes, row);
    switch (how->how) {
    case WPI_ACCUMULATE_SUM_INTEGER:
        return (amount){value, wpi_type_is_signed(type) && (int64_t)value < 0 ? ~UINT64_C(0) : 0};
    case WPI_ACCUMULATE_SUM_FLOAT: return (amount){value, 0};
    case WPI_ACCUMULATE_MIN: return (amount){~ordered(type, value), 0};
    default: return (amount){ordered(type, value), 0};
    }
}

/* Adds carries of the low word to the high one; any order of threads gives the same sum. */
static __device__ void add_wide(uint64_t *sum, amount more) {
    const uint64_t before = atomicAdd((word *)&sum[0], (word)more.low);
    const uint64_t high = more.high + (before + more.low < before);
    if (high != 0) atomicAdd((word *)&sum[1], (word)high);
}

static __device__ void accumulate(const wpi_gpu_accumulator *how, amount more, uint64_t *bucket) {
    uint64_t *to = &bucket[how->word];
    if (more.low == 0 && more.high == 0) return;
    switch (how->how) {
    case WPI_ACCUMULATE_COUNT: atomicAdd((word *)to, (word)more.low); break;
    case WPI_ACCUMULATE_SUM_INTEGER: add_wide(to, more); break;
    case WPI_ACCUMULATE_SUM_FLOAT: atomicAdd((double *)to, wpi_double_of(more.low)); break;
    default: atomicMax((word *)to, (word)more.low); break;
    }
}

/* ---- moments ---- */

static __device__ double number_at(wp_type type, const char *values, uint32_t row) {
    const uint64_t word = wpi_load_word(type, values, row);
    if (wpi_type_is_float(type)) return wpi_double_of(word);
    return wpi_type_is_signed(type) ? (double)(int64_t)word : (double)word;
}

/* The group's origin is the first value that comes, so its differences are small where its values
 * are: mean and squares that are made of these sums keep their digits. */
static __device__ void add_moments(const wpi_gpu_accumulator *how, const wpi_gpu_column *columns,
                                   const char *chunk, uint32_t row, uint64_t *bucket) {
    uint64_t *to = &bucket[how->word];
    double weight = 1;
    if (chunk[columns[how->valid].offset_bytes + row] == 0) return;
    if (how->weight != WPI_GPU_NONE) {
        if (chunk[columns[how->weight + 1].offset_bytes + row] == 0) return;
        weight =
            number_at((wp_type)how->weight_type, chunk + columns[how->weight].offset_bytes, row);
        if (weight == 0) return;
    }
    const double value =
        number_at((wp_type)how->type, chunk + columns[how->column].offset_bytes, row);
    const uint64_t mine =
        ~(value != value ? UINT64_C(0x7ff8000000000000) : wpi_bits_of(value)); /* never 0 */
    uint64_t found = to[WPI_GPU_MOMENT_ORIGIN];
    if (found == 0) found = atomicCAS((word *)&to[WPI_GPU_MOMENT_ORIGIN], (word)0, (word)mine);
    const double difference = value - wpi_double_of(~(found != 0 ? found : mine));
    atomicAdd((double *)&to[WPI_GPU_MOMENT_DIFFERENCES], weight * difference);
    atomicAdd((double *)&to[WPI_GPU_MOMENT_SQUARES], weight * difference * difference);
    atomicAdd((double *)&to[WPI_GPU_MOMENT_WEIGHTS], weight);
}

#endif
