/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Operators on columns whose random accesses exceed the reach of a TLB: group-by and sampling, on
 * the processor, on simulated and on real GPUs.
 *
 * Group-by consumes rows in any number of chunks and produces one row for each distinct key:
 *
 *     wp_groupby_open ─► wp_groupby_add … ─► wp_groupby_finish ─► wp_groups
 *                        (columns of a chunk)                     (a column for each key and
 * aggregate)
 *
 * NULL follows SQL: NULL keys form a group, aggregates ignore NULL values, and an aggregate of no
 * values is NULL (a count is 0). Sums of integers are exact; overflow of 64 bits is an error.
 *
 * Thread rule: one call at a time on one object. Ownership: the caller owns the results of `_open`
 * and `_finish` and releases them by `_close`, which accepts NULL. Columns passed in remain the
 * caller's and are read only during the call.
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

/** The type of a column's values. */
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

/** A column: contiguous values in host memory, in Arrow's layout. */
typedef struct wp_column {
    wp_type type;
    const void *values;    /* [rows] */
    const uint8_t *valid;  /* one bit per row, least significant first; NULL: no row is NULL */
    uint64_t valid_offset; /* the index of the first row's bit */
} wp_column;

typedef struct wp_key {
    wp_type type;     /* floats: -0 equals 0, all NaN are equal */
    bool is_nullable; /* key columns may have `valid` */
} wp_key;

typedef enum wp_aggregate_op {
    WP_AGGREGATE_COUNT = 0, /* of values that are not NULL; of all rows with WP_ALL_ROWS */
    WP_AGGREGATE_SUM,       /* int64, uint64 or float64, according to the type of the values */
    WP_AGGREGATE_MIN,       /* of the type of the values */
    WP_AGGREGATE_MAX,
    WP_AGGREGATE_AVG,      /* float64 */
    WP_AGGREGATE_SUM_LOW,  /* of integers: the sum of 128 bits, its low half, uint64 */
    WP_AGGREGATE_SUM_HIGH, /* and its high half, int64 (partials.h) */
    WP_AGGREGATE_MEAN,     /* float64, of values that may have weights */
    WP_AGGREGATE_SQUARES,  /* float64: the sum of squared differences from the mean */
    WP_AGGREGATE_OP_COUNT  /* must be last */
} wp_aggregate_op;

#define WP_ALL_ROWS UINT32_MAX

typedef struct wp_aggregate {
    wp_aggregate_op op;
    uint32_t value; /* index of a column in `values`, or WP_ALL_ROWS */
} wp_aggregate;

/** How a GPU accesses the table of groups (section 5). All strategies return the same groups. */
typedef enum wp_strategy {
    WP_STRATEGY_AUTO = 0,  /* chosen by the planner */
    WP_STRATEGY_DIRECT,    /* random accesses to the whole table */
    WP_STRATEGY_SCOPED,    /* naive: one pass over the input for each scope of the table */
    WP_STRATEGY_COPY,      /* as SCOPED; the first pass keeps rows of later scopes on the device */
    WP_STRATEGY_PARTITION, /* one radix pass partitions rows by scope; then one pass per scope */
    WP_STRATEGY_SEPO,      /* as DIRECT; rows of groups beyond device memory are postponed until the
                            * table has been emptied, where the others spill it */
    WP_STRATEGY_COUNT      /* must be last */
} wp_strategy;
WP_API const char *wp_strategy_name(wp_strategy strategy); /* "scoped"; NULL from COUNT on */

/** How a GPU reads the input. */
typedef enum wp_placement {
    WP_PLACEMENT_AUTO = 0,
    WP_PLACEMENT_ZERO_COPY, /* read from pinned host memory through the link, as in the paper */
    WP_PLACEMENT_COPIED,    /* copied in chunks; copying overlaps with work on the previous chunk */
    WP_PLACEMENT_RESIDENT,  /* copied to device memory completely first */
    WP_PLACEMENT_COUNT      /* must be last */
} wp_placement;
WP_API const char *wp_placement_name(wp_placement placement); /* "zero-copy"; NULL from COUNT on */

/** Options; `{0}` selects the defaults. */
typedef struct wp_ops_options {
    wp_strategy strategy;
    wp_placement placement;
    uint64_t scope_bytes;  /* size of a scope of the table; 0: chosen by the planner */
    uint64_t group_count;  /* expected; 0: unknown. The table grows if there are more */
    uint64_t row_count;    /* expected; 0: unknown */
    uint64_t chunk_bytes;  /* size of a chunk of input; 0: 128 MiB */
    uint64_t memory_bytes; /* limit of device memory; 0: all free memory */
    uint64_t thread_count; /* limit of a launch or on the processor; 0: as many as fit */
    bool is_sorted; /* sort groups by their keys, NULL last; otherwise the order is unspecified */
    /* The profile whose TLB parameters the planner uses: a name or a file, such as `warpage probe`
     * writes. NULL: the parameters that the device reports; real GPUs report none for TLBs. */
    const char *profile;
} wp_ops_options;

typedef struct wp_texts wp_texts; /* texts.h */

typedef struct wp_groupby_spec {
    uint32_t key_count, value_count, aggregate_count; /* at least 1, 0, 0 */
    const wp_key *keys;
    const wp_type *values; /* types of the columns to aggregate */
    const wp_aggregate *aggregates;
    wp_ops_options options;
    /* [key_count]: whose codes a key has (type UINT32, not nullable; 0 is NULL), or NULL. Such keys
     * are sorted as texts. In the result they are places in the order of wp_texts_copy, or NULL.
     * NULL: no key has. */
    wp_texts *const *texts;
    /* [value_count]: the column that says how often each value counts in MEAN and SQUARES, for the
     * means of parts; WP_ALL_ROWS: once. NULL: all count once. */
    const uint32_t *weights;
} wp_groupby_spec;

typedef struct wp_groupby wp_groupby;
typedef struct wp_groups wp_groups;

/**
 * Opens a group-by on `device`, which must outlive it; NULL: on the processor, without a device.
 * INVALID: no such column, contradictory options. NOMEM. DEVICE_NOMEM: the smallest table does not
 * fit.
 */
WP_NODISCARD WP_API wp_status wp_groupby_open(wp_device *device, const wp_groupby_spec *spec,
                                              wp_groupby **out, wp_error *err);
WP_API void wp_groupby_close(wp_groupby *groupby);

/** Adds a chunk of rows: one column per key and one per value, of the types in the spec. */
WP_NODISCARD WP_API wp_status wp_groupby_add(wp_groupby *groupby, const wp_column *keys,
                                             const wp_column *values, uint64_t row_count,
                                             wp_error *err);

/** Returns the groups of all rows added; only wp_groupby_close may follow. INVALID: a sum exceeds
 * 64 bits. */
WP_NODISCARD WP_API wp_status wp_groupby_finish(wp_groupby *groupby, wp_groups **out,
                                                wp_error *err);

/** Explains the planner's choice, one line per term of its estimate. Valid while the group-by is.
 */
WP_API const char *wp_groupby_explain(const wp_groupby *groupby);

WP_API uint64_t wp_groups_count(const wp_groups *groups);
/** Columns of the result, valid while `groups` is. */
WP_API const wp_column *wp_groups_key(const wp_groups *groups, uint32_t key);
WP_API const wp_column *wp_groups_aggregate(const wp_groups *groups, uint32_t aggregate);
WP_API void wp_groups_close(wp_groups *groups);

/**
 * Sampling: estimates from values at random positions, drawn with replacement. Each thread has its
 * own linear congruential generator.
 */
typedef struct wp_sample_options {
    wp_strategy strategy; /* AUTO, DIRECT, or SCOPED: one pass per scope, with the same positions */
    wp_placement placement; /* AUTO, ZERO_COPY, or RESIDENT */
    uint64_t scope_bytes;   /* size of a scope of values; 0: chosen by the planner */
    uint64_t seed;
    uint64_t read_count;       /* at least; 0: all threads that can be resident */
    uint32_t reads_per_thread; /* 0: 1024 */
    uint64_t thread_count;     /* limit of resident threads; 0: as many as fit */
    double low, high;          /* bounds of the predicate low <= value <= high */
    double confidence;         /* confidence level of the intervals; 0: 0.95 */
    bool is_sum_only;          /* compute no other statistics, as in the paper */
    const char *profile;       /* as in wp_ops_options */
} wp_sample_options;

/** Estimates; `_error` is half the width of the confidence interval. NULL values are read but not
 *  counted. */
typedef struct wp_sample_result {
    uint64_t read_count, value_count;    /* value_count: values that are not NULL */
    double sum;                          /* of the values read */
    double column_sum, column_sum_error; /* of the column's values */
    double mean, mean_error;
    double min, max; /* of the values read; those of the column may lie beyond */
    double selectivity, selectivity_error; /* share of the values that are not NULL */
    uint64_t pass_count;
    uint64_t device_ns; /* device time of all passes */
} wp_sample_result;

/**
 * Samples a column of `row_count` rows. Values in device, pinned or managed memory of the device
 * are read in place; others are copied to the device, or mapped (ZERO_COPY). The CPU device reads
 * any memory in place, unless the placement is RESIDENT. `device` NULL: the CPU device. INVALID: no
 * rows, contradictory options. DEVICE_NOMEM.
 */
WP_NODISCARD WP_API wp_status wp_sample(wp_device *device, const wp_column *column,
                                        uint64_t row_count, const wp_sample_options *options,
                                        wp_sample_result *out, wp_error *err);

#ifdef __cplusplus
}
#endif
#endif
