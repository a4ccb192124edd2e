/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts: loops whose iterations all threads of a block execute together.
 *
 *     for (k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];     column = … + tid.x
 *
 * A thread alone would read a column of b, a cache line for each element; together the threads read
 * b row by row, and an iteration is a vector operation. As all threads have the same number of
 * iterations, a cut (a stop that never waits) at the end of the loop suffices; the values that the
 * loop carries are stored in the frame, as at a barrier. ir/loop_stride.h decides for which loops
 * it pays.
 *
 * `together` runs before, and makes loops under a guard on the thread loops of all threads. */
#include <stddef.h>

#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/loop_stride.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

#define CUTS_MOST 16u

/* Makes threads enter the loop together. False: there is no place for that. */
static bool join_before(wpi_compile *c, const wpi_loops *l, const wpi_loop *loop,
                        wpi_region_step step) {
    if (step == WP_STEP_KEPT) return true;
    LLVMValueRef place = NULL;
    for (uint32_t b = 0; b < l->block_count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end) && !loop->contains[b]; s++) {
            if (LLVMGetSuccessor(end, s) != l->blocks[loop->header]) continue;
            if (place || LLVMGetNumSuccessors(end) != 1) return false;
            place = end;
        }
    }
    if (!place) return false;
    LLVMPositionBuilderBefore(c->builder, place);
    wpi_region_join(c, step);
    return true;
}

static void cut_loops(wpi_compile *c, LLVMValueRef kernel) {
    wpi_loops loops;
    wpi_uniform uniform;
    wpi_loops_init(&loops, kernel);
    wpi_region_uniform_init(&uniform, kernel);
    uint32_t cuts = 0;
    wpi_region_step step = wpi_region_step_for_cuts(c, &uniform);
    for (uint32_t i = 0; i < loops.loop_count && step != WP_STEP_LOST && cuts < CUTS_MOST; i++) {
        const wpi_loop *loop = &loops.loops[i];
        LLVMBasicBlockRef header = loops.blocks[loop->header], latch = loops.blocks[loop->latch];
        if (wpi_uniform_is_partial(&uniform, header) || wpi_uniform_is_partial(&uniform, latch) ||
            !wpi_stride_favours_turns(&uniform, &loops, loop) ||
            !join_before(c, &loops, loop, step))
            continue;
        LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(latch));
        wpi_lower_stop(c, c->builder, WP_STOP_CUT, NULL, NULL, NULL);
        cuts++;
    }
    wpi_uniform_deinit(&uniform);
    wpi_loops_deinit(&loops);
}

wp_status wpi_pass_cuts(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        cut_loops(c, c->kernels[n].function);
    return WP_STATUS_OK;
}
