/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and counters of rings. The answers of a policy without a directory depend on `asked`
 * only, so they are tabulated here (`course`). */
#include "base/alloc.h"
#include "sim/tlb/tlb_ring_parts.h"

/* Bits of a question in the storage estimate: page number, frame number, and a valid bit. */
#define QUESTION_BITS (52 + 36 + 1)

int32_t wpi_ring_ask_policy(const wpi_tlb_ring *s, uint32_t home, int32_t asked, uint64_t page) {
    const uint32_t count = s->nodes[home].around;
    if (s->ops->next == NULL || count < 2) return 0;
    const uint64_t key = wpi_ring_key(s, page);
    const wpi_tlb_sharing_question question = {
        .tlbs = count,
        .neighbours = s->neighbours,
        .asked = asked,
        .holders = s->ops->uses_directory && wpi_page_filter_count(&s->filter, key) > 0
                       ? wpi_directory_find(&s->memories[home].directory, key)
                       : 0};
    const int32_t offset = s->ops->next(&question);
    return wpi_ring_once_round(offset, (int32_t)count);
}

void wpi_ring_make_questions(wpi_tlb_ring *s) {
    wpi_ring_block *block = wpi_malloc_aligned(_Alignof(wpi_ring_block), sizeof *block);
    WP_CHECK(block != NULL);
    block->next = s->blocks;
    s->blocks = block;
    for (uint32_t i = WPI_RING_BLOCK_QUESTIONS; i-- > 0;) {
        block->questions[i].next = s->free;
        s->free = &block->questions[i];
    }
}

/* ---- building ---- */

/* A beat is a cycle, or longer so that a step has at most this many beats. */
#define BEATS_MAX 1024u

static wpi_time_ps round_up(wpi_time_ps time, wpi_time_ps unit) {
    return (time + unit - 1) / unit * unit;
}

static wpi_ring_slot *init_tracks(wpi_ring_track *tracks, uint32_t tlbs, uint32_t step_beats,
                                  wpi_ring_slot *slots) {
    for (int side = 0; side < WPI_RING_SIDES; side++) {
        tracks[side] = (wpi_ring_track){slots, tlbs * step_beats, step_beats};
        slots += tracks[side].slot_count;
    }
    return slots;
}

static wp_status init_slots(wpi_tlb_ring *s, uint32_t ring_count, wp_error *err) {
    const wpi_time_ps cycle_ps = s->profile->cycle_ps, hop_ps = s->profile->tlb_sharing.hop_ps;
    const wpi_time_ps least = hop_ps + s->profile->tlb[0].latency_ps;
    s->beat_ps = round_up(least / BEATS_MAX + 1, cycle_ps);
    s->step_ps = round_up(least > 0 ? least : 1, s->beat_ps);
    s->hop_ps = round_up(hop_ps, s->beat_ps);
    const uint32_t step_beats = (uint32_t)(s->step_ps / s->beat_ps);
    const uint32_t hop_beats = (uint32_t)(s->hop_ps / s->beat_ps);
    const size_t tracks = WPI_RING_SIDES * (size_t)s->node_count;
    s->slots = wpi_calloc(tracks * (step_beats + hop_beats), sizeof *s->slots);
    s->waiting = wpi_calloc(tracks, sizeof(wpi_ring_line *));
    if (s->slots == NULL || s->waiting == NULL) return WP_FAIL(err, NOMEM, "rings of TLBs");
    wpi_ring_slot *slots = s->slots;
    for (uint32_t i = 0; i < ring_count; i++) {
        wpi_ring *r = &s->rings[i];
        slots = init_tracks(r->questions, r->count, step_beats, slots);
        slots = init_tracks(r->answers, r->count, hop_beats, slots);
    }
    s->next_beat = WP_TIME_NEVER;
    return WP_STATUS_OK;
}

/* SMs of a scope (tlb_sharing.scope) form a ring; a TLB belongs to the ring of its first SM. */
static wp_status init_rings(wpi_tlb_ring *s, const wpi_floorplan *plan, const uint32_t *group_of,
                            wp_error *err) {
    uint32_t ring_of[WPI_SMS_MAX];
    uint32_t ring_count = 0;
    WP_TRY(
        wpi_floorplan_groups(plan, s->profile->tlb_sharing.scope, "", ring_of, &ring_count, err));
    s->rings = wpi_calloc(ring_count, sizeof *s->rings);
    s->members = wpi_calloc(s->node_count, sizeof *s->members);
    s->courses = wpi_calloc(s->node_count, sizeof *s->courses);
    if (s->rings == NULL || s->members == NULL || s->courses == NULL)
        return WP_FAIL(err, NOMEM, "rings of TLBs");
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
    return init_slots(s, ring_count, err);
}

/* All TLBs of a ring share its course, which the first of them fills. */
static void init_course(wpi_tlb_ring *s, uint32_t tlb) {
    wpi_ring_node *n = &s->nodes[tlb];
    const int32_t around = (int32_t)n->around;
    wpi_ring_course *course = &s->courses[s->rings[n->ring].first];
    n->course = course;
    for (int32_t asked = around; n->position == 0 && asked-- > 0;) {
        const int32_t next = wpi_ring_ask_policy(s, tlb, asked, 0);
        const bool goes_on = next > asked && course[next].next > next;
        course[asked] = (wpi_ring_course){next, goes_on ? course[next].end : next};
    }
}

static uint32_t directory_entries(const wpi_profile *profile) {
    const uint32_t own = profile->tlb_sharing.directory_entries;
    return own != 0 ? own : profile->tlb[0].entries;
}

static wp_status init_nodes(wpi_tlb_ring *s, wp_error *err) {
    for (uint32_t i = 0; i < s->node_count; i++) {
        wpi_ring_node *n = &s->nodes[i];
        n->around = s->rings[n->ring].count;
        for (uint8_t side = 0; side < WPI_RING_SIDES; side++)
            n->lines[side] = (wpi_ring_line){.tlb = (uint16_t)i, .side = side};
        if (s->ops->uses_directory)
            WP_TRY(
                wpi_directory_init(&s->memories[i].directory, directory_entries(s->profile), err));
        else
            init_course(s, i);
    }
    return WP_STATUS_OK;
}

static uint32_t neighbours_of(const wpi_profile *profile, const wpi_tlb_sharing_ops *ops) {
    if (profile->tlb_sharing.neighbours != 0) return profile->tlb_sharing.neighbours;
    return ops->neighbours != 0 ? ops->neighbours : WPI_SMS_MAX;
}

static wp_status init(wpi_tlb_ring *s, const wpi_floorplan *plan, const uint32_t *group_of,
                      wp_error *err) {
    const wpi_time_ps directory_ps =
        s->ops->uses_directory ? s->profile->tlb_sharing.directory_ps : 0;
    const wpi_time_ps look_up_ps = s->profile->tlb[0].latency_ps;
    s->miss_ps = look_up_ps > directory_ps ? look_up_ps : directory_ps;
    s->neighbours = neighbours_of(s->profile, s->ops);
    s->nodes = wpi_calloc(s->node_count, sizeof *s->nodes);
    s->memories = wpi_calloc(s->node_count, sizeof *s->memories);
    if (s->nodes == NULL || s->memories == NULL)
        return WP_FAIL(err, NOMEM, "what lies beside %u TLBs", s->node_count);
    WP_TRY(init_rings(s, plan, group_of, err));
    WP_TRY(init_nodes(s, err));
    s->has_census = s->profile->tlb_sharing.has_census;
    if (s->has_census) WP_TRY(wpi_census_init(&s->census, s->node_count, err));
    return WP_STATUS_OK;
}

wp_status wpi_tlb_ring_create(wpi_engine *engine, const wpi_profile *profile,
                              const wpi_floorplan *plan, const uint32_t *group_of,
                              uint32_t tlb_count, const wpi_tlb_ring_owner *owner,
                              wpi_tlb_ring **out, wp_error *err) {
    *out = NULL;
    const wpi_tlb_sharing_ops *ops = profile->tlb_sharing.policy->ops;
    if (ops->next == NULL && !profile->tlb_sharing.has_census) return WP_STATUS_OK;
    wpi_tlb_ring *s = wpi_calloc(1, sizeof *s);
    if (s == NULL) return WP_FAIL(err, NOMEM, "sharing of TLBs");
    s->engine = engine;
    s->profile = profile;
    s->ops = ops;
    s->owner = *owner;
    s->node_count = tlb_count;
    const wp_status status = init(s, plan, group_of, err);
    if (status != WP_STATUS_OK) {
        wpi_tlb_ring_destroy(s);
        return status;
    }
    *out = s;
    return WP_STATUS_OK;
}

void wpi_tlb_ring_destroy(wpi_tlb_ring *s) {
    if (s == NULL) return;
    for (uint32_t i = 0; s->memories != NULL && i < s->node_count; i++)
        wpi_directory_deinit(&s->memories[i].directory);
    wpi_free(s->nodes);
    wpi_free(s->memories);
    wpi_free(s->rings);
    wpi_free(s->members);
    wpi_free(s->courses);
    wpi_free(s->slots);
    wpi_free(s->waiting);
    wpi_census_deinit(&s->census);
    for (wpi_ring_block *block = s->blocks, *next; block != NULL; block = next) {
        next = block->next;
        wpi_free(block);
    }
    wpi_free(s);
}

/* ---- what is counted ---- */

wpi_tlb_ring_storage wpi_tlb_ring_storage_of(const wpi_profile *profile, uint32_t tlb_count) {
    const wpi_tlb_sharing_ops *ops = profile->tlb_sharing.policy->ops;
    wpi_tlb_ring_storage out = {0};
    if (ops->next == NULL) return out;
    out.buffers = tlb_count * WPI_RING_SIDES;
    out.buffer_bits = (uint64_t)out.buffers * profile->tlb_sharing.buffer_entries * QUESTION_BITS;
    if (!ops->uses_directory) return out;
    out.directories = tlb_count;
    out.directory_entries = directory_entries(profile);
    out.tag_bits = profile->tlb_sharing.tag_bits;
    out.map_bits = 2 * neighbours_of(profile, ops) + 1;
    out.directory_bits =
        (uint64_t)out.directories * out.directory_entries * (1 + out.tag_bits + out.map_bits);
    return out;
}

void wpi_tlb_ring_statistics(const wpi_tlb_ring *s, wpi_visit visit, void *object) {
    if (s->has_census) wpi_census_statistics(&s->census, visit, object);
    if (s->ops->next == NULL) return;
    static const char prefix[] = "tlb_sharing.";
    uint64_t evictions = 0;
    for (uint32_t i = 0; i < s->node_count; i++)
        evictions += s->memories[i].directory.eviction_count;
    wpi_visit_value(visit, object, prefix, "asked", "requests", s->asked_count);
    wpi_visit_value(visit, object, prefix, "hits", "requests", s->hit_count);
    wpi_visit_value(visit, object, prefix, "stored", "requests", s->stored_count);
    wpi_visit_value(visit, object, prefix, "passed", "requests", s->passed_count);
    wpi_visit_value(visit, object, prefix, "lookups", "lookups", s->lookup_count);
    wpi_visit_value(visit, object, prefix, "no_room", "requests", s->full_count);
    wpi_visit_value(visit, object, prefix, "slot_wait", "ps", s->slot_wait_ps);
    wpi_visit_value(visit, object, prefix, "directory_evictions", "entries", evictions);
    wpi_visit_histogram(visit, object, prefix, "answer_wait", "ps", &s->answer_wait_ps);
    wpi_visit_histogram(visit, object, prefix, "answer", "ps", &s->answer_ps);
}
