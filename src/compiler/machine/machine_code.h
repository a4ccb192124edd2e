/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What ptxas makes of a program's kernels: instructions by class, block of the bitcode by block,
 * and registers. docs/rooms/machine_code.md.
 *
 *     bitcode ─► numbers of blocks ─┬─► bitcode with them ─► passes ─► trace: steps, whose counts
 * are the └─► PTX, lines are numbers ─► ptxas ─► cubin ─► counts ──────┘  cubin's
 */
#ifndef WP_MACHINE_MACHINE_CODE_H
#define WP_MACHINE_MACHINE_CODE_H

#include "base/trace_abi.h"
#include "compiler/context.h"

/* Counts of a block: its instructions by class, and those that share the next one's issue slot. */
enum { WPI_MACHINE_PAIRED = WP_TRACE_CLASS_COUNT, WPI_MACHINE_COUNTS };

typedef struct wpi_machine_kernel {
    char *name;
    uint32_t registers; /* of a thread */
} wpi_machine_kernel;

typedef struct wpi_machine_code {
    uint32_t arch, block_count;
    /* [block_count + 1]: what a block executes, in parts of an instruction, too; and in how many
     * kernels its code was found. 0 is code of no block. */
    double (*counts)[WPI_MACHINE_COUNTS];
    uint32_t *kernels_of;
    wpi_machine_kernel *kernels;
    uint32_t kernel_count;
} wpi_machine_code;

typedef struct wpi_machine_request {
    const void *bitcode;
    size_t size_bytes;
    uint32_t arch;            /* 60 for sm_60 */
    const char *library_path; /* nvptxlib.bc */
    const char *folder;       /* for temporary files */
} wpi_machine_request;

/** Writes the bitcode with numbered blocks to `numbered_path`, and counts what ptxas makes of it.
 * The caller calls wpi_machine_code_deinit in any case. TOOLCHAIN: there is no ptxas, or it fails;
 * UNSUPPORTED: machine code of that architecture cannot be read. */
WP_NODISCARD wp_status wpi_machine_code_make(const wpi_machine_request *request,
                                             const char *numbered_path, wpi_machine_code *out,
                                             wp_error *err);
/** Registers of a kernel's thread; 0: unknown. */
uint32_t wpi_machine_code_registers(const wpi_machine_code *code, const char *kernel);
void wpi_machine_code_deinit(wpi_machine_code *code);

#endif
