/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The parts of the rewrite `cache` (docs/rooms/cache.md), in the order in which they run:
 *
 *     alone.c          a module that has only the kernel
 *     cache_access.c   numbers the structures and notes on each access what the cache does with it
 *     cache_lanes.c    how far apart the lanes of a warp read, for the hardware's L1
 *     cache_loop.c     chooses the nests of loops, and the loops in them that are copied
 *     cache_run.c      finds loops over consecutive elements, for which lines are loaded directly,
 * with cache_step.c, cache_guard.c and, for cache_copy.c, cache_line.c cache_copy.c     makes the
 * copies, and rewrites what is shared cache.c          calls these, and makes the facts
 *
 * Notes are metadata, because LLVM's reg2mem runs between cache_loop.c and cache_copy.c: it keeps
 * instructions and headers of loops, but neither phis nor addresses as values.
 */
#ifndef WP_COMPILER_CACHE_H
#define WP_COMPILER_CACHE_H

#include "base/cache_abi.h"
#include "compiler/context.h"
#include "compiler/ir/loop.h"

/** All loops with the same header, as one. */
typedef struct wpi_cache_loop {
    LLVMBasicBlockRef header;
    bool *contains;    /* [blocks] */
    uint32_t parent;   /* the smallest loop around it, or UINT32_MAX */
    uint32_t accesses; /* to structures, with those of inner loops, but not of those that wait */
    bool waits;        /* for another thread, or is in a loop that does */
} wpi_cache_loop;

typedef struct wpi_cache_loops {
    wpi_loops found;
    wpi_cache_loop *loops;
    uint32_t count;
} wpi_cache_loops;

/** What becomes of a loop in a nest. */
typedef struct wpi_cache_choice {
    LLVMBasicBlockRef header;
    uint32_t accesses; /* of a turn */
    bool is_copied;    /* else all modes share it … */
    bool waits;        /* … or it stays as it is: all lines are flushed before */
} wpi_cache_choice;

typedef struct wpi_cache {
    wpi_compile *c;
    const wpi_kernel_ir *kernel;
    LLVMValueRef body;                  /* becomes the cached form */
    LLVMValueRef lines, offset, counts; /* its own parameters */
    LLVMValueRef launch;                /* of a streamed kernel: its parameter; or NULL */
    LLVMValueRef thread;                /* the state */
    LLVMValueRef way;                   /* which way a thread left a nest */
    uint32_t used, written;             /* masks of structures */
    uint32_t widest_bytes;              /* of accesses to them */
    bool is_dense;                      /* no gaps between rows of lines */
    bool has_waits;                     /* loops were left alone because they wait */
    bool has_indirect_calls;            /* … because they call through pointers */
    bool has_marks;                     /* … because the program says so */
    LLVMBasicBlockRef *nests;           /* headers of the outermost loops that are rewritten */
    uint32_t nest_count;
    wpi_cache_choice *choices; /* the loops of the nests, themselves included */
    uint32_t choice_count;
    uint32_t apart;  /* mask of structures in copied loops that data may end … */
    uint32_t varied; /* … at addresses that are a thread's own */
    bool has_runs;   /* wanted */
    LLVMValueRef words[WPI_CACHE_STRUCTURES]; /* of the runs of a loop, as memory of the thread */
    wpi_cache_facts facts;
} wpi_cache;

/** What the cache does before an instruction. */
typedef enum wpi_cache_act {
    WPI_CACHE_NOTHING = 0,
    WPI_CACHE_ACCESS,  /* goes through the line of `structure`; `others` may hold it, too */
    WPI_CACHE_OUTSIDE, /* goes to memory; `others` may hold it */
    WPI_CACHE_FLUSH,
    WPI_CACHE_STAY /* a branch of a loop with runs: `structure` is the successor that stays in it */
} wpi_cache_act;

typedef struct wpi_cache_note {
    wpi_cache_act act;
    uint32_t structure, others;
    uint32_t run;                /* its number in the loop, from 1 on; 0: none … */
    uint32_t offset, step_bytes; /* … its bytes: from the run's first byte; in a turn */
    uint32_t line_turns; /* … bits: turns of N in which it is the first to read its line, or the
                            last to write it */
} wpi_cache_note;

void wpi_cache_loops_init(wpi_cache_loops *loops, LLVMValueRef function);
void wpi_cache_loops_deinit(wpi_cache_loops *loops);

/** Makes read-only loads by intrinsic plain, numbers the structures and sets the notes. */
void wpi_cache_note_accesses(wpi_cache *k, const wpi_cache_loops *loops);
wpi_cache_note wpi_cache_noted(LLVMValueRef instruction);
void wpi_cache_set_note(const wpi_cache *k, LLVMValueRef instruction, const wpi_cache_note *note);
void wpi_cache_forget_note(LLVMValueRef instruction);
/** Address, bytes and whether it writes; false: no load, store or atomic operation. */
bool wpi_cache_describe(const wpi_compile *c, LLVMValueRef instruction, LLVMValueRef *pointer,
                        uint32_t *bytes, bool *is_write);

/** Sets facts.apart, facts.rows and facts.l1. After the notes. */
void wpi_cache_note_lanes(wpi_cache *k, const wpi_cache_loops *loops);

/** Whether a pointer was loaded from the launch of a streamed kernel: then it is of the buffers of
 * streaming, which are no memory of the program's. */
bool wpi_cache_is_of_launch(const wpi_cache *k, LLVMValueRef pointer);

/** Fills `nests` and `choices`. */
void wpi_cache_choose_loops(wpi_cache *k, wpi_cache_loops *loops);

/** Finds the loops whose ways out are counted, and those that are runs. What decides whether a turn
 * begins a form of its own is computed in the header, which has nothing else then, for a call of
 * this name: whether that form takes the loop, whether all runs are at the beginning of lines,
 * whether whole lines follow, and N. */
#define WPI_CACHE_RUN_CALL "wp.cache.run"
void wpi_cache_find_runs(wpi_cache *k, const wpi_cache_loops *loops);
/** Rewrites the accesses of runs in a block of turn number `turn` of N; the body has no phis. */
void wpi_cache_run_turn(wpi_cache *k, LLVMBasicBlockRef block, uint32_t turn);

/** Rewrites the nests; the body has no phis. */
void wpi_cache_copy(wpi_cache *k);

#endif
