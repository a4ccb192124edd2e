/* SPDX-License-Identifier: Apache-2.0 */
/* Describes accesses: memory, cache operator, and root of the address. */
#include <string.h>

#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/source_variable.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

static bool is_kernel_argument(const wpi_compile *c, LLVMValueRef value) {
    return LLVMIsAArgument(value) && wpi_compile_is_kernel(c, LLVMGetParamParent(value));
}

/* The kernel's argument from which a pointer was loaded, if any. */
static LLVMValueRef structure_of(const tracer *t, LLVMValueRef pointer) {
    if (!LLVMIsALoadInst(pointer)) return NULL;
    wpi_pointer_roots from = wpi_pointer_roots_of(LLVMGetOperand(pointer, 0));
    bool is_one = from.count == 1 && !from.is_incomplete && is_kernel_argument(t->c, from.items[0]);
    return is_one && wpi_argument_has(from.items[0], "byval") ? from.items[0] : NULL;
}

/* The address space of an address that starts from `root`. Host code can pass only addresses of
 * global memory to a kernel. */
static int space_of(const tracer *t, LLVMValueRef root) {
    if (LLVMIsAAllocaInst(root)) return WP_SPACE_LOCAL;
    bool is_given = is_kernel_argument(t->c, root);
    if (LLVMIsAArgument(root) && wpi_argument_has(root, "byval"))
        return is_given ? WP_SPACE_CONSTANT : WP_SPACE_LOCAL;
    if (is_given || structure_of(t, root)) return WP_SPACE_GLOBAL;
    return (int)LLVMGetPointerAddressSpace(LLVMTypeOf(root));
}

/* The address space common to all roots, else generic. */
static int common_space(const tracer *t, const wpi_pointer_roots *from) {
    if (from->is_incomplete || !from->count) return WP_SPACE_GENERIC;
    int space = space_of(t, from->items[0]);
    for (uint32_t r = 1; r < from->count; r++)
        if (space_of(t, from->items[r]) != space) return WP_SPACE_GENERIC;
    return space;
}

/* Whether the address is of a field of wp_cpu_block, which earlier passes read. */
static bool is_block(const wpi_pointer_roots *from) {
    size_t length;
    LLVMValueRef callee = from->count == 1 && LLVMIsAInstruction(from->items[0])
                              ? wpi_called_function(from->items[0])
                              : NULL;
    return callee && strcmp(LLVMGetValueName2(callee, &length), WP_BLOCK_PLACEHOLDER) == 0;
}

static bool is_constant_address(LLVMValueRef pointer) {
    while (wpi_opcode_of(pointer) == LLVMAddrSpaceCast ||
           wpi_opcode_of(pointer) == LLVMGetElementPtr) {
        for (int o = 1; o < LLVMGetNumOperands(pointer); o++)
            if (!LLVMIsAConstantInt(LLVMGetOperand(pointer, (unsigned)o))) return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return !LLVMIsAInstruction(pointer);
}

/* ---- cache operators ---- */

bool wpi_trace_is_read_only(const wpi_compile *c, LLVMValueRef load) {
    unsigned kind = LLVMGetMDKindIDInContext(c->context, "invariant.load", 14);
    if (LLVMGetMetadata(load, kind)) return true;
    wpi_pointer_roots from = wpi_pointer_roots_of(LLVMGetOperand(load, 0));
    for (uint32_t r = 0; r < from.count; r++) {
        LLVMValueRef root = from.items[r];
        bool is_constant = LLVMIsAGlobalVariable(root) && LLVMIsGlobalConstant(root);
        bool is_restrict =
            is_kernel_argument(c, root) && wpi_argument_has(root, "noalias") &&
            (wpi_argument_has(root, "readonly") || wpi_argument_has(root, "readnone"));
        if (!is_constant && !is_restrict) return false;
    }
    return from.count && !from.is_incomplete;
}

static wp_trace_cache cache_of(LLVMValueRef i) {
    if (!LLVMIsALoadInst(i) && !LLVMIsAStoreInst(i)) return WP_TRACE_CACHE_ALL;
    int marked = wpi_lower_cache_mark(i);
    if (marked >= 0) return (wp_trace_cache)marked;
    bool is_volatile = LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    return is_volatile ? WP_TRACE_CACHE_VOLATILE : WP_TRACE_CACHE_ALL;
}

/* ---- accesses ---- */

/* The type of an atomic on 16-bit floats: a function of the device library, an instruction on
 * GPUs. */
static LLVMTypeRef library_atomic(LLVMValueRef i) {
    static const char prefix[] = "__wp_ptx_atom_";
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    bool is_atomic =
        callee && strncmp(LLVMGetValueName2(callee, &length), prefix, sizeof prefix - 1) == 0;
    return is_atomic ? LLVMTypeOf(i) : NULL;
}

/* Kind, address and size; false if `i` is no access. */
static bool describe(const tracer *t, LLVMValueRef i, trace_access *a) {
    const wpi_ir_access access = wpi_access_of(i);
    const wp_trace_access atomic = LLVMGetFirstUse(i) ? WP_TRACE_ATOMIC : WP_TRACE_REDUCE;
    LLVMTypeRef type = access.type;
    a->pointer = access.pointer;
    switch (access.kind) {
    case WP_ACCESS_READ: a->kind = WP_TRACE_LOAD; break;
    case WP_ACCESS_WRITE: a->kind = WP_TRACE_STORE; break;
    case WP_ACCESS_ATOMIC: a->kind = LLVMIsAAtomicRMWInst(i) ? atomic : WP_TRACE_ATOMIC; break;
    default:
        if (!(type = library_atomic(i))) return false;
        a->kind = atomic;
        a->pointer = LLVMGetOperand(i, 0);
    }
    a->size_bytes = (uint32_t)LLVMStoreSizeOfType(t->layout, type);
    return true;
}

static trace_memory memory_of(const tracer *t, LLVMValueRef i, int space,
                              const wpi_pointer_roots *from, LLVMValueRef pointer) {
    bool is_operand = is_constant_address(pointer);
    if (is_block(from)) return TRACE_OPERAND;
    switch (space) {
    case WP_SPACE_LOCAL: return TRACE_PRIVATE;
    case WP_SPACE_CONSTANT:
        if (wpi_map_has(&t->spread, i)) return TRACE_SITE;
        return is_operand ? TRACE_OPERAND : TRACE_CONSTANT;
    default: return TRACE_SITE;
    }
}

static wp_trace_space recorded_space(int space) {
    switch (space) {
    case WP_SPACE_GLOBAL: return WP_TRACE_GLOBAL;
    case WP_SPACE_SHARED: return WP_TRACE_SHARED;
    case WP_SPACE_CONSTANT: return WP_TRACE_CONST;
    default: return WP_TRACE_GENERIC;
    }
}

/* The variable or kernel argument behind an address; behind a pointer in a structure argument, the
 * structure. */
static LLVMValueRef base_of(const tracer *t, const wpi_pointer_roots *from) {
    if (from->count != 1 || from->is_incomplete) return NULL;
    LLVMValueRef root = from->items[0];
    return LLVMIsAGlobalVariable(root) || is_kernel_argument(t->c, root) ? root
                                                                         : structure_of(t, root);
}

trace_access wpi_trace_access(const tracer *t, LLVMValueRef i) {
    trace_access a = {.memory = TRACE_NO_MEMORY};
    if (wpi_trace_is_place(i, &a.kind, &a.size_bytes)) {
        a.pointer = i;
        a.memory = TRACE_SITE;
        a.space = WP_TRACE_GLOBAL;
        a.cache = WP_TRACE_CACHE_TEXTURE;
        return a;
    }
    if (!describe(t, i, &a)) return a;
    wpi_pointer_roots from = wpi_pointer_roots_of(a.pointer);
    int space = (int)LLVMGetPointerAddressSpace(LLVMTypeOf(a.pointer));
    if (space == WP_SPACE_GENERIC) space = common_space(t, &from);
    a.memory = memory_of(t, i, space, &from, a.pointer);
    a.space = recorded_space(space);
    a.cache = cache_of(i);
    a.base = base_of(t, &from);
    return a;
}

/* ---- sites ---- */

static LLVMValueRef name_of(wpi_compile *c, LLVMValueRef base) {
    if (!base || !LLVMIsAArgument(base))
        return base ? wpi_source_variable(c, base) : LLVMConstNull(c->ptr);
    size_t length;
    const char *name = LLVMGetValueName2(base, &length);
    return wpi_source_text(c, length ? name : NULL, length);
}

void wpi_trace_add_site(tracer *t, LLVMValueRef i, uint32_t block) {
    wpi_compile *c = t->c;
    trace_access a = wpi_trace_access(t, i);
    wpi_source_place place = wpi_source_place_of(i);
    uint32_t parameter =
        a.base && LLVMIsAArgument(a.base) ? wpi_argument_number(a.base) : UINT32_MAX; /* -1 */
    LLVMValueRef fields[] = {
        wpi_source_text(c, place.file, place.file_length),
        name_of(c, a.base),
        wpi_const32(c, place.line),
        wpi_const32(c, block),
        wpi_const32(c, parameter),
        LLVMConstInt(c->i8, a.kind, 0),
        LLVMConstInt(c->i8, a.space, 0),
        LLVMConstInt(c->i8, a.cache, 0),
        LLVMConstInt(c->i8, a.size_bytes, 0),
        wpi_const32(c, wpi_trace_place_of(t, i)),
    };
    t->sites = wpi_trace_grow(t->sites, t->site_count, sizeof *t->sites);
    t->sites[t->site_count] =
        LLVMConstStructInContext(c->context, fields, sizeof fields / sizeof *fields, 0);
    wpi_map_set_index(&t->site_of, i, t->site_count++);
}
