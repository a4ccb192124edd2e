/* SPDX-License-Identifier: Apache-2.0 */
/** What the files of the pass `trace` share (base/trace_abi.h, docs/rooms/trace.md):
 *
 *     trace_copy.c    memcpy and its kin become loads and stores
 *     trace_texture.c textures and surfaces: which places a fetch touches
 *     trace_load_order.c   loads go first
 *     trace_cut.c     functions are cut into blocks
 *     trace_site.c    what an access is
 *     trace_cost.c    what an instruction takes of a GPU; trace_function.c: a function
 *     trace_steps.c   the steps of a block: issue, access, wait
 *     trace_words.c  code that writes the words
 *     trace_table.c   the tables
 *     trace_pass.c         the pass */
#ifndef WP_PASS_TRACE_H
#define WP_PASS_TRACE_H

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/trace_abi.h"
#include "compiler/context.h"
#include "compiler/ir/map.h"

/** A block of code that is recorded. */
typedef struct trace_block {
    LLVMBasicBlockRef code;
    LLVMValueRef *accesses; /* instructions, in order */
    uint32_t access_count;
    LLVMValueRef end; /* the stop, call or clock read at its end, or NULL */
    wp_trace_block row;
} trace_block;

typedef struct tracer {
    wpi_compile *c;
    LLVMTargetDataRef layout;
    bool is_in_step; /* every access ends its block */
    trace_block *blocks;
    wp_trace_step *steps;
    LLVMValueRef *sites;     /* constants of wp_trace_site */
    LLVMValueRef *functions; /* traced ones */
    uint32_t block_count, step_count, site_count, function_count;
    wpi_map block_of; /* LLVM's block → index; an empty block has none */
    wpi_map site_of;  /* access → index */
} tracer;

/** `items` with room for one more than `count`. */
void *wpi_trace_grow(void *items, uint32_t count, size_t item_bytes);

/** ---- what an instruction is ---- */

/** A call of a function whose own blocks are recorded, or through a pointer. */
bool wpi_trace_is_call(LLVMValueRef instruction);
/** Reads a clock: `*is_ns` says which. */
bool wpi_trace_is_clock(LLVMValueRef instruction, bool *is_ns);
/** A stop, call or clock read: the block ends behind it. */
bool wpi_trace_is_end(LLVMValueRef instruction);
/** A block barrier whose number or count is known only where it runs: the block's last word. */
bool wpi_trace_is_open_barrier(LLVMValueRef instruction);
bool wpi_trace_has_barrier_word(const trace_block *block);
/** What wp_rt_stop gets of a barrier. */
LLVMValueRef wpi_trace_barrier_count(LLVMValueRef stop);
LLVMValueRef wpi_trace_barrier_number(LLVMValueRef stop);

/** Where an access goes. */
typedef enum trace_memory {
    TRACE_NO_MEMORY,
    TRACE_SITE,     /* recorded */
    TRACE_PRIVATE,  /* the thread's own arrays */
    TRACE_CONSTANT, /* constant memory, parameters */
    TRACE_OPERAND   /* … at a constant address: part of the instruction that uses it */
} trace_memory;

typedef struct trace_access {
    LLVMValueRef pointer;
    trace_memory memory;
    wp_trace_access kind;
    wp_trace_space space;
    wp_trace_cache cache;
    uint32_t size_bytes;
    LLVMValueRef base; /* the variable or argument that the address starts from, or NULL */
} trace_access;

/** As the PTX back end decides: a plain load of what nobody writes while the kernel runs. */
bool wpi_trace_is_read_only(const wpi_compile *c, LLVMValueRef load);
trace_access wpi_trace_access(const tracer *t, LLVMValueRef instruction);
/** A fetch from a texture, or an access to a surface. */
bool wpi_trace_is_texture(LLVMValueRef instruction);
/** The question for a place that one touches: an access whose address is its result. */
bool wpi_trace_is_place(LLVMValueRef instruction, wp_trace_access *kind, uint32_t *size_bytes);
/** The thread's array that a fetch or surface read leaves its result in; NULL: it is none. */
LLVMValueRef wpi_trace_texture_result(LLVMValueRef instruction);
/** The thread's array that a load reads; NULL: it is none. */
LLVMValueRef wpi_trace_loaded_array(LLVMValueRef instruction);
/** Adds an access of block `block` to the table of sites. */
void wpi_trace_add_site(tracer *t, LLVMValueRef instruction, uint32_t block);

/** What an instruction takes. `chain`: of its instructions, those that wait for each other. */
typedef struct trace_cost {
    uint16_t count[WP_TRACE_CLASS_COUNT];
    uint16_t chain[WP_TRACE_CLASS_COUNT];
} trace_cost;

/** False: nothing, or it is part of the instructions that use it. */
bool wpi_trace_cost(const tracer *t, LLVMValueRef instruction, trace_cost *cost);
/** Adds what a function of the device library, an intrinsic, or an operation that takes many
 *  instructions ("udiv") takes; `result` decides about names that nobody knows. */
void wpi_trace_add_function(trace_cost *cost, const char *name, LLVMTypeRef result);

/** ---- the steps of the pass ---- */

void wpi_trace_expand_copies(wpi_compile *c, LLVMValueRef function);
/** Asks for the places that fetches and surface accesses touch, in front of them. */
void wpi_trace_expand_textures(wpi_compile *c, LLVMValueRef function);
/** Moves loads to where ptxas has them. */
void wpi_trace_order(tracer *t, LLVMValueRef function);
/** Cuts functions[number], and enters its blocks and sites in the tables. */
void wpi_trace_cut(tracer *t, uint32_t number);
/** Fills the steps of blocks [first, block_count). */
void wpi_trace_add_steps(tracer *t, uint32_t first);
/** Adds the code that records the blocks of `function`, which are blocks [first, block_count). */
void wpi_trace_record(tracer *t, LLVMValueRef function, uint32_t first);
void wpi_trace_export(tracer *t);

#endif
