/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Lanes become warps: the words that 32 threads left behind (base/trace_abi.h) are read side by
 * side, as the blocks of code that their warp executes.
 *
 * Lanes that name the same next block go on together. Where they name different ones the warp parts
 * into groups, which meet again at the immediate post-dominator ("join") of the block they parted
 * behind:
 *
 *     group 0  ──b3──┬── group 1  b4 b6 ──┐ join 7
 *      (waits)       └── group 2  b5    ──┴── group 0  b7 …
 *
 * A group whose lanes wait for lanes of another group (a lock, a barrier in both arms) does not
 * hold up the warp: groups take turns, as on GPUs since Volta. When none can go on, lanes that wait
 * at a join no longer wait for those that have not come; they become one with them wherever both
 * are at one place.
 */
#ifndef WP_DEVICE_SIM_MERGE_H
#define WP_DEVICE_SIM_MERGE_H

#include <stdbool.h>

#include "base/trace_abi.h"

#define WPI_MERGE_LANES 32u
#define WPI_MERGE_GROUPS 64u /* every one that waits has lost a lane or has two parts */

/** Where a thread writes, and where in its words the reader is. */
typedef struct wpi_lane_words {
    wp_trace_lane lane; /* first: the running thread sees this; `cursor` is where the unread end */
    uint64_t *words;    /* its first: every WP_TRACE_STRIDE-th is this lane's */
    struct wpi_merge *merge;
    uint32_t number; /* of the lane, in its warp */
} wpi_lane_words;

/** Rows that the lane has written. */
static inline uint32_t wpi_lane_written(const wpi_lane_words *lane) {
    return (uint32_t)(lane->lane.cursor - lane->words) / WP_TRACE_STRIDE;
}

/** A set of lanes at one place. A group with parts (`part_count` != 0) waits for them. */
typedef struct wpi_merge_group {
    uint32_t lanes; /* that run as one; with parts: that have come back to the join so far */
    uint32_t block; /* executed last; NONE: none yet */
    uint32_t depth; /* of calls, of what comes next */
    uint32_t join;  /* where it becomes one with its parent again; NONE: above split_depth */
    uint32_t join_depth;
    uint32_t part_count;
    int32_t parent;  /* -1: none */
    bool is_loose;   /* went on without waiting at a join */
    bool has_called; /* `block` ended in a CALL */
} wpi_merge_group;

typedef struct wpi_merge {
    const wpi_lane_words *lanes;                              /* [WPI_MERGE_LANES] of the warp */
    const uint64_t *words;                                    /* of the warp: [row][lane] */
    uint32_t read[WPI_MERGE_LANES], written[WPI_MERGE_LANES]; /* rows */
    uint32_t next[WPI_MERGE_LANES];  /* of lanes that were asked last: the block they name */
    uint32_t block[WPI_MERGE_LANES]; /* executed last; NONE: none yet */
    uint32_t exited;                 /* lanes that returned; their last words may be unread */
    uint32_t retired;                /* … that were read to the end */
    int32_t current;                 /* the group that ran last */
    uint32_t loose_count;
    uint64_t used; /* groups, a bit each; others hold nothing */
    wpi_merge_group groups[WPI_MERGE_GROUPS];
} wpi_merge;

typedef enum wpi_merge_answer {
    WPI_MERGE_BLOCK = 0,
    WPI_MERGE_EXIT,  /* no lane is left */
    WPI_MERGE_NEEDS, /* lanes whose next words are not known yet must run first */
} wpi_merge_answer;

/** The warp's lanes at the entry of the kernel: `mask` of them exist. Each writes to `words`
 * ([row][lane], WP_TRACE_STRIDE lanes) from the first row on. */
void wpi_merge_start(wpi_merge *merge, wpi_lane_words *lanes, uint64_t *words, uint32_t mask);
/** Lanes ran: what they wrote can be read. */
void wpi_merge_take(wpi_merge *merge);
/** The next block, with its lanes and addresses ([access][lane]; room for the block's accesses).
 * Lanes in `blocked` must not go on yet. */
wpi_merge_answer wpi_merge_next(wpi_merge *merge, const wp_trace_tables *tables, uint32_t blocked,
                                uint32_t *block, uint32_t *mask, uint64_t *addresses);
/** The group that ran last lets the others go first. */
void wpi_merge_pass(wpi_merge *merge);
/** After NEEDS, when running lanes did not help: lanes that wait at a join go on alone. False: none
 * do. */
bool wpi_merge_loosen(wpi_merge *merge, uint32_t blocked);

#endif
