/* SPDX-License-Identifier: Apache-2.0 */
/** Loops over consecutive elements: what cache_run.c finds in one, for cache_step.c, which knows
 * what a turn adds to an address, and cache_guard.c, which computes whether a turn begins lines. */
#ifndef WP_COMPILER_CACHE_RUN_H
#define WP_COMPILER_CACHE_RUN_H

#include "compiler/rewrite/cache.h"

enum {
    WPI_RUN_MEMBERS = 32, /* accesses of runs in a loop, at most */
    WPI_RUNS = WPI_CACHE_STRUCTURES,
    WPI_RUN_EXITS = 8,       /* counted ones */
    WPI_RUN_WIDENED = 8,     /* numbers that must not wrap around */
    WPI_RUN_LINE_BYTES = 16, /* of an access */
    WPI_RUN_BYTES_MAX = 64,  /* of a run in N turns: in registers */
};

/* An access of a run. */
typedef struct wpi_run_member {
    LLVMValueRef access, pointer;
    wpi_cache_note note;
    uint32_t bytes;
    bool is_write;
    int64_t step_bytes;
    uint64_t print; /* of the address: equal differences mean equal distances */
} wpi_run_member;

typedef struct wpi_run {
    uint32_t members[WPI_RUN_MEMBERS]; /* in the order of execution */
    uint32_t count;
    uint32_t step_bytes;
    bool is_write;
    LLVMValueRef address; /* of its first byte, as a number, where a turn begins */
} wpi_run;

/* A way out that is not taken while `moving` is before `bound`. */
typedef struct wpi_run_exit {
    LLVMValueRef branch, moving, bound;
    LLVMIntPredicate stays;
    int64_t step;
    unsigned stay_successor;
} wpi_run_exit;

/* A number that becomes one of more bits, whose steps are the same only while it does not wrap. */
typedef struct wpi_run_widened {
    LLVMValueRef number;
    int64_t step;
    bool is_signed;
} wpi_run_widened;

typedef struct wpi_run_survey {
    wpi_cache *k;
    const wpi_cache_loops *l;
    const wpi_cache_loop *loop;
    bool is_copied; /* for each mode */
    uint32_t header;
    wpi_run_member members[WPI_RUN_MEMBERS];
    uint32_t member_count;
    wpi_run runs[WPI_RUNS];
    uint32_t run_count, write_count;
    wpi_map leaves; /* of addresses: numbers */
    uint32_t leaf_count;
    wpi_run_exit exits[WPI_RUN_EXITS];
    uint32_t exit_count;
    wpi_run_widened widened[WPI_RUN_WIDENED];
    uint32_t widened_count;
    bool has_other_exits;
    bool has_chunks; /* a way out is that of a streamed kernel whose slots are used up */
    uint32_t turns;  /* N */
} wpi_run_survey;

bool wpi_run_is_in_loop(const wpi_run_survey *s, LLVMBasicBlockRef block);
bool wpi_run_is_invariant(const wpi_run_survey *s, LLVMValueRef value);
/** What a turn adds to a value: false if that is not a constant. Notes what must not wrap around.
 */
bool wpi_run_step(wpi_run_survey *s, LLVMValueRef value, int64_t *step);
/** The value that `value`, whose step is known, has in the turn that begins, without what LLVM
 * knows of it only where `value` itself is. */
LLVMValueRef wpi_run_at_header(const wpi_run_survey *s, LLVMValueRef value);
/** The value for arbitrary values of what it is computed from, the same for all addresses of the
 * loop: two that differ by a small number do so always, unless something wraps around. */
uint64_t wpi_run_print(wpi_run_survey *s, LLVMValueRef address);
/** Whether an access comes before another in each turn; both are in each. */
bool wpi_run_is_before(const wpi_run_survey *s, LLVMValueRef a, LLVMValueRef b);
/** Whether two accesses may be the same memory. */
bool wpi_run_may_meet(const wpi_cache_note *a, const wpi_cache_note *b);
/** Computes at the builder's place, in the header, what WPI_CACHE_RUN_CALL has. */
void wpi_run_decide(wpi_run_survey *s);

#endif
