/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The insides of the machine: code as it is executed, and who executes it.
 *
 * Registers are rows: 32 lanes of 64 bits, values in the low bits and zeroes above. A predicate's
 * row holds one word, a bit a lane. A function's registers are rows 0…n-1 of its frame; frames lie
 * in the warp's stack of rows. Immediate values are rows too, of the module, with negative numbers.
 * Whatever has an address (parameters of calls, `.local` variables) lies in the lane's local
 * memory.
 */
#ifndef PM_MACHINE_H
#define PM_MACHINE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_machine.h"

enum { PM_LANES = 32, PM_BARRIERS = 16, PM_VECTOR_MAX = 8 };
enum { PM_NONE = -1 }; /* no operand: a row of the constants that holds nothing */
#define PM_FULL 0xffffffffu
#define PM_SHARED_WINDOW ((uint64_t)1 << 56)
#define PM_LOCAL_WINDOW ((uint64_t)2 << 56)
#define PM_CODE_WINDOW ((uint64_t)3 << 56) /* addresses of functions: their numbers */
#define PM_WINDOW_OF(address) ((address) >> 56)
#define PM_PC_NONE 0xffffffffu /* behind everything */

typedef struct pm_warp pm_warp;
typedef struct pm_insn pm_insn;
typedef struct pm_block pm_block;
typedef struct pm_grid pm_grid;
typedef void (*pm_handler)(pm_warp *, const pm_insn *);
typedef void (*pm_complete)(pm_warp *w, uint32_t lanes);

typedef enum pm_space {
    PM_GENERIC,
    PM_GLOBAL,
    PM_CONST,
    PM_SHARED,
    PM_LOCAL,
    PM_PARAM, /* of the kernel: the launch's buffer. A function's are in its local memory */
} pm_space;

/* What a value is made of. */
typedef enum pm_kind { PM_BITS, PM_UNSIGNED, PM_SIGNED, PM_FLOAT, PM_BFLOAT, PM_PRED } pm_kind;
typedef struct pm_type {
    pm_kind kind;
    unsigned bytes; /* 0: no type; predicates have 1 */
} pm_type;

typedef enum pm_rounding {
    PM_ROUND_NONE, /* not given */
    PM_RN,
    PM_RZ,
    PM_RM,
    PM_RP,
    PM_RNI, /* to an integer */
    PM_RZI,
    PM_RMI,
    PM_RPI
} pm_rounding;

typedef struct pm_call_site {
    const struct pm_function *function;  /* NULL: by register */
    uint32_t arg_offsets[64], arg_count; /* in the caller's local frame */
    uint32_t result_offset;
} pm_call_site;

struct pm_insn {
    pm_handler run;
    pm_handler inner;          /* of those that set up something around it: the rounding mode */
    int32_t d, d2, a, b, c, e; /* rows */
    int32_t guard;             /* a predicate's row, -1: none */
    bool is_guard_negated, is_negated; /* the last source predicate */
    uint8_t count;                     /* elements of a vector */
    uint8_t space;                     /* pm_space */
    uint8_t rounding;                  /* pm_rounding */
    bool is_ftz, is_sat, is_nan;
    bool is_volatile; /* or ordered: what another thread wrote is looked for */
    bool is_frame;    /* the address is counted from the lane's local frame */
    pm_type type, from;
    int32_t aux;                   /* whatever the handler makes of it */
    int32_t vector[PM_VECTOR_MAX]; /* rows */
    int64_t offset;                /* of an address; a target's pc */
    union {
        const pm_call_site *call;
        const uint32_t *targets; /* brx.idx */
        const struct pm_matrix *matrix;
    } u;
    uint32_t line;
    const char *text; /* the statement, for reports */
};

typedef struct pm_function {
    const char *name;
    uint32_t number; /* its address is PM_CODE_WINDOW + this */
    bool is_kernel, is_defined;
    uint32_t entry;     /* pc */
    uint32_t row_count; /* registers */
    uint32_t local_bytes;
    uint32_t param_offsets[64], param_sizes[64], param_count; /* in the local frame */
    uint32_t result_offset, result_bytes;
    pm_handler native;   /* the driver's own: vprintf, malloc, … */
    uint32_t shared_end; /* of its static variables */
    uint32_t threads_max;
} pm_function;

/* ---- the warp ---- */

typedef struct pm_return {
    uint32_t pc, base, local_frame;
    const pm_function *function; /* the caller */
} pm_return;

typedef struct pm_stack {
    pm_return *items;
    uint32_t depth, capacity;
} pm_stack;

struct pm_warp {
    uint64_t *frame; /* of the group that runs */
    uint64_t *constants;
    uint32_t mask;  /* the lanes that execute the instruction at hand */
    uint32_t group; /* lanes at the same place */
    uint32_t pc;    /* of the instruction that is next */
    uint32_t stop;  /* another group waits there */
    bool is_broken; /* the group is no more; all its lanes' pcs are set */
    int budget;     /* until others have their turn: jumps back, and what spinning is made of */

    pm_block *block;
    pm_grid *grid;
    uint32_t number, valid;              /* of the block's warps; lanes that exist */
    uint32_t ready, at_barrier, at_sync; /* lanes by what they do; none of them: exited */
    uint32_t carry;                      /* the condition code, a bit a lane */
    uint32_t pcs[PM_LANES], bases[PM_LANES], local_frames[PM_LANES];
    uint32_t barrier_of[PM_LANES];
    const pm_insn *insn_of[PM_LANES]; /* where a lane waits */
    const pm_function *functions[PM_LANES];
    uint32_t members_of[PM_LANES];     /* of those at_sync: whom they wait for, */
    pm_complete complete_of[PM_LANES]; /* and what is done then */
    uint64_t ran_at[PM_LANES], tick;
    unsigned patience; /* slices that ended with lanes still running */
    int leader;        /* the lane whose turn it is, -1: the scheduler chooses */
    pm_stack stacks[PM_LANES];
    uint64_t *rows;
    size_t row_capacity;
    uint8_t *local; /* [PM_LANES][grid->local_bytes] */
};

typedef struct pm_barrier {
    bool is_open;      /* a lane has arrived */
    uint32_t expected; /* threads; 0: all that live */
    uint32_t *arrived; /* [warp_count] lanes */
    uint32_t popc;     /* predicates that were true */
} pm_barrier;

struct pm_block {
    pm_grid *grid;
    uint32_t ctaid[3];
    uint32_t warp_count, live_threads;
    pm_warp *warps;
    uint8_t *shared;
    uint32_t *arrived; /* [PM_BARRIERS][warp_count] */
    pm_barrier barriers[PM_BARRIERS];
    uint32_t sm;
    pm_block *next;
};

struct pm_grid {
    pm_module *module;
    const pm_launch *launch;
    const pm_function *function;
    const pm_insn *code;
    uint8_t *params;
    uint32_t shared_bytes, shared_static_bytes;
    size_t local_bytes; /* of a lane */
    uint64_t blocks_total, blocks_started;
    pm_range *ranges; /* the launch's, and the module's variables */
    size_t range_count;
    const pm_range *last_range;
    uint64_t lane_instructions;
    pm_result result;
    char *report;
    size_t report_bytes;
};

/* ---- the module ---- */

struct pm_module {
    struct pm_chunk *chunks; /* everything that lives as long as the module */
    pm_insn *code;
    uint32_t code_count, code_capacity;
    uint64_t *constants; /* rows, downwards from ~0 */
    uint32_t constant_count, constant_capacity;
    pm_function **functions;
    uint32_t function_count, function_capacity;
    pm_kernel *kernels;
    unsigned kernel_count, kernel_capacity;
    pm_variable *variables;
    unsigned variable_count, variable_capacity;
    uint32_t shared_common_bytes;  /* of variables outside kernels */
    uint32_t shared_dynamic_align; /* the most that a dynamic variable asks for, or 0 */
};

void *pm_module_alloc(pm_module *module, size_t bytes); /* zeroed */
char *pm_module_text(pm_module *module, const char *text, size_t length);

/* ---- for handlers ---- */

static inline uint64_t *pm_row(const pm_warp *w, int32_t row) {
    return row >= 0 ? w->frame + (size_t)row * PM_LANES : w->constants + (size_t)~row * PM_LANES;
}

/* A lane's value, wherever that lane is. */
static inline uint64_t *pm_lane_row(const pm_warp *w, unsigned lane, int32_t row) {
    return row >= 0 ? w->rows + ((size_t)w->bases[lane] + (size_t)row) * PM_LANES
                    : w->constants + (size_t)~row * PM_LANES;
}

/* BODY for each lane of the mask, its number in `l`. The loop over all lanes vectorises. */
#define PM_FOR_LANES(w, ...)                                                                       \
    do {                                                                                           \
        if ((w)->mask == PM_FULL) {                                                                \
            for (unsigned l = 0; l < PM_LANES; l++) {                                              \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t left_ = (w)->mask; left_ != 0; left_ &= left_ - 1) {                     \
                const unsigned l = (unsigned)__builtin_ctz(left_);                                 \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    } while (0)

/* The same where a lane may end the launch. */
#define PM_EACH_LANE(w, l)                                                                         \
    for (uint32_t left_ = (w)->mask, l = 0;                                                        \
         left_ != 0 && (l = (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

/* Ends the launch. */
__attribute__((format(printf, 5, 6))) void pm_fault(pm_warp *w, const pm_insn *in, unsigned lane,
                                                    pm_result result, const char *format, ...);

/* The memory behind an address of a space; NULL: there is none, the launch has ended. */
void *pm_memory(pm_warp *w, const pm_insn *in, unsigned lane, pm_space space, uint64_t address,
                size_t bytes);
const pm_range *pm_find_range(pm_grid *grid, uint64_t address, size_t bytes);

/* ---- control ---- */

enum { PM_SPIN_COST = 8 }; /* of an atomic operation or a volatile load, in jumps back */

/* The group goes on elsewhere. */
void pm_jump(pm_warp *w, uint32_t pc);
/* The lanes of `mask` go on at `pc`, the group's others at w->pc. */
void pm_split(pm_warp *w, uint32_t pc);
void pm_exit_lanes(pm_warp *w);
void pm_call(pm_warp *w, const pm_insn *in, const pm_function *callee);
/* Lanes of `mask` stop where they are, the group's others go on. */
void pm_park(pm_warp *w);

/* `*.sync`: calls `complete` for lanes that are there together; `members`: a lane's mask. */
void pm_sync(pm_warp *w, const pm_insn *in, pm_complete complete);
void pm_sync_exited(pm_warp *w);

/* Barriers of the block; `aux` is what a reduction makes of the predicates. */
enum { PM_RED_NONE, PM_RED_POPC, PM_RED_AND, PM_RED_OR };
void pm_barrier_arrive(pm_warp *w, const pm_insn *in, bool waits);
void pm_barrier_exited(pm_block *block);

/* Runs a warp until none of its lanes can go on or others shall have a turn; false: none ran. */
bool pm_warp_run(pm_warp *w);

#endif
