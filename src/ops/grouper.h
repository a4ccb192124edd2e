/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Groupers find the groups of rows. The room's front (groupby_operator.c) checks its arguments and
 * makes a shape; a grouper takes chunks of rows and returns groups, in batches:
 *
 *     columns ─► groupby_operator.c ─► grouper ─► batches ─► groups.c
 *
 * Groupers are cpu_*.c for the processor and gpu_*.c for devices. keys.h packs keys, shape.h has
 * the accumulators.
 */
#ifndef WP_OPS_GROUPER_H
#define WP_OPS_GROUPER_H

#include "ops/keys.h"
#include "ops/shape.h"

/** Groups as words. All arrays are [count]; they live during the call. */
typedef struct wpi_group_batch {
    uint64_t first; /* its index among all groups */
    uint32_t count;
    const uint64_t *keys; /* packed (keys.h) */
    uint32_t null_group;  /* the group whose key is NULL if keys have no code for it; or count */
    const uint64_t *rows;
    /* [shape.accumulator_count]: two words a group of SUM_INTEGER, low and high, and of
     * MOMENTS */
    const uint64_t *const *words;
} wpi_group_batch;

/** Takes a batch. Called by any of the grouper's threads, for different batches at a time. */
typedef void (*wpi_group_sink)(void *object, const wpi_group_batch *batch);

typedef struct wpi_grouper wpi_grouper; /* each kind's own, which begins with its ops */

typedef struct wpi_grouper_ops {
    const char *name;
    wp_status (*open)(wp_device *device, const wpi_shape *shape, wpi_keys *keys,
                      const wp_ops_options *options, wpi_grouper **out, wp_error *err);
    wp_status (*add)(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                     uint64_t row_count, wp_error *err);
    /** After the last row: the number of groups. */
    wp_status (*count)(wpi_grouper *grouper, uint64_t *group_count, wp_error *err);
    /** After count: all groups, each once, in batches. */
    wp_status (*emit)(wpi_grouper *grouper, wpi_group_sink sink, void *object, wp_error *err);
    const char *(*explain)(const wpi_grouper *grouper);
    void (*close)(wpi_grouper *grouper);
} wpi_grouper_ops;

struct wpi_grouper {
    const wpi_grouper_ops *ops;
};

extern const wpi_grouper_ops wpi_grouper_cpu;     /* device is NULL */
extern const wpi_grouper_ops wpi_grouper_moments; /* the same, with means and squares */
extern const wpi_grouper_ops wpi_grouper_gpu;

#endif
