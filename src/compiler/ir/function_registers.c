/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/function_registers.h"

#include <stdbool.h>
#include <string.h>

#include "compiler/ir/edit.h"

/* By bench/hardware/function_registers.py: the means of sm_35, sm_60 and sm_70, rounded. Not
 * measured: j1 and y1, as j0 and y0, and sines with cosines, as the larger of the two. */
typedef struct function_row {
    const char *name; /* of __nv_…, or of the intrinsic llvm.….f64 */
    uint8_t of_double, of_float;
} function_row;

static const function_row functions[] = {
    {"acos", 20, 11},   {"acosh", 25, 9},      {"asin", 19, 10},       {"asinh", 29, 13},
    {"atan", 19, 10},   {"atan2", 33, 9},      {"atanh", 18, 13},      {"cbrt", 11, 8},
    {"cos", 20, 11},    {"cosh", 19, 6},       {"cospi", 16, 7},       {"erf", 20, 14},
    {"erfc", 20, 23},   {"erfcinv", 44, 47},   {"erfcx", 25, 29},      {"erfinv", 35, 42},
    {"exp", 6, 0},      {"exp10", 6, 3},       {"exp2", 6, 0},         {"expm1", 18, 4},
    {"fmod", 23, 26},   {"hypot", 16, 4},      {"j0", 29, 32},         {"j1", 29, 32},
    {"lgamma", 28, 31}, {"log", 19, 0},        {"log10", 19, 9},       {"log1p", 15, 9},
    {"log2", 19, 9},    {"normcdf", 27, 29},   {"normcdfinv", 44, 47}, {"pow", 17, 10},
    {"rcbrt", 11, 7},   {"remainder", 25, 29}, {"rsqrt", 7, 0},        {"sin", 19, 13},
    {"sincos", 20, 13}, {"sincospi", 18, 7},   {"sinh", 19, 7},        {"sinpi", 18, 6},
    {"sqrt", 6, 0},     {"tan", 23, 13},       {"tanh", 28, 10},       {"tgamma", 37, 40},
    {"y0", 35, 37},     {"y1", 35, 37},
};

enum { DIV64 = 9, DIV32 = 4, SDIV = 4, UDIV = 3, SDIV_LONG = 8, UDIV_LONG = 5 };

static const function_row *row_of(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && memcmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return NULL;
}

static uint32_t of_function(const char *name) {
    const size_t length = strlen(name);
    const function_row *row;
    if (strncmp(name, "__nv_", 5) == 0) {
        row = row_of(name + 5, length - 5);
        if (row != NULL) return row->of_double;
        row = name[length - 1] == 'f' ? row_of(name + 5, length - 6) : NULL;
        return row != NULL ? row->of_float : 0;
    }
    if (strncmp(name, "llvm.", 5) != 0 || length < 10) return 0;
    row = row_of(name + 5, length - 9);
    if (row == NULL) return 0;
    return strcmp(name + length - 4, ".f64") == 0   ? row->of_double
           : strcmp(name + length - 4, ".f32") == 0 ? row->of_float
                                                    : 0;
}

static uint32_t of_division(LLVMOpcode opcode, LLVMTypeRef type) {
    const bool is_long =
        LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) > 32;
    switch (opcode) {
    case LLVMUDiv:
    case LLVMURem: return is_long ? UDIV_LONG : UDIV;
    case LLVMSDiv:
    case LLVMSRem: return is_long ? SDIV_LONG : SDIV;
    default: return LLVMGetTypeKind(type) == LLVMDoubleTypeKind ? DIV64 : DIV32;
    }
}

uint32_t wpi_function_registers(LLVMValueRef instruction) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    LLVMValueRef callee;
    size_t length;
    switch (opcode) {
    case LLVMUDiv:
    case LLVMURem:
    case LLVMSDiv:
    case LLVMSRem:
        if (LLVMIsConstant(LLVMGetOperand(instruction, 1))) return 0; /* a product */
        return of_division(opcode, LLVMTypeOf(instruction));
    case LLVMFDiv: return of_division(opcode, LLVMTypeOf(instruction));
    case LLVMCall:
        callee = wpi_called_function(instruction);
        return callee != NULL ? of_function(LLVMGetValueName2(callee, &length)) : 0;
    default: return 0;
    }
}
