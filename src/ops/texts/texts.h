/* SPDX-License-Identifier: Apache-2.0 */
/** The inside of wp_texts. */
#ifndef WP_OPS_TEXTS_H
#define WP_OPS_TEXTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/fail.h"
#include "ops/texts/text_view.h"
#include "warpage/texts.h"

#define WPI_TEXT_SHARD_BITS 3u /* few, so that large tables are on huge pages */
#define WPI_TEXT_SHARDS (1u << WPI_TEXT_SHARD_BITS)
#define WPI_TEXT_SEGMENTS 21u
#define WPI_TEXT_SEGMENT_BITS 10u /* log2 of the first segment's texts; each next one has twice */

/** Open addressing: the low half of a hash, then the code; 0: free. */
typedef struct wpi_text_table {
    struct wpi_text_table *retired; /* threads may still read those from which this one has grown */
    uint32_t mask;
    _Atomic uint64_t slots[];
} wpi_text_table;

/** The texts whose hashes have the same high bits. */
typedef struct wpi_text_shard {
    pthread_mutex_t lock; /* of insertion: lookups take none */
    _Atomic(wpi_text_table *) table; /* NULL: the texts have ended */
    uint32_t count;
    char *page; /* bytes of long texts; a page begins with the address of the one before */
    size_t page_used, page_bytes;
    uint64_t bytes; /* of all its texts */
    char apart[64];
} wpi_text_shard;

struct wp_texts {
    uint32_t thread_count;
    wpi_text_shard shards[WPI_TEXT_SHARDS];
    pthread_mutex_t segment_lock;
    _Atomic(wpi_text_view *) segments[WPI_TEXT_SEGMENTS]; /* views by code - 1; they never move */
    atomic_uint_least32_t count;
    uint32_t *order; /* [count]: codes in order of texts; NULL: not sorted */
};

static inline wpi_text_view *wpi_texts_view(const wp_texts *texts, uint32_t code) {
    const uint32_t at = code - 1;
    const uint32_t segment = 31u - (uint32_t)__builtin_clz((at >> WPI_TEXT_SEGMENT_BITS) + 1);
    const uint32_t first = ((1u << segment) - 1) << WPI_TEXT_SEGMENT_BITS;
    return atomic_load_explicit(&texts->segments[segment], memory_order_acquire) + (at - first);
}

/** The text that a result's key refers to. */
static inline const wpi_text_view *wpi_texts_of_place(const wp_texts *texts, uint64_t place) {
    return wpi_texts_view(texts, texts->order != NULL ? texts->order[place] : (uint32_t)place + 1);
}

/** Sorts the texts: from then on keys of results refer to places in that order. `ranks`: [count +
 * 1], by code; ranks[0] is count. Caller frees. NOMEM. */
WP_NODISCARD wp_status wpi_texts_sort(wp_texts *texts, uint32_t **ranks, wp_error *err);

#endif
