/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of rings of TLBs: tlb_ring.c (questions on the ring), tlb_ring_pages.c (holders of
 * pages), tlb_ring_build.c (creation, counters). */
#ifndef WP_SIM_TLB_RING_PARTS_H
#define WP_SIM_TLB_RING_PARTS_H

#include "policy/tlb_sharing.h"
#include "sim/tlb/census.h"
#include "sim/tlb/directory.h"
#include "sim/tlb/page_filter.h"
#include "sim/tlb/tlb_ring.h"

#define WPI_RING_LINE_BYTES 64u /* of the host's caches */

enum { WPI_RING_LEFT = 0, WPI_RING_RIGHT, WPI_RING_SIDES };

/** Where a question is, and what its next event does. */
typedef enum wpi_ring_stage {
    WPI_RING_WAITS,   /* queued for a slot */
    WPI_RING_STOPS,   /* in a slot, which it leaves at `offset` after a look-up there */
    WPI_RING_CIRCLES, /* in a slot that carries it home: all TLBs miss */
    WPI_RING_BRINGS,  /* on its way home: the TLB at `offset` has the page */
    WPI_RING_RETURNS, /* on its way home: no TLB had the page */
    WPI_RING_ENDED
} wpi_ring_stage;

/** A TLB's request to the others. Its address is fixed: events and slots point to it. Offsets are
 * relative to home. */
typedef struct wpi_ring_question {
    struct wpi_ring_question *next; /* in its queue, or in the free list */
    uint64_t page;
    uint32_t token;
    uint32_t home;
    wpi_time_ps asked; /* when the miss was detected */
    wpi_time_ps since; /* when it got its slot, or may get one */
    wpi_time_ps due;   /* an event at another time is stale */
    struct wpi_ring_slot *slot;
    uint16_t steps; /* so far */
    int16_t from;   /* where it entered its slot, waits for one, or turned back */
    int16_t offset; /* where it leaves its slot */
    unsigned stage : 4;
    unsigned event_count : 12; /* pending, stale ones included */
} wpi_ring_question;
_Static_assert(sizeof(wpi_ring_question) == WPI_RING_LINE_BYTES, "a question is a cache line");

typedef struct wpi_ring_slot {
    wpi_time_ps until;           /* free from then on */
    wpi_ring_question *question; /* NULL: empty */
} wpi_ring_slot;

/** Slots that circulate in one direction: one passes a TLB each beat. */
typedef struct wpi_ring_track {
    wpi_ring_slot *slots;
    uint32_t slot_count;
    uint32_t step_beats; /* from a TLB to the next; 0: no time passes, and there are no slots */
} wpi_ring_track;

typedef struct wpi_ring_queue {
    wpi_ring_question *first, *last;
    uint32_t count;
} wpi_ring_queue;

/** Questions of a TLB in one direction. One arrives at the port each beat. */
typedef struct wpi_ring_line {
    wpi_ring_queue coming, buffer; /* not yet at the port; in its buffer */
    uint16_t tlb;
    uint8_t side;
    bool is_waiting;
} wpi_ring_line;

/** The policy's answer, tabulated. */
typedef struct wpi_ring_course {
    int32_t next; /* offset of the TLB to ask; 0: none */
    int32_t end;  /* the last offset asked in this direction, if no TLB before has the page */
} wpi_ring_course;

/** A TLB's place in its ring. */
typedef struct wpi_ring_node {
    wpi_ring_line lines[WPI_RING_SIDES];
    const wpi_ring_course *course; /* [asked]; NULL: the policy uses a directory */
    uint32_t ring, position;
    uint32_t around; /* TLBs in the ring */
} wpi_ring_node;

/** A TLB's record of other TLBs' pages. */
typedef struct wpi_ring_memory {
    wpi_directory directory;
    uint64_t last_page; /* last page that another TLB answered */
    uint32_t in_a_row;  /* consecutive answers for last_page */
} wpi_ring_memory;

typedef struct wpi_ring {
    uint32_t first, count; /* in `members` */
    wpi_ring_track questions[WPI_RING_SIDES], answers[WPI_RING_SIDES];
} wpi_ring;

/** Questions are allocated in blocks. */
#define WPI_RING_BLOCK_QUESTIONS 255u
typedef struct wpi_ring_block {
    struct wpi_ring_block *next;
    _Alignas(WPI_RING_LINE_BYTES) wpi_ring_question questions[WPI_RING_BLOCK_QUESTIONS];
} wpi_ring_block;

struct wpi_tlb_ring {
    wpi_engine *engine;
    const wpi_profile *profile;
    const wpi_tlb_sharing_ops *ops;
    wpi_tlb_ring_owner owner;
    wpi_time_ps beat_ps;         /* time between slots */
    wpi_time_ps step_ps, hop_ps; /* of questions (a hop and a look-up), of answers: whole beats */
    wpi_time_ps miss_ps; /* until others are queried: the longer of TLB and directory look-up */
    uint32_t node_count;
    wpi_ring_node *nodes;
    wpi_ring_memory *memories;
    wpi_ring *rings;
    uint32_t *members;
    wpi_ring_slot *slots;     /* of all rings */
    wpi_ring_course *courses; /* [members] */
    uint32_t neighbours;      /* in each direction, at most, that may be asked */
    wpi_ring_line **waiting;  /* lines that have questions */
    uint32_t waiting_count;
    wpi_time_ps next_beat; /* at which `waiting` is served; WP_TIME_NEVER */
    wpi_time_ps free_beat; /* the first that was not served yet */
    wpi_ring_question *free;
    wpi_ring_block *blocks;
    wpi_page_filter filter;                   /* of all TLBs, by keys */
    uint16_t in_slots[WPI_PAGE_FILTER_SLOTS]; /* questions there, by their pages' filter slots */
    bool has_census;
    wpi_census census;
    uint64_t asked_count, hit_count, stored_count, passed_count, lookup_count, full_count;
    wpi_time_ps slot_wait_ps;
    wpi_histogram answer_wait_ps, answer_ps;
};

/** The offset modulo the ring's size, sign kept. Few exceed it, so most need no division. */
static inline int32_t wpi_ring_once_round(int32_t offset, int32_t count) {
    return offset > -count && offset < count ? offset : offset % count;
}

/** The TLB `offset` places to the right; negative: to the left. */
static inline uint32_t wpi_ring_tlb_at(const wpi_tlb_ring *s, uint32_t tlb, int32_t offset) {
    const wpi_ring_node *n = &s->nodes[tlb];
    const int32_t count = (int32_t)n->around;
    int32_t position = (int32_t)n->position + wpi_ring_once_round(offset, count);
    if (position < 0) position += count;
    if (position >= count) position -= count;
    return s->members[s->rings[n->ring].first + (uint32_t)position];
}

/** The page's key in filter and directories: its number, or a hash if there are directories. */
static inline uint64_t wpi_ring_key(const wpi_tlb_ring *s, uint64_t page) {
    return s->ops->uses_directory ? wpi_directory_tag(page, s->profile->tlb_sharing.tag_bits)
                                  : page;
}

/* tlb_ring_build.c */
/** Asks the policy for the offset of the next TLB that `home` queries for the page after `asked`
 * missed; 0: none. */
int32_t wpi_ring_ask_policy(const wpi_tlb_ring *sharing, uint32_t home, int32_t asked,
                            uint64_t page);
/** Allocates free questions; ends the process if the host is out of memory (WP_CHECK). */
void wpi_ring_make_questions(wpi_tlb_ring *sharing);

/* tlb_ring_pages.c */
/** Whether a question passes `tlb` on its way to its offset; *offset is where. */
bool wpi_ring_comes_by(const wpi_tlb_ring *sharing, const wpi_ring_question *question, uint32_t tlb,
                       int16_t *offset);
/** Finds the first TLB on the question's way that has its page; false: none has. */
bool wpi_ring_find(const wpi_tlb_ring *sharing, const wpi_ring_question *question, int16_t *offset);

/* tlb_ring.c */
/** TLB `tlb` has stored `page`: questions for the page that have yet to pass it stop there. */
void wpi_ring_stop_those_who_ask(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);

#endif
