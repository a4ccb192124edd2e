/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/live.h"

#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"

static void set_bit(uint64_t *set, uint32_t bit) {
    set[bit / 64] |= 1ull << (bit % 64);
}

static bool has_bit(const uint64_t *set, uint32_t bit) {
    return set[bit / 64] >> (bit % 64) & 1;
}

static uint64_t *set_of(const wpi_live *live, uint64_t *sets, uint32_t block) {
    return sets + (size_t)block * live->word_count;
}

const uint64_t *wpi_live_in(const wpi_live *live, LLVMBasicBlockRef block) {
    const uint32_t b = wpi_map_index(&live->block_index, block);
    return b == UINT32_MAX ? NULL : live->in + (size_t)b * live->word_count;
}

static void number(wpi_live *live, const wpi_live_ways *ways) {
    for (int round = 0; round < 2; round++) {
        live->value_count = 0;
        for (uint32_t b = 0; b < live->block_count; b++)
            for (LLVMValueRef i = LLVMGetFirstInstruction(live->blocks[b]); i;
                 i = LLVMGetNextInstruction(i)) {
                if (!ways->is_tracked(i, ways->state)) continue;
                if (round == 1) {
                    live->values[live->value_count] = i;
                    wpi_map_set_index(&live->value_index, i, live->value_count);
                }
                live->value_count++;
            }
        if (round == 0) live->values = wpi_must_calloc(live->value_count + 1, sizeof *live->values);
    }
    live->word_count = live->value_count / 64 + 1;
}

static LLVMValueRef used_by(const wpi_live_ways *ways, LLVMValueRef user, int operand) {
    LLVMValueRef value = LLVMGetOperand(user, (unsigned)operand);
    return ways->root ? ways->root(value, ways->state) : value;
}

void wpi_live_init(wpi_live *live, LLVMValueRef function, const wpi_live_ways *ways) {
    memset(live, 0, sizeof *live);
    live->blocks = wpi_blocks_rpo(function, &live->block_count);
    for (uint32_t b = 0; b < live->block_count; b++)
        wpi_map_set_index(&live->block_index, live->blocks[b], b);
    number(live, ways);

    size_t words = (size_t)live->block_count * live->word_count;
    live->in = wpi_must_calloc(words, sizeof *live->in);
    uint64_t *defs = wpi_must_calloc(words, sizeof *defs); /* defined in the block */
    uint64_t *uses = wpi_must_calloc(words, sizeof *uses); /* used before any definition in it */
    uint64_t *at_end =
        wpi_must_calloc(words, sizeof *at_end); /* needed at its end by phis and moved uses */
    for (uint32_t b = 0; b < live->block_count; b++) {
        uint64_t *def = set_of(live, defs, b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(live->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            LLVMBasicBlockRef moved =
                ways->use_block && !LLVMIsAPHINode(i) ? ways->use_block(i, ways->state) : NULL;
            for (int o = 0; o < LLVMGetNumOperands(i); o++) {
                uint32_t v = wpi_map_index(&live->value_index, used_by(ways, i, o));
                if (v == UINT32_MAX) continue;
                LLVMBasicBlockRef place =
                    LLVMIsAPHINode(i) ? LLVMGetIncomingBlock(i, (unsigned)o) : moved;
                if (place) {
                    uint32_t p = wpi_map_index(&live->block_index, place);
                    if (p != UINT32_MAX) set_bit(set_of(live, at_end, p), v);
                } else if (!has_bit(def, v)) {
                    set_bit(set_of(live, uses, b), v);
                }
            }
            uint32_t own = wpi_map_index(&live->value_index, i);
            if (own != UINT32_MAX) set_bit(def, own);
        }
    }
    uint64_t *out = wpi_must_calloc(live->word_count, sizeof *out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = live->block_count; b-- > 0;) {
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(live->blocks[b]);
            memcpy(out, set_of(live, at_end, b), live->word_count * sizeof *out);
            for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
                const uint64_t *in = wpi_live_in(live, LLVMGetSuccessor(terminator, s));
                for (uint32_t w = 0; w < live->word_count; w++)
                    out[w] |= in[w];
            }
            for (uint32_t w = 0; w < live->word_count; w++) {
                uint64_t in = set_of(live, uses, b)[w] | (out[w] & ~set_of(live, defs, b)[w]);
                uint64_t *old = &set_of(live, live->in, b)[w];
                if (in != *old) {
                    *old = in;
                    changed = true;
                }
            }
        }
    }
    wpi_free(defs);
    wpi_free(uses);
    wpi_free(at_end);
    wpi_free(out);
}

bool wpi_live_is_in(const wpi_live *live, LLVMBasicBlockRef block, uint32_t value) {
    const uint64_t *in = wpi_live_in(live, block);
    return in && has_bit(in, value);
}

void wpi_live_deinit(wpi_live *live) {
    wpi_free(live->blocks);
    wpi_free(live->values);
    wpi_free(live->in);
    wpi_map_deinit(&live->block_index);
    wpi_map_deinit(&live->value_index);
}
