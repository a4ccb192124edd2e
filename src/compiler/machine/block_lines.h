/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of blocks of device bitcode, as notes on their instructions, which passes keep, and as
 * line numbers, which machine code keeps. */
#ifndef WP_MACHINE_BLOCK_LINES_H
#define WP_MACHINE_BLOCK_LINES_H

#include <stdint.h>

#include "compiler/context.h"

/** Gives each instruction a note with the number of its block, from 1 on. Returns how many blocks
 * there are; `*loop_of` (wpi_free), [blocks + 1], has the number of the first block of each block's
 * innermost loop, or 0. */
uint32_t wpi_blocks_number(wpi_compile *c, uint32_t **loop_of);
/** The number of the block that an instruction came from; 0: none, a pass made it. */
uint32_t wpi_block_number_of(LLVMValueRef instruction);
/** Makes these numbers the line numbers of a module that has none. */
void wpi_blocks_to_lines(wpi_compile *c);

#endif
