/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the turn that begins a loop, or a line, may be taken as cache_run.c describes: computed
 * in the header of the loop. */
#include "base/must.h"
#include "compiler/rewrite/cache_run.h"

/* A loop of fewer lines is rather cached: turns before the first line and after the last are not in
 * straight code. */
enum { LINES_LEAST = 4 };

static LLVMValueRef both(const wpi_run_survey *s, LLVMValueRef a, LLVMValueRef b) {
    return a == NULL ? b : LLVMBuildAnd(s->k->c->builder, a, b, "");
}

static LLVMValueRef as_number(const wpi_run_survey *s, LLVMValueRef value) {
    LLVMBuilderRef at = s->k->c->builder;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) return value;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(value)) != 0)
        value = LLVMBuildAddrSpaceCast(at, value, s->k->c->ptr, "");
    return LLVMBuildPtrToInt(at, value, s->k->c->i64, "");
}

/* No counted exit is taken in so many turns. */
static LLVMValueRef stays_for(const wpi_run_survey *s, uint32_t turns) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef all = NULL;
    for (uint32_t e = 0; e < s->exit_count; e++) {
        const wpi_run_exit *x = &s->exits[e];
        LLVMValueRef moving = as_number(s, wpi_run_at_header(s, x->moving));
        LLVMValueRef bound = as_number(s, x->bound);
        const bool is_up = x->step > 0, or_equal = x->stays != LLVMIntNE &&
                                                   LLVMIntUGT != x->stays &&
                                                   LLVMIntULT != x->stays &&
                                                   LLVMIntSGT != x->stays && LLVMIntSLT != x->stays;
        LLVMValueRef left =
            is_up ? LLVMBuildSub(at, bound, moving, "") : LLVMBuildSub(at, moving, bound, "");
        const uint64_t way = (uint64_t)(turns - 1) * (uint64_t)(is_up ? x->step : -x->step);
        const unsigned width = LLVMGetIntTypeWidth(LLVMTypeOf(left));
        const bool fits = width >= 64 || way < UINT64_C(1) << width;
        LLVMValueRef most = LLVMConstInt(LLVMTypeOf(left), way, 0);
        all = both(s, all, LLVMBuildICmp(at, x->stays, moving, bound, ""));
        all = both(s, all,
                   fits ? LLVMBuildICmp(at, or_equal ? LLVMIntUGE : LLVMIntUGT, left, most, "")
                        : LLVMConstNull(s->k->c->i1));
    }
    return all;
}

static LLVMValueRef number_limit(const wpi_run_widened *w, uint64_t way) {
    LLVMTypeRef type = LLVMTypeOf(w->number);
    const unsigned width = LLVMGetIntTypeWidth(type);
    const uint64_t all = UINT64_MAX >> (64 - width), sign = UINT64_C(1) << (width - 1);
    if (w->step > 0) return LLVMConstInt(type, (w->is_signed ? sign - 1 : all) - way, 0);
    return LLVMConstInt(type, ((w->is_signed ? sign : 0) + way) & all, 0);
}

/* Nothing wraps around in so many turns that would change a step. */
static LLVMValueRef wraps_not(const wpi_run_survey *s, uint32_t turns) {
    LLVMValueRef all = NULL;
    for (uint32_t n = 0; n < s->widened_count; n++) {
        const wpi_run_widened *w = &s->widened[n];
        const bool is_up = w->step > 0;
        const uint64_t way = (uint64_t)(turns - 1) * (uint64_t)(is_up ? w->step : -w->step);
        if (way >> 30 != 0) return LLVMConstNull(s->k->c->i1);
        const LLVMIntPredicate in = is_up ? w->is_signed ? LLVMIntSLE : LLVMIntULE
                                          : (w->is_signed ? LLVMIntSGE : LLVMIntUGE);
        all = both(s, all,
                   LLVMBuildICmp(s->k->c->builder, in, wpi_run_at_header(s, w->number),
                                 number_limit(w, way), ""));
    }
    return all;
}

static LLVMValueRef not_below(const wpi_run_survey *s, LLVMValueRef a, LLVMValueRef b,
                              uint64_t bytes) {
    LLVMBuilderRef at = s->k->c->builder;
    return LLVMBuildICmp(at, LLVMIntUGE, LLVMBuildSub(at, a, b, ""), wpi_const64(s->k->c, bytes),
                         "");
}

/* Whether a turn reads each byte before it writes it, where two runs are the same memory. */
static bool reads_first(const wpi_run_survey *s, const wpi_run *read, const wpi_run *write) {
    for (uint32_t a = 0; a < read->count; a++)
        for (uint32_t b = 0; b < write->count; b++) {
            const wpi_run_member *from = &s->members[read->members[a]],
                                 *to = &s->members[write->members[b]];
            if (from->note.offset < to->note.offset + to->bytes &&
                to->note.offset < from->note.offset + from->bytes &&
                !wpi_run_is_before(s, from->access, to->access))
                return false;
        }
    return true;
}

/* In N turns, two runs do not meet; or they are the same, and each byte is read before it is
 * written. */
static LLVMValueRef are_apart(const wpi_run_survey *s, const wpi_run *a, const wpi_run *b) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef apart = both(s, not_below(s, a->address, b->address, s->turns * b->step_bytes),
                              not_below(s, b->address, a->address, s->turns * a->step_bytes));
    const wpi_run *write = a->is_write ? a : b, *read = a->is_write ? b : a;
    if (read->is_write || read->step_bytes != write->step_bytes || !reads_first(s, read, write))
        return apart;
    return LLVMBuildOr(at, apart, LLVMBuildICmp(at, LLVMIntEQ, a->address, b->address, ""), "");
}

static const wpi_cache_note *note_of(const wpi_run_survey *s, const wpi_run *r) {
    return &s->members[r->members[0]].note;
}

static LLVMValueRef all_apart(const wpi_run_survey *s) {
    LLVMValueRef all = NULL;
    for (uint32_t a = 0; a < s->run_count; a++)
        for (uint32_t b = a + 1; b < s->run_count; b++)
            if ((s->runs[a].is_write || s->runs[b].is_write) &&
                wpi_run_may_meet(note_of(s, &s->runs[a]), note_of(s, &s->runs[b])))
                all = both(s, all, are_apart(s, &s->runs[a], &s->runs[b]));
    return all;
}

static LLVMValueRef is_at_line(const wpi_run_survey *s, LLVMValueRef address) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef in = LLVMBuildAnd(at, address, wpi_const64(s->k->c, WPI_RUN_LINE_BYTES - 1), "");
    return LLVMBuildICmp(at, LLVMIntEQ, in, wpi_const64(s->k->c, 0), "");
}

static LLVMValueRef are_at_lines(const wpi_run_survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef any = s->runs[0].address;
    for (uint32_t r = 1; r < s->run_count; r++)
        any = LLVMBuildOr(at, any, s->runs[r].address, "");
    return is_at_line(s, any);
}

/* All runs will be at the beginning of a line in the same turn: the first one of the shortest
 * steps. */
static LLVMValueRef will_be_at_lines(const wpi_run_survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    const wpi_run *first = &s->runs[0];
    for (uint32_t r = 1; r < s->run_count; r++)
        if (s->runs[r].step_bytes < first->step_bytes) first = &s->runs[r];
    LLVMValueRef left = LLVMBuildAnd(at, LLVMBuildNeg(at, first->address, ""),
                                     wpi_const64(s->k->c, WPI_RUN_LINE_BYTES - 1), "");
    LLVMValueRef between = LLVMBuildAnd(at, left, wpi_const64(s->k->c, first->step_bytes - 1), "");
    LLVMValueRef all = LLVMBuildICmp(at, LLVMIntEQ, between, wpi_const64(s->k->c, 0), "");
    for (uint32_t r = 0; r < s->run_count; r++) {
        if (&s->runs[r] == first) continue;
        LLVMValueRef way = LLVMBuildMul(
            at, left, wpi_const64(s->k->c, s->runs[r].step_bytes / first->step_bytes), "");
        all = both(s, all, is_at_line(s, LLVMBuildAdd(at, s->runs[r].address, way, "")));
    }
    return all;
}

/* The members' distances are those that were found. */
static LLVMValueRef find_addresses(wpi_run_survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef all = NULL;
    for (uint32_t r = 0; r < s->run_count; r++) {
        wpi_run *to = &s->runs[r];
        for (uint32_t n = 0; n < to->count; n++) {
            const wpi_run_member *m = &s->members[to->members[n]];
            LLVMValueRef address = LLVMBuildSub(at, as_number(s, wpi_run_at_header(s, m->pointer)),
                                                wpi_const64(s->k->c, m->note.offset), "");
            if (n == 0)
                to->address = address;
            else
                all = both(s, all, LLVMBuildICmp(at, LLVMIntEQ, address, to->address, ""));
        }
    }
    return all;
}

void wpi_run_decide(wpi_run_survey *s) {
    wpi_compile *c = s->k->c;
    LLVMBuilderRef at = c->builder;
    LLVMValueRef found = find_addresses(s);
    LLVMValueRef is_on = LLVMBuildICmp(at, LLVMIntSLT, s->k->lines, wpi_const32(c, 0), "");
    LLVMValueRef apart = all_apart(s), at_lines = are_at_lines(s), will_be = will_be_at_lines(s);
    LLVMValueRef begins = both(s, is_on, stays_for(s, LINES_LEAST * s->turns));
    LLVMValueRef chains = both(s, stays_for(s, s->turns), at_lines);
    if (s->widened_count != 0) {
        begins = both(s, begins, wraps_not(s, LINES_LEAST * s->turns));
        chains = both(s, chains, wraps_not(s, s->turns));
    }
    begins = both(s, begins, will_be);
    if (found != NULL) {
        begins = both(s, begins, found);
        chains = both(s, chains, found);
    }
    if (apart != NULL) {
        begins = both(s, begins, apart);
        chains = both(s, chains, apart);
    }
    LLVMTypeRef types[] = {c->i1, c->i1, c->i1, c->i32};
    LLVMValueRef args[] = {begins, at_lines, chains, wpi_const32(c, s->turns)};
    LLVMValueRef function = wpi_compile_declare(c, WPI_CACHE_RUN_CALL, c->none, types, 4);
    (void)LLVMBuildCall2(at, wpi_function_type(function), function, args, 4, "");
}
