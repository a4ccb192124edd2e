/* SPDX-License-Identifier: Apache-2.0 */
/** The inside of rings of TLBs: tlb_ring.c (questions on their way, who has what), tlb_ring_build.c
 * (how rings are made, what is counted). */
#ifndef WP_SIM_TLB_RING_PARTS_H
#define WP_SIM_TLB_RING_PARTS_H

#include "policy/tlb_sharing.h"
#include "sim/census.h"
#include "sim/directory.h"
#include "sim/page_filter.h"
#include "sim/reserve.h"
#include "sim/tlb_ring.h"

#define WPI_RING_LINE_BYTES 64u /* of the host's caches */

enum { WPI_RING_LEFT = 0, WPI_RING_RIGHT, WPI_RING_SIDES };

/** What becomes of a message at the time it is scheduled for. */
typedef enum wpi_ring_stage {
    WPI_RING_DEPARTS,
    WPI_RING_LOOKS_UP,
    WPI_RING_COMES_HOME
} wpi_ring_stage;

typedef struct wpi_ring_node wpi_ring_node;

/** A question on its way. They never move in memory. */
typedef struct wpi_ring_message {
    struct wpi_ring_message *next; /* in a port's line, of a batch, or free */
    wpi_ring_node *at;             /* who is asked, or was last … */
    int32_t offset;                /* … from home */
    uint16_t run;         /* while it looks up: so many more to the right are asked in a row */
    uint16_t slot;        /* of the page, in the filter */
    wp_time_ps lookup_ps; /* so far, what was no wait */
    uint16_t home;
    uint8_t side; /* from which it comes in there */
    uint8_t stage;
    bool is_found;
    wp_time_ps asked; /* since: the miss was known */
    uint64_t page, token;
} wpi_ring_message;
_Static_assert(sizeof(wpi_ring_message) == WPI_RING_LINE_BYTES, "a message is a cache line");

/** Where questions from one side come in. */
typedef struct wpi_ring_port {
    uint32_t room;                  /* places of the buffer that are free */
    wpi_ring_message *first, *last; /* those that wait for one; or NULL */
} wpi_ring_port;

/** Whom the policy names. */
typedef struct wpi_ring_course {
    int32_t next; /* 0: nobody */
    uint16_t run; /* so many in a row from here on, each to the right of the one before */
} wpi_ring_course;

/** A TLB's place in its ring. */
struct wpi_ring_node {
    wpi_bus links[WPI_RING_SIDES];         /* to the next on that side */
    wpi_ring_node *beside[WPI_RING_SIDES]; /* that one */
    wpi_ring_port ports[WPI_RING_SIDES];   /* from there */
    const wpi_ring_course *course;         /* [asked]; NULL: that depends on a directory */
    uint32_t ring, position;
    uint32_t around; /* TLBs in the ring */
};

/** What a TLB knows of others' pages. */
typedef struct wpi_ring_memory {
    wpi_directory directory;
    uint64_t last_page; /* that another TLB answered … */
    uint32_t in_a_row;  /* … so often, and no other one since */
} wpi_ring_memory;

typedef struct wpi_ring {
    uint32_t first, count; /* in `members` */
} wpi_ring;

/** Messages scheduled for one time in a row: one event. */
typedef struct wpi_ring_batch {
    wp_time_ps time;
    uint32_t event; /* WPI_NO_EVENT: nobody may join it any more */
    wpi_ring_message *last;
} wpi_ring_batch;

/** Messages are made so many at once. */
#define WPI_RING_BLOCK_MESSAGES 255u
typedef struct wpi_ring_block {
    struct wpi_ring_block *next;
    _Alignas(WPI_RING_LINE_BYTES) wpi_ring_message messages[WPI_RING_BLOCK_MESSAGES];
} wpi_ring_block;

struct wpi_tlb_ring {
    wpi_engine *engine;
    const wpi_profile *profile;
    const wpi_tlb_sharing_ops *ops;
    wpi_tlb_ring_owner owner;
    wp_time_ps cycle_ps, hop_ps, look_up_ps;
    wp_time_ps step_ps; /* a hop and a look-up */
    wp_time_ps miss_ps; /* until others are asked: the directory is looked up beside the TLB */
    uint32_t node_count;
    wpi_ring_node *nodes;
    wpi_ring_memory *memories;
    wpi_ring *rings;
    uint32_t *members;
    wpi_ring_course *courses; /* [members] */
    uint32_t neighbours;      /* to each side, that may be asked */
    wpi_ring_message *free;
    wpi_ring_block *blocks;
    wpi_ring_batch batch;   /* the youngest */
    wpi_page_filter filter; /* of all TLBs, by keys */
    bool has_census;
    wpi_census census;
    uint64_t asked_count, hit_count, stored_count, passed_count, lookup_count, full_count;
    wp_time_ps buffer_wait_ps;
    wpi_histogram link_wait_ps, answer_ps;
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
/** More free messages; ends the process when the host has no memory (WP_CHECK). */
void wpi_ring_make_messages(wpi_tlb_ring *sharing);

#endif
