/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers of blocks of device bitcode, as notes on their instructions, which passes keep, and as
 * line numbers, which machine code keeps. */
#ifndef WP_MACHINE_BLOCK_LINES_H
#define WP_MACHINE_BLOCK_LINES_H

#include <stdint.h>

#include "compiler/context.h"

/* How numbered blocks lie to each other: [count + 1] each, block numbers or 0. */
typedef struct wpi_block_places {
    uint32_t count;
    uint32_t *loop_of;      /* the first block of the innermost loop */
    uint32_t *dominator_of; /* the immediate one */
} wpi_block_places;

/** Gives each instruction a note with the number of its block, from 1 on. */
void wpi_blocks_number(wpi_compile *c, wpi_block_places *out);
void wpi_block_places_deinit(wpi_block_places *places);
/** The number of the block that an instruction came from; 0: none, a pass made it. */
uint32_t wpi_block_number_of(LLVMValueRef instruction);
/** Makes these numbers the line numbers of a module that has none. */
void wpi_blocks_to_lines(wpi_compile *c);

#endif
