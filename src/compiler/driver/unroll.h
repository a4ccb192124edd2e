/* SPDX-License-Identifier: Apache-2.0 */
/** Unrolls loops of the front end's bitcode as far as nvcc does.
 *
 *  The front end unrolls loops up to LLVM's limit for -O2 whole, and no loop in part. Here inner
 *  loops are unrolled whole up to the size at which nvcc and ptxas stop; then what is left in part,
 *  by LLVM's rule. */
#ifndef WP_COMPILER_UNROLL_H
#define WP_COMPILER_UNROLL_H

#include "warpage/device.h"

/** Changes the bitcode file `path`. */
WP_NODISCARD wp_status wpi_unroll_bitcode(const char *path, wp_error *err);

#endif
