/* SPDX-License-Identifier: Apache-2.0 */
/** The loops over threads that `regions` made, as `narrow` and `settle` find them again: i counts
 * by one from its start up to a bound that is the same for all; some values grow by one with i. */
#ifndef WP_PASS_THREAD_LOOP_H
#define WP_PASS_THREAD_LOOP_H

#include "compiler/context.h"
#include "compiler/ir/loop.h"

typedef struct wp_thread_loop {
    const wp_loops *loops;
    const wp_loop *loop;
    LLVMBasicBlockRef header, latch, before, exit;
    LLVMValueRef index; /* i, a phi of the header */
    LLVMValueRef start; /* its first value */
    LLVMValueRef bound; /* the compare of the latch: i + 1 < count */
    LLVMValueRef count;
} wp_thread_loop;

/** A compare of base + i with something that is the same for all threads. */
typedef struct wp_linear_guard {
    LLVMValueRef linear, limit;
    LLVMIntPredicate predicate; /* linear <predicate> limit */
} wp_linear_guard;

/** What the loop's ends say about base + i, computed before the loop. */
typedef struct wp_linear_ends {
    LLVMValueRef first, last; /* base + i for the first i and for the last */
    LLVMValueRef is_plain; /* i1: in between it grows by one each time, without wrapping around */
} wp_linear_ends;

/** Only loops that a block of their own leads to, and that nobody left to chance
 * (`wpi_thread_loop_set_rare`), are matched. */
bool wpi_thread_loop_match(const wp_loops *loops, const wp_loop *loop, wp_thread_loop *out);
/** Gives every loop of `function` that has none a block of its own that leads to it. */
void wpi_thread_loops_prepare(LLVMValueRef function);
/** A second loop for the case that `condition` (known before the loop) is true; `values` says which
 * of its values are constants then. Blocks of the copy are in `made`; results of the copy reach the
 * exit. With `way_in`, a block without an end, the copy is entered from there. */
void wpi_thread_loop_version(wp_compile *c, const wp_thread_loop *t, LLVMValueRef condition,
                             LLVMBasicBlockRef way_in, wp_map *values, wp_map *made);
/** In a copy made for the case that `guard` grows plainly from `first` (at i = 0), base + i is
 * written anew as first + i, without wrapping: what LLVM can extend, and turn into plain addresses.
 */
void wpi_thread_loop_restate(wp_compile *c, const wp_thread_loop *t, const wp_linear_guard *guard,
                             LLVMValueRef first, wp_map *values);
/** Adds a hint for LLVM ("llvm.loop.unroll.disable") to the loop of this latch. */
void wpi_loop_hint(wp_compile *c, LLVMBasicBlockRef latch, const char *hint);
/** The loop hardly ever runs: it is not worth vectors, nor other passes' time. */
void wpi_thread_loop_set_rare(wp_compile *c, const wp_thread_loop *t);
bool wpi_thread_loop_has(const wp_thread_loop *t, LLVMValueRef value);
/** base + i, through additions of invariants and extensions. */
bool wpi_thread_loop_is_linear(const wp_thread_loop *t, LLVMValueRef value);
/** The builder asks the processor for the line at `address`, which may be any address. */
void wpi_prefetch(wp_compile *c, LLVMValueRef address);
/** The compare `value` as a guard; false if it is none. Integers of 32 bits and more. */
bool wpi_linear_guard_match(const wp_thread_loop *t, LLVMValueRef value, wp_linear_guard *out);
/** `from` and `to`: the first i, and the last. The builder stands before the loop. */
wp_linear_ends wpi_linear_ends_build(const wp_thread_loop *t, LLVMBuilderRef at,
                                     const wp_linear_guard *guard, LLVMValueRef from,
                                     LLVMValueRef to);

#endif
