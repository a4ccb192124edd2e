/* SPDX-License-Identifier: Apache-2.0 */
/* Cost of instructions on a GPU: class and number of machine instructions. Machine code has pairs
 * of registers for 64-bit integers, for which PTX may have one instruction.
 *
 * Operations without a machine instruction cost nothing: casts between pointers and between signed
 * and unsigned, constant offsets of addresses, a product that only a sum uses. */
#include <string.h>

#include "base/matrix_abi.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

static void add_chain(trace_cost *cost, wp_trace_class class, unsigned count, unsigned chain) {
    cost->count[class] = (uint16_t)(cost->count[class] + count);
    cost->chain[class] = (uint16_t)(cost->chain[class] + chain);
}

static void add(trace_cost *cost, wp_trace_class class, unsigned count) {
    add_chain(cost, class, count, count);
}

static LLVMTypeRef scalar_of(LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

/* ---- numbers ---- */

static bool is_float_type(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return true;
    default: return false;
    }
}

static wp_trace_class float_class(LLVMTypeRef scalar) {
    switch (LLVMGetTypeKind(scalar)) {
    case LLVMDoubleTypeKind: return WP_TRACE_FP64;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return WP_TRACE_FP16;
    default: return WP_TRACE_FP32;
    }
}

static unsigned bits_of(const tracer *t, LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind
               ? 64
               : (unsigned)LLVMSizeOfTypeInBits(t->layout, type);
}

/* 32-bit registers that a scalar needs. */
static unsigned words_of(const tracer *t, LLVMTypeRef scalar) {
    unsigned bits = bits_of(t, scalar);
    return bits > 32 ? (bits + 31) / 32 : 1;
}

/* Elements that take an instruction each; halves are processed in pairs. */
static unsigned lanes_of(LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return 1;
    unsigned count = LLVMGetVectorSize(type);
    return float_class(scalar_of(type)) == WP_TRACE_FP16 && is_float_type(scalar_of(type))
               ? (count + 1) / 2
               : count;
}

static void add_lanes(trace_cost *cost, wp_trace_class class, LLVMTypeRef type, unsigned each) {
    add_chain(cost, class, each * lanes_of(type), each);
}

static LLVMOpcode opcode_of(LLVMValueRef value) {
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : LLVMUnreachable;
}

static LLVMValueRef only_user(LLVMValueRef value) {
    LLVMUseRef use = LLVMGetFirstUse(value);
    return use && !LLVMGetNextUse(use) ? LLVMGetUser(use) : NULL;
}

static bool may_contract(LLVMValueRef i) {
    return LLVMCanValueUseFastMathFlags(i) && (LLVMGetFastMathFlags(i) & LLVMFastMathAllowContract);
}

/* A product that only a sum uses is part of it: multiply-add. */
static bool is_part_of_sum(LLVMValueRef product) {
    LLVMValueRef sum = only_user(product);
    if (!sum || LLVMGetInstructionParent(sum) != LLVMGetInstructionParent(product)) return false;
    LLVMOpcode opcode = opcode_of(sum);
    if (opcode_of(product) == LLVMMul) return opcode == LLVMAdd;
    return (opcode == LLVMFAdd || opcode == LLVMFSub) && may_contract(sum) && may_contract(product);
}

static LLVMValueRef product_in(LLVMValueRef sum) {
    LLVMOpcode wanted = opcode_of(sum) == LLVMAdd ? LLVMMul : LLVMFMul;
    for (unsigned o = 0; o < 2; o++) {
        LLVMValueRef operand = LLVMGetOperand(sum, o);
        if (opcode_of(operand) == wanted && is_part_of_sum(operand)) return operand;
    }
    return NULL;
}

static void add_product(const tracer *t, trace_cost *cost, LLVMTypeRef type) {
    unsigned words = words_of(t, scalar_of(type));
    add_lanes(cost, WP_TRACE_IMUL, type, words == 1 ? 1 : 3);
}

static void cost_sum(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    LLVMTypeRef type = LLVMTypeOf(i);
    if (is_float_type(scalar_of(type)))
        add_lanes(cost, float_class(scalar_of(type)), type, 1);
    else if (opcode_of(i) == LLVMAdd && product_in(i))
        add_product(t, cost, type);
    else
        add_lanes(cost, WP_TRACE_INT, type, words_of(t, scalar_of(type)));
}

static void cost_division(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    static const char *const names[2][2] = {{"udiv", "udiv64"}, {"sdiv", "sdiv64"}};
    static const char *const rests[2] = {"urem", "srem"};
    LLVMOpcode opcode = opcode_of(i);
    LLVMTypeRef type = LLVMTypeOf(i);
    bool is_wide = bits_of(t, scalar_of(type)) > 32;
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem;
    bool is_rest = opcode == LLVMURem || opcode == LLVMSRem;
    if (LLVMIsAConstantInt(LLVMGetOperand(i, 1))) { /* multiplied by the inverse, and shifted */
        wpi_trace_add_function(cost, is_wide ? "div64_constant" : "div_constant", type);
        if (is_signed) add(cost, WP_TRACE_INT, 1);
    } else if (is_rest && !is_wide) {
        wpi_trace_add_function(cost, rests[is_signed], type);
        return;
    } else {
        wpi_trace_add_function(cost, names[is_signed][is_wide], type);
    }
    if (is_rest) add(cost, WP_TRACE_IMUL, is_wide ? 3 : 1);
}

static void cost_float_division(LLVMValueRef i, trace_cost *cost) {
    LLVMTypeRef type = LLVMTypeOf(i);
    bool is_fast = LLVMGetFastMathFlags(i) & LLVMFastMathApproxFunc;
    const char *name = float_class(scalar_of(type)) == WP_TRACE_FP64 ? "fdiv64"
                       : is_fast                                     ? "fdiv_approx"
                                                                     : "fdiv";
    for (unsigned lane = 0; lane < lanes_of(type); lane++)
        wpi_trace_add_function(cost, name, type);
}

/* ---- casts and addresses ---- */

/* Whether an index is an operand of a multiply-add of 32 by 32 to 64 bits without extension. */
static bool is_extended_index(LLVMValueRef index) {
    return opcode_of(index) == LLVMSExt || opcode_of(index) == LLVMZExt;
}

static bool only_addresses_use(LLVMValueRef value) {
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u))
        if (opcode_of(LLVMGetUser(u)) != LLVMGetElementPtr) return false;
    return true;
}

/* Of the 64-bit formats conversions have a rate of their own. */
static void cost_conversion(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    LLVMTypeRef type = LLVMTypeOf(i), from = LLVMTypeOf(LLVMGetOperand(i, 0));
    const bool is_wide = words_of(t, scalar_of(type)) == 2 || words_of(t, scalar_of(from)) == 2;
    add_lanes(cost, is_wide ? WP_TRACE_CONVERT64 : WP_TRACE_CONVERT, type, 1);
}

static void cost_extension(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    LLVMValueRef from = LLVMGetOperand(i, 0);
    unsigned bits = bits_of(t, scalar_of(LLVMTypeOf(from)));
    bool is_signed = opcode_of(i) == LLVMSExt;
    if (only_addresses_use(i)) return;
    if (bits >= 32) {
        if (is_signed) add_lanes(cost, WP_TRACE_INT, LLVMTypeOf(i), 1);
    } else if (bits == 1 || !LLVMIsALoadInst(from)) { /* loads extend */
        add_lanes(cost, WP_TRACE_INT, LLVMTypeOf(i), 1);
    }
}

static void cost_address(LLVMValueRef gep, trace_cost *cost) {
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(gep));
    for (unsigned o = 1; o < (unsigned)LLVMGetNumOperands(gep); o++) {
        LLVMValueRef index = LLVMGetOperand(gep, o);
        if (LLVMIsAConstantInt(index)) continue;
        if (space == WP_SPACE_SHARED || space == WP_SPACE_LOCAL || space == WP_SPACE_CONSTANT)
            add(cost, WP_TRACE_INT, 1);
        else if (is_extended_index(index))
            add(cost, WP_TRACE_IMUL, 1);
        else
            add(cost, WP_TRACE_INT, 2);
    }
}

/* ---- the others ---- */

/* In units of 16 by 8 by 8 products of halves, at the rates of NVIDIA's white papers: TF32 has half
 * of the rate of halves, 8-bit types twice, 4-bit types four times, bits 16 times, doubles a 16th.
 */
static void cost_matrix(LLVMValueRef stop, trace_cost *cost) {
    wp_matrix_shape s =
        wpi_matrix_unpack((uint64_t)LLVMConstIntGetZExtValue(LLVMGetOperand(stop, 4)));
    if (s.op == WP_MATRIX_ROWS) return; /* the accesses are the instruction */
    if (s.op == WP_MATRIX_TRANSPOSE) {
        add(cost, WP_TRACE_WARP, s.count);
        return;
    }
    unsigned products = s.op == WP_MATRIX_QUARTERS ? 4 * 8 * 8 * 4
                        : s.op == WP_MATRIX_GROUP  ? s.m * s.n * 8 * s.k
                        : s.op == WP_MATRIX_SPARSE ? s.m * s.n * s.k / 2
                                                   : s.m * s.n * s.k;
    unsigned bits = wpi_matrix_bits(s.a); /* 64: 16 * 1024; 32: 2; 16: 1; 8: 1 / 2; 4: 1 / 4 */
    unsigned sixteenths = bits == 64 ? 256 : bits == 1 ? 1 : bits;
    unsigned units = products * sixteenths / (16 * 1024);
    add_chain(cost, WP_TRACE_TENSOR, units > 0 ? units : 1, 1);
}

bool wpi_trace_is_product(LLVMValueRef stop) {
    uint32_t op = wpi_matrix_unpack(LLVMConstIntGetZExtValue(LLVMGetOperand(stop, 4))).op;
    return op == WP_MATRIX_PRODUCT || op == WP_MATRIX_QUARTERS || op == WP_MATRIX_GROUP ||
           op == WP_MATRIX_SPARSE;
}

static void cost_stop(LLVMValueRef stop, trace_cost *cost) {
    uint32_t op = WP_STOP_KIND(wpi_lower_stop_op(stop));
    if (op == WP_STOP_MATRIX) {
        cost_matrix(stop, cost);
        return;
    }
    if (op == WP_STOP_STEP || op == WP_STOP_YIELD) return;
    bool is_barrier = (op >= WP_STOP_BARRIER && op <= WP_STOP_WARP_SYNC) || op == WP_STOP_GRID ||
                      op == WP_STOP_CLUSTER_ARRIVE || op == WP_STOP_CLUSTER_WAIT;
    add(cost, is_barrier ? WP_TRACE_SYNC : WP_TRACE_WARP, 1);
}

/* Cost of special registers: constants of the launch are operands, and free. */
static void cost_identity(wpi_id id, trace_cost *cost) {
    if (id <= WP_ID_THREAD || (id >= WP_ID_CTAID_X && id <= WP_ID_CTAID_Z))
        add(cost, WP_TRACE_INT, 1);
}

static void cost_call(LLVMValueRef i, trace_cost *cost) {
    bool is_ns;
    if (wpi_lower_is_stop(i)) {
        cost_stop(i, cost);
    } else if (wpi_trace_is_call(i)) {
        add(cost, WP_TRACE_CONTROL, 1);
    } else if (wpi_trace_is_clock(i, &is_ns)) {
        add(cost, WP_TRACE_INT, 1);
    } else {
        size_t length;
        LLVMValueRef callee = wpi_called_function(i);
        const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
        wpi_id id = wpi_lower_id_of(callee);
        if (id != WP_ID_COUNT)
            cost_identity(id, cost);
        else if (wpi_trace_is_texture(i))
            cost->count[WP_TRACE_TEXTURE]++; /* its latency is that of its accesses */
        else
            wpi_trace_add_function(cost, name, LLVMTypeOf(i));
    }
}

/* Operands of matrix instructions are in memory here, and in registers on a GPU. */
static bool is_register(LLVMValueRef access) {
    LLVMValueRef pointer = LLVMGetOperand(access, LLVMIsAStoreInst(access) ? 1 : 0);
    LLVMValueRef base = wpi_pointer_base(pointer);
    return LLVMIsAAllocaInst(base) && wpi_lower_has_note(base, WP_REGISTERS_METADATA);
}

static void cost_memory(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    trace_memory memory = wpi_trace_access(t, i).memory;
    if (memory == TRACE_PRIVATE && !is_register(i)) add(cost, WP_TRACE_LOCAL, 1);
    if (memory == TRACE_CONSTANT && !wpi_map_has(&t->joined, i)) add(cost, WP_TRACE_CONSTANT, 1);
}

/* A switch is a tree of comparisons. */
static void cost_switch(LLVMValueRef i, trace_cost *cost) {
    for (unsigned cases = LLVMGetNumSuccessors(i) - 1; cases; cases /= 2) {
        add(cost, WP_TRACE_INT, 1);
        add(cost, WP_TRACE_CONTROL, 1);
    }
}

static void cost_compare(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(i, 0)), scalar = scalar_of(type);
    if (is_float_type(scalar))
        add_lanes(cost, float_class(scalar), type, 1);
    else
        add_lanes(cost, WP_TRACE_INT, type, words_of(t, scalar));
}

bool wpi_trace_cost(const tracer *t, LLVMValueRef i, trace_cost *cost) {
    *cost = (trace_cost){{0}, {0}};
    LLVMTypeRef type = LLVMTypeOf(i);
    switch (opcode_of(i)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMFAdd:
    case LLVMFSub: cost_sum(t, i, cost); break;
    case LLVMMul:
        if (!is_part_of_sum(i)) add_product(t, cost, type);
        break;
    case LLVMFMul:
        if (!is_part_of_sum(i)) add_lanes(cost, float_class(scalar_of(type)), type, 1);
        break;
    case LLVMFDiv: cost_float_division(i, cost); break;
    case LLVMFRem: wpi_trace_add_function(cost, "frem", type); break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: cost_division(t, i, cost); break;
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMSelect:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr: add_lanes(cost, WP_TRACE_INT, type, words_of(t, scalar_of(type))); break;
    case LLVMICmp:
    case LLVMFCmp: cost_compare(t, i, cost); break;
    case LLVMZExt:
    case LLVMSExt: cost_extension(t, i, cost); break;
    case LLVMFPTrunc:
    case LLVMFPExt:
    case LLVMFPToSI:
    case LLVMFPToUI:
    case LLVMSIToFP:
    case LLVMUIToFP: cost_conversion(t, i, cost); break;
    case LLVMGetElementPtr: cost_address(i, cost); break;
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: cost_memory(t, i, cost); break;
    case LLVMFence: add(cost, WP_TRACE_SYNC, 1); break;
    case LLVMCall: cost_call(i, cost); break;
    case LLVMBr:
        if (LLVMIsConditional(i)) add(cost, WP_TRACE_CONTROL, 1);
        break;
    case LLVMSwitch: cost_switch(i, cost); break;
    case LLVMRet: add(cost, WP_TRACE_CONTROL, 1); break;
    default: break; /* phis, casts, elements of vectors and structures */
    }
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        if (cost->count[class]) return true;
    return false;
}
