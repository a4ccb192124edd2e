/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Merges lanes to warps: reads the words that 32 threads have written (base/trace_abi.h) in
 * parallel, as the blocks of code that their warp executes.
 *
 * Lanes with the same next block continue together. Where next blocks differ the warp splits into
 * groups, which reconverge at the immediate post-dominator ("join") of the block after which they
 * diverged:
 *
 *     group 0  ──b3──┬── group 1  b4 b6 ──┐ join 7
 *      (waits)       └── group 2  b5    ──┴── group 0  b7 …
 *
 * A group whose lanes wait for lanes of another group (a lock, a barrier in both arms) does not
 * block the warp: groups take turns, as on GPUs since Volta. When none can continue, lanes that
 * wait at a join stop waiting for the missing ones, and merge with them later wherever both are at
 * the same block.
 */
#ifndef WP_DEVICE_SIM_MERGE_H
#define WP_DEVICE_SIM_MERGE_H

#include <stdbool.h>

#include "base/trace_abi.h"

#define WPI_MERGE_LANES 32u
#define WPI_MERGE_GROUPS 64u /* enough: each waiting group has lost a lane or has two parts */

/** A thread's words: where it writes. */
typedef struct wpi_lane_words {
    wp_trace_lane lane; /* first: seen by the running thread; `cursor` is the end of its words */
    uint64_t *words;    /* the first; every WP_TRACE_STRIDE-th word is this lane's */
    struct wpi_merge *merge;
    uint32_t number; /* of the lane, in its warp */
} wpi_lane_words;

/** Rows that the lane has written. */
static inline uint32_t wpi_lane_written(const wpi_lane_words *lane) {
    return (uint32_t)(lane->lane.cursor - lane->words) / WP_TRACE_STRIDE;
}

/** A set of lanes at the same place. A group with parts (`part_count` != 0) waits for them. */
typedef struct wpi_merge_group {
    uint32_t lanes; /* that run together; with parts: that have arrived at the join */
    uint32_t block; /* last executed; NONE: none yet */
    uint32_t depth; /* call depth of the next block */
    uint32_t join;  /* where it merges with its parent; NONE: on return to a smaller depth */
    uint32_t join_depth;
    uint32_t part_count;
    int32_t parent;  /* -1: none */
    bool is_loose;   /* continued without waiting at a join */
    bool has_called; /* `block` ended in a CALL */
} wpi_merge_group;

typedef struct wpi_merge {
    const wpi_lane_words *lanes;                              /* [WPI_MERGE_LANES] of the warp */
    const uint64_t *words;                                    /* of the warp: [row][lane] */
    uint32_t read[WPI_MERGE_LANES], written[WPI_MERGE_LANES]; /* rows */
    uint32_t next[WPI_MERGE_LANES];  /* next block of the lanes looked at last */
    uint32_t block[WPI_MERGE_LANES]; /* last executed; NONE: none yet */
    uint32_t exited;                 /* lanes that have returned; their last words may be unread */
    uint32_t retired;                /* … and whose words are all read */
    int32_t current;                 /* the group that ran last */
    uint32_t loose_count;
    uint64_t used; /* bit mask of groups in use */
    wpi_merge_group groups[WPI_MERGE_GROUPS];
} wpi_merge;

typedef enum wpi_merge_answer {
    WPI_MERGE_BLOCK = 0,
    WPI_MERGE_EXIT,  /* no lane is left */
    WPI_MERGE_NEEDS, /* lanes without unread words must run first */
} wpi_merge_answer;

/** The warp's lanes at the entry of the kernel: `mask` of them exist. Each writes to `words`
 * ([row][lane], WP_TRACE_STRIDE lanes) from the first row on. */
void wpi_merge_start(wpi_merge *merge, wpi_lane_words *lanes, uint64_t *words, uint32_t mask);
/** Lanes have run: makes their new words readable. */
void wpi_merge_take(wpi_merge *merge);
/** The next block, with its lanes and addresses ([access][lane]; room for the block's accesses).
 * Lanes in `blocked` must not continue yet. */
wpi_merge_answer wpi_merge_next(wpi_merge *merge, const wp_trace_tables *tables, uint32_t blocked,
                                uint32_t *block, uint32_t *mask, uint64_t *addresses);
/** Moves the turn from the group that ran last to the next one. */
void wpi_merge_pass(wpi_merge *merge);
/** After NEEDS, when running lanes does not help: lanes that wait at a join continue alone. False:
 * there are none. */
bool wpi_merge_loosen(wpi_merge *merge, uint32_t blocked);

#endif
