/* SPDX-License-Identifier: Apache-2.0 */
/** Recognises the loops over threads that `regions` built, for `narrow` and `settle`: i counts by
 * one from its start to a uniform bound; linear values grow by one with i. */
#ifndef WP_PASS_THREAD_LOOP_H
#define WP_PASS_THREAD_LOOP_H

#include "compiler/context.h"
#include "compiler/ir/loop.h"

typedef struct wpi_thread_loop {
    const wpi_loops *loops;
    const wpi_loop *loop;
    LLVMBasicBlockRef header, latch, before, exit;
    LLVMValueRef index; /* i, a phi of the header */
    LLVMValueRef start; /* its first value */
    LLVMValueRef bound; /* the compare of the latch: i + 1 < count */
    LLVMValueRef count;
} wpi_thread_loop;

/** A compare of base + i with a uniform value. */
typedef struct wpi_linear_guard {
    LLVMValueRef linear, limit;
    LLVMIntPredicate predicate; /* linear <predicate> limit */
} wpi_linear_guard;

/** The values of base + i at the loop's ends, computed before the loop. */
typedef struct wpi_linear_ends {
    LLVMValueRef first, last; /* base + i for the first i and for the last */
    LLVMValueRef is_plain;    /* i1: it grows by one each time without wrapping */
} wpi_linear_ends;

/** Matches only loops that have a preheader and are not marked as rare
 * (`wpi_thread_loop_set_rare`). */
bool wpi_thread_loop_match(const wpi_loops *loops, const wpi_loop *loop, wpi_thread_loop *out);
/** Gives every loop of `function` a preheader. */
void wpi_thread_loops_prepare(LLVMValueRef function);
/** Adds a copy of the loop for the case that `condition` (known before the loop) is true; `values`
 * has the values that are constants then. Blocks of the copy are in `made`; results of the copy
 * reach the exit. With `way_in`, a block without a terminator, the copy is entered from there. */
void wpi_thread_loop_version(wpi_compile *c, const wpi_thread_loop *t, LLVMValueRef condition,
                             LLVMBasicBlockRef way_in, wpi_map *values, wpi_map *made);
/** In a copy for the case that `guard` grows without wrapping from `first` (at i = 0), rewrites
 * base + i as first + i without wrapping, which LLVM can extend and use in addresses.
 */
void wpi_thread_loop_restate(wpi_compile *c, const wpi_thread_loop *t,
                             const wpi_linear_guard *guard, LLVMValueRef first, wpi_map *values);
/** Adds a hint for LLVM ("llvm.loop.unroll.disable") to the loop of this latch. */
void wpi_loop_hint(wpi_compile *c, LLVMBasicBlockRef latch, const char *hint);
/** Marks a loop that rarely runs: it is neither vectorised nor optimised by other passes. */
void wpi_thread_loop_set_rare(wpi_compile *c, const wpi_thread_loop *t);
bool wpi_thread_loop_has(const wpi_thread_loop *t, LLVMValueRef value);
/** Whether a value is base + i, through additions of invariants and extensions. */
bool wpi_thread_loop_is_linear(const wpi_thread_loop *t, LLVMValueRef value);
/** Builds a prefetch of the line at `address`, which may be any address. */
void wpi_prefetch(wpi_compile *c, LLVMValueRef address);
/** The compare `value` as a guard; false if it is none. Integers of 32 bits and more. */
bool wpi_linear_guard_match(const wpi_thread_loop *t, LLVMValueRef value, wpi_linear_guard *out);
/** `from` and `to`: the first i, and the last. The builder stands before the loop. */
wpi_linear_ends wpi_linear_ends_build(const wpi_thread_loop *t, LLVMBuilderRef at,
                                      const wpi_linear_guard *guard, LLVMValueRef from,
                                      LLVMValueRef to);

#endif
