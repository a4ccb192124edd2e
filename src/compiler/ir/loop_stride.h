/* SPDX-License-Identifier: Apache-2.0 */
/** How addresses move: by how many bytes from thread to thread of a row, and from turn to turn of a
 * loop. What decides whether threads should take a loop's turns side by side. */
#ifndef WP_IR_LOOP_STRIDE_H
#define WP_IR_LOOP_STRIDE_H

#include "compiler/ir/loop.h"
#include "compiler/ir/uniform.h"

/** WP_STRIDE_FAR: some distance that is the same each time and not known to be short. */
#define WP_STRIDE_FAR INT64_MAX

typedef struct wpi_stride {
    bool is_known; /* false: it has no stride, each thread goes where its data say */
    int64_t thread, turn;
} wpi_stride;

/** The stride of an integer or address in `loop`. */
wpi_stride wpi_stride_of(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop,
                         LLVMValueRef value);

/** Would an innermost loop go through memory line by line if its threads took turns side by side,
 * and in long steps if each went alone? Not if an access is the other way round, nor if much is
 * carried from turn to turn. */
bool wpi_stride_favours_turns(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop);

#endif
