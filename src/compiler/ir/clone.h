/* SPDX-License-Identifier: Apache-2.0 */
/** Copies of blocks inside one function. */
#ifndef WP_IR_CLONE_H
#define WP_IR_CLONE_H

#include <llvm-c/Core.h>
#include <stdint.h>

#include "compiler/ir/map.h"

/** Copies `blocks` and puts the copies before `place`. `values` and `made` (blocks) map originals
 * to copies. Existing entries are used: an instruction with a (constant) entry is not copied;
 * copied ones are added. Values in neither are unchanged: edges to blocks outside also start from
 * the copies, and the caller completes the phis there. */
void wpi_clone_blocks(const LLVMBasicBlockRef *blocks, uint32_t count, LLVMBasicBlockRef place,
                      wpi_map *values, wpi_map *made);

/** Copies the body of `from` into `to`, which has none; its first parameters are those of `from`.
 */
void wpi_clone_body(LLVMValueRef from, LLVMValueRef to);

#endif
