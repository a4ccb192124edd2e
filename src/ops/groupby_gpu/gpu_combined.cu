/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a warp that have one key are put together before one of them accesses the bucket: for
 * keys so frequent that their atomics would wait for one another. Written as C, with nothing that
 * the first GPUs with shuffles lack. */
#include "ops/groupby_gpu/gpu_buckets.h"

#define STEPS 5u  /* that put 32 lanes together */
#define ROUNDS 8u /* keys of a warp that are looked for: a frequent one is among its first rows */

/* ---- teams: lanes whose rows have one key -------------------------------------------------------
 */

static __device__ uint64_t key_from(warp w, uint64_t key, uint32_t key_bytes, uint32_t lane) {
    if (key_bytes == 4) return __shfl_sync(w.lanes, (uint32_t)key, (int)lane);
    return __shfl_sync(w.lanes, (word)key, (int)lane);
}

/* The lanes of this one's team; 0: it has no row. Those of rare keys are alone. */
static __device__ uint32_t team_of(warp w, uint64_t key, uint32_t key_bytes, bool has_row) {
    uint32_t team = has_row ? 1u << w.lane : 0;
    uint32_t left = __ballot_sync(w.lanes, has_row);
    for (uint32_t round = 0; round < ROUNDS && left != 0; round++) {
        const uint32_t first = (uint32_t)__ffs((int)left) - 1;
        const bool is_same = key == key_from(w, key, key_bytes, first);
        const uint32_t same = __ballot_sync(w.lanes, is_same) & left;
        if ((same >> w.lane & 1) != 0) team = same;
        left &= ~same;
    }
    return team;
}

static __device__ bool is_leader(warp w, uint32_t team) {
    return team != 0 && (uint32_t)__ffs((int)team) - 1 == w.lane;
}

/* The bucket that the team's leader has found; NULL: there is none, or this lane has no row. */
static __device__ uint64_t *bucket_from_leader(warp w, uint32_t team, uint64_t *bucket) {
    const uint32_t from = team != 0 ? (uint32_t)__ffs((int)team) - 1 : w.lane;
    const word found = __shfl_sync(w.lanes, (word)bucket, (int)from);
    return team != 0 ? (uint64_t *)found : NULL;
}

/* ---- what they have together --------------------------------------------------------------------
 */

/* In each step a lane takes the next one's amount, which then is done; the leader ends with all. */
typedef struct steps {
    uint32_t from[STEPS]; /* the lane whose amount is taken; its own: none is */
    uint32_t count;
} steps;

static __device__ steps plan_steps(warp w, uint32_t team) {
    uint32_t behind = team & ~((2u << w.lane) - 1);
    uint32_t rank = (uint32_t)__popc((int)(team & ((1u << w.lane) - 1)));
    steps plan;
    plan.count = 0;
    for (uint32_t s = 0; s < STEPS; s++) {
        plan.from[s] = behind != 0 ? (uint32_t)__ffs((int)behind) - 1 : w.lane;
        if (__any_sync(w.lanes, behind != 0)) plan.count = s + 1;
        behind &= __ballot_sync(w.lanes, rank % 2 == 0);
        rank /= 2;
    }
    return plan;
}

static __device__ amount both(const wpi_gpu_accumulator *how, amount a, amount b) {
    switch (how->how) {
    case WPI_ACCUMULATE_SUM_INTEGER:
        return (amount){a.low + b.low, a.high + b.high + (a.low + b.low < b.low)};
    case WPI_ACCUMULATE_SUM_FLOAT:
        return (amount){wpi_bits_of(wpi_double_of(a.low) + wpi_double_of(b.low)), 0};
    default: return a.low > b.low ? a : b;
    }
}

/* The leader gets what its team has. */
static __device__ amount together(const wpi_gpu_accumulator *how, warp w, uint32_t team,
                                  const steps *plan, amount mine) {
    if (how->how == WPI_ACCUMULATE_COUNT)
        return (amount){(word)__popc((int)(__ballot_sync(w.lanes, mine.low != 0) & team)), 0};
    for (uint32_t s = 0; s < STEPS; s++) {
        if (s >= plan->count) break;
        const int from = (int)plan->from[s];
        amount other = {__shfl_sync(w.lanes, (word)mine.low, from), 0};
        if (how->how == WPI_ACCUMULATE_SUM_INTEGER)
            other.high = __shfl_sync(w.lanes, (word)mine.high, from);
        if (plan->from[s] != w.lane) mine = both(how, mine, other);
    }
    return mine;
}

/* ---- kernels ------------------------------------------------------------------------------------
 */

/* All lanes of a warp go through the loop together, also those whose rows have come to an end. */
#define FOR_ROWS_OF_WARPS(i, w, rows)                                                              \
    for (uint32_t i = thread_number(); i - (w).lane < (rows).count; i += thread_count())

extern "C" __global__ void wp_gpu_count_combined(wpi_gpu_rows asked, wpi_gpu_table table,
                                                 uint32_t scope, wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    const warp w = this_warp();
    uint32_t created = 0;
    FOR_ROWS_OF_WARPS(i, w, rows) {
        const bool has_row = i < rows.count;
        const uint32_t row = row_at(&rows, has_row ? i : 0);
        const uint32_t key = ((const uint32_t *)rows.chunk)[row];
        const place at = place_of(&table, key, 4);
        if (has_row && rows.copy != NULL) ((uint32_t *)rows.copy)[row] = key;
        const uint32_t team =
            team_of(w, key, 4, has_row && (scope == ALL_SCOPES || at.scope == scope));
        bool is_lost = false;
        if (is_leader(w, team)) {
            const uint32_t count = (uint32_t)__popc((int)team);
            wpi_gpu_narrow *bucket = key != 0 ? find_narrow(&table, key, at, &created) : NULL;
            is_lost = key != 0 && bucket == NULL;
            if (key == 0) atomicAdd((word *)table.special, (word)count);
            if (bucket != NULL) atomicAdd(&bucket->rows, count);
        }
        if ((__ballot_sync(w.lanes, is_lost) & team) != 0) note_overflow(&notes, row);
    }
    if (created != 0) atomicAdd((word *)&notes.state->created, (word)created);
}

extern "C" __global__ void wp_gpu_accumulate_combined(wpi_gpu_rows asked, wpi_gpu_table table,
                                                      wpi_gpu_layout layout, uint32_t scope,
                                                      wpi_gpu_notes notes) {
    const wpi_gpu_rows rows = bounded(asked);
    const uint32_t key_bytes = layout.columns[0].bytes;
    const warp w = this_warp();
    uint32_t created = 0;
    FOR_ROWS_OF_WARPS(i, w, rows) {
        const bool has_row = i < rows.count;
        const uint32_t row = row_at(&rows, has_row ? i : 0);
        const uint64_t key = key_of(rows.chunk, key_bytes, row);
        const place at = place_of(&table, key, key_bytes);
        const bool is_null = is_null_key(&layout, rows.chunk, row); /* its key is 0 */
        if (has_row && rows.copy != NULL) move_row(&layout, key, rows.chunk, row, rows.copy, row);
        uint32_t team =
            team_of(w, key, key_bytes, has_row && (scope == ALL_SCOPES || at.scope == scope));
        const uint32_t nulls = __ballot_sync(w.lanes, is_null);
        team &= is_null ? nulls : ~nulls;
        uint64_t *bucket = NULL;
        if (is_leader(w, team)) {
            bucket = bucket_of(&table, key, is_null, at, &created);
            if (bucket != NULL) atomicAdd((word *)&bucket[1], (word)__popc((int)team));
        }
        const uint32_t lost = __ballot_sync(w.lanes, is_leader(w, team) && bucket == NULL);
        if ((lost & team) != 0) note_overflow(&notes, row);
        const steps plan = plan_steps(w, team);
        for (uint32_t a = 0; a < layout.accumulator_count; a++) {
            const wpi_gpu_accumulator *how = &layout.accumulators[a];
            if (how->how == WPI_ACCUMULATE_MOMENTS) {
                uint64_t *of_team = bucket_from_leader(w, team, bucket);
                if (of_team != NULL) add_moments(how, layout.columns, rows.chunk, row, of_team);
                continue;
            }
            const amount mine =
                team != 0 ? amount_of(how, layout.columns, rows.chunk, row) : (amount){0, 0};
            const amount all = together(how, w, team, &plan, mine);
            if (bucket != NULL) accumulate(how, all, bucket);
        }
    }
    if (created != 0) atomicAdd((word *)&notes.state->created, (word)created);
}

const void *wpi_gpu_combined_of(uint32_t kernel) {
    return kernel == WPI_GPU_COUNT_COMBINED ? (const void *)wp_gpu_count_combined
                                            : (const void *)wp_gpu_accumulate_combined;
}
