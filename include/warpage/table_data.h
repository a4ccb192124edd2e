/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What host and kernels share of a table (warpage/table.h): its layout in memory. Programs need not
 * look inside.
 *
 *     bucket ─► entry ─► entry ─► …    a chain, newest first; links are places
 *                 └► value ─► …        multi-valued
 *
 * A place is a number of bytes that is fixed at insertion: where the pair is in the heap, and later
 * in host memory. Places below `base` have left the heap.
 */
#ifndef WARPAGE_TABLE_DATA_H
#define WARPAGE_TABLE_DATA_H

#include <stdint.h>

/* A bucket: the place of its newest entry / 8, the lock, the tag of the pass that closed it. */
#define WP_TABLE_PLACE_MASK ((UINT64_C(1) << 48) - 1)
#define WP_TABLE_BUCKET_LOCKED (UINT64_C(1) << 48)
#define WP_TABLE_TAG_SHIFT 49
#define WP_TABLE_TAGS 32767u

/** A key. What lies behind the header, each part padded to 8 bytes:
 *     basic, combining   value, key
 *     multi-valued       place of the first value, key; in packed entries then the first value */
typedef struct wp_table_entry {
    uint64_t next; /* place of the next entry of the chain; 0: none */
    uint32_t key_bytes, value_bytes;
    uint32_t hash;  /* its upper half */
    uint32_t state; /* WP_TABLE_ENTRY_... */
} wp_table_entry;

/** A value of a multi-valued table; its bytes follow. */
typedef struct wp_table_value {
    uint64_t next; /* place of the next value of the key; 0: none */
    uint32_t value_bytes;
    uint32_t reserved;
} wp_table_value;

#define WP_TABLE_ENTRY_LOCKED 1u
#define WP_TABLE_ENTRY_PENDING 2u /* a value of it was postponed */

/** A page of the heap. */
typedef struct wp_table_page {
    uint64_t owner; /* the stream that took it + 1, and the page before it + 1; 0: free */
    uint32_t used;  /* bytes; of a run of pages: in its first, UINT32_MAX if more. More than a page
                     * has, and no run: it is full up to `end` */
    uint32_t run;   /* first page of a run: pages in it; others of it: UINT32_MAX; else 0 */
    uint32_t is_pending;
    uint32_t end; /* on the host, of a page that stays: its place among those */
} wp_table_page;

typedef enum wp_table_fault_kind {
    WP_TABLE_FAULT_NONE = 0,
    WP_TABLE_FAULT_TOO_LARGE,   /* a pair of `a` bytes */
    WP_TABLE_FAULT_VALUE_SIZE,  /* `a` bytes combined with a value of `b` */
    WP_TABLE_FAULT_NO_CALLBACK, /* wp_table_insert of a table whose combiner is a callback */
    WP_TABLE_FAULT_ABSENT,      /* wp_table_find needs a part that is in a file */
    WP_TABLE_FAULT_TOO_LONG     /* a key of `a` bytes, a value of `b`: 32 bits count them */
} wp_table_fault_kind;

/** What kernels report to the host. */
typedef struct wp_table_control {
    uint32_t fault, reserved;
    uint64_t fault_a, fault_b;
    uint64_t first_free;  /* pages below are taken */
    uint64_t runs_first;  /* pages from here on belong to runs */
    uint64_t full_groups; /* basic: that postponed an insert */
    uint64_t key_pages;   /* multi-valued: that keys have taken or are about to take */
} wp_table_control;

/** Part of the table in host memory: the places [first, outer). For kernels NULL: absent. */
typedef struct wp_table_segment {
    uint64_t first, outer;
    char *memory;
} wp_table_segment;

/** The table, for kernels: pass it by value. A view is valid for one pass. */
typedef struct wp_table_view {
    uint64_t *buckets;       /* WP_TABLE_PLACE_MASK and the following */
    char *heap;              /* page_count * page_bytes */
    wp_table_page *pages;    /* [page_count] */
    uint32_t *streams;       /* [groups * 2]: current page + 1 of a group's keys, of its values */
    uint32_t *group_is_full; /* [groups] */
    uint32_t *entry_locks;   /* [buckets], for callbacks; NULL: locks are in the entries */
    wp_table_control *control;
    const wp_table_segment *segments; /* by place */
    uint32_t *wanted;                 /* [segments], in a search: those that one waits for */
    uint64_t segment_count;
    uint64_t base; /* place of the heap's first byte: lower places are in host memory */
    uint64_t page_count;
    uint64_t bucket_mask;
    uint64_t halt_groups;
    uint64_t key_pages_max; /* multi-valued: pages for keys in this pass */
    uint64_t seed;
    uint32_t page_bytes, page_shift, group_shift;
    uint32_t pass_tag; /* 1 to WP_TABLE_TAGS */
    uint32_t postpone_pct;
    uint32_t organisation, combiner;
    uint32_t is_packed; /* multi-valued: a new key and its value are allocated together */
} wp_table_view;

#endif
