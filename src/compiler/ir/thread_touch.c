/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/thread_touch.h"

#include <string.h>

#include "base/must.h"

enum { INACTIVE = -1, MANY = UINT16_MAX };

struct wpi_touch_pattern {
    uint64_t hash;
    uint32_t size_bytes;
    uint32_t grain; /* all offsets and the size are multiples of this power of two */
    int32_t *at;    /* [threads]: offset, or INACTIVE */
};

/* The thread that touched a place by the first access. */
struct wpi_touch_place {
    uint32_t stamp;
    uint16_t owner; /* or MANY */
};

static void forget(wpi_thread_touches *t) {
    for (uint32_t p = 0; p < t->count; p++)
        wpi_free(t->patterns[p].at);
    t->count = 0;
    wpi_map_deinit(&t->found);
}

void wpi_touches_start(wpi_thread_touches *t, uint32_t threads) {
    forget(t);
    t->threads = threads;
    if (!t->places) t->places = wpi_must_calloc(2 * WP_TOUCH_BYTES_MAX, sizeof *t->places);
}

void wpi_touches_deinit(wpi_thread_touches *t) {
    forget(t);
    wpi_free(t->patterns);
    wpi_free(t->places);
}

/* Returns the number of the pattern, or of an equal earlier one. Takes `p.at`. */
static uint32_t keep(wpi_thread_touches *t, wpi_touch_pattern p) {
    size_t bytes = t->threads * sizeof *p.at;
    for (uint32_t n = 0; n < t->count; n++) {
        const wpi_touch_pattern *old = &t->patterns[n];
        if (old->hash != p.hash || old->size_bytes != p.size_bytes ||
            memcmp(old->at, p.at, bytes) != 0)
            continue;
        wpi_free(p.at);
        return n;
    }
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 64;
        t->patterns = wpi_must_realloc(t->patterns, t->capacity * sizeof *t->patterns);
    }
    t->patterns[t->count] = p;
    return t->count++;
}

bool wpi_touches_add(wpi_thread_touches *t, const wpi_thread_node *address, const bool *is_active,
                     uint32_t size_bytes, wpi_thread_touch *out) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (uint32_t n = 0; n < t->threads; n++) {
        int64_t at = wpi_thread_node_at(address, n);
        if (is_active[n] && at < first) first = at;
        if (is_active[n] && at > last) last = at;
    }
    bool is_empty = first > last;
    if (!is_empty && (last > INT64_MAX - WP_TOUCH_BYTES_MAX ||
                      (uint64_t)last - (uint64_t)first > WP_TOUCH_BYTES_MAX - size_bytes))
        return false;
    wpi_touch_pattern p = {.hash = 1469598103934665603u, .size_bytes = size_bytes};
    p.at = wpi_must_calloc(t->threads, sizeof *p.at);
    uint32_t bits = size_bytes;
    for (uint32_t n = 0; n < t->threads; n++) {
        p.at[n] = is_active[n] ? (int32_t)(wpi_thread_node_at(address, n) - first) : INACTIVE;
        if (is_active[n]) bits |= (uint32_t)p.at[n];
        p.hash = (p.hash ^ (uint32_t)p.at[n]) * 1099511628211u;
    }
    p.grain = bits & (0 - bits);
    t->work += t->threads;
    *out = (wpi_thread_touch){keep(t, p), is_empty ? 0 : first, is_empty ? 0 : last + size_bytes};
    return true;
}

typedef struct window { /* the offsets of a pattern in units of the table of places */
    const wpi_touch_pattern *pattern;
    int64_t shift;
    uint32_t grain;
} window;

static void touch(wpi_thread_touches *t, window w, uint32_t thread, uint16_t owner) {
    if (w.pattern->at[thread] == INACTIVE) return;
    wpi_touch_place *p = &t->places[(w.pattern->at[thread] + w.shift) / w.grain];
    for (uint32_t n = 0; n < w.pattern->size_bytes / w.grain; n++, p++)
        if (p->stamp != t->stamp)
            *p = (wpi_touch_place){t->stamp, owner};
        else if (p->owner != owner)
            p->owner = MANY;
}

static bool is_anothers(const wpi_thread_touches *t, window w, uint32_t thread, uint16_t owner) {
    if (w.pattern->at[thread] == INACTIVE) return false;
    const wpi_touch_place *p = &t->places[(w.pattern->at[thread] + w.shift) / w.grain];
    for (uint32_t n = 0; n < w.pattern->size_bytes / w.grain; n++, p++)
        if (p->stamp == t->stamp && p->owner != owner) return true;
    return false;
}

static bool find_clash(wpi_thread_touches *t, window a, window b, bool in_warp) {
    uint32_t group = in_warp ? WP_WARP_LANES : t->threads;
    for (uint32_t first = 0; first < t->threads; first += group) {
        uint32_t outer = first + group < t->threads ? first + group : t->threads;
        t->stamp++;
        t->work += outer - first;
        for (uint32_t n = first; n < outer; n++)
            touch(t, a, n, (uint16_t)(in_warp ? n : n / WP_WARP_LANES));
        for (uint32_t n = first; n < outer; n++)
            if (is_anothers(t, b, n, (uint16_t)(in_warp ? n : n / WP_WARP_LANES))) return true;
    }
    return false;
}

bool wpi_touches_clash(wpi_thread_touches *t, wpi_thread_touch a, wpi_thread_touch b,
                       bool in_warp) {
    if (a.first == a.outer || b.first == b.outer) return false;
    if (a.outer <= b.first || b.outer <= a.first) return false;
    int64_t distance = b.first - a.first; /* less than WP_TOUCH_BYTES_MAX, either way */
    uint64_t key = (((uint64_t)a.pattern << 16 | b.pattern) << 2 | (uint64_t)in_warp << 1 | 1)
                       << 20 |
                   (uint64_t)(distance + WP_TOUCH_BYTES_MAX);
    uint32_t known = wpi_map_index(&t->found, (const void *)(uintptr_t)key);
    if (known != UINT32_MAX) return known != 0;
    const wpi_touch_pattern *pa = &t->patterns[a.pattern], *pb = &t->patterns[b.pattern];
    uint32_t bits = pa->grain | pb->grain | (uint32_t)distance, grain = bits & (0 - bits);
    bool result = find_clash(t, (window){pa, distance < 0 ? -distance : 0, grain},
                             (window){pb, distance > 0 ? distance : 0, grain}, in_warp);
    wpi_map_set_index(&t->found, (const void *)(uintptr_t)key, result);
    return result;
}
