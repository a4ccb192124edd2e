/* SPDX-License-Identifier: Apache-2.0 */
/** Predicates on integer compares and pure operations, used by several passes. */
#ifndef WP_IR_COMPARE_H
#define WP_IR_COMPARE_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/** `a <predicate> b` is false exactly when `a <inverse> b` is true. */
LLVMIntPredicate wpi_predicate_inverse(LLVMIntPredicate predicate);
/** `a <predicate> b` as `b <swapped> a`. */
LLVMIntPredicate wpi_predicate_swapped(LLVMIntPredicate predicate);

/** Arithmetic, casts, compares, selects, addresses: no memory, no control, the same result
 * wherever its operands are the same. Divisions are among them; they may trap. */
bool wpi_is_pure_operation(LLVMValueRef instruction);
/** An integer division or remainder. */
bool wpi_is_division(LLVMValueRef instruction);

#endif
