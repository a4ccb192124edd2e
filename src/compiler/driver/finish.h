/* SPDX-License-Identifier: Apache-2.0 */
/** What happens to the front end's bitcode before anything is made of it.
 *
 *  -fmad=true: GPUs fuse multiply and add unless told otherwise, so the front end allows it in any
 *  case; that the CPU shall fuse too is a mark on each function. So every later compilation (device
 *  link, variants) follows the rule of the file that a function came from.
 *
 *  -maxrregcount: an annotation of each kernel, which the simulated GPU's occupancy and the PTX
 *  (.maxnreg) follow.
 *
 *  Inline assembly loses its `srcloc`, a number that says nothing outside clang's run and differs
 *  between headers read and headers precompiled: the same source is to give the same object.
 *
 *  Of names only those of arguments stay: what a trace says of an access names the kernel's
 * parameter. */
#ifndef WP_COMPILER_FINISH_H
#define WP_COMPILER_FINISH_H

#include <stdbool.h>
#include <stdint.h>

#include "warpage/error.h"

#define WP_CONTRACT_ATTRIBUTE "wp-contract"

/** Changes the bitcode file `path`; `contract`: mark its functions; `registers`: of a thread, at
 * most; 0: no limit. */
WP_NODISCARD wp_status wpi_finish_bitcode(const char *path, bool contract, uint32_t registers,
                                          wp_error *err);

#endif
