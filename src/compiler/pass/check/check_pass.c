/* SPDX-License-Identifier: Apache-2.0 */
/* Guards before the accesses of checked code (base/abi.h, "variants").
 *
 *     %address = …              ┌── front: is %address within bounds and aligned? ──┐
 *     load %address   becomes   │ yes         no │ slow: %other = wp_rt_check(…)
 *                               └──► load phi(%address, %other) ◄──────────────────┘
 *
 * If the access is based on an object of known extent (an array of the thread, shared memory, a
 * variable), the guard compares with its bounds; accesses at constant offsets inside need no guard.
 * Any other address is compared with the range that was last valid at the site. */
#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/source_variable.h"
#include "compiler/pass/check/check_pass.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

#define NO_SITE UINT32_MAX

/* ---- where an address comes from ---- */

/* The greatest power of two that divides both; every one divides 0. */
static uint64_t common_step(uint64_t a, uint64_t b) {
    uint64_t both = a | b;
    return both & (~both + 1);
}

static void add_offsets(const checker *k, LLVMValueRef gep, origin *to) {
    wpi_gep_walk walk = wpi_gep_walk_begin(k->layout, gep);
    LLVMValueRef index;
    uint64_t bytes;
    while (wpi_gep_next(&walk, &index, &bytes)) {
        int64_t offset = (int64_t)bytes;
        if (index && LLVMIsAConstantInt(index)) {
            offset *= LLVMConstIntGetSExtValue(index);
        } else if (index) {
            to->is_constant = false;
            to->step = common_step(to->step, bytes);
            continue;
        }
        to->offset += offset;
        to->step = common_step(to->step, (uint64_t)offset);
    }
}

static void classify(const checker *k, origin *o) {
    LLVMValueRef base = o->base;
    if (LLVMIsAAllocaInst(base)) {
        if (!LLVMIsAConstantInt(LLVMGetOperand(base, 0))) return;
        o->object = WP_CHECK_LOCAL;
        o->size_bytes = LLVMABISizeOfType(k->layout, LLVMGetAllocatedType(base)) *
                        LLVMConstIntGetZExtValue(LLVMGetOperand(base, 0));
    } else if (LLVMIsAArgument(base)) {
        LLVMValueRef function = LLVMGetParamParent(base);
        unsigned p = 0, byval = LLVMGetEnumAttributeKindForName("byval", 5);
        while (LLVMGetParam(function, p) != base)
            p++;
        LLVMAttributeRef attribute = LLVMGetEnumAttributeAtIndex(function, p + 1, byval);
        if (!attribute) return;
        o->object = WP_CHECK_PARAMETER;
        o->size_bytes = LLVMABISizeOfType(k->layout, LLVMGetTypeAttributeValue(attribute));
    } else if (LLVMIsAGlobalVariable(base)) {
        unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(base));
        o->object = space == WP_SPACE_SHARED     ? WP_CHECK_SHARED
                    : space == WP_SPACE_CONSTANT ? WP_CHECK_CONSTANT
                                                 : WP_CHECK_VARIABLE;
        if (LLVMIsDeclaration(base))
            o->object = space == WP_SPACE_SHARED ? WP_CHECK_DYNAMIC : WP_CHECK_ANY;
        else
            o->size_bytes = LLVMABISizeOfType(k->layout, LLVMGlobalGetValueType(base));
    } else if (LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == WP_SPACE_SHARED) {
        o->object = WP_CHECK_SHARED;
    }
}

origin wpi_check_origin(const checker *k, LLVMValueRef address) {
    origin o = {.base = address, .is_constant = true};
    for (;;) {
        if (LLVMIsAGetElementPtrInst(o.base)) {
            add_offsets(k, o.base, &o);
        } else if (!LLVMIsAAddrSpaceCastInst(o.base) && !LLVMIsABitCastInst(o.base)) {
            break;
        }
        LLVMValueRef below = LLVMGetOperand(o.base, 0);
        if (LLVMGetTypeKind(LLVMTypeOf(below)) != LLVMPointerTypeKind) break;
        o.base = below;
    }
    classify(k, &o);
    return o;
}

/* Whether the base is the block, whose fields earlier passes read. */
static bool is_block(LLVMValueRef base) {
    LLVMValueRef callee = wpi_called_function(base);
    size_t length;
    return callee && strcmp(LLVMGetValueName2(callee, &length), WP_BLOCK_PLACEHOLDER) == 0;
}

bool wpi_check_is_safe(const access *a, const origin *o) {
    if (is_block(o->base)) return true;
    return o->object != WP_CHECK_ANY && o->is_constant && a->size_bytes && o->offset >= 0 &&
           (uint64_t)o->offset + a->size_bytes <= o->size_bytes;
}

/* ---- sites ---- */

static uint32_t place_number(checker *k, LLVMValueRef barrier) {
    uint64_t hash = wpi_source_hash(barrier);
    for (uint32_t p = 0; p < k->place_count; p++)
        if (k->places[p] == hash) return p + 1;
    k->places = wpi_must_realloc(k->places, (k->place_count + 1) * sizeof *k->places);
    k->places[k->place_count] = hash;
    return ++k->place_count;
}

static uint32_t flags_of_barrier(LLVMValueRef stop) {
    return wpi_lower_has_note(stop, WP_LIBRARY_METADATA) ? WP_CHECK_SITE_LIBRARY : 0;
}

static uint32_t add_site(checker *k, LLVMValueRef instruction, const access *a, const origin *o) {
    wpi_compile *c = k->c;
    wpi_source_place place = wpi_source_place_of(instruction);
    LLVMValueRef fields[] = {
        wpi_source_text(c, place.file, place.file_length),
        o ? wpi_source_variable(c, o->base) : LLVMConstNull(c->ptr),
        a ? LLVMConstNull(c->ptr) : wpi_source_calls(c, instruction),
        wpi_const32(c, place.line),
        wpi_const32(c, a ? (uint32_t)a->kind : WP_CHECK_BARRIER),
        wpi_const32(c, o ? (uint32_t)o->object : WP_CHECK_ANY),
        wpi_const32(c, a ? (uint32_t)a->size_bytes : 0),
        wpi_const32(c, a ? a->align_bytes : 0),
        wpi_const32(c, a ? a->flags : flags_of_barrier(instruction)),
        wpi_const32(c, a || !place.file ? 0 : place_number(k, instruction)),
    };
    k->sites = wpi_must_realloc(k->sites, (k->site_count + 1) * sizeof *k->sites);
    k->sites[k->site_count] =
        LLVMConstStructInContext(c->context, fields, sizeof fields / sizeof *fields, 0);
    return k->site_count++;
}

uint32_t wpi_check_add_site(checker *k, const access *a, const origin *o) {
    return add_site(k, a->instruction, a, o);
}

static void export_sites(checker *k) {
    wpi_compile *c = k->c;
    LLVMTypeRef words[] = {c->ptr, c->ptr, c->ptr, c->i32, c->i32,
                           c->i32, c->i32, c->i32, c->i32, c->i32};
    LLVMTypeRef type = LLVMStructTypeInContext(c->context, words, sizeof words / sizeof *words, 0);
    LLVMValueRef values[] = {LLVMConstArray2(type, k->sites, k->site_count),
                             wpi_const32(c, k->site_count)};
    static const char *const names[] = {"wp_check_sites", "wp_check_site_count"};
    for (int i = 0; i < 2; i++) {
        LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(values[i]), names[i]);
        LLVMSetInitializer(global, values[i]);
        LLVMSetGlobalConstant(global, 1);
    }
}

/* ---- the guard ---- */

static LLVMValueRef block_field(wpi_compile *c, size_t offset, LLVMTypeRef type) {
    LLVMValueRef address =
        wpi_lower_block_field(c, c->builder, wpi_lower_block(c, c->builder), offset);
    LLVMValueRef value = LLVMBuildLoad2(c->builder, type, address, "");
    unsigned kind = LLVMGetMDKindIDInContext(c->context, "invariant.load", 14);
    LLVMSetMetadata(value, kind,
                    LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, NULL, 0)));
    return value;
}

static LLVMValueRef shared_memory(wpi_compile *c) {
    LLVMValueRef function = LLVMGetNamedFunction(c->module, WP_SHARED_PLACEHOLDER);
    if (!function) {
        function = wpi_compile_declare(c, WP_SHARED_PLACEHOLDER, c->ptr, NULL, 0);
        wpi_lower_mark_pure(c, function);
    }
    return LLVMBuildCall2(c->builder, wpi_function_type(function), function, NULL, 0, "");
}

LLVMValueRef wpi_check_generic(wpi_compile *c, LLVMValueRef pointer) {
    return LLVMTypeOf(pointer) == c->ptr ? pointer
                                         : LLVMBuildAddrSpaceCast(c->builder, pointer, c->ptr, "");
}

#define GUARD_METADATA "wp.guard"

static unsigned guard_kind(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMDKindIDInContext(context, GUARD_METADATA, sizeof GUARD_METADATA - 1);
}

void wpi_check_mark_guard(wpi_compile *c, LLVMValueRef instruction) {
    LLVMSetMetadata(instruction, guard_kind(instruction),
                    LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, NULL, 0)));
}

bounds wpi_check_bounds(checker *k, const access *a, const origin *o, uint32_t site) {
    wpi_compile *c = k->c;
    bounds b = {0};
    if (o->object == WP_CHECK_ANY) {
        LLVMValueRef guards = block_field(c, offsetof(wp_cpu_block, guards), c->ptr);
        LLVMValueRef words[2];
        for (uint32_t w = 0; w < 2; w++) {
            LLVMValueRef index =
                wpi_const64(c, site * sizeof(wp_check_guard) + w * sizeof(uint64_t));
            LLVMValueRef at = LLVMBuildInBoundsGEP2(c->builder, c->i8, guards, &index, 1, "");
            words[w] = LLVMBuildLoad2(c->builder, c->i64, at, "");
        }
        b.first = words[0];
        b.limit = words[1];
        return b;
    }
    bool is_whole = o->object == WP_CHECK_SHARED && !o->size_bytes;
    b.base = is_whole ? shared_memory(c) : wpi_check_generic(c, o->base);
    b.first = LLVMBuildPtrToInt(c->builder, b.base, c->i64, "");
    if (o->size_bytes) {
        b.size = wpi_const64(c, o->size_bytes);
        b.limit =
            wpi_const64(c, o->size_bytes >= a->size_bytes ? o->size_bytes - a->size_bytes + 1 : 0);
        return b;
    }
    size_t field = is_whole ? offsetof(wp_cpu_block, shared_bytes)
                            : offsetof(wp_cpu_block, shared_dynamic_bytes);
    b.size = LLVMBuildZExt(c->builder, block_field(c, field, c->i32), c->i64, "");
    LLVMValueRef need = wpi_const64(c, a->size_bytes - 1), zero = wpi_const64(c, 0);
    LLVMValueRef fits = LLVMBuildICmp(c->builder, LLVMIntUGT, b.size, need, "");
    b.limit =
        LLVMBuildSelect(c->builder, fits, LLVMBuildSub(c->builder, b.size, need, ""), zero, "");
    return b;
}

bool wpi_check_is_guard(LLVMValueRef branch) {
    return LLVMGetMetadata(branch, guard_kind(branch)) != NULL;
}

static LLVMValueRef ask(checker *k, LLVMValueRef address, uint32_t site, const bounds *b) {
    wpi_compile *c = k->c;
    LLVMTypeRef params[] = {c->ptr, c->i32, c->ptr, c->i64};
    LLVMValueRef args[] = {address, wpi_const32(c, site), b->base, b->size};
    const char *name = b->base ? "wp_rt_check_object" : "wp_rt_check";
    unsigned count = b->base ? 4 : 2;
    LLVMValueRef function = wpi_compile_declare(c, name, c->ptr, params, count);
    return LLVMBuildCall2(c->builder, wpi_function_type(function), function, args, count, "");
}

bool wpi_check_is_aligned(const access *a, const origin *o) {
    if (o->object == WP_CHECK_ANY ||
        !(LLVMIsAAllocaInst(o->base) || LLVMIsAGlobalVariable(o->base)))
        return false;
    unsigned alignment = LLVMGetAlignment(o->base);
    return alignment && common_step(o->step, alignment) >= a->align_bytes;
}

/* Builds a guard; returns the address for the access. */
static LLVMValueRef guard(checker *k, const access *a, const origin *o, uint32_t site) {
    wpi_compile *c = k->c;
    LLVMBuilderRef at = c->builder;
    LLVMValueRef pointer = LLVMGetOperand(a->instruction, a->operand);
    if (site == NO_SITE) site = add_site(k, a->instruction, a, o);
    LLVMPositionBuilderBefore(at, a->instruction);
    LLVMValueRef address = wpi_check_generic(c, pointer);
    LLVMValueRef number = LLVMBuildPtrToInt(at, address, c->i64, "");
    bounds b = wpi_check_bounds(k, a, o, site);
    LLVMValueRef offset = LLVMBuildSub(at, number, b.first, "");
    LLVMValueRef is_bad = LLVMBuildICmp(at, LLVMIntUGE, offset, b.limit, "");
    if (a->align_bytes > 1 && !wpi_check_is_aligned(a, o)) {
        LLVMValueRef low = LLVMBuildAnd(at, number, wpi_const64(c, a->align_bytes - 1), "");
        is_bad =
            LLVMBuildOr(at, is_bad, LLVMBuildICmp(at, LLVMIntNE, low, wpi_const64(c, 0), ""), "");
    }

    LLVMBasicBlockRef front = wpi_block_split_before(a->instruction);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(a->instruction);
    LLVMBasicBlockRef slow = LLVMInsertBasicBlockInContext(c->context, rest, "slow");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(at, front);
    LLVMValueRef branch = LLVMBuildCondBr(at, is_bad, slow, rest);
    wpi_branch_mark_rare(c->context, branch);
    if (!k->is_in_run) wpi_check_mark_guard(c, branch);
    LLVMPositionBuilderAtEnd(at, slow);
    LLVMValueRef other = ask(k, address, site, &b);
    LLVMBuildBr(at, rest);
    LLVMPositionBuilderBefore(at, a->instruction);
    LLVMValueRef chosen = LLVMBuildPhi(at, c->ptr, "checked");
    LLVMAddIncoming(chosen, (LLVMValueRef[]){address, other}, (LLVMBasicBlockRef[]){front, slow},
                    2);
    return LLVMTypeOf(pointer) == c->ptr
               ? chosen
               : LLVMBuildAddrSpaceCast(at, chosen, LLVMTypeOf(pointer), "");
}

/* Guards memcpy and similar: copies nothing if a range is bad. */
static void guard_range(checker *k, const access *a, const origin *o) {
    wpi_compile *c = k->c;
    uint32_t site = add_site(k, a->instruction, a, o);
    LLVMPositionBuilderBefore(c->builder, a->instruction);
    LLVMValueRef size = LLVMGetOperand(a->instruction, 2);
    LLVMTypeRef params[] = {c->ptr, c->i32, c->i64};
    LLVMValueRef args[] = {wpi_check_generic(c, LLVMGetOperand(a->instruction, a->operand)),
                           wpi_const32(c, site),
                           LLVMBuildIntCast2(c->builder, size, c->i64, 0, "")};
    LLVMValueRef function = wpi_compile_declare(c, "wp_rt_check_range", c->i64, params, 3);
    LLVMValueRef good =
        LLVMBuildCall2(c->builder, wpi_function_type(function), function, args, 3, "");
    LLVMSetOperand(a->instruction, 2, LLVMBuildIntCast2(c->builder, good, LLVMTypeOf(size), 0, ""));
}

/* ---- finding the accesses ---- */

bool wpi_check_describe(const checker *k, LLVMValueRef i, access *a) {
    if (wpi_lower_has_note(i, WP_LIBRARY_METADATA)) return false;
    const wpi_ir_access what = wpi_access_of(i);
    *a = (access){.instruction = i, .operand = what.operand};
    switch (what.kind) {
    case WP_ACCESS_READ: break;
    case WP_ACCESS_WRITE: a->kind = WP_CHECK_STORE; break;
    case WP_ACCESS_ATOMIC: a->kind = WP_CHECK_ATOMIC; break;
    default: return false;
    }
    a->size_bytes = wpi_access_bytes(k->layout, &what);
    a->align_bytes = LLVMGetAlignment(i);
    return a->size_bytes != 0;
}

/* Whether the access is a range whose size a guard can change, unlike in inline forms. */
static bool is_range(const wpi_ir_access *what) {
    if (!wpi_access_is_range(what)) return false;
    const unsigned id = LLVMGetIntrinsicID(wpi_called_function(what->instruction));
    return id != LLVMLookupIntrinsicID("llvm.memcpy.inline", 18) &&
           id != LLVMLookupIntrinsicID("llvm.memset.inline", 18);
}

static void check_range(checker *k, LLVMValueRef i, unsigned operand) {
    LLVMValueRef size = LLVMGetOperand(i, 2);
    access a = {.instruction = i,
                .operand = operand,
                .kind = operand == 0 ? WP_CHECK_STORE : WP_CHECK_LOAD};
    if (LLVMIsAConstantInt(size)) a.size_bytes = LLVMConstIntGetZExtValue(size);
    origin o = wpi_check_origin(k, LLVMGetOperand(i, operand));
    if (wpi_check_is_safe(&a, &o)) return;
    guard_range(k, &a, &o);
}

static bool is_block_barrier(LLVMValueRef i) {
    if (!wpi_lower_is_stop(i)) return false;
    uint32_t op = wpi_lower_stop_op(i);
    return op >= WP_STOP_BARRIER && op <= WP_STOP_BARRIER_OR;
}

/* Makes threads record the barrier that they reach. */
static void note_barrier(checker *k, LLVMValueRef stop) {
    wpi_compile *c = k->c;
    uint32_t site = add_site(k, stop, NULL, NULL);
    LLVMPositionBuilderBefore(c->builder, stop);
    LLVMValueRef sites = block_field(c, offsetof(wp_cpu_block, barrier_sites), c->ptr);
    LLVMValueRef thread =
        LLVMBuildZExt(c->builder, wpi_lower_id(c, c->builder, WP_ID_THREAD), c->i64, "");
    LLVMBuildStore(c->builder, wpi_const32(c, site),
                   LLVMBuildInBoundsGEP2(c->builder, c->i32, sites, &thread, 1, ""));
}

/* A checked address, valid for further accesses in its block that are not wider. */
typedef struct known {
    LLVMValueRef pointer, checked;
    uint64_t size_bytes;
} known;

static void check_access(checker *k, const access *a, uint32_t site, known *seen,
                         uint32_t *seen_count) {
    LLVMValueRef pointer = LLVMGetOperand(a->instruction, a->operand);
    origin o = wpi_check_origin(k, pointer);
    if (wpi_check_is_safe(a, &o)) return;
    LLVMValueRef checked = NULL;
    for (uint32_t s = 0; s < *seen_count && !checked && site == NO_SITE; s++)
        if (seen[s].pointer == pointer && seen[s].size_bytes >= a->size_bytes)
            checked = seen[s].checked;
    if (!checked) {
        checked = guard(k, a, &o, site);
        seen[(*seen_count)++] = (known){pointer, checked, a->size_bytes};
    }
    LLVMSetOperand(a->instruction, a->operand, checked);
}

static void check_instruction(checker *k, LLVMValueRef i, uint32_t site, known *seen,
                              uint32_t *seen_count) {
    access a;
    if (wpi_check_describe(k, i, &a)) {
        check_access(k, &a, site, seen, seen_count);
    } else if (is_block_barrier(i)) {
        note_barrier(k, i);
    } else {
        const wpi_ir_access what = wpi_access_of(i);
        if (!is_range(&what) || wpi_lower_has_note(i, WP_LIBRARY_METADATA)) return;
        check_range(k, i, 0);
        if (what.kind == WP_ACCESS_COPY) check_range(k, i, 1);
    }
}

/* Addresses checked by a run are known only in its guarded copy. */
static void check_block(checker *k, LLVMBasicBlockRef block) {
    uint32_t count = 0, seen_count = 0, n = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count++;
    LLVMValueRef *all = wpi_must_calloc(count + 1, sizeof *all);
    known *seen = wpi_must_calloc(count + 1, sizeof *seen);
    uint32_t *sites = wpi_must_calloc(count + 1, sizeof *sites);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        sites[n] = NO_SITE;
        all[n++] = i;
    }
    check_run run = {0};
    for (uint32_t i = 0; i < count; i++) {
        bool is_inside = i < run.outer;
        if (!is_inside) {
            if (i == run.outer && i > 0 && run.first < run.outer) seen_count = 0;
            run = wpi_check_run_find(k, all, count, i);
            if (run.first < run.outer) {
                wpi_check_run_split(k, all, run, sites);
                seen_count = 0;
            }
        }
        k->is_in_run = i < run.outer;
        check_instruction(k, all[i], sites[i], seen, &seen_count);
    }
    wpi_free(all);
    wpi_free(seen);
    wpi_free(sites);
}

static void check_function(checker *k, LLVMValueRef function) {
    uint32_t count = LLVMCountBasicBlocks(function);
    LLVMBasicBlockRef *blocks = wpi_must_calloc(count + 1, sizeof *blocks);
    LLVMGetBasicBlocks(function, blocks);
    const bool finds_races = k->c->variant.finds_races;
    if (finds_races) wpi_check_races_choose(k, function);
    for (uint32_t b = 0; b < count; b++)
        check_block(k, blocks[b]);
    if (finds_races) wpi_check_races_say(k, function);
    wpi_free(blocks);
}

wp_status wpi_pass_check(wpi_compile *c, wp_error *err) {
    (void)err;
    checker k = {.c = c, .layout = LLVMGetModuleDataLayout(c->module)};
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        wpi_constant_expand_uses(c->context, g);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) check_function(&k, f);
    export_sites(&k);
    wpi_free(k.places);
    wpi_free(k.sites);
    return WP_STATUS_OK;
}
