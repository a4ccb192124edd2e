/* SPDX-License-Identifier: Apache-2.0 */
/* Lowers the parts of device bitcode that differ between devices to the GPU's form. The rest,
 * including inline PTX, is PTX's already. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/nvptx/nvptx.h"
#include "compiler/passes.h"

static LLVMValueRef intrinsic(wpi_compile *c, const char *name, LLVMTypeRef *types, size_t count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    return LLVMGetIntrinsicDeclaration(c->module, id, types, count);
}

static void replace(LLVMValueRef instruction, LLVMValueRef made) {
    LLVMReplaceAllUsesWith(instruction, made);
    LLVMInstructionEraseFromParent(instruction);
}

/* ---- variables ---- */

/* Adds a global variable, visible to the host, as a replacement for another one. */
static LLVMValueRef add_variable(wpi_compile *c, LLVMTypeRef type, const char *name) {
    LLVMValueRef made = LLVMAddGlobalInAddressSpace(c->module, type, name, WP_SPACE_GLOBAL);
    LLVMSetInitializer(made, LLVMConstNull(type));
    LLVMSetExternallyInitialized(made, 1);
    LLVMSetAlignment(made, 8);
    return made;
}

/* Whether a value is used, ignoring unused constants. */
static bool is_used(LLVMValueRef value) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool is_dead = LLVMIsAConstant(user) && !LLVMIsAGlobalValue(user) && !is_used(user);
        if (!is_dead) return true;
    }
    return false;
}

/* A managed variable is stored in the host's variable of that name; the loader maps it for the GPU
 * and stores its address in the cell. */
static wp_status lower_managed(wpi_compile *c, wpi_variable_ir *variable, wp_error *err) {
    char name[512];
    snprintf(name, sizeof name, WP_PTX_MANAGED_PREFIX "%s", variable->name);
    variable->cell = add_variable(c, c->ptr, name);
    wpi_variable_through_cell(c, variable);
    if (is_used(variable->global))
        return WP_FAIL(err, UNSUPPORTED,
                       "PTX: the address of the managed variable %s is the initial value of "
                       "another variable; assign it in a kernel",
                       variable->name);
    LLVMDeleteGlobal(variable->global);
    variable->global = NULL;
    return WP_STATUS_OK;
}

/* A texture or surface reference becomes 8 bytes that hold the handle of an object, as on the CPU;
 * the loader writes it when the program binds the reference. A new variable takes its place,
 * because annotations make PTX's own kind of reference of the old one. */
static void replace_reference(wpi_compile *c, LLVMValueRef handle, LLVMValueRef reference) {
    size_t length;
    char *name = wpi_must_strdup(LLVMGetValueName2(reference, &length));
    LLVMSetValueName2(reference, "", 0);
    LLVMValueRef made = add_variable(c, c->i64, name);
    wpi_free(name);
    uint32_t count;
    LLVMValueRef *users = wpi_users(reference, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (wpi_called_function(users[i]) != handle) continue;
        LLVMPositionBuilderBefore(c->builder, users[i]);
        replace(users[i], LLVMBuildLoad2(c->builder, c->i64, made, ""));
    }
    wpi_free(users);
    if (!is_used(reference)) LLVMDeleteGlobal(reference);
}

static void lower_references(wpi_compile *c) {
    LLVMValueRef handle = LLVMGetNamedFunction(c->module, "llvm.nvvm.texsurf.handle.internal.p1");
    while (handle && LLVMGetFirstUse(handle)) {
        LLVMValueRef call = LLVMGetUser(LLVMGetFirstUse(handle));
        replace_reference(c, handle, LLVMGetOperand(call, 0));
    }
}

/* Aligns arrays of small elements for accesses as int4 and similar types, which programs rely
 * on. */
static void widen_alignments(wpi_compile *c) {
    enum { VECTOR_BYTES = 16 };
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        const uint64_t bytes = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(g));
        const bool is_open = bytes == 0; /* extern __shared__ x[] */
        if ((is_open || bytes >= VECTOR_BYTES) && LLVMGetAlignment(g) < VECTOR_BYTES)
            LLVMSetAlignment(g, VECTOR_BYTES);
    }
}

/* ---- calls ---- */

/* LLVM's mathematical intrinsics, which its back end for PTX lacks or only approximates. */
static const char *const mathematics[] = {"sin",  "cos",  "tan",   "asin", "acos", "atan",
                                          "sinh", "cosh", "tanh",  "exp",  "exp2", "exp10",
                                          "log",  "log2", "log10", "pow",  "powi", "ldexp"};

static void rename_mathematics(wpi_compile *c, LLVMValueRef function, const char *name) {
    for (size_t i = 0; i < sizeof mathematics / sizeof *mathematics; i++) {
        size_t length = strlen(mathematics[i]);
        const char *suffix = name + length;
        if (strncmp(name, mathematics[i], length) != 0 || *suffix != '.') continue;
        bool is_float = strncmp(suffix, ".f32", 4) == 0;
        if (!is_float && strncmp(suffix, ".f64", 4) != 0) return;
        char renamed[32];
        snprintf(renamed, sizeof renamed, "__nv_%s%s", mathematics[i], is_float ? "f" : "");
        LLVMValueRef own = LLVMGetNamedFunction(c->module, renamed);
        if (!own) own = LLVMAddFunction(c->module, renamed, wpi_function_type(function));
        LLVMReplaceAllUsesWith(function, own);
        return;
    }
}

/* Reductions that sm_80 has an instruction for. */
static const struct {
    const char *name, *instruction;
} reductions[] = {{"__wp_redux_add", "llvm.nvvm.redux.sync.add"},
                  {"__wp_redux_min", "llvm.nvvm.redux.sync.min"},
                  {"__wp_redux_max", "llvm.nvvm.redux.sync.max"},
                  {"__wp_redux_umin", "llvm.nvvm.redux.sync.umin"},
                  {"__wp_redux_umax", "llvm.nvvm.redux.sync.umax"},
                  {"__wp_redux_and", "llvm.nvvm.redux.sync.and"},
                  {"__wp_redux_or", "llvm.nvvm.redux.sync.or"},
                  {"__wp_redux_xor", "llvm.nvvm.redux.sync.xor"}};

static void lower_reductions(wpi_compile *c) {
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(c->module, reductions[i].name);
        if (!function) continue;
        LLVMValueRef made = intrinsic(c, reductions[i].instruction, NULL, 0);
        uint32_t count;
        LLVMValueRef *calls = wpi_users(function, &count);
        for (uint32_t u = 0; u < count; u++) {
            if (wpi_called_function(calls[u]) != function) continue;
            LLVMPositionBuilderBefore(c->builder, calls[u]);
            LLVMValueRef args[] = {LLVMGetOperand(calls[u], 1), LLVMGetOperand(calls[u], 0)};
            replace(calls[u],
                    LLVMBuildCall2(c->builder, wpi_function_type(made), made, args, 2, ""));
        }
        wpi_free(calls);
    }
}

/* ---- cache hints ---- */

/* Loads that bypass the L1 cache, which does not see copies during a kernel. For the same reason
 * they are not moved. */
static const struct {
    unsigned bits;
    const char *text, *constraints;
} cached_globally[] = {{8, "ld.cg.u8 $0, [$1];", "=h,l,~{memory}"},
                       {16, "ld.cg.u16 $0, [$1];", "=h,l,~{memory}"},
                       {32, "ld.cg.u32 $0, [$1];", "=r,l,~{memory}"},
                       {64, "ld.cg.u64 $0, [$1];", "=l,l,~{memory}"}};

static bool is_number(LLVMTypeRef type) {
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMIntegerTypeKind || kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

static LLVMValueRef load_number(wpi_compile *c, LLVMValueRef pointer, unsigned bits) {
    size_t n = 0;
    while (n + 1 < sizeof cached_globally / sizeof *cached_globally &&
           cached_globally[n].bits < bits)
        n++;
    const char *text = cached_globally[n].text, *constraints = cached_globally[n].constraints;
    LLVMTypeRef type = LLVMIntTypeInContext(c->context, bits == 8 ? 16 : bits);
    LLVMTypeRef made = LLVMFunctionType(type, &c->ptr, 1, 0);
    LLVMValueRef code = LLVMGetInlineAsm(made, text, strlen(text), constraints, strlen(constraints),
                                         1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef value = LLVMBuildCall2(c->builder, made, code, &pointer, 1, "");
    return bits == 8 ? LLVMBuildTrunc(c->builder, value, c->i8, "") : value;
}

/* Loads of 128 bits are split into two. */
static void cache_globally(wpi_compile *c, LLVMValueRef load, LLVMValueRef pointer) {
    LLVMTypeRef type = LLVMTypeOf(load);
    const unsigned bits = (unsigned)LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(c->module), type);
    if (!is_number(type) || LLVMGetVolatile(load) || (bits & (bits - 1)) != 0 || bits < 8) return;
    LLVMPositionBuilderBefore(c->builder, load);
    LLVMValueRef value = load_number(c, pointer, bits < 128 ? bits : 64);
    if (bits == 128) {
        LLVMValueRef eight = LLVMConstInt(c->i64, 8, 0);
        LLVMValueRef at = LLVMBuildGEP2(c->builder, c->i8, pointer, &eight, 1, "");
        LLVMTypeRef wide = LLVMIntTypeInContext(c->context, 128);
        LLVMValueRef high = LLVMBuildZExt(c->builder, load_number(c, at, 64), wide, "");
        high = LLVMBuildShl(c->builder, high, LLVMConstInt(wide, 64, 0), "");
        value = LLVMBuildOr(c->builder, LLVMBuildZExt(c->builder, value, wide, ""), high, "");
    }
    replace(load, LLVMBuildBitCast(c->builder, value, type, ""));
}

/* Other hints are for simulated GPUs only, and removed. */
static void lower_hints(wpi_compile *c) {
    static const char *const names[] = {"__wp_cache_global", "__wp_cache_stream"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        LLVMValueRef function = LLVMGetNamedFunction(c->module, names[n]);
        uint32_t count = 0, user_count;
        LLVMValueRef *calls = function ? wpi_users(function, &count) : NULL;
        for (uint32_t u = 0; u < count; u++) {
            if (wpi_called_function(calls[u]) != function) continue;
            LLVMValueRef pointer = LLVMGetOperand(calls[u], 0);
            LLVMValueRef *users = wpi_users(calls[u], &user_count);
            for (uint32_t l = 0; l < user_count && n == 0; l++)
                if (LLVMIsALoadInst(users[l])) cache_globally(c, users[l], pointer);
            wpi_free(users);
            replace(calls[u], pointer);
        }
        wpi_free(calls);
    }
}

/* ---- fast arithmetic ---- */

/* With -use_fast_math, floats may be computed approximately: the GPU has instructions for that. */
static const struct {
    const char *name, *fast; /* an intrinsic, or another function of the library */
} fast_functions[] = {
    {"__nv_sqrtf", "llvm.nvvm.sqrt.approx.f"}, {"__nv_sinf", "__nv_fast_sinf"},
    {"__nv_cosf", "__nv_fast_cosf"},           {"__nv_tanf", "__nv_fast_tanf"},
    {"__nv_expf", "__nv_fast_expf"},           {"__nv_exp10f", "__nv_fast_exp10f"},
    {"__nv_logf", "__nv_fast_logf"},           {"__nv_log2f", "__nv_fast_log2f"},
    {"__nv_log10f", "__nv_fast_log10f"},       {"__nv_powf", "__nv_fast_powf"}};

static const char *fast_form(LLVMValueRef i) {
    if (LLVMGetInstructionOpcode(i) == LLVMFDiv) return "llvm.nvvm.div.approx.f";
    size_t length;
    LLVMValueRef callee = wpi_called_function(i);
    const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
    for (size_t f = 0; f < sizeof fast_functions / sizeof *fast_functions; f++)
        if (strcmp(name, fast_functions[f].name) == 0) return fast_functions[f].fast;
    return NULL;
}

static void lower_fast(wpi_compile *c, LLVMValueRef i) {
    if (!LLVMCanValueUseFastMathFlags(i) || LLVMTypeOf(i) != c->f32 ||
        !(LLVMGetFastMathFlags(i) & LLVMFastMathApproxFunc))
        return;
    const char *name = fast_form(i);
    if (!name) return;
    bool is_call = LLVMIsACallInst(i) != NULL;
    unsigned count = is_call ? LLVMGetNumArgOperands(i) : 2;
    LLVMValueRef args[2] = {LLVMGetOperand(i, 0), count > 1 ? LLVMGetOperand(i, 1) : NULL};
    LLVMTypeRef types[2] = {c->f32, c->f32};
    LLVMValueRef made = strncmp(name, "llvm.", 5) == 0
                            ? intrinsic(c, name, NULL, 0)
                            : wpi_compile_declare(c, name, c->f32, types, count);
    LLVMPositionBuilderBefore(c->builder, i);
    replace(i, LLVMBuildCall2(c->builder, wpi_function_type(made), made, args, count, ""));
}

/* ---- memory order ---- */

/* The back end supports relaxed atomics and fences, from which C++'s orders are built. CUDA's own
 * atomics are seq_cst in the bitcode but relaxed by definition, so read-modify-write operations of
 * that order get no fences. */
static void add_fence(wpi_compile *c, LLVMValueRef before) {
    LLVMValueRef fence = intrinsic(c, "llvm.nvvm.membar.sys", NULL, 0);
    LLVMPositionBuilderBefore(c->builder, before);
    LLVMBuildCall2(c->builder, wpi_function_type(fence), fence, NULL, 0, "");
}

static void lower_order(wpi_compile *c, LLVMValueRef i) {
    const wpi_ir_access a = wpi_access_of(i);
    if (a.kind == WP_ACCESS_FENCE) {
        if (!LLVMIsAtomicSingleThread(i)) add_fence(c, i);
        LLVMInstructionEraseFromParent(i);
        return;
    }
    bool is_exchange = LLVMIsAAtomicCmpXchgInst(i);
    LLVMAtomicOrdering order = is_exchange ? LLVMGetCmpXchgSuccessOrdering(i) : LLVMGetOrdering(i);
    bool is_total = order == LLVMAtomicOrderingSequentiallyConsistent;
    bool acquires = order == LLVMAtomicOrderingAcquire || order == LLVMAtomicOrderingAcquireRelease;
    bool releases = order == LLVMAtomicOrderingRelease || order == LLVMAtomicOrderingAcquireRelease;
    if (is_total && a.kind != WP_ACCESS_ATOMIC) acquires = releases = true;
    if (is_exchange) {
        LLVMSetCmpXchgSuccessOrdering(i, LLVMAtomicOrderingMonotonic);
        LLVMSetCmpXchgFailureOrdering(i, LLVMAtomicOrderingMonotonic);
    } else if (order > LLVMAtomicOrderingMonotonic) {
        LLVMSetOrdering(i, LLVMAtomicOrderingMonotonic);
    }
    if (releases) add_fence(c, i);
    if (acquires) add_fence(c, LLVMGetNextInstruction(i));
}

static void each_instruction(wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                const wpi_ir_access a = wpi_access_of(i);
                if (a.kind != WP_ACCESS_NONE && !wpi_access_is_range(&a))
                    lower_order(c, i);
                else
                    lower_fast(c, i);
            }
}

/* Launches by kernels go through NVIDIA's device runtime, a library of GPU code that its toolkit
 * links. */
static wp_status check_launches(const wpi_compile *c, wp_error *err) {
    static const char *const calls[] = {"__wp_launch", "__wp_device_call"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(c->module, calls[i]);
        if (f != NULL && is_used(f))
            return WP_FAIL(err, UNSUPPORTED,
                           "PTX: a kernel launches kernels or calls the CUDA runtime, which needs "
                           "NVIDIA's device runtime (cudadevrt)");
    }
    return WP_STATUS_OK;
}

wp_status wpi_ptx_lower(wpi_compile *c, uint32_t arch, wp_error *err) {
    WP_TRY(check_launches(c, err));
    for (uint32_t v = 0; v < c->variable_count; v++)
        if (c->variables[v].kind == WP_VARIABLE_MANAGED)
            WP_TRY(lower_managed(c, &c->variables[v], err));
    lower_references(c);
    widen_alignments(c);
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (strncmp(name, "llvm.", 5) == 0) rename_mathematics(c, f, name + 5);
    }
    if (arch >= 80) lower_reductions(c);
    lower_hints(c);
    each_instruction(c);
    return WP_STATUS_OK;
}
