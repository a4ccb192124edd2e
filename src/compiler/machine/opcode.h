/* SPDX-License-Identifier: Apache-2.0 */
/** Instructions of NVIDIA's GPUs since Kepler's second generation: how they lie in memory, and what
 * they need. */
#ifndef WP_MACHINE_OPCODE_H
#define WP_MACHINE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/trace_abi.h"

/* Besides the classes: instructions that are no cost of their own. */
enum {
    WP_OPCODE_ACCESS = WP_TRACE_CLASS_COUNT, /* of memory, which the tables have as a site */
    WP_OPCODE_NONE                           /* padding, or no instruction */
};

/** Whether machine code of that architecture can be read: sm_35 and later. */
static inline bool wpi_opcode_is_known(uint32_t arch) {
    return arch >= 35;
}
/** Bytes between instructions, and of one. */
static inline size_t wpi_opcode_bytes(uint32_t arch) {
    return arch >= 70 ? 16 : 8;
}
/** Whether the instruction at `offset` issues in one slot with the next, which ptxas decides
 * before Volta. */
bool wpi_opcode_is_paired(uint32_t arch, const unsigned char *code, size_t offset);
/** Whether a predicate decides, lane by lane, if the instruction at `offset` has an effect. */
bool wpi_opcode_is_guarded(uint32_t arch, const unsigned char *code, size_t offset);
/** The class of the instruction at `offset` of a function's code, of WP_TRACE_CLASS_COUNT; or
 * WP_OPCODE_…. Code has wpi_opcode_bytes there. */
int wpi_opcode_class(uint32_t arch, const unsigned char *code, size_t offset);

#endif
