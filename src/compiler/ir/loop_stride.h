/* SPDX-License-Identifier: Apache-2.0 */
/** Strides of addresses in bytes: from thread to thread of a row, and from iteration to iteration
 * of a loop. They decide whether threads should execute a loop's iterations together. */
#ifndef WP_IR_LOOP_STRIDE_H
#define WP_IR_LOOP_STRIDE_H

#include "compiler/ir/loop.h"
#include "compiler/ir/uniform.h"

/** WP_STRIDE_FAR: a constant distance that is not known to be short. */
#define WP_STRIDE_FAR INT64_MAX

typedef struct wpi_stride {
    bool is_known; /* false: no stride, the address depends on data */
    int64_t thread, turn;
} wpi_stride;

/** The stride of an integer or address in `loop`. */
wpi_stride wpi_stride_of(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop,
                         LLVMValueRef value);

/** Whether an innermost loop accesses consecutive memory if threads execute iterations together,
 * and distant memory if each thread runs alone. Not if an access is the other way round, nor if
 * many values are carried between iterations. */
bool wpi_stride_favours_turns(const wpi_uniform *u, const wpi_loops *loops, const wpi_loop *loop);

#endif
