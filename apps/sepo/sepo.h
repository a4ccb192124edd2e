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
    int table; /* wp_table_heap_kind */
    app_size heap, page, chunk;
    uint64_t buckets;
    app_size host;              /* of host memory for pairs; 0: no limit */
    uint64_t buckets_per_group; /* 0: the table's default */
} app_sepo_options;

#define APP_SEPO_DEFAULTS {0, {0, false}, {0, false}, {0, false}, 0, {0, false}, 0}
#define APP_SEPO_TABLES "sepo|memory|pinned|managed"
#define APP_SEPO_TABLES_HELP                                                                       \
    "sepo: in device memory, in several passes if they do not fit; memory: there, failing when "   \
    "full; pinned, managed: in page-locked or managed memory"
/** Rows of a program's options. */
#define APP_SEPO_ROWS(o)                                                                           \
    {"--table", APP_OPTION_CHOICE, &(o).table, APP_SEPO_TABLES, 0, 0,                              \
     "where keys and values are; " APP_SEPO_TABLES_HELP},                                          \
        APP_SEPO_SIZE_ROWS(o)
/** The same without --table. */
#define APP_SEPO_SIZE_ROWS(o)                                                                      \
    {"--heap", APP_OPTION_SIZE, &(o).heap, "BYTES", 0, 0,                                          \
     "memory for keys and values (default: as much as they can need, or what is free; pinned, "     \
     "managed: as much)"},         \
        {"--page", APP_OPTION_SIZE, &(o).page, "BYTES", 0, 0,                                      \
         "page of that memory (default: 1/4096 of --heap, 4KiB to 256KiB)"},                       \
        {"--chunk", APP_OPTION_SIZE, &(o).chunk, "BYTES", 0, 0,                                    \
         "part of the input that is on the device at a time (default: 1/32 of free device "        \
         "memory, 64KiB to 8MiB)"},                                                                \
        {"--buckets", APP_OPTION_COUNT, &(o).buckets, "N", 0, 1u << 30,                            \
         "chains of the table, rounded up to a power of two; 0: 65,536"}

/** Ends the program if --memory or a size cannot be used. */
void app_sepo_check_options(const app_common *common, const app_sepo_options *options);
/** Ends the program if one of these options was given, which need another --table. */
void app_sepo_check_unused(const app_sepo_options *options);

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
} app_sepo_chunk;

/** Host memory with records, and the kernel for them. */
typedef struct app_sepo_records {
    const void *records;
    uint64_t count;
    uint64_t record_bytes;
    const uint64_t *starts; /* of records of different lengths: [count + 1], as offsets; or NULL */
    const char *name;       /* of several records; NULL: "records" */
    uint32_t pairs;         /* of a record, at most */
    wp_table_spec table;    /* organisation and combiner */
    /** Starts the kernel: a thread for each record of [first, outer) that is not done. */
    void (*launch)(const app_sepo_chunk *chunk, void *object, cudaStream_t stream);
    void *object;
} app_sepo_records;

/** Runs passes until all pairs are in the table, which the caller closes. */
wp_table *app_sepo_insert(app_device *device, const app_sepo_options *options,
                          const app_sepo_records *input);

/** For both: the table's place and sizes, with a heap of which `enough_bytes` suffice; the failure of a run, which ends the program; what the
 *  table takes, and what it copied. */
void app_sepo_set_table(wp_table_spec *table, const app_sepo_options *options,
                        uint64_t enough_bytes);
__attribute__((noreturn)) void app_sepo_fail(wp_status status, const wp_error *err);
void app_sepo_add_table(app_device *device, const app_sepo_options *options,
                        const wp_table_report *table);

#ifdef __CUDACC__
/** This thread's record, where there is one that is not done. */
static __device__ __forceinline__ const char *app_sepo_record(const app_sepo_chunk &chunk,
                                                              uint64_t *number, uint64_t *bytes) {
    *number = chunk.first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (*number >= chunk.outer || wp_units_is_done(&chunk.units, *number)) {
        return NULL;
    }
    const uint64_t i = *number - chunk.first;
    if (chunk.starts == NULL) {
        *bytes = chunk.record_bytes;
        return chunk.records + i * chunk.record_bytes;
    }
    *bytes = chunk.starts[i + 1] - chunk.starts[i];
    return chunk.records + (chunk.starts[i] - chunk.starts[0]);
}
#define APP_SEPO_THREADS 256
#define APP_SEPO_BLOCKS(chunk) app_blocks((chunk)->outer - (chunk)->first, APP_SEPO_THREADS)
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
/** All pairs of a table, ordered by key, then by value. */
void app_pairs_read(app_pairs *pairs, const wp_table *table);
/** Orders by key, then by value; `is_summed`: makes one pair of those with the same key, whose
 *  number is their sum. */
void app_pairs_order(app_pairs *pairs, bool is_summed);
void app_pairs_free(app_pairs *pairs);
/** Whether two ordered lists are equal. Prints the line of --check: `what` is "words". */
bool app_pairs_check(const app_pairs *got, const app_pairs *wanted, const char *what);

/** Reduces ordered pairs to one a key, whose number is how many there were. */
void app_pairs_count(const app_pairs *pairs, app_pairs *counts);
/** Prints the `top` pairs with the largest numbers, those of a number by key, with bars. */
void app_pairs_print(const app_pairs *pairs, uint64_t top, const char *number, const char *key);

#endif
