/* SPDX-License-Identifier: Apache-2.0 */
/* Moves loads to the front, as ptxas does: a thread waits at the first use of a loaded value, and
 * all loads issued before overlap.
 *
 *     a = load x; s = s + a; b = load y; s = s + b    ──►    a = load x; b = load y; s = s + a; …
 *
 * Within a run of instructions between barriers to motion, loads and the computation of their
 * addresses move to the front: first loads whose addresses need no load of the run, then those that
 * need one, and so on. A load does not pass a store that may alias. */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

typedef struct item {
    LLVMValueRef instruction;
    trace_access access; /* of a load or store */
    uint32_t level;      /* longest chain of the run's loads that it needs */
    bool is_movable;     /* may be executed at the front */
    bool is_load;        /* … and is a load */
    bool is_early;       /* … or is needed by one */
} item;

typedef struct run {
    tracer *t;
    item *items;
    uint32_t count;
    wpi_map index;
} run;

/* Whether a call is pure, and accesses no memory. */
static bool is_pure_call(LLVMValueRef i) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
    if (strncmp(name, "wp.", 3) == 0) return true;
    if (strncmp(name, "llvm.", 5) != 0 && strncmp(name, "__nv_", 5) != 0) return false;
    for (unsigned a = 0; a < LLVMGetNumArgOperands(i); a++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(i, a))) == LLVMPointerTypeKind)
            return false;
    return LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind;
}

/* Whether no instruction may be moved across it. */
static bool is_wall(LLVMValueRef i) {
    if (LLVMIsATerminatorInst(i) || LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i)) return true;
    const wpi_ir_access a = wpi_access_of(i);
    switch (a.kind) {
    case WP_ACCESS_NONE: return LLVMIsACallInst(i) && !is_pure_call(i);
    case WP_ACCESS_READ: return a.is_ordered;
    case WP_ACCESS_WRITE: return LLVMGetVolatile(i);
    default: return true;
    }
}

static bool is_parameter(const trace_access *a) {
    return a->memory == TRACE_CONSTANT || a->memory == TRACE_OPERAND || a->space == WP_TRACE_CONST;
}

/* Whether the two may alias. Memory that is neither shared nor global may be any. */
static bool may_meet(const trace_access *store, const trace_access *load) {
    bool store_is_own = store->memory == TRACE_PRIVATE, load_is_own = load->memory == TRACE_PRIVATE;
    bool either_is_generic = store->space == WP_TRACE_GENERIC || load->space == WP_TRACE_GENERIC;
    if (load->cache == WP_TRACE_CACHE_READ_ONLY) return false;
    if (is_parameter(store)) return true; /* a kernel's own copy of a structure */
    if (is_parameter(load)) return !store_is_own && store->space == WP_TRACE_GENERIC;
    if (store_is_own != load_is_own)
        return (store_is_own ? load : store)->space == WP_TRACE_GENERIC;
    return store->space == load->space || either_is_generic;
}

static bool passes_stores(const run *r, uint32_t load) {
    for (uint32_t i = 0; i < load; i++)
        if (LLVMIsAStoreInst(r->items[i].instruction) &&
            may_meet(&r->items[i].access, &r->items[load].access))
            return false;
    return true;
}

/* Decides whether item `n`, whose operands are decided, may move to the front, and after how many
 * loads.
 */
static void find_place(run *r, uint32_t n) {
    item *it = &r->items[n];
    LLVMValueRef i = it->instruction;
    bool is_load = LLVMIsALoadInst(i) != NULL;
    it->is_movable =
        is_load ? passes_stores(r, n) : wpi_is_pure_operation(i) || wpi_lower_stands_for_value(i);
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(i); o++) {
        uint32_t from = wpi_map_index(&r->index, LLVMGetOperand(i, o));
        if (from == UINT32_MAX) continue;
        uint32_t level = r->items[from].level + r->items[from].is_load;
        if (level > it->level) it->level = level;
        it->is_movable &= r->items[from].is_movable;
    }
    it->is_load = is_load && it->is_movable;
}

static void mark_early(run *r, LLVMValueRef value) {
    uint32_t i = wpi_map_index(&r->index, value);
    if (i == UINT32_MAX || r->items[i].is_early) return;
    r->items[i].is_early = true;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        mark_early(r, LLVMGetOperand(value, o));
}

/* Puts the run's instructions before `behind`, in their new order. */
static void place(run *r, LLVMValueRef behind, uint32_t levels) {
    LLVMBuilderRef at = r->t->c->builder;
    for (uint32_t i = 0; i < r->count; i++)
        LLVMInstructionRemoveFromParent(r->items[i].instruction);
    LLVMPositionBuilderBefore(at, behind);
    LLVMSetCurrentDebugLocation2(at, NULL); /* instructions keep their own */
    for (uint32_t level = 0; level < levels; level++)
        for (uint32_t i = 0; i < r->count; i++)
            if (r->items[i].is_early && r->items[i].level == level)
                LLVMInsertIntoBuilder(at, r->items[i].instruction);
    for (uint32_t i = 0; i < r->count; i++)
        if (!r->items[i].is_early) LLVMInsertIntoBuilder(at, r->items[i].instruction);
}

static void order_run(run *r, LLVMValueRef behind) {
    uint32_t levels = 0, loads = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        find_place(r, i);
        if (!r->items[i].is_load) continue;
        loads++;
        mark_early(r, r->items[i].instruction);
        if (r->items[i].level >= levels) levels = r->items[i].level + 1;
    }
    if (loads) place(r, behind, levels);
}

static void order_block(run *r, LLVMBasicBlockRef block) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!is_wall(i)) {
            r->items = wpi_trace_grow(r->items, r->count, sizeof *r->items);
            r->items[r->count] = (item){.instruction = i, .access = wpi_trace_access(r->t, i)};
            wpi_map_set_index(&r->index, i, r->count++);
            continue;
        }
        order_run(r, i);
        r->count = 0;
        wpi_map_deinit(&r->index);
    }
}

void wpi_trace_order(tracer *t, LLVMValueRef function) {
    run r = {.t = t};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        order_block(&r, b);
    wpi_free(r.items);
}
