/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses that may race with other threads' are reported to the runtime (base/abi.h, wp_rt_race),
 * and so is each place where a thread synchronises with others, but for barriers of all threads,
 * which the scheduler sees.
 *
 * Accesses are chosen before they get guards, as the objects that addresses start from are visible
 * then, and reported after, with the addresses that the guards let through. What only the thread
 * can reach is left out; and so are reads of an array that the kernel does not write, seen by the
 * parameter or variable that the address starts from: two parameters for one array hide a race. */
#include <llvm-c/Target.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/check/check_pass.h"
#include "compiler/pass/lower_pass.h"

#define RACE_METADATA "wp.race" /* of an access: its site */

/* ---- which accesses ---- */

enum { FIELDS_MAX = 32 };

/* What a function writes, as far as that is known. */
typedef struct written {
    wpi_map objects;                 /* parameters, fields of parameters, variables */
    bool is_anything;                /* … and other memory */
    LLVMValueRef fields[FIELDS_MAX]; /* the first load of each pointer in a structure parameter */
    uint32_t field_count;
} written;

/* The first load of a pointer from this field of a structure parameter; NULL: `load` is no such
 * load. */
static LLVMValueRef field_of(const checker *k, written *w, LLVMValueRef load) {
    if (!LLVMIsALoadInst(load)) return NULL;
    const origin o = wpi_check_origin(k, LLVMGetOperand(load, 0));
    if (o.object != WP_CHECK_PARAMETER || !o.is_constant) return NULL;
    for (uint32_t f = 0; f < w->field_count; f++) {
        const origin other = wpi_check_origin(k, LLVMGetOperand(w->fields[f], 0));
        if (other.base == o.base && other.offset == o.offset) return w->fields[f];
    }
    if (w->field_count == FIELDS_MAX) return NULL;
    return w->fields[w->field_count++] = load;
}

/* What stands for the object that an address starts from; NULL: it is unknown. */
static LLVMValueRef object_of(const checker *k, written *w, LLVMValueRef root) {
    return LLVMIsAArgument(root) || LLVMIsAGlobalVariable(root) ? root : field_of(k, w, root);
}

static bool is_private_object(const checker *k, LLVMValueRef pointer) {
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
    if (space != WP_SPACE_GENERIC && space != WP_SPACE_GLOBAL && space != WP_SPACE_SHARED)
        return true;
    const origin o = wpi_check_origin(k, pointer);
    return LLVMIsAAllocaInst(o.base) || o.object == WP_CHECK_PARAMETER ||
           o.object == WP_CHECK_CONSTANT || wpi_lower_stands_for_value(o.base);
}

static void add_written(const checker *k, LLVMValueRef pointer, written *w) {
    if (is_private_object(k, pointer)) return;
    const wpi_pointer_roots roots = wpi_pointer_roots_of(pointer);
    w->is_anything = w->is_anything || roots.is_incomplete;
    for (uint32_t r = 0; r < roots.count; r++) {
        LLVMValueRef object = object_of(k, w, roots.items[r]);
        if (object)
            wpi_map_set(&w->objects, object, object);
        else if (!LLVMIsAAllocaInst(roots.items[r]))
            w->is_anything = true;
    }
}

/* Calls of functions that were not inlined, and of the runtime, may write anything that they get.
 */
static void add_called(LLVMValueRef call, written *w) {
    LLVMValueRef callee = wpi_called_function(call);
    if (callee && (LLVMGetIntrinsicID(callee) != 0 || wpi_lower_stands_for_value(call))) return;
    if (wpi_lower_is_stop(call)) return;
    const unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned a = 0; a < count; a++)
        if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, a))) == LLVMPointerTypeKind)
            w->is_anything = true;
    if (!callee || !LLVMIsDeclaration(callee)) w->is_anything = true;
}

static written written_by(const checker *k, LLVMValueRef function) {
    written w = {.is_anything = !wpi_compile_is_kernel(k->c, function)};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (wpi_access_writes(&a))
                add_written(k, a.pointer, &w);
            else if (a.kind == WP_ACCESS_NONE && LLVMIsACallInst(i))
                add_called(i, &w);
        }
    return w;
}

static bool is_only_read(const checker *k, written *w, LLVMValueRef load, LLVMValueRef pointer) {
    const unsigned invariant = LLVMGetMDKindID("invariant.load", 14);
    if (LLVMIsALoadInst(load) && LLVMGetMetadata(load, invariant)) return true;
    const wpi_pointer_roots roots = wpi_pointer_roots_of(pointer);
    if (w->is_anything || roots.is_incomplete) return false;
    for (uint32_t r = 0; r < roots.count; r++) {
        LLVMValueRef object = object_of(k, w, roots.items[r]);
        if (!object || wpi_map_has(&w->objects, object)) return false;
    }
    return true;
}

static unsigned race_kind(const checker *k) {
    return LLVMGetMDKindIDInContext(k->c->context, RACE_METADATA, sizeof RACE_METADATA - 1);
}

static bool is_atomic_access(LLVMValueRef i) {
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
           (LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic ||
            wpi_lower_has_note(i, WP_ATOMIC_METADATA));
}

static void mark(checker *k, LLVMValueRef instruction, const wpi_ir_access *what,
                 LLVMValueRef pointer, bool is_write) {
    access a = {.instruction = instruction,
                .operand = what->operand,
                .kind = is_write ? WP_CHECK_STORE : WP_CHECK_LOAD,
                .size_bytes = wpi_access_bytes(k->layout, what)};
    if (what->kind == WP_ACCESS_ATOMIC) a.kind = WP_CHECK_ATOMIC;
    const bool is_load = LLVMIsALoadInst(instruction), is_store = LLVMIsAStoreInst(instruction);
    if ((is_load || is_store) && LLVMGetVolatile(instruction)) a.flags |= WP_CHECK_SITE_VOLATILE;
    if (is_atomic_access(instruction)) a.flags |= WP_CHECK_SITE_ATOMIC;
    if (is_store && a.size_bytes <= sizeof(uint64_t)) a.flags |= WP_CHECK_SITE_VALUE;
    const origin o = wpi_check_origin(k, pointer);
    LLVMValueRef site = wpi_const32(k->c, wpi_check_add_site(k, &a, &o));
    LLVMMetadataRef word = LLVMValueAsMetadata(site);
    LLVMSetMetadata(
        instruction, race_kind(k),
        LLVMMetadataAsValue(k->c->context, LLVMMDNodeInContext2(k->c->context, &word, 1)));
}

void wpi_check_races_choose(checker *k, LLVMValueRef function) {
    written w = written_by(k, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (wpi_lower_has_note(i, WP_LIBRARY_METADATA)) continue;
            /* of a copy, only what it writes */
            if (!a.pointer || is_private_object(k, a.pointer)) continue;
            const bool is_write = wpi_access_writes(&a);
            if (is_write || !is_only_read(k, &w, i, a.pointer)) mark(k, i, &a, a.pointer, is_write);
        }
    wpi_map_deinit(&w.objects);
}

/* ---- the calls ---- */

/* The bits of a stored value, as a number of 64 bits. */
static LLVMValueRef stored_bits(wpi_compile *c, LLVMTargetDataRef layout, LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    const uint64_t bits = LLVMSizeOfTypeInBits(layout, type);
    if (kind == LLVMPointerTypeKind)
        return LLVMBuildZExt(c->builder,
                             LLVMBuildPtrToInt(c->builder, value,
                                               LLVMIntTypeInContext(c->context, (unsigned)bits),
                                               ""),
                             c->i64, "");
    if (kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind) return wpi_const64(c, 0);
    LLVMTypeRef number = LLVMIntTypeInContext(c->context, (unsigned)bits);
    LLVMValueRef word = LLVMBuildBitCast(c->builder, value, number, "");
    return LLVMBuildIntCast2(c->builder, word, c->i64, 0, "");
}

static LLVMValueRef thread(wpi_compile *c) {
    return wpi_lower_id(c, c->builder, WP_ID_THREAD);
}

static void say_access(checker *k, LLVMValueRef i, LLVMValueRef site) {
    wpi_compile *c = k->c;
    const wpi_ir_access a = wpi_access_of(i);
    LLVMPositionBuilderBefore(c->builder, i);
    const uint64_t bytes = wpi_access_bytes(k->layout, &a);
    LLVMValueRef size = bytes ? wpi_const64(c, bytes)
                              : LLVMBuildIntCast2(c->builder, LLVMGetOperand(i, 2), c->i64, 0, "");
    LLVMValueRef value = LLVMIsAStoreInst(i) && bytes <= sizeof(uint64_t)
                             ? stored_bits(c, k->layout, a.value)
                             : wpi_const64(c, 0);
    LLVMTypeRef params[] = {c->ptr, c->i64, c->i64, c->i32, c->i32};
    LLVMValueRef args[] = {wpi_check_generic(c, a.pointer), size, value, site, thread(c)};
    LLVMValueRef function = wpi_compile_declare(c, "wp_rt_race", c->none, params, 5);
    LLVMBuildCall2(c->builder, wpi_function_type(function), function, args, 5, "");
}

static void say_sync(wpi_compile *c) {
    LLVMValueRef function = wpi_compile_declare(c, "wp_rt_race_sync", c->none, &c->i32, 1);
    LLVMValueRef number = thread(c);
    LLVMBuildCall2(c->builder, wpi_function_type(function), function, &number, 1, "");
}

/* Whether threads meet at a stop that is no barrier of the whole block. Steps do not count: GPUs
 * have none. */
static bool is_meeting(LLVMValueRef stop) {
    const uint32_t op = WP_STOP_KIND(wpi_lower_stop_op(stop));
    if (op == WP_STOP_STEP || op == WP_STOP_YIELD || op == WP_STOP_ACTIVE_MASK) return false;
    if (op < WP_STOP_BARRIER || op > WP_STOP_BARRIER_OR) return true;
    LLVMValueRef count = LLVMGetOperand(stop, 2);
    return !LLVMIsAConstantInt(count) || LLVMConstIntGetZExtValue(count) != 0;
}

static bool is_atomic(const wpi_ir_access *a) {
    if (a->kind == WP_ACCESS_ATOMIC || a->kind == WP_ACCESS_FENCE) return true;
    return is_atomic_access(a->instruction);
}

static void say_instruction(checker *k, LLVMValueRef i) {
    wpi_compile *c = k->c;
    if (wpi_lower_has_note(i, WP_LIBRARY_METADATA)) return;
    if (wpi_lower_is_stop(i)) {
        if (!is_meeting(i)) return;
        LLVMPositionBuilderBefore(c->builder, i);
        say_sync(c);
        LLVMPositionBuilderBefore(c->builder, LLVMGetNextInstruction(i));
        say_sync(c);
        return;
    }
    const wpi_ir_access a = wpi_access_of(i);
    if (a.kind == WP_ACCESS_NONE) return;
    LLVMValueRef site = LLVMGetMetadata(i, race_kind(k));
    if (is_atomic(&a)) {
        LLVMPositionBuilderBefore(c->builder, i);
        say_sync(c);
    }
    LLVMValueRef number = NULL;
    if (!site) return;
    LLVMGetMDNodeOperands(site, &number);
    say_access(k, i, number);
}

void wpi_check_races_say(checker *k, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            say_instruction(k, i);
        }
}
