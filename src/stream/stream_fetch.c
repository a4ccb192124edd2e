/* SPDX-License-Identifier: Apache-2.0 */
/* What address threads sent to device memory: counts first, as they say how much there is to fetch.
 */
#include "device/device.h"
#include "stream/stream_actor.h"

/* The same bytes of the two. */
static bool fetch(wpi_stream_side *side, void *to, const void *from, uint64_t bytes) {
    side->counts.fetched_bytes += bytes;
    return wp_queue_copy(side->up, to, from, bytes, &side->failure) == WP_STATUS_OK;
}

/* Behind these copies, the word that says that they have ended. */
static bool end_fetch(wpi_stream_side *side) {
    side->fetches++;
    return wp_queue_fill(side->up, wpi_stream_word(side->buffers->fetched, side->set),
                         side->fetches, sizeof(uint32_t), 1, &side->failure) == WP_STATUS_OK;
}

bool wpi_stream_fetch_counts(wpi_stream_side *side) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    const wpi_stream_requests *to = &side->buffers->requests;
    for (uint32_t r = 0; r < l->row_count; r++) {
        const uint64_t at = (wpi_stream_buffer(side) * l->row_count + r) * l->half;
        const uint64_t bytes = l->half * sizeof *to->read_counts;
        if (l->classes[r].read_slots != 0 &&
            (!fetch(side, &to->read_counts[at], &l->read_counts[at], bytes) ||
             !fetch(side, &to->pattern_reads[at], &l->pattern_reads[at], bytes) ||
             !fetch(side, &to->pattern_sites[at], &l->pattern_sites[at], bytes)))
            return false;
    }
    return end_fetch(side);
}

/* Each thread's at most: of patterns so many sites, so many words. A word is a read or more. */
typedef struct most {
    uint32_t sites, words;
} most;

static most most_of(const wpi_stream_side *side, uint32_t r, uint64_t at) {
    const wpi_stream_requests *sent = &side->buffers->requests;
    const uint32_t *counts = wpi_stream_counts_of(side, false, r);
    most all = {0};
    for (uint32_t t = 0; t < side->buffers->launch_source->half; t++) {
        const uint32_t in_pattern = sent->pattern_reads[at + t], words = counts[t] - in_pattern;
        if (in_pattern != 0 && sent->pattern_sites[at + t] > all.sites)
            all.sites = sent->pattern_sites[at + t];
        if (words > all.words) all.words = words;
    }
    return all;
}

bool wpi_stream_fetch_addresses(wpi_stream_side *side) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    const wpi_stream_requests *to = &side->buffers->requests;
    for (uint32_t r = 0; r < l->row_count; r++) {
        if (l->classes[r].read_slots == 0) continue;
        const uint64_t row = wpi_stream_buffer(side) * l->row_count + r;
        const uint64_t pattern = row * WPI_STREAM_SITES * l->half;
        const uint64_t word =
            wpi_stream_buffer(side) * l->addresses_bytes + l->classes[r].address_offset;
        const most all = most_of(side, r, row * l->half);
        if (all.sites != 0 && !fetch(side, &to->patterns[pattern], &l->patterns[pattern],
                                     (uint64_t)all.sites * l->half * sizeof *l->patterns))
            return false;
        if (all.words != 0 && !fetch(side, &to->addresses[word], &l->addresses[word],
                                     (uint64_t)all.words * l->half * sizeof(uint64_t)))
            return false;
    }
    return end_fetch(side);
}
