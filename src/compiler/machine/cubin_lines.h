/* SPDX-License-Identifier: Apache-2.0 */
/** The functions of a cubin, and the source line of each instruction. */
#ifndef WP_MACHINE_CUBIN_LINES_H
#define WP_MACHINE_CUBIN_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

/** Called for a run of `size_bytes` of a function's code that come from one line; 0: unknown.
 * `name` is the kernel in whose section they are. */
typedef void (*wpi_cubin_run_fn)(void *context, const char *name, const unsigned char *code,
                                 size_t offset, size_t size_bytes, uint32_t line);

/** Reads the line tables (ptxas -lineinfo) of an ELF file in memory. Code that belongs to functions
 * of ptxas' own (the slow path of a division) is left out. PARSE: not a cubin, or damaged. */
WP_NODISCARD wp_status wpi_cubin_lines(const unsigned char *elf, size_t size_bytes,
                                       wpi_cubin_run_fn run, void *context, wp_error *err);

#endif
