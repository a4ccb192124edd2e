/* SPDX-License-Identifier: Apache-2.0 */
/* Branches, calls, ends, barriers of the block. */
#include "ops.h"

/* ---- branches ---- */

static void bra(pm_warp *w, const pm_insn *in) {
    if (w->mask == w->group)
        pm_jump(w, (uint32_t)in->offset);
    else
        pm_split(w, (uint32_t)in->offset);
}

static void set_pcs(pm_warp *w, uint32_t lanes, uint32_t pc) {
    for (; lanes != 0; lanes &= lanes - 1)
        w->pcs[__builtin_ctz(lanes)] = pc;
}

static void brx(pm_warp *w, const pm_insn *in) {
    const uint64_t *index = pm_row(w, in->a);
    set_pcs(w, w->group & ~w->mask, w->pc);
    w->is_broken = true;
    PM_EACH_LANE(w, l) {
        if ((uint32_t)index[l] >= (uint32_t)in->aux) {
            pm_fault(w, in, l, PM_INVALID_PC, "target %u of %d", (unsigned)index[l], in->aux);
            return;
        }
        w->pcs[l] = in->u.targets[(uint32_t)index[l]];
    }
}

static void decode_brx(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count != 2 || s->operands[1].kind != PM_OPERAND_SYMBOL ||
        s->operands[1].symbol->kind != PM_SYMBOL_TARGETS)
        pm_bad_operand(p, s);
    in->a = pm_source(p, s, &s->operands[0], (pm_type){PM_UNSIGNED, 4});
    in->u.targets = s->operands[1].symbol->targets;
    in->aux = (int32_t)s->operands[1].symbol->target_count;
}

/* ---- calls ---- */

static void call(pm_warp *w, const pm_insn *in) {
    pm_call(w, in, in->u.call->function);
}

static const pm_function *callee_at(pm_warp *w, const pm_insn *in, unsigned lane, uint64_t target) {
    const pm_module *m = w->grid->module;
    const uint64_t number = target - PM_CODE_WINDOW;
    const pm_function *callee = number < m->function_count ? m->functions[number] : NULL;
    if (callee == NULL || callee->is_kernel) {
        pm_fault(w, in, lane, PM_INVALID_PC, "a call of %#llx, which is no function",
                 (unsigned long long)target);
        return NULL;
    }
    if (callee->param_count != in->u.call->arg_count) {
        pm_fault(w, in, lane, PM_INVALID_PC, "a call of %s with %u arguments", callee->name,
                 in->u.call->arg_count);
        return NULL;
    }
    return callee;
}

/* By register: lanes may go different ways, one callee after the other. */
static void call_indirect(pm_warp *w, const pm_insn *in) {
    uint64_t targets[PM_LANES]; /* rows move when the stack of frames grows */
    const uint32_t pc = w->pc;
    uint32_t left = w->mask;
    memcpy(targets, pm_row(w, in->a), sizeof targets);
    set_pcs(w, w->group, pc);
    while (left != 0 && w->grid->result == PM_OK) {
        const unsigned first = (unsigned)__builtin_ctz(left);
        const pm_function *callee = callee_at(w, in, first, targets[first]);
        if (callee == NULL) return;
        uint32_t same = 0;
        for (uint32_t rest = left; rest != 0; rest &= rest - 1)
            if (targets[__builtin_ctz(rest)] == targets[first]) same |= rest & (0 - rest);
        w->mask = w->group = same;
        w->pc = pc;
        left &= ~same;
        pm_call(w, in, callee);
    }
    w->is_broken = true;
}

static uint32_t place_of(pm_parser *p, const pm_statement *s, const pm_operand *o) {
    if (o->kind != PM_OPERAND_SYMBOL || o->symbol->kind != PM_SYMBOL_VARIABLE ||
        o->symbol->space != PM_LOCAL)
        pm_bad_operand(p, s);
    return (uint32_t)o->symbol->address;
}

/* call{.uni} {(result),} target {, (arguments)} {, prototype} */
static void decode_call(pm_parser *p, const pm_statement *s, pm_insn *in) {
    pm_call_site *site = pm_module_alloc(p->module, sizeof *site);
    unsigned next = 0;
    if (s->operand_count > 1 && s->operands[0].kind == PM_OPERAND_LIST) {
        if (s->operands[0].item_count != 1) pm_bad_operand(p, s);
        site->result_offset = place_of(p, s, &s->operands[next++].items[0]);
    }
    const pm_operand *target = &s->operands[next++];
    if (next < s->operand_count && s->operands[next].kind == PM_OPERAND_LIST) {
        const pm_operand *list = &s->operands[next++];
        for (unsigned i = 0; i < list->item_count; i++)
            site->arg_offsets[site->arg_count++] = place_of(p, s, &list->items[i]);
    }
    in->u.call = site;
    if (target->kind == PM_OPERAND_SYMBOL && target->symbol->kind == PM_SYMBOL_FUNCTION) {
        site->function = target->symbol->function;
        if (next != s->operand_count || site->function->param_count != site->arg_count ||
            site->function->is_kernel)
            pm_bad_operand(p, s);
    } else {
        if (next + 1 != s->operand_count || s->operands[next].kind != PM_OPERAND_SYMBOL)
            pm_bad_operand(p, s);
        in->run = call_indirect;
        in->a = pm_source(p, s, target, (pm_type){PM_UNSIGNED, 8});
    }
}

static void end_lanes(pm_warp *w, const pm_insn *in) {
    (void)in;
    pm_exit_lanes(w);
}

/* A kernel's ret is its exit. */
static void ret(pm_warp *w, const pm_insn *in) {
    const uint32_t all = w->mask;
    (void)in;
    set_pcs(w, w->group & ~all, w->pc);
    w->is_broken = true;
    uint32_t leaving = 0;
    PM_EACH_LANE(w, l) {
        pm_stack *stack = &w->stacks[l];
        if (stack->depth == 0) {
            leaving |= 1u << l;
            continue;
        }
        const pm_return *to = &stack->items[--stack->depth];
        const pm_function *callee = w->functions[l];
        const pm_call_site *site = w->grid->code[to->pc - 1].u.call;
        uint8_t *local = w->local + l * w->grid->local_bytes;
        if (callee->result_bytes != 0)
            memcpy(local + to->local_frame + site->result_offset,
                   local + w->local_frames[l] + callee->result_offset, callee->result_bytes);
        w->pcs[l] = to->pc;
        w->bases[l] = to->base;
        w->local_frames[l] = to->local_frame;
        w->functions[l] = to->function;
    }
    w->mask = w->group = leaving;
    if (leaving != 0) pm_exit_lanes(w);
}

static void trap(pm_warp *w, const pm_insn *in) {
    pm_fault(w, in, (unsigned)__builtin_ctz(w->mask), PM_TRAP, "trap");
}

/* Others first. */
static void nanosleep(pm_warp *w, const pm_insn *in) {
    (void)in;
    w->budget = 0;
    set_pcs(w, w->group, w->pc);
    w->is_broken = true;
}

/* ---- barriers ---- */

static void bar_sync(pm_warp *w, const pm_insn *in) {
    pm_barrier_arrive(w, in, true);
}
static void bar_arrive(pm_warp *w, const pm_insn *in) {
    pm_barrier_arrive(w, in, false);
}

/* bar.red.OP d, a{, b}, {!}c */
static void decode_red(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count < 3 || s->operand_count > 4) pm_bad_operand(p, s);
    const pm_type u32 = {PM_UNSIGNED, 4};
    pm_operand predicate = s->operands[s->operand_count - 1];
    in->d = pm_destination(p, s, &s->operands[0]);
    in->a = pm_source(p, s, &s->operands[1], u32);
    if (s->operand_count == 4) in->b = pm_source(p, s, &s->operands[2], u32);
    in->is_negated = predicate.is_negated;
    predicate.is_negated = false;
    in->c = pm_source(p, s, &predicate, (pm_type){PM_PRED, 1});
}

#define BARRIER(name)                                                                              \
    {name ".sync", NULL, "s?s", PM_MAY_UNI, bar_sync, 0, NULL},                                    \
        {name ".arrive", NULL, "ss", PM_MAY_UNI, bar_arrive, 0, NULL},                             \
        {name ".red.popc.u32", NULL, NULL, PM_MAY_UNI, bar_sync, PM_RED_POPC, decode_red},         \
        {name ".red.and.pred", NULL, NULL, PM_MAY_UNI, bar_sync, PM_RED_AND, decode_red}, {        \
        name ".red.or.pred", NULL, NULL, PM_MAY_UNI, bar_sync, PM_RED_OR, decode_red               \
    }

const pm_op pm_control_ops[] = {
    {"bra", NULL, "l", PM_MAY_UNI, bra, 0, NULL},
    {"brx.idx", NULL, NULL, PM_MAY_UNI, brx, 0, decode_brx},
    {"call", NULL, NULL, PM_MAY_UNI, call, 0, decode_call},
    {"ret", NULL, "", PM_MAY_UNI, ret, 0, NULL},
    {"exit", NULL, "", 0, end_lanes, 0, NULL},
    {"trap", NULL, "", 0, trap, 0, NULL},
    {"brkpt", NULL, "", 0, trap, 0, NULL},
    {"nanosleep.u32", NULL, "s", 0, nanosleep, 0, NULL},
    BARRIER("bar"),
    BARRIER("barrier"),
    {0},
};
