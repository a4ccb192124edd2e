/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers of a block. Threads are counted one by one, as GPUs since sm_70 do. */
#include "machine.h"

/* A barrier that names a number counts whole warps: lanes that never were, or have exited, too. */
static uint32_t count_arrived(const pm_block *b, const pm_barrier *barrier) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        const pm_warp *w = &b->warps[i];
        const uint32_t arrived = barrier->arrived[i];
        const uint32_t live = w->ready | w->at_barrier | w->at_sync;
        const bool is_whole = barrier->expected != 0 && arrived != 0 && (live & ~arrived) == 0;
        total += is_whole ? PM_LANES : (uint32_t)__builtin_popcount(arrived);
    }
    return total;
}

static void deliver(pm_warp *w, unsigned lane, const pm_barrier *barrier, uint32_t total) {
    const pm_insn *in = w->insn_of[lane];
    if (in->aux == PM_RED_NONE) return;
    uint64_t *d = pm_lane_row(w, lane, in->d);
    const bool is_true = in->aux == PM_RED_AND ? barrier->popc == total : barrier->popc != 0;
    if (in->aux == PM_RED_POPC)
        d[lane] = barrier->popc;
    else
        *d = (*d & ~((uint64_t)1 << lane)) | (uint64_t)is_true << lane;
}

static void release(pm_block *b, pm_barrier *barrier) {
    const uint32_t number = (uint32_t)(barrier - b->barriers);
    uint32_t total = 0;
    for (uint32_t i = 0; i < b->warp_count; i++)
        total += (uint32_t)__builtin_popcount(barrier->arrived[i]);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        pm_warp *w = &b->warps[i];
        for (uint32_t left = w->at_barrier & barrier->arrived[i]; left != 0; left &= left - 1) {
            const unsigned l = (unsigned)__builtin_ctz(left);
            if (w->barrier_of[l] != number) continue;
            deliver(w, l, barrier, total);
            w->at_barrier &= ~(1u << l);
            w->ready |= 1u << l;
        }
        barrier->arrived[i] = 0;
    }
    *barrier = (pm_barrier){.arrived = barrier->arrived};
}

static void release_if_complete(pm_block *b, pm_barrier *barrier) {
    if (!barrier->is_open) return;
    const uint32_t needed = barrier->expected != 0 ? barrier->expected : b->live_threads;
    if (count_arrived(b, barrier) >= needed) release(b, barrier);
}

void pm_barrier_exited(pm_block *b) {
    for (uint32_t i = 0; i < PM_BARRIERS; i++)
        release_if_complete(b, &b->barriers[i]);
}

static pm_barrier *open_barrier(pm_warp *w, const pm_insn *in, unsigned lane) {
    const uint64_t number = (uint32_t)pm_row(w, in->a)[lane];
    const uint32_t threads = in->b != PM_NONE ? (uint32_t)pm_row(w, in->b)[lane] : 0;
    if (number >= PM_BARRIERS) {
        pm_fault(w, in, lane, PM_ILLEGAL_INSTRUCTION, "there is no barrier %u", (unsigned)number);
        return NULL;
    }
    if (in->b != PM_NONE && (threads == 0 || threads % PM_LANES != 0)) {
        pm_fault(w, in, lane, PM_ILLEGAL_INSTRUCTION, "a barrier of %u threads", threads);
        return NULL;
    }
    pm_barrier *barrier = &w->block->barriers[number];
    if (barrier->is_open && barrier->expected != threads) {
        pm_fault(w, in, lane, PM_ILLEGAL_INSTRUCTION, "barrier %u is one of %u threads, now %u",
                 (unsigned)number, barrier->expected, threads);
        return NULL;
    }
    barrier->is_open = true;
    barrier->expected = threads;
    return barrier;
}

void pm_barrier_arrive(pm_warp *w, const pm_insn *in, bool waits) {
    const uint32_t predicates =
        in->aux != PM_RED_NONE ? (uint32_t)*pm_row(w, in->c) ^ (in->is_negated ? PM_FULL : 0) : 0;
    const uint64_t *numbers = pm_row(w, in->a);
    uint32_t touched = 0;
    PM_EACH_LANE(w, l) {
        pm_barrier *barrier = open_barrier(w, in, l);
        if (barrier == NULL) return;
        barrier->arrived[w->number] |= 1u << l;
        barrier->popc += predicates >> l & 1;
        w->barrier_of[l] = (uint32_t)numbers[l];
        w->insn_of[l] = in;
        touched |= 1u << numbers[l];
    }
    if (waits) {
        pm_park(w);
        w->at_barrier |= w->mask;
    }
    for (; touched != 0; touched &= touched - 1)
        release_if_complete(w->block, &w->block->barriers[__builtin_ctz(touched)]);
}
