/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The passes over kernel code, and the contract of each. A pass is one file in pass/, one function
 * here, one row in pipeline.c; the pipeline verifies the module after each.
 *
 * From `retarget` on the module is host code; before it, nvptx64. All passes change the module
 * in place. Order matters and is the order below.
 *
 * To add a pass: write pass/<subject>/<name>.c, declare it here with its needs and guarantees, add
 * a row to pipeline.c, add tests/ir/<name>_*.cu with FileCheck lines.
 */
#ifndef WP_COMPILER_PASSES_H
#define WP_COMPILER_PASSES_H

#include "compiler/context.h"
#include "compiler/ir/loop.h"

/** limits: fails, naming the place, on features that CUDA lacks: computed gotos, more than 64 KiB
 * of __constant__ variables or 512 KiB of a function's local ones, names that are not ASCII.
 * Changes nothing. */
WP_NODISCARD wp_status wpi_pass_limits(wpi_compile *c, wp_error *err);

/** kernel_ids: kernels as values become their ids (base/abi.h), as pointers; kernels of a module
 * that launches any get WP_CPU_KERNEL_LAUNCHES. */
WP_NODISCARD wp_status wpi_pass_kernel_ids(wpi_compile *c, wp_error *err);

/** as_ptx (variants that record): transforms memory accesses as the PTX back end does before it
 * selects instructions: makes addresses of kernel arguments global, removes redundant loads,
 * vectorises neighbours. Needs: the bitcode as in the image, with inline PTX and intrinsics. */
WP_NODISCARD wp_status wpi_pass_as_ptx(wpi_compile *c, wp_error *err);

/** inline_stops: functions that contain (or reach) a barrier or warp operation and are not
 *  recursive are inlined into their callers. Needs: nvptx64 after scalar optimisation. Leaves:
 * stops only in kernels and in functions that recur or are called through pointers. */
WP_NODISCARD wp_status wpi_pass_inline_stops(wpi_compile *c, wp_error *err);

/** lower_asm: inline PTX becomes IR or calls of intrinsics. Fails naming an unknown instruction.
 * Leaves: no inline assembly; yields with a note where the source marks loops that retry. */
WP_NODISCARD wp_status wpi_pass_lower_asm(wpi_compile *c, wp_error *err);

/** lower_intrinsics: every llvm.nvvm intrinsic and device runtime function becomes plain IR, a call
 * of `wp_rt_*`, a call of a devicelib function, a placeholder `wp.sreg.*`, or `wp_rt_stop`. */
WP_NODISCARD wp_status wpi_pass_lower_intrinsics(wpi_compile *c, wp_error *err);

/** check (variant "check" only): adds a guard before every access that may be out of bounds or
 * misaligned, and records the places of barriers. Needs: address spaces, lines, and no code but the
 * program's. Leaves: `wp_check_sites`. */
WP_NODISCARD wp_status wpi_pass_check(wpi_compile *c, wp_error *err);

/** trace (variants "trace" and "instep" only): blocks of code record their execution, and the
 * addresses they access. Needs: as check. Leaves: WP_TRACE_TABLES_SYMBOL (base/trace_abi.h). */
WP_NODISCARD wp_status wpi_pass_trace(wpi_compile *c, wp_error *err);

/** retarget: triple, data layout and attributes of the host; fused multiply-add by the rule of
 *  docs/rooms/compiler.md; devicelib linked in; everything internal. Leaves: host code whose only
 *  undefined symbols are libc, libm and `wp_rt_*`, else fails naming the missing function. */
WP_NODISCARD wp_status wpi_pass_retarget(wpi_compile *c, wp_error *err);

/** spare_steps (except in variants that record): drops the steps of matrix loads and stores between
 * accesses that no order of the lanes can change. Needs: clean. */
WP_NODISCARD wp_status wpi_pass_spare_steps(wpi_compile *c, wp_error *err);

/** lockstep: a stop before every volatile access to shared memory, and at the back edge of every
 *  loop that waits for another thread. Needs: shared memory still in its address space, lower_asm,
 *  whose marks it removes. */
WP_NODISCARD wp_status wpi_pass_lockstep(wpi_compile *c, wp_error *err);

/** Whether a function was compiled with --lockstep: steps before all accesses that other lanes may
 * make, too. */
bool wpi_lockstep_is_whole(LLVMValueRef function);
/** Whether lockstep treats this loop as one that waits for another thread. `postdom`: of the
 * function's blocks. */
bool wpi_lockstep_waits(const wpi_loops *loops, uint32_t loop, const uint32_t *postdom);

/** warp_synchronous: a step before every plain access to shared memory by which a lane relies on
 * the order of another lane's access, where the indices prove that, or a kernel without a block
 * barrier can only be meant for one warp. Needs: lockstep. */
WP_NODISCARD wp_status wpi_pass_warp_synchronous(wpi_compile *c, wp_error *err);

/** last_barrier: notes the steps before volatile stores to shared memory that a loop without its
 * last barrier makes where all threads have just loaded. Needs: lockstep. */
WP_NODISCARD wp_status wpi_pass_last_barrier(wpi_compile *c, wp_error *err);

/** rejoin: a step at the end of loops of which some lanes make steps that others skip. Needs:
 * last_barrier. */
WP_NODISCARD wp_status wpi_pass_rejoin(wpi_compile *c, wp_error *err);

/** registers: estimates those of each kernel, or takes them from its machine code. Needs: clean;
 * comes before functions become the CPU's, and guards or records come in. */
WP_NODISCARD wp_status wpi_pass_registers(wpi_compile *c, wp_error *err);

/** managed: uses of a managed variable (in a variant: of any variable) go through its cell, in a
 * variant also those in initial values of constants. Needs: host layout. Fills variables[].cell. */
WP_NODISCARD wp_status wpi_pass_managed(wpi_compile *c, wp_error *err);
/** The same for one variable: uses in functions load the address from variable->cell. */
void wpi_variable_through_cell(wpi_compile *c, const wpi_variable_ir *variable);

/** lower_shared: shared variables become offsets into the block's shared memory; atomics on
 *  shared memory become plain operations (a block runs on one OS thread). Fills
 * shared_static_bytes. */
WP_NODISCARD wp_status wpi_pass_lower_shared(wpi_compile *c, wp_error *err);

/** retries: a loop that lockstep found to retry without waiting yields only once in many rounds, so
 * that it stays in one region. Needs: lockstep. */
WP_NODISCARD wp_status wpi_pass_retries(wpi_compile *c, wp_error *err);

/** fences: a fence next to an atomic operation on global memory becomes part of it. Needs:
 * lower_shared, after which shared memory has no atomics. */
WP_NODISCARD wp_status wpi_pass_fences(wpi_compile *c, wp_error *err);

/** params: marks loads of structure arguments that are never written as invariant. Needs: as
 * rounds. */
WP_NODISCARD wp_status wpi_pass_params(wpi_compile *c, wp_error *err);

/** warp-guards: warp operations of all lanes under a guard on the thread are performed by all
 * warps, and the code between them is guarded piece by piece. Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_warp_guards(wpi_compile *c, wp_error *err);

/** rounds: loops that start at the thread index and step by the grid become loops that all threads
 * of a block execute together, one iteration at a time, with WP_STOP_ROUND between iterations.
 * Needs: loops rotated by the front end; threads that stay in step. */
WP_NODISCARD wp_status wpi_pass_rounds(wpi_compile *c, wp_error *err);

/** together: code under a guard on the thread that contains a loop to be cut is executed by all
 * threads, with its pieces guarded one by one. Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_together(wpi_compile *c, wp_error *err);

/** cuts: adds a WP_STOP_CUT at the end of loops with the same trip count in all threads, if
 * neighbouring threads then access neighbouring memory. Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_cuts(wpi_compile *c, wp_error *err);

/** row_order: a WP_STOP_CUT between loads of different rows of a block's own part of an array.
 * Needs: as rounds. */
WP_NODISCARD wp_status wpi_pass_row_order(wpi_compile *c, wp_error *err);

/** regions: each kernel becomes its region functions, or its fiber function. Leaves: no
 *  placeholder and, in region form, no stop. Fills regions, stops, frame_bytes, flags. */
WP_NODISCARD wp_status wpi_pass_regions(wpi_compile *c, wp_error *err);

/** fibers (variants that record): each kernel becomes its fiber function, with or without stops.
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

/** ahead: in loops that a whole block executes, prefetches the rows that its threads read in the
 * next iteration. Needs: kernels as one function per block, with uniform values outside of thread
 * loops.
 */
WP_NODISCARD wp_status wpi_pass_ahead(wpi_compile *c, wp_error *err);

/** check_loops (variant "check" only): guards that no thread of a row fails are decided before the
 * thread loop. Needs: regions, with uniform values outside of the loops. */
WP_NODISCARD wp_status wpi_pass_check_loops(wpi_compile *c, wp_error *err);

/** deep_values: loops on which LLVM's vectoriser would not end are not vectorised. Mutates only
 * their hints. */
WP_NODISCARD wp_status wpi_pass_deep_values(wpi_compile *c, wp_error *err);

#endif
