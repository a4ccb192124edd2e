/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of constant memory. A warp's lanes may read several words of it, of which the constant
 * cache gives out one at a time: such a load is an access. All others are instructions of class
 * `constant`; two that read the halves of eight bytes are one, as ptxas joins them. */
#include "compiler/ir/pointer.h"
#include "compiler/ir/uniform.h"
#include "compiler/pass/region/regions.h"
#include "compiler/pass/trace/trace_pass.h"

static bool is_constant(const tracer *t, LLVMValueRef i) {
    return LLVMIsALoadInst(i) && wpi_trace_access(t, i).memory == TRACE_CONSTANT;
}

static bool has_constant(const tracer *t, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_constant(t, i)) return true;
    return false;
}

static void find_spread(tracer *t, LLVMValueRef function) {
    wpi_uniform uniform;
    wpi_region_uniform_init(&uniform, function);
    for (uint32_t b = 0; b < uniform.block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(uniform.blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            if (is_constant(t, i) && wpi_trace_access(t, i).base &&
                !wpi_uniform_is(&uniform, LLVMGetOperand(i, 0)))
                wpi_map_set(&t->spread, i, i);
    wpi_uniform_deinit(&uniform);
}

/* ---- halves ---- */

enum { PARTS_MAX = 4, LOADS_BACK = 16 };

/* base + offset + the sum of index * bytes */
typedef struct const_address {
    LLVMValueRef base, index[PARTS_MAX];
    uint64_t bytes[PARTS_MAX];
    uint32_t part_count;
    int64_t offset;
} const_address;

/* False: it has more parts. */
static bool add_gep(const tracer *t, LLVMValueRef gep, const_address *a) {
    LLVMValueRef index;
    uint64_t bytes;
    wpi_gep_walk walk = wpi_gep_walk_begin(t->layout, gep);
    while (wpi_gep_next(&walk, &index, &bytes)) {
        if (!index)
            a->offset += (int64_t)bytes;
        else if (LLVMIsAConstantInt(index))
            a->offset += LLVMConstIntGetSExtValue(index) * (int64_t)bytes;
        else if (a->part_count == PARTS_MAX)
            return false;
        else {
            a->index[a->part_count] = index;
            a->bytes[a->part_count++] = bytes;
        }
    }
    return true;
}

/* Of a load of four bytes. */
static bool address_of(const tracer *t, LLVMValueRef load, const_address *a) {
    *a = (const_address){.base = LLVMGetOperand(load, 0)};
    if (wpi_trace_access(t, load).size_bytes != 4) return false;
    for (;; a->base = LLVMGetOperand(a->base, 0)) {
        const LLVMOpcode opcode = wpi_opcode_of(a->base);
        if (opcode != LLVMGetElementPtr && opcode != LLVMAddrSpaceCast) return true;
        if (opcode == LLVMGetElementPtr && !add_gep(t, a->base, a)) return false;
    }
}

static bool are_halves(const const_address *a, const const_address *b) {
    if (a->base != b->base || a->part_count != b->part_count || (a->offset ^ b->offset) != 4)
        return false;
    for (uint32_t i = 0; i < a->part_count; i++)
        if (a->index[i] != b->index[i] || a->bytes[i] != b->bytes[i] || a->bytes[i] % 8 != 0)
            return false;
    return true;
}

/* Those of a block that come with one before. */
static void find_joined(tracer *t, LLVMBasicBlockRef block) {
    const_address last[LOADS_BACK] = {0}; /* base NULL: none, or joined */
    uint32_t next = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const_address a;
        if (!is_constant(t, i) || !address_of(t, i, &a)) continue;
        uint32_t other = 0;
        while (other < LOADS_BACK && !are_halves(&last[other], &a))
            other++;
        if (other == LOADS_BACK) {
            last[next++ % LOADS_BACK] = a;
        } else {
            last[other].base = NULL;
            wpi_map_set(&t->joined, i, i);
        }
    }
}

void wpi_trace_find_constants(tracer *t, LLVMValueRef function) {
    if (!has_constant(t, function)) return;
    if (wpi_compile_is_kernel(t->c, function)) find_spread(t, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        find_joined(t, b);
}
