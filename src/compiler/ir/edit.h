/* SPDX-License-Identifier: Apache-2.0 */
/** Small changes to functions that LLVM-C lacks: splitting blocks, expanding constant expressions,
 *  moving a builder behind a definition. */
#ifndef WP_IR_EDIT_H
#define WP_IR_EDIT_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

/** Makes `instruction` the first of its block: instructions before it move to a new block, which
 * takes over the predecessors and the phis. Returns the new block; names and phis elsewhere stay
 * valid. */
LLVMBasicBlockRef wpi_block_split_before(LLVMValueRef instruction);

/** Positions `builder` at the first possible use of a value: after the value (after all phis if it
 * is one). */
void wpi_builder_after(LLVMBuilderRef builder, LLVMValueRef value);
/** Positions `builder` so that code serves operand `index` of `user`: before it, or, for a phi,
 *  at the end of the incoming block. */
void wpi_builder_before_use(LLVMBuilderRef builder, LLVMValueRef user, unsigned index);

/** Turns every constant expression or constant aggregate that mentions `constant` and is used by an
 *  instruction into instructions, so that all uses of it are operands of instructions. Uses by the
 *  initialisers of globals stay. */
void wpi_constant_expand_uses(LLVMContextRef context, LLVMValueRef constant);

/** Replaces each use of `from` inside `function` by `to`; uses must be direct operands. */
void wpi_replace_in_function(LLVMValueRef from, LLVMValueRef to, LLVMValueRef function);

/** Adds one edge to a phi. */
void wpi_phi_add(LLVMValueRef phi, LLVMValueRef value, LLVMBasicBlockRef from);

/** Operand indices of `user` that hold `value`: the first at or after `start`, or -1. */
int wpi_operand_find(LLVMValueRef user, LLVMValueRef value, int start);

/** Redirects the uses of an instruction outside of its block to a phi at the start of `block`,
 *  which dominates them. The phi has no incoming edges yet; NULL if there are no such uses. */
LLVMValueRef wpi_uses_read_phi(LLVMBuilderRef builder, LLVMValueRef instruction,
                               LLVMBasicBlockRef block);

/** Reachable blocks in reverse post order; free with wpi_free. */
LLVMBasicBlockRef *wpi_blocks_rpo(LLVMValueRef function, uint32_t *count);

/** The called function, or NULL for an indirect call, an intrinsic asm or a non-call. */
LLVMValueRef wpi_called_function(LLVMValueRef instruction);

/** Leaves a declaration of `function`. */
void wpi_function_drop_body(LLVMValueRef function);

/** True if `function` may be called through a pointer. */
bool wpi_function_is_address_taken(LLVMValueRef function);

unsigned wpi_argument_number(LLVMValueRef argument);
/** True if an argument of a function has the attribute ("byval"). */
bool wpi_argument_has(LLVMValueRef argument, const char *name);

/** Marks the first successor of a conditional branch as rarely taken. */
void wpi_branch_mark_rare(LLVMContextRef context, LLVMValueRef branch);

/** Users of a value as an array (one entry a use); free with wpi_free. */
LLVMValueRef *wpi_users(LLVMValueRef value, uint32_t *count);

/** Removes "exact" and similar flags from every instruction. Scalar passes of LLVM 19 replace an
 * expression by an equal one hoisted from under a guard, and keep flags that hold only under the
 * guard. */
void wpi_module_forget_exact(LLVMModuleRef module);

#endif
