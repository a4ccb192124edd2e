/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts: loops whose turns all threads of a block take side by side.
 *
 *     for (k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + column];     column = … + tid.x
 *
 * A thread alone would walk down a column of b, a cache line for each element; side by side the
 * threads read b row by row, and the turn is a vector operation. As all threads have the same
 * number of turns, a cut (a stop that never waits) at the end of the loop is all it takes; the
 * values that the loop carries go through the frame, as at a barrier. `pace` says for which loops
 * it pays.
 *
 * Loops that only a guard on the thread leads to come first: `together` has made them loops of all
 * threads. */
#include <stddef.h>

#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/pass/pace.h"
#include "compiler/pass/regions.h"
#include "compiler/passes.h"

#define CUTS_MOST 16u

static void cut_loops(wp_compile *c, LLVMValueRef kernel) {
    wp_loops loops;
    wp_uniform uniform;
    wpi_loops_init(&loops, kernel);
    wpi_region_uniform_init(&uniform, kernel);
    uint32_t cuts = 0;
    bool is_suited = wpi_region_may_be_cut(c, &uniform);
    for (uint32_t i = 0; i < loops.loop_count && is_suited && cuts < CUTS_MOST; i++) {
        const wp_loop *loop = &loops.loops[i];
        LLVMBasicBlockRef header = loops.blocks[loop->header], latch = loops.blocks[loop->latch];
        if (wpi_uniform_is_partial(&uniform, header) || wpi_uniform_is_partial(&uniform, latch) ||
            !wpi_pace_favours_turns(&uniform, &loops, loop))
            continue;
        LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(latch));
        wpi_lower_stop(c, c->builder, WP_STOP_CUT, NULL, NULL, NULL);
        cuts++;
    }
    wpi_uniform_deinit(&uniform);
    wpi_loops_deinit(&loops);
}

wp_status wpi_pass_cuts(wp_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        cut_loops(c, c->kernels[n].function);
    return WP_STATUS_OK;
}
