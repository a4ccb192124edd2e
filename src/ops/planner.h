/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cheapest access to a table of groups: a cost for each strategy and scope, from the device's
 * properties, and the least of them. Costs are nanoseconds of the device for each row:
 *
 *     row = max(link, input + passes + max(table, atomics)) + launches; if the first pass stores
 * the rows on the device, the max is of that pass, and further passes are added link     bytes of
 * the row through the link, again for each pass unless they are stored input    bytes of the row in
 * device memory, each time they are read or written passes   instructions that test a row, in each
 * pass table    a random bucket in a region (a scope, or the table): the slowest of memory, L2, TLB
 *              levels, page walks, and their latency. A level of reach R misses 1 - R/region of its
 *              accesses, L2 the same share of its bytes
 *     atomics  serialized atomics on the most frequent key's bucket
 *     launches begin and end of a launch, over the rows of a chunk
 *
 * When a table is full and device memory has no room for a larger one, the planner chooses between
 * spilling it and postponing rows of further groups (wpi_planner_postpones).
 *
 * The keys of a simulated GPU (wp_device_visit_keys) have these numbers, and so has the profile
 * that a probe has written of a real one. Without known TLBs scopes gain nothing, and `direct` is
 * chosen.
 */
#ifndef WP_OPS_PLANNER_H
#define WP_OPS_PLANNER_H

#include "base/text.h"
#include "warpage/ops.h"

#define WPI_PLANNER_LEVELS_MAX 8u

typedef struct wpi_planner_level {
    uint64_t reach_bytes;
    double service_ns; /* between two misses: the throughput */
    double delay_ns;   /* of a miss, in addition */
} wpi_planner_level;

typedef struct wpi_planner {
    char spec[128];
    uint32_t level_count; /* 0: no TLB is known */
    wpi_planner_level levels[WPI_PLANNER_LEVELS_MAX];
    double memory_ns_per_byte, link_ns_per_byte;
    double access_ns, l2_access_ns; /* of a sector at random */
    double l2_bytes;
    double l2_latency_ns, memory_latency_ns; /* of a hit; of a miss, in addition */
    double instruction_ns;                   /* of a thread, all SMs together */
    double warp_ns;                          /* of a warp operation, per thread */
    double atomic_ns;                        /* of one on a contended bucket */
    double threads;                          /* at once */
    double launch_ns;                        /* until it is in full swing, and its end */
} wpi_planner;

/** The work to plan. */
typedef struct wpi_plan_task {
    uint64_t table_bytes, row_bytes;
    uint64_t bucket_bytes; /* 0: a value is read */
    uint32_t row_atomics;  /* on its bucket */
    uint64_t chunk_rows;   /* of a pass; 0: so many that launches cost nothing */
    double hot_share;      /* of rows whose key is so frequent that its bucket stays in a cache */
    double hottest_share;  /* of rows under way that have the most frequent key of these */
    double warp_share;     /* of a warp's rows that have its most frequent key */
    wp_placement placement;
    wp_strategy strategy; /* AUTO, or the requested one */
    uint64_t scope_bytes; /* requested, or 0 */
    bool is_read_only;    /* sampling: one access, direct or scoped */
} wpi_plan_task;

typedef struct wpi_plan {
    wp_strategy strategy;
    uint64_t scope_bytes; /* 0: the whole table */
    double row_ns;
} wpi_plan;

/** Reads the device's properties, and those in `profile` (NULL: none). `thread_count`: of a launch,
 * at most, or 0. NOT_FOUND, PARSE, INVALID: of the profile. */
WP_NODISCARD wp_status wpi_planner_init(wpi_planner *planner, wp_device *device,
                                        const char *profile, uint64_t thread_count, wp_error *err);
/** Chooses; adds a line for each choice to `text` (NULL allowed). */
wpi_plan wpi_planner_choose(const wpi_planner *planner, const wpi_plan_task *task, wpi_text *text);

/** Whether combining a warp's rows of one key before their atomics pays. */
bool wpi_planner_combines(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                          wpi_text *text);

/** A full table, without device memory for a larger one. */
typedef struct wpi_full_table {
    double held;   /* its groups */
    double groups; /* of all rows, estimated */
    double rows;   /* in all, at least */
} wpi_full_table;

/** The number of all groups, if `rows` rows had `groups` of them and all are equally frequent. */
double wpi_planner_groups(double groups, double rows);
/** Whether postponing rows of further groups costs less than spilling the table. Adds a line to
 * `text` (NULL allowed). */
bool wpi_planner_postpones(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                           const wpi_full_table *full, wpi_text *text);

#endif
