/* SPDX-License-Identifier: Apache-2.0 */
/** The three steps of the `regions` pass and the data between them. */
#ifndef WP_PASS_REGIONS_H
#define WP_PASS_REGIONS_H

#include "compiler/context.h"
#include "compiler/ir/map.h"
#include "compiler/ir/uniform.h"
#include "compiler/pass/lower_pass.h"

/** A place in the thread's frame. */
typedef struct wpi_slot {
    LLVMValueRef memory; /* the alloca that represents it in the kernel */
    LLVMTypeRef type;
    uint32_t offset_bytes; /* in the frame of one thread; slots are slot-major, see wp_cpu_kernel */
    uint32_t size_bytes;
    bool is_array;   /* the program's own local memory, always in the frame */
    bool is_uniform; /* uniform: stored once, in the place of thread 0 */
    bool *is_live;   /* [state_count]: its value is live when a thread continues in that state */
} wpi_slot;

/** How the threads of a block run through a kernel. */
typedef enum wpi_region_step {
    WP_STEP_LOST,   /* each warp separately */
    WP_STEP_JOINED, /* together from a barrier of the whole block to the next stop; then warps may
                       diverge */
    WP_STEP_KEPT    /* together from start to end */
} wpi_region_step;

/** A kernel being split into regions. States are indices into `kernel->stops`. */
typedef struct wpi_region_plan {
    wpi_compile *c;
    wpi_kernel_ir *kernel;
    uint32_t state_count;
    wpi_slot *slots;
    uint32_t slot_count;
    LLVMBasicBlockRef *blocks; /* of the kernel, reverse post order, after the split */
    uint32_t block_count;
    wpi_map block_index, slot_index, state_index; /* of blocks, of slots by memory, of stops */
    wpi_uniform uniform;
    wpi_region_step step;
    bool has_local_arrays; /* local memory shared by all threads of a region's loop */
    bool is_whole; /* all threads of a block run each region, from thread 0; with several states,
                      the regions are parts of one function: see wpi_region_build_whole */
} wpi_region_plan;

/** Splits blocks so that every stop is the first instruction of its block and has one predecessor;
 * fills kernel->stops, region_count, blocks, uniform and step. */
void wpi_region_split(wpi_region_plan *plan);
/** Applies the uniformity rules of kernel code. */
void wpi_region_uniform_init(wpi_uniform *u, LLVMValueRef kernel);
/** Whether a stop never waits: a round, a cut. */
bool wpi_region_is_free(uint32_t op);
wpi_region_step wpi_region_step_of(const wpi_uniform *u);
/** … and whether free stops may be added. LOST: no. JOINED: after a barrier (`wpi_region_join`). */
wpi_region_step wpi_region_step_for_cuts(const wpi_compile *c, const wpi_uniform *u);
/** Makes all threads meet at the builder's position, if they are not together. */
void wpi_region_join(wpi_compile *c, wpi_region_step step);
/** Whether all threads of the block continue from this stop together, in the same iteration of
 * every loop. */
bool wpi_region_stop_is_in_step(const wpi_uniform *u, wpi_region_step step, LLVMValueRef stop);
/** Instructions of all regions together: each has a copy of the code from its stop to the next
 * ones. Counting ends at `enough`. */
uint64_t wpi_region_instructions(LLVMValueRef kernel, uint64_t enough);
/** Gives every value that is live across a stop a slot, or recomputes it where it is used. */
void wpi_region_demote(wpi_region_plan *plan);
/** Whether a warp operation's mask names all lanes, or it takes those that reach it together. */
bool wpi_region_is_of_all_lanes(LLVMValueRef stop);
/** Sets `is_alike` and `b`: see WP_CPU_REGION_ALIKE. */
void wpi_region_find_alike(wpi_stop_point *stop);
/** Where a thread's words are. */
typedef struct wpi_word_places {
    LLVMValueRef word, lane;
} wpi_word_places;
/** Of such a stop: stores a thread's operands; its result, as wp_rt_stop returns it; performs it
 * for a block. */
void wpi_region_give_word(wpi_compile *c, LLVMBuilderRef at, const wpi_stop_point *stop,
                          LLVMValueRef a, LLVMValueRef b, wpi_word_places to);
LLVMValueRef wpi_region_take_word(wpi_compile *c, LLVMBuilderRef at, const wpi_stop_point *stop,
                                  LLVMValueRef thread, wpi_word_places from);
void wpi_region_perform(wpi_compile *c, const wpi_stop_point *stop, LLVMValueRef block);
/** Fills the maps of blocks, slots and states, before the first region is built. */
void wpi_region_plan_index(wpi_region_plan *plan);
/** Builds the function of one state. */
LLVMValueRef wpi_region_build(wpi_region_plan *plan, uint32_t state);
/** Builds one function in which threads may begin in any of these states, which are yields, and
 * fills their places in kernel->regions. */
void wpi_region_build_rest(wpi_region_plan *plan, const uint32_t *states, uint32_t count);
/** Whether addresses follow from the lane or the warp of an index: tid.x (`is_x`), or the thread's.
 */
bool wpi_region_has_lanes(wpi_compile *c, LLVMValueRef index, bool is_x);
/** Values in a region's function: identities, and the parts of blockIdx.x * blockDim.x + tid.x. */
typedef struct wpi_lane_ids {
    LLVMValueRef ctaid_x, ntid_x, grid_base, grid_lane;
} wpi_lane_ids;
/** Computes lane and warp of an index from `base + lane`, which it equals; the base is a multiple
 * of the warp's lanes, the lane less than that. Both must be defined where the index is. `ids`: of
 * tid.x, else NULL. */
void wpi_region_split_lanes(wpi_compile *c, LLVMValueRef index, LLVMValueRef base,
                            LLVMValueRef lane, const wpi_lane_ids *ids);
/** Whether a block can run all states without the scheduler. */
bool wpi_region_is_whole(const wpi_region_plan *plan);
/** Builds the function that runs a block through all its states, from `kernel->regions`. */
LLVMValueRef wpi_region_build_whole(wpi_region_plan *plan);
void wpi_region_plan_deinit(wpi_region_plan *plan);

/** In code outside of regions (fibers, functions that were not inlined), placeholders become reads
 * of the running thread's block. */
void wpi_identity_lower(wpi_compile *c);
/** True if running `function` may read the thread's identity. */
bool wpi_identity_is_needed(LLVMValueRef function);
/** The fiber form: `void name.thread(block)`. */
LLVMValueRef wpi_fiber_build(wpi_compile *c, wpi_kernel_ir *kernel);

/** Structure arguments that a kernel writes to are copied, as the launch's copy is common to all
 * threads. Returns whether there were any. */
bool wpi_params_copy_written(wpi_compile *c, LLVMValueRef kernel);
/** Marks a load of memory that does not change during a kernel. */
void wpi_mark_settled_load(LLVMValueRef load);
bool wpi_is_settled_load(LLVMValueRef value);
/** Whether a load is so marked and reads an argument, which is safe wherever its address is
 * known. */
bool wpi_is_param_load(LLVMValueRef value);
/** Builds a load of memory that no thread writes: fields of the block, arguments. */
LLVMValueRef wpi_load_settled(LLVMBuilderRef at, LLVMTypeRef type, LLVMValueRef address);
/** Loads the kernel's arguments from block->args with `at`; values in order of parameters. */
void wpi_kernel_load_args(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef kernel,
                          LLVMValueRef block, LLVMValueRef *out);

#endif
