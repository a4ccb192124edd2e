/* SPDX-License-Identifier: Apache-2.0 */
/** Names that `lower_intrinsics` uses for `regions` and `lockstep`. */
#ifndef WP_PASS_LOWER_H
#define WP_PASS_LOWER_H

#include "compiler/context.h"

/* Placeholders: functions without a body and without effects, `i32 @wp.id.<name>()`; each region
 * function replaces them by its own values. */
typedef enum wpi_id {
    WP_ID_TID_X,
    WP_ID_TID_Y,
    WP_ID_TID_Z,
    WP_ID_THREAD, /* linear index in the block */
    WP_ID_NTID_X,
    WP_ID_NTID_Y,
    WP_ID_NTID_Z,
    WP_ID_CTAID_X,
    WP_ID_CTAID_Y,
    WP_ID_CTAID_Z,
    WP_ID_NCTAID_X,
    WP_ID_NCTAID_Y,
    WP_ID_NCTAID_Z,
    WP_ID_COUNT
} wpi_id;

#define WP_ID_PREFIX "wp.id."
#define WP_BLOCK_PLACEHOLDER "wp.block"   /* ptr @wp.block(): the wp_cpu_block */
#define WP_SHARED_PLACEHOLDER "wp.shared" /* ptr @wp.shared(): block->shared */
#define WP_ORDERED_METADATA "wp.ordered"  /* a former atomic: not independent between threads */
#define WP_CACHE_METADATA "wp.cache"      /* a wp_trace_cache: PTX's cache operator */
/* Of a volatile vector, of which PTX makes an atomic access: it is no race. */
#define WP_ATOMIC_METADATA "wp.atomic"
/* Of an access, a call or a barrier of Warpage's own libraries: it is not checked. */
#define WP_LIBRARY_METADATA "wp.library"
/* A fence at block scope. */
#define WP_BLOCK_METADATA "wp.block_scope"
/* A yield in a retry loop that does not wait for another thread. */
#define WP_TRIES_METADATA "wp.tries"
/* Of a step before a store to what other warps loaded shortly before. */
#define WP_CLOSE_METADATA "wp.close"
/* Of an alloca: operands of matrix instructions, which GPUs have in registers. */
#define WP_REGISTERS_METADATA "wp.registers"
#define WP_STOP_FUNCTION "wp_rt_stop"

/** Marks a placeholder as free to move, merge and drop. */
void wpi_lower_mark_pure(wpi_compile *c, LLVMValueRef function);

LLVMValueRef wpi_lower_id(wpi_compile *c, LLVMBuilderRef at, wpi_id id);
LLVMValueRef wpi_lower_block(wpi_compile *c, LLVMBuilderRef at);
/** The address of a field of wp_cpu_block. */
LLVMValueRef wpi_lower_block_field(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef block,
                                   size_t offset);
/** The id that a placeholder represents; WP_ID_COUNT: none. */
wpi_id wpi_lower_id_of(LLVMValueRef function);

/** Whether a call is a placeholder for a value: an id, the block, its shared memory.
 */
bool wpi_lower_stands_for_value(LLVMValueRef value);

/** A call of wp_rt_stop; `mask` i32, `a` and `b` i64 (NULL: 0). Its result is i64. */
LLVMValueRef wpi_lower_stop(wpi_compile *c, LLVMBuilderRef at, uint32_t op, LLVMValueRef mask,
                            LLVMValueRef a, LLVMValueRef b);
bool wpi_lower_is_stop(LLVMValueRef instruction);
uint32_t wpi_lower_stop_op(LLVMValueRef stop);

/** Marks a load or store with its cache operator (wp_trace_cache). */
void wpi_lower_mark_cache(wpi_compile *c, LLVMValueRef access, uint32_t cache);
/** The marked operator, or -1. */
int wpi_lower_cache_mark(LLVMValueRef access);
/** Marks an instruction for later passes: WP_…_METADATA. */
void wpi_lower_note(wpi_compile *c, LLVMValueRef instruction, const char *what);
bool wpi_lower_has_note(LLVMValueRef instruction, const char *what);
/** Notes that stops between `before` (NULL: the block's begin) and `call` are of a library, if the
 * call for which they stand is. */
void wpi_lower_pass_library(wpi_compile *c, LLVMValueRef before, LLVMValueRef call);

/** A float as an integer of 8 to 64 bits, rounded to zero: values out of range end at the bounds,
 * NaN gives 0, or the top bit where the float or the integer has 64 bits (PTX's cvt.rzi). */
LLVMValueRef wpi_saturated_conversion(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef x,
                                      bool is_signed, LLVMTypeRef to);

#endif
