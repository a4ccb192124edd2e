/* SPDX-License-Identifier: Apache-2.0 */
/* Which TLBs hold which pages: updates directories and the census, and finds the TLB at which a
 * question stops. */
#include "sim/tlb/tlb_ring_parts.h"

static bool has(const wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    return s->owner.has(s->owner.object, tlb, page);
}

/* ---- for questions ---- */

static bool is_on_way(const wpi_ring_question *q, int32_t offset) {
    return q->from < q->offset ? q->from < offset && offset <= q->offset
                               : q->offset <= offset && offset < q->from;
}

bool wpi_ring_comes_by(const wpi_tlb_ring *s, const wpi_ring_question *q, uint32_t tlb,
                       int16_t *offset) {
    const wpi_ring_node *home = &s->nodes[q->home], *n = &s->nodes[tlb];
    if (n == home || n->ring != home->ring) return false;
    int32_t to = (int32_t)n->position - (int32_t)home->position;
    if (!is_on_way(q, to)) to += (int32_t)home->around * (to < 0 ? 1 : -1);
    *offset = (int16_t)to;
    return is_on_way(q, to);
}

bool wpi_ring_find(const wpi_tlb_ring *s, const wpi_ring_question *q, int16_t *offset) {
    const uint64_t key = wpi_ring_key(s, q->page);
    const uint32_t count = wpi_page_filter_count(&s->filter, key);
    if (count == 0) return false;
    const int32_t step = q->from < q->offset ? 1 : -1;
    int16_t to = q->from;
    if (count == 1) {
        const uint32_t tlb = wpi_page_filter_one(&s->filter, key);
        if (!wpi_ring_comes_by(s, q, tlb, &to) || !has(s, tlb, q->page)) return false;
        *offset = to;
        return true;
    }
    while (to != q->offset) {
        to = (int16_t)(to + step);
        const uint32_t tlb = wpi_ring_tlb_at(s, q->home, to);
        if (tlb == q->home || !has(s, tlb, q->page)) continue;
        *offset = to;
        return true;
    }
    return false;
}

/* ---- as it changes ---- */

/* Whether a bit of a directory names a TLB that no bit below it does. */
static bool is_neighbour(const wpi_tlb_ring *s, uint32_t tlb, uint32_t bit) {
    const uint32_t distance = bit / 2 + 1, count = s->nodes[tlb].around;
    return 2 * distance < count || (2 * distance == count && bit % 2 == 0);
}

void wpi_tlb_ring_note(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    if (s->has_census) wpi_census_request(&s->census, tlb, page);
}

void wpi_tlb_ring_learned(wpi_tlb_ring *s, uint32_t tlb, uint64_t page) {
    const uint64_t key = wpi_ring_key(s, page);
    if (s->has_census) wpi_census_add(&s->census, page);
    wpi_page_filter_add(&s->filter, key, tlb);
    wpi_ring_stop_those_who_ask(s, tlb, page);
    if (!s->ops->uses_directory) return;
    /* A directory has entries only for pages that another TLB has. */
    const bool others_may_have = wpi_page_filter_count(&s->filter, key) > 1;
    if (others_may_have) wpi_directory_set_local(&s->memories[tlb].directory, key, true);
    for (uint32_t bit = 0; bit < 2 * s->neighbours && is_neighbour(s, tlb, bit); bit++) {
        const uint32_t other = wpi_ring_tlb_at(s, tlb, -wpi_tlb_sharing_offset(bit));
        wpi_directory *directory = &s->memories[other].directory;
        if (others_may_have)
            wpi_directory_add(directory, key, bit, has(s, other, page));
        else
            wpi_directory_add_new(directory, key, bit, false);
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
