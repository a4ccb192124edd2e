/* SPDX-License-Identifier: Apache-2.0 */
/** Completes the front end's bitcode before it is used.
 *
 *  -fmad=true: GPUs fuse multiply and add by default, so the front end always allows it; a mark on
 *  each function makes the CPU fuse too. So every later compilation (device link, variants) follows
 *  the rule of the file that a function came from.
 *
 *  -maxrregcount: an annotation of each kernel, which the simulated GPU's occupancy and the PTX
 *  (.maxnreg) follow.
 *
 *  Inline assembly loses its `srcloc`, a number that is meaningless outside clang's run and differs
 *  with precompiled headers, so that the same source gives the same object.
 *
 *  A conversion of a float to 8 or 16 bits, of which C leaves most undefined, goes by way of 32, as
 *  with nvcc: it ends at the bounds of these, and the lower bits count, on every device.
 *
 *  Only names of arguments are kept: a trace's accesses name the kernel's parameters. */
#ifndef WP_COMPILER_FINISH_H
#define WP_COMPILER_FINISH_H

#include "compiler/context.h"
#include "compiler/driver/options.h"

#define WP_CONTRACT_ATTRIBUTE "wp-contract"

/** Changes the bitcode file `path` as the options say: marks of functions (-fmad=true, --lockstep),
 * registers of a thread at most, lowered names. */
WP_NODISCARD wp_status wpi_finish_bitcode(const char *path, const wpi_options *o, wp_error *err);

#endif
