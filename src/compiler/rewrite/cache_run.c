/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs (thesis, 5.3.4 and chapter 7): a loop whose turns read or write consecutive elements of a
 * structure needs neither monitoring nor a look into a line. Where its length is known when it
 * begins, a form of it has as many turns in a row as one line has elements, in straight code:
 *
 *     decide ─► enter …               the copies of cache_copy.c
 *       │
 *       └► turns up to a line's begin ─► whole lines? ─► turn 0 ─► … ─► turn N - 1 ─┐
 *                                          │   ▲                                     │
 *                                          │   └─────────────────────────────────────┘
 *                                          └► the turns that are left
 *
 * The first access to a line reads 16 bytes into registers, from which the others take theirs; a
 * written line is put together in registers, and the last access to it writes them. A run is a
 * group of accesses at fixed distances, since LLVM may have unrolled the loop before. What decides
 * is tested when the loop begins and again before each line: enough turns, all runs at the
 * beginning of a line, and no written run in the memory of another run, unless that is the same and
 * is read before. All ways out are counted ones: a
 * loop that ends where data say is short, and the lanes of a warp come apart in it.
 */

#include "compiler/rewrite/cache_run.h"

#include <llvm-c/Target.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"

enum { INSTRUCTIONS_MAX = 2000 }; /* of N turns */

/* ---- what a loop has ---- */

static bool is_each_turn(const wpi_run_survey *s, LLVMValueRef access) {
    const uint32_t block = wpi_map_index(&s->l->found.index, LLVMGetInstructionParent(access));
    for (uint32_t f = 0; f < s->l->found.loop_count; f++)
        if (s->l->found.loops[f].header == s->header &&
            !wpi_loops_dominates(&s->l->found, block, s->l->found.loops[f].latch))
            return false;
    return true;
}

static LLVMTypeRef accessed_type(LLVMValueRef access, bool is_write) {
    return is_write ? LLVMTypeOf(LLVMGetOperand(access, 0)) : LLVMTypeOf(access);
}

/* Numbers of 1, 2, 4 or 8 bytes, or vectors of them. */
static bool fits_run(const wpi_run_survey *s, LLVMValueRef access, uint32_t bytes, bool is_write) {
    LLVMTypeRef type = accessed_type(access, is_write);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMPointerTypeKind || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind)
        return false;
    return bytes <= 8 &&
           LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(s->k->c->module), type) == 8ULL * bytes;
}

/* The only access to its structure, far from where it was a turn ago: it would never hit. */
static bool is_alone(const wpi_run_survey *s, LLVMValueRef access, uint32_t structure) {
    for (uint32_t b = 0; b < s->l->found.block_count; b++) {
        LLVMValueRef i =
            s->loop->contains[b] ? LLVMGetFirstInstruction(s->l->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i)) {
            const wpi_cache_note note = wpi_cache_noted(i);
            if (i != access && note.act == WPI_CACHE_ACCESS && note.structure == structure)
                return false;
        }
    }
    return true;
}

/* A member of a run, or an access of which the cache had nothing; false: neither. */
static bool add_access(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    wpi_run_member m = {.access = i, .note = *note};
    if (!wpi_cache_describe(s->k->c, i, &m.pointer, &m.bytes, &m.is_write)) return false;
    if (!wpi_run_step(s, m.pointer, &m.step_bytes)) return false;
    const bool is_far = m.step_bytes >= WPI_RUN_LINE_BYTES || m.step_bytes <= -WPI_RUN_LINE_BYTES;
    if (is_far && is_alone(s, i, note->structure)) return true;
    if (m.step_bytes < (int64_t)m.bytes || m.step_bytes > WPI_RUN_BYTES_MAX ||
        (m.step_bytes & (m.step_bytes - 1)) != 0 || s->member_count == WPI_RUN_MEMBERS ||
        !is_each_turn(s, i) || !fits_run(s, i, m.bytes, m.is_write))
        return false;
    m.print = wpi_run_print(s, m.pointer);
    s->members[s->member_count++] = m;
    return true;
}

/* Whether an access comes before another in each turn; both are in each. */
bool wpi_run_is_before(const wpi_run_survey *s, LLVMValueRef a, LLVMValueRef b) {
    LLVMBasicBlockRef in_a = LLVMGetInstructionParent(a), in_b = LLVMGetInstructionParent(b);
    if (in_a != in_b)
        return wpi_loops_dominates(&s->l->found, wpi_map_index(&s->l->found.index, in_a),
                                   wpi_map_index(&s->l->found.index, in_b));
    for (LLVMValueRef i = a; i; i = LLVMGetNextInstruction(i))
        if (i == b) return true;
    return false;
}

static bool is_of_run(const wpi_run_survey *s, const wpi_run *r, const wpi_run_member *m) {
    const wpi_run_member *first = &s->members[r->members[0]];
    const int64_t distance = (int64_t)(m->print - first->print);
    return m->note.structure == first->note.structure && m->is_write == first->is_write &&
           m->step_bytes == first->step_bytes && distance > -WPI_RUN_BYTES_MAX &&
           distance < WPI_RUN_BYTES_MAX;
}

static void insert_member(const wpi_run_survey *s, wpi_run *r, uint32_t m) {
    uint32_t at = r->count++;
    for (; at > 0 &&
           wpi_run_is_before(s, s->members[m].access, s->members[r->members[at - 1]].access);
         at--)
        r->members[at] = r->members[at - 1];
    r->members[at] = m;
}

/* Distances from the first byte; a turn covers what it writes, once, and of each line enough of
 * what it reads. */
static bool place_members(wpi_run_survey *s, wpi_run *r) {
    uint64_t covered = 0, least = s->members[r->members[0]].print;
    for (uint32_t n = 0; n < r->count; n++)
        if ((int64_t)(s->members[r->members[n]].print - least) < 0)
            least = s->members[r->members[n]].print;
    for (uint32_t n = 0; n < r->count; n++) {
        wpi_run_member *m = &s->members[r->members[n]];
        m->note.offset = (uint32_t)(m->print - least);
        m->note.step_bytes = r->step_bytes;
        if (m->note.offset + m->bytes > r->step_bytes || m->note.offset % m->bytes != 0)
            return false;
        const uint64_t own = ((UINT64_C(1) << m->bytes) - 1) << m->note.offset;
        if (r->is_write && (covered & own) != 0) return false;
        covered |= own;
    }
    if (r->is_write) return covered == UINT64_MAX >> (64 - r->step_bytes);
    return r->count * WPI_RUN_LINE_BYTES >= 2 * r->step_bytes || r->step_bytes < WPI_RUN_LINE_BYTES;
}

static bool group_members(wpi_run_survey *s) {
    for (uint32_t m = 0; m < s->member_count; m++) {
        uint32_t r = 0;
        while (r < s->run_count && !is_of_run(s, &s->runs[r], &s->members[m]))
            r++;
        if (r == WPI_RUNS) return false;
        if (r == s->run_count) {
            s->runs[s->run_count++] = (wpi_run){.step_bytes = (uint32_t)s->members[m].step_bytes,
                                                .is_write = s->members[m].is_write};
            s->write_count += s->members[m].is_write;
        }
        insert_member(s, &s->runs[r], m);
    }
    for (uint32_t r = 0; r < s->run_count; r++)
        if (!place_members(s, &s->runs[r])) return false;
    return s->run_count != 0;
}

static LLVMIntPredicate inverse(LLVMIntPredicate p) {
    switch (p) {
    case LLVMIntEQ: return LLVMIntNE;
    case LLVMIntNE: return LLVMIntEQ;
    case LLVMIntULT: return LLVMIntUGE;
    case LLVMIntULE: return LLVMIntUGT;
    case LLVMIntUGT: return LLVMIntULE;
    case LLVMIntUGE: return LLVMIntULT;
    case LLVMIntSLT: return LLVMIntSGE;
    case LLVMIntSLE: return LLVMIntSGT;
    case LLVMIntSGT: return LLVMIntSLE;
    default: return LLVMIntSLT; /* of SGE */
    }
}

static LLVMIntPredicate swapped(LLVMIntPredicate p) {
    switch (p) {
    case LLVMIntULT: return LLVMIntUGT;
    case LLVMIntULE: return LLVMIntUGE;
    case LLVMIntUGT: return LLVMIntULT;
    case LLVMIntUGE: return LLVMIntULE;
    case LLVMIntSLT: return LLVMIntSGT;
    case LLVMIntSLE: return LLVMIntSGE;
    case LLVMIntSGT: return LLVMIntSLT;
    case LLVMIntSGE: return LLVMIntSLE;
    default: return p;
    }
}

static bool goes_on(LLVMIntPredicate stays, int64_t step) {
    if (stays == LLVMIntNE) return step != 0;
    const bool is_below =
        stays == LLVMIntULT || stays == LLVMIntULE || stays == LLVMIntSLT || stays == LLVMIntSLE;
    return stays != LLVMIntEQ && (is_below ? step > 0 : step < 0);
}

static bool is_counted(wpi_run_survey *s, LLVMValueRef branch, wpi_run_exit *e) {
    if (LLVMGetInstructionOpcode(branch) != LLVMBr || !LLVMIsConditional(branch)) return false;
    LLVMValueRef compare = LLVMGetCondition(branch);
    int64_t left, right;
    if (!LLVMIsAICmpInst(compare)) return false;
    *e = (wpi_run_exit){.branch = branch,
                        .moving = LLVMGetOperand(compare, 0),
                        .bound = LLVMGetOperand(compare, 1),
                        .stays = LLVMGetICmpPredicate(compare),
                        .stay_successor =
                            wpi_run_is_in_loop(s, LLVMGetSuccessor(branch, 0)) ? 0 : 1};
    if (!wpi_run_step(s, e->moving, &left) || !wpi_run_step(s, e->bound, &right) ||
        (left == 0) == (right == 0))
        return false;
    if (e->stay_successor == 1) e->stays = inverse(e->stays);
    if (left == 0) {
        LLVMValueRef bound = e->moving;
        e->moving = e->bound;
        e->bound = bound;
        e->stays = swapped(e->stays);
    }
    e->step = left + right;
    return wpi_run_is_invariant(s, e->bound) && goes_on(e->stays, e->step);
}

/* Compares with a number of the launch: whether there is room for what a turn of a streamed loop
 * reads and writes. Lanes of a warp, whose turns take equally many slots, leave together. */
static bool is_about_room(const wpi_run_survey *s, LLVMValueRef condition, int depth) {
    if (depth == 0 || !LLVMIsAInstruction(condition))
        return LLVMIsConstant(condition) && depth != 0;
    const LLVMOpcode op = LLVMGetInstructionOpcode(condition);
    if (op == LLVMAnd || op == LLVMOr || op == LLVMXor || op == LLVMFreeze || op == LLVMSelect) {
        for (int o = 0; o < LLVMGetNumOperands(condition); o++)
            if (!is_about_room(s, LLVMGetOperand(condition, (unsigned)o), depth - 1)) return false;
        return true;
    }
    if (op != LLVMICmp) return false;
    for (unsigned o = 0; o < 2; o++) {
        LLVMValueRef number = LLVMGetOperand(condition, o);
        if (LLVMIsALoadInst(number) && wpi_cache_is_of_launch(s->k, LLVMGetOperand(number, 0)))
            return true;
    }
    return false;
}

static bool ends_chunk(const wpi_run_survey *s, LLVMValueRef branch) {
    return s->k->launch != NULL && LLVMGetInstructionOpcode(branch) == LLVMBr &&
           LLVMIsConditional(branch) && is_about_room(s, LLVMGetCondition(branch), 8);
}

static void add_exits(wpi_run_survey *s, LLVMBasicBlockRef block) {
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    bool leaves = false;
    for (unsigned n = 0; n < LLVMGetNumSuccessors(last); n++)
        leaves |= !wpi_run_is_in_loop(s, LLVMGetSuccessor(last, n));
    if (!leaves) return;
    if (s->exit_count < WPI_RUN_EXITS && is_counted(s, last, &s->exits[s->exit_count]))
        s->exit_count++;
    else if (ends_chunk(s, last))
        s->has_chunks = true;
    else
        s->has_other_exits = true;
}

/* Whether two accesses may be the same memory. */
bool wpi_run_may_meet(const wpi_cache_note *a, const wpi_cache_note *b) {
    const bool same =
        a->act == WPI_CACHE_ACCESS && b->act == WPI_CACHE_ACCESS && a->structure == b->structure;
    return same || (b->act == WPI_CACHE_ACCESS && (a->others >> b->structure & 1) != 0) ||
           (a->act == WPI_CACHE_ACCESS && (b->others >> a->structure & 1) != 0);
}

static bool is_run(const wpi_run_survey *s, LLVMValueRef i) {
    for (uint32_t m = 0; m < s->member_count; m++)
        if (s->members[m].access == i) return true;
    return false;
}

/* The accesses that are no runs leave the runs' memory alone. */
static bool is_apart(const wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (note->act == WPI_CACHE_NOTHING || is_run(s, i)) return true;
    if (!wpi_cache_describe(s->k->c, i, &pointer, &bytes, &is_write)) return false;
    for (uint32_t m = 0; m < s->member_count; m++)
        if ((is_write || s->members[m].is_write) && wpi_run_may_meet(&s->members[m].note, note))
            return false;
    return true;
}

static bool visit(const wpi_run_survey *s,
                  bool (*test)(wpi_run_survey *, LLVMValueRef, const wpi_cache_note *)) {
    for (uint32_t b = 0; b < s->l->found.block_count; b++) {
        LLVMValueRef i =
            s->loop->contains[b] ? LLVMGetFirstInstruction(s->l->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i)) {
            const wpi_cache_note note = wpi_cache_noted(i);
            if (!test((wpi_run_survey *)s, i, &note)) return false;
        }
    }
    return true;
}

static bool take_access(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    if (note->act == WPI_CACHE_FLUSH) return false;
    return note->act != WPI_CACHE_ACCESS || add_access(s, i, note);
}

static bool test_access(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    return is_apart(s, i, note);
}

static bool count_instruction(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    (void)i;
    (void)note;
    return ++s->turns <= INSTRUCTIONS_MAX;
}

/* Whether a value may differ between lanes in the same turn of the loops around it. */
static bool varies(LLVMValueRef value, wpi_map *seen) {
    if (!LLVMIsAInstruction(value) || wpi_map_has(seen, value)) return false;
    wpi_map_set_index(seen, value, 0);
    if (LLVMIsACallInst(value)) {
        size_t length;
        LLVMValueRef callee = wpi_called_function(value);
        const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
        if (strstr(name, "sreg.tid") != NULL || strstr(name, "sreg.laneid") != NULL) return true;
        if (strncmp(name, "llvm.", 5) != 0 && strncmp(name, "__wp_", 5) != 0) return true;
    }
    if (LLVMIsAAtomicRMWInst(value) || LLVMIsAAtomicCmpXchgInst(value) || LLVMIsAAllocaInst(value))
        return true;
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (varies(LLVMGetOperand(value, (unsigned)o), seen)) return true;
    return false;
}

static bool note_together(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (note->act != WPI_CACHE_ACCESS) return true;
    const uint32_t bit = 1u << note->structure;
    s->k->facts.together |= bit;
    if ((s->k->varied & bit) != 0) return true;
    wpi_map seen = {0};
    if (!wpi_cache_describe(s->k->c, i, &pointer, &bytes, &is_write) || varies(pointer, &seen))
        s->k->varied |= bit;
    wpi_map_deinit(&seen);
    return true;
}

/* In no loop inside of it that is looked at by itself. */
static bool is_own(const wpi_run_survey *s, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&s->l->found.index, block);
    for (uint32_t o = 0; o < s->l->count; o++)
        if (&s->l->loops[o] != s->loop && s->l->loops[o].contains[b] &&
            !s->l->loops[o].contains[s->header])
            return false;
    return true;
}

/* Lanes of a warp that leave a loop where data say come apart, and miss in different turns. */
static bool note_apart(wpi_run_survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    if (note->act == WPI_CACHE_ACCESS && (s->is_copied || is_own(s, LLVMGetInstructionParent(i))))
        s->k->apart |= 1u << note->structure;
    return true;
}

static void find_exits(wpi_run_survey *s) {
    for (uint32_t b = 0; b < s->l->found.block_count; b++)
        if (s->loop->contains[b]) add_exits(s, s->l->found.blocks[b]);
    if (s->has_other_exits)
        (void)visit(s, note_apart);
    else if (s->is_copied)
        (void)visit(s, note_together);
}

static bool has_runs(wpi_run_survey *s) {
    if (!visit(s, take_access) || !group_members(s) || !visit(s, test_access)) return false;
    if (s->exit_count == 0 || s->has_other_exits || s->has_chunks) return false;
    uint32_t turns = 1, widest = 0;
    for (uint32_t r = 0; r < s->run_count; r++) {
        const uint32_t step_bytes = s->runs[r].step_bytes;
        if (WPI_RUN_LINE_BYTES / step_bytes > turns) turns = WPI_RUN_LINE_BYTES / step_bytes;
        if (step_bytes > widest) widest = step_bytes;
    }
    s->turns = 0;
    (void)visit(s, count_instruction);
    const bool is_small = s->turns * turns <= INSTRUCTIONS_MAX;
    s->turns = turns;
    return is_small && turns * widest <= WPI_RUN_BYTES_MAX;
}

static LLVMValueRef first_after_phis(LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* ---- the whole ---- */

/* The turns of N in which a member is the first of its line, or the last. */
static uint32_t turns_at_end(const wpi_run_survey *s, const wpi_run *r, uint32_t number) {
    uint32_t mask = 0;
    const uint32_t count = s->turns * r->count;
    for (uint32_t turn = 0; turn < s->turns; turn++) {
        const uint32_t own = turn * r->count + number;
        bool is_end = true;
        for (uint32_t o = r->is_write ? own + 1 : 0; o < (r->is_write ? count : own); o++) {
            const uint32_t other = s->members[r->members[o % r->count]].note.offset;
            is_end &= (o / r->count * r->step_bytes + other) / WPI_RUN_LINE_BYTES !=
                      (turn * r->step_bytes + s->members[r->members[number]].note.offset) /
                          WPI_RUN_LINE_BYTES;
        }
        mask |= (uint32_t)is_end << turn;
    }
    return mask;
}

static void note_runs(wpi_run_survey *s) {
    for (uint32_t r = 0; r < s->run_count; r++)
        for (uint32_t n = 0; n < s->runs[r].count; n++) {
            wpi_run_member *m = &s->members[s->runs[r].members[n]];
            m->note.run = r + 1;
            m->note.line_turns = turns_at_end(s, &s->runs[r], n);
            wpi_cache_set_note(s->k, m->access, &m->note);
            s->k->facts.runs |= 1u << m->note.structure;
        }
    for (uint32_t e = 0; e < s->exit_count; e++) {
        const wpi_cache_note stay = {.act = WPI_CACHE_STAY,
                                     .structure = s->exits[e].stay_successor};
        wpi_cache_set_note(s->k, s->exits[e].branch, &stay);
    }
}

void wpi_cache_find_runs(wpi_cache *k, const wpi_cache_loops *l) {
    for (uint32_t i = 0; i < k->choice_count; i++) {
        wpi_cache_choice *choice = &k->choices[i];
        wpi_run_survey s = {.k = k, .l = l, .is_copied = choice->is_copied};
        for (uint32_t o = 0; o < l->count && !choice->waits; o++)
            if (l->loops[o].header == choice->header) s.loop = &l->loops[o];
        if (s.loop == NULL) continue;
        s.header = wpi_map_index(&l->found.index, choice->header);
        find_exits(&s);
        const bool has = k->has_runs && s.is_copied && has_runs(&s);
        wpi_map_deinit(&s.leaves);
        if (!has) continue;
        note_runs(&s);
        LLVMBasicBlockRef front = wpi_block_split_before(first_after_phis(choice->header));
        LLVMPositionBuilderBefore(k->c->builder, LLVMGetBasicBlockTerminator(front));
        wpi_run_decide(&s);
        for (uint32_t n = 0; n < k->nest_count; n++)
            if (k->nests[n] == choice->header) k->nests[n] = front;
        choice->header = front;
    }
    k->facts.together &= ~k->apart;
    k->facts.alike = k->facts.together & ~k->varied;
    k->facts.together &= k->varied;
}
