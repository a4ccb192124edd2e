/* SPDX-License-Identifier: Apache-2.0 */
/** A table as the files of this room see it. The host's memory has the pages that left the device,
 * as segments in the order of their places. */
#ifndef WP_TABLE_STATE_H
#define WP_TABLE_STATE_H

#include "base/fail.h"
#include "warpage/table.h"

/* The owner of a page that stayed; no stream goes on from it. */
#define WPI_TABLE_KEPT(stream) ((uint64_t)((stream) + 1u) << 32 | UINT32_MAX)

struct wp_table {
    wp_device *device; /* NULL: opened from a file */
    wp_queue *queue;
    wp_table_view view; /* of the current pass */
    wp_table_heap_kind heap_kind;
    uint64_t groups;

    wp_table_segment *segments;
    uint64_t segment_count, segment_capacity;
    char **blocks; /* host memory that segments lie in */
    uint64_t block_count, block_capacity;
    uint64_t *buckets; /* the host's copy, right between runs */
    wp_table_segment *device_segments;

    /* What is copied to and from lies here, not on stacks: a wait may fail and the copy come later.
     */
    wp_table_control control;
    wp_table_page *pages; /* as they were at the end of the pass */
    uint64_t *kept;       /* first pages of key pages that stay, at their old numbers */
    char *kept_memory;    /* their content, one after the other */
    uint64_t kept_count, kept_pages;
    uint64_t key_pages_max; /* multi-valued: for keys, in each pass but the first */

    const wp_postpone *postpone; /* whose units fill the table */
    uint64_t runs;
    bool has_split_keys; /* key pages left with values pending: keys were made again */
    bool is_failed;
    uint64_t pair_count, key_count;
    wp_table_report report;
};

/** Where a place is in host memory; NULL if it is in no segment. */
char *wpi_table_host(const wp_table *table, uint64_t place);
WP_NODISCARD wp_status wpi_table_fetch(const wp_table *table, void *to, const void *from,
                                       uint64_t bytes, wp_error *err);
WP_NODISCARD wp_status wpi_table_send(wp_table *table, void *to, const void *from, uint64_t bytes,
                                      wp_error *err);
/** A new segment behind all others: [first, outer), without memory. NOMEM. */
WP_NODISCARD wp_status wpi_table_segment_add(wp_table *table, uint64_t first, uint64_t outer,
                                             wp_error *err);
/** Host memory for segments, pinned if the table has a device; the table frees it. 0 bytes: NULL.
 */
WP_NODISCARD wp_status wpi_table_block_add(wp_table *table, uint64_t bytes, char **memory,
                                           wp_error *err);

/** table_heap.c: kinds of heaps. Their memory; what their pages become at the end of a pass; the
 * error of one that is full. */
WP_NODISCARD wp_status wpi_table_heap_check(wp_device *device, const wp_table_spec *spec,
                                            wp_error *err);
WP_NODISCARD wp_status wpi_table_heap_take(wp_table *table, wp_error *err);
bool wpi_table_heap_postpones(const wp_table *table);
bool wpi_table_heap_is_on_host(const wp_table *table);
WP_NODISCARD wp_status wpi_table_heap_settle(wp_table *table, wp_error *err);
WP_NODISCARD wp_status wpi_table_heap_full(const wp_table *table, const wp_postpone_facts *facts,
                                           wp_error *err);

/** table_pass.c: the table as requestee, and what follows the last pass of a run. */
WP_NODISCARD wp_status wpi_table_begin(void *table, wp_error *err);
WP_NODISCARD wp_status wpi_table_halts(void *table, bool *out, wp_error *err);
WP_NODISCARD wp_status wpi_table_end(void *table, const wp_postpone_facts *facts, wp_error *err);
WP_NODISCARD wp_status wpi_table_settle(wp_table *table, wp_error *err);

/** table_keep.c: key pages that stay on the device. Choose and fetch at the end of a pass; put
 * them back, and link their keys again, at the start of the next. */
uint64_t wpi_table_keep_max(const wp_table *table); /* pages that may stay */
bool wpi_table_stays(const wp_table *table, uint64_t page);
WP_NODISCARD wp_status wpi_table_keep(wp_table *table, uint64_t page, wp_error *err);
WP_NODISCARD wp_status wpi_table_put_back(wp_table *table, uint64_t old_base, wp_error *err);

/** table_merge.c: keys that were made several times become one. */
void wpi_table_merge(wp_table *table);

/** table_read.c: counts pairs and keys. */
void wpi_table_count(wp_table *table);

#endif
