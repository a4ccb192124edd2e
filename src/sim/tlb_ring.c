/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb_ring.h"

#include "base/alloc.h"
#include "policy/tlb_sharing.h"
#include "sim/census.h"
#include "sim/directory.h"
#include "sim/page_filter.h"
#include "sim/pool.h"
#include "sim/reserve.h"

#define NONE UINT32_MAX
/* Of a storage estimate: a message has a page's number, a frame's and what the answer is. */
#define MESSAGE_BITS (52 + 36 + 1)

enum { LEFT = 0, RIGHT, SIDES };

typedef struct message {
    uint64_t page, key, token; /* `key`: of the page */
    uint32_t home, at;         /* `at`: who is asked, or was last … */
    uint32_t around;           /* TLBs in the ring */
    int32_t offset;            /* … from home; 0: nobody yet */
    uint8_t side;              /* from which it comes in there */
    bool is_found;
    uint32_t next;        /* in a port's line, or among look-ups of the same time */
    wp_time_ps asked;     /* since: the miss was known */
    wp_time_ps stalled;   /* since: in a port's line */
    wp_time_ps lookup_ps; /* so far, what was no wait */
} message;

/* Where questions from one side come in. */
typedef struct port {
    uint32_t used;        /* places of the buffer */
    uint32_t first, last; /* those that wait for one */
} port;

/* What lies beside a TLB. */
typedef struct node {
    uint32_t ring, position;
    uint32_t beside[SIDES]; /* the next TLB on that side */
    wpi_directory directory;
    wpi_bus links[SIDES]; /* to the next on that side */
    port ports[SIDES];
    uint64_t last_page; /* that another TLB answered … */
    uint32_t in_a_row;  /* … so often, and no other one since */
} node;

typedef struct ring {
    uint32_t first, count; /* in `members` */
} ring;

struct wpi_tlb_ring {
    wpi_engine *engine;
    const wpi_profile *profile;
    const wpi_tlb_sharing_ops *ops;
    wpi_tlb_ring_owner owner;
    uint32_t node_count;
    node *nodes;
    ring *rings;
    uint32_t *members;
    uint32_t neighbours; /* to each side, that may be asked */
    wpi_pool messages;
    wp_time_ps batch_time; /* of the look-ups that an event was scheduled for last */
    uint32_t batch_event,
        batch_last; /* that one, or WPI_NO_EVENT; the message behind which others may follow */
    wpi_page_filter filter; /* of all TLBs, by keys */
    bool has_census;
    wpi_census census;
    uint64_t asked_count, hit_count, stored_count, passed_count, lookup_count, full_count;
    wp_time_ps buffer_wait_ps;
    wpi_histogram link_wait_ps, answer_ps;
};

static void depart(void *object, uint64_t number, wp_time_ps now);
static void look_up_all(void *object, uint64_t first, wp_time_ps now);
static void come_home(void *object, uint64_t number, wp_time_ps now);

static message *message_of(const wpi_tlb_ring *s, uint64_t number) {
    return &((message *)s->messages.items)[number];
}

/* ---- the ring ---------------------------------------------------------------------------------
 */

static uint32_t tlbs_around(const wpi_tlb_ring *s, uint32_t tlb) {
    return s->rings[s->nodes[tlb].ring].count;
}

/* An offset without whole rounds. Few have any, so most need no division. */
static int32_t once_round(int32_t offset, int32_t count) {
    return offset > -count && offset < count ? offset : offset % count;
}

static uint32_t tlb_at(const wpi_tlb_ring *s, uint32_t tlb, int32_t offset) {
    const node *n = &s->nodes[tlb];
    const ring *r = &s->rings[n->ring];
    const int32_t count = (int32_t)r->count;
    int32_t position = (int32_t)n->position + once_round(offset, count);
    if (position < 0) position += count;
    if (position >= count) position -= count;
    return s->members[r->first + (uint32_t)position];
}

/* Whether a bit of a directory names a TLB that no bit below it does. */
static bool is_neighbour(const wpi_tlb_ring *s, uint32_t tlb, uint32_t bit) {
    const uint32_t distance = bit / 2 + 1, count = tlbs_around(s, tlb);
    return 2 * distance < count || (2 * distance == count && bit % 2 == 0);
}

/* A message goes so many TLBs to the right, or left; when it is there. */
static wp_time_ps travel(wpi_tlb_ring *s, uint32_t from, int32_t steps, wp_time_ps time) {
    const int32_t step = steps < 0 ? -1 : 1;
    const int side = step < 0 ? LEFT : RIGHT;
    for (; steps != 0; steps -= step) {
        node *n = &s->nodes[from];
        const wp_time_ps turn = wpi_bus_take(&n->links[side], time, s->profile->cycle_ps);
        wpi_histogram_add(&s->link_wait_ps, turn - time);
        time = turn + s->profile->tlb_sharing.hop_ps;
        from = n->beside[side];
    }
    return time;
}

static wp_time_ps hops_ps(const wpi_tlb_ring *s, int32_t steps) {
    return (wp_time_ps)(steps < 0 ? -steps : steps) * s->profile->tlb_sharing.hop_ps;
}

/* The shorter way back. */
static int32_t steps_home(const message *m) {
    const int32_t count = (int32_t)m->around;
    const int32_t left = once_round(m->offset, count);
    const int32_t right = left > 0 ? count - left : -left;
    return 2 * right <= count ? right : right - count;
}

/* What a page is known by: directories have a hash. */
static uint64_t key_of(const wpi_tlb_ring *s, uint64_t page) {
    return s->ops->uses_directory ? wpi_directory_tag(page, s->profile->tlb_sharing.tag_bits)
                                  : page;
}

/* ---- questions --------------------------------------------------------------------------------
 */

/* Whom to ask now: 0, nobody. */
static int32_t choose(const wpi_tlb_ring *s, const message *m) {
    const int32_t count = (int32_t)m->around;
    if (s->ops->next == NULL || count < 2) return 0;
    const wpi_tlb_sharing_question question = {
        .tlbs = (uint32_t)count,
        .neighbours = s->neighbours,
        .asked = m->offset,
        .holders = s->ops->uses_directory && wpi_page_filter_count(&s->filter, m->key) > 0
                       ? wpi_directory_find(&s->nodes[m->home].directory, m->key)
                       : 0};
    const int32_t offset = s->ops->next(&question);
    return once_round(offset, count) == 0 ? 0 : offset;
}

static port *port_of(const wpi_tlb_ring *s, const message *m) {
    return &s->nodes[m->at].ports[m->side];
}

static bool has_room(const wpi_tlb_ring *s, const port *p) {
    return p->used < s->profile->tlb_sharing.buffer_entries;
}

static void aim(const wpi_tlb_ring *s, message *m, int32_t offset) {
    const bool is_beside = m->offset != 0 && offset == m->offset + 1;
    m->side = offset > m->offset ? LEFT : RIGHT;
    m->offset = offset;
    m->at = is_beside ? s->nodes[m->at].beside[RIGHT] : tlb_at(s, m->home, offset);
}

/* Where nothing else was scheduled between two look-ups for the same time, one event has both. */
static void look_up_at(wpi_tlb_ring *s, uint32_t number, wp_time_ps time) {
    message_of(s, number)->next = NONE;
    if (s->batch_event != WPI_NO_EVENT && s->batch_time == time &&
        wpi_engine_youngest(s->engine, time) == s->batch_event) {
        message_of(s, s->batch_last)->next = number;
    } else {
        wpi_engine_at(s->engine, time, look_up_all, s, number);
        s->batch_time = time;
        s->batch_event = wpi_engine_youngest(s->engine, time);
    }
    s->batch_last = number;
}

/* With a place in the buffer there. */
static void set_out(wpi_tlb_ring *s, uint32_t number, uint32_t from, int32_t steps,
                    wp_time_ps now) {
    const wp_time_ps look_up_ps = s->profile->tlb[0].latency_ps;
    message_of(s, number)->lookup_ps += hops_ps(s, steps) + look_up_ps;
    look_up_at(s, number, travel(s, from, steps, now) + look_up_ps);
}

static void depart(void *object, uint64_t number, wp_time_ps now) {
    wpi_tlb_ring *s = object;
    message *m = message_of(s, (uint32_t)number);
    port *p = port_of(s, m);
    if (has_room(s, p)) {
        p->used++;
        set_out(s, (uint32_t)number, m->home, m->offset, now);
        return;
    }
    m->stalled = now;
    m->next = NONE;
    if (p->first == NONE)
        p->first = (uint32_t)number;
    else
        message_of(s, p->last)->next = (uint32_t)number;
    p->last = (uint32_t)number;
}

/* A place of the port's buffer is free. */
static void free_place(wpi_tlb_ring *s, port *p, wp_time_ps now) {
    const uint32_t number = p->first;
    if (number == NONE) {
        p->used--;
        return;
    }
    const message *m = message_of(s, number);
    p->first = m->next;
    s->buffer_wait_ps += now - m->stalled;
    set_out(s, number, m->home, m->offset, now);
}

/* To whom the policy names next; false: to nobody, or there is no place. */
static bool go_on(wpi_tlb_ring *s, uint32_t number, wp_time_ps now) {
    message *m = message_of(s, number);
    const int32_t before = m->offset, offset = choose(s, m);
    if (offset == 0) return false;
    const uint32_t from = m->at;
    const uint8_t side = m->side;
    aim(s, m, offset);
    port *p = port_of(s, m);
    if (!has_room(s, p)) {
        s->full_count++;
        m->at = from;
        m->side = side;
        m->offset = before;
        return false;
    }
    p->used++;
    set_out(s, number, from, offset - before, now);
    return true;
}

static void go_home(wpi_tlb_ring *s, uint32_t number, wp_time_ps now) {
    message *m = message_of(s, number);
    const int32_t steps = steps_home(m);
    m->lookup_ps += hops_ps(s, steps);
    wpi_engine_at(s->engine, travel(s, m->at, steps, now), come_home, s, number);
}

static void look_up(wpi_tlb_ring *s, uint32_t number, wp_time_ps now) {
    message *m = message_of(s, number);
    port *left = port_of(s, m);
    m->is_found = wpi_page_filter_count(&s->filter, m->key) > 0 &&
                  s->owner.use(s->owner.object, m->at, m->token);
    s->lookup_count++;
    if (m->is_found || !go_on(s, number, now)) go_home(s, number, now);
    free_place(s, left, now);
}

static void look_up_all(void *object, uint64_t first, wp_time_ps now) {
    wpi_tlb_ring *s = object;
    if (s->batch_time == now) s->batch_event = WPI_NO_EVENT;
    for (uint32_t number = (uint32_t)first, next; number != NONE; number = next) {
        next = message_of(s, number)->next;
        look_up(s, number, now);
    }
}

/* How often others have had the page for this TLB, as tlb_sharing.count says. */
static uint32_t count_hit(wpi_tlb_ring *s, const message *m) {
    node *n = &s->nodes[m->home];
    if (s->profile->tlb_sharing.count == WPI_TLB_SHARING_BY_ENTRY && s->ops->uses_directory)
        return wpi_directory_count_hit(&n->directory, m->key);
    n->in_a_row = n->last_page == m->page ? n->in_a_row + 1 : 1;
    n->last_page = m->page;
    return n->in_a_row;
}

static void come_home(void *object, uint64_t number, wp_time_ps now) {
    wpi_tlb_ring *s = object;
    const message m = *message_of(s, (uint32_t)number);
    wpi_pool_give(&s->messages, (uint32_t)number);
    if (!m.is_found) {
        s->passed_count++;
        s->owner.passed(s->owner.object, m.token, now);
        return;
    }
    const wpi_tlb_sharing_answer answer = {.hits = count_hit(s, &m),
                                           .threshold = s->profile->tlb_sharing.threshold};
    const bool is_stored = s->ops->stores(&answer);
    s->hit_count++;
    s->stored_count += is_stored;
    wpi_histogram_add(&s->answer_ps, now - m.asked);
    s->owner.answered(s->owner.object, m.token, is_stored, m.lookup_ps, now);
}

static bool has(const wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    return s->owner.has(s->owner.object, tlb, page);
}

static void count_miss(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const bool neighbour_has =
        has(s, s->nodes[tlb].beside[LEFT], page) || has(s, s->nodes[tlb].beside[RIGHT], page);
    wpi_census_miss(&s->census, tlb, page, neighbour_has);
}

/* The directory is looked up beside the TLB. */
static wp_time_ps miss_ps(const wpi_tlb_ring *s) {
    const wp_time_ps tlb_ps = s->profile->tlb[0].latency_ps;
    const wp_time_ps directory_ps =
        s->ops->uses_directory ? s->profile->tlb_sharing.directory_ps : 0;
    return tlb_ps > directory_ps ? tlb_ps : directory_ps;
}

bool wpi_tlb_ring_ask(wpi_tlb_ring *s, uint32_t tlb, uint64_t page, uint64_t token,
                      wp_time_ps time) {
    if (s->has_census) count_miss(s, tlb, page);
    message m = {.page = page,
                 .key = key_of(s, page),
                 .token = token,
                 .home = tlb,
                 .around = tlbs_around(s, tlb)};
    const int32_t offset = choose(s, &m);
    if (offset == 0) return false;
    aim(s, &m, offset);
    m.lookup_ps = miss_ps(s);
    m.asked = time;
    s->asked_count++;
    const uint32_t number = wpi_pool_take(&s->messages, sizeof(message));
    *message_of(s, number) = m;
    wpi_engine_at(s->engine, time + m.lookup_ps, depart, s, number);
    return true;
}

void wpi_tlb_ring_note(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    if (s->has_census) wpi_census_request(&s->census, tlb, page);
}

/* ---- who has what -----------------------------------------------------------------------------
 */

void wpi_tlb_ring_learned(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint64_t key = key_of(s, page);
    if (s->has_census) wpi_census_add(&s->census, page);
    wpi_page_filter_add(&s->filter, key);
    if (!s->ops->uses_directory) return;
    /* A directory's entry is of a page that another TLB has. */
    const bool others_may_have = wpi_page_filter_count(&s->filter, key) > 1;
    if (others_may_have) wpi_directory_set_local(&s->nodes[tlb].directory, key, true);
    for (uint32_t bit = 0; bit < 2 * s->neighbours && is_neighbour(s, tlb, bit); bit++) {
        const uint32_t other = tlb_at(s, tlb, -wpi_tlb_sharing_offset(bit));
        wpi_directory_add(&s->nodes[other].directory, key, bit,
                          others_may_have && has(s, other, page));
    }
}

void wpi_tlb_ring_forgot(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint64_t key = key_of(s, page);
    if (s->has_census) wpi_census_remove(&s->census, page);
    wpi_page_filter_remove(&s->filter, key);
    if (!s->ops->uses_directory) return;
    if (wpi_page_filter_count(&s->filter, key) > 0)
        wpi_directory_set_local(&s->nodes[tlb].directory, key, false);
    for (uint32_t bit = 0; bit < 2 * s->neighbours && is_neighbour(s, tlb, bit); bit++) {
        const uint32_t other = tlb_at(s, tlb, -wpi_tlb_sharing_offset(bit));
        wpi_directory_remove(&s->nodes[other].directory, key, bit);
    }
}

void wpi_tlb_ring_flush(wpi_tlb_ring *s) {
    if (s->has_census) wpi_census_clear(&s->census);
    wpi_page_filter_clear(&s->filter);
    for (uint32_t i = 0; s->ops->uses_directory && i < s->node_count; i++)
        wpi_directory_clear(&s->nodes[i].directory);
}

/* ---- building ---------------------------------------------------------------------------------
 */

/* Rings are of the SMs that share a scope; a TLB lies where its first SM does. */
static wp_status init_rings(wpi_tlb_ring *s, const wpi_floorplan *plan, const uint32_t *group_of,
                            wp_error *err) {
    uint32_t ring_of[WPI_SMS_MAX];
    uint32_t ring_count = 0;
    WP_TRY(
        wpi_floorplan_groups(plan, s->profile->tlb_sharing.scope, "", ring_of, &ring_count, err));
    s->rings = wp_calloc(ring_count, sizeof *s->rings);
    s->members = wp_calloc(s->node_count, sizeof *s->members);
    if (s->rings == NULL || s->members == NULL) return WP_FAIL(err, NOMEM, "rings of TLBs");
    for (uint32_t sm = plan->sm_count; sm-- > 0;)
        s->nodes[group_of[sm]].ring = ring_of[sm];
    uint32_t placed = 0;
    for (uint32_t r = 0; r < ring_count; r++) {
        s->rings[r].first = placed;
        for (uint32_t tlb = 0; tlb < s->node_count; tlb++) {
            if (s->nodes[tlb].ring != r) continue;
            s->nodes[tlb].position = s->rings[r].count++;
            s->members[placed++] = tlb;
        }
    }
    for (uint32_t tlb = 0; tlb < s->node_count; tlb++) {
        s->nodes[tlb].beside[LEFT] = tlb_at(s, tlb, -1);
        s->nodes[tlb].beside[RIGHT] = tlb_at(s, tlb, 1);
    }
    return WP_STATUS_OK;
}

static uint32_t neighbours_of(const wpi_profile *profile, const wpi_tlb_sharing_ops *ops) {
    if (profile->tlb_sharing.neighbours != 0) return profile->tlb_sharing.neighbours;
    return ops->neighbours != 0 ? ops->neighbours : WPI_SMS_MAX;
}

static uint32_t directory_entries(const wpi_profile *profile) {
    const uint32_t own = profile->tlb_sharing.directory_entries;
    return own != 0 ? own : profile->tlb[0].entries;
}

static wp_status init_nodes(wpi_tlb_ring *s, wp_error *err) {
    s->nodes = wp_calloc(s->node_count, sizeof *s->nodes);
    if (s->nodes == NULL) return WP_FAIL(err, NOMEM, "what lies beside %u TLBs", s->node_count);
    for (uint32_t i = 0; i < s->node_count; i++) {
        for (int side = 0; side < SIDES; side++)
            s->nodes[i].ports[side].first = s->nodes[i].ports[side].last = NONE;
        if (s->ops->uses_directory)
            WP_TRY(wpi_directory_init(&s->nodes[i].directory, directory_entries(s->profile), err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_tlb_ring_create(wpi_engine *engine, const wpi_profile *profile,
                              const wpi_floorplan *plan, const uint32_t *group_of,
                              uint32_t tlb_count, const wpi_tlb_ring_owner *owner,
                              wpi_tlb_ring **out, wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    const wpi_tlb_sharing_ops *ops = profile->tlb_sharing.policy->ops;
    if (ops->next == NULL && !profile->tlb_sharing.has_census) return WP_STATUS_OK;
    wpi_tlb_ring *s = wp_calloc(1, sizeof *s);
    if (s == NULL) return WP_FAIL(err, NOMEM, "sharing of TLBs");
    s->engine = engine;
    s->profile = profile;
    s->ops = ops;
    s->owner = *owner;
    s->node_count = tlb_count;
    s->batch_event = WPI_NO_EVENT;
    s->neighbours = neighbours_of(profile, ops);
    WP_TRY_GOTO(init_nodes(s, err), done);
    WP_TRY_GOTO(init_rings(s, plan, group_of, err), done);
    s->has_census = profile->tlb_sharing.has_census;
    if (s->has_census) WP_TRY_GOTO(wpi_census_init(&s->census, tlb_count, err), done);
    *out = s;
    s = NULL;
done:
    wpi_tlb_ring_destroy(s);
    return status;
}

void wpi_tlb_ring_destroy(wpi_tlb_ring *s) {
    if (s == NULL) return;
    for (uint32_t i = 0; s->nodes != NULL && i < s->node_count; i++)
        wpi_directory_deinit(&s->nodes[i].directory);
    wp_free(s->nodes);
    wp_free(s->rings);
    wp_free(s->members);
    wpi_census_deinit(&s->census);
    wpi_pool_deinit(&s->messages);
    wp_free(s);
}

/* ---- what is counted --------------------------------------------------------------------------
 */

/* Beyond private TLBs: directories (valid, tag, neighbours, own bit) and the ports' buffers. */
static uint64_t storage_bits(const wpi_tlb_ring *s) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < s->node_count; i++) {
        if (s->ops->uses_directory)
            bits += directory_entries(s->profile) *
                    (1 + s->profile->tlb_sharing.tag_bits + 2 * (uint64_t)s->neighbours + 1);
        bits += SIDES * (uint64_t)s->profile->tlb_sharing.buffer_entries * MESSAGE_BITS;
    }
    return bits;
}

void wpi_tlb_ring_statistics(const wpi_tlb_ring *s, wpi_visit visit, void *object) {
    if (s->has_census) wpi_census_statistics(&s->census, visit, object);
    if (s->ops->next == NULL) return;
    static const char prefix[] = "tlb_sharing.";
    uint64_t evictions = 0;
    for (uint32_t i = 0; i < s->node_count; i++)
        evictions += s->nodes[i].directory.eviction_count;
    wpi_visit_value(visit, object, prefix, "asked", "requests", s->asked_count);
    wpi_visit_value(visit, object, prefix, "hits", "requests", s->hit_count);
    wpi_visit_value(visit, object, prefix, "stored", "requests", s->stored_count);
    wpi_visit_value(visit, object, prefix, "passed", "requests", s->passed_count);
    wpi_visit_value(visit, object, prefix, "lookups", "lookups", s->lookup_count);
    wpi_visit_value(visit, object, prefix, "no_room", "requests", s->full_count);
    wpi_visit_value(visit, object, prefix, "buffer_wait", "ps", s->buffer_wait_ps);
    wpi_visit_value(visit, object, prefix, "directory_evictions", "entries", evictions);
    wpi_visit_maximum(visit, object, prefix, "storage", "bits", storage_bits(s));
    wpi_visit_histogram(visit, object, prefix, "link_wait", "ps", &s->link_wait_ps);
    wpi_visit_histogram(visit, object, prefix, "answer", "ps", &s->answer_ps);
}
