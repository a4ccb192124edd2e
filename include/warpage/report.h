/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Run records: what one program did on a device. When WARPAGE_RUN_RECORD names a file, libwarpage
 * writes the record there as JSON when the program exits; `warpage run` makes a report from it.
 *
 * The JSON has `"schema": "warpage.run/1"`. Later versions may add members but do not
 * change the meaning of existing ones. Members that only some devices supply (simulated_time_ns,
 * thread_instructions) are absent for other devices.
 *
 * Ownership: the caller releases a record by wp_run_record_deinit, which accepts `{0}`, and strings
 * that the wp_run_record_to_… functions return by wp_run_text_free. Thread rule: one thread at a
 * time per record.
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

/** Directions of copies. */
typedef enum wp_copy_kind {
    WP_COPY_H2D = 0, /* host to device */
    WP_COPY_D2H,
    WP_COPY_D2D,
    WP_COPY_H2H,
    WP_COPY_FILL, /* memset */
    WP_COPY_KIND_COUNT
} wp_copy_kind;

/** A counter of the simulated GPU. A histogram has WP_RUN_HISTOGRAM_VALUES numbers: count, sum, and
 *  how many values are 0, 1, 2, … bits long. */
typedef struct wp_run_column {
    char *name; /* ends in its unit: "dram_read_bytes", "walker_latency_ps"; counts have none */
    char *unit; /* "bytes", "ps", "requests", … */
    bool is_histogram;
    size_t first; /* index of its first number among the values */
} wp_run_column;

#define WP_RUN_HISTOGRAM_CLASSES 65u
#define WP_RUN_HISTOGRAM_VALUES (2u + WP_RUN_HISTOGRAM_CLASSES)

#define WP_RUN_TLB_LEVELS 4u

/** What TLBs that query each other need beside private ones; all 0 without. */
typedef struct wp_run_tlb_sharing {
    uint64_t directories, directory_entries; /* entries of each */
    uint64_t tag_bits, map_bits;             /* of an entry, beside its valid bit */
    uint64_t buffers;                        /* of queries, one for each direction of each TLB */
    uint64_t directory_bits, buffer_bits;    /* of all */
} wp_run_tlb_sharing;

/** Properties of the simulated GPU, to compute shares and rates. */
typedef struct wp_run_machine {
    uint64_t sm_count, warps_per_sm, clock_hz, page_bytes;
    uint64_t dram_channels, dram_bytes_per_s, link_bytes_per_s;
    uint64_t walker_count;                 /* 0: unlimited */
    uint64_t schedulers;                   /* of each SM; 0: unknown, as in the next two */
    uint64_t tlb_count[WP_RUN_TLB_LEVELS]; /* TLBs of level i + 1 */
    uint64_t tlb_ports[WP_RUN_TLB_LEVELS]; /* look-ups a cycle of each; 0 with TLBs: unlimited */
    wp_run_tlb_sharing tlb_sharing;
} wp_run_machine;

/** Utilisation over time: in slice i, busy_ps[i] of units * slice_ps. units is 0 if unlimited. */
typedef struct wp_run_series {
    char *name; /* "dram_utilisation", … */
    uint64_t slice_ps, units;
    uint64_t *busy_ps; /* [slice_count] */
    size_t slice_count;
} wp_run_series;

/** Accesses of warps to pages. Atomics count as writes. */
typedef struct wp_run_touches {
    uint64_t reads, writes;
    uint64_t tlb_misses; /* of the L1 TLB */
    uint64_t walks;
} wp_run_touches;

/** How the accesses spread over the pages that were touched, of page_bytes each. */
typedef struct wp_run_spread {
    uint64_t pages;
    uint64_t most_accesses;
    uint64_t median_accesses;        /* of a page */
    uint64_t near_median;            /* pages whose accesses are within a tenth of the median */
    uint64_t hottest_tenth_accesses; /* of the hottest tenth of the pages, rounded up */
} wp_run_spread;

/** Movements of pages of managed memory, counted by allocation. Over all allocations, each adds up
 *  to the counter `paging_<name>`. */
typedef enum wp_run_move {
    WP_RUN_MOVE_FAR_FAULTS = 0,
    WP_RUN_MOVE_FETCHED, /* migrated to the device over the link */
    WP_RUN_MOVE_MADE,    /* populated with zeros on the device */
    WP_RUN_MOVE_EVICTED,
    WP_RUN_MOVE_THRASHED,     /* fetched again after an eviction */
    WP_RUN_MOVE_REMOTE,       /* translations to a page on the host */
    WP_RUN_MOVE_HOST_FETCHED, /* migrated to the host: the host accessed them */
    WP_RUN_MOVE_SENT_BACK,    /* … the program requested it */
    WP_RUN_MOVE_RETURNED,     /* … the host synchronised with the device */
    WP_RUN_MOVES              /* must be last */
} wp_run_move;

/** An allocation, or several consecutive ones of the same size by the same code. */
typedef struct wp_run_allocation {
    char *name; /* variable or kernel parameter that first pointed to it; "": unknown */
    char *site; /* the code that allocated it, "main+0x1d in app"; "": unknown */
    char *kind; /* "device", "managed", "pinned", "registered", "variable", "other" */
    uint64_t count, bytes;
    uint64_t address;     /* of the last one, for managed memory; else 0 */
    uint64_t place_bytes; /* offset of its first page on the map, if has_place */
    bool has_place;
    wp_run_touches touches;
    wp_run_spread spread;
    uint64_t moves[WP_RUN_MOVES]; /* 0 where pages do not migrate */
} wp_run_allocation;

typedef struct wp_run_page {
    uint32_t allocation;   /* index */
    uint64_t offset_bytes; /* from the first page of the allocation */
    wp_run_touches touches;
} wp_run_page;

/** Accesses by page and time. Allocations follow each other without gaps. */
typedef struct wp_run_map {
    uint64_t row_bytes, slice_ps;
    size_t row_count, slice_count;
    uint32_t *accesses; /* [slice_count * row_count] */
} wp_run_map;

/** Events of a page of managed memory. A warp instruction is one access to each page it touches. */
typedef enum wp_run_page_event {
    WP_RUN_PAGE_READ = 0,
    WP_RUN_PAGE_WRITTEN,  /* including atomics */
    WP_RUN_PAGE_REMOTE,   /* accessed on the host, across the link */
    WP_RUN_PAGE_FAULTED,  /* far faults */
    WP_RUN_PAGE_FETCHED,  /* migrated to the device, on demand or prefetched */
    WP_RUN_PAGE_EVICTED,  /* evicted to free memory */
    WP_RUN_PAGE_RETURNED, /* migrated to the host */
    WP_RUN_PAGE_EVENTS    /* must be last */
} wp_run_page_event;

/** A managed allocation. */
typedef struct wp_run_managed_allocation {
    char *name; /* as in wp_run_allocation; "" */
    uint64_t address, bytes, page_count;
    size_t first_row, row_count;           /* on the map */
    uint64_t (*pages)[WP_RUN_PAGE_EVENTS]; /* [page_count] */
} wp_run_managed_allocation;

typedef struct wp_run_launch {
    char *kernel; /* demangled name */
    uint64_t start_ps, end_ps;
} wp_run_launch;

/** Events of pages of managed memory, by page and by time. */
typedef struct wp_run_managed {
    wp_run_managed_allocation *allocations; /* in order of allocation */
    size_t allocation_count;
    uint64_t allocations_left_out; /* beyond the limit */
    wp_run_launch *launches;       /* in order of their starts */
    size_t launch_count;
    uint64_t launches_left_out;
    uint64_t row_pages, slice_ps; /* a row belongs to one allocation */
    size_t row_count, slice_count;
    uint32_t (*map)[WP_RUN_PAGE_EVENTS]; /* [slice_count * row_count] */
} wp_run_managed;

#define WP_RUN_TLB_LEVELS 4u

/** What is counted of a line of the source. Over all lines of a kernel, counts add up to the
 * kernel's counters, and times to the time for which its warps were resident. */
typedef enum wp_run_line_count {
    WP_RUN_LINE_WARP_INSTRUCTIONS = 0,
    WP_RUN_LINE_THREAD_INSTRUCTIONS,
    WP_RUN_LINE_ACCESSES, /* warp instructions to global memory */
    WP_RUN_LINE_LANES,    /* of these */
    WP_RUN_LINE_SECTORS,
    WP_RUN_LINE_PAGES,
    WP_RUN_LINE_SHARED_ACCESSES,
    WP_RUN_LINE_CONFLICT_CYCLES, /* of shared memory */
    WP_RUN_LINE_L1_HITS,         /* sectors */
    WP_RUN_LINE_L1_MERGES,
    WP_RUN_LINE_L1_MISSES,
    WP_RUN_LINE_L2_HITS,
    WP_RUN_LINE_L2_MERGES,
    WP_RUN_LINE_L2_MISSES,
    WP_RUN_LINE_TLB_HITS,                                              /* of the first level, … */
    WP_RUN_LINE_TLB_MERGES = WP_RUN_LINE_TLB_HITS + WP_RUN_TLB_LEVELS, /* likewise: joined a miss */
    WP_RUN_LINE_TLB_MISSES = WP_RUN_LINE_TLB_MERGES + WP_RUN_TLB_LEVELS,
    WP_RUN_LINE_WALKS = WP_RUN_LINE_TLB_MISSES + WP_RUN_TLB_LEVELS,
    WP_RUN_LINE_FAR_FAULTS,
    WP_RUN_LINE_REFAULTS, /* of these: on pages that had been evicted */
    WP_RUN_LINE_REMOTE,   /* translations to a page on the host */
    /* Where warps' time went, in ps: */
    WP_RUN_LINE_TIMES,
    WP_RUN_LINE_EXECUTE_PS = WP_RUN_LINE_TIMES, /* instructions: issue, dependences, fetches */
    WP_RUN_LINE_NOT_SELECTED_PS,                /* ready; the scheduler issued for others */
    WP_RUN_LINE_LSU_PS,                         /* the load/store unit had no room */
    WP_RUN_LINE_SHARED_PS,                      /* waited for shared memory */
    WP_RUN_LINE_BARRIER_PS,
    WP_RUN_LINE_THREADS_PS, /* … for other threads */
    WP_RUN_LINE_FENCE_PS,
    WP_RUN_LINE_CODE_PS,        /* … for the translation of an instruction fetch */
    WP_RUN_LINE_TRANSLATION_PS, /* … for an access: at its TLBs and walks, and in their queues; */
    WP_RUN_LINE_FAULT_PS,       /* likewise the next ones */
    WP_RUN_LINE_L1_PS,
    WP_RUN_LINE_L2_PS,
    WP_RUN_LINE_DRAM_PS,
    WP_RUN_LINE_LINK_PS,
    WP_RUN_LINE_DRAIN_PS, /* had returned; loads were in flight that nothing used */
    WP_RUN_LINE_COUNTS    /* must be last */
} wp_run_line_count;

/** A line of a kernel's source. A line of an inlined function has a row for each chain of calls. */
typedef struct wp_run_line {
    char *kernel; /* mangled */
    char *file;   /* as the compiler got it; "": code without line information */
    char *calls;  /* "a.cu:12, a.cu:40": the calls that it was inlined by, innermost first; "" */
    char *names;  /* of variables and parameters that its accesses start from, "a, b"; "" */
    uint32_t line;
    uint64_t counts[WP_RUN_LINE_COUNTS];
} wp_run_line;

/** Counters of a simulated GPU. */
typedef struct wp_run_simulation {
    uint64_t time_ps;    /* simulated time of the run */
    uint64_t counted_ps; /* the part of it that is counted (see --kernels) */
    wp_run_machine machine;
    wp_run_column *columns;
    size_t column_count;
    size_t value_count;
    uint64_t *values; /* [value_count], totals of the run */
    wp_run_series *series;
    size_t series_count;
    wp_run_allocation *allocations; /* most accesses first */
    size_t allocation_count;
    uint64_t page_bytes; /* of `pages`; larger than the profile's if there were too many pages */
    wp_run_page *pages;  /* the hottest pages, most accesses first */
    size_t page_count;
    wp_run_spread spread;      /* of all pages */
    wp_run_touches *footprint; /* [row_count of map]: all pages, by row of the map */
    wp_run_map map;
    wp_run_managed *managed; /* NULL: not requested, or pages do not migrate */
    wp_run_line *lines;      /* by kernel, file and line; NULL: not requested */
    size_t line_count;
} wp_run_simulation;

/** Launches of a kernel with the same grid and block. */
typedef struct wp_run_shape {
    uint32_t grid[3], block[3]; /* all 0: launches beyond WP_RUN_SHAPES shapes */
    uint64_t launches, time_ns, time_min_ns, time_max_ns;
} wp_run_shape;

#define WP_RUN_SHAPES 256u

typedef struct wp_run_kernel {
    char *name;         /* mangled, as in the image */
    char *display_name; /* demangled */
    uint64_t launches;
    uint64_t threads; /* of all launches */
    uint64_t time_ns; /* of all launches */
    uint64_t time_min_ns, time_max_ns;
    uint32_t grid[3], block[3]; /* of the last launch */
    wp_run_shape *shapes;       /* longest time first */
    size_t shape_count;         /* at most WP_RUN_SHAPES + 1 */
    uint64_t overlapped;        /* launches that overlapped with others: memory counters then
                                   include those of all of them */
    uint64_t *values;  /* of all launches, by column of the simulation; NULL: not simulated */
    char *launched_by; /* a kernel that launched it, demangled: another one, or itself if only that
                          did; NULL: the host */
    uint64_t swapped_blocks; /* times that a block left its simulated SM while it waited for kernels
                                that it launched */
} wp_run_kernel;

typedef struct wp_run_copies {
    uint64_t count;
    uint64_t bytes;
    uint64_t time_ns;
} wp_run_copies;

/** Streamed launches of a kernel (warpage/stream.h), which have ended. */
typedef struct wp_run_streamed {
    char *name;         /* mangled */
    char *display_name; /* demangled */
    char *windows;      /* why it has windows in place of address threads; NULL: it has not */
    uint64_t launches, blocks, chunks;
    uint64_t mapped_bytes;              /* of the reservations that were passed */
    uint64_t read_bytes, written_bytes; /* that the kernel asked for, and wrote */
    uint64_t sent_bytes, address_bytes; /* data to the device; addresses and patterns to the host */
    uint64_t repeated_bytes; /* of those sent, that had been sent before in the same launch; 0 if
                              * more than 1 GiB are mapped */
    uint64_t device_bytes, pinned_bytes, sets, slots; /* buffers of the last launch */
    uint64_t host_bytes;                              /* for blocks of mapped files, likewise */
    uint64_t kept_bytes;      /* of mapped data, on the device (streamingKeep), likewise */
    uint64_t kept_sent_bytes; /* copied there before launches */
    uint64_t file_read_bytes, file_written_bytes; /* from and to disk, by the launches */
    uint64_t time_ns;                             /* of the kernels */
    uint64_t stage_ns; /* the same, summed over sets of buffers: what stages have a share of */
    /* At work; addresses and compute: waiting for another stage. */
    uint64_t address_ns, address_wait_ns, gather_ns, compute_ns, compute_wait_ns, store_ns;
} wp_run_streamed;

/** Whether host threads let simulated times repeat. */
typedef enum wp_run_host_threads {
    WP_RUN_HOST_THREADS_REPEAT = 0,
    WP_RUN_HOST_THREADS_RAN_UNASKED, /* one ran without calls while kernels did */
    WP_RUN_HOST_THREADS_DECIDED      /* times depended on when threads of the machine ran */
} wp_run_host_threads;

/** What the simulated host did. */
typedef struct wp_run_host {
    bool is_on;            /* host work takes simulated time (`host.on`) */
    uint64_t copied_bytes; /* by memcpy into page-locked memory, and not declared otherwise */
    uint64_t undeclared_copy_bytes; /* to the device, from memory that nothing declared filled */
    wp_run_host_threads threads;
} wp_run_host;

#define WP_RUN_CACHED_STRUCTURES 8u

/** An array that a cached kernel reaches through one of its parameters. Threads count once for each
 *  loop. */
typedef struct wp_run_cached_structure {
    char name[32]; /* of the parameter or variable, "args+8" in a structure; "": unknown */
    bool is_written;
    bool is_run;        /* loops go through it 16 bytes at a time */
    bool is_alike;      /* never cached: the lanes of a warp access one address … */
    bool is_left_out;   /* … or loops that end where data say, or in which lanes meet, access it */
    uint64_t parameter; /* its number; UINT32_MAX: a variable */
    uint64_t accesses, hits;          /* while monitoring */
    uint64_t chosen, seldom, crowded; /* threads: cache it; it hit too seldom; no line was left */
} wp_run_cached_structure;

/** Launches of a kernel that was compiled with `wpcc --cache`. */
typedef struct wp_run_cached {
    char *name;         /* mangled */
    char *display_name; /* demangled */
    char *reason;       /* why launches ran the plain kernel; NULL or "": none did */
    bool has_counts;    /* left, stayed, lines and the structures' numbers were counted */
    bool registers_are_estimated;
    uint64_t launches, plain_launches;
    uint64_t l1_launches; /* of the plain ones: with the hardware's L1 */
    uint64_t hits_pct;    /* above which an array is cached */
    uint64_t lines, threads_per_sm,
        shared_left_bytes;                      /* of the last cached launch; lines: a thread */
    uint64_t registers, plain_registers;        /* of a thread */
    uint64_t registers_per_sm;                  /* 0: unknown */
    uint64_t instructions, cached_instructions; /* in the code of the two forms */
    uint64_t left, stayed; /* threads that left monitoring; that ended while monitoring */
    uint64_t runs;         /* loops that a thread went through 16 bytes at a time */
    uint64_t filled_lines, flushed_lines;
    wp_run_cached_structure structures[WP_RUN_CACHED_STRUCTURES];
    size_t structure_count;
} wp_run_cached;

/** A policy file (`--policy-file`) that was loaded. */
typedef struct wp_run_policy_file {
    char *path;
    uint64_t hash; /* of its bytes */
} wp_run_policy_file;

/** The run repeated with a part of the GPU that costs nothing (`warpage run --estimate`). */
typedef struct wp_run_estimate {
    char *rule;                /* of the verdict, that names the part */
    uint64_t time_ns;          /* simulated, of the whole run */
    uint64_t *kernel_times_ns; /* by index of the record's kernels; 0: it was not launched */
} wp_run_estimate;

/** A part of the GPU to repeat the run without: a rule, and settings as for --set, joined by ';'.
 */
typedef struct wp_run_ideal {
    const char *rule;
    char *settings;
} wp_run_ideal;

#define WP_RUN_IDEALS 3u

typedef struct wp_run_record {
    char *version; /* version of Warpage */
    char *device_spec;
    char *device_name; /* both "" when no device was opened */
    char **program;    /* argv */
    size_t program_count;
    bool has_exit_status;
    int exit_status;            /* 128 + n: killed by signal n */
    uint64_t wall_time_ns;      /* 0: unknown */
    uint64_t memory_peak_bytes; /* device and managed memory */
    wp_run_kernel *kernels;     /* by time, longest first */
    size_t kernel_count;
    wp_run_copies copies[WP_COPY_KIND_COUNT];
    wp_run_simulation *simulation;    /* NULL on real devices */
    wp_run_policy_file *policy_files; /* in order of loading */
    size_t policy_file_count;
    wp_run_streamed *streamed; /* by kernel, in order of their first launches */
    size_t streamed_count;
    wp_run_host host;
    wp_run_cached *cached; /* by kernel */
    size_t cached_count;
    wp_run_estimate *estimates;
    size_t estimate_count;
} wp_run_record;

/** Reads a record from a JSON file. NOT_FOUND, IO, PARSE (also for an unknown schema). */
WP_NODISCARD WP_API wp_status wp_run_record_read(const char *path, wp_run_record *out,
                                                 wp_error *err);
WP_API void wp_run_record_deinit(wp_run_record *record);
/** Returns a counter by name from `values` of the record or of one of its kernels; for a histogram,
 *  its number of values. 0 if there is no such counter. */
WP_API uint64_t wp_run_count(const wp_run_record *record, const uint64_t *values, const char *name);

/** Fills `out` with what would tell how much the remedies of the verdict give at most; returns how
 *  many. The caller releases `settings` by wp_run_text_free. */
WP_NODISCARD WP_API size_t wp_run_record_ideals(const wp_run_record *record,
                                                wp_run_ideal out[WP_RUN_IDEALS]);
/** Adds an estimate to the record, for its reports: `ideal` is the record of the run in which the
 *  part that `rule` names costs nothing. */
WP_API void wp_run_record_add_estimate(wp_run_record *record, const char *rule,
                                       const wp_run_record *ideal);

/** Receives a metric or counter; `text` is as in the report's JSON and valid during the call. */
typedef void (*wp_run_number_visit)(void *object, const char *name, const char *text);
/** Visits all metrics and counters of the run: the names that `warpage compare --show` accepts. */
WP_API void wp_run_visit_numbers(const wp_run_record *record, wp_run_number_visit visit,
                                 void *object);

/** Return the record in a text format; never NULL. */
WP_NODISCARD WP_API char *wp_run_record_to_json(const wp_run_record *record);
WP_NODISCARD WP_API char *wp_run_record_to_csv(const wp_run_record *record);
WP_NODISCARD WP_API char *wp_run_record_to_text(const wp_run_record *record);
/** Returns the source of the kernels with the counts of each line, as text of 100 columns; never
 * NULL. Source files are read from where the compiler found them, if they are there. */
WP_NODISCARD WP_API char *wp_run_record_to_source(const wp_run_record *record);
WP_API void wp_run_text_free(char *text);

/** Writes the record in the format that the extension of `path` selects: .txt, .json, .csv, .html.
 * INVALID for any other extension. The file is written atomically. */
WP_NODISCARD WP_API wp_status wp_run_record_write(const wp_run_record *record, const char *path,
                                                  wp_error *err);
/** Returns INVALID if wp_run_record_write does not support the extension of `path`. */
WP_NODISCARD WP_API wp_status wp_run_record_check_path(const char *path, wp_error *err);

/** Writes all formats, plots (if gnuplot is installed) and a copy of `timeline_path` (may be NULL)
 *  to the folder `dir`, atomically; an earlier report there is replaced. Values that differ between
 *  runs of the same simulation are written to host.json. */
WP_NODISCARD WP_API wp_status wp_run_record_write_folder(const wp_run_record *record,
                                                         const char *dir, const char *timeline_path,
                                                         wp_error *err);
/** Returns INVALID if `dir` contains files that are not part of a report. */
WP_NODISCARD WP_API wp_status wp_run_record_check_folder(const char *dir, wp_error *err);

/** Writes the events of pages of managed memory as tables and plots (if gnuplot is installed) to
 * the folder `dir`, as wp_run_record_write_folder does. NOT_FOUND if the record has none. */
WP_NODISCARD WP_API wp_status wp_run_record_write_pages(const wp_run_record *record,
                                                        const char *dir, wp_error *err);
/** Returns INVALID if `dir` contains files that wp_run_record_write_pages does not write. */
WP_NODISCARD WP_API wp_status wp_run_record_check_pages(const char *dir, wp_error *err);

/** Adds a phase of the program to the timeline (`warpage run --timeline`), on a track of that name
 * below those of the streams, in ns of the device's clock. Both names are copied. Does nothing if
 * no timeline is wanted. Callable from any thread. */
WP_API void wp_timeline_phase(const char *track, const char *name, uint64_t start_ns,
                              uint64_t end_ns);

/** Returns the name in the JSON: "reads", "writes", "remote", "faults", … */
WP_API const char *wp_run_page_event_name(wp_run_page_event event);

/** Returns the name in the JSON: "warp_instructions", "tlb1_misses", "fault_ps", … */
WP_API const char *wp_run_line_count_name(wp_run_line_count count);

/** Returns the name in the JSON: "far_faults", "fetched", … */
WP_API const char *wp_run_move_name(wp_run_move move);

/** Returns the name in the JSON: "h2d", … */
WP_API const char *wp_copy_kind_name(wp_copy_kind kind);

#ifdef __cplusplus
}
#endif
#endif
