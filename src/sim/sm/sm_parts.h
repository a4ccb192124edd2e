/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of an SM: sm.c (CTAs), sm_room.c (how many), sm_warp.c (steps), sm_access.c
 * (accesses), sm_scheduler.c (issue), sm_time.c (where warps' time goes). */
#ifndef WP_SIM_SM_PARTS_H
#define WP_SIM_SM_PARTS_H

#include "base/abi.h"
#include "policy/scheduler.h"
#include "sim/sm/shared_banks.h"
#include "sim/sm/sm.h"

typedef struct wpi_cta_cluster wpi_cta_cluster;
typedef struct wpi_warp_run wpi_warp_run;
typedef struct wpi_scheduler wpi_scheduler;

#define WPI_BARRIER_COUNT (WP_BARRIER_FIRST_GROUP + WP_BARRIER_GROUPS)

/** A block barrier. */
typedef struct wpi_barrier_state {
    uint32_t waiting; /* threads */
    uint32_t arrived; /* … that did not wait */
    uint32_t count;   /* threads required; 0: all that have not returned */
} wpi_barrier_state;

typedef enum wpi_warp_state {
    WPI_WARP_FREE = 0,
    WPI_WARP_BUSY,    /* an event will make it ready */
    WPI_WARP_READY,   /* in its scheduler's list */
    WPI_WARP_WAITS,   /* for a site's answer */
    WPI_WARP_QUEUES,  /* for room for its store in the LSU */
    WPI_WARP_BARRIER, /* all lanes that could run are blocked at a barrier */
    WPI_WARP_STALLS,  /* for other warps of its CTA: the source returned WAIT */
    WPI_WARP_DRAINS   /* has returned; unused loads are still in flight */
} wpi_warp_state;

/** Pseudo-sites that a warp may wait for: its fence, its instruction fetch. */
#define WPI_FENCE_SITE (WP_TRACE_NONE - 1)
#define WPI_CODE_SITE (WP_TRACE_NONE - 2)

/** Sites with outstanding answers; a warp that would exceed it waits for one.
 */
#define WPI_SCOREBOARD_SITES 32u

typedef struct wpi_score {
    uint32_t site;
    uint32_t outstanding;
} wpi_score;

/** CTAs that are resident together, with a barrier. A CTA of a launch without clusters gets one of
 * its own when it arrives at that barrier. */
struct wpi_cta_cluster {
    wpi_cta *ctas[WP_CLUSTER_BLOCKS_MAX]; /* [joined]; NULL: ended */
    uint32_t joined, ended;
    uint32_t live, arrived; /* threads */
};

struct wpi_warp_run {
    wpi_ready ready; /* first; in its scheduler's list */
    wpi_cta *cta;
    wpi_sm *sm;
    wpi_scheduler *scheduler;
    wpi_warp_run *next; /* in the LSU's queue, or in the free list */
    uint32_t number;    /* in its CTA */
    wpi_warp_state state;
    wpi_warp_block block;
    uint32_t step, step_outer;      /* in the tables */
    uint32_t access;                /* index of the block's next access */
    uint32_t blocked;               /* lanes at a barrier */
    uint32_t at[WPI_BARRIER_COUNT]; /* … by its number */
    uint32_t at_cluster;            /* … at the cluster's barrier */
    uint32_t cluster_arrived;       /* lanes that have arrived there in the current phase */
    uint32_t exited;                /* lanes that have returned */
    uint32_t waits_for;             /* site, in state WAITS */
    wpi_time_ps shared_free_at;     /* when its last turn in shared memory ends */
    uint32_t score_count;
    wpi_score scores[WPI_SCOREBOARD_SITES];
    wpi_time_ps start_ps;
    wpi_time_ps counted_ps;                    /* until when its time is counted … */
    wpi_time_ps spent_ps[WPI_WARP_TIME_COUNT]; /* … by what it was spent on */
};

struct wpi_cta {
    wpi_cta *next;  /* in the SM's list, or in the free list */
    wpi_cta **link; /* the pointer to it in the SM's list */
    wpi_grid *launch;
    wpi_sm *sm; /* on which it is */
    wpi_warp_run **warps;
    uint32_t warp_capacity;
    uint32_t warp_count, warps_left;
    uint32_t slot; /* its number in the source */
    wpi_windows windows;
    uint64_t number;
    uint32_t threads_left; /* threads that have not returned */
    wpi_barrier_state barriers[WPI_BARRIER_COUNT];
    uint32_t threads_at_grid;
    wpi_cta_cluster *cluster; /* NULL: none */
    uint64_t run_count;       /* the source's, when stalled warps were last asked */
    uint32_t stalled;         /* warps in state STALLS */
    bool is_due;              /* grids that its threads wait for are complete */
    wpi_warp_run *saved;      /* [warp_count] while it is swapped out (cta_swap.c); `number` is
                                 warp_count where a warp has ended; NULL: it is resident */
    wpi_time_ps saved_ps;     /* … when its state has reached DRAM */
};

struct wpi_scheduler {
    wpi_sm *sm;
    wpi_time_ps free_at;
    wpi_time_ps pipe_free_at[WPI_PIPE_COUNT], constant_free_at;
    wpi_ready *ready;   /* oldest first */
    wpi_warp_run *last; /* issued last; NULL: none */
    bool has_event;     /* for free_at */
};

struct wpi_sm {
    const wpi_profile *profile;
    wpi_engine *engine;
    wpi_memory *memory;
    wpi_sm_parent parent;
    uint32_t number;
    wpi_time_ps cycle_ps;
    /* by class: for how long a warp instruction occupies its scheduler (`alone`: where nothing
     * issues beside it), and its pipe (0: none), and latency of its result */
    wpi_time_ps slot_ps[WP_TRACE_CLASS_COUNT], alone_ps[WP_TRACE_CLASS_COUNT],
        pipe_ps[WP_TRACE_CLASS_COUNT], latency_ps[WP_TRACE_CLASS_COUNT];
    wpi_scheduler *schedulers;
    uint32_t scheduler_count;
    const wpi_scheduler_ops *policy;
    wpi_shared shared;
    wpi_time_ps shared_latency_ps, shared_turn_ps;
    uint32_t threads_used, ctas_used, warps_used;
    uint64_t shared_bytes_used, registers_used;
    uint64_t warp_ages;
    uint32_t warps_going; /* in state BUSY or READY */
    wpi_time_ps lsu_free_at, shared_free_at, cluster_free_at;
    wpi_time_ps cluster_latency_ps;
    wpi_bus state_port;    /* for the state of CTAs that are swapped */
    wpi_time_ps vacant_ps; /* when the last one that was swapped out has left its room */
    wpi_warp_run *in_line, **in_line_last; /* queue of the LSU: state QUEUES */
    wpi_cta *ctas, *free_ctas;
    wpi_warp_run *free_warps;
    void *warp_memory;
};

/* sm_warp.c */
void wpi_warp_ready(void *warp, uint64_t token, wpi_time_ps now); /* an event: it may issue */
/** The scheduler has selected the warp: issues its next step. */
void wpi_warp_issue(wpi_warp_run *warp, wpi_time_ps now);
/** The warp may issue again at `time`; until then its time counts as `what`. */
void wpi_warp_resume_at(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps time);
/** The warp waits for the site's answer; WP_TRACE_NONE: for any. */
void wpi_warp_wait_for(wpi_warp_run *warp, uint32_t site);
/** Adds an outstanding answer of the site to the scoreboard; false: it is full. */
bool wpi_warp_expect(wpi_warp_run *warp, uint32_t site);
/** The site has an answer: of shared or constant memory, if `answer` is NULL. */
void wpi_warp_answered(wpi_warp_run *warp, uint64_t site, const wpi_answer *answer,
                       wpi_time_ps now);
void wpi_warp_memory_answered(void *warp, uint64_t site, const wpi_answer *answer);
void wpi_warp_count_instructions(wpi_warp_run *warp, uint32_t count);
/** Simulated time has reached these lanes' CLOCK step or access: their threads may continue. */
void wpi_warp_reach(wpi_warp_run *warp, uint32_t lanes, wpi_time_ps now);

/* sm_time.c */
/** Counts the warp's time until `until` as `what`, also at the line of its code. A time that is
 * counted already changes nothing. */
void wpi_warp_spent(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps until);
/** Counts the time until now, for which it waited for this answer of a site; NULL: of shared
 * memory.
 */
void wpi_warp_waited(wpi_warp_run *warp, uint32_t site, const wpi_answer *answer, wpi_time_ps now);

/* sm_access.c */
/** Skips an access without lanes, which takes no time, and returns true. */
bool wpi_warp_pass_over(wpi_warp_run *warp, const wp_trace_step *step, wpi_time_ps now);
/** Issues an access. False: not issued, the warp waits. */
bool wpi_warp_issue_access(wpi_warp_run *warp, const wp_trace_step *step, wpi_time_ps now);

/* sm_room.c */
/** A CTA of `source` begins, and ends. */
void wpi_sm_take_room(wpi_sm *sm, const wpi_warp_source *source);
void wpi_sm_give_room(wpi_sm *sm, const wpi_warp_source *source);

/* sm_scheduler.c */
/** The warp is ready: issues now, or when the scheduler is free. */
void wpi_scheduler_want(wpi_scheduler *scheduler, wpi_warp_run *warp, wpi_time_ps now);
/** Occupies the scheduler for `slots_ps` from `now`. */
void wpi_scheduler_take(wpi_scheduler *scheduler, wpi_warp_run *warp, wpi_time_ps now,
                        wpi_time_ps slots_ps);

/* sm.c */
/** Takes the CTA from its list; adds it to the SM's. */
void wpi_cta_unlink(wpi_cta *cta);
void wpi_sm_link_cta(wpi_sm *sm, wpi_cta *cta);
/** Counts the warp's residence until `until`. */
void wpi_warp_end_residence(wpi_warp_run *warp, wpi_warp_time what, wpi_time_ps until);
/** Whether all threads of the resident CTA wait, some of them for grids. */
bool wpi_cta_waits_for_grids(const wpi_cta *cta);
/** A warp has begun to wait, or has ended: its CTA may be one of those. */
void wpi_cta_note_waiting(const wpi_cta *cta);
/** Lanes of the warp arrive at barrier `id` of `count` threads (0: all). `waits`: they wait there,
 * not only arrive. */
void wpi_cta_at_barrier(wpi_warp_run *warp, uint32_t id, uint32_t count, uint32_t lanes, bool waits,
                        wpi_time_ps now);
void wpi_cta_at_grid(wpi_warp_run *warp, uint32_t lanes);
/** Lanes arrive at the barrier of the cluster; and wait there, if its phase is not complete. */
void wpi_cta_arrive_at_cluster(wpi_warp_run *warp, uint32_t lanes, wpi_time_ps now);
void wpi_cta_wait_at_cluster(wpi_warp_run *warp, uint32_t lanes);
/** Threads have run: stalled warps ask their source again. */
void wpi_cta_wake_stalled(wpi_cta *cta, wpi_time_ps now);
/** Barriers no longer wait for lanes that have returned. */
void wpi_cta_note_exits(wpi_warp_run *warp, wpi_time_ps now);
void wpi_cta_warp_ended(wpi_warp_run *warp, wpi_time_ps now);

static inline bool wpi_warp_is_going(wpi_warp_state state) {
    return state == WPI_WARP_BUSY || state == WPI_WARP_READY;
}

/** Changes a warp's state; all changes but the first use it. */
static inline void wpi_warp_set_state(wpi_warp_run *warp, wpi_warp_state state) {
    warp->sm->warps_going += wpi_warp_is_going(state);
    warp->sm->warps_going -= wpi_warp_is_going(warp->state);
    warp->state = state;
}

#endif
