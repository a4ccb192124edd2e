/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction of the loops means to the cache. All addresses of an access to a structure
 * start from one origin: a pointer parameter, a pointer in a parameter that is a structure, or a
 * variable. Only parameters can be `__restrict__`; which of the others an access belongs to matters
 * to what is cached, not to what is read. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/rewrite/cache.h"

enum { ORIGINS = 64, NO_STRUCTURE = -1 };

typedef struct origin {
    LLVMValueRef base;     /* parameter or variable */
    uint64_t offset_bytes; /* of the pointer in a parameter passed by value */
} origin;

typedef struct survey {
    const wpi_cache *k;
    origin origins[ORIGINS];
    uint32_t origin_count;
    uint64_t accessed, written, touched; /* origins: in loops; by atomic operations anywhere */
    int number[ORIGINS];                 /* of the structure, or -1 */
} survey;

/* A mask of one bit; 0: there are too many. */
static uint64_t origin_bit(survey *s, LLVMValueRef base, uint64_t offset_bytes) {
    for (uint32_t o = 0; o < s->origin_count; o++)
        if (s->origins[o].base == base && s->origins[o].offset_bytes == offset_bytes)
            return UINT64_C(1) << o;
    if (s->origin_count == ORIGINS) return 0;
    s->origins[s->origin_count] = (origin){base, offset_bytes};
    return UINT64_C(1) << s->origin_count++;
}

/* ---- where an address starts ---- */

typedef struct root {
    uint64_t origins;
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

static bool is_by_value(LLVMValueRef value) {
    return LLVMIsAArgument(value) && wpi_argument_has(value, "byval");
}

/* The bytes that a GEP with constant indices adds; false: others. */
static bool constant_offset(LLVMTargetDataRef layout, LLVMValueRef gep, uint64_t *offset_bytes) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (!LLVMIsAConstantInt(index)) return false;
        const uint64_t value = LLVMConstIntGetZExtValue(index);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            *offset_bytes += LLVMOffsetOfElement(layout, type, (unsigned)value);
            type = LLVMStructGetTypeAtIndex(type, (unsigned)value);
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        *offset_bytes += value * LLVMABISizeOfType(layout, type);
    }
    return true;
}

/* A pointer in a parameter passed by value, which host code made. */
static uint64_t field_bit(survey *s, LLVMValueRef load) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->k->c->module);
    LLVMValueRef from = LLVMGetOperand(load, 0);
    uint64_t offset_bytes = 0;
    while (opcode_of(from) == LLVMGetElementPtr || opcode_of(from) == LLVMAddrSpaceCast) {
        if (opcode_of(from) == LLVMGetElementPtr && !constant_offset(layout, from, &offset_bytes))
            return 0;
        from = LLVMGetOperand(from, 0);
    }
    return is_by_value(from) ? origin_bit(s, from, offset_bytes) : 0;
}

/* What `__wp_cache_global` marks as such, or NULL. */
static LLVMValueRef marked(LLVMValueRef call) {
    static const char name[] = "__wp_cache_global";
    size_t length;
    LLVMValueRef callee = LLVMIsACallInst(call) ? wpi_called_function(call) : NULL;
    return callee != NULL && strcmp(LLVMGetValueName2(callee, &length), name) == 0
               ? LLVMGetOperand(call, 0)
               : NULL;
}

bool wpi_cache_is_of_launch(const wpi_cache *k, LLVMValueRef pointer) {
    while (k->launch != NULL && pointer != k->launch) {
        const LLVMOpcode op = opcode_of(pointer);
        if (op == LLVMCall && marked(pointer) != NULL)
            pointer = marked(pointer);
        else if (op == LLVMGetElementPtr || op == LLVMAddrSpaceCast || op == LLVMLoad)
            pointer = LLVMGetOperand(pointer, 0);
        else
            return false;
    }
    return k->launch != NULL;
}

static void add_root(survey *s, LLVMValueRef pointer, wpi_map *seen, root *to) {
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
        } else if (op == LLVMCall && marked(pointer) != NULL) {
            pointer = marked(pointer);
        } else if (op == LLVMSelect) {
            add_root(s, LLVMGetOperand(pointer, 1), seen, to);
            pointer = LLVMGetOperand(pointer, 2);
        } else if (op == LLVMPHI) {
            for (unsigned i = 0; i < LLVMCountIncoming(pointer); i++)
                add_root(s, LLVMGetIncomingValue(pointer, i), seen, to);
            return;
        } else {
            break;
        }
    }
    if (LLVMIsAAllocaInst(pointer) || is_by_value(pointer) ||
        wpi_cache_is_of_launch(s->k, pointer)) {
        to->is_private = true;
        return;
    }
    if (LLVMIsUndef(pointer) || LLVMIsAConstantPointerNull(pointer)) return;
    uint64_t bit = 0;
    if (LLVMIsAArgument(pointer) || LLVMIsAGlobalVariable(pointer))
        bit = origin_bit(s, pointer, 0);
    else if (LLVMIsALoadInst(pointer))
        bit = field_bit(s, pointer);
    to->origins |= bit;
    to->is_unknown |= bit == 0;
}

static root root_of(survey *s, LLVMValueRef pointer) {
    root found = {0};
    wpi_map seen = {0};
    add_root(s, pointer, &seen, &found);
    wpi_map_deinit(&seen);
    return found;
}

static bool is_own(const root *r) {
    return r->origins == 0 && !r->is_unknown;
}

/* The origin, if it is one and nothing else; else -1. */
static int origin_of(const root *r) {
    if (r->origins == 0 || r->is_private || r->is_unknown || (r->origins & (r->origins - 1)) != 0)
        return -1;
    int number = 0;
    while ((r->origins >> number & 1) == 0)
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

bool wpi_cache_describe(const wpi_compile *c, LLVMValueRef i, LLVMValueRef *pointer,
                        uint32_t *bytes, bool *is_write) {
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

static bool has_pointers_of_others(survey *s, LLVMValueRef call) {
    for (unsigned a = 0; a < LLVMGetNumArgOperands(call); a++) {
        LLVMValueRef argument = LLVMGetOperand(call, a);
        if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind) continue;
        const root r = root_of(s, argument);
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
static bool is_harmless(survey *s, LLVMValueRef call) {
    static const char *const notes[] = {"llvm.dbg.", "llvm.lifetime.", "llvm.assume",
                                        "llvm.experimental.noalias", "llvm.invariant."};
    LLVMValueRef callee = wpi_called_function(call);
    if (is_without_memory(call, callee)) return true;
    if (callee == NULL) return false;
    for (size_t n = 0; n < sizeof notes / sizeof *notes; n++)
        if (has_prefix(callee, notes[n])) return true;
    const bool is_copy = LLVMIsAMemIntrinsic(call) != NULL, is_math = has_prefix(callee, "__nv_");
    return (is_copy || is_math) && !has_pointers_of_others(s, call);
}

/* ---- structures ---- */

static void survey_instruction(survey *s, LLVMValueRef i, bool is_in_loop) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (!wpi_cache_describe(s->k->c, i, &pointer, &bytes, &is_write)) return;
    const root r = root_of(s, pointer);
    if (is_atomic(i)) s->touched |= r.origins;
    if (!is_in_loop) return;
    if (origin_of(&r) >= 0 && !is_volatile(i)) s->accessed |= r.origins;
    if (is_write) s->written |= r.origins;
}

static bool is_in_loop(const wpi_cache_loops *loops, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&loops->found.index, block);
    if (b == UINT32_MAX) return false;
    for (uint32_t l = 0; l < loops->count; l++)
        if (loops->loops[l].contains[b]) return true;
    return false;
}

static void describe_structure(wpi_cache_facts *facts, uint32_t number, const origin *o) {
    size_t length;
    const char *name = LLVMGetValueName2(o->base, &length);
    facts->parameters[number] =
        LLVMIsAArgument(o->base) ? wpi_argument_number(o->base) : WPI_CACHE_VARIABLE;
    if (is_by_value(o->base))
        (void)snprintf(facts->names[number], WPI_CACHE_NAME, "%s+%u", name,
                       (unsigned)o->offset_bytes);
    else
        (void)snprintf(facts->names[number], WPI_CACHE_NAME, "%s", name);
}

/* Lines of 24 bytes rely on 256 bytes being there, which variables need not have behind them. */
static bool may_end_in_line(const wpi_cache *k, const origin *o) {
    const uint32_t bytes = k->facts.line_bytes;
    return (bytes & (bytes - 1)) != 0 && LLVMIsAGlobalVariable(o->base) != NULL;
}

static void number_structures(wpi_cache *k, survey *s) {
    for (uint32_t o = 0; o < s->origin_count; o++) {
        s->number[o] = NO_STRUCTURE;
        if ((s->accessed >> o & 1) == 0 || (s->touched >> o & 1) != 0 ||
            k->facts.structures == WPI_CACHE_STRUCTURES || may_end_in_line(k, &s->origins[o]))
            continue;
        const uint32_t number = k->facts.structures++;
        s->number[o] = (int)number;
        describe_structure(&k->facts, number, &s->origins[o]);
        k->used |= 1u << number;
        if (s->written >> o & 1) k->written |= 1u << number;
    }
    k->facts.written = k->written;
}

/* The cached form has lost the attribute. */
static bool is_restrict(const survey *s, uint32_t o) {
    LLVMValueRef base = s->origins[o].base;
    return LLVMIsAArgument(base) && !is_by_value(base) &&
           wpi_argument_has(LLVMGetParam(s->k->kernel->function, wpi_argument_number(base)),
                            "noalias");
}

/* The structures that may be the same memory as others, if any such memory is written. */
static uint32_t find_mixed(const survey *s) {
    uint32_t mixed = 0;
    bool is_written = false;
    for (uint32_t o = 0; o < s->origin_count; o++) {
        if (is_restrict(s, o)) continue;
        is_written |= (s->written >> o & 1) != 0;
        if (s->number[o] >= 0) mixed |= 1u << s->number[o];
    }
    return is_written ? mixed : 0;
}

/* ---- notes ---- */

#define NOTE "wp.cached.access"
enum { NOTE_PARTS = 7 };

static unsigned note_kind(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMDKindIDInContext(context, NOTE, sizeof NOTE - 1);
}

void wpi_cache_set_note(const wpi_cache *k, LLVMValueRef i, const wpi_cache_note *note) {
    const uint32_t values[NOTE_PARTS] = {note->act,    note->structure,  note->others,    note->run,
                                         note->offset, note->step_bytes, note->line_turns};
    LLVMMetadataRef parts[NOTE_PARTS];
    for (int n = 0; n < NOTE_PARTS; n++)
        parts[n] = LLVMValueAsMetadata(wpi_const32(k->c, values[n]));
    LLVMMetadataRef node = LLVMMDNodeInContext2(k->c->context, parts, NOTE_PARTS);
    LLVMSetMetadata(i, note_kind(i), LLVMMetadataAsValue(k->c->context, node));
}

wpi_cache_note wpi_cache_noted(LLVMValueRef i) {
    LLVMValueRef note = LLVMGetMetadata(i, note_kind(i)), parts[NOTE_PARTS];
    uint32_t values[NOTE_PARTS];
    if (note == NULL) return (wpi_cache_note){0};
    LLVMGetMDNodeOperands(note, parts);
    for (int n = 0; n < NOTE_PARTS; n++)
        values[n] = (uint32_t)LLVMConstIntGetZExtValue(parts[n]);
    return (wpi_cache_note){
        (wpi_cache_act)values[0], values[1], values[2], values[3], values[4], values[5], values[6]};
}

void wpi_cache_forget_note(LLVMValueRef i) {
    if (LLVMGetMetadata(i, note_kind(i)) != NULL) LLVMSetMetadata(i, note_kind(i), NULL);
}

/* Whether all its bytes are in one line, whatever the address. */
static bool is_in_one_line(const wpi_cache *k, LLVMValueRef i, uint32_t bytes) {
    const bool is_power = bytes != 0 && (bytes & (bytes - 1)) == 0;
    return is_power && k->facts.line_bytes % bytes == 0 && bytes <= WPI_CACHE_ALIGN_BYTES &&
           LLVMGetAlignment(i) >= bytes;
}

static wpi_cache_note note_of_access(const wpi_cache *k, const survey *s, uint32_t mixed,
                                     LLVMValueRef i, const root *r, uint32_t bytes, bool is_write) {
    const int from = origin_of(r);
    const int number = from >= 0 ? s->number[from] : NO_STRUCTURE;
    const uint32_t own = number >= 0 ? 1u << number : 0;
    uint32_t others = from < 0 ? k->used : is_restrict(s, (uint32_t)from) ? 0 : mixed;
    if (!is_write) others &= k->written; /* other lines are as memory is */
    if (number >= 0 && is_in_one_line(k, i, bytes) && !is_atomic(i))
        return (wpi_cache_note){
            .act = WPI_CACHE_ACCESS, .structure = (uint32_t)number, .others = others & ~own};
    others |= is_write ? own : own & k->written;
    return (wpi_cache_note){.act = WPI_CACHE_OUTSIDE, .others = others};
}

static void note_instruction(wpi_cache *k, survey *s, uint32_t mixed, LLVMValueRef i) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    wpi_cache_note note = {0};
    if (wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write)) {
        const root r = root_of(s, pointer);
        const bool is_ordered =
            is_volatile(i) || ((LLVMIsALoadInst(i) || LLVMIsAStoreInst(i)) && is_atomic(i));
        if (is_own(&r)) return;
        if (is_ordered)
            note.act = WPI_CACHE_FLUSH;
        else
            note = note_of_access(k, s, mixed, i, &r, bytes, is_write);
        if (note.act == WPI_CACHE_ACCESS && bytes > k->widest_bytes) k->widest_bytes = bytes;
        k->facts.accesses += note.act == WPI_CACHE_ACCESS;
        k->facts.outside += note.act != WPI_CACHE_ACCESS;
    } else if (LLVMIsAFenceInst(i) || (LLVMIsACallInst(i) && !is_harmless(s, i))) {
        note.act = WPI_CACHE_FLUSH;
    }
    if (note.act != WPI_CACHE_NOTHING) wpi_cache_set_note(k, i, &note);
}

void wpi_cache_note_accesses(wpi_cache *k, const wpi_cache_loops *loops) {
    survey s = {.k = k};
    make_loads_plain(k);
    for (unsigned p = 0; p < LLVMCountParams(k->kernel->function); p++) { /* these come first */
        LLVMValueRef parameter = LLVMGetParam(k->body, p);
        if (LLVMGetTypeKind(LLVMTypeOf(parameter)) == LLVMPointerTypeKind &&
            !is_by_value(parameter))
            (void)origin_bit(&s, parameter, 0);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            survey_instruction(&s, i, is_in_loop(loops, b));
    number_structures(k, &s);
    const uint32_t mixed = find_mixed(&s);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b)) {
        if (!is_in_loop(loops, b)) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            note_instruction(k, &s, mixed, i);
    }
}
