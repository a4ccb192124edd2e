/* SPDX-License-Identifier: Apache-2.0 */
/** A table as the files of this room see it. The host's memory has the pages that left the device,
 * as segments in the order of their places. */
#ifndef WP_TABLE_STATE_H
#define WP_TABLE_STATE_H

#include "base/fail.h"
#include "warpage/table.h"

/* The owner of a page that stayed; no stream goes on from it. */
#define WPI_TABLE_KEPT(stream) ((uint64_t)((stream) + 1u) << 32 | UINT32_MAX)

/* Host memory that segments lie in. */
typedef struct wpi_table_block {
    char *memory;
    uint64_t bytes;
    bool is_in_file; /* mapped */
} wpi_table_block;

/* A table in a file that is mapped, not loaded: links are checked when they are followed. */
typedef struct wpi_table_map {
    char *memory;
    uint64_t bytes;
    char *path;
    bool is_damaged;
    uint64_t damage_offset;
} wpi_table_map;

struct wp_table {
    wp_device *device;  /* NULL: opened from a file */
    wpi_table_map *map; /* NULL: it is not mapped */
    wp_queue *queue;
    wp_table_view view; /* of the current pass */
    wp_table_heap_kind heap_kind;
    uint64_t groups;

    wp_table_segment *segments;
    uint64_t segment_count, segment_capacity;
    wpi_table_block *blocks;
    uint64_t block_count, block_capacity;
    uint64_t host_bytes_max; /* 0: no limit */
    char *spill_folder;      /* NULL: the usual one */
    int spill_file;          /* descriptor + 1; 0: there is none */
    bool is_spilling;        /* further blocks are in the file */
    uint64_t *buckets;       /* the host's copy, right between runs */
    wp_table_segment *device_segments;
    wp_table_segment
        *listed; /* their source: a copy that failed to be waited for may still read it */

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
    /* table_rows.c */
    bool is_of_rows;      /* filled by wp_table_add_rows */
    bool is_pass_open;    /* rows are inserted in a pass that has begun */
    bool has_remade_keys; /* a key may be in several entries, from several passes */
    uint64_t rows_served; /* in the open pass */
    wp_table_combine combine;
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
/** Memory for segments, which the table frees: of the host, pinned if the table has a device, or
 * beyond host_bytes_max in a file. 0 bytes: NULL. */
WP_NODISCARD wp_status wpi_table_block_add(wp_table *table, uint64_t bytes, char **memory,
                                           wp_error *err);

/** table_spill.c: memory in a file. `give` unmaps a block of it, `release` lets its pages leave
 * host memory. IO: a full disk, or a folder that cannot be written to. */
WP_NODISCARD wp_status wpi_table_spill_add(wp_table *table, uint64_t bytes, char **memory,
                                           wp_error *err);
void wpi_table_spill_give(char *memory, uint64_t bytes);
void wpi_table_spill_release(char *memory, uint64_t bytes);
void wpi_table_spill_close(wp_table *table);

/** postpone.c: the pass that has begun is no idle one, although it may serve no request. */
void wpi_postpone_moved(wp_postpone *postpone);

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
/** The device's list of segments, for wp_table_find. */
WP_NODISCARD wp_status wpi_table_list_segments(wp_table *table, wp_error *err);

/** table_keep.c: key pages that stay on the device. Choose and fetch at the end of a pass; put
 * them back, and link their keys again, at the start of the next. */
uint64_t wpi_table_keep_max(const wp_table *table); /* pages that may stay */
bool wpi_table_stays(const wp_table *table, uint64_t page);
WP_NODISCARD wp_status wpi_table_keep(wp_table *table, uint64_t page, wp_error *err);
WP_NODISCARD wp_status wpi_table_put_back(wp_table *table, uint64_t old_base, wp_error *err);

/** table_merge.c: keys that were made several times become one. */
void wpi_table_merge(wp_table *table);
/** ... of a table of rows, in which any key may be in several entries. NOMEM. */
WP_NODISCARD wp_status wpi_table_merge_rows(wp_table *table, wp_error *err);

/** table_read.c: counts pairs and keys. */
void wpi_table_count(wp_table *table);

/** table_map.c: a table in a file, mapped. `follow` is the memory at a place of which at least
 * `bytes` lie in one segment; NULL: the file is damaged, which the table remembers. */
const char *wpi_table_follow(const wp_table *table, uint64_t place, uint64_t bytes);
void wpi_table_note_damage(const wp_table *table, uint64_t offset);
void wpi_table_unmap(wpi_table_map *map);

/** table_file.c: bytes from a place to the end of its segment; 0: no entry can be there. */
uint64_t wpi_table_room(const wp_table *table, uint64_t place);

#endif
