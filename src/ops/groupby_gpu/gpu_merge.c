/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_merge.h"

#include <string.h>

#include "base/alloc.h"

#define FIRST_BUCKETS 4096u

static uint64_t *find(const wpi_gpu_merge *merge, uint64_t key) {
    uint64_t at = wpi_hash_word(key) & merge->mask;
    while (merge->buckets[at * merge->words] != 0 && merge->buckets[at * merge->words] != key)
        at = (at + 1) & merge->mask;
    return &merge->buckets[at * merge->words];
}

static wp_status grow(wpi_gpu_merge *merge, wp_error *err) {
    const wpi_gpu_merge old = *merge;
    const uint64_t buckets = old.buckets == NULL ? FIRST_BUCKETS : 2 * (old.mask + 1);
    merge->mask = buckets - 1;
    merge->buckets = wpi_calloc(buckets, merge->words * sizeof *merge->buckets);
    if (merge->buckets == NULL) {
        *merge = old;
        return WP_FAIL(err, NOMEM, "%llu groups in host memory", (unsigned long long)buckets / 2);
    }
    for (uint64_t i = 0; old.buckets != NULL && i <= old.mask; i++) {
        const uint64_t *bucket = &old.buckets[i * old.words];
        if (bucket[0] != 0) memcpy(find(merge, bucket[0]), bucket, old.words * sizeof *bucket);
    }
    wpi_free(old.buckets);
    return WP_STATUS_OK;
}

/* Differences from one origin become those from another. */
static void combine_moments(uint64_t *to, const uint64_t *from) {
    if (from[WPI_GPU_MOMENT_ORIGIN] == 0) return;
    if (to[WPI_GPU_MOMENT_ORIGIN] == 0) {
        memcpy(to, from, WPI_GPU_MOMENT_WORDS * sizeof *to);
        return;
    }
    const double apart =
        wpi_double_of(~from[WPI_GPU_MOMENT_ORIGIN]) - wpi_double_of(~to[WPI_GPU_MOMENT_ORIGIN]);
    const double differences = wpi_double_of(from[WPI_GPU_MOMENT_DIFFERENCES]);
    const double weights = wpi_double_of(from[WPI_GPU_MOMENT_WEIGHTS]);
    const double more[WPI_GPU_MOMENT_WORDS] = {
        [WPI_GPU_MOMENT_DIFFERENCES] = differences + weights * apart,
        [WPI_GPU_MOMENT_SQUARES] = wpi_double_of(from[WPI_GPU_MOMENT_SQUARES]) +
                                   apart * (2 * differences + weights * apart),
        [WPI_GPU_MOMENT_WEIGHTS] = weights};
    for (uint32_t i = WPI_GPU_MOMENT_DIFFERENCES; i < WPI_GPU_MOMENT_WORDS; i++)
        to[i] = wpi_bits_of(wpi_double_of(to[i]) + more[i]);
}

static void combine(const wpi_gpu_accumulator *how, uint64_t *to, const uint64_t *from) {
    switch (how->how) {
    case WPI_ACCUMULATE_COUNT: *to += *from; break;
    case WPI_ACCUMULATE_SUM_FLOAT:
        *to = wpi_bits_of(wpi_double_of(*to) + wpi_double_of(*from));
        break;
    case WPI_ACCUMULATE_SUM_INTEGER:
        to[0] += from[0];
        to[1] += from[1] + (to[0] < from[0]);
        break;
    case WPI_ACCUMULATE_MOMENTS: combine_moments(to, from); break;
    default: /* a minimum is a maximum of complements */
        if (*from > *to) *to = *from;
        break;
    }
}

wp_status wpi_gpu_merge_add(wpi_gpu_merge *merge, const uint64_t *bucket, wp_error *err) {
    const wpi_gpu_layout *layout = &merge->format->layout;
    if (merge->buckets == NULL || 2 * merge->count > merge->mask) WP_TRY(grow(merge, err));
    uint64_t *to = find(merge, bucket[0]);
    merge->count += to[0] == 0;
    to[0] = bucket[0];
    to[1] += bucket[1];
    for (uint32_t i = 0; i < layout->accumulator_count; i++) {
        const wpi_gpu_accumulator *how = &layout->accumulators[i];
        combine(how, &to[how->word], &bucket[how->word]);
    }
    return WP_STATUS_OK;
}

void wpi_gpu_merge_deinit(wpi_gpu_merge *merge) {
    wpi_free(merge->buckets);
    *merge = (wpi_gpu_merge){0};
}
