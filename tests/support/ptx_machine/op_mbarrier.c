/* SPDX-License-Identifier: Apache-2.0 */
/**
 * mbarrier by the PTX manual. The object is opaque: here four numbers of 16 bits, so counts are
 * below 65536, and bytes, which are multiples of 16 wherever hardware copies them, below 512 KiB.
 */
#include "ops.h"

typedef struct barrier {
    uint16_t phases, pending, expected;
    int16_t units; /* of 16 bytes, awaited */
} barrier;

enum { ARRIVE, ARRIVE_EXPECT, DROP, EXPECT, COMPLETE };

static barrier *object(pm_warp *w, const pm_insn *in, unsigned l) {
    const pm_space space = in->space == PM_GENERIC ? PM_GENERIC : PM_SHARED;
    return pm_memory(w, in, l, space, pm_row(w, in->a)[l] + (uint64_t)in->offset, 8);
}

static void end_phase(barrier *b) {
    if (b->pending != 0 || b->units != 0) return;
    b->phases++;
    b->pending = b->expected;
}

static void init(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        barrier *b = object(w, in, l);
        if (b == NULL) return;
        const uint16_t count = (uint16_t)pm_row(w, in->b)[l];
        *b = (barrier){.pending = count, .expected = count};
    }
}

static void inval(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        barrier *b = object(w, in, l);
        if (b == NULL) return;
        memset(b, 0xa5, sizeof *b);
    }
}

static void arrive(pm_warp *w, const pm_insn *in) {
    w->budget -= PM_SPIN_COST;
    PM_EACH_LANE(w, l) {
        barrier *b = object(w, in, l);
        if (b == NULL) return;
        uint64_t state;
        memcpy(&state, b, sizeof state);
        const uint32_t number = in->b != PM_NONE ? (uint32_t)pm_row(w, in->b)[l] : 1;
        const bool is_arrival = in->aux <= DROP;
        const uint16_t count = !is_arrival ? 0 : in->aux == ARRIVE_EXPECT ? 1 : (uint16_t)number;
        if (in->aux == ARRIVE_EXPECT || in->aux == EXPECT)
            b->units = (int16_t)(b->units + (int)number / 16);
        if (in->aux == COMPLETE) b->units = (int16_t)(b->units - (int)number / 16);
        if (in->aux == DROP) b->expected = (uint16_t)(b->expected - count);
        b->pending = (uint16_t)(b->pending - count);
        end_phase(b);
        if (in->d != PM_NONE) pm_row(w, in->d)[l] = state;
    }
}

static void test_wait(pm_warp *w, const pm_insn *in) {
    w->budget -= PM_SPIN_COST;
    uint32_t done = 0;
    PM_EACH_LANE(w, l) {
        const barrier *b = object(w, in, l);
        if (b == NULL) return;
        const uint64_t operand = pm_row(w, in->b)[l];
        barrier then;
        memcpy(&then, &operand, sizeof then);
        const bool is_done =
            in->aux != 0 ? (b->phases & 1) != (operand & 1) : b->phases != then.phases;
        done |= (uint32_t)is_done << l;
    }
    uint64_t *d = pm_row(w, in->d);
    *d = (*d & ~(uint64_t)w->mask) | done;
}

static void pending_count(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        barrier b;
        memcpy(&b, &pm_row(w, in->b)[l], sizeof b);
        pm_row(w, in->d)[l] = b.pending;
    }
}

static void copy_arrive(pm_warp *w, const pm_insn *in) { /* copies are complete at once */
    if (in->aux != 0)
        arrive(
            w,
            &(const pm_insn){
                .a = in->a, .b = PM_NONE, .d = PM_NONE, .offset = in->offset, .space = in->space});
}

/* {d,} [a]{, b} */
static void decode(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const pm_type number = {PM_UNSIGNED, 8};
    unsigned at = 0;
    in->d = PM_NONE;
    if (s->operand_count == 0) pm_bad_operand(p, s);
    if (s->operands[0].kind != PM_OPERAND_ADDRESS) in->d = pm_destination(p, s, &s->operands[at++]);
    if (in->run == pending_count) {
        if (s->operand_count != 2) pm_bad_operand(p, s);
        in->b = pm_source(p, s, &s->operands[1], number);
        return;
    }
    if (at == s->operand_count) pm_bad_operand(p, s);
    pm_take_address(p, s, &s->operands[at++], in);
    if (at < s->operand_count) in->b = pm_source(p, s, &s->operands[at++], number);
    if (in->run == test_wait && in->d == PM_NONE) pm_bad_operand(p, s);
}

#define ROW(name, run, aux) {"mbarrier." name ".b64", NULL, NULL, PM_MAY_ACCESS, run, aux, decode}
const pm_op pm_mbarrier_ops[] = {
    ROW("init", init, 0),
    ROW("inval", inval, 0),
    ROW("arrive", arrive, ARRIVE),
    ROW("arrive.noComplete", arrive, ARRIVE),
    ROW("arrive.expect_tx", arrive, ARRIVE_EXPECT),
    ROW("arrive_drop", arrive, DROP),
    ROW("expect_tx", arrive, EXPECT),
    ROW("complete_tx", arrive, COMPLETE),
    ROW("test_wait", test_wait, 0),
    ROW("test_wait.parity", test_wait, 1),
    ROW("try_wait", test_wait, 0),
    ROW("try_wait.parity", test_wait, 1),
    ROW("pending_count", pending_count, 0),
    {"cp.async.mbarrier.arrive.b64", NULL, NULL, PM_MAY_ACCESS, copy_arrive, 0, decode},
    {"cp.async.mbarrier.arrive.noinc.b64", NULL, NULL, PM_MAY_ACCESS, copy_arrive, 1, decode},
    {0},
};
