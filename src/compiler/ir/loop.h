/* SPDX-License-Identifier: Apache-2.0 */
/** Dominators and natural loops of one function, which LLVM-C does not provide. Dominators by
 * Cooper, Harvey and Kennedy's iteration over reverse post order. */
#ifndef WP_IR_LOOP_H
#define WP_IR_LOOP_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/map.h"

typedef struct wpi_loop {
    uint32_t header; /* indices into wpi_loops.blocks */
    uint32_t latch;  /* one loop for each back edge */
    bool *contains;  /* [block_count] */
} wpi_loop;

typedef struct wpi_loops {
    LLVMBasicBlockRef *blocks; /* reverse post order */
    uint32_t block_count;
    uint32_t *idom; /* immediate dominator; the entry's is itself */
    wpi_map index;
    wpi_loop *loops;
    uint32_t loop_count;
} wpi_loops;

void wpi_loops_init(wpi_loops *loops, LLVMValueRef function);
bool wpi_loops_dominates(const wpi_loops *loops, uint32_t a, uint32_t b);
void wpi_loops_deinit(wpi_loops *loops);

/** Inserts a block on the edge from `from` to its successor number `successor`, and updates
 * phis. */
LLVMBasicBlockRef wpi_edge_split(LLVMBasicBlockRef from, unsigned successor);

#endif
