/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables with linear probing, by scopes (sections 2.2 and 5.3). Written as C. */
#include "ops/groupby_gpu/gpu_buckets.h"

/* ---- rows, each for itself ----------------------------------------------------------------------
 */

extern "C" __global__ void wp_gpu_count(wpi_gpu_rows asked, wpi_gpu_table table, uint32_t scope,
                                        wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    uint32_t created = 0;
    for (uint32_t i = thread_number(); i < rows.count; i += thread_count()) {
        const uint32_t row = row_at(&rows, i);
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

extern "C" __global__ void wp_gpu_accumulate(wpi_gpu_rows asked, wpi_gpu_table table,
                                             wpi_gpu_layout layout, uint32_t scope,
                                             wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    const uint32_t key_bytes = layout.columns[0].bytes;
    uint32_t created = 0;
    for (uint32_t i = thread_number(); i < rows.count; i += thread_count()) {
        const uint32_t row = row_at(&rows, i);
        const uint64_t key = key_of(rows.chunk, key_bytes, row);
        const place at = place_of(&table, key, key_bytes);
        if (rows.copy != NULL) move_row(&layout, key, rows.chunk, row, rows.copy, row);
        if (scope != ALL_SCOPES && at.scope != scope) continue;
        uint64_t *bucket =
            bucket_of(&table, key, is_null_key(&layout, rows.chunk, row), at, &created);
        if (bucket == NULL) {
            note_overflow(&notes, row);
            continue;
        }
        atomicAdd((word *)&bucket[1], (word)1);
        for (uint32_t a = 0; a < layout.accumulator_count; a++) {
            const wpi_gpu_accumulator *how = &layout.accumulators[a];
            if (how->how == WPI_ACCUMULATE_MOMENTS)
                add_moments(how, layout.columns, rows.chunk, row, bucket);
            else
                accumulate(how, amount_of(how, layout.columns, rows.chunk, row), bucket);
        }
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

/* ---- buckets that are used ----------------------------------------------------------------------
 */

#define COMPACT_ROWS 8u /* of buckets, that a warp looks at together: most are free */

static __device__ bool is_used(const wpi_gpu_table *table, uint64_t bucket) {
    if (table->bucket_words == 0) return ((const wpi_gpu_narrow *)table->buckets)[bucket].key != 0;
    return ((const uint64_t *)table->buckets)[bucket * table->bucket_words] != 0;
}

/* Each warp takes places for all that it has found. to[0] becomes how many there are, the buckets
 * are behind it. */
static __device__ void append(const wpi_gpu_table *table, warp w, uint64_t bucket, bool is_wanted,
                              uint64_t *to) {
    const uint32_t words = table->bucket_words == 0 ? 1 : table->bucket_words;
    const uint32_t wanted = __ballot_sync(w.lanes, is_wanted);
    word first = 0;
    if (wanted == 0) return;
    if (w.lane == 0) first = atomicAdd((word *)to, (word)__popc((int)wanted));
    first = __shfl_sync(w.lanes, first, 0);
    if (!is_wanted) return;
    const uint64_t place = first + (uint32_t)__popc((int)(wanted & ((1u << w.lane) - 1)));
    for (uint32_t k = 0; k < words; k++)
        to[1 + place * words + k] = ((const uint64_t *)table->buckets)[bucket * words + k];
}

extern "C" __global__ void wp_gpu_compact(wpi_gpu_table table, uint64_t *to) {
    const uint64_t buckets = table.scope_count * table.scope_buckets, stride = thread_count();
    const warp w = this_warp();
    for (uint64_t first = thread_number(); first - w.lane < buckets;
         first += COMPACT_ROWS * stride) {
        uint32_t used = 0; /* of this lane's, a bit each */
        for (uint32_t r = 0; r < COMPACT_ROWS; r++) {
            const uint64_t bucket = first + r * stride;
            if (bucket < buckets && is_used(&table, bucket)) used |= 1u << r;
        }
        if (!__any_sync(w.lanes, used != 0)) continue;
        for (uint32_t r = 0; r < COMPACT_ROWS; r++)
            append(&table, w, first + r * stride, (used >> r & 1) != 0, to);
    }
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
        if (rows.copy != NULL) move_row(&layout, key, rows.chunk, row, rows.copy, row);
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
        move_row(&layout, key, rows.chunk, row, to, at);
    }
}

/* ---- rows that are postponed ----------------------------------------------------------------- */

extern "C" __global__ void wp_gpu_gather(wpi_gpu_rows rows, char *to, wpi_gpu_layout layout,
                                         uint32_t at) {
    const uint32_t key_bytes = layout.columns[0].bytes;
    for (uint32_t i = thread_number(); i < rows.count; i += thread_count()) {
        const uint32_t row = row_at(&rows, i);
        move_row(&layout, key_of(rows.chunk, key_bytes, row), rows.chunk, row, to, at + i);
    }
}

const void *wpi_gpu_kernel_of(uint32_t kernel) {
    static const void *const kernels[WPI_GPU_COUNT_COMBINED] = {
        (const void *)wp_gpu_count,   (const void *)wp_gpu_accumulate,
        (const void *)wp_gpu_rehash,  (const void *)wp_gpu_histogram,
        (const void *)wp_gpu_prefix,  (const void *)wp_gpu_scatter,
        (const void *)wp_gpu_compact, (const void *)wp_gpu_gather};
    if (kernel < WPI_GPU_COUNT_COMBINED) return kernels[kernel];
    return wpi_gpu_combined_of(kernel);
}
