/* SPDX-License-Identifier: Apache-2.0 */
/** The inside of rings of TLBs: tlb_ring.c (questions on their way), tlb_ring_pages.c (who has
 * what), tlb_ring_build.c (how rings are made, what is counted). */
#ifndef WP_SIM_TLB_RING_PARTS_H
#define WP_SIM_TLB_RING_PARTS_H

#include "policy/tlb_sharing.h"
#include "sim/tlb/census.h"
#include "sim/tlb/directory.h"
#include "sim/tlb/page_filter.h"
#include "sim/tlb/tlb_ring.h"

#define WPI_RING_LINE_BYTES 64u /* of the host's caches */

enum { WPI_RING_LEFT = 0, WPI_RING_RIGHT, WPI_RING_SIDES };

/** Where a question is, and what becomes of it when it is due. */
typedef enum wpi_ring_stage {
    WPI_RING_WAITS,   /* in a line, for a slot */
    WPI_RING_STOPS,   /* in a slot, which it leaves at `offset`, where it is looked up at last */
    WPI_RING_CIRCLES, /* the same, and its slot brings it home */
    WPI_RING_BRINGS,  /* on its way home: the TLB at `offset` has the page */
    WPI_RING_RETURNS, /* the same: nobody had it */
    WPI_RING_ENDED
} wpi_ring_stage;

/** A question on its way. They never move in memory. Offsets are from home. */
typedef struct wpi_ring_question {
    struct wpi_ring_question *next; /* in a line, or free */
    uint64_t page;
    uint32_t token;
    uint32_t home;
    wpi_time_ps asked; /* since: the miss was known */
    wpi_time_ps since; /* it is in this slot, or may be */
    wpi_time_ps due;   /* events for other times are of plans that were changed */
    struct wpi_ring_slot *slot;
    uint16_t steps; /* so far */
    int16_t from;   /* where it got into the slot, waits for one, or turned home */
    int16_t offset; /* as far as it goes in its slot */
    unsigned stage : 4;
    unsigned event_count : 12; /* that are to come, those of changed plans, too */
} wpi_ring_question;
_Static_assert(sizeof(wpi_ring_question) == WPI_RING_LINE_BYTES, "a question is a cache line");

typedef struct wpi_ring_slot {
    wpi_time_ps until;           /* free from then on */
    wpi_ring_question *question; /* that is in it; or NULL */
} wpi_ring_slot;

/** Slots that go round a ring to one side: one passes a TLB each beat. */
typedef struct wpi_ring_track {
    wpi_ring_slot *slots;
    uint32_t slot_count;
    uint32_t step_beats; /* from a TLB to the next; 0: at once, and there are no slots */
} wpi_ring_track;

typedef struct wpi_ring_queue {
    wpi_ring_question *first, *last;
    uint32_t count;
} wpi_ring_queue;

/** Those who want to go from a TLB to one side. One of them comes to the port each beat. */
typedef struct wpi_ring_line {
    wpi_ring_queue coming, buffer; /* behind the port; in it */
    uint16_t tlb;
    uint8_t side;
    bool is_waiting;
} wpi_ring_line;

/** Whom the policy names. */
typedef struct wpi_ring_course {
    int32_t next; /* 0: nobody */
    int32_t end;  /* the last to this side, if nobody on the way has it */
} wpi_ring_course;

/** A TLB's place in its ring. */
typedef struct wpi_ring_node {
    wpi_ring_line lines[WPI_RING_SIDES];
    const wpi_ring_course *course; /* [asked]; NULL: that depends on a directory */
    uint32_t ring, position;
    uint32_t around; /* TLBs in the ring */
} wpi_ring_node;

/** What a TLB knows of others' pages. */
typedef struct wpi_ring_memory {
    wpi_directory directory;
    uint64_t last_page; /* that another TLB answered … */
    uint32_t in_a_row;  /* … so often, and no other one since */
} wpi_ring_memory;

typedef struct wpi_ring {
    uint32_t first, count; /* in `members` */
    wpi_ring_track questions[WPI_RING_SIDES], answers[WPI_RING_SIDES];
} wpi_ring;

/** Questions are made so many at once. */
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
    wpi_time_ps beat_ps;         /* slots pass so often */
    wpi_time_ps step_ps, hop_ps; /* of questions (a hop and a look-up), of answers: whole beats */
    wpi_time_ps miss_ps; /* until others are asked: the directory is looked up beside the TLB */
    uint32_t node_count;
    wpi_ring_node *nodes;
    wpi_ring_memory *memories;
    wpi_ring *rings;
    uint32_t *members;
    wpi_ring_slot *slots;     /* of all rings */
    wpi_ring_course *courses; /* [members] */
    uint32_t neighbours;      /* to each side, that may be asked */
    wpi_ring_line **waiting;  /* lines in which somebody is */
    uint32_t waiting_count;
    wpi_time_ps next_beat; /* at which they are seen to; WP_TIME_NEVER */
    wpi_time_ps free_beat; /* the first at which they were not yet */
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

/** An offset without whole rounds. Few have any, so most need no division. */
static inline int32_t wpi_ring_once_round(int32_t offset, int32_t count) {
    return offset > -count && offset < count ? offset : offset % count;
}

/** The TLB that lies so many to the right, or left. */
static inline uint32_t wpi_ring_tlb_at(const wpi_tlb_ring *s, uint32_t tlb, int32_t offset) {
    const wpi_ring_node *n = &s->nodes[tlb];
    const int32_t count = (int32_t)n->around;
    int32_t position = (int32_t)n->position + wpi_ring_once_round(offset, count);
    if (position < 0) position += count;
    if (position >= count) position -= count;
    return s->members[s->rings[n->ring].first + (uint32_t)position];
}

/** What a page is known by: directories have a hash. */
static inline uint64_t wpi_ring_key(const wpi_tlb_ring *s, uint64_t page) {
    return s->ops->uses_directory ? wpi_directory_tag(page, s->profile->tlb_sharing.tag_bits)
                                  : page;
}

/* tlb_ring_build.c */
/** Whom the policy has TLB `home` ask for the page, now that `asked` was in vain: 0, nobody. */
int32_t wpi_ring_ask_policy(const wpi_tlb_ring *sharing, uint32_t home, int32_t asked,
                            uint64_t page);
/** More free questions; ends the process when the host has no memory (WP_CHECK). */
void wpi_ring_make_questions(wpi_tlb_ring *sharing);

/* tlb_ring_pages.c */
/** Whether a question comes by a TLB on its way to its offset, and where. */
bool wpi_ring_comes_by(const wpi_tlb_ring *sharing, const wpi_ring_question *question, uint32_t tlb,
                       int16_t *offset);
/** The first it comes by that has its page now; false: none. */
bool wpi_ring_find(const wpi_tlb_ring *sharing, const wpi_ring_question *question, int16_t *offset);

/* tlb_ring.c */
/** What comes by a TLB that has just learned a page, and asks for that, stops there. */
void wpi_ring_stop_those_who_ask(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);

#endif
