/* SPDX-License-Identifier: Apache-2.0 */
/** -fmad=true in the bitcode. GPUs fuse multiply and add unless told otherwise, so the front end
 * allows it in any case; that the CPU shall fuse too is a mark on each function. So every later
 * compilation (device link, variants) follows the rule of the file that a function came from. */
#ifndef WP_COMPILER_CONTRACT_H
#define WP_COMPILER_CONTRACT_H

#include "warpage/error.h"

#define WP_CONTRACT_ATTRIBUTE "wp-contract"

/** Marks all functions defined in the bitcode file `path`. */
WP_NODISCARD wp_status wpi_contract_mark(const char *path, wp_error *err);

#endif
