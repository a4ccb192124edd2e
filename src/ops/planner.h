/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How a table of groups is best accessed: a cost for each strategy and scope, from what is known of
 * the device, and the least of them. Costs are nanoseconds of the device for each row:
 *
 *     row = max(link, input + passes + max(table, atomics)) + launches; where the first pass keeps
 *           rows that come through the link, the max is of that pass, and the others come behind it
 *     link     bytes of the row through the link, again for each pass where nothing keeps them
 *     input    bytes of the row in device memory, each time they are read or written
 *     passes   instructions that look at a row, in each pass
 *     table    a bucket at random in a region (a scope, or the table): what is slowest of memory,
 *              L2, TLB levels, page walks, or waiting for them. A level of reach R misses
 *              1 - R/region of its accesses, L2 as many of its bytes
 *     atomics  on the most frequent key's bucket go one after the other
 *     launches what a launch takes until it is in full swing, over the rows of a chunk
 *
 * When a table is full and device memory has no larger one, the planner chooses whether it is
 * spilled or rows of further groups are postponed (wpi_planner_postpones).
 *
 * The keys of a simulated GPU (wp_device_visit_keys) have all of it, and so has the profile that a
 * probe has written of a real one. Where no TLB is known nothing is gained by scopes, and `direct`
 * is the choice.
 */
#ifndef WP_OPS_PLANNER_H
#define WP_OPS_PLANNER_H

#include "base/text.h"
#include "warpage/ops.h"

#define WPI_PLANNER_LEVELS_MAX 8u

typedef struct wpi_planner_level {
    uint64_t reach_bytes;
    double service_ns; /* of a miss in it, as often as they can be answered */
    double delay_ns;   /* what a miss adds */
} wpi_planner_level;

typedef struct wpi_planner {
    char spec[128];
    uint32_t level_count; /* 0: no TLB is known */
    wpi_planner_level levels[WPI_PLANNER_LEVELS_MAX];
    double memory_ns_per_byte, link_ns_per_byte;
    double access_ns, l2_access_ns; /* of a sector at random */
    double l2_bytes;
    double l2_latency_ns, memory_latency_ns; /* of an access that hits; what a miss adds */
    double instruction_ns;                   /* of a thread, all SMs together */
    double warp_ns;                          /* of an operation of warps, a thread's part */
    double atomic_ns;                        /* of one on a bucket that others wait for */
    double threads;                          /* at once */
    double launch_ns;                        /* until it is in full swing, and its end */
} wpi_planner;

/** What is to be done. */
typedef struct wpi_plan_task {
    uint64_t table_bytes, row_bytes;
    uint64_t bucket_bytes; /* 0: a value, which is read */
    uint32_t row_atomics;  /* on its bucket */
    uint64_t chunk_rows;   /* of a pass; 0: so many that launches do not count */
    double hot_share;      /* of rows whose key is so frequent that its bucket stays in a cache */
    double hottest_share;  /* of rows under way that have the most frequent key of these */
    double warp_share;     /* of a warp's rows that have its most frequent key */
    wp_placement placement;
    wp_strategy strategy; /* AUTO, or the one that was asked for */
    uint64_t scope_bytes; /* that was asked for, or 0 */
    bool is_read_only;    /* sampling: one access, direct or scoped */
} wpi_plan_task;

typedef struct wpi_plan {
    wp_strategy strategy;
    uint64_t scope_bytes; /* 0: the whole table */
    double row_ns;
} wpi_plan;

/** What can be found out about the device, and what `profile` (NULL: nothing) says of it.
 * `thread_count`: of a launch, at most, or 0. NOT_FOUND, PARSE, INVALID: of the profile. */
WP_NODISCARD wp_status wpi_planner_init(wpi_planner *planner, wp_device *device,
                                        const char *profile, uint64_t thread_count, wp_error *err);
/** Chooses; adds a line for each choice to `text` (NULL allowed). */
wpi_plan wpi_planner_choose(const wpi_planner *planner, const wpi_plan_task *task, wpi_text *text);

/** Whether rows of a warp that have one key had better be put together before their atomics. */
bool wpi_planner_combines(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                          wpi_text *text);

/** A table that is full, for which device memory has no larger one. */
typedef struct wpi_full_table {
    double held;   /* groups that it has */
    double groups; /* of all rows, about */
    double rows;   /* in all, at least */
} wpi_full_table;

/** Of how many groups `rows` rows had `groups`, if all are equally frequent. */
double wpi_planner_groups(double groups, double rows);
/** Whether rows of further groups had better be postponed than the table spilled. Adds a line to
 * `text` (NULL allowed). */
bool wpi_planner_postpones(const wpi_planner *planner, const wpi_plan_task *task, wpi_plan plan,
                           const wpi_full_table *full, wpi_text *text);

#endif
