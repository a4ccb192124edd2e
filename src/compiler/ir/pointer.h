/* SPDX-License-Identifier: Apache-2.0 */
/** Roots of addresses, and offsets from them. */
#ifndef WP_IR_POINTER_H
#define WP_IR_POINTER_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

/** The opcode of an instruction or constant expression; LLVMUnreachable for other values. */
LLVMOpcode wpi_opcode_of(LLVMValueRef value);

/** The value from which an address is computed by indexing and casts only. */
LLVMValueRef wpi_pointer_base(LLVMValueRef pointer);

enum { WP_POINTER_ROOTS_MAX = 16 };

/** All values that an address may start from, on any path. */
typedef struct wpi_pointer_roots_of {
    LLVMValueRef items[WP_POINTER_ROOTS_MAX];
    uint32_t count;
    bool is_incomplete; /* there are more */
} wpi_pointer_roots_of;

wpi_pointer_roots_of wpi_pointer_roots_of(LLVMValueRef pointer);

/** Iterates over the indices of a getelementptr:
 *
 *     wpi_gep_walk_begin walk = wpi_gep_walk_begin(layout, gep);
 *     while (wpi_gep_next(&walk, &index, &bytes)) … */
typedef struct wpi_gep_walk_begin {
    LLVMTargetDataRef layout;
    LLVMValueRef gep;
    LLVMTypeRef type;
    unsigned operand;
} wpi_gep_walk_begin;

wpi_gep_walk_begin wpi_gep_walk_begin(LLVMTargetDataRef layout, LLVMValueRef gep);
/** The next part of the offset: `index` elements of `bytes` each, or (index NULL) a field that
 * begins at `bytes`. False: there is none. */
bool wpi_gep_next(wpi_gep_walk_begin *walk, LLVMValueRef *index, uint64_t *bytes);

#endif
