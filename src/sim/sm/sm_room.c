/* SPDX-License-Identifier: Apache-2.0 */
/* How many CTAs an SM has room for, and how its memory is divided between L1 and shared memory. */
#include "sim/sm/sm.h"
#include "sim/sm/sm_parts.h"

/* Registers are allocated to warps in whole units, and each scheduler has a share of them for its
 * own warps, as in NVIDIA's occupancy calculation. */
static uint64_t registers_of_warp(const wpi_profile *profile, const wpi_warp_source *source) {
    const uint64_t unit = profile->register_granule;
    return (source->registers_per_thread * WPI_LANES + unit - 1) / unit * unit;
}

static uint64_t registers_of(const wpi_profile *profile, const wpi_warp_source *source) {
    return registers_of_warp(profile, source) * source->warps_per_cta;
}

/* The SM's registers that warps of this kernel can use: the rest of each share is too small for
 * another warp. */
static uint64_t usable_registers(const wpi_profile *profile, const wpi_warp_source *source) {
    const uint64_t warp = registers_of_warp(profile, source);
    if (warp == 0) return profile->registers;
    return profile->registers / profile->schedulers / warp * warp * profile->schedulers;
}

static uint64_t shared_of(const wpi_profile *profile, const wpi_warp_source *source) {
    const uint64_t unit = profile->shared_granule_bytes;
    return (source->shared_bytes_per_cta + profile->shared_reserved_bytes + unit - 1) / unit * unit;
}

/* ---- what L1 and shared memory have of an SM ---- */

static uint64_t fewest(uint64_t room, uint64_t left, uint64_t each) {
    return each != 0 && left / each < room ? left / each : room;
}

/* CTAs on an empty SM, if there is shared memory enough. */
static uint64_t most_ctas(const wpi_profile *p, const wpi_warp_source *source) {
    uint64_t room = fewest(p->ctas, p->warps, source->warps_per_cta);
    room = fewest(room, p->threads, source->threads_per_cta);
    return fewest(room, usable_registers(p, source), registers_of(p, source));
}

/* With sizes to choose from: the least that has room for as many CTAs as fit otherwise, or for the
 * share that the program asks for; one CTA must fit. */
static uint64_t choose_shared(const wpi_profile *p, const wpi_warp_source *source) {
    const uint64_t one = shared_of(p, source);
    uint64_t wanted = most_ctas(p, source) * one;
    if (source->shared_carveout != 0)
        wanted = p->shared_bytes * (source->shared_carveout - 1u) / 100;
    if (wanted < one) wanted = one;
    for (uint32_t i = 0; i < p->carveout_count; i++)
        if (p->carveouts[i] >= wanted) return p->carveouts[i];
    return p->shared_bytes;
}

void wpi_sm_share_l1(const wpi_profile *p, wpi_warp_source *source) {
    source->shared_bytes_per_sm = p->shared_bytes;
    if (p->carveout_count != 0) {
        source->shared_bytes_per_sm = choose_shared(p, source);
    } else if (source->prefers_l1) {
        const uint64_t more = p->l1.preferred_bytes - p->l1.bytes;
        source->prefers_l1 =
            p->l1.preferred_bytes != 0 && shared_of(p, source) <= p->shared_bytes - more;
        if (source->prefers_l1) source->shared_bytes_per_sm -= more;
    }
    source->l1_bytes = p->l1.bytes + p->shared_bytes - source->shared_bytes_per_sm;
}

/* ---- room ---- */

bool wpi_sm_can_ever_hold(const wpi_profile *profile, const wpi_warp_source *source,
                          const char **what) {
    *what = NULL;
    if (source->threads_per_cta > profile->threads || source->warps_per_cta > profile->warps)
        *what = "threads";
    if (shared_of(profile, source) > profile->shared_bytes) *what = "bytes of shared memory";
    if (registers_of(profile, source) > usable_registers(profile, source)) *what = "registers";
    return *what == NULL;
}

bool wpi_sm_has_room(const wpi_sm *sm, const wpi_warp_source *source) {
    const wpi_profile *p = sm->profile;
    return sm->ctas_used < p->ctas && sm->warps_used + source->warps_per_cta <= p->warps &&
           sm->threads_used + source->threads_per_cta <= p->threads &&
           sm->shared_bytes_used + shared_of(p, source) <= source->shared_bytes_per_sm &&
           sm->registers_used + registers_of(p, source) <= usable_registers(p, source);
}

uint32_t wpi_sm_room(const wpi_sm *sm, const wpi_warp_source *source) {
    const wpi_profile *p = sm->profile;
    uint64_t room = p->ctas - sm->ctas_used;
    room = fewest(room, p->warps - sm->warps_used, source->warps_per_cta);
    room = fewest(room, p->threads - sm->threads_used, source->threads_per_cta);
    if (source->shared_bytes_per_sm < sm->shared_bytes_used) return 0; /* of a launch beside it */
    room = fewest(room, source->shared_bytes_per_sm - sm->shared_bytes_used, shared_of(p, source));
    const uint64_t registers = usable_registers(p, source);
    if (registers < sm->registers_used) return 0;
    return (uint32_t)fewest(room, registers - sm->registers_used, registers_of(p, source));
}

uint32_t wpi_sm_room_when_empty(const wpi_profile *profile, const wpi_warp_source *source) {
    const wpi_sm empty = {.profile = profile};
    return wpi_sm_room(&empty, source);
}

void wpi_sm_take_room(wpi_sm *sm, const wpi_warp_source *source) {
    sm->ctas_used++;
    sm->warps_used += source->warps_per_cta;
    sm->threads_used += source->threads_per_cta;
    sm->shared_bytes_used += shared_of(sm->profile, source);
    sm->registers_used += registers_of(sm->profile, source);
}

void wpi_sm_give_room(wpi_sm *sm, const wpi_warp_source *source) {
    sm->ctas_used--;
    sm->warps_used -= source->warps_per_cta;
    sm->threads_used -= source->threads_per_cta;
    sm->shared_bytes_used -= shared_of(sm->profile, source);
    sm->registers_used -= registers_of(sm->profile, source);
}

uint64_t wpi_sm_state_bytes(const wpi_profile *profile, const wpi_warp_source *source) {
    enum { REGISTER_BYTES = 4 };
    return registers_of(profile, source) * REGISTER_BYTES + shared_of(profile, source);
}
