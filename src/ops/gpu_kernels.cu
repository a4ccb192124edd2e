/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables with linear probing, by scopes (sections 2.2 and 5.3). Written as C. */
#include <cuda_runtime.h>

#include "ops/gpu_kernels.h"
#include "ops/hash.h"
#include "ops/shape.h"
#include "ops/words.h"

#define ALL_SCOPES WPI_GPU_NONE

typedef unsigned long long word; /* what atomics know as 64 bits */

/* ---- where a key belongs ------------------------------------------------------------------------
 */

typedef struct place {
    uint64_t scope, offset;
} place;

/* The hash as a fraction: of the scopes, and what is left, of a scope's buckets. */
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

/* ---- rows ---------------------------------------------------------------------------------------
 */

static __device__ uint32_t thread_number(void) {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint32_t thread_count(void) {
    return gridDim.x * blockDim.x;
}

/* Of a partition, only the device knows which rows are a scope's. */
static __device__ wpi_gpu_rows bounded(wpi_gpu_rows rows) {
    if (rows.bounds == NULL) return rows;
    rows.first = rows.bounds[0];
    rows.count = rows.bounds[rows.bound_step] - rows.first;
    return rows;
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

static __device__ void note_overflow(const wpi_gpu_notes *notes, uint32_t row) {
    notes->overflowed[atomicAdd(&notes->state->overflowed, 1u)] = row;
}

/* ---- narrow buckets -----------------------------------------------------------------------------
 */

/* The key's bucket, which is made if need be; NULL: there is no place. */
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

extern "C" __global__ void wp_gpu_count(wpi_gpu_rows asked, wpi_gpu_table table, uint32_t scope,
                                        wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    uint32_t created = 0;
    for (uint32_t i = thread_number(); i < rows.count; i += thread_count()) {
        const uint32_t row = rows.list != NULL ? rows.list[i] : rows.first + i;
        const uint32_t key = ((const uint32_t *)rows.chunk)[row];
        const place at = place_of(&table, key, 4);
        if (rows.copy != NULL) ((uint32_t *)rows.copy)[row] = key;
        if (scope != ALL_SCOPES && at.scope != scope) continue;
        if (key == 0) {
            atomicAdd((word *)table.special, (word)1);
            continue;
        }
        wpi_gpu_narrow *bucket = find_narrow(&table, key, at, &created);
        if (bucket != NULL)
            atomicAdd(&bucket->rows, 1u);
        else
            note_overflow(&notes, row);
    }
    if (created != 0) atomicAdd((word *)&notes.state->created, (word)created);
}

/* ---- wide buckets -------------------------------------------------------------------------------
 */

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

/* A number of 128 bits: what the low word loses goes to the high one, in whatever order. */
static __device__ void add_wide(uint64_t *sum, wp_type type, uint64_t value) {
    const uint64_t before = atomicAdd((word *)&sum[0], (word)value);
    uint64_t high = before + value < before;
    if (wpi_type_is_signed(type) && (int64_t)value < 0) high--;
    if (high != 0) atomicAdd((word *)&sum[1], (word)high);
}

static __device__ uint64_t ordered(wp_type type, uint64_t value) {
    if (!wpi_type_is_float(type)) return wpi_ordered_integer(type, value);
    const double number = wpi_double_of(value);
    return wpi_ordered_float(number != number ? UINT64_C(0x7ff8000000000000) : value);
}

static __device__ void accumulate(const wpi_gpu_accumulator *how, const wpi_gpu_column *columns,
                                  const char *chunk, uint32_t row, uint64_t *bucket) {
    const char *valid = chunk + columns[how->valid].offset_bytes;
    uint64_t *to = &bucket[how->word];
    const wp_type type = (wp_type)how->type;
    if (valid[row] == 0) return;
    if (how->how == WPI_ACCUMULATE_COUNT) {
        atomicAdd((word *)to, (word)1);
        return;
    }
    const uint64_t value = wpi_load_word(type, chunk + columns[how->column].offset_bytes, row);
    switch (how->how) {
    case WPI_ACCUMULATE_SUM_INTEGER: add_wide(to, type, value); break;
    case WPI_ACCUMULATE_SUM_FLOAT: atomicAdd((double *)to, wpi_double_of(value)); break;
    case WPI_ACCUMULATE_MIN: atomicMax((word *)to, (word)~ordered(type, value)); break;
    default: atomicMax((word *)to, (word)ordered(type, value)); break;
    }
}

extern "C" __global__ void wp_gpu_accumulate(wpi_gpu_rows asked, wpi_gpu_table table,
                                             wpi_gpu_layout layout, uint32_t scope,
                                             wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    const uint32_t key_bytes = layout.columns[0].bytes;
    uint32_t created = 0;
    for (uint32_t i = thread_number(); i < rows.count; i += thread_count()) {
        const uint32_t row = rows.list != NULL ? rows.list[i] : rows.first + i;
        const uint64_t key = key_of(rows.chunk, key_bytes, row);
        const place at = place_of(&table, key, key_bytes);
        if (rows.copy != NULL) {
            move_key(key, key_bytes, rows.copy, row);
            move_values(&layout, rows.chunk, row, rows.copy, row);
        }
        if (scope != ALL_SCOPES && at.scope != scope) continue;
        uint64_t *bucket = NULL;
        if (key != 0)
            bucket = find_wide(&table, key, at, &created);
        else if (layout.nulls != WPI_GPU_NONE &&
                 rows.chunk[layout.columns[layout.nulls].offset_bytes + row] != 0)
            bucket = table.special + table.bucket_words;
        else
            bucket = table.special;
        if (bucket == NULL) {
            note_overflow(&notes, row);
            continue;
        }
        atomicAdd((word *)&bucket[1], (word)1);
        for (uint32_t a = 0; a < layout.accumulator_count; a++)
            accumulate(&layout.accumulators[a], layout.columns, rows.chunk, row, bucket);
    }
    if (created != 0) atomicAdd((word *)&notes.state->created, (word)created);
}

/* ---- a larger table -----------------------------------------------------------------------------
 */

/* Each key is there once, so its new bucket is its own. Who finds no place is only counted. */
extern "C" __global__ void wp_gpu_rehash(wpi_gpu_table from, wpi_gpu_table to, uint32_t key_bytes,
                                         wpi_gpu_state *state) {
    const uint64_t buckets = from.scope_count * from.scope_buckets;
    uint32_t created = 0;
    for (uint64_t i = thread_number(); i < buckets; i += thread_count()) {
        bool is_placed = true;
        if (from.bucket_words == 0) {
            const wpi_gpu_narrow old = ((const wpi_gpu_narrow *)from.buckets)[i];
            if (old.key == 0) continue;
            wpi_gpu_narrow *bucket = find_narrow(&to, old.key, place_of(&to, old.key, 4), &created);
            is_placed = bucket != NULL;
            if (is_placed) bucket->rows = old.rows;
        } else {
            const uint64_t *old = (const uint64_t *)from.buckets + i * from.bucket_words;
            if (old[0] == 0) continue;
            uint64_t *bucket = find_wide(&to, old[0], place_of(&to, old[0], key_bytes), &created);
            is_placed = bucket != NULL;
            for (uint32_t w = 1; is_placed && w < from.bucket_words; w++)
                bucket[w] = old[w];
        }
        if (!is_placed) atomicAdd(&state->overflowed, 1u);
    }
    if (created != 0) atomicAdd((word *)&state->created, (word)created);
}

/* ---- partition: a radix pass into scopes
 * ----------------------------------------------------------
 */

extern __shared__ uint32_t wp_gpu_counters[]; /* [scope_count] */

static __device__ uint32_t tile_outer(const wpi_gpu_partition *partition,
                                      const wpi_gpu_rows *rows) {
    const uint32_t first = blockIdx.x * partition->tile_rows;
    const uint32_t left = first < rows->count ? rows->count - first : 0;
    return first + (left < partition->tile_rows ? left : partition->tile_rows);
}

/* Each block counts its tile. */
extern "C" __global__ void wp_gpu_histogram(wpi_gpu_rows rows, wpi_gpu_table table,
                                            wpi_gpu_layout layout, wpi_gpu_partition partition) {
    const uint32_t key_bytes = layout.columns[0].bytes, outer = tile_outer(&partition, &rows);
    for (uint32_t s = threadIdx.x; s < table.scope_count; s += blockDim.x)
        wp_gpu_counters[s] = 0;
    __syncthreads();
    for (uint32_t i = blockIdx.x * partition.tile_rows + threadIdx.x; i < outer; i += blockDim.x) {
        const uint32_t row = rows.first + i;
        const uint64_t key = key_of(rows.chunk, key_bytes, row);
        if (rows.copy != NULL) {
            move_key(key, key_bytes, rows.copy, row);
            move_values(&layout, rows.chunk, row, rows.copy, row);
        }
        atomicAdd(&wp_gpu_counters[place_of(&table, key, key_bytes).scope], 1u);
    }
    __syncthreads();
    for (uint32_t s = threadIdx.x; s < table.scope_count; s += blockDim.x)
        partition.counts[(uint64_t)s * partition.block_count + blockIdx.x] = wp_gpu_counters[s];
}

/* counts[i] becomes the sum of all before it, and counts[count] that of all. One block: each thread
 * has a run of them. */
extern "C" __global__ void wp_gpu_prefix(uint32_t *counts, uint32_t count) {
    __shared__ uint32_t sums[WPI_GPU_PREFIX_THREADS];
    const uint32_t run = (count + blockDim.x - 1) / blockDim.x;
    const uint32_t first = threadIdx.x * run < count ? threadIdx.x * run : count;
    const uint32_t outer = first + run < count ? first + run : count;
    uint32_t sum = 0;
    for (uint32_t i = first; i < outer; i++)
        sum += counts[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    for (uint32_t t = 0; t < threadIdx.x; t++)
        sum += sums[t];
    for (uint32_t i = first; i < outer; i++) {
        const uint32_t mine = counts[i];
        counts[i] = sum;
        sum += mine;
    }
    if (threadIdx.x + 1 == blockDim.x) counts[count] = sum;
}

/* Each block puts its tile's rows where its share of each scope begins. */
extern "C" __global__ void wp_gpu_scatter(wpi_gpu_rows rows, char *to, wpi_gpu_table table,
                                          wpi_gpu_layout layout, wpi_gpu_partition partition) {
    const uint32_t key_bytes = layout.columns[0].bytes, outer = tile_outer(&partition, &rows);
    for (uint32_t s = threadIdx.x; s < table.scope_count; s += blockDim.x)
        wp_gpu_counters[s] = partition.counts[(uint64_t)s * partition.block_count + blockIdx.x];
    __syncthreads();
    for (uint32_t i = blockIdx.x * partition.tile_rows + threadIdx.x; i < outer; i += blockDim.x) {
        const uint32_t row = rows.first + i;
        const uint64_t key = key_of(rows.chunk, key_bytes, row);
        const uint32_t at = atomicAdd(&wp_gpu_counters[place_of(&table, key, key_bytes).scope], 1u);
        move_key(key, key_bytes, to, at);
        move_values(&layout, rows.chunk, row, to, at);
    }
}

const void *wpi_gpu_kernel_of(uint32_t kernel) {
    static const void *const kernels[WPI_GPU_KERNEL_COUNT] = {
        (const void *)wp_gpu_count,  (const void *)wp_gpu_accumulate,
        (const void *)wp_gpu_rehash, (const void *)wp_gpu_histogram,
        (const void *)wp_gpu_prefix, (const void *)wp_gpu_scatter};
    return kernels[kernel];
}
