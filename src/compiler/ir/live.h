/* SPDX-License-Identifier: Apache-2.0 */
/** Liveness of values: backward data flow over the blocks of one function, in SSA form. A phi's
 *  operands count as used at the end of the incoming blocks, its result as defined at the
 * start of its own block. */
#ifndef WP_IR_LIVE_H
#define WP_IR_LIVE_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/map.h"

typedef struct wpi_live {
    LLVMBasicBlockRef *blocks; /* reverse post order */
    uint32_t block_count;
    LLVMValueRef *values; /* instructions with a result, in order of blocks */
    uint32_t value_count;
    uint32_t word_count; /* 64-bit words a set */
    uint64_t *in;        /* [block_count * word_count] */
    wpi_map block_index, value_index;
} wpi_live;

/** What is asked about instructions; all get `state`. */
typedef struct wpi_live_ways {
    bool (*is_tracked)(LLVMValueRef, void *state);
    /** Optional, moves a use: the block at whose end operands of `user` are needed, or NULL for the
     * user's own place. */
    LLVMBasicBlockRef (*use_block)(LLVMValueRef user, void *state);
    /** Optional: the value that a use of this one is a use of. */
    LLVMValueRef (*root)(LLVMValueRef operand, void *state);
    void *state;
} wpi_live_ways;

void wpi_live_init(wpi_live *live, LLVMValueRef function, const wpi_live_ways *ways);
/** The values that are live at the start of a block, `word_count` words of bits; NULL: it cannot be
 * reached. */
const uint64_t *wpi_live_in(const wpi_live *live, LLVMBasicBlockRef block);
bool wpi_live_is_in(const wpi_live *live, LLVMBasicBlockRef block, uint32_t value);
void wpi_live_deinit(wpi_live *live);

#endif
