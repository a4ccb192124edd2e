/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of one block that are tested together.
 *
 * An address is a base, variable terms and a constant: a[y][k + 2] is a + 64 * y + 4 * k + 8.
 * Accesses with the same base and terms are a group; they are all good if the range from the first
 * byte to the last one is. Groups whose terms are known before the run are tested there, with one
 * branch for all. If a test fails, the guards of single accesses run, and report the error. */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/check/check_pass.h"

enum { TERMS_MAX = 6, GROUPS_MAX = 12, LENGTH_MAX = 2000, DEPTH_MAX = 24 };

typedef struct term {
    LLVMValueRef value;
    LLVMOpcode extension; /* of value, or 0 */
    uint64_t scale;
} term;

typedef struct address {
    LLVMValueRef base;
    term terms[TERMS_MAX];
    unsigned term_count;
    int64_t offset;
} address;

typedef struct group {
    address at; /* of its first access */
    access leader;
    origin origin;
    uint32_t index;       /* of the first access in all[] */
    int64_t first, outer; /* bytes that its accesses touch, relative to `at` */
    uint64_t align_bytes; /* that `at` must have; 1: it has it */
} group;

/* ---- addresses ---- */

/* Removes constants added to an index; before an extension only if they do not overflow. */
static void strip_constant(term *t, int64_t *offset) {
    while (LLVMIsAInstruction(t->value) && LLVMGetInstructionOpcode(t->value) == LLVMAdd &&
           LLVMIsAConstantInt(LLVMGetOperand(t->value, 1))) {
        LLVMValueRef constant = LLVMGetOperand(t->value, 1);
        if (t->extension == LLVMSExt && !LLVMGetNSW(t->value)) return;
        if (t->extension == LLVMZExt && !LLVMGetNUW(t->value)) return;
        int64_t value = t->extension == LLVMZExt ? (int64_t)LLVMConstIntGetZExtValue(constant)
                                                 : LLVMConstIntGetSExtValue(constant);
        *offset += value * (int64_t)t->scale;
        t->value = LLVMGetOperand(t->value, 0);
    }
}

static bool add_term(address *a, LLVMValueRef index, uint64_t scale) {
    if (LLVMIsAConstantInt(index)) {
        a->offset += LLVMConstIntGetSExtValue(index) * (int64_t)scale;
        return true;
    }
    term t = {.value = index, .scale = scale};
    if (LLVMGetIntTypeWidth(LLVMTypeOf(index)) < 64) t.extension = LLVMSExt; /* a gep's own rule */
    strip_constant(&t, &a->offset);
    if (!t.extension && (LLVMIsASExtInst(t.value) || LLVMIsAZExtInst(t.value))) {
        t.extension = LLVMGetInstructionOpcode(t.value);
        t.value = LLVMGetOperand(t.value, 0);
        strip_constant(&t, &a->offset);
    }
    if (a->term_count == TERMS_MAX) return false;
    a->terms[a->term_count++] = t;
    return true;
}

static bool add_gep(const checker *k, address *a, LLVMValueRef gep) {
    wpi_gep_walk_begin walk = wpi_gep_walk_begin(k->layout, gep);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&walk, &index, &bytes)) {
        if (!index)
            a->offset += (int64_t)bytes;
        else if (!add_term(a, index, bytes))
            return false;
    }
    return true;
}

static bool take_apart(const checker *k, LLVMValueRef pointer, address *a) {
    *a = (address){.base = pointer};
    while (LLVMIsAGetElementPtrInst(a->base)) {
        LLVMValueRef below = LLVMGetOperand(a->base, 0);
        if (LLVMGetTypeKind(LLVMTypeOf(below)) != LLVMPointerTypeKind) return true;
        if (!add_gep(k, a, a->base)) return false;
        a->base = below;
    }
    return true;
}

static bool has_term(const address *a, const term *t) {
    for (unsigned i = 0; i < a->term_count; i++)
        if (a->terms[i].value == t->value && a->terms[i].extension == t->extension &&
            a->terms[i].scale == t->scale)
            return true;
    return false;
}

/* Whether the addresses differ by a constant. */
static bool is_near(const address *a, const address *b) {
    if (a->base != b->base || a->term_count != b->term_count) return false;
    for (unsigned i = 0; i < a->term_count; i++)
        if (!has_term(b, &a->terms[i]) || !has_term(a, &b->terms[i])) return false;
    return true;
}

/* ---- groups ---- */

static int64_t end_of(const access *a, int64_t offset) {
    return offset + (int64_t)a->size_bytes;
}

/* `*is_new`: the group has not touched these bytes before. */
static bool join(group *g, const access *a, const address *at, uint64_t align_bytes, bool *is_new) {
    int64_t distance = at->offset - g->at.offset;
    uint64_t align = align_bytes > g->align_bytes ? align_bytes : g->align_bytes;
    if (!is_near(&g->at, at) || distance % (int64_t)align_bytes != 0) return false;
    g->align_bytes = align;
    *is_new = distance < g->first || end_of(a, distance) > g->outer;
    if (distance < g->first) g->first = distance;
    if (end_of(a, distance) > g->outer) g->outer = end_of(a, distance);
    return true;
}

typedef struct plan {
    group groups[GROUPS_MAX];
    uint32_t group_count;
    uint32_t guard_count; /* that its accesses would have by themselves */
} plan;

/* ---- what is known before the run ---- */

bool wpi_check_is_movable(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMGetElementPtr:
    case LLVMAddrSpaceCast:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMSExt:
    case LLVMZExt:
    case LLVMTrunc:
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMICmp:
    case LLVMSelect: return true;
    default: return false;
    }
}

/* `inside`: the instructions from the start of the run on. */
static bool is_known_before(const wpi_map *inside, LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value) || !wpi_map_has(inside, value)) return true;
    if (!wpi_check_is_movable(value) || depth == DEPTH_MAX) return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        if (!is_known_before(inside, LLVMGetOperand(value, o), depth + 1)) return false;
    return true;
}

/* Rebuilds `value` at the builder's position, before the run. */
static LLVMValueRef repeat(checker *k, const wpi_map *inside, wpi_map *made, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value) || !wpi_map_has(inside, value)) return value;
    LLVMValueRef copy = wpi_map_get(made, value);
    if (copy) return copy;
    copy = LLVMInstructionClone(value);
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        LLVMSetOperand(copy, o, repeat(k, inside, made, LLVMGetOperand(value, o)));
    LLVMInsertIntoBuilder(k->c->builder, copy);
    wpi_map_set(made, value, copy);
    return copy;
}

/* ---- finding a run ---- */

static bool ends_run(LLVMValueRef i) {
    const wpi_ir_access a = wpi_access_of(i);
    if (LLVMIsATerminatorInst(i) || LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i) ||
        a.kind == WP_ACCESS_FENCE || wpi_access_is_range(&a))
        return true;
    if (!LLVMIsACallInst(i)) return false;
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
    return strncmp(name, "llvm.", 5) != 0 || strncmp(name, "llvm.nvvm", 9) == 0;
}

/* Takes access all[index] into the plan; false: its address is not known before the run. */
static bool take(checker *k, plan *p, const wpi_map *inside, const access *a, uint32_t index) {
    LLVMValueRef pointer = LLVMGetOperand(a->instruction, a->operand);
    origin o = wpi_check_origin(k, pointer);
    if (wpi_check_is_safe(a, &o)) return true;
    address at;
    if (!take_apart(k, pointer, &at)) return false;
    uint64_t align = a->align_bytes > 1 && !wpi_check_is_aligned(a, &o) ? a->align_bytes : 1;
    for (uint32_t g = 0; g < p->group_count; g++) {
        bool is_new;
        if (!join(&p->groups[g], a, &at, align, &is_new)) continue;
        p->guard_count += is_new;
        return true;
    }
    if (p->group_count == GROUPS_MAX || !is_known_before(inside, pointer, 0)) return false;
    p->groups[p->group_count++] = (group){.at = at,
                                          .leader = *a,
                                          .origin = o,
                                          .index = index,
                                          .outer = end_of(a, 0),
                                          .align_bytes = align};
    p->guard_count++;
    return true;
}

static bool needs_guard(checker *k, LLVMValueRef i, access *a) {
    if (!wpi_check_describe(k, i, a)) return false;
    origin o = wpi_check_origin(k, LLVMGetOperand(i, a->operand));
    return !wpi_check_is_safe(a, &o);
}

static check_run walk(checker *k, LLVMValueRef *all, uint32_t count, uint32_t first, plan *p,
                      wpi_map *inside) {
    check_run run = {first, first};
    *p = (plan){0};
    for (uint32_t i = first; i < count; i++)
        wpi_map_set(inside, all[i], all[i]);
    for (uint32_t i = first; i < count && i - first < LENGTH_MAX && !ends_run(all[i]); i++) {
        access a;
        if (!needs_guard(k, all[i], &a)) continue;
        if (!take(k, p, inside, &a, i)) break;
        run.outer = i + 1;
    }
    if (p->guard_count < 2) run.outer = first;
    return run;
}

check_run wpi_check_run_find(checker *k, LLVMValueRef *all, uint32_t count, uint32_t first) {
    access a;
    if (!needs_guard(k, all[first], &a)) return (check_run){first, first};
    plan *p = wpi_must_malloc(sizeof *p);
    wpi_map inside = {0};
    check_run run = walk(k, all, count, first, p, &inside);
    wpi_map_deinit(&inside);
    wpi_free(p);
    return run;
}

/* ---- testing it ---- */

/* Builds the test whether an address of the group is bad. */
static LLVMValueRef is_bad_group(checker *k, const group *g, LLVMValueRef pointer, uint32_t site) {
    wpi_compile *c = k->c;
    LLVMBuilderRef at = c->builder;
    LLVMValueRef number = LLVMBuildPtrToInt(at, wpi_check_generic(c, pointer), c->i64, "");
    LLVMValueRef lowest = LLVMBuildAdd(at, number, wpi_const64(c, (uint64_t)g->first), "");
    access whole = g->leader;
    whole.size_bytes = (uint64_t)(g->outer - g->first);
    bounds b = wpi_check_bounds(k, &whole, &g->origin, site);
    LLVMValueRef offset = LLVMBuildSub(at, lowest, b.first, "");
    LLVMValueRef bad = LLVMBuildICmp(at, LLVMIntUGE, offset, b.limit, "");
    uint64_t more = whole.size_bytes - g->leader.size_bytes;
    if (g->origin.object == WP_CHECK_ANY && more) { /* the guard's limit is only for the leader */
        LLVMValueRef last = LLVMBuildAdd(at, offset, wpi_const64(c, more), "");
        bad = LLVMBuildOr(at, bad, LLVMBuildICmp(at, LLVMIntUGE, last, b.limit, ""), "");
    }
    if (g->align_bytes > 1) {
        LLVMValueRef low = LLVMBuildAnd(at, number, wpi_const64(c, g->align_bytes - 1), "");
        bad = LLVMBuildOr(at, bad, LLVMBuildICmp(at, LLVMIntNE, low, wpi_const64(c, 0), ""), "");
    }
    return bad;
}

/* Copies all[first … outer) to the builder's place; `copies` has them. */
static void copy_run(checker *k, LLVMValueRef *all, check_run run, wpi_map *copies) {
    for (uint32_t i = run.first; i < run.outer; i++) {
        LLVMValueRef copy = LLVMInstructionClone(all[i]);
        for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(copy); o++) {
            LLVMValueRef changed = wpi_map_get(copies, LLVMGetOperand(copy, o));
            if (changed) LLVMSetOperand(copy, o, changed);
        }
        LLVMInsertIntoBuilder(k->c->builder, copy);
        wpi_map_set(copies, all[i], copy);
    }
}

/* Values of the run that are used after it come from either copy. */
static void merge_value(checker *k, LLVMValueRef value, LLVMValueRef copy, LLVMBasicBlockRef run,
                        LLVMBasicBlockRef fast, LLVMBasicBlockRef rest) {
    LLVMValueRef phi = wpi_uses_read_phi(k->c->builder, value, rest);
    if (phi)
        LLVMAddIncoming(phi, (LLVMValueRef[]){value, copy}, (LLVMBasicBlockRef[]){run, fast}, 2);
}

void wpi_check_run_split(checker *k, LLVMValueRef *all, check_run run, uint32_t *sites) {
    wpi_compile *c = k->c;
    plan *p = wpi_must_malloc(sizeof *p);
    wpi_map inside = {0}, made = {0}, copies = {0};
    (void)walk(k, all, run.outer, run.first, p, &inside);

    LLVMPositionBuilderBefore(c->builder, all[run.first]);
    LLVMValueRef bad = NULL;
    for (uint32_t g = 0; g < p->group_count; g++) {
        const group *one = &p->groups[g];
        sites[one->index] = wpi_check_add_site(k, &one->leader, &one->origin);
        LLVMValueRef pointer =
            repeat(k, &inside, &made, LLVMGetOperand(one->leader.instruction, one->leader.operand));
        LLVMValueRef is_bad = is_bad_group(k, one, pointer, sites[one->index]);
        bad = bad ? LLVMBuildOr(c->builder, bad, is_bad, "") : is_bad;
    }
    LLVMBasicBlockRef front = wpi_block_split_before(all[run.first]);
    LLVMBasicBlockRef slow = wpi_block_split_before(all[run.outer]);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(all[run.outer]);
    LLVMBasicBlockRef fast = LLVMInsertBasicBlockInContext(c->context, rest, "fast");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(c->builder, front);
    LLVMValueRef branch = LLVMBuildCondBr(c->builder, bad, slow, fast);
    wpi_branch_mark_rare(c->context, branch);
    wpi_check_mark_guard(c, branch);
    LLVMPositionBuilderAtEnd(c->builder, fast);
    copy_run(k, all, run, &copies);
    LLVMBuildBr(c->builder, rest);
    for (uint32_t i = run.first; i < run.outer; i++)
        if (LLVMGetTypeKind(LLVMTypeOf(all[i])) != LLVMVoidTypeKind)
            merge_value(k, all[i], wpi_map_get(&copies, all[i]), slow, fast, rest);
    wpi_map_deinit(&inside);
    wpi_map_deinit(&made);
    wpi_map_deinit(&copies);
    wpi_free(p);
}
