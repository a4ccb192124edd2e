/* SPDX-License-Identifier: Apache-2.0 */
/** Values that are the same for all lanes of a warp, though not for all threads of a block: what a
 * shuffle from one lane, a vote or a reduction of the whole warp returns, and what is computed from
 * nothing else. */
#ifndef WP_PASS_WARP_UNIFORM_H
#define WP_PASS_WARP_UNIFORM_H

#include "compiler/ir/uniform.h"

/** False where it is not known. */
bool wpi_warp_uniform_is(const wpi_uniform *u, LLVMValueRef value);

#endif
