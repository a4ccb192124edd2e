/* SPDX-License-Identifier: Apache-2.0 */
/** Expands memcpy, memmove and memset as the PTX back end does: up to 128 bytes as a sequence of
 * words, as wide as both addresses are aligned; otherwise a loop over bytes. */
#ifndef WP_IR_EXPAND_COPY_H
#define WP_IR_EXPAND_COPY_H

#include "compiler/context.h"

/** Whether this copy, or setting of memory, is to be expanded. */
typedef bool wpi_copy_filter(const void *object, LLVMValueRef instruction);

/** Those of a function; `wants` NULL: all. How many were expanded. */
uint32_t wpi_expand_copies(wpi_compile *c, LLVMValueRef function, wpi_copy_filter *wants,
                           const void *object);

#endif
