/* SPDX-License-Identifier: Apache-2.0 */
/** Random traffic through a memory system: each warp makes its next access when it has its answer.
 * What is accessed is the test's business. */
#ifndef SIM_TRAFFIC_H
#define SIM_TRAFFIC_H

#include "sim_paging_bench.h"
#include "sim_rig.h"

typedef struct traffic {
    rig rig;
    /* What is accessed next: the addresses, and what is not a load of 4 bytes by all lanes. */
    void (*choose)(struct traffic *t, wpi_access *access);
    uint64_t random, left; /* accesses to be made */
    wpi_time_ps pause_ps;  /* before a warp's next one */
    wpi_paging *paging;    /* after traffic_manage */
    uint64_t addresses[WPI_LANES];
} traffic;

static void traffic_go_on(void *object, uint64_t sm, const wpi_answer *answer);

static inline void traffic_issue(void *object, uint64_t sm, wpi_time_ps now) {
    traffic *t = object;
    if (t->left == 0) return;
    t->left--;
    wpi_access access = {.sm = (uint32_t)sm,
                         .kind = WP_TRACE_LOAD,
                         .cache = WP_TRACE_CACHE_ALL,
                         .size_bytes = 4,
                         .mask = ~0u,
                         .addresses = t->addresses};
    t->choose(t, &access);
    (void)wpi_memory_access(t->rig.memory, &access, now, traffic_go_on, t, sm);
}

static inline void traffic_go_on(void *object, uint64_t sm, const wpi_answer *answer) {
    traffic *t = object;
    rig_note(&t->rig, 0, answer);
    if (t->pause_ps == 0)
        traffic_issue(t, sm, answer->answered);
    else
        wpi_engine_at(t->rig.engine, answer->answered + t->pause_ps, traffic_issue, t, sm);
}

/** So many bytes from BENCH_FIRST on are managed memory. */
static inline void traffic_manage(traffic *t, uint64_t bytes) {
    wp_error err = {0};
    assert_status_ok(wpi_memory_manage(t->rig.memory, BENCH_FIRST, &err), &err);
    t->paging = wpi_memory_paging(t->rig.memory);
    assert_status_ok(wpi_paging_add(t->paging, BENCH_FIRST, bytes, &err), &err);
}

/** All accesses, by so many warps on 8 SMs. False: some have no answer. */
static inline bool traffic_run(traffic *t, uint32_t warps) {
    const uint64_t all = t->left;
    for (uint32_t warp = 0; warp < warps; warp++)
        traffic_issue(t, warp % 8, 0);
    wpi_engine_run(t->rig.engine);
    return t->rig.answers == all;
}

/** Nothing of managed memory is under way any more. */
static inline void traffic_check_quiet(const traffic *t) {
    const wpi_residency *r = wpi_paging_residency(t->paging);
    for (uint32_t i = 0; i < r->chunk_count; i++)
        assert_false(wpi_chunk_is_busy(&r->chunks[i]));
    assert_true(r->used <= r->frames);
}

#endif
