/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/groupby_gpu/gpu_skew.h"

#include <stdlib.h>

#define WARP_ROWS 32u
#define WINDOWS_MAX 8u
#define HOT_TIMES 8u /* occurrences in the sample of a hot key */

static int compare_words(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The count of the most frequent word, and the number of words that occur HOT_TIMES or more; sorts
 * the words. */
static uint32_t longest_run(uint64_t *words, uint32_t count, uint32_t *hot) {
    uint32_t longest = 0, run = 0;
    qsort(words, count, sizeof *words, compare_words);
    for (uint32_t i = 0; i < count; i += run) {
        for (run = 1; i + run < count && words[i + run] == words[i]; run++) {
        }
        if (run > longest) longest = run;
        if (run >= HOT_TIMES) *hot += run;
    }
    return longest;
}

static uint64_t key_at(const void *keys, uint32_t key_bytes, uint64_t row) {
    return key_bytes == 4 ? ((const uint32_t *)keys)[row] : ((const uint64_t *)keys)[row];
}

/* The sample: windows of rows that are in flight at once, some warps of each. */
typedef struct sample {
    const void *keys;
    uint32_t key_bytes;
    uint32_t windows, warps; /* of a window */
    uint64_t rows, window_rows;
} sample;

/* The i-th of `count` spread positions in [0, room). */
static uint64_t spread(uint64_t i, uint64_t count, uint64_t room) {
    return room / count * i + room % count * i / count;
}

static void read_warp(const sample *s, uint32_t window, uint32_t warp, uint64_t *words) {
    const uint64_t begin = spread(window, s->windows, s->rows - s->window_rows + 1);
    const uint64_t first = begin + spread(warp, s->warps, s->window_rows / WARP_ROWS) * WARP_ROWS;
    for (uint32_t i = 0; i < WARP_ROWS; i++)
        words[i] = key_at(s->keys, s->key_bytes, first + i);
}

wpi_gpu_skew wpi_gpu_skew_of(const void *keys, uint32_t key_bytes, uint32_t count, uint64_t at_once,
                             uint64_t *buffer) {
    sample s = {.keys = keys, .key_bytes = key_bytes, .rows = count};
    uint32_t hot = 0, of_warps = 0, of_windows = 0, unused = 0;
    s.window_rows = at_once < WARP_ROWS ? WARP_ROWS : at_once < count ? at_once : count;
    if (count < WARP_ROWS) return (wpi_gpu_skew){0};
    const uint64_t warps = s.window_rows / WARP_ROWS, windows = s.rows / s.window_rows;
    s.windows = windows < WINDOWS_MAX ? (uint32_t)windows : WINDOWS_MAX;
    s.warps = WPI_GPU_SKEW_ROWS / WARP_ROWS / s.windows;
    if (s.warps > warps) s.warps = (uint32_t)warps;
    const uint32_t of_window = s.warps * WARP_ROWS, all = s.windows * of_window;
    for (uint32_t window = 0; window < s.windows; window++) {
        uint64_t *words = buffer + (size_t)window * of_window;
        for (uint32_t warp = 0; warp < s.warps; warp++) {
            read_warp(&s, window, warp, words + (size_t)warp * WARP_ROWS);
            of_warps += longest_run(words + (size_t)warp * WARP_ROWS, WARP_ROWS, &unused);
        }
        of_windows += longest_run(words, of_window, &unused);
    }
    (void)longest_run(buffer, all, &hot);
    return (wpi_gpu_skew){.hot_share = (double)hot / all,
                          .hottest_share = (double)of_windows / all,
                          .warp_share = (double)of_warps / all};
}
