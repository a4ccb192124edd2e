/* SPDX-License-Identifier: Apache-2.0 */
/** Names of NVRTC's name expressions: nvrtcCompileProgram appends a variable for each to the
 * source,
 *
 *     extern "C" __device__ __attribute__((used)) const void *wpi_nvrtc_name_0 = (const void
 * *)(EXPRESSION);
 *
 * which instantiates it, and whose value names the mangled symbol. */
#ifndef WP_COMPILER_LOWERED_NAMES_H
#define WP_COMPILER_LOWERED_NAMES_H

#include <llvm-c/Types.h>

#include "warpage/error.h"

/** Removes these variables from the module; writes their numbers and symbols to the file, one line
 * each. */
WP_NODISCARD wp_status wpi_lowered_names_write(LLVMModuleRef module, const char *path,
                                               wp_error *err);

#endif
