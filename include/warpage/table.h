/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A hash table that kernels fill and that may be larger than device memory (SePo; Mokhtari, thesis,
 * chapter 6). Keys and values are bytes of any length below 4 GiB.
 *
 * Host                                            Kernels, and threads of the host
 *
 *     wp_table_create                                 wp_table_insert    DONE or POSTPONE
 *     wp_table_run: passes ─► launches ─────────────► wp_table_emit      … within a unit of work
 *     wp_table_find, _next, _count, _retrieve         wp_table_find      once the table is full
 *     wp_table_search: passes ─► launches ──────────► wp_table_seek_next … of parts brought back
 *     wp_table_save, wp_table_open, wp_table_map
 *
 * Pairs are allocated from a heap in device memory. When it is full, inserts that need memory are
 * postponed; at the end of the pass the heap is copied to host memory and emptied, and a further
 * pass makes the postponed inserts again (warpage/postpone.h counts them). The finished table is in
 * host memory, and beyond a limit of yours in a file. Kernels read the part that still is in the
 * heap there and the rest over the link, or have parts brought back and postpone what needs others.
 *
 * Three organisations: basic (each pair is an entry), multi-valued (a key has a list of values) and
 * combining (a key has one value, which a new value is combined with).
 *
 *     wp_table_spec spec = WP_TABLE_SPEC_INIT;
 *     spec.organisation = WP_TABLE_COMBINING;        spec.combiner = WP_TABLE_ADD;
 *     wp_table_create(wp_cudart_device(), &spec, &table, &err);
 *     wp_table_run(table, postpone, &requester, NULL, &err);
 *
 *     __global__ void count(wp_table_view table, wp_units units, …) {
 *         …
 *         if (wp_units_is_done(&units, line)) return;
 *         wp_attempt attempt = wp_attempt_begin(&units, line);
 *         wp_table_emit(&table, &attempt, url, url_bytes, &one, sizeof one);
 *         wp_attempt_end(&attempt);
 *     }
 *
 * Thread rule: one thread of the host on one wp_table; any number of threads in kernels. Ownership:
 * `_create` and `_open` give a table that `_close` releases (NULL allowed). Device memory is the
 * table's; create it after all other allocations if the heap is to be what is left.
 *
 * How it works: docs/rooms/table.md. warpage/table_data.h has the table's layout in memory, and
 * warpage/table_kernel.h the functions for kernels; this header declares what programs need.
 */
#ifndef WARPAGE_TABLE_H
#define WARPAGE_TABLE_H

#include "warpage/postpone.h"
#include "warpage/table_data.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wp_table_organisation {
    WP_TABLE_BASIC = 0,   /* every pair is an entry; equal keys are not looked for */
    WP_TABLE_MULTIVALUED, /* a key with the list of its values */
    WP_TABLE_COMBINING,   /* a key with one value; its size is that of the key's first value */
    WP_TABLE_ORGANISATION_COUNT
} wp_table_organisation;

/** How a combining table combines. All but CALLBACK use atomics on unsigned values of 4 or 8 bytes
 * (sums wrap). */
typedef enum wp_table_combiner {
    WP_TABLE_ADD = 0,
    WP_TABLE_MIN,
    WP_TABLE_MAX,
    WP_TABLE_OR,
    WP_TABLE_CALLBACK, /* a function named where pairs are inserted: wp_table_insert_with */
    WP_TABLE_COMBINER_COUNT
} wp_table_combiner;

/** Where pairs are, and what happens when there is no memory for one. All but SEPO are for
 * comparison: they take one pass and fail when the heap is full. Buckets, locks and the allocator's
 * state are in device memory in any case. */
typedef enum wp_table_heap_kind {
    WP_TABLE_HEAP_SEPO = 0, /* in device memory; inserts are postponed to a later pass */
    WP_TABLE_HEAP_MEMORY,   /* in device memory */
    WP_TABLE_HEAP_PINNED,   /* in page-locked host memory: kernels access it over the link */
    WP_TABLE_HEAP_MANAGED,  /* in managed memory: pages migrate; beyond device memory only on
                             * devices with page faults */
    WP_TABLE_HEAP_KIND_COUNT
} wp_table_heap_kind;

/** Zeros choose the default. Sizes are powers of two, rounded up. */
typedef struct wp_table_spec {
    wp_table_organisation organisation;
    wp_table_combiner combiner;
    uint64_t bucket_count;      /* 0: 2^16. Chains may be longer than one entry */
    uint64_t buckets_per_group; /* adjacent ones that allocate from the same page; 0: as many as
                                 * leave eight pages to each group, at most 512 groups */
    uint64_t heap_bytes;        /* 0: what is free when the table is created, less 1/32; PINNED and
                                 * MANAGED have no default */
    uint64_t page_bytes;        /* 0: 1/4096 of the heap, from 4 to 256 KiB */
    uint32_t halt_pct;          /* basic: of the groups that postpone, ends the pass; 0: 50 */
    uint32_t postpone_pct;      /* for tests of programs: so many percent of the inserts that need
                                 * memory are postponed although there is some */
    uint64_t seed;              /* … which ones */
    wp_table_heap_kind heap_kind;
    uint64_t host_bytes;      /* of host memory for pairs, at most; what does not fit goes to a file
                               * without a name, which is deleted with the table. 0: no limit */
    const char *spill_folder; /* where; NULL: TMPDIR, or /tmp */
} wp_table_spec;
#define WP_TABLE_SPEC_INIT                                                                         \
    {WP_TABLE_BASIC, WP_TABLE_ADD, 0, 0, 0, 0, 0, 0, 0, WP_TABLE_HEAP_SEPO, 0, NULL}

/** What a table took, so far. */
typedef struct wp_table_report {
    uint64_t passes;
    uint64_t heap_bytes, page_bytes, pages, bucket_count, groups;
    uint64_t table_bytes;     /* of entries in host memory and file: the table's size */
    uint64_t unused_bytes;    /* waste: at the ends of the heap's pages, sum over passes */
    uint64_t to_host_bytes;   /* copied over the link */
    uint64_t to_device_bytes; /* …: key pages that stayed, and buckets after them */
    uint64_t pages_kept;      /* sum over passes of key pages that stayed for pending values */
    uint64_t host_bytes;      /* of host memory */
    uint64_t file_bytes;      /* of the file, whole pages for each pass */
} wp_table_report;

typedef struct wp_table wp_table;

/* ---- the host's side ------------------------------------------------------------------------ */

/** INVALID: a size that is not allowed, or a heap that holds no page (the message says how much is
 * needed); UNSUPPORTED: managed memory beyond device memory, without page faults; NOMEM;
 * DEVICE_NOMEM. */
WP_NODISCARD WP_API wp_status wp_table_create(wp_device *device, const wp_table_spec *spec,
                                              wp_table **out, wp_error *err);
WP_API void wp_table_close(wp_table *table);

/** Runs passes, as wp_postpone_run, with the table as requestee. Further runs add to the table.
 * INVALID also if a pair is larger than the heap, or a value combined with one of another size;
 * DEVICE_NOMEM and NOMEM if the heap is full and its kind does not postpone: the table is then
 * closed for all but wp_table_close. */
WP_NODISCARD WP_API wp_status wp_table_run(wp_table *table, wp_postpone *postpone,
                                           const wp_requester *requester, wp_postpone_facts *facts,
                                           wp_error *err);
/** The view for the launches of the current pass; between runs, for wp_table_find in kernels. */
WP_API wp_table_view wp_table_get_view(const wp_table *table);
WP_API void wp_table_get_report(const wp_table *table, wp_table_report *out);

/** Runs passes over searches by kernels (wp_table_seek_next), for a table that is larger than
 * device memory. Before a pass, parts of the table that searches wait for are copied into the heap;
 * a search that needs another part is postponed. `postpone` counts the searches; it is another one
 * than that whose units filled the table. Afterwards `wp_table_find` in kernels reads the whole
 * table over the link. INVALID: the table was opened from a file; else as wp_postpone_run. */
WP_NODISCARD WP_API wp_status wp_table_search(wp_table *table, wp_postpone *postpone,
                                              const wp_requester *requester,
                                              wp_postpone_facts *facts, wp_error *err);

/** A pair of the table. Pointers are valid until the next run, or wp_table_close. */
typedef struct wp_table_pair {
    const void *key;
    const void *value;
    uint64_t key_bytes, value_bytes;
} wp_table_pair;

/** Where a search or an iteration is. All zeros: before the first pair. */
typedef struct wp_table_cursor {
    uint64_t bucket, entry, value;
    uint64_t run;   /* the table's runs before it began, + 1 */
    uint64_t pairs; /* that it has had */
} wp_table_cursor;

/** The next pair with this key. False: there is none, or no further one. The order of pairs is not
 * defined. */
WP_API bool wp_table_find_next(const wp_table *table, const void *key, uint64_t key_bytes,
                               wp_table_cursor *cursor, wp_table_pair *out);
/** The next pair of all. Multi-valued: pairs of a key follow one another. */
WP_API bool wp_table_next(const wp_table *table, wp_table_cursor *cursor, wp_table_pair *out);
/** Whether a search or an iteration saw the table as it is. INVALID: the table was added to after
 * it began, and ended it, or a run of it failed; or wp_table_find in a kernel needed a part that is
 * in a file (reported once). PARSE: the file that was mapped is damaged, with the offset. */
WP_NODISCARD WP_API wp_status wp_table_check(const wp_table *table, const wp_table_cursor *cursor,
                                             wp_error *err);
WP_API uint64_t wp_table_pair_count(const wp_table *table);
/** Entries: equal to the number of different keys, except in basic tables. */
WP_API uint64_t wp_table_key_count(const wp_table *table);

/** All pairs, in Arrow's layout: pair i has keys[key_offsets[i] .. key_offsets[i + 1]). */
typedef struct wp_table_rows {
    uint64_t count;
    uint64_t *key_offsets, *value_offsets; /* [count + 1] */
    char *keys, *values;
} wp_table_rows;
WP_NODISCARD WP_API wp_status wp_table_retrieve(const wp_table *table, wp_table_rows *out,
                                                wp_error *err);
WP_API void wp_table_rows_deinit(wp_table_rows *rows); /* {0} allowed */

/** Writes the table to a file, which appears complete or not at all. IO. */
WP_NODISCARD WP_API wp_status wp_table_save(const wp_table *table, const char *path, wp_error *err);
/** Reads a saved table into host memory. It can be searched on the host, not added to. NOT_FOUND,
 * IO, NOMEM; PARSE: not a table, cut, damaged, or of another version, with the offset. */
WP_NODISCARD WP_API wp_status wp_table_open(const char *path, wp_table **out, wp_error *err);
/** As wp_table_open, without loading: the file is mapped, and a search reads the pages that it
 * needs. Its header is checked now, each link when it is followed: a damaged one ends the search,
 * and wp_table_check says so. The file must not be changed while the table is open. */
WP_NODISCARD WP_API wp_status wp_table_map(const char *path, wp_table **out, wp_error *err);

#ifdef __cplusplus
}
#endif

/* ---- in kernels, and on threads of the host -------------------------------------------------
 *
 * Defined in warpage/table_kernel.h. Inserts are made during wp_table_run, and a unit that makes
 * several makes them by wp_table_emit. */

/** The view of a table of this organisation, for kernels that insert into tables of one only: the
 * compiler then leaves out the code of the others. On simulated GPUs such kernels run ahead of
 * simulated time, many times faster, if the table is basic. */
WP_WORD_CALL wp_table_view wp_table_view_as(const wp_table_view *table,
                                            wp_table_organisation organisation);

/** Inserts a pair: DONE, POSTPONE (make it again in the next pass), REFUSED (the run fails). */
WP_WORD_CALL wp_answer wp_table_insert(const wp_table_view *table, const void *key,
                                       uint64_t key_bytes, const void *value, uint64_t value_bytes);

/** Combines a new value with the existing one of the same size, in place. It is called under the
 * entry's lock; both are aligned as the program's value and to 8 bytes, respectively. */
typedef void (*wp_table_combine)(const void *value, void *existing);

#define WP_TABLE_NO_CALLBACK ((wp_table_combine)0)

/** Inserts a pair; a combining table whose combiner is CALLBACK calls `combine` if the key has a
 * value already. A function named here is inlined; a pointer to a device function works as well. */
WP_WORD_CALL wp_answer wp_table_insert_with(const wp_table_view *table, const void *key,
                                            uint64_t key_bytes, const void *value,
                                            uint64_t value_bytes, wp_table_combine combine);

/** The next pair of a unit of work: inserted unless it was in an earlier pass. */
WP_WORD_CALL void wp_table_emit(const wp_table_view *table, wp_attempt *attempt, const void *key,
                                uint64_t key_bytes, const void *value, uint64_t value_bytes);
WP_WORD_CALL void wp_table_emit_with(const wp_table_view *table, wp_attempt *attempt,
                                     const void *key, uint64_t key_bytes, const void *value,
                                     uint64_t value_bytes, wp_table_combine combine);

/* ---- find, in a table that no run is adding to ---------------------------------------------- */

/** The place of the first entry with this key, or of the next one behind the entry at `place`
 * (0: from the start); 0: there is none. For tables of which no part is in a file; a search of
 * others ends there, and wp_table_check says so. */
WP_WORD_CALL uint64_t wp_table_find(const wp_table_view *table, const void *key, uint32_t key_bytes,
                                    uint64_t place);
/** The value of the entry at `place`: its bytes, or NULL in a multi-valued table. */
WP_WORD_CALL const void *wp_table_value_at(const wp_table_view *table, uint64_t place,
                                           uint32_t *value_bytes);
/** Multi-valued: the next value of the entry at `place`. `*value_place` is 0 before the first.
 * NULL: there is no further one. */
WP_WORD_CALL const void *wp_table_next_value(const wp_table_view *table, uint64_t place,
                                             uint64_t *value_place, uint32_t *value_bytes);

/* ---- searches over passes, during wp_table_search -------------------------------------------- */

typedef enum wp_table_seek_stage {
    WP_TABLE_SEEK_BEGIN = 0,
    WP_TABLE_SEEK_ENTRY, /* `place` is the next entry of the chain */
    WP_TABLE_SEEK_VALUE, /* `place` is the next value of the key */
    WP_TABLE_SEEK_END
} wp_table_seek_stage;

/** Where the search of a key is, from pass to pass; in device memory of the program, one for each
 * request of a unit. All zeros: before the first pair. */
typedef struct wp_table_seek {
    uint64_t place;
    uint32_t stage, reserved;
} wp_table_seek;

/** The next pair with this key: its value, valid until the pass ends. DONE: `*value` is NULL if
 * there was no further one. POSTPONE: it needs a part that is absent; call again in the next pass.
 * Each value is returned once over all passes. */
WP_WORD_CALL wp_answer wp_table_seek_next(const wp_table_view *table, wp_table_seek *seek,
                                          const void *key, uint32_t key_bytes, const void **value,
                                          uint32_t *value_bytes);

#include "warpage/table_kernel.h"

#endif
