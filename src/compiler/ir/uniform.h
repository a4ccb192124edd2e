/* SPDX-License-Identifier: Apache-2.0 */
/** Uniformity: values that are the same for all threads of a block, and blocks that all of them
 * reach together.
 *
 *  Divergence starts at the thread index and at loads, and spreads through operands and through
 * phis at which threads of a divergent branch meet, up to the branch's immediate post-dominator. */
#ifndef WP_IR_UNIFORM_H
#define WP_IR_UNIFORM_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir/map.h"

typedef struct wpi_uniform {
    LLVMBasicBlockRef *blocks; /* reverse post order */
    uint32_t block_count;
    wpi_map block_index;
    wpi_map divergent; /* values */
    bool *is_partial;  /* [block_count]: only some threads of the block may be there */
} wpi_uniform;

typedef enum wpi_value_origin {
    WP_ORIGIN_OPERANDS,  /* divergent if an operand is */
    WP_ORIGIN_DIVERGENT, /* a source of divergence */
    WP_ORIGIN_UNIFORM    /* uniform, regardless of operands */
} wpi_value_origin;

/** `origin` classifies instructions as sources or ends of divergence. */
void wpi_uniform_init(wpi_uniform *u, LLVMValueRef function,
                      wpi_value_origin (*origin)(LLVMValueRef instruction));
bool wpi_uniform_is(const wpi_uniform *u, LLVMValueRef value);
bool wpi_uniform_is_partial(const wpi_uniform *u, LLVMBasicBlockRef block);
void wpi_uniform_deinit(wpi_uniform *u);

#endif
