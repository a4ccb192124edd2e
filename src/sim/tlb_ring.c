/* SPDX-License-Identifier: Apache-2.0 */
/* A question is a message that goes through three stages, each at its time: it departs, as soon as
 * the first port has a place; it looks up, once or more often; it comes home. Messages scheduled
 * for one time in a row are one event, which takes them in this order: so all is as if each was an
 * event of its own. */
#include "sim/tlb_ring_parts.h"

#define LEFT WPI_RING_LEFT
#define RIGHT WPI_RING_RIGHT

typedef wpi_ring_message message;
typedef wpi_ring_port port;
typedef wpi_ring_node node;

static void proceed(void *object, uint64_t first, wp_time_ps now);

/* ---- ways -------------------------------------------------------------------------------------
 */

/* A message goes so many TLBs to the right, or left; when it is there. */
static inline wp_time_ps travel(wpi_tlb_ring *s, node *from, int32_t steps, wp_time_ps time) {
    const int side = steps < 0 ? LEFT : RIGHT;
    uint64_t free_count = 0;
    for (int32_t left = steps < 0 ? -steps : steps; left > 0; left--) {
        const wp_time_ps turn = wpi_bus_take(&from->links[side], time, s->cycle_ps);
        if (turn == time)
            free_count++;
        else
            wpi_histogram_add(&s->link_wait_ps, turn - time);
        time = turn + s->hop_ps;
        from = from->beside[side];
    }
    wpi_histogram_add_zeros(&s->link_wait_ps, free_count);
    return time;
}

static wp_time_ps hops_ps(const wpi_tlb_ring *s, int32_t steps) {
    return (wp_time_ps)(steps < 0 ? -steps : steps) * s->hop_ps;
}

/* The shorter way back. */
static int32_t steps_home(int32_t offset, int32_t count) {
    const int32_t left = wpi_ring_once_round(offset, count);
    const int32_t right = left > 0 ? count - left : -left;
    return 2 * right <= count ? right : right - count;
}

/* ---- batches ----------------------------------------------------------------------------------
 */

static inline void join(wpi_tlb_ring *s, message *m) {
    s->batch.last->next = m;
    s->batch.last = m;
    m->next = NULL;
}

/* Where nothing else was scheduled for that time since the batch's last message was, it follows
 * that. True: so may others, while nothing else is scheduled at all. */
static inline bool schedule(wpi_tlb_ring *s, message *m, wpi_ring_stage stage, wp_time_ps time) {
    m->stage = (uint8_t)stage;
    if (s->batch.time == time && s->batch.event != WPI_NO_EVENT &&
        wpi_engine_youngest(s->engine, time) == s->batch.event) {
        join(s, m);
        return true;
    }
    m->next = NULL;
    wpi_engine_at(s->engine, time, proceed, s, (uintptr_t)m);
    s->batch = (wpi_ring_batch){time, wpi_engine_youngest(s->engine, time), m};
    return s->batch.event != WPI_NO_EVENT;
}

/* ---- questions --------------------------------------------------------------------------------
 */

/* Whom to ask now that `asked` was in vain: 0, nobody. `n`: of the ring. */
static inline int32_t choose(const wpi_tlb_ring *s, const node *n, uint32_t home, int32_t asked,
                             uint64_t page) {
    return n->course != NULL && (uint32_t)asked < n->around
               ? n->course[asked].next
               : wpi_ring_ask_policy(s, home, asked, page);
}

static uint8_t side_of(int32_t steps) {
    return steps > 0 ? LEFT : RIGHT;
}

/* How many to the right will be asked in a row behind the one that is now. */
static uint16_t run_of(const message *m) {
    const node *n = m->at;
    return n->course != NULL && (uint32_t)m->offset < n->around && m->side == LEFT
               ? n->course[m->offset].run
               : 0;
}

/* With a place in the buffer there. */
static inline void set_out(wpi_tlb_ring *s, message *m, node *from, int32_t steps, wp_time_ps now) {
    m->lookup_ps += hops_ps(s, steps) + s->look_up_ps;
    m->run = run_of(m);
    (void)schedule(s, m, WPI_RING_LOOKS_UP, travel(s, from, steps, now) + s->look_up_ps);
}

static void depart(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    port *p = &m->at->ports[m->side];
    if (p->room > 0) {
        p->room--;
        set_out(s, m, &s->nodes[m->home], m->offset, now);
        return;
    }
    m->next = NULL;
    if (p->first == NULL)
        p->first = m;
    else
        p->last->next = m;
    p->last = m;
}

/* A place of the port's buffer is free. */
static inline void free_place(wpi_tlb_ring *s, port *p, wp_time_ps now) {
    message *m = p->first;
    if (m == NULL) {
        p->room++;
        return;
    }
    p->first = m->next;
    s->buffer_wait_ps += now - (m->asked + s->miss_ps);
    set_out(s, m, &s->nodes[m->home], m->offset, now);
}

/* To whom the policy names next; false: to nobody, or there is no place. */
static inline bool ask_next(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    node *n = m->at;
    const int32_t offset = choose(s, n, m->home, m->offset, m->page);
    if (offset == 0) return false;
    const int32_t steps = offset - m->offset;
    node *to = steps == 1 ? n->beside[RIGHT] : &s->nodes[wpi_ring_tlb_at(s, m->home, offset)];
    const uint8_t side = side_of(steps);
    if (to->ports[side].room == 0) {
        s->full_count++;
        return false;
    }
    to->ports[side].room--;
    m->at = to;
    m->side = side;
    m->offset = offset;
    set_out(s, m, n, steps, now);
    return true;
}

static void go_home(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    const int32_t steps = steps_home(m->offset, (int32_t)m->at->around);
    m->lookup_ps += hops_ps(s, steps);
    m->run = 0;
    (void)schedule(s, m, WPI_RING_COMES_HOME, travel(s, m->at, steps, now));
}

/* No TLB has the page, or only the one that asks. */
static inline bool is_nowhere(const wpi_tlb_ring *s, const message *m) {
    const uint64_t slot = s->filter.slots[m->slot];
    return slot == 0 || slot == wpi_page_filter_only(m->home);
}

static inline void look_up(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    port *p = &m->at->ports[m->side];
    m->is_found =
        !is_nowhere(s, m) && s->owner.use(s->owner.object, (uint32_t)(m->at - s->nodes), m->token);
    s->lookup_count++;
    if (m->is_found || !ask_next(s, m, now)) go_home(s, m, now);
    free_place(s, p, now);
}

/* How often others have had the page for this TLB, as tlb_sharing.count says. */
static uint32_t count_hit(wpi_tlb_ring *s, const message *m) {
    wpi_ring_memory *memory = &s->memories[m->home];
    if (s->profile->tlb_sharing.count == WPI_TLB_SHARING_BY_ENTRY && s->ops->uses_directory)
        return wpi_directory_count_hit(&memory->directory, wpi_ring_key(s, m->page));
    memory->in_a_row = memory->last_page == m->page ? memory->in_a_row + 1 : 1;
    memory->last_page = m->page;
    return memory->in_a_row;
}

static void answer(wpi_tlb_ring *s, const message *m, wp_time_ps now) {
    const wpi_tlb_sharing_answer answer = {.hits = count_hit(s, m),
                                           .threshold = s->profile->tlb_sharing.threshold};
    const bool is_stored = s->ops->stores(&answer);
    s->hit_count++;
    s->stored_count += is_stored;
    wpi_histogram_add(&s->answer_ps, now - m->asked);
    s->owner.answered(s->owner.object, m->token, is_stored, m->lookup_ps, now);
}

static void come_home(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    if (m->is_found) {
        answer(s, m, now);
    } else {
        s->passed_count++;
        s->owner.passed(s->owner.object, m->token, now);
    }
    m->next = s->free;
    s->free = m;
}

static void go_on(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    switch ((wpi_ring_stage)m->stage) {
    case WPI_RING_DEPARTS: depart(s, m, now); break;
    case WPI_RING_LOOKS_UP: look_up(s, m, now); break;
    case WPI_RING_COMES_HOME: come_home(s, m, now); break;
    }
}

/* As most look-ups end: nobody else has the page, the next to the right is asked, has a place, and
 * the link to it is free. */
static inline bool is_passed_on(wpi_tlb_ring *s, message *m, wp_time_ps now) {
    node *n = m->at, *to = n->beside[RIGHT];
    if (m->run == 0 || !is_nowhere(s, m) || to->ports[LEFT].room == 0 || n->links[RIGHT].free > now)
        return false;
    n->links[RIGHT].free = now + s->cycle_ps;
    to->ports[LEFT].room--;
    m->at = to;
    m->offset++;
    m->run--;
    m->lookup_ps += s->step_ps;
    return true;
}

static void proceed(void *object, uint64_t first, wp_time_ps now) {
    wpi_tlb_ring *s = object;
    const wp_time_ps later = now + s->step_ps;
    uint64_t passed_on = 0;
    bool is_open = false; /* the batch is for then, as far as is known */
    if (s->batch.time == now) s->batch.event = WPI_NO_EVENT; /* it may be the one being run */
    for (message *m = (message *)(uintptr_t)first, *next; m != NULL; m = next) {
        next = m->next;
        port *left = &m->at->ports[LEFT];
        if (!is_passed_on(s, m, now)) {
            go_on(s, m, now);
            is_open = false;
            continue;
        }
        passed_on++;
        if (is_open)
            join(s, m);
        else
            is_open = schedule(s, m, WPI_RING_LOOKS_UP, later);
        if (left->first == NULL) {
            left->room++;
        } else {
            free_place(s, left, now);
            is_open = false;
        }
    }
    s->lookup_count += passed_on;
    wpi_histogram_add_zeros(&s->link_wait_ps, passed_on);
}

static bool has(const wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    return s->owner.has(s->owner.object, tlb, page);
}

static void count_miss(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const bool neighbour_has =
        has(s, wpi_ring_tlb_at(s, tlb, -1), page) || has(s, wpi_ring_tlb_at(s, tlb, 1), page);
    wpi_census_miss(&s->census, tlb, page, neighbour_has);
}

bool wpi_tlb_ring_ask(wpi_tlb_ring *s, uint32_t tlb, uint64_t page, uint64_t token,
                      wp_time_ps time) {
    if (s->has_census) count_miss(s, tlb, page);
    const int32_t offset = choose(s, &s->nodes[tlb], tlb, 0, page);
    if (offset == 0) return false;
    s->asked_count++;
    if (s->free == NULL) wpi_ring_make_messages(s);
    message *m = s->free;
    s->free = m->next;
    *m = (message){.at = &s->nodes[wpi_ring_tlb_at(s, tlb, offset)],
                   .offset = offset,
                   .slot = (uint16_t)wpi_page_filter_slot(wpi_ring_key(s, page)),
                   .lookup_ps = s->miss_ps,
                   .home = (uint16_t)tlb,
                   .side = side_of(offset),
                   .asked = time,
                   .page = page,
                   .token = token};
    (void)schedule(s, m, WPI_RING_DEPARTS, time + s->miss_ps);
    return true;
}

void wpi_tlb_ring_note(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    if (s->has_census) wpi_census_request(&s->census, tlb, page);
}

/* ---- who has what -----------------------------------------------------------------------------
 */

/* Whether a bit of a directory names a TLB that no bit below it does. */
static bool is_neighbour(const wpi_tlb_ring *s, uint32_t tlb, uint32_t bit) {
    const uint32_t distance = bit / 2 + 1, count = s->nodes[tlb].around;
    return 2 * distance < count || (2 * distance == count && bit % 2 == 0);
}

void wpi_tlb_ring_learned(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint64_t key = wpi_ring_key(s, page);
    if (s->has_census) wpi_census_add(&s->census, page);
    wpi_page_filter_add(&s->filter, key, tlb);
    if (!s->ops->uses_directory) return;
    /* A directory's entry is of a page that another TLB has. */
    const bool others_may_have = wpi_page_filter_count(&s->filter, key) > 1;
    if (others_may_have) wpi_directory_set_local(&s->memories[tlb].directory, key, true);
    for (uint32_t bit = 0; bit < 2 * s->neighbours && is_neighbour(s, tlb, bit); bit++) {
        const uint32_t other = wpi_ring_tlb_at(s, tlb, -wpi_tlb_sharing_offset(bit));
        wpi_directory_add(&s->memories[other].directory, key, bit,
                          others_may_have && has(s, other, page));
    }
}

void wpi_tlb_ring_forgot(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint64_t key = wpi_ring_key(s, page);
    if (s->has_census) wpi_census_remove(&s->census, page);
    wpi_page_filter_remove(&s->filter, key, tlb);
    if (!s->ops->uses_directory) return;
    if (wpi_page_filter_count(&s->filter, key) > 0)
        wpi_directory_set_local(&s->memories[tlb].directory, key, false);
    for (uint32_t bit = 0; bit < 2 * s->neighbours && is_neighbour(s, tlb, bit); bit++) {
        const uint32_t other = wpi_ring_tlb_at(s, tlb, -wpi_tlb_sharing_offset(bit));
        wpi_directory_remove(&s->memories[other].directory, key, bit);
    }
}

void wpi_tlb_ring_flush(wpi_tlb_ring *s) {
    if (s->has_census) wpi_census_clear(&s->census);
    wpi_page_filter_clear(&s->filter);
    for (uint32_t i = 0; s->ops->uses_directory && i < s->node_count; i++)
        wpi_directory_clear(&s->memories[i].directory);
}
