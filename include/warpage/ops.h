/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operators on columns whose random accesses outrun a TLB: group-by and sampling, on the processor,
 * on simulated and on real GPUs.
 *
 * Group-by takes rows in any number of chunks and gives a row for each distinct key:
 *
 *     wp_groupby_open ─► wp_groupby_add … ─► wp_groupby_finish ─► wp_groups
 *                        (columns of a chunk)                     (a column a key, an aggregate)
 *
 * NULL follows SQL: a NULL key is a group, NULL values are not aggregated, and an aggregate of no
 * value but a count is NULL. Sums of integers are exact; one that does not fit 64 bits is an error.
 *
 * Thread rule: one call at a time on one object. Ownership: what `_open` and `_finish` give goes
 * back with `_close`, which accept NULL; columns that are handed in stay the caller's and are read
 * during the call only.
 *
 * Source: Karnagel et al., DaMoN'17, sections 2.1, 2.2 and 5.
 */
#ifndef WARPAGE_OPS_H
#define WARPAGE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/device.h"
#include "warpage/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a column's values are. */
typedef enum wp_type {
    WP_TYPE_INT8 = 0,
    WP_TYPE_INT16,
    WP_TYPE_INT32,
    WP_TYPE_INT64,
    WP_TYPE_UINT8,
    WP_TYPE_UINT16,
    WP_TYPE_UINT32,
    WP_TYPE_UINT64,
    WP_TYPE_FLOAT32,
    WP_TYPE_FLOAT64,
    WP_TYPE_COUNT /* must be last */
} wp_type;

WP_API uint32_t wp_type_bytes(wp_type type);
WP_API const char *wp_type_name(wp_type type); /* "int32" */

/** Values one behind the other in host memory, as Arrow lays them out. */
typedef struct wp_column {
    wp_type type;
    const void *values;    /* [rows] */
    const uint8_t *valid;  /* a bit each, least significant first; NULL: none is NULL */
    uint64_t valid_offset; /* the bit of the first row */
} wp_column;

typedef struct wp_key {
    wp_type type;     /* floats: -0 is 0, all NaN are one */
    bool is_nullable; /* its columns may have `valid` */
} wp_key;

typedef enum wp_aggregate_op {
    WP_AGGREGATE_COUNT = 0, /* of values that are not NULL; of rows with WP_ALL_ROWS */
    WP_AGGREGATE_SUM,       /* int64, uint64 or float64, as the values are */
    WP_AGGREGATE_MIN,       /* of the values' type */
    WP_AGGREGATE_MAX,
    WP_AGGREGATE_AVG,     /* float64 */
    WP_AGGREGATE_OP_COUNT /* must be last */
} wp_aggregate_op;

#define WP_ALL_ROWS UINT32_MAX

typedef struct wp_aggregate {
    wp_aggregate_op op;
    uint32_t value; /* the column: an index of `values`; or WP_ALL_ROWS */
} wp_aggregate;

/** How the table of groups is accessed on a GPU (section 5); all give the same groups. */
typedef enum wp_strategy {
    WP_STRATEGY_AUTO = 0,  /* the planner's choice */
    WP_STRATEGY_DIRECT,    /* at random */
    WP_STRATEGY_SCOPED,    /* naive: one pass over the input for each scope of the table */
    WP_STRATEGY_COPY,      /* the first pass keeps what belongs to later scopes on the device */
    WP_STRATEGY_PARTITION, /* one radix pass into scopes, then each scope once */
    WP_STRATEGY_COUNT      /* must be last */
} wp_strategy;

/** How a GPU gets the input. */
typedef enum wp_placement {
    WP_PLACEMENT_AUTO = 0,
    WP_PLACEMENT_ZERO_COPY, /* read from pinned host memory through the link, as in the paper */
    WP_PLACEMENT_COPIED,    /* chunk by chunk, the next one while one is worked on */
    WP_PLACEMENT_RESIDENT,  /* all of it is put into device memory first */
    WP_PLACEMENT_COUNT      /* must be last */
} wp_placement;

/** `{0}` is a good choice. */
typedef struct wp_ops_options {
    wp_strategy strategy;
    wp_placement placement;
    uint64_t scope_bytes;  /* of the table, in one pass; 0: the planner's choice */
    uint64_t group_count;  /* expected; 0: not known. The table grows when there are more */
    uint64_t row_count;    /* expected; 0: not known */
    uint64_t chunk_bytes;  /* of input at a time; 0: 128 MiB */
    uint64_t memory_bytes; /* of the device, at most; 0: what is free */
    uint64_t thread_count; /* of a launch, or of the processor, at most; 0: as many as fit */
    bool is_sorted; /* groups in order of their keys, NULL last; else in no particular order */
    /* Whose numbers the planner takes for the device's: the name or file of a profile, such as a
     * probe of the device has written. NULL: what the device tells; GPUs tell nothing of TLBs. */
    const char *profile;
} wp_ops_options;

typedef struct wp_groupby_spec {
    uint32_t key_count, value_count, aggregate_count; /* at least 1, 0, 0 */
    const wp_key *keys;
    const wp_type *values; /* of the columns that are aggregated */
    const wp_aggregate *aggregates;
    wp_ops_options options;
} wp_groupby_spec;

typedef struct wp_groupby wp_groupby;
typedef struct wp_groups wp_groups;

/**
 * Opens a group-by on `device`, which must outlive it; NULL: on the processor, by its own means.
 * INVALID: a column that is not there, options that contradict each other; NOMEM; DEVICE_NOMEM: not
 * even the smallest table fits.
 */
WP_NODISCARD WP_API wp_status wp_groupby_open(wp_device *device, const wp_groupby_spec *spec,
                                              wp_groupby **out, wp_error *err);
WP_API void wp_groupby_close(wp_groupby *groupby);

/** A chunk of rows: a column for each key, a column for each value, of the types that were said. */
WP_NODISCARD WP_API wp_status wp_groupby_add(wp_groupby *groupby, const wp_column *keys,
                                             const wp_column *values, uint64_t row_count,
                                             wp_error *err);

/** The groups of all rows so far; the group-by is used up. INVALID: a sum does not fit 64 bits. */
WP_NODISCARD WP_API wp_status wp_groupby_finish(wp_groupby *groupby, wp_groups **out,
                                                wp_error *err);

/** What was chosen and why: the planner's terms, a line each. Lives as long as the group-by. */
WP_API const char *wp_groupby_explain(const wp_groupby *groupby);

WP_API uint64_t wp_groups_count(const wp_groups *groups);
/** Columns of the result; they live as long as `groups`. */
WP_API const wp_column *wp_groups_key(const wp_groups *groups, uint32_t key);
WP_API const wp_column *wp_groups_aggregate(const wp_groups *groups, uint32_t aggregate);
WP_API void wp_groups_close(wp_groups *groups);

/**
 * Sampling: values at random positions, with replacement, for estimates without reading all. Each
 * thread draws positions from a linear congruential generator of its own.
 */
typedef struct wp_sample_options {
    wp_strategy strategy; /* AUTO, DIRECT, or SCOPED: a pass for each scope, generators restarted */
    wp_placement placement; /* AUTO, ZERO_COPY, or RESIDENT */
    uint64_t scope_bytes;   /* of values, in one pass; 0: the planner's choice */
    uint64_t seed;
    uint64_t read_count;       /* at least; 0: as many threads as run at once */
    uint32_t reads_per_thread; /* 0: 1024 */
    uint64_t thread_count;     /* that run at once, at most; 0: as many as fit */
    double low, high;          /* of the predicate low <= value <= high */
    double confidence;         /* of the intervals; 0: 0.95 */
    bool is_sum_only;          /* as in the paper: no other statistics */
    const char *profile;       /* as in wp_ops_options */
} wp_sample_options;

/** Estimates, each with half the width of its interval. NULL values are read, but not counted. */
typedef struct wp_sample_result {
    uint64_t read_count, value_count;    /* values: that are not NULL */
    double sum;                          /* of the values read */
    double column_sum, column_sum_error; /* of the column's values */
    double mean, mean_error;
    double min, max;                       /* of the values read: the column's are beyond */
    double selectivity, selectivity_error; /* of the values that are not NULL */
    uint64_t pass_count;
    uint64_t device_ns; /* of the passes */
} wp_sample_result;

/**
 * Samples a column of `row_count` rows. Values in memory of the device (or in pinned or managed
 * memory of it) are read where they are; others are copied to it, or made readable (ZERO_COPY).
 * The CPU device reads any memory where it is, unless RESIDENT.
 * `device` NULL: the CPU device. INVALID: no rows, options that contradict each other;
 * DEVICE_NOMEM.
 */
WP_NODISCARD WP_API wp_status wp_sample(wp_device *device, const wp_column *column,
                                        uint64_t row_count, const wp_sample_options *options,
                                        wp_sample_result *out, wp_error *err);

#ifdef __cplusplus
}
#endif
#endif
