/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction of the loops means to the cache. A structure is a parameter from which all
 * addresses of an access start. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/rewrite/cache.h"

enum { PARAMETERS = 64, NO_STRUCTURE = -1 };

/* ---- where an address starts ---- */

typedef struct root {
    uint64_t params;
    bool is_private; /* of the thread or its block, or constant: never cached, never the same */
    bool is_unknown;
} root;

static LLVMOpcode opcode_of(LLVMValueRef value) {
    return LLVMIsAConstantExpr(value)  ? LLVMGetConstOpcode(value)
           : LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value)
                                       : (LLVMOpcode)0;
}

static bool is_private_space(LLVMValueRef pointer) {
    const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
    return space == WP_SPACE_SHARED || space == WP_SPACE_CONSTANT || space == WP_SPACE_LOCAL;
}

static void add_root(LLVMValueRef pointer, wp_map *seen, root *to) {
    for (;;) {
        if (wpi_map_has(seen, pointer)) return;
        wpi_map_set_index(seen, pointer, 0);
        if (is_private_space(pointer)) {
            to->is_private = true;
            return;
        }
        const LLVMOpcode op = opcode_of(pointer);
        if (op == LLVMGetElementPtr || op == LLVMAddrSpaceCast || op == LLVMBitCast ||
            op == LLVMFreeze) {
            pointer = LLVMGetOperand(pointer, 0);
        } else if (op == LLVMSelect) {
            add_root(LLVMGetOperand(pointer, 1), seen, to);
            pointer = LLVMGetOperand(pointer, 2);
        } else if (op == LLVMPHI) {
            for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++)
                add_root(LLVMGetIncomingValue(pointer, i), seen, to);
            return;
        } else {
            break;
        }
    }
    if (LLVMIsAArgument(pointer)) {
        const unsigned number = wpi_argument_number(pointer);
        if (wpi_argument_has(pointer, "byval"))
            to->is_private = true;
        else if (number < PARAMETERS)
            to->params |= UINT64_C(1) << number;
        else
            to->is_unknown = true;
    } else if (LLVMIsAAllocaInst(pointer)) {
        to->is_private = true;
    } else if (!LLVMIsUndef(pointer) && !LLVMIsAConstantPointerNull(pointer)) {
        to->is_unknown = true;
    }
}

static root root_of(LLVMValueRef pointer) {
    root found = {0};
    wp_map seen = {0};
    add_root(pointer, &seen, &found);
    wpi_map_deinit(&seen);
    return found;
}

static bool is_own(const root *r) {
    return r->params == 0 && !r->is_unknown;
}

/* The parameter, if it is one and nothing else; else -1. */
static int parameter_of(const root *r) {
    if (r->params == 0 || r->is_private || r->is_unknown || (r->params & (r->params - 1)) != 0)
        return -1;
    int number = 0;
    while ((r->params >> number & 1) == 0)
        number++;
    return number;
}

/* ---- read-only loads ---- */

static bool has_prefix(LLVMValueRef function, const char *prefix) {
    size_t length;
    return strncmp(LLVMGetValueName2(function, &length), prefix, strlen(prefix)) == 0;
}

static bool is_read_only_load(LLVMValueRef i) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    return callee && (has_prefix(callee, "llvm.nvvm.ldg.") || has_prefix(callee, "llvm.nvvm.ldu."));
}

static void make_loads_plain(wpi_cache *k) {
    LLVMBuilderRef at = k->c->builder;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!is_read_only_load(i)) continue;
            LLVMPositionBuilderBefore(at, i);
            LLVMValueRef load = LLVMBuildLoad2(at, LLVMTypeOf(i), LLVMGetOperand(i, 0), "");
            LLVMSetAlignment(load, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)));
            LLVMInstructionSetDebugLoc(load, LLVMInstructionGetDebugLoc(i));
            LLVMReplaceAllUsesWith(i, load);
            LLVMInstructionEraseFromParent(i);
        }
    }
}

/* ---- instructions ---- */

bool wpi_cache_describe(const wp_compile *c, LLVMValueRef i, LLVMValueRef *pointer, uint32_t *bytes,
                        bool *is_write) {
    LLVMTypeRef type;
    *is_write = !LLVMIsALoadInst(i);
    if (LLVMIsAStoreInst(i)) {
        *pointer = LLVMGetOperand(i, 1);
        type = LLVMTypeOf(LLVMGetOperand(i, 0));
    } else if (LLVMIsALoadInst(i) || LLVMIsAAtomicRMWInst(i)) {
        *pointer = LLVMGetOperand(i, 0);
        type = LLVMTypeOf(i);
    } else if (LLVMIsAAtomicCmpXchgInst(i)) {
        *pointer = LLVMGetOperand(i, 0);
        type = LLVMTypeOf(LLVMGetOperand(i, 1));
    } else {
        return false;
    }
    *bytes = (uint32_t)LLVMStoreSizeOfType(LLVMGetModuleDataLayout(c->module), type);
    return true;
}

static bool is_atomic(LLVMValueRef i) {
    if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i)) return true;
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) &&
           LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
}

static bool is_volatile(LLVMValueRef i) {
    return (LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && LLVMGetVolatile(i);
}

static bool has_pointers_of_others(LLVMValueRef call) {
    for (unsigned a = 0; a < LLVMGetNumArgOperands(call); a++) {
        LLVMValueRef argument = LLVMGetOperand(call, a);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind) continue;
        const root r = root_of(argument);
        if (!is_own(&r)) return true;
    }
    return false;
}

static bool is_without_memory(LLVMValueRef call, LLVMValueRef callee) {
    const unsigned kind = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef at_call =
        LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
    LLVMAttributeRef at_callee =
        callee ? LLVMGetEnumAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                             kind)
               : NULL;
    return (at_call && LLVMGetEnumAttributeValue(at_call) == 0) ||
           (at_callee && LLVMGetEnumAttributeValue(at_callee) == 0);
}

/* Calls that neither access global memory nor order what others see of it. */
static bool is_harmless(LLVMValueRef call) {
    static const char *const notes[] = {"llvm.dbg.", "llvm.lifetime.", "llvm.assume",
                                        "llvm.experimental.noalias", "llvm.invariant."};
    LLVMValueRef callee = wpi_called_function(call);
    if (is_without_memory(call, callee)) return true;
    if (callee == NULL) return false;
    for (size_t n = 0; n < sizeof notes / sizeof *notes; n++)
        if (has_prefix(callee, notes[n])) return true;
    const bool is_copy = LLVMIsAMemIntrinsic(call) != NULL, is_math = has_prefix(callee, "__nv_");
    return (is_copy || is_math) && !has_pointers_of_others(call);
}

/* ---- structures ---- */

typedef struct survey {
    uint64_t accessed, written, touched; /* parameters: in loops; by atomic operations anywhere */
    int number[PARAMETERS];              /* of the structure, or -1 */
} survey;

static void survey_instruction(const wpi_cache *k, LLVMValueRef i, bool is_in_loop, survey *s) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (!wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write)) return;
    const root r = root_of(pointer);
    if (is_atomic(i)) s->touched |= r.params;
    if (!is_in_loop) return;
    if (parameter_of(&r) >= 0 && !is_volatile(i)) s->accessed |= r.params;
    if (is_write) s->written |= r.params;
}

static bool is_in_loop(const wpi_cache_loops *loops, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&loops->found.index, block);
    if (b == UINT32_MAX) return false;
    for (uint32_t l = 0; l < loops->count; l++)
        if (loops->loops[l].contains[b]) return true;
    return false;
}

static void number_structures(wpi_cache *k, survey *s) {
    for (unsigned p = 0; p < PARAMETERS; p++) {
        s->number[p] = NO_STRUCTURE;
        if ((s->accessed >> p & 1) == 0 || (s->touched >> p & 1) != 0 ||
            k->facts.structures == WPI_CACHE_STRUCTURES)
            continue;
        const uint32_t number = k->facts.structures++;
        size_t length;
        const char *name = LLVMGetValueName2(LLVMGetParam(k->kernel->function, p), &length);
        s->number[p] = (int)number;
        k->facts.parameters[number] = p;
        if (length >= WPI_CACHE_NAME) length = WPI_CACHE_NAME - 1;
        memcpy(k->facts.names[number], name, length);
        k->used |= 1u << number;
        if (s->written >> p & 1) k->written |= 1u << number;
    }
    k->facts.written = k->written;
}

static bool is_restrict(const wpi_cache *k, unsigned parameter) {
    return wpi_argument_has(LLVMGetParam(k->kernel->function, parameter), "noalias");
}

/* The structures that may be the same memory as others, if any such memory is written. */
static uint32_t find_mixed(const wpi_cache *k, const survey *s) {
    uint32_t mixed = 0;
    bool is_written = false;
    const unsigned count = LLVMCountParams(k->kernel->function);
    for (unsigned p = 0; p < PARAMETERS && p < count; p++) {
        if (is_restrict(k, p)) continue;
        is_written |= (s->written >> p & 1) != 0;
        if (s->number[p] >= 0) mixed |= 1u << s->number[p];
    }
    return is_written ? mixed : 0;
}

/* ---- notes ---- */

#define NOTE "wp.cached.access"

static unsigned note_kind(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMDKindIDInContext(context, NOTE, sizeof NOTE - 1);
}

static void set_note(const wpi_cache *k, LLVMValueRef i, const wpi_cache_note *note) {
    const uint32_t values[] = {note->act, note->structure, note->others};
    LLVMMetadataRef parts[3];
    for (int n = 0; n < 3; n++)
        parts[n] = LLVMValueAsMetadata(wpi_const32(k->c, values[n]));
    LLVMMetadataRef node = LLVMMDNodeInContext2(k->c->context, parts, 3);
    LLVMSetMetadata(i, note_kind(i), LLVMMetadataAsValue(k->c->context, node));
}

wpi_cache_note wpi_cache_noted(LLVMValueRef i) {
    LLVMValueRef note = LLVMGetMetadata(i, note_kind(i)), parts[3];
    if (note == NULL) return (wpi_cache_note){0};
    LLVMGetMDNodeOperands(note, parts);
    return (wpi_cache_note){(wpi_cache_act)LLVMConstIntGetZExtValue(parts[0]),
                            (uint32_t)LLVMConstIntGetZExtValue(parts[1]),
                            (uint32_t)LLVMConstIntGetZExtValue(parts[2])};
}

void wpi_cache_forget_note(LLVMValueRef i) {
    if (LLVMGetMetadata(i, note_kind(i)) != NULL) LLVMSetMetadata(i, note_kind(i), NULL);
}

/* Whether all its bytes are in one line, whatever the address. */
static bool is_in_one_line(const wpi_cache *k, LLVMValueRef i, uint32_t bytes) {
    const bool is_power = bytes != 0 && (bytes & (bytes - 1)) == 0;
    return is_power && bytes <= k->facts.line_bytes && bytes <= WPI_CACHE_ALIGN_BYTES &&
           LLVMGetAlignment(i) >= bytes;
}

static wpi_cache_note note_of_access(const wpi_cache *k, const survey *s, uint32_t mixed,
                                     LLVMValueRef i, const root *r, uint32_t bytes, bool is_write) {
    const int parameter = parameter_of(r);
    const int number = parameter >= 0 ? s->number[parameter] : NO_STRUCTURE;
    const uint32_t own = number >= 0 ? 1u << number : 0;
    uint32_t others = parameter < 0 ? k->used : is_restrict(k, (unsigned)parameter) ? 0 : mixed;
    if (!is_write) others &= k->written; /* other lines are as memory is */
    if (number >= 0 && is_in_one_line(k, i, bytes) && !is_atomic(i))
        return (wpi_cache_note){WPI_CACHE_ACCESS, (uint32_t)number, others & ~own};
    others |= is_write ? own : own & k->written;
    return (wpi_cache_note){WPI_CACHE_OUTSIDE, 0, others};
}

static void note_instruction(wpi_cache *k, const survey *s, uint32_t mixed, LLVMValueRef i) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    wpi_cache_note note = {0};
    if (wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write)) {
        const root r = root_of(pointer);
        const bool is_ordered =
            is_volatile(i) || ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && is_atomic(i));
        if (is_own(&r)) return;
        if (is_ordered)
            note.act = WPI_CACHE_FLUSH;
        else
            note = note_of_access(k, s, mixed, i, &r, bytes, is_write);
        k->facts.accesses += note.act == WPI_CACHE_ACCESS;
        k->facts.outside += note.act != WPI_CACHE_ACCESS;
    } else if (LLVMIsAFenceInst(i) || (LLVMIsACallInst(i) && !is_harmless(i))) {
        note.act = WPI_CACHE_FLUSH;
    }
    if (note.act != WPI_CACHE_NOTHING) set_note(k, i, &note);
}

void wpi_cache_note_accesses(wpi_cache *k, const wpi_cache_loops *loops) {
    survey s = {0};
    make_loads_plain(k);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            survey_instruction(k, i, is_in_loop(loops, b), &s);
    number_structures(k, &s);
    const uint32_t mixed = find_mixed(k, &s);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_in_loop(loops, b)) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            note_instruction(k, &s, mixed, i);
    }
}
