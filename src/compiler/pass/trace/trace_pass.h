/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the pass `trace` (base/trace_abi.h, docs/rooms/trace.md):
 *
 *     trace_texture.c      textures and surfaces: the places that a fetch touches
 *     trace_load_order.c   loads go first
 *     trace_cut.c          functions are cut into blocks
 *     trace_site.c         descriptions of accesses
 *     trace_const.c        constant memory at addresses that differ between threads
 *     trace_place.c        lines of the source
 *     trace_cost.c         cost of an instruction on a GPU
 *     trace_function.c     cost of a function
 *     trace_steps.c        the steps of a block: issue, access, wait
 *     trace_machine.c      their counts by machine code
 *     trace_words.c        code that writes the words
 *     trace_table.c        the tables
 *     trace_pass.c         the pass */
#ifndef WP_PASS_TRACE_H
#define WP_PASS_TRACE_H

#include <llvm-c/Target.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/trace_abi.h"
#include "compiler/context.h"
#include "compiler/ir/map.h"
#include "compiler/machine/machine_code.h"

/** A block of code that is recorded. */
typedef struct trace_block {
    LLVMBasicBlockRef code;
    LLVMValueRef *accesses; /* instructions, in order */
    uint32_t access_count;
    LLVMValueRef end; /* the stop, call or clock read at its end, or NULL */
    wp_trace_block row;
    /* instructions of machine code, where that was counted */
    bool is_planned;
    uint32_t planned[WPI_MACHINE_COUNTS];
} trace_block;

typedef struct tracer {
    wpi_compile *c;
    LLVMTargetDataRef layout;
    bool is_in_step; /* every access ends its block */
    trace_block *blocks;
    wp_trace_step *steps;
    LLVMValueRef *sites;     /* constants of wp_trace_site */
    LLVMValueRef *functions; /* traced ones */
    wp_trace_share *shares;
    struct trace_place *places;
    uint32_t block_count, step_count, site_count, function_count, share_count, place_count;
    wpi_map block_of; /* LLVM's block → index; an empty block has none */
    wpi_map site_of;  /* access → index */
    wpi_map place_of; /* hash of file, line and calls → index */
    wpi_map spread;   /* loads of constant memory whose address may differ between threads */
    wpi_map joined;   /* loads of constant memory that come with one before */
} tracer;

/** `items` with room for one more than `count`. */
void *wpi_trace_grow(void *items, uint32_t count, size_t item_bytes);

/** ---- what an instruction is ---- */

/** Whether a call is of a function whose blocks are recorded, or through a pointer. */
bool wpi_trace_is_call(LLVMValueRef instruction);
/** Whether it reads a clock; `*is_ns`: which one. */
bool wpi_trace_is_clock(LLVMValueRef instruction, bool *is_ns);
/** Whether it is a stop, call or clock read, after which the block ends. */
bool wpi_trace_is_end(LLVMValueRef instruction);
/** Whether it is a block barrier whose number or count is known only at run time: the block's last
 * word. */
bool wpi_trace_is_open_barrier(LLVMValueRef instruction);
bool wpi_trace_has_barrier_word(const trace_block *block);
/** The arguments of wp_rt_stop for a barrier. */
LLVMValueRef wpi_trace_barrier_count(LLVMValueRef stop);
LLVMValueRef wpi_trace_barrier_number(LLVMValueRef stop);

/** The memory that an access goes to. */
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

/** Whether it is a plain load of memory that is not written during the kernel, as the PTX back end
 * decides. */
bool wpi_trace_is_read_only(const wpi_compile *c, LLVMValueRef load);
trace_access wpi_trace_access(const tracer *t, LLVMValueRef instruction);
/** Finds the loads of constant memory that a warp's lanes may make at several addresses, in one
 * variable or parameter, and those that come with one before. */
void wpi_trace_find_constants(tracer *t, LLVMValueRef function);
/** Whether it is a fetch from a texture, or an access to a surface. */
bool wpi_trace_is_texture(LLVMValueRef instruction);
/** Whether it queries a place of a fetch: an access whose address is the call's result. */
bool wpi_trace_is_place(LLVMValueRef instruction, wp_trace_access *kind, uint32_t *size_bytes);
/** The thread's array for the result of a fetch or surface read; NULL: not one. */
LLVMValueRef wpi_trace_texture_result(LLVMValueRef instruction);
/** The thread's array that a load reads; NULL: none. */
LLVMValueRef wpi_trace_loaded_array(LLVMValueRef instruction);
/** Adds an access of block `block` to the table of sites. */
void wpi_trace_add_site(tracer *t, LLVMValueRef instruction, uint32_t block);

/** ---- places ---- */

/** The number of an instruction's line; NONE: it has none. */
uint32_t wpi_trace_place_of(tracer *t, LLVMValueRef instruction);
/** The table of places as a constant. */
LLVMValueRef *wpi_trace_place_rows(const tracer *t);
void wpi_trace_places_deinit(tracer *t);

/** ---- costs ---- */

/** The cost of an instruction. `chain`: the longest chain of dependent instructions. */
typedef struct trace_cost {
    uint16_t count[WP_TRACE_CLASS_COUNT];
    uint16_t chain[WP_TRACE_CLASS_COUNT];
} trace_cost;

/** Whether a stop for a matrix operation multiplies. */
bool wpi_trace_is_product(LLVMValueRef stop);
/** False: no cost, or part of the instructions that use it. */
bool wpi_trace_cost(const tracer *t, LLVMValueRef instruction, trace_cost *cost);
/** Adds the cost of a function of the device library, an intrinsic, or an operation of many
 *  instructions ("udiv"); for unknown names by the type `result`. */
void wpi_trace_add_function(trace_cost *cost, const char *name, LLVMTypeRef result);

/** ---- machine code ---- */

/** A block's counts by machine code, divided among its steps. */
typedef struct trace_plan {
    bool is_on; /* else the estimates stand */
    uint32_t planned[WP_TRACE_CLASS_COUNT], estimated[WP_TRACE_CLASS_COUNT];
    uint32_t seen[WP_TRACE_CLASS_COUNT], given[WP_TRACE_CLASS_COUNT]; /* so far, of both */
    uint32_t paired, paired_given;                                    /* of the planned ones */
} trace_plan;

/** Divides the counts of machine code among blocks [first, block_count), those of a function. */
void wpi_trace_plan_machine(tracer *t, uint32_t first);
void wpi_trace_plan_begin(const tracer *t, const trace_block *block, trace_plan *plan);
/** Replaces the estimated counts and chains of a step's classes; the block's last step that issues
 * gets what is left. */
void wpi_trace_plan_step(trace_plan *plan, bool is_last, uint32_t *count, uint32_t *chain);
/** The value of an ISSUE step with the next `count` of the planned instructions. */
uint32_t wpi_trace_plan_pairs(trace_plan *plan, uint32_t count);
/** Makes the block's shares add up to its counts; `place`: where its last instruction comes from.
 */
void wpi_trace_plan_end(tracer *t, const trace_plan *plan, trace_block *block, uint32_t place);
/** Adds instructions to the block's share of a place. */
void wpi_trace_add_share(tracer *t, trace_block *block, uint32_t place, uint32_t count);

/** ---- the steps of the pass ---- */

/** Inserts queries of the places of fetches and surface accesses before them. */
void wpi_trace_expand_textures(wpi_compile *c, LLVMValueRef function);
/** Moves loads to the front, as ptxas does. */
void wpi_trace_order(tracer *t, LLVMValueRef function);
/** Cuts functions[number], and enters its blocks and sites in the tables. */
void wpi_trace_cut(tracer *t, uint32_t number);
/** Fills the steps of blocks [first, block_count). */
void wpi_trace_add_steps(tracer *t, uint32_t first);
/** Adds the code that records the blocks of `function`, which are blocks [first, block_count). */
void wpi_trace_record(tracer *t, LLVMValueRef function, uint32_t first);
void wpi_trace_export(tracer *t);

#endif
