/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The passes over kernel code, and the contract of each. A pass is one file in pass/, one function
 * here, one row in pipeline.c; the pipeline verifies the module after each.
 *
 * From `retarget` on the module is host code; before it, nvptx64. All passes change the module
 * in place. Order matters and is the order below.
 *
 * Adding a pass: write pass/<name>.c, declare it here with what it needs and what it leaves, add
 * a row to pipeline.c, add tests/ir/<name>_*.cu with FileCheck lines.
 */
#ifndef WP_COMPILER_PASSES_H
#define WP_COMPILER_PASSES_H

#include "compiler/context.h"
#include "compiler/ir/loop.h"

/** limits: fails, naming the place, at what CUDA does not have: computed gotos, more than 64 KiB of
 * __constant__ variables or 512 KiB of a function's local ones, names that are not ASCII. Changes
 * nothing. */
WP_NODISCARD wp_status wpi_pass_limits(wpi_compile *c, wp_error *err);

/** as_ptx (variants that record): what the PTX back end does to memory accesses before it selects
 * instructions: addresses of kernel arguments are global, redundant loads go, neighbours become
 * vectors. Needs: the bitcode as it is in the image, for its inline PTX and intrinsics. */
WP_NODISCARD wp_status wpi_pass_as_ptx(wpi_compile *c, wp_error *err);

/** inline_stops: functions that contain (or reach) a barrier or warp operation and are not
 *  recursive are inlined into their callers. Needs: nvptx64 after scalar optimisation. Leaves:
 * stops only in kernels and in functions that recur or are called through pointers. */
WP_NODISCARD wp_status wpi_pass_inline_stops(wpi_compile *c, wp_error *err);

/** lower_asm: inline PTX becomes IR or calls of intrinsics. Fails naming the instruction it does
 * not know. Leaves: no inline assembly. */
WP_NODISCARD wp_status wpi_pass_lower_asm(wpi_compile *c, wp_error *err);

/** lower_intrinsics: every llvm.nvvm intrinsic and device runtime function becomes plain IR, a call
 * of `wp_rt_*`, a call of a devicelib function, a placeholder `wp.sreg.*`, or `wp_rt_stop`. */
WP_NODISCARD wp_status wpi_pass_lower_intrinsics(wpi_compile *c, wp_error *err);

/** check (variant "check" only): a guard before every access that may be out of bounds or
 * misaligned; barriers note where they are. Needs: address spaces, lines, and no code but the
 * program's. Leaves: `wp_check_sites`. */
WP_NODISCARD wp_status wpi_pass_check(wpi_compile *c, wp_error *err);

/** trace (variants "trace" and "instep" only): blocks of code write down that they ran, and the
 * addresses they accessed. Needs: as check. Leaves: WP_TRACE_TABLES_SYMBOL (base/trace_abi.h). */
WP_NODISCARD wp_status wpi_pass_trace(wpi_compile *c, wp_error *err);

/** retarget: triple, data layout and attributes of the host; fused multiply-add by the rule of
 *  docs/rooms/compiler.md; devicelib linked in; everything internal. Leaves: host code whose only
 *  undefined symbols are libc, libm and `wp_rt_*`, else fails naming the missing function. */
WP_NODISCARD wp_status wpi_pass_retarget(wpi_compile *c, wp_error *err);

/** lockstep: a stop before every volatile access to shared memory, and at the back edge of every
 *  loop that waits for another thread. Needs: shared memory still in its address space. */
WP_NODISCARD wp_status wpi_pass_lockstep(wpi_compile *c, wp_error *err);

/** Whether lockstep takes this loop for one that waits for another thread. `postdom`: of the
 * function's blocks. */
bool wpi_lockstep_waits(const wpi_loops *loops, uint32_t loop, const uint32_t *postdom);

/** warp_synchronous: a step before every plain access to shared memory by which a lane relies on
 * the order of another lane's access, where the indices prove that. Needs: lockstep. */
WP_NODISCARD wp_status wpi_pass_warp_synchronous(wpi_compile *c, wp_error *err);

/** managed: uses of a managed variable (in a variant: of any variable) go through its cell, in a
 * variant also those in initial values of constants. Needs: host layout. Fills variables[].cell. */
WP_NODISCARD wp_status wpi_pass_managed(wpi_compile *c, wp_error *err);
/** What it does for one variable: uses in functions load the address from variable->cell. */
void wpi_variable_through_cell(wpi_compile *c, const wpi_variable_ir *variable);

/** lower_shared: shared variables become offsets into the block's shared memory; atomics on
 *  shared memory become plain operations (a block runs on one OS thread). Fills
 * shared_static_bytes. */
WP_NODISCARD wp_status wpi_pass_lower_shared(wpi_compile *c, wp_error *err);

/** retries: a yield of a loop that lockstep found to try again without waiting happens once in many
 * rounds, so that the loop stays in one region. Needs: lockstep. */
WP_NODISCARD wp_status wpi_pass_retries(wpi_compile *c, wp_error *err);

/** fences: a fence next to an atomic operation on global memory becomes part of it. Needs:
 * lower_shared, after which shared memory has no atomics. */
WP_NODISCARD wp_status wpi_pass_fences(wpi_compile *c, wp_error *err);

/** params: loads of structure arguments that nobody writes to are marked as invariant. Needs: as
 * rounds. */
WP_NODISCARD wp_status wpi_pass_params(wpi_compile *c, wp_error *err);

/** rounds: loops that start at the thread index and step by the grid become loops that all threads
 * of a block take side by side, a turn at a time, with WP_STOP_ROUND between turns. Needs: loops as
 * the front end rotated them; threads that stay in step. */
WP_NODISCARD wp_status wpi_pass_rounds(wpi_compile *c, wp_error *err);

/** together: code that a guard on the thread keeps some threads from is walked through by all,
 * guarded piece by piece, where it holds a loop that is to be cut. Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_together(wpi_compile *c, wp_error *err);

/** cuts: loops that all threads take equally often get a WP_STOP_CUT at their end where neighbours
 * then touch neighbouring memory. Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_cuts(wpi_compile *c, wp_error *err);

/** row_order: a WP_STOP_CUT between loads of different rows of a block's own part of an array.
 * Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_row_order(wpi_compile *c, wp_error *err);

/** regions: each kernel becomes its region functions, or its fiber function. Leaves: no
 *  placeholder and, in region form, no stop. Fills regions, stops, frame_bytes, flags. */
WP_NODISCARD wp_status wpi_pass_regions(wpi_compile *c, wp_error *err);

/** fibers (variants that record): each kernel becomes its fiber function, whether it stops or not.
 */
WP_NODISCARD wp_status wpi_pass_fibers(wpi_compile *c, wp_error *err);

/** table: the constants of base/abi.h that describe the code, and the constructor that registers
 * them. */
WP_NODISCARD wp_status wpi_pass_table(wpi_compile *c, wp_error *err);

/** narrow: thread loops whose first step is a guard on the thread index visit only the threads that
 * pass it. Needs: regions, with uniform values outside of the loops. */
WP_NODISCARD wp_status wpi_pass_narrow(wpi_compile *c, wp_error *err);

/** settle: guards on the thread index that every thread of a row passes are decided before the
 * loop. Needs: as narrow, after it. */
WP_NODISCARD wp_status wpi_pass_settle(wpi_compile *c, wp_error *err);

/** ahead: in loops that a whole block takes, the rows that its threads read in the next turn are
 * asked for. Needs: kernels as one function a block, with uniform values outside of thread loops.
 */
WP_NODISCARD wp_status wpi_pass_ahead(wpi_compile *c, wp_error *err);

/** check_loops (variant "check" only): guards that no thread of a row fails are settled before the
 * thread loop. Needs: regions, with uniform values outside of the loops. */
WP_NODISCARD wp_status wpi_pass_check_loops(wpi_compile *c, wp_error *err);

#endif
