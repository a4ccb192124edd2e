/* SPDX-License-Identifier: Apache-2.0 */
/** How many registers the values of a function need at the same time, on a GPU. */
#ifndef WP_IR_PRESSURE_H
#define WP_IR_PRESSURE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stdint.h>

typedef struct wpi_pressure_of {
    uint32_t anywhere;  /* in the order of the instructions, with those that functions work with */
    uint32_t at_starts; /* of blocks, with the results of phis: whatever the order within a block */
} wpi_pressure_of;

/** The most 32-bit registers that the values have that are alive at one point of the function. Free
 * are what has none on a GPU: predicates, constants of the launch, parameters; and what shares one:
 * a cast, or an address at a constant distance from another. */
wpi_pressure_of wpi_pressure(LLVMValueRef function, LLVMTargetDataRef layout);

#endif
