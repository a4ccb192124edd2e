/* SPDX-License-Identifier: Apache-2.0 */
/** Immediate post-dominators: where threads that diverge at a branch reconverge at the latest. */
#ifndef WP_IR_POSTDOM_H
#define WP_IR_POSTDOM_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/ir/map.h"

/** For each of `count` blocks (in any order with the entry first) the index of its immediate
 * post-dominator; `count` if that is the function's end, or the block never reaches it. Free with
 * wpi_free. */
uint32_t *wpi_postdominators(const LLVMBasicBlockRef *blocks, uint32_t count, const wpi_map *index);

#endif
