/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the programs share whose result is a table of warpage/table.h, which may be larger than
 * device memory: options, runs with their report on stderr, results, and the check against pairs
 * that a serial function listed.
 *
 * Two kinds of run fill the table:
 *
 *     app_sepo_map     by the MapReduce runtime: text, a partitioner and a map function
 *     app_sepo_insert  by the program's own kernel, over chunks of records
 *
 * All failures end the program with one sentence. Thread rule: one thread.
 */
#ifndef APP_SEPO_H
#define APP_SEPO_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>
#include <warpage/mapreduce.h>

#include "common/memory.h"
#include "common/options.h"

/* ---- options -------------------------------------------------------------------------------- */

typedef struct app_sepo_options {
    int table;  /* wp_table_heap_kind, or APP_SEPO_THREADS */
    int memory; /* app_memory_mode: of chunks, set by app_sepo_check_options */
    app_size heap, page, chunk, host;
    uint64_t buckets, group, block;
    uint64_t workers;
} app_sepo_options;

#define APP_SEPO_DEFAULTS {0, 0, {0, false}, {0, false}, {0, false}, {0, false}, 0, 0, 256, 0}
#define APP_SEPO_TABLES "sepo|memory|pinned|managed"
#define APP_SEPO_TABLES_HELP                                                                       \
    "sepo: in device memory, in several passes if they do not fit; memory: there, failing when "   \
    "full; pinned, managed: in page-locked or managed memory"
/** --table threads, behind the kinds of heaps: no kernel, but threads of the host that fill the
 * same table in host memory. */
#define APP_SEPO_THREADS ((int)WP_TABLE_HEAP_KIND_COUNT)
#define APP_SEPO_TABLES_AND_THREADS APP_SEPO_TABLES "|threads"
#define APP_SEPO_THREADS_HELP                                                                      \
    "; threads: in host memory, filled by threads of the host, for comparison"
/** Rows of a program's options. */
#define APP_SEPO_ROWS(o)                                                                           \
    {"--table",                                                                                    \
     APP_OPTION_CHOICE,                                                                            \
     &(o).table,                                                                                   \
     APP_SEPO_TABLES,                                                                              \
     0,                                                                                            \
     0,                                                                                            \
     "where keys and values are; " APP_SEPO_TABLES_HELP},                                          \
        APP_SEPO_SIZE_ROWS(o)
/** The same without --table. */
#define APP_SEPO_SIZE_ROWS(o)                                                                      \
    {"--heap",                                                                                     \
     APP_OPTION_SIZE,                                                                              \
     &(o).heap,                                                                                    \
     "BYTES",                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     "memory for keys and values (default: as much as they can need, or what is free)"},             \
        {"--page",                                                                                 \
         APP_OPTION_SIZE,                                                                          \
         &(o).page,                                                                                \
         "BYTES",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "page of that memory (default: 1/4096 of --heap, 4KiB to 256KiB)"},                       \
        {"--group",                                                                                \
         APP_OPTION_COUNT,                                                                         \
         &(o).group,                                                                               \
         "N",                                                                                      \
         0,                                                                                        \
         1u << 30,                                                                                 \
         "chains that share a page; 0: as many as leave eight pages to each group"},               \
        {"--buckets",                                                                              \
         APP_OPTION_COUNT,                                                                         \
         &(o).buckets,                                                                             \
         "N",                                                                                      \
         0,                                                                                        \
         1u << 30,                                                                                 \
         "chains of the table, rounded up to a power of two; 0: 65,536"},                          \
        {"--host-memory",                                                                          \
         APP_OPTION_SIZE,                                                                          \
         &(o).host,                                                                                \
         "BYTES",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "host memory for keys and values; further ones go to a file in TMPDIR, and so do inputs " \
         "that are packed, enlarged or generated (default: no limit)"},                            \
        {"--chunk",                                                                                \
         APP_OPTION_SIZE,                                                                          \
         &(o).chunk,                                                                               \
         "BYTES",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         "part of the input that is on the device at a time (default: 1/32 of free device "        \
         "memory, 64KiB to 8MiB)"},                                                                \
        {"--block-threads", APP_OPTION_COUNT, &(o).block, "N", 1, 1024, "threads of a block"}
/** Of programs that have --table threads. */
#define APP_SEPO_WORKERS_ROW(o)                                                                    \
    {"--workers",                                                                                  \
     APP_OPTION_COUNT,                                                                             \
     &(o).workers,                                                                                 \
     "N",                                                                                          \
     0,                                                                                            \
     1024,                                                                                         \
     "threads of --table threads; 0: one for each processor"}

/** Ends the program if a size cannot be used. With --host-memory, rooms are files from here on. */
void app_sepo_check_options(const app_common *common, app_sepo_options *options);
/** Ends the program if one of these options was given, which need another --table; `has_buckets`:
 *  --buckets does not. */
void app_sepo_check_unused(const app_sepo_options *options, bool has_buckets);

/* ---- runs ----------------------------------------------------------------------------------- */

/** Runs the job that `spec` describes over `bytes` of `text`. Its table has the result. */
wp_mapreduce *app_sepo_map(app_device *device, const app_sepo_options *options,
                           wp_mapreduce_spec *spec, const char *text, uint64_t bytes);

/** Records on the device, for a kernel: pass it by value. */
typedef struct app_sepo_chunk {
    wp_table_view table;
    wp_units units;
    const char *records;
    const uint64_t *starts; /* NULL: all records have record_bytes */
    uint64_t record_bytes;
    uint64_t first, outer; /* numbers of the records */
    uint64_t *skipped;     /* records without a pair */
} app_sepo_chunk;

/** A kernel, and its twin on the host, both made by APP_SEPO_KERNEL. */
typedef struct app_sepo_kernel {
    /** Starts the kernel: a thread for each record of [first, outer) that is not done. */
    void (*launch)(const app_sepo_chunk *chunk, const void *argument, unsigned block,
                   cudaStream_t stream);
    void (*on_host)(const app_sepo_chunk *chunk, const void *argument);
} app_sepo_kernel;

/** Host memory with records, and the kernel for them. */
typedef struct app_sepo_records {
    const void *records;
    uint64_t count;
    uint64_t record_bytes;
    const uint64_t *starts; /* of records of different lengths: [count + 1], as offsets; or NULL */
    const char *name;       /* of several records; NULL: "records" */
    uint32_t pairs;         /* of a record, at most */
    wp_table_spec table;    /* organisation and combiner */
    app_sepo_kernel kernel;
    const void *argument;
    uint64_t skipped; /* out: records without a pair */
} app_sepo_records;

/** Runs passes until all pairs are in the table, which app_sepo_close releases. */
wp_table *app_sepo_insert(app_device *device, const app_sepo_options *options,
                          app_sepo_records *input);
void app_sepo_close(wp_table *table);

/** For both: the table's place and sizes, with a heap of which `enough_bytes` suffice; the failure
 *  of a run, which ends the program; what the table takes, and what it copied. */
void app_sepo_set_table(wp_table_spec *table, const app_sepo_options *options,
                        uint64_t enough_bytes);
__attribute__((noreturn)) void app_sepo_fail(wp_status status, const wp_error *err);
/** Pass `pass` took so long, with the copy of its heap to the host: for app_value. */
void app_sepo_note_pass(uint64_t pass, double ns);
void app_sepo_add_table(app_device *device, const app_sepo_options *options,
                        const wp_table_report *table);

/** The phases on stderr, as app_device_report prints them; none of --table threads. */
void app_sepo_report(const app_device *device, const app_sepo_options *options, double bytes);

#ifdef __CUDACC__
/** Makes the app_sepo_kernel NAME of a function that makes the pairs of a record:
 *
 *      static __host__ __device__ void FUNCTION(const app_sepo_chunk *chunk, const TYPE *argument,
 *                                               const char *record, uint64_t bytes,
 *                                               wp_attempt *attempt);
 *
 *  `argument` is copied, so it must have no addresses of host memory. */
#define APP_SEPO_KERNEL(NAME, FUNCTION, TYPE)                                                      \
    static __host__ __device__ __forceinline__ void NAME##_try(                                    \
        const app_sepo_chunk *chunk, const TYPE *argument, uint64_t number) {                      \
        if (number >= chunk->outer || wp_units_is_done(&chunk->units, number)) {                   \
            return;                                                                                \
        }                                                                                          \
        const uint64_t i = number - chunk->first;                                                  \
        wp_attempt attempt = wp_attempt_begin(&chunk->units, number);                              \
        if (chunk->starts == NULL) {                                                               \
            FUNCTION(chunk, argument, chunk->records + i * chunk->record_bytes,                    \
                     chunk->record_bytes, &attempt);                                               \
        } else {                                                                                   \
            FUNCTION(chunk, argument, chunk->records + (chunk->starts[i] - chunk->starts[0]),      \
                     chunk->starts[i + 1] - chunk->starts[i], &attempt);                           \
        }                                                                                          \
        wp_attempt_end(&attempt);                                                                  \
    }                                                                                              \
    static __global__ void NAME##_kernel(const app_sepo_chunk chunk, const TYPE argument) {        \
        NAME##_try(&chunk, &argument,                                                              \
                   chunk.first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x);                 \
    }                                                                                              \
    static void NAME##_launch(const app_sepo_chunk *chunk, const void *argument, unsigned block,   \
                              cudaStream_t stream) {                                               \
        NAME##_kernel<<<app_blocks(chunk->outer - chunk->first, block), block, 0, stream>>>(       \
            *chunk, *(const TYPE *)argument);                                                      \
    }                                                                                              \
    static void NAME##_on_host(const app_sepo_chunk *chunk, const void *argument) {                \
        for (uint64_t i = chunk->first; i < chunk->outer; i++) {                                   \
            NAME##_try(chunk, (const TYPE *)argument, i);                                          \
        }                                                                                          \
    }                                                                                              \
    static const app_sepo_kernel NAME = {NAME##_launch, NAME##_on_host};
/** The argument of a kernel that needs none. */
typedef struct app_sepo_none {
    char unused;
} app_sepo_none;
#endif

/* ---- results -------------------------------------------------------------------------------- */

/** A key with a value, neither of which is copied. */
typedef struct app_pair {
    const char *key;
    const void *value; /* NULL: `number` is the value */
    uint64_t number;   /* the value, if it has 8 bytes */
    uint32_t key_bytes, value_bytes;
} app_pair;

/** `{}` is empty. */
typedef struct app_pairs {
    app_pair *pair;
    uint64_t count, capacity;
} app_pairs;

void app_pairs_add(app_pairs *pairs, const char *key, uint64_t key_bytes, const void *value,
                   uint64_t value_bytes);
void app_pairs_add_number(app_pairs *pairs, const char *key, uint64_t key_bytes, uint64_t number);
/** All pairs of a table; those of a key follow one another. */
void app_pairs_read(app_pairs *pairs, const wp_table *table);
/** Makes one pair of those with the same key, whose number is their sum. */
void app_pairs_sum(app_pairs *pairs);
void app_pairs_free(app_pairs *pairs);
/** Whether two lists have the same pairs; orders both by key, then by value. Prints the line of
 *  --check: `what` is "words". */
bool app_pairs_check(app_pairs *got, app_pairs *wanted, const char *what);

/** Reduces pairs to one a key, whose number is how many there were; those of a key must follow one
 *  another. */
void app_pairs_count(const app_pairs *pairs, app_pairs *counts);
/** Prints the `top` pairs with the largest numbers, those of a number by key, with bars. */
void app_pairs_print(const app_pairs *pairs, uint64_t top, const char *number, const char *key);

#endif
