/* SPDX-License-Identifier: Apache-2.0 */
/** Registers with which a function of the device library works, on a GPU. */
#ifndef WP_IR_FUNCTION_REGISTERS_H
#define WP_IR_FUNCTION_REGISTERS_H

#include <llvm-c/Core.h>
#include <stdint.h>

/** 32-bit registers that an instruction needs besides its operands and its result: those of the
 * code that a GPU's compiler puts in for a division or a function. 0: none, or unknown. */
uint32_t wpi_function_registers(LLVMValueRef instruction);

#endif
