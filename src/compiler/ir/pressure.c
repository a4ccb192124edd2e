/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/pressure.h"

#include <stdbool.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/function_registers.h"
#include "compiler/ir/live.h"

/* A name of a constant of the launch begins so: operands of machine code. */
static const char *const CONSTANTS[] = {"wp.id.ntid.", "wp.id.nctaid."};

static bool is_constant_of_launch(LLVMValueRef i) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    size_t length;
    if (callee == NULL) return false;
    const char *name = LLVMGetValueName2(callee, &length);
    for (size_t n = 0; n < sizeof CONSTANTS / sizeof *CONSTANTS; n++)
        if (strncmp(name, CONSTANTS[n], strlen(CONSTANTS[n])) == 0) return true;
    return false;
}

static bool is_at_constant_distance(LLVMValueRef gep) {
    for (int o = 1; o < LLVMGetNumOperands(gep); o++)
        if (!LLVMIsAConstantInt(LLVMGetOperand(gep, (unsigned)o))) return false;
    return true;
}

/* Whether its result lies where its first operand does. */
static bool is_shared(LLVMValueRef i) {
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMBitCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
    case LLVMAddrSpaceCast:
    case LLVMFreeze:
    case LLVMExtractValue:
    case LLVMExtractElement:
        return LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(i, 0))) != LLVMIntegerTypeKind ||
               LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(i, 0))) != 1;
    case LLVMGetElementPtr: return is_at_constant_distance(i);
    default: return false;
    }
}

static LLVMValueRef root(LLVMValueRef value, void *state) {
    (void)state;
    while (LLVMIsAInstruction(value) && is_shared(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

static bool has_register(LLVMValueRef i, void *state) {
    const LLVMTypeKind kind = LLVMGetTypeKind(LLVMTypeOf(i));
    (void)state;
    if (kind == LLVMVoidTypeKind || kind == LLVMTokenTypeKind) return false;
    return !LLVMIsAAllocaInst(i) && !is_shared(i) && !is_constant_of_launch(i);
}

enum { SHARED = 3, LOCAL = 5 }; /* address spaces of 32 bits */

static uint32_t registers_of(LLVMTypeRef type, LLVMTargetDataRef layout) {
    uint32_t sum = 0;
    unsigned space;
    switch (LLVMGetTypeKind(type)) {
    case LLVMPointerTypeKind:
        space = LLVMGetPointerAddressSpace(type);
        return space == SHARED || space == LOCAL ? 1 : 2;
    case LLVMIntegerTypeKind:
        if (LLVMGetIntTypeWidth(type) == 1) return 0; /* a predicate */
        break;
    case LLVMStructTypeKind:
        for (unsigned n = 0; n < LLVMCountStructElementTypes(type); n++)
            sum += registers_of(LLVMStructGetTypeAtIndex(type, n), layout);
        return sum;
    default: break;
    }
    return (uint32_t)((LLVMABISizeOfType(layout, type) + 3) / 4);
}

typedef struct walk {
    const wpi_live *live;
    uint32_t *registers; /* of each value */
    uint64_t *alive;     /* values */
    uint32_t now;        /* registers */
    wpi_pressure_of most;
} walk;

static void add(walk *w, LLVMValueRef value) {
    const uint32_t v = wpi_map_index(&w->live->value_index, root(value, NULL));
    if (v == UINT32_MAX || w->alive[v / 64] >> (v % 64) & 1) return;
    w->alive[v / 64] |= UINT64_C(1) << v % 64;
    w->now += w->registers[v];
}

static void take_away(walk *w, LLVMValueRef value) {
    const uint32_t v = wpi_map_index(&w->live->value_index, value);
    if (v == UINT32_MAX || !(w->alive[v / 64] >> (v % 64) & 1)) return;
    w->alive[v / 64] &= ~(UINT64_C(1) << v % 64);
    w->now -= w->registers[v];
}

/* What is alive at the end of a block. */
static void begin_at_end(walk *w, LLVMBasicBlockRef block) {
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
    memset(w->alive, 0, w->live->word_count * sizeof *w->alive);
    w->now = 0;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(terminator, s);
        for (uint32_t v = 0; v < w->live->value_count; v++)
            if (wpi_live_is_in(w->live, next, v)) add(w, w->live->values[v]);
        for (LLVMValueRef i = LLVMGetFirstInstruction(next); i && LLVMIsAPHINode(i);
             i = LLVMGetNextInstruction(i))
            for (unsigned o = 0; o < LLVMCountIncoming(i); o++)
                if (LLVMGetIncomingBlock(i, o) == block) add(w, LLVMGetIncomingValue(i, o));
    }
}

/* `more` than the values that are alive now. */
static void note(walk *w, uint32_t more) {
    if (w->now + more > w->most.anywhere) w->most.anywhere = w->now + more;
}

static void walk_block(walk *w, LLVMBasicBlockRef block) {
    begin_at_end(w, block);
    for (LLVMValueRef i = LLVMGetBasicBlockTerminator(block); i && !LLVMIsAPHINode(i);
         i = LLVMGetPreviousInstruction(i)) {
        note(w, 0);
        take_away(w, i);
        for (int o = 0; o < LLVMGetNumOperands(i); o++)
            add(w, LLVMGetOperand(i, (unsigned)o));
        note(w, wpi_function_registers(i));
    }
    note(w, 0);
    if (w->now > w->most.at_starts) w->most.at_starts = w->now;
}

wpi_pressure_of wpi_pressure(LLVMValueRef function, LLVMTargetDataRef layout) {
    wpi_live live;
    wpi_live_init(&live, function, &(wpi_live_ways){.is_tracked = has_register, .root = root});
    walk w = {.live = &live,
              .registers = wpi_must_calloc(live.value_count + 1, sizeof *w.registers),
              .alive = wpi_must_calloc(live.word_count + 1, sizeof *w.alive)};
    for (uint32_t v = 0; v < live.value_count; v++)
        w.registers[v] = registers_of(LLVMTypeOf(live.values[v]), layout);
    for (uint32_t b = 0; b < live.block_count; b++)
        walk_block(&w, live.blocks[b]);
    wpi_free(w.registers);
    wpi_free(w.alive);
    wpi_live_deinit(&live);
    return w.most;
}
