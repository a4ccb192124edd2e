/* SPDX-License-Identifier: Apache-2.0 */
/* Questions (requests to other TLBs) on the ring. Slots circulate in each direction; one passes a
 * TLB each beat. Each TLB that a question passes looks it up, one step (hop and look-up) after the
 * previous one, so its stop is known when it enters its slot, and takes one or two events. If a TLB
 * on its way stores the page meanwhile, the question is rescheduled; an event whose time is not
 * `due` is stale.
 */
#include "sim/tlb/tlb_ring_parts.h"

#define LEFT WPI_RING_LEFT
#define RIGHT WPI_RING_RIGHT

typedef wpi_ring_question question;
typedef wpi_ring_line line;
typedef wpi_ring_slot slot;
typedef wpi_ring_node node;

static void proceed(void *object, uint64_t token, wpi_time_ps now);

static void schedule(wpi_tlb_ring *s, question *q, wpi_ring_stage stage, wpi_time_ps time) {
    q->stage = stage;
    q->due = time;
    q->event_count++;
    wpi_engine_at(s->engine, time, proceed, s, (uintptr_t)q);
}

/* Frees the question when it has no pending events. */
static void end(wpi_tlb_ring *s, question *q) {
    q->stage = WPI_RING_ENDED;
    q->due = WP_TIME_NEVER;
    if (q->event_count > 0) return;
    q->next = s->free;
    s->free = q;
}

/* ---- ways ---- */

static uint32_t distance(int32_t from, int32_t to) {
    return (uint32_t)(to > from ? to - from : from - to);
}

static uint32_t tlb_of(const wpi_tlb_ring *s, const question *q) {
    return wpi_ring_tlb_at(s, q->home, q->from);
}

/* The offset to which the question travels after `asked` missed, if no TLB has the page; 0: it
 * ends. */
static int32_t way_end(const wpi_tlb_ring *s, const question *q, int32_t asked) {
    const node *n = &s->nodes[q->home];
    return n->course != NULL && asked >= 0 ? n->course[asked].end
                                           : wpi_ring_ask_policy(s, q->home, asked, q->page);
}

/* Whether the question, if all TLBs miss, passes every other TLB and returns home in its slot. */
static bool is_circle(const wpi_tlb_ring *s, const question *q) {
    const node *n = &s->nodes[q->home];
    return n->course != NULL && q->offset >= 0 && (uint32_t)q->offset + 1 == n->around &&
           n->course[q->offset].next == 0;
}

/* Hops along the shorter way home; negative: to the left. */
static int32_t steps_home(const wpi_tlb_ring *s, const question *q) {
    const int32_t count = (int32_t)s->nodes[q->home].around;
    const int32_t right = q->from > 0 ? count - q->from : -q->from;
    return 2 * right <= count ? right : right - count;
}

/* The slot that passes `tlb` at time `beat`. */
static slot *slot_at(const wpi_tlb_ring *s, const wpi_ring_track *tracks, int side, uint32_t tlb,
                     wpi_time_ps beat) {
    const wpi_ring_track *t = &tracks[side];
    const uint32_t passed = (uint32_t)(beat / s->beat_ps % t->slot_count);
    const uint32_t ahead = s->nodes[tlb].position * t->step_beats;
    const uint32_t number = side == RIGHT ? passed + t->slot_count - ahead : passed + ahead;
    return &t->slots[number < t->slot_count ? number : number - t->slot_count];
}

static const wpi_ring *ring_of(const wpi_tlb_ring *s, uint32_t tlb) {
    return &s->rings[s->nodes[tlb].ring];
}

static wpi_time_ps first_beat(const wpi_tlb_ring *s, wpi_time_ps time) {
    const wpi_time_ps over = time % s->beat_ps;
    return over == 0 ? time : time + s->beat_ps - over;
}

/* Sends the question home in the first free slot for answers. */
static void go_home(wpi_tlb_ring *s, question *q, wpi_ring_stage stage, wpi_time_ps now) {
    const int32_t steps = steps_home(s, q);
    const wpi_time_ps way_ps = distance(0, steps) * s->hop_ps;
    wpi_time_ps start = now;
    if (way_ps > 0) {
        const uint32_t tlb = tlb_of(s, q);
        const wpi_ring_track *tracks = ring_of(s, tlb)->answers;
        const int side = steps < 0 ? LEFT : RIGHT;
        start = first_beat(s, now);
        slot *passing = slot_at(s, tracks, side, tlb, start);
        while (passing->until > start) {
            start += s->beat_ps;
            passing = slot_at(s, tracks, side, tlb, start);
        }
        passing->until = start + way_ps;
        wpi_histogram_add(&s->answer_wait_ps, start - now);
    }
    schedule(s, q, stage, start + way_ps);
}

/* The request goes to the next level. */
static void pass(wpi_tlb_ring *s, question *q, wpi_time_ps now) {
    s->passed_count++;
    s->owner.passed(s->owner.object, q->token, now);
    end(s, q);
}

/* ---- lines ---- */

static void see_to_lines(void *object, uint64_t token, wpi_time_ps now);

/* Serves the queues at the first beat at or after `ready`. */
static void wake(wpi_tlb_ring *s, wpi_time_ps ready) {
    if (ready < s->free_beat) ready = s->free_beat;
    if (ready >= s->next_beat) return;
    const wpi_time_ps beat = first_beat(s, ready);
    if (beat >= s->next_beat) return;
    s->next_beat = beat;
    wpi_engine_at(s->engine, beat, see_to_lines, s, beat);
}

static void append(wpi_ring_queue *to, question *q) {
    q->next = NULL;
    if (to->first == NULL)
        to->first = q;
    else
        to->last->next = q;
    to->last = q;
    to->count++;
}

static question *take_first(wpi_ring_queue *from) {
    question *q = from->first;
    from->first = q->next;
    from->count--;
    return q;
}

/* Queues the question for a slot from q->from towards q->offset. */
static void want_slot(wpi_tlb_ring *s, question *q, wpi_time_ps ready) {
    q->stage = WPI_RING_WAITS;
    q->due = WP_TIME_NEVER;
    q->since = ready;
    line *l = &s->nodes[tlb_of(s, q)].lines[q->offset > q->from ? RIGHT : LEFT];
    append(&l->coming, q);
    if (!l->is_waiting) s->waiting[s->waiting_count++] = l;
    l->is_waiting = true;
    wake(s, ready);
}

/* ---- slots ---- */

static uint16_t *in_slots(wpi_tlb_ring *s, uint64_t page) {
    return &s->in_slots[wpi_page_filter_slot(wpi_ring_key(s, page))];
}

static wpi_time_ps time_at(const wpi_tlb_ring *s, const question *q, int32_t offset) {
    return q->since + distance(q->from, offset) * s->step_ps;
}

static void get_in(wpi_tlb_ring *s, question *q, slot *into, wpi_time_ps now) {
    s->slot_wait_ps += now - q->since;
    q->since = now;
    q->slot = into;
    ++*in_slots(s, q->page);
    const bool is_found = wpi_ring_find(s, q, &q->offset);
    const wpi_time_ps last = time_at(s, q, q->offset);
    const bool circles = !is_found && is_circle(s, q);
    *into = (slot){.until = circles ? last + s->step_ps : last, .question = q};
    if (circles)
        schedule(s, q, WPI_RING_CIRCLES, last + s->hop_ps);
    else
        schedule(s, q, WPI_RING_STOPS, last);
}

/* Takes the question out of its slot at `offset`; all TLBs up to there have looked it up. */
static void get_out(wpi_tlb_ring *s, question *q, int32_t offset) {
    const uint32_t steps = distance(q->from, offset);
    s->lookup_count += steps;
    q->steps = (uint16_t)(q->steps + steps);
    q->from = (int16_t)offset;
    if (q->slot->question == q) q->slot->question = NULL;
    --*in_slots(s, q->page);
}

/* The port's buffer is full: the request goes to the next level. */
static void turn_away(wpi_tlb_ring *s, question *q, wpi_time_ps now) {
    s->full_count++;
    if (q->from != 0)
        go_home(s, q, WPI_RING_RETURNS, now);
    else
        pass(s, q, now);
}

/* One beat of a port: the first question in its buffer takes the passing slot, if that is free;
 * then one more question arrives at the port. */
static void serve(wpi_tlb_ring *s, line *l, wpi_time_ps now) {
    slot *passing = slot_at(s, ring_of(s, l->tlb)->questions, l->side, l->tlb, now);
    if (passing->until <= now && l->buffer.count > 0)
        get_in(s, take_first(&l->buffer), passing, now);
    if (l->coming.count == 0 || l->coming.first->since > now) return;
    question *q = take_first(&l->coming);
    if (passing->until <= now)
        get_in(s, q, passing, now);
    else if (l->buffer.count < s->profile->tlb_sharing.buffer_entries)
        append(&l->buffer, q);
    else
        turn_away(s, q, now);
}

/* One beat of all ports that have questions. Serving them may append to `waiting`. */
static void see_to_lines(void *object, uint64_t token, wpi_time_ps now) {
    wpi_tlb_ring *s = object;
    if (token != s->next_beat) return; /* stale: an earlier beat was scheduled */
    s->next_beat = WP_TIME_NEVER;
    s->free_beat = now + s->beat_ps;
    wpi_time_ps next = WP_TIME_NEVER;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->waiting_count; i++) {
        line *l = s->waiting[i];
        serve(s, l, now);
        l->is_waiting = l->buffer.count + l->coming.count > 0;
        if (!l->is_waiting) continue;
        s->waiting[kept++] = l;
        const wpi_time_ps ready = l->buffer.count > 0 ? now : l->coming.first->since;
        if (ready < next) next = ready;
    }
    s->waiting_count = kept;
    if (kept > 0) wake(s, next);
}

/* Makes the question stop at `offset`, before its planned stop, if it has not passed there yet. */
static void stop_at(wpi_tlb_ring *s, question *q, int16_t offset, wpi_time_ps now) {
    const wpi_time_ps time = time_at(s, q, offset);
    if (time < now || (offset == q->offset && q->stage == WPI_RING_STOPS)) return;
    q->offset = offset;
    q->slot->until = time;
    schedule(s, q, WPI_RING_STOPS, time);
}

void wpi_ring_stop_those_who_ask(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    if (*in_slots(s, page) == 0) return;
    const wpi_time_ps now = wpi_engine_now(s->engine);
    const wpi_ring_track *left = &ring_of(s, tlb)->questions[LEFT];
    for (uint32_t i = 0; i < WPI_RING_SIDES * left->slot_count; i++) {
        question *q = left->slots[i].question; /* slots to the left, then those to the right */
        int16_t offset;
        if (q != NULL && q->page == page && wpi_ring_comes_by(s, q, tlb, &offset))
            stop_at(s, q, offset, now);
    }
}

/* ---- answers ---- */

/* How often other TLBs have answered for this page, counted as tlb_sharing.count selects. */
static uint32_t count_hit(wpi_tlb_ring *s, const question *q) {
    wpi_ring_memory *memory = &s->memories[q->home];
    if (s->profile->tlb_sharing.count == WPI_TLB_SHARING_BY_ENTRY && s->ops->uses_directory)
        return wpi_directory_count_hit(&memory->directory, wpi_ring_key(s, q->page));
    memory->in_a_row = memory->last_page == q->page ? memory->in_a_row + 1 : 1;
    memory->last_page = q->page;
    return memory->in_a_row;
}

static void answer(wpi_tlb_ring *s, question *q, wpi_time_ps now) {
    const wpi_tlb_sharing_answer answer = {.hits = count_hit(s, q),
                                           .threshold = s->profile->tlb_sharing.threshold};
    const bool is_stored = s->ops->stores(&answer);
    const wpi_time_ps lookup_ps =
        s->miss_ps + q->steps * s->step_ps + distance(0, steps_home(s, q)) * s->hop_ps;
    s->hit_count++;
    s->stored_count += is_stored;
    wpi_histogram_add(&s->answer_ps, now - q->asked);
    s->owner.answered(s->owner.object, q->token, is_stored, lookup_ps, now);
    end(s, q);
}

/* The question stops: the TLB has the page, the policy names the next TLB, or it returns home. */
static void stop(wpi_tlb_ring *s, question *q, wpi_time_ps now) {
    get_out(s, q, q->offset);
    if (s->owner.use(s->owner.object, tlb_of(s, q), q->token)) {
        go_home(s, q, WPI_RING_BRINGS, now);
        return;
    }
    const int32_t offset = way_end(s, q, q->from);
    if (offset == 0) {
        go_home(s, q, WPI_RING_RETURNS, now);
        return;
    }
    q->offset = (int16_t)offset;
    want_slot(s, q, now);
}

static void proceed(void *object, uint64_t token, wpi_time_ps now) {
    wpi_tlb_ring *s = object;
    question *q = (question *)(uintptr_t)token;
    q->event_count--;
    if (q->due != now) {
        if (q->stage == WPI_RING_ENDED) end(s, q);
        return;
    }
    switch ((wpi_ring_stage)q->stage) {
    case WPI_RING_STOPS: stop(s, q, now); break;
    case WPI_RING_CIRCLES:
        get_out(s, q, q->offset);
        pass(s, q, now);
        break;
    case WPI_RING_BRINGS: answer(s, q, now); break;
    case WPI_RING_RETURNS: pass(s, q, now); break;
    case WPI_RING_WAITS:
    case WPI_RING_ENDED: break; /* not due: stale events were dropped above */
    }
}

/* ---- questions ---- */

static void count_miss(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint32_t left = wpi_ring_tlb_at(s, tlb, -1), right = wpi_ring_tlb_at(s, tlb, 1);
    const bool neighbour_has =
        s->owner.has(s->owner.object, left, page) || s->owner.has(s->owner.object, right, page);
    wpi_census_miss(&s->census, tlb, page, neighbour_has);
}

bool wpi_tlb_ring_ask(wpi_tlb_ring *s, uint32_t tlb, uint64_t page, uint32_t token,
                      wpi_time_ps time) {
    if (s->has_census) count_miss(s, tlb, page);
    question asked = {.page = page, .token = token, .asked = time, .home = tlb};
    asked.offset = (int16_t)way_end(s, &asked, 0);
    if (asked.offset == 0) return false;
    s->asked_count++;
    if (s->free == NULL) wpi_ring_make_questions(s);
    question *q = s->free;
    s->free = q->next;
    *q = asked;
    want_slot(s, q, time + s->miss_ps);
    return true;
}
