/* SPDX-License-Identifier: Apache-2.0 */
/* What functions take that are more than one instruction, or one of a class of its own: the usual
 * way, without the ways for subnormal, huge and invalid arguments. */
#include <string.h>

#include "compiler/pass/trace.h"

typedef struct row {
    const char *name; /* a trailing '*' matches any rest */
    uint8_t integer, multiply, fp32, fp64, special, convert, control;
} row;

static const row rows[] = {
    /* integers: by a reciprocal in floating point, corrected */
    {"udiv", 6, 4, 0, 0, 1, 2, 0},
    {"sdiv", 10, 4, 0, 0, 1, 2, 0},
    {"udiv64", 28, 34, 0, 0, 1, 2, 3},
    {"sdiv64", 36, 34, 0, 0, 1, 2, 3},
    {"div_constant", 1, 1, 0, 0, 0, 0, 0}, /* by the inverse, and a shift */
    {"div64_constant", 4, 6, 0, 0, 0, 0, 0},
};

static const row other_float = {NULL, 4, 0, 20, 0, 1, 0, 2};
static const row other_double = {NULL, 8, 0, 0, 30, 1, 0, 2};
static const row other_integer = {NULL, 2, 0, 0, 0, 0, 0, 0};

static bool matches(const char *pattern, const char *name) {
    size_t length = strlen(pattern);
    if (pattern[length - 1] == '*') return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static const row *find(const char *name, LLVMTypeRef result) {
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        if (matches(rows[r].name, name)) return &rows[r];
    switch (LLVMGetTypeKind(result)) {
    case LLVMDoubleTypeKind: return &other_double;
    case LLVMFloatTypeKind: return &other_float;
    default: return &other_integer;
    }
}

void wpi_trace_add_function(trace_cost *cost, const char *name, LLVMTypeRef result) {
    const row *found = find(name, result);
    const struct {
        wp_trace_class class;
        uint8_t count;
    } parts[] = {{WP_TRACE_INT, found->integer},      {WP_TRACE_IMUL, found->multiply},
                 {WP_TRACE_FP32, found->fp32},        {WP_TRACE_FP64, found->fp64},
                 {WP_TRACE_SPECIAL, found->special},  {WP_TRACE_CONVERT, found->convert},
                 {WP_TRACE_CONTROL, found->control}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        cost->count[parts[p].class] = (uint8_t)(cost->count[parts[p].class] + parts[p].count);
        cost->chain[parts[p].class] = (uint8_t)(cost->chain[parts[p].class] + parts[p].count);
    }
}
