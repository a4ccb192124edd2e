/* SPDX-License-Identifier: Apache-2.0 */
/** A job as the files of this room see it. */
#ifndef WP_MAPREDUCE_MAPREDUCE_JOB_H
#define WP_MAPREDUCE_MAPREDUCE_JOB_H

#include "base/fail.h"
#include "table_io/bytes.h"
#include "warpage/mapreduce.h"

/** An input file, or the memory that was given. */
typedef struct wpi_source {
    const char *name;
    const char *text;
    uint64_t bytes;
    uint64_t first_record;
    wpi_bytes *file; /* what the text is mapped from; NULL: nothing */
    char *unpacked;  /* or it is here; NULL: it is not */
} wpi_source;

#define WPI_RECORD_NEW UINT64_MAX
#define WPI_RECORD_DONE (UINT64_MAX - 1)

typedef struct wpi_record {
    const char *text;
    uint64_t bits; /* first word of its pairs' bits in wp_mapreduce.bits; RECORD_NEW, RECORD_DONE */
    uint32_t bytes, pairs, digest, reserved;
} wpi_record;

/** A chunk on the host and on the device. The layout of both is the same, and follows the batch:
 *     control, pieces, text, states (of records tried before), bits, left */
typedef struct wpi_buffer {
    char *host, *device;
    wp_event *copy_start, *copied, *map_start, *mapped;
    uint64_t *numbers; /* [records_max]: of the batch's records */
    uint64_t count, text_bytes, words;
    uint64_t text_at, states_at, bits_at, left_at; /* offsets; pieces are behind the control */
    bool was_tried, is_busy;
} wpi_buffer;

/** Numbers that grow. */
typedef struct wpi_list {
    uint64_t *items;
    uint64_t count, capacity;
} wpi_list;

typedef struct wpi_result {
    wp_span key, value;
} wpi_result;

struct wp_mapreduce {
    wp_device *device;
    wp_mapreduce_spec spec;
    wpi_source *sources;
    uint64_t source_count;
    wpi_record *records;
    uint64_t record_count, record_capacity, longest_bytes;
    uint32_t *bits; /* of records that are left, in words */
    uint64_t bits_count, bits_capacity;

    wp_queue *queue, *copies, *clock;
    wp_event *tick;
    wpi_buffer buffers[2];
    unsigned turn;
    uint64_t chunk_bytes, records_max, words_max, buffer_bytes;
    wpi_list again; /* records that found no room for their bits in this pass */

    wp_postpone *postpone;
    wp_table *table;
    uint64_t refused_record; /* UINT64_MAX: none */
    wp_mapreduce_pass pass;  /* under way */
    uint64_t mapped_ns;      /* its last record was mapped, by the device's clock */
    wp_mapreduce_pass *passes;
    uint64_t pass_count, pass_capacity, records_done;
    wp_table_report table_before;
    wp_mapreduce_report report;

    /* The result, if it is ordered or reduced; else it is in the table. */
    bool has_results;
    wpi_result *results;
    uint64_t result_count, result_capacity;
    char **blocks; /* memory of reduced values */
    uint64_t block_count, block_capacity, block_used, block_bytes;
    wp_span reduced;
    bool is_reduced;
};

/** Room for one more item: *items, of which there are `count`. NOMEM. */
WP_NODISCARD wp_status wpi_grow(void *items, uint64_t count, uint64_t *capacity, size_t item_bytes,
                                wp_error *err);

/** source.c: reads the input and cuts it into records. */
WP_NODISCARD wp_status wpi_sources_open(wp_mapreduce *job, wp_error *err);
void wpi_sources_close(wp_mapreduce *job);
/** "novels/x.txt, record 17 (at byte 1234)". */
void wpi_record_name(const wp_mapreduce *job, uint64_t number, char *out, size_t out_bytes);

/** batch.c: chunks on the device. */
WP_NODISCARD wp_status wpi_buffers_create(wp_mapreduce *job, wp_error *err);
void wpi_buffers_destroy(wp_mapreduce *job);
/** The time of the device's clock. On simulated GPUs the host's declared work passes on it. */
WP_NODISCARD wp_status wpi_clock_read(wp_mapreduce *job, uint64_t *ns, wp_error *err);
/** Maps the records [first, outer) that are not done: a requester's `process`. */
WP_NODISCARD wp_status wpi_map_records(void *job, const wp_units *units, uint64_t first,
                                       uint64_t outer, wp_error *err);

/** reduce.c: the listed pairs, of which those of a key follow one another, become one a group. */
bool wpi_reduces(const wp_mapreduce *job);
WP_NODISCARD wp_status wpi_reduce_on_host(wp_mapreduce *job, wp_error *err);
WP_NODISCARD wp_status wpi_reduce_on_device(wp_mapreduce *job, wp_error *err);

/** job_result.c: lists, orders, reduces. */
WP_NODISCARD wp_status wpi_results_make(wp_mapreduce *job, wp_error *err);
void wpi_results_free(wp_mapreduce *job);

#endif
