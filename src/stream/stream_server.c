/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_server.h"

static bool waits(const wpi_stream_side *side) {
    return side->awaited != NULL &&
           __atomic_load_n(side->awaited, __ATOMIC_ACQUIRE) == side->awaited_value;
}

static wp_actor_answer watch_all(wp_actor *actor, const wpi_stream_server *s) {
    wp_actor_answer answer = WP_ACTOR_ENDS;
    for (uint32_t i = 0; i < s->count; i++) {
        if (s->sides[i]->has_ended) continue;
        wp_actor_watch(actor, s->sides[i]->awaited, s->sides[i]->awaited_value);
        answer = WP_ACTOR_GOES_ON;
    }
    return answer;
}

/* One that did not only wait has declared work or queued copies: the step ends. It goes on with the
 * same one until its chunk is done or it waits. */
wp_actor_answer wpi_stream_server_step(wp_actor *actor, void *object) {
    wpi_stream_server *s = object;
    for (uint32_t i = 0; i < s->count; i++) {
        const uint32_t at = (s->at + i) % s->count;
        wpi_stream_side *side = s->sides[at];
        if (side->has_ended || waits(side)) continue;
        const uint32_t chunk = side->chunk;
        side->awaited = NULL;
        side->has_ended = side->step(actor, side) == WP_ACTOR_ENDS;
        if (side->has_ended || side->awaited != NULL) continue;
        s->at = side->chunk == chunk ? at : (at + 1) % s->count;
        return WP_ACTOR_GOES_ON;
    }
    return watch_all(actor, s);
}
