/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A kernel in a module of its own, so that LLVM's passes, which run on whole modules, leave the
 * program as it is:
 *
 *     program ─copy─► kernel alone, calls inlined ─► its other form ─link─► program
 *
 * The copy declares the program's variables. Functions that cannot be inlined stay as internal
 * copies.
 */
#ifndef WP_COMPILER_ALONE_H
#define WP_COMPILER_ALONE_H

#include "compiler/context.h"

/** The program as it was before anything was added: what copies are made of. */
typedef struct wpi_alone_program {
    wpi_compile *c;
    LLVMMemoryBufferRef bitcode;
    LLVMValueRef *shown; /* variables that are hidden again at the end */
    uint32_t shown_count;
} wpi_alone_program;

typedef struct wpi_alone {
    wpi_compile *program, *c;    /* c: the copy */
    const wpi_kernel_ir *kernel; /* of the copy */
} wpi_alone;

void wpi_alone_program_init(wpi_alone_program *program, wpi_compile *c);
void wpi_alone_program_deinit(wpi_alone_program *program);

/** `{0}` is a valid argument of _deinit. */
WP_NODISCARD wp_status wpi_alone_init(wpi_alone *alone, const wpi_alone_program *program,
                                      const char *kernel, wp_error *err);
/** Links `file`, a device library beside wpcc, into the copy; its functions, whose names start with
 * `prefix`, become internal. */
WP_NODISCARD wp_status wpi_alone_link(wpi_alone *alone, const char *file, const char *prefix,
                                      wp_error *err);
/** Moves what is in the copy, less the kernel, into the program. */
WP_NODISCARD wp_status wpi_alone_return(wpi_alone *alone, wp_error *err);
void wpi_alone_deinit(wpi_alone *alone);

#endif
