/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A warp: which lanes run next, and for how long.
 *
 * Lanes at the same place are a group and run together. Of several groups the one that is deepest
 * in calls, then the one whose place comes first in the code runs, until it reaches the place of
 * another: so that they meet again where branches join. A group that has jumped back often enough
 * gives way: first to other warps, and when that has not helped, to the lanes that have waited
 * longest; so no lane can keep another from going on.
 */
#include "machine.h"

#include <stdarg.h>

enum { SLICE_JUMPS = 256, PATIENCE = 1 };

/* ---- ends ---- */

void pm_fault(pm_warp *w, const pm_insn *in, unsigned lane, pm_result result, const char *format,
              ...) {
    pm_grid *g = w->grid;
    w->is_broken = true;
    if (g->result != PM_OK) return;
    g->result = result;
    char what[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (g->report == NULL) return;
    const unsigned thread = w->number * PM_LANES + lane;
    const unsigned x = g->launch->block[0], y = g->launch->block[1];
    (void)snprintf(g->report, g->report_bytes,
                   "%s, block (%u, %u, %u), thread (%u, %u, %u): %s\n"
                   "    line %u: %.200s",
                   g->function->name, w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2],
                   thread % x, thread / x % y, thread / x / y, what, in->line, in->text);
}

/* ---- groups ---- */

static int choose_lane(const pm_warp *w) {
    if (w->leader >= 0 && (w->ready >> w->leader & 1) != 0) return w->leader;
    int best = -1;
    for (uint32_t left = w->ready; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        if (best < 0 || w->bases[l] > w->bases[best] ||
            (w->bases[l] == w->bases[best] && w->pcs[l] < w->pcs[best]))
            best = l;
    }
    return best;
}

static int longest_waiting(const pm_warp *w) {
    int best = -1;
    for (uint32_t left = w->ready; left != 0; left &= left - 1) {
        const int l = __builtin_ctz(left);
        if (best < 0 || w->ran_at[l] < w->ran_at[best]) best = l;
    }
    return best;
}

static void form_group(pm_warp *w) {
    const int first = choose_lane(w);
    const uint32_t pc = w->pcs[first], base = w->bases[first];
    uint32_t group = 0, stop = PM_PC_NONE;
    w->tick++;
    for (uint32_t left = w->ready; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        if (w->bases[l] != base) continue;
        if (w->pcs[l] == pc) {
            group |= 1u << l;
            w->ran_at[l] = w->tick;
        } else if (w->pcs[l] > pc && w->pcs[l] < stop) {
            stop = w->pcs[l];
        }
    }
    w->group = group;
    w->pc = pc;
    w->stop = stop;
    w->frame = w->rows + (size_t)base * PM_LANES;
    w->is_broken = false;
}

static void leave(pm_warp *w) {
    for (uint32_t left = w->group; left != 0; left &= left - 1)
        w->pcs[__builtin_ctz(left)] = w->pc;
    w->is_broken = true;
}

static void run_group(pm_warp *w) {
    const pm_insn *code = w->grid->code;
    uint64_t executed = 0;
    while (!w->is_broken) {
        if (w->pc >= w->stop) {
            leave(w);
            break;
        }
        const pm_insn *in = &code[w->pc++];
        uint32_t mask = w->group;
        if (in->guard >= 0) {
            const uint32_t bits = (uint32_t)*pm_row(w, in->guard);
            mask &= in->is_guard_negated ? ~bits : bits;
            if (mask == 0) continue;
        }
        w->mask = mask;
        executed += (unsigned)__builtin_popcount(mask);
        in->run(w, in);
    }
    w->grid->lane_instructions += executed;
}

bool pm_warp_run(pm_warp *w) {
    if (w->ready == 0) return false;
    w->budget = SLICE_JUMPS;
    w->leader = -1;
    if (w->patience >= PATIENCE) {
        w->leader = longest_waiting(w);
        w->patience = 0;
    }
    while (w->ready != 0 && w->budget > 0 && w->grid->result == PM_OK) {
        form_group(w);
        run_group(w);
    }
    if (w->budget <= 0) w->patience++;
    return true;
}

/* ---- control ---- */

void pm_jump(pm_warp *w, uint32_t pc) {
    const bool is_back = pc < w->pc;
    w->pc = pc;
    if (is_back && --w->budget <= 0) leave(w);
}

void pm_split(pm_warp *w, uint32_t pc) {
    if (pc < w->pc) w->budget--;
    leave(w);
    for (uint32_t left = w->mask; left != 0; left &= left - 1)
        w->pcs[__builtin_ctz(left)] = pc;
}

void pm_park(pm_warp *w) {
    leave(w);
    w->ready &= ~w->mask;
}

void pm_exit_lanes(pm_warp *w) {
    pm_park(w);
    w->block->live_threads -= (uint32_t)__builtin_popcount(w->mask);
    pm_sync_exited(w);
    pm_barrier_exited(w->block);
}

/* ---- calls ---- */

static void reserve_rows(pm_warp *w, size_t count) {
    if (count <= w->row_capacity) return;
    const size_t capacity = count + count / 2;
    uint64_t *grown = realloc(w->rows, capacity * PM_LANES * sizeof *grown);
    if (grown == NULL) abort();
    for (size_t i = w->row_capacity * PM_LANES; i < capacity * PM_LANES; i++)
        grown[i] = 0xdeadbeefdeadbeefu; /* registers begin with anything */
    w->rows = grown;
    w->row_capacity = capacity;
}

static void push(pm_stack *s, pm_return item) {
    if (s->depth == s->capacity) {
        s->capacity = s->capacity != 0 ? 2 * s->capacity : 8;
        s->items = realloc(s->items, s->capacity * sizeof *s->items);
        if (s->items == NULL) abort();
    }
    s->items[s->depth++] = item;
}

static bool enter(pm_warp *w, const pm_insn *in, unsigned lane, const pm_function *callee) {
    const pm_function *caller = w->functions[lane];
    const pm_call_site *site = in->u.call;
    const uint32_t from = w->local_frames[lane];
    const uint32_t to = from + (caller->local_bytes + 15) / 16 * 16;
    if (to + callee->local_bytes > w->grid->local_bytes) {
        pm_fault(w, in, lane, PM_ILLEGAL_ADDRESS, "the stack is too small for this call");
        return false;
    }
    uint8_t *local = w->local + lane * w->grid->local_bytes;
    for (uint32_t i = 0; i < callee->param_count; i++)
        memcpy(local + to + callee->param_offsets[i], local + from + site->arg_offsets[i],
               callee->param_sizes[i]);
    push(&w->stacks[lane], (pm_return){w->pc, w->bases[lane], from, caller});
    w->bases[lane] += caller->row_count;
    w->local_frames[lane] = to;
    w->functions[lane] = callee;
    w->pcs[lane] = callee->entry;
    reserve_rows(w, (size_t)w->bases[lane] + callee->row_count);
    return true;
}

void pm_call(pm_warp *w, const pm_insn *in, const pm_function *callee) {
    if (callee->native != NULL) {
        callee->native(w, in);
        return;
    }
    leave(w);
    PM_EACH_LANE(w, l) {
        if (!enter(w, in, l, callee)) return;
    }
}

/* ---- *.sync ---- */

static bool is_same_operation(const pm_insn *a, const pm_insn *b) {
    return a->run == b->run && a->aux == b->aux && a->type.kind == b->type.kind &&
           a->type.bytes == b->type.bytes;
}

/* The lanes that `lane` waits for, itself among them, if all of them are there; else 0. */
static uint32_t complete_set(const pm_warp *w, uint32_t there, unsigned lane) {
    const uint32_t wanted =
        w->members_of[lane] & (w->ready | w->at_barrier | w->at_sync); /* who has not exited */
    if ((wanted & ~there) != 0) return 0;
    for (uint32_t left = wanted; left != 0; left &= left - 1) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        if (w->members_of[l] != w->members_of[lane] ||
            !is_same_operation(w->insn_of[l], w->insn_of[lane]))
            return 0;
    }
    return wanted;
}

/* Completes what can be completed among `there`; who is left. */
static uint32_t complete_all(pm_warp *w, uint32_t there) {
    uint32_t waiting = there;
    for (uint32_t left = there; left != 0;) {
        const unsigned l = (unsigned)__builtin_ctz(left);
        const uint32_t set = complete_set(w, there, l);
        if (set != 0) {
            w->complete_of[l](w, set);
            waiting &= ~set;
            there &= ~set;
        }
        left &= ~(set | 1u << l);
    }
    return waiting;
}

void pm_sync(pm_warp *w, const pm_insn *in, pm_complete complete) {
    const uint64_t *members = pm_row(w, in->e);
    PM_EACH_LANE(w, l) {
        w->insn_of[l] = in;
        w->complete_of[l] = complete;
        w->members_of[l] = (uint32_t)members[l];
        if ((members[l] >> l & 1) == 0) {
            pm_fault(w, in, l, PM_ILLEGAL_INSTRUCTION, "lane %u is not in its own mask %#x", l,
                     w->members_of[l]);
            return;
        }
    }
    const uint32_t waited = w->at_sync;
    const uint32_t waiting = complete_all(w, waited | w->mask);
    if (waiting == waited) return; /* the group goes on as it is */
    leave(w);
    w->ready = (w->ready | waited) & ~waiting;
    w->at_sync = waiting;
}

/* Lanes that have exited are not waited for. */
void pm_sync_exited(pm_warp *w) {
    if (w->at_sync == 0) return;
    const uint32_t waited = w->at_sync;
    w->at_sync = complete_all(w, waited);
    w->ready |= waited & ~w->at_sync;
}
