/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Run records: what one program did on a device. libwarpage writes one as JSON at the program's
 * exit when WARPAGE_RUN_RECORD names a file; `warpage run` does that and turns it into a report.
 *
 * The JSON has `"schema": "warpage.run/1"`. Later versions may add members, never change one's
 * meaning. Members that only some devices fill (simulated_time_ns, thread_instructions) are absent
 * elsewhere.
 *
 * Ownership: a record read belongs to the caller and goes back with wp_run_record_deinit, which
 * accepts `{0}`. Strings given out by the wp_run_record_to_… functions go back with
 * wp_run_text_free. Thread rule: one thread at a time per record.
 */
#ifndef WARPAGE_REPORT_H
#define WARPAGE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WP_RUN_SCHEMA "warpage.run/1"

/** Where bytes went. */
typedef enum wp_copy_kind {
    WP_COPY_H2D = 0, /* host to device */
    WP_COPY_D2H,
    WP_COPY_D2D,
    WP_COPY_H2H,
    WP_COPY_FILL, /* memset */
    WP_COPY_KIND_COUNT
} wp_copy_kind;

/** A counter of the simulated GPU. A histogram has WP_RUN_HISTOGRAM_VALUES numbers: count, sum, and
 *  how many values had 0, 1, 2, … bits. */
typedef struct wp_run_column {
    char *name; /* with its unit: "dram_read_bytes", "walker_latency_ps"; plain counts have none */
    char *unit; /* "bytes", "ps", "requests", … */
    bool is_histogram;
    size_t first; /* of its numbers among the values */
} wp_run_column;

#define WP_RUN_HISTOGRAM_CLASSES 65u
#define WP_RUN_HISTOGRAM_VALUES (2u + WP_RUN_HISTOGRAM_CLASSES)

/** What the simulated GPU has, for shares and rates. */
typedef struct wp_run_machine {
    uint64_t sm_count, warps_per_sm, clock_hz, page_bytes;
    uint64_t dram_channels, dram_bytes_per_s, link_bytes_per_s;
    uint64_t walker_count; /* 0: any number */
} wp_run_machine;

/** How much of the time something was in use: in slice i, busy_ps[i] of units * slice_ps. Without
 *  limit, units is 0. */
typedef struct wp_run_series {
    char *name; /* "dram_utilisation", … */
    uint64_t slice_ps, units;
    uint64_t *busy_ps; /* [slice_count] */
    size_t slice_count;
} wp_run_series;

/** Accesses of warps to pages; atomics are writes. */
typedef struct wp_run_touches {
    uint64_t reads, writes;
    uint64_t tlb_misses; /* of the first level */
    uint64_t walks;
} wp_run_touches;

/** What paging does with the pages of managed memory, by allocation. Each is a part of the counter
 *  `paging_<name>`: over all allocations they add up to it. */
typedef enum wp_run_move {
    WP_RUN_MOVE_FAR_FAULTS = 0,
    WP_RUN_MOVE_FETCHED, /* came over the link */
    WP_RUN_MOVE_MADE,    /* made on the device, of zeros */
    WP_RUN_MOVE_EVICTED,
    WP_RUN_MOVE_THRASHED,     /* came again after an eviction */
    WP_RUN_MOVE_REMOTE,       /* translations that led to the host */
    WP_RUN_MOVE_HOST_FETCHED, /* went back, since the host touched them */
    WP_RUN_MOVE_SENT_BACK,    /* … since the program said so */
    WP_RUN_MOVE_RETURNED,     /* … since the host waited for the device */
    WP_RUN_MOVES              /* must be last */
} wp_run_move;

/** An allocation, or several of the same size that the same code made one after the other. */
typedef struct wp_run_allocation {
    char *name; /* the variable or kernel parameter by which it was reached first; "" */
    char *site; /* who asked for it, "main+0x1d in app"; "" */
    char *kind; /* "device", "managed", "pinned", "registered", "variable", "other" */
    uint64_t count, bytes;
    uint64_t address;     /* of managed memory, the last one's; else 0 */
    uint64_t place_bytes; /* of its first page on the map; has_place */
    bool has_place;
    wp_run_touches touches;
    uint64_t moves[WP_RUN_MOVES]; /* 0 where pages do not move */
} wp_run_allocation;

typedef struct wp_run_page {
    uint32_t allocation;   /* index */
    uint64_t offset_bytes; /* of the page, from that of the allocation's start */
    wp_run_touches touches;
} wp_run_page;

/** Which pages were accessed when. Allocations lie one after the other, without gaps. */
typedef struct wp_run_map {
    uint64_t row_bytes, slice_ps;
    size_t row_count, slice_count;
    uint32_t *accesses; /* [slice_count * row_count] */
} wp_run_map;

/** What happens to a page of managed memory. An access is a warp instruction: once for each page.
 */
typedef enum wp_run_page_event {
    WP_RUN_PAGE_READ = 0,
    WP_RUN_PAGE_WRITTEN,  /* atomics, too */
    WP_RUN_PAGE_REMOTE,   /* translated to the host: accesses across the link */
    WP_RUN_PAGE_FAULTED,  /* far faults */
    WP_RUN_PAGE_FETCHED,  /* it came, asked for or prefetched */
    WP_RUN_PAGE_EVICTED,  /* it left for another */
    WP_RUN_PAGE_RETURNED, /* it went back, for the host */
    WP_RUN_PAGE_EVENTS    /* must be last */
} wp_run_page_event;

/** Of one address and size. */
typedef struct wp_run_managed_allocation {
    char *name; /* as in wp_run_allocation; "" */
    uint64_t address, bytes, page_count;
    size_t first_row, row_count;           /* on the map */
    uint64_t (*pages)[WP_RUN_PAGE_EVENTS]; /* [page_count] */
} wp_run_managed_allocation;

typedef struct wp_run_launch {
    char *kernel; /* its name for people */
    uint64_t start_ps, end_ps;
} wp_run_launch;

/** Pages of managed memory, by what happened to them, and when. */
typedef struct wp_run_managed {
    wp_run_managed_allocation *allocations; /* in order of allocation */
    size_t allocation_count;
    uint64_t allocations_left_out; /* too many */
    wp_run_launch *launches;       /* in order of their starts */
    size_t launch_count;
    uint64_t launches_left_out;
    uint64_t row_pages, slice_ps; /* a row has pages of one allocation */
    size_t row_count, slice_count;
    uint32_t (*map)[WP_RUN_PAGE_EVENTS]; /* [slice_count * row_count] */
} wp_run_managed;

/** What a simulated GPU counted. */
typedef struct wp_run_simulation {
    uint64_t time_ps;    /* simulated: all of the run */
    uint64_t counted_ps; /* … of which counts are kept (less with --kernels and the like) */
    wp_run_machine machine;
    wp_run_column *columns;
    size_t column_count;
    size_t value_count;
    uint64_t *values; /* [value_count], sums of the run */
    wp_run_series *series;
    size_t series_count;
    wp_run_allocation *allocations; /* most accesses first */
    size_t allocation_count;
    uint64_t page_bytes; /* of `pages` and of the profile's, or more, where there were too many */
    wp_run_page *pages;  /* most accesses first, the hottest only */
    size_t page_count;
    wp_run_touches *footprint; /* [row_count of map]: all pages, in the map's rows */
    wp_run_map map;
    wp_run_managed *managed; /* NULL: nobody asked, or pages do not move */
} wp_run_simulation;

typedef struct wp_run_kernel {
    char *name;         /* mangled, as in the image */
    char *display_name; /* for people */
    uint64_t launches;
    uint64_t threads; /* of all launches */
    uint64_t time_ns; /* of all launches */
    uint64_t time_min_ns, time_max_ns;
    uint32_t grid[3], block[3]; /* of the last launch */
    uint64_t overlapped;        /* launches beside which others were under way: memory's counts
                                   are of all of them */
    uint64_t *values; /* of all launches, by the simulation's columns; NULL: not simulated */
} wp_run_kernel;

typedef struct wp_run_copies {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
} wp_run_copies;

/** A policy file (`--policy-file`) that was loaded. */
typedef struct wp_run_policy_file {
    char *path;
    uint64_t hash; /* of its bytes */
} wp_run_policy_file;

typedef struct wp_run_record {
    char *version; /* of Warpage */
    char *device_spec;
    char *device_name; /* both "" when no device was opened */
    char **program;    /* argv */
    size_t program_count;
    bool has_exit_status;
    int exit_status;            /* 128 + n: ended by signal n */
    uint64_t wall_time_ns;      /* 0: not told */
    uint64_t memory_peak_bytes; /* device and managed memory */
    wp_run_kernel *kernels;     /* by time, longest first */
    size_t kernel_count;
    wp_run_copies copies[WP_COPY_KIND_COUNT];
    wp_run_simulation *simulation; /* NULL on real devices */
    wp_run_policy_file *policy_files; /* in order of loading */
    size_t policy_file_count;
} wp_run_record;

/** Reads a record from a JSON file. NOT_FOUND, IO, PARSE (also for a schema it does not know). */
WP_NODISCARD WP_API wp_status wp_run_record_read(const char *path, wp_run_record *out,
                                                 wp_error *err);
WP_API void wp_run_record_deinit(wp_run_record *record);
/** A counter's number among `values` of the record or one of its kernels; of a histogram, how many
 *  values it has. 0 if there is none of that name. */
WP_API uint64_t wp_run_count(const wp_run_record *record, const uint64_t *values, const char *name);

/** A number of a run on a simulated GPU; `text` as in the report's JSON, valid during the call. */
typedef void (*wp_run_number_visit)(void *object, const char *name, const char *text);
/** Visits all metrics and counters of the whole run: what --show of compare knows. */
WP_API void wp_run_visit_numbers(const wp_run_record *record, wp_run_number_visit visit,
                                 void *object);

/** The record as text; never NULL. */
WP_NODISCARD WP_API char *wp_run_record_to_json(const wp_run_record *record);
WP_NODISCARD WP_API char *wp_run_record_to_csv(const wp_run_record *record);
WP_NODISCARD WP_API char *wp_run_record_to_text(const wp_run_record *record);
WP_API void wp_run_text_free(char *text);

/** Writes the form that the path's ending names: .txt, .json, .csv, .html. INVALID for any other.
 * The file appears complete or not at all. */
WP_NODISCARD WP_API wp_status wp_run_record_write(const wp_run_record *record, const char *path,
                                                  wp_error *err);
/** INVALID, with a message, unless wp_run_record_write knows the path's ending. */
WP_NODISCARD WP_API wp_status wp_run_record_check_path(const char *path, wp_error *err);

/** Writes all forms, plots (if gnuplot is there) and `timeline_path` (may be NULL) into the folder
 *  `dir`, which appears complete or not at all and may replace an earlier one. What is not the same
 *  each time a simulation runs goes to host.json. */
WP_NODISCARD WP_API wp_status wp_run_record_write_folder(const wp_run_record *record,
                                                         const char *dir, const char *timeline_path,
                                                         wp_error *err);
/** INVALID, with a message, if `dir` has files that are not of a report. */
WP_NODISCARD WP_API wp_status wp_run_record_check_folder(const char *dir, wp_error *err);

/** Writes what happened to pages of managed memory, as tables and plots (if gnuplot is there), into
 *  the folder `dir`, as wp_run_record_write_folder. NOT_FOUND: the record has nothing of that. */
WP_NODISCARD WP_API wp_status wp_run_record_write_pages(const wp_run_record *record,
                                                        const char *dir, wp_error *err);
/** INVALID, with a message, if `dir` has files that are not of that. */
WP_NODISCARD WP_API wp_status wp_run_record_check_pages(const char *dir, wp_error *err);

/** "reads", "writes", "remote", "faults", …, as in the JSON. */
WP_API const char *wp_run_page_event_name(wp_run_page_event event);

/** "far_faults", "fetched", …, as in the JSON. */
WP_API const char *wp_run_move_name(wp_run_move move);

/** "h2d", …, as in the JSON. */
WP_API const char *wp_copy_kind_name(wp_copy_kind kind);

#ifdef __cplusplus
}
#endif
#endif
