/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PTX from the same device bitcode as the CPU code. docs/rooms/ptx.md.
 *
 *     bitcode ──lower──► GPU forms of what the dialect leaves open
 *             ──library─► what is used of nvptxlib.bc, linked and inlined
 *             ──version─► the lowest .target and .version that have every instruction
 *             ──────────► text
 */
#ifndef WP_COMPILER_NVPTX_H
#define WP_COMPILER_NVPTX_H

#include <llvm-c/Types.h>

#include "compiler/context.h"

typedef struct wpi_ptx_options {
    uint32_t arch;            /* 70 for sm_70; instructions of the file may need a later one */
    bool is_relocatable;      /* functions of other files stay external */
    bool has_block_lines;     /* lines are the numbers of blocks (machine/block_lines.h) */
    const char *library_path; /* nvptxlib.bc */
} wpi_ptx_options;

/** The PTX text of bitcode; `*text` is from wpi_malloc. NOT_FOUND: an undefined function;
 * UNSUPPORTED: code without a form in PTX; the message names it. */
WP_NODISCARD wp_status wpi_ptx_compile(const void *bitcode, size_t size_bytes,
                                       const wpi_ptx_options *options, char **text, wp_error *err);
/** NN of `.target sm_NN`; 0 if there is none. */
uint32_t wpi_ptx_arch(const char *text);

/** NVIDIA's assembler: the one that WARPAGE_PTXAS names (`*is_asked_for`), else the first ptxas in
 *  $PATH, unless that is wpcc by this name; NULL: there is none. The caller frees it. */
char *wpi_ptxas_find(bool *is_asked_for);

/** Whether argv[0] says that wpcc was started as ptxas. */
bool wpi_is_ptxas_command(const char *program);
/** Whether that ptxas is a link to wpcc. */
bool wpi_ptxas_is_ours(const char *path);
/** Turns ptxas' command line into wpcc's. `*is_done`: it asked for a text, which is printed.
 * INVALID: no file, two of them, an option without its value. */
WP_NODISCARD wp_status wpi_ptxas_words(int argc, char **argv, wpi_strings *words, bool *is_done,
                                       wp_error *err);
/** Assembles the PTX of a file for one architecture. TOOLCHAIN: ptxas fails, with its message. */
WP_NODISCARD wp_status wpi_cubin_assemble(const char *ptxas, const char *ptx_path, uint32_t arch,
                                          const char *cubin_path, wp_error *err);

/** The steps. Managed variables, texture references, reductions, LLVM's mathematics, fast division.
 */
WP_NODISCARD wp_status wpi_ptx_lower(wpi_compile *c, uint32_t arch, wp_error *err);
/** Links the library's functions that the module uses; remaining undefined functions are an
 * error. */
WP_NODISCARD wp_status wpi_ptx_link_library(wpi_compile *c, const wpi_ptx_options *options,
                                            wp_error *err);
/** Removes attributes that tie a function to a target. */
void wpi_ptx_drop_target(LLVMValueRef function);
/** The least architecture (at least *arch) and PTX version ("63") for the module's inline PTX, and
 *  whether only this architecture has its instructions (sm_90a). */
void wpi_ptx_version(wpi_compile *c, uint32_t *arch, uint32_t *version, bool *is_specific);

/** Prefix of the pointer to a managed variable's storage; its name follows. */
#define WP_PTX_MANAGED_PREFIX "wp_managed_"

#endif
