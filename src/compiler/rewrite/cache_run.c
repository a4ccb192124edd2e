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
 * is read before. In loops that write runs, all ways out are counted ones; data may end a loop that
 * only reads, since a line is read where its first element is.
 */
#include <llvm-c/Target.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/cache.h"

enum {
    MEMBERS = 32, /* accesses of runs in a loop, at most */
    RUNS = WPI_CACHE_STRUCTURES,
    EXITS = 8,               /* counted ones */
    WIDENED = 8,             /* numbers that must not wrap around */
    LINE_BYTES = 16,         /* of an access */
    RUN_BYTES_MAX = 64,      /* of a run in N turns: in registers */
    INSTRUCTIONS_MAX = 2000, /* of N turns */
    DEPTH = 24
};

typedef enum wrap { MAY_WRAP, NOT_SIGNED, NOT_UNSIGNED } wrap;

/* An access of a run. */
typedef struct member {
    LLVMValueRef access, pointer;
    wpi_cache_note note;
    uint32_t bytes;
    bool is_write;
    int64_t step_bytes;
    uint64_t print; /* of the address: equal differences mean equal distances */
} member;

typedef struct run {
    uint32_t members[MEMBERS]; /* in the order of execution */
    uint32_t count;
    uint32_t step_bytes;
    bool is_write;
    LLVMValueRef address; /* of its first byte, as a number, where a turn begins */
} run;

/* A way out that is not taken while `moving` is before `bound`. */
typedef struct counted_exit {
    LLVMValueRef branch, moving, bound;
    LLVMIntPredicate stays;
    int64_t step;
    unsigned stay_successor;
} counted_exit;

/* A number that becomes one of more bits, whose steps are the same only while it does not wrap. */
typedef struct widened {
    LLVMValueRef number;
    int64_t step;
    bool is_signed;
} widened;

typedef struct survey {
    wpi_cache *k;
    const wpi_cache_loops *l;
    const wpi_cache_loop *loop;
    uint32_t header;
    member members[MEMBERS];
    uint32_t member_count;
    run runs[RUNS];
    uint32_t run_count, write_count;
    wpi_map leaves; /* of addresses: numbers */
    uint32_t leaf_count;
    counted_exit exits[EXITS];
    uint32_t exit_count;
    widened widened[WIDENED];
    uint32_t widened_count;
    bool has_other_exits;
    uint32_t turns; /* N */
} survey;

/* ---- steps ---- */

static bool is_in_loop(const survey *s, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&s->l->found.index, block);
    return b != UINT32_MAX && s->loop->contains[b];
}

static bool is_invariant(const survey *s, LLVMValueRef value) {
    return !LLVMIsAInstruction(value) || !is_in_loop(s, LLVMGetInstructionParent(value));
}

static bool keeps(LLVMValueRef i, wrap need) {
    return need == MAY_WRAP || (need == NOT_SIGNED ? LLVMGetNSW(i) : LLVMGetNUW(i));
}

static bool constant_of(LLVMValueRef value, int64_t *constant) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *constant = LLVMConstIntGetSExtValue(value);
    return *constant > INT32_MIN && *constant < INT32_MAX;
}

static bool step_of(survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step);

/* The bytes that a turn adds to what a GEP gives; where it is a step itself, its indices are
 * constants and `step` is what they add. */
static bool gep_step(survey *s, LLVMValueRef gep, bool is_whole, int depth, int64_t *step) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->k->c->module);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    *step = 0;
    if (!is_whole && !step_of(s, LLVMGetOperand(gep, 0), MAY_WRAP, depth, step)) return false;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        LLVMTypeRef index_type = LLVMTypeOf(index);
        int64_t moved = 0;
        if (LLVMGetTypeKind(index_type) != LLVMIntegerTypeKind) return false;
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            if (is_whole) *step += (int64_t)LLVMOffsetOfElement(layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        const wrap need = LLVMGetIntTypeWidth(index_type) < 64 ? NOT_SIGNED : MAY_WRAP;
        if (is_whole ? !constant_of(index, &moved) : !step_of(s, index, need, depth, &moved))
            return false;
        *step += moved * (int64_t)LLVMABISizeOfType(layout, type);
    }
    return *step > INT32_MIN && *step < INT32_MAX;
}

static bool phi_step(survey *s, LLVMValueRef phi, wrap need, int64_t *step) {
    bool is_first = true;
    for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
        if (!is_in_loop(s, LLVMGetIncomingBlock(phi, n))) continue;
        LLVMValueRef next = LLVMGetIncomingValue(phi, n);
        int64_t moved;
        if (!LLVMIsAInstruction(next) || LLVMGetNumOperands(next) < 2 ||
            LLVMGetOperand(next, 0) != phi)
            return false;
        if (LLVMGetInstructionOpcode(next) == LLVMGetElementPtr) {
            if (!gep_step(s, next, true, 0, &moved)) return false;
        } else if (LLVMGetInstructionOpcode(next) != LLVMAdd || !keeps(next, need) ||
                   !constant_of(LLVMGetOperand(next, 1), &moved)) {
            return false;
        }
        if (!is_first && moved != *step) return false;
        *step = moved;
        is_first = false;
    }
    return !is_first;
}

static bool scaled_step(survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    int64_t factor;
    const bool is_shift = LLVMGetInstructionOpcode(v) == LLVMShl;
    if (!keeps(v, need) || !constant_of(LLVMGetOperand(v, 1), &factor)) return false;
    if (is_shift && (factor < 0 || factor > 20)) return false;
    if (!step_of(s, LLVMGetOperand(v, 0), need, depth, step)) return false;
    *step *= is_shift ? INT64_C(1) << factor : factor;
    return *step > INT32_MIN && *step < INT32_MAX;
}

static bool sum_step(survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    int64_t other;
    const LLVMOpcode op = LLVMGetInstructionOpcode(v);
    if (op == LLVMOr ? !LLVMGetIsDisjoint(v) : !keeps(v, need)) return false;
    if (!step_of(s, LLVMGetOperand(v, 0), need, depth, step) ||
        !step_of(s, LLVMGetOperand(v, 1), need, depth, &other))
        return false;
    *step += op == LLVMSub ? -other : other;
    return *step > INT32_MIN && *step < INT32_MAX;
}

/* Tested where a line begins: so many turns do not wrap it around. */
static bool widen(survey *s, LLVMValueRef number, bool is_signed, int depth, int64_t *step) {
    if (!step_of(s, number, MAY_WRAP, depth, step)) return false;
    if (*step == 0) return true;
    if (s->widened_count == WIDENED || LLVMGetIntTypeWidth(LLVMTypeOf(number)) < 32) return false;
    s->widened[s->widened_count++] = (widened){number, *step, is_signed};
    return true;
}

/* What a turn adds to a value: false if that is not a constant. `need`: also as a number of more
 * bits, so that it must not wrap around. */
static bool step_of(survey *s, LLVMValueRef v, wrap need, int depth, int64_t *step) {
    *step = 0;
    if (is_invariant(s, v)) return true;
    if (depth == 0) return false;
    depth--;
    LLVMValueRef from = LLVMGetNumOperands(v) > 0 ? LLVMGetOperand(v, 0) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMPHI:
        return LLVMGetInstructionParent(v) == s->loop->header && phi_step(s, v, need, step);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr: return sum_step(s, v, need, depth, step);
    case LLVMMul:
    case LLVMShl: return scaled_step(s, v, need, depth, step);
    case LLVMSExt:
        if (need == NOT_UNSIGNED) return false;
        return step_of(s, from, NOT_SIGNED, depth, step) || widen(s, from, true, depth, step);
    case LLVMZExt:
        return step_of(s, from, NOT_UNSIGNED, depth, step) ||
               (LLVMGetNNeg(v) && step_of(s, from, NOT_SIGNED, depth, step)) ||
               widen(s, from, false, depth, step);
    case LLVMGetElementPtr: return need == MAY_WRAP && gep_step(s, v, false, depth, step);
    case LLVMAddrSpaceCast: return step_of(s, from, need, depth, step);
    default: return false;
    }
}

/* The value that `v`, whose step is known, has in the turn that begins, without what LLVM knows of
 * it only where `v` itself is. */
static LLVMValueRef at_header(const survey *s, LLVMValueRef v) {
    LLVMBuilderRef at = s->k->c->builder;
    if (is_invariant(s, v) || LLVMIsAPHINode(v)) return v;
    LLVMValueRef from = at_header(s, LLVMGetOperand(v, 0));
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMAdd:
    case LLVMOr: return LLVMBuildAdd(at, from, at_header(s, LLVMGetOperand(v, 1)), "");
    case LLVMSub: return LLVMBuildSub(at, from, at_header(s, LLVMGetOperand(v, 1)), "");
    case LLVMMul: return LLVMBuildMul(at, from, LLVMGetOperand(v, 1), "");
    case LLVMShl: return LLVMBuildShl(at, from, LLVMGetOperand(v, 1), "");
    case LLVMSExt: return LLVMBuildSExt(at, from, LLVMTypeOf(v), "");
    case LLVMZExt: return LLVMBuildZExt(at, from, LLVMTypeOf(v), "");
    case LLVMAddrSpaceCast: return LLVMBuildAddrSpaceCast(at, from, LLVMTypeOf(v), "");
    default: break; /* a GEP */
    }
    LLVMValueRef indices[16];
    const unsigned count = (unsigned)LLVMGetNumOperands(v) - 1;
    WP_CHECK(count <= 16);
    for (unsigned i = 0; i < count; i++)
        indices[i] = at_header(s, LLVMGetOperand(v, i + 1));
    return LLVMBuildGEP2(at, LLVMGetGEPSourceElementType(v), from, indices, count, "");
}

/* ---- distances ---- */

static uint64_t leaf_print(survey *s, LLVMValueRef v) {
    uint32_t n = wpi_map_index(&s->leaves, v);
    if (n == UINT32_MAX) {
        n = s->leaf_count++;
        wpi_map_set_index(&s->leaves, v, n);
    }
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static uint64_t print_of(survey *s, LLVMValueRef v, int depth);

static uint64_t gep_print(survey *s, LLVMValueRef gep, int depth) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->k->c->module);
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    uint64_t print = print_of(s, LLVMGetOperand(gep, 0), depth);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            const unsigned field = (unsigned)LLVMConstIntGetZExtValue(index);
            print += LLVMOffsetOfElement(layout, type, field);
            type = LLVMStructGetTypeAtIndex(type, field);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        print += print_of(s, index, depth) * LLVMABISizeOfType(layout, type);
    }
    return print;
}

/* The value for arbitrary values of what it is computed from, the same for all addresses of the
 * loop: two that differ by a small number do so always, unless something wraps around. */
static uint64_t print_of(survey *s, LLVMValueRef v, int depth) {
    int64_t constant;
    if (LLVMIsAConstantInt(v))
        return constant_of(v, &constant) ? (uint64_t)constant : leaf_print(s, v);
    if (!LLVMIsAInstruction(v) || LLVMIsAPHINode(v) || depth == 0) return leaf_print(s, v);
    depth--;
    LLVMValueRef from = LLVMGetNumOperands(v) > 0 ? LLVMGetOperand(v, 0) : NULL;
    switch (LLVMGetInstructionOpcode(v)) {
    case LLVMOr:
        if (!LLVMGetIsDisjoint(v)) return leaf_print(s, v);
        return print_of(s, from, depth) + print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMAdd: return print_of(s, from, depth) + print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMSub: return print_of(s, from, depth) - print_of(s, LLVMGetOperand(v, 1), depth);
    case LLVMMul:
        if (!constant_of(LLVMGetOperand(v, 1), &constant)) return leaf_print(s, v);
        return print_of(s, from, depth) * (uint64_t)constant;
    case LLVMShl:
        if (!constant_of(LLVMGetOperand(v, 1), &constant) || constant < 0 || constant > 20)
            return leaf_print(s, v);
        return print_of(s, from, depth) << constant;
    case LLVMSExt:
    case LLVMZExt:
    case LLVMAddrSpaceCast: return print_of(s, from, depth);
    case LLVMGetElementPtr: return gep_print(s, v, depth);
    default: return leaf_print(s, v);
    }
}

/* ---- what a loop has ---- */

static bool is_each_turn(const survey *s, LLVMValueRef access) {
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
static bool fits_run(const survey *s, LLVMValueRef access, uint32_t bytes, bool is_write) {
    LLVMTypeRef type = accessed_type(access, is_write);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind == LLVMPointerTypeKind || kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind)
        return false;
    return bytes <= 8 &&
           LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(s->k->c->module), type) == 8ULL * bytes;
}

/* The only access to its structure, far from where it was a turn ago: it would never hit. */
static bool is_alone(const survey *s, LLVMValueRef access, uint32_t structure) {
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
static bool add_access(survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    member m = {.access = i, .note = *note};
    if (!wpi_cache_describe(s->k->c, i, &m.pointer, &m.bytes, &m.is_write)) return false;
    if (!step_of(s, m.pointer, MAY_WRAP, DEPTH, &m.step_bytes)) return false;
    const bool is_far = m.step_bytes >= LINE_BYTES || m.step_bytes <= -LINE_BYTES;
    if (is_far && is_alone(s, i, note->structure)) return true;
    if (m.step_bytes < (int64_t)m.bytes || m.step_bytes > RUN_BYTES_MAX ||
        (m.step_bytes & (m.step_bytes - 1)) != 0 || s->member_count == MEMBERS ||
        !is_each_turn(s, i) || !fits_run(s, i, m.bytes, m.is_write))
        return false;
    m.print = print_of(s, m.pointer, DEPTH);
    s->members[s->member_count++] = m;
    return true;
}

/* Whether an access comes before another in each turn; both are in each. */
static bool is_before(const survey *s, LLVMValueRef a, LLVMValueRef b) {
    LLVMBasicBlockRef in_a = LLVMGetInstructionParent(a), in_b = LLVMGetInstructionParent(b);
    if (in_a != in_b)
        return wpi_loops_dominates(&s->l->found, wpi_map_index(&s->l->found.index, in_a),
                                   wpi_map_index(&s->l->found.index, in_b));
    for (LLVMValueRef i = a; i; i = LLVMGetNextInstruction(i))
        if (i == b) return true;
    return false;
}

static bool is_of_run(const survey *s, const run *r, const member *m) {
    const member *first = &s->members[r->members[0]];
    const int64_t distance = (int64_t)(m->print - first->print);
    return m->note.structure == first->note.structure && m->is_write == first->is_write &&
           m->step_bytes == first->step_bytes && distance > -RUN_BYTES_MAX &&
           distance < RUN_BYTES_MAX;
}

static void insert_member(const survey *s, run *r, uint32_t m) {
    uint32_t at = r->count++;
    for (; at > 0 && is_before(s, s->members[m].access, s->members[r->members[at - 1]].access);
         at--)
        r->members[at] = r->members[at - 1];
    r->members[at] = m;
}

/* Distances from the first byte; a turn covers what it writes, once, and of each line enough of
 * what it reads. */
static bool place_members(survey *s, run *r) {
    uint64_t covered = 0, least = s->members[r->members[0]].print;
    for (uint32_t n = 0; n < r->count; n++)
        if ((int64_t)(s->members[r->members[n]].print - least) < 0)
            least = s->members[r->members[n]].print;
    for (uint32_t n = 0; n < r->count; n++) {
        member *m = &s->members[r->members[n]];
        m->note.offset = (uint32_t)(m->print - least);
        m->note.step_bytes = r->step_bytes;
        if (m->note.offset + m->bytes > r->step_bytes || m->note.offset % m->bytes != 0)
            return false;
        const uint64_t own = ((UINT64_C(1) << m->bytes) - 1) << m->note.offset;
        if (r->is_write && (covered & own) != 0) return false;
        covered |= own;
    }
    if (r->is_write) return covered == UINT64_MAX >> (64 - r->step_bytes);
    return r->count * LINE_BYTES >= 2 * r->step_bytes || r->step_bytes < LINE_BYTES;
}

static bool group_members(survey *s) {
    for (uint32_t m = 0; m < s->member_count; m++) {
        uint32_t r = 0;
        while (r < s->run_count && !is_of_run(s, &s->runs[r], &s->members[m]))
            r++;
        if (r == RUNS) return false;
        if (r == s->run_count) {
            s->runs[s->run_count++] = (run){.step_bytes = (uint32_t)s->members[m].step_bytes,
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

static bool is_counted(survey *s, LLVMValueRef branch, counted_exit *e) {
    if (LLVMGetInstructionOpcode(branch) != LLVMBr || !LLVMIsConditional(branch)) return false;
    LLVMValueRef compare = LLVMGetCondition(branch);
    int64_t left, right;
    if (!LLVMIsAICmpInst(compare)) return false;
    *e = (counted_exit){.branch = branch,
                        .moving = LLVMGetOperand(compare, 0),
                        .bound = LLVMGetOperand(compare, 1),
                        .stays = LLVMGetICmpPredicate(compare),
                        .stay_successor = is_in_loop(s, LLVMGetSuccessor(branch, 0)) ? 0 : 1};
    if (!step_of(s, e->moving, MAY_WRAP, DEPTH, &left) ||
        !step_of(s, e->bound, MAY_WRAP, DEPTH, &right) || (left == 0) == (right == 0))
        return false;
    if (e->stay_successor == 1) e->stays = inverse(e->stays);
    if (left == 0) {
        LLVMValueRef bound = e->moving;
        e->moving = e->bound;
        e->bound = bound;
        e->stays = swapped(e->stays);
    }
    e->step = left + right;
    return is_invariant(s, e->bound) && goes_on(e->stays, e->step);
}

static void add_exits(survey *s, LLVMBasicBlockRef block) {
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
    bool leaves = false;
    for (unsigned n = 0; n < LLVMGetNumSuccessors(last); n++)
        leaves |= !is_in_loop(s, LLVMGetSuccessor(last, n));
    if (!leaves) return;
    if (s->exit_count < EXITS && is_counted(s, last, &s->exits[s->exit_count]))
        s->exit_count++;
    else
        s->has_other_exits = true;
}

/* Whether two accesses may be the same memory. */
static bool may_meet(const wpi_cache_note *a, const wpi_cache_note *b) {
    const bool same =
        a->act == WPI_CACHE_ACCESS && b->act == WPI_CACHE_ACCESS && a->structure == b->structure;
    return same || (b->act == WPI_CACHE_ACCESS && (a->others >> b->structure & 1) != 0) ||
           (a->act == WPI_CACHE_ACCESS && (b->others >> a->structure & 1) != 0);
}

static bool is_run(const survey *s, LLVMValueRef i) {
    for (uint32_t m = 0; m < s->member_count; m++)
        if (s->members[m].access == i) return true;
    return false;
}

/* The accesses that are no runs leave the runs' memory alone. */
static bool is_apart(const survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (note->act == WPI_CACHE_NOTHING || is_run(s, i)) return true;
    if (!wpi_cache_describe(s->k->c, i, &pointer, &bytes, &is_write)) return false;
    for (uint32_t m = 0; m < s->member_count; m++)
        if ((is_write || s->members[m].is_write) && may_meet(&s->members[m].note, note))
            return false;
    return true;
}

static bool visit(const survey *s, bool (*test)(survey *, LLVMValueRef, const wpi_cache_note *)) {
    for (uint32_t b = 0; b < s->l->found.block_count; b++) {
        LLVMValueRef i =
            s->loop->contains[b] ? LLVMGetFirstInstruction(s->l->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i)) {
            const wpi_cache_note note = wpi_cache_noted(i);
            if (!test((survey *)s, i, &note)) return false;
        }
    }
    return true;
}

static bool take_access(survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    if (note->act == WPI_CACHE_FLUSH) return false;
    return note->act != WPI_CACHE_ACCESS || add_access(s, i, note);
}

static bool test_access(survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    return is_apart(s, i, note);
}

static bool count_instruction(survey *s, LLVMValueRef i, const wpi_cache_note *note) {
    (void)i;
    (void)note;
    return ++s->turns <= INSTRUCTIONS_MAX;
}

static bool has_runs(survey *s) {
    if (!visit(s, take_access) || !group_members(s) || !visit(s, test_access)) return false;
    for (uint32_t b = 0; b < s->l->found.block_count; b++)
        if (s->loop->contains[b]) add_exits(s, s->l->found.blocks[b]);
    if (s->exit_count == 0 || (s->has_other_exits && s->write_count != 0)) return false;
    uint32_t turns = 1, widest = 0;
    for (uint32_t r = 0; r < s->run_count; r++) {
        const uint32_t step_bytes = s->runs[r].step_bytes;
        if (LINE_BYTES / step_bytes > turns) turns = LINE_BYTES / step_bytes;
        if (step_bytes > widest) widest = step_bytes;
    }
    s->turns = 0;
    (void)visit(s, count_instruction);
    const bool is_small = s->turns * turns <= INSTRUCTIONS_MAX;
    s->turns = turns;
    return is_small && turns * widest <= RUN_BYTES_MAX;
}

/* ---- what decides ---- */

static LLVMValueRef both(const survey *s, LLVMValueRef a, LLVMValueRef b) {
    return a == NULL ? b : LLVMBuildAnd(s->k->c->builder, a, b, "");
}

static LLVMValueRef as_number(const survey *s, LLVMValueRef value) {
    LLVMBuilderRef at = s->k->c->builder;
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) return value;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(value)) != 0)
        value = LLVMBuildAddrSpaceCast(at, value, s->k->c->ptr, "");
    return LLVMBuildPtrToInt(at, value, s->k->c->i64, "");
}

/* No counted exit is taken in so many turns. */
static LLVMValueRef stays_for(const survey *s, uint32_t turns) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef all = NULL;
    for (uint32_t e = 0; e < s->exit_count; e++) {
        const counted_exit *x = &s->exits[e];
        LLVMValueRef moving = as_number(s, at_header(s, x->moving));
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

static LLVMValueRef number_limit(const widened *w, uint64_t way) {
    LLVMTypeRef type = LLVMTypeOf(w->number);
    const unsigned width = LLVMGetIntTypeWidth(type);
    const uint64_t all = UINT64_MAX >> (64 - width), sign = UINT64_C(1) << (width - 1);
    if (w->step > 0) return LLVMConstInt(type, (w->is_signed ? sign - 1 : all) - way, 0);
    return LLVMConstInt(type, ((w->is_signed ? sign : 0) + way) & all, 0);
}

/* Nothing wraps around in so many turns that would change a step. */
static LLVMValueRef wraps_not(const survey *s, uint32_t turns) {
    LLVMValueRef all = NULL;
    for (uint32_t n = 0; n < s->widened_count; n++) {
        const widened *w = &s->widened[n];
        const bool is_up = w->step > 0;
        const uint64_t way = (uint64_t)(turns - 1) * (uint64_t)(is_up ? w->step : -w->step);
        if (way >> 30 != 0) return LLVMConstNull(s->k->c->i1);
        const LLVMIntPredicate in = is_up ? w->is_signed ? LLVMIntSLE : LLVMIntULE
                                          : (w->is_signed ? LLVMIntSGE : LLVMIntUGE);
        all = both(
            s, all,
            LLVMBuildICmp(s->k->c->builder, in, at_header(s, w->number), number_limit(w, way), ""));
    }
    return all;
}

static LLVMValueRef not_below(const survey *s, LLVMValueRef a, LLVMValueRef b, uint64_t bytes) {
    LLVMBuilderRef at = s->k->c->builder;
    return LLVMBuildICmp(at, LLVMIntUGE, LLVMBuildSub(at, a, b, ""), wpi_const64(s->k->c, bytes),
                         "");
}

/* Whether a turn reads each byte before it writes it, where two runs are the same memory. */
static bool reads_first(const survey *s, const run *read, const run *write) {
    for (uint32_t a = 0; a < read->count; a++)
        for (uint32_t b = 0; b < write->count; b++) {
            const member *from = &s->members[read->members[a]],
                         *to = &s->members[write->members[b]];
            if (from->note.offset < to->note.offset + to->bytes &&
                to->note.offset < from->note.offset + from->bytes &&
                !is_before(s, from->access, to->access))
                return false;
        }
    return true;
}

/* In N turns, two runs do not meet; or they are the same, and each byte is read before it is
 * written. */
static LLVMValueRef are_apart(const survey *s, const run *a, const run *b) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef apart = both(s, not_below(s, a->address, b->address, s->turns * b->step_bytes),
                              not_below(s, b->address, a->address, s->turns * a->step_bytes));
    const run *write = a->is_write ? a : b, *read = a->is_write ? b : a;
    if (read->is_write || read->step_bytes != write->step_bytes || !reads_first(s, read, write))
        return apart;
    return LLVMBuildOr(at, apart, LLVMBuildICmp(at, LLVMIntEQ, a->address, b->address, ""), "");
}

static const wpi_cache_note *note_of(const survey *s, const run *r) {
    return &s->members[r->members[0]].note;
}

static LLVMValueRef all_apart(const survey *s) {
    LLVMValueRef all = NULL;
    for (uint32_t a = 0; a < s->run_count; a++)
        for (uint32_t b = a + 1; b < s->run_count; b++)
            if ((s->runs[a].is_write || s->runs[b].is_write) &&
                may_meet(note_of(s, &s->runs[a]), note_of(s, &s->runs[b])))
                all = both(s, all, are_apart(s, &s->runs[a], &s->runs[b]));
    return all;
}

static LLVMValueRef is_at_line(const survey *s, LLVMValueRef address) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef in = LLVMBuildAnd(at, address, wpi_const64(s->k->c, LINE_BYTES - 1), "");
    return LLVMBuildICmp(at, LLVMIntEQ, in, wpi_const64(s->k->c, 0), "");
}

static LLVMValueRef are_at_lines(const survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef any = s->runs[0].address;
    for (uint32_t r = 1; r < s->run_count; r++)
        any = LLVMBuildOr(at, any, s->runs[r].address, "");
    return is_at_line(s, any);
}

/* All runs will be at the beginning of a line in the same turn: the first one of the shortest
 * steps. */
static LLVMValueRef will_be_at_lines(const survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    const run *first = &s->runs[0];
    for (uint32_t r = 1; r < s->run_count; r++)
        if (s->runs[r].step_bytes < first->step_bytes) first = &s->runs[r];
    LLVMValueRef left = LLVMBuildAnd(at, LLVMBuildNeg(at, first->address, ""),
                                     wpi_const64(s->k->c, LINE_BYTES - 1), "");
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
static LLVMValueRef find_addresses(survey *s) {
    LLVMBuilderRef at = s->k->c->builder;
    LLVMValueRef all = NULL;
    for (uint32_t r = 0; r < s->run_count; r++) {
        run *to = &s->runs[r];
        for (uint32_t n = 0; n < to->count; n++) {
            const member *m = &s->members[to->members[n]];
            LLVMValueRef address = LLVMBuildSub(at, as_number(s, at_header(s, m->pointer)),
                                                wpi_const64(s->k->c, m->note.offset), "");
            if (n == 0)
                to->address = address;
            else
                all = both(s, all, LLVMBuildICmp(at, LLVMIntEQ, address, to->address, ""));
        }
    }
    return all;
}

static void decide(survey *s) {
    wpi_compile *c = s->k->c;
    LLVMBuilderRef at = c->builder;
    LLVMValueRef found = find_addresses(s);
    LLVMValueRef is_on = LLVMBuildICmp(at, LLVMIntSLT, s->k->lines, wpi_const32(c, 0), "");
    LLVMValueRef apart = all_apart(s), at_lines = are_at_lines(s), will_be = will_be_at_lines(s);
    LLVMValueRef begins = both(s, is_on, stays_for(s, 2 * s->turns));
    LLVMValueRef chains = both(s, stays_for(s, s->turns), at_lines);
    if (s->widened_count != 0) {
        begins = both(s, begins, wraps_not(s, 2 * s->turns));
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

static LLVMValueRef first_after_phis(LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* ---- the whole ---- */

/* The turns of N in which a member is the first of its line, or the last. */
static uint32_t turns_at_end(const survey *s, const run *r, uint32_t number) {
    uint32_t mask = 0;
    const uint32_t count = s->turns * r->count;
    for (uint32_t turn = 0; turn < s->turns; turn++) {
        const uint32_t own = turn * r->count + number;
        bool is_end = true;
        for (uint32_t o = r->is_write ? own + 1 : 0; o < (r->is_write ? count : own); o++) {
            const uint32_t other = s->members[r->members[o % r->count]].note.offset;
            is_end &=
                (o / r->count * r->step_bytes + other) / LINE_BYTES !=
                (turn * r->step_bytes + s->members[r->members[number]].note.offset) / LINE_BYTES;
        }
        mask |= (uint32_t)is_end << turn;
    }
    return mask;
}

static void note_runs(survey *s) {
    for (uint32_t r = 0; r < s->run_count; r++)
        for (uint32_t n = 0; n < s->runs[r].count; n++) {
            member *m = &s->members[s->runs[r].members[n]];
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
        survey s = {.k = k, .l = l};
        for (uint32_t o = 0; o < l->count && choice->is_copied; o++)
            if (l->loops[o].header == choice->header) s.loop = &l->loops[o];
        if (s.loop == NULL) continue;
        s.header = wpi_map_index(&l->found.index, choice->header);
        const bool has = has_runs(&s);
        wpi_map_deinit(&s.leaves);
        if (!has) continue;
        note_runs(&s);
        LLVMBasicBlockRef front = wpi_block_split_before(first_after_phis(choice->header));
        LLVMPositionBuilderBefore(k->c->builder, LLVMGetBasicBlockTerminator(front));
        decide(&s);
        for (uint32_t n = 0; n < k->nest_count; n++)
            if (k->nests[n] == choice->header) k->nests[n] = front;
        choice->header = front;
    }
}

/* ---- the accesses of turn `turn` ---- */

static LLVMValueRef word_at(const wpi_cache *k, LLVMValueRef words, uint32_t byte) {
    LLVMValueRef index = wpi_const32(k->c, byte / 4);
    return LLVMBuildGEP2(k->c->builder, k->c->i32, words, &index, 1, "");
}

static LLVMValueRef load_word(const wpi_cache *k, LLVMValueRef words, uint32_t byte) {
    return LLVMBuildLoad2(k->c->builder, k->c->i32, word_at(k, words, byte), "");
}

static LLVMTypeRef number_type(const wpi_cache *k, uint32_t bytes) {
    return LLVMIntTypeInContext(k->c->context, 8 * bytes);
}

static void read_line(const wpi_cache *k, LLVMValueRef words, LLVMValueRef from, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t first = byte / LINE_BYTES * LINE_BYTES;
    LLVMValueRef back = LLVMConstInt(k->c->i64, (uint64_t)first - byte, 1);
    from = LLVMBuildGEP2(at, k->c->i8, from, &back, 1, "");
    LLVMValueRef line = LLVMBuildLoad2(at, LLVMVectorType(k->c->i32, 4), from, "");
    LLVMSetAlignment(line, LINE_BYTES);
    for (uint32_t w = 0; w < 4; w++)
        LLVMBuildStore(at, LLVMBuildExtractElement(at, line, wpi_const32(k->c, w), ""),
                       word_at(k, words, first + 4 * w));
}

static void write_line(const wpi_cache *k, LLVMValueRef words, LLVMValueRef to, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t first = byte / LINE_BYTES * LINE_BYTES;
    LLVMValueRef line = LLVMGetUndef(LLVMVectorType(k->c->i32, 4));
    LLVMValueRef back = LLVMConstInt(k->c->i64, (uint64_t)first - byte, 1);
    for (uint32_t w = 0; w < 4; w++)
        line = LLVMBuildInsertElement(at, line, load_word(k, words, first + 4 * w),
                                      wpi_const32(k->c, w), "");
    to = LLVMBuildGEP2(at, k->c->i8, to, &back, 1, "");
    LLVMSetAlignment(LLVMBuildStore(at, line, to), LINE_BYTES);
}

static LLVMValueRef element(const wpi_cache *k, LLVMValueRef words, uint32_t bytes, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    LLVMValueRef value = load_word(k, words, byte);
    if (bytes == 8) {
        LLVMValueRef low = LLVMBuildZExt(at, value, k->c->i64, "");
        LLVMValueRef high = LLVMBuildZExt(at, load_word(k, words, byte + 4), k->c->i64, "");
        return LLVMBuildOr(at, low, LLVMBuildShl(at, high, wpi_const64(k->c, 32), ""), "");
    }
    if (bytes == 4) return value;
    value = LLVMBuildLShr(at, value, wpi_const32(k->c, byte % 4 * 8), "");
    return LLVMBuildTrunc(at, value, number_type(k, bytes), "");
}

/* The other bytes of a word stay. */
static void set_element(const wpi_cache *k, LLVMValueRef words, LLVMValueRef value, uint32_t bytes,
                        uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    if (bytes == 8) {
        LLVMValueRef high = LLVMBuildLShr(at, value, wpi_const64(k->c, 32), "");
        LLVMBuildStore(at, LLVMBuildTrunc(at, value, k->c->i32, ""), word_at(k, words, byte));
        value = LLVMBuildTrunc(at, high, k->c->i32, "");
        byte += 4;
    } else if (bytes < 4) {
        const uint32_t shift = byte % 4 * 8, own = ((1u << 8 * bytes) - 1) << shift;
        value =
            LLVMBuildShl(at, LLVMBuildZExt(at, value, k->c->i32, ""), wpi_const32(k->c, shift), "");
        LLVMValueRef others =
            LLVMBuildAnd(at, load_word(k, words, byte), wpi_const32(k->c, ~own), "");
        value = LLVMBuildOr(at, value, others, "");
    }
    LLVMBuildStore(at, value, word_at(k, words, byte));
}

static void rewrite_access(const wpi_cache *k, LLVMValueRef words, LLVMValueRef i,
                           const wpi_cache_note *note, uint32_t bytes, uint32_t turn) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t byte = turn * note->step_bytes + note->offset;
    const bool is_end = (note->line_turns >> turn & 1) != 0;
    LLVMPositionBuilderBefore(at, i);
    if (LLVMIsALoadInst(i)) {
        if (is_end) read_line(k, words, LLVMGetOperand(i, 0), byte);
        LLVMReplaceAllUsesWith(
            i, LLVMBuildBitCast(at, element(k, words, bytes, byte), LLVMTypeOf(i), ""));
    } else {
        set_element(k, words, LLVMBuildBitCast(at, LLVMGetOperand(i, 0), number_type(k, bytes), ""),
                    bytes, byte);
        if (is_end) write_line(k, words, LLVMGetOperand(i, 1), byte);
    }
    LLVMInstructionEraseFromParent(i);
}

void wpi_cache_run_turn(wpi_cache *k, LLVMBasicBlockRef block, uint32_t turn) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        const wpi_cache_note note = wpi_cache_noted(i);
        LLVMValueRef pointer;
        uint32_t bytes;
        bool is_write;
        if (note.run == 0 || !wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write)) continue;
        LLVMValueRef *words = &k->words[note.run - 1];
        if (*words == NULL) {
            LLVMPositionBuilderBefore(k->c->builder,
                                      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
            *words = LLVMBuildAlloca(k->c->builder, LLVMArrayType2(k->c->i32, RUN_BYTES_MAX / 4),
                                     "words");
        }
        rewrite_access(k, *words, i, &note, bytes, turn);
    }
}
