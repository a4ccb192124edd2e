/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of base/trace_abi.h as constants, and properties of whole kernels. */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/source_variable.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

static LLVMValueRef constant_global(wpi_compile *c, LLVMValueRef value) {
    LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), "wp.trace");
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

/* Rows that hold nothing but numbers are written as 32-bit words. */
static LLVMValueRef word_table(wpi_compile *c, const void *rows, size_t size_bytes) {
    size_t count = size_bytes / sizeof(uint32_t);
    LLVMValueRef *words = wpi_must_calloc(count + 1, sizeof *words);
    for (size_t w = 0; w < count; w++) {
        uint32_t word;
        memcpy(&word, (const char *)rows + w * sizeof word, sizeof word);
        words[w] = wpi_const32(c, word);
    }
    LLVMValueRef made = constant_global(c, LLVMConstArray2(c->i32, words, count));
    wpi_free(words);
    return made;
}

static LLVMValueRef block_table(tracer *t) {
    wp_trace_block *rows = wpi_must_calloc(t->block_count + 1, sizeof *rows);
    for (uint32_t b = 0; b < t->block_count; b++)
        rows[b] = t->blocks[b].row;
    LLVMValueRef made = word_table(t->c, rows, t->block_count * sizeof *rows);
    wpi_free(rows);
    return made;
}

/* `items` of one type; null for none. */
static LLVMValueRef value_table(wpi_compile *c, LLVMValueRef *items, uint32_t count) {
    if (!count) return LLVMConstNull(c->ptr);
    return constant_global(c, LLVMConstArray2(LLVMTypeOf(items[0]), items, count));
}

static LLVMValueRef name_text(wpi_compile *c, LLVMValueRef function) {
    size_t length;
    const char *name = LLVMGetValueName2(function, &length);
    return wpi_source_text(c, name, length);
}

/* ---- kernels ---- */

static uint32_t flags_below(const tracer *t, LLVMValueRef function, wpi_map *seen);

static uint32_t flags_behind_pointers(const tracer *t, wpi_map *seen) {
    uint32_t flags = 0;
    for (uint32_t f = 0; f < t->function_count; f++)
        if (wpi_function_is_address_taken(t->functions[f]))
            flags |= flags_below(t, t->functions[f], seen);
    return flags;
}

static uint32_t flags_of_stop(LLVMValueRef stop) {
    switch (WP_STOP_KIND(wpi_lower_stop_op(stop))) {
    case WP_STOP_YIELD:
        return wpi_lower_has_note(stop, WP_TRIES_METADATA) ? 0 : WP_TRACE_KERNEL_SPINS;
    case WP_STOP_GRID: return WP_TRACE_KERNEL_GRID;
    case WP_STOP_STEP:
        return wpi_lower_has_note(stop, WP_CLOSE_METADATA) ? WP_TRACE_KERNEL_CLOSE : 0;
    case WP_STOP_MATRIX: return wpi_trace_is_product(stop) ? WP_TRACE_KERNEL_TENSOR : 0;
    default: return 0;
    }
}

static uint32_t flags_of(const tracer *t, LLVMValueRef i, wpi_map *seen) {
    size_t length;
    LLVMValueRef callee = wpi_called_function(i);
    if (wpi_lower_is_stop(i)) return flags_of_stop(i);
    if (wpi_trace_is_call(i))
        return callee ? flags_below(t, callee, seen)
                      : WP_TRACE_KERNEL_POINTERS | flags_behind_pointers(t, seen);
    const char *name = callee ? LLVMGetValueName2(callee, &length) : "";
    if (strcmp(name, "wp_rt_launch") == 0 || strcmp(name, "wp_rt_device_call") == 0)
        return WP_TRACE_KERNEL_LAUNCHES;
    return strcmp(name, "wp_rt_trace_clock") == 0 ? WP_TRACE_KERNEL_CLOCK : 0;
}

static uint32_t flags_below(const tracer *t, LLVMValueRef function, wpi_map *seen) {
    uint32_t flags = 0;
    if (wpi_map_has(seen, function)) return 0;
    wpi_map_set(seen, function, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            flags |= flags_of(t, i, seen);
    return flags;
}

static uint32_t entry_of(const tracer *t, LLVMValueRef function) {
    for (uint32_t b = 0; b < t->block_count; b++)
        if (t->functions[t->blocks[b].row.function] == function) return b;
    return WP_TRACE_NONE;
}

static LLVMValueRef kernel_table(const tracer *t) {
    wpi_compile *c = t->c;
    LLVMValueRef *rows = wpi_must_calloc(c->kernel_count + 1, sizeof *rows);
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        LLVMValueRef function = c->kernels[k].function;
        wpi_map seen = {0};
        LLVMValueRef fields[] = {wpi_source_text(c, c->kernels[k].name, strlen(c->kernels[k].name)),
                                 wpi_const32(c, entry_of(t, function)),
                                 wpi_const32(c, flags_below(t, function, &seen))};
        wpi_map_deinit(&seen);
        rows[k] = LLVMConstStructInContext(c->context, fields, 3, 0);
    }
    LLVMValueRef made = value_table(c, rows, c->kernel_count);
    wpi_free(rows);
    return made;
}

void wpi_trace_export(tracer *t) {
    wpi_compile *c = t->c;
    LLVMValueRef *names = wpi_must_calloc(t->function_count + 1, sizeof *names);
    for (uint32_t f = 0; f < t->function_count; f++)
        names[f] = name_text(c, t->functions[f]);
    LLVMValueRef *places = wpi_trace_place_rows(t);
    LLVMValueRef fields[] = {
        wpi_const32(c, WP_TRACE_VERSION),
        wpi_const32(c, t->is_in_step),
        wpi_const32(c, t->block_count),
        wpi_const32(c, t->step_count),
        wpi_const32(c, t->site_count),
        wpi_const32(c, c->kernel_count),
        wpi_const32(c, t->function_count),
        wpi_const32(c, t->share_count),
        wpi_const32(c, t->place_count),
        block_table(t),
        word_table(c, t->steps, t->step_count * sizeof *t->steps),
        value_table(c, t->sites, t->site_count),
        kernel_table(t),
        value_table(c, names, t->function_count),
        word_table(c, t->shares, t->share_count * sizeof *t->shares),
        value_table(c, places, t->place_count),
    };
    wpi_free(names);
    wpi_free(places);
    LLVMValueRef value =
        LLVMConstStructInContext(c->context, fields, sizeof fields / sizeof *fields, 0);
    LLVMValueRef global = LLVMAddGlobal(c->module, LLVMTypeOf(value), WP_TRACE_TABLES_SYMBOL);
    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, 1);
}
