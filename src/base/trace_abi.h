/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of traced kernels and the simulated GPU: the words that a running thread writes,
 * and the tables that describe them. In words: docs/rooms/trace.md.
 *
 * The pass `trace` cuts a kernel's code into blocks: straight-line code that ends at branches and
 * after every call of a traced function, stop and clock read. A thread writes, for each block that
 * it enters, one word with the block's number and one word for each access of the block, its
 * address, in the order of the block's ACCESS steps. All words of a block are written before the
 * thread stops at its end.
 *
 *     words of a lane:   block 7 | address | address | block 9 | block 12 | address | …
 *
 * The words of a warp's lanes are interleaved: a lane's next word lies WP_TRACE_STRIDE after its
 * last. So while lanes run together, their words of one place in the code are one row of memory.
 *
 * Everything that is the same at each execution is in the tables: the steps of a block.
 */
#ifndef WP_BASE_TRACE_H
#define WP_BASE_TRACE_H

#include <stdint.h>

#define WP_TRACE_VERSION 6u
#define WP_TRACE_STRIDE                                                                            \
    32u /* words from a lane's word to its next: one for each lane of a warp                       \
         */
#define WP_TRACE_NONE 0xffffffffu
#define WP_TRACE_BLOCK_WORDS_MAX 64u /* a block never has more; a lane's buffer has room for it */

/** The unit of an SM that an instruction needs. Instructions are counted as a GPU would execute
 *  them: a call of a math function counts the instructions of NVIDIA's function, not of the
 *  CPU's. */
typedef enum wp_trace_class {
    WP_TRACE_INT = 0, /* add, compare, logic, shift, select, address arithmetic */
    WP_TRACE_IMUL,    /* integer multiply and multiply-add */
    WP_TRACE_FP16,    /* add, multiply, fused multiply-add of two halves */
    WP_TRACE_FP32,    /* add, multiply, fused multiply-add, compare, minimum */
    WP_TRACE_FP64,
    WP_TRACE_SPECIAL,   /* reciprocal, square root, sine, exponential: approximations in hardware */
    WP_TRACE_CONVERT,   /* between formats of up to 32 bits, population count, find first set */
    WP_TRACE_CONTROL,   /* branch, call, return, exit */
    WP_TRACE_CONSTANT,  /* load from constant memory or of a parameter with a computed address */
    WP_TRACE_LOCAL,     /* load or store of the thread's own arrays */
    WP_TRACE_TEXTURE,   /* texture or surface access */
    WP_TRACE_WARP,      /* shuffle, vote, match, reduce */
    WP_TRACE_SYNC,      /* barrier, fence */
    WP_TRACE_TENSOR,    /* matrix product; one counts 16 x 8 x 8 products of halves */
    WP_TRACE_CONVERT64, /* between number formats, from or to one of 64 bits */
    WP_TRACE_SHIFT, /* of machine code of Maxwell and Pascal, else INT: shift, minimum, bit field */
    WP_TRACE_COMPARE,    /* of these, else INT and FP32: comparison whose result is a predicate */
    WP_TRACE_CLASS_COUNT /* must be last */
} wp_trace_class;

typedef enum wp_trace_op {
    WP_TRACE_ISSUE = 0, /* `count` instructions of class `class`; the longest chain of dependent
                           ones among the ISSUE steps up to the next other step has `chain` of them.
                           `value` is 0 if they issue as the GPU's width allows; with machine code 1
                           and the number of those that share a slot with the next */
    WP_TRACE_ACCESS,    /* site `value`; its address is the block's next word */
    WP_TRACE_WAIT,      /* an operand comes from site `value`: its last access must have answered; a
                           site without any has */
    WP_TRACE_FENCE, /* the thread's earlier writes must be visible to others; fences for the block
                       alone are instructions like others */
    WP_TRACE_STOP,  /* last step: `value` is the wp_stop with flags (base/abi.h); the instruction
                       itself is the ISSUE of WARP or SYNC before it. Of a block barrier `count`
                       threads meet (0: all) at the one with the number `chain`; NONE, of both:
                       that is known only where it runs, and is the block's last word
                       (wpi_trace_barrier_word) */
    WP_TRACE_CLOCK, /* last step: the thread waits for the time */
    WP_TRACE_CALL, /* last step: a traced function; its blocks follow. The block after it follows at
                      once if a pointer led to a function that is not traced */
    WP_TRACE_RETURN,  /* last step: back to the caller, or the end of the thread; also where control
                         never arrives, after a trap */
    WP_TRACE_OP_COUNT /* must be last */
} wp_trace_op;

typedef struct wp_trace_step {
    uint16_t op;    /* wp_trace_op */
    uint16_t class; /* wp_trace_class, of ISSUE */
    uint32_t count; /* of ISSUE, STOP */
    uint32_t chain; /* of ISSUE, at most `count`; of STOP */
    uint32_t value;
} wp_trace_step;

/** A block. Among those of a function the smaller number is earlier in reverse post-order; the
 *  smallest is its entry. */
typedef struct wp_trace_block {
    uint32_t function;
    uint32_t join; /* where threads that part at its end meet again: the immediate post-dominator;
                      for a CALL the block behind it; NONE: in the caller, or never */
    uint32_t first_step, step_count;
    uint32_t access_count; /* words behind the block's own: addresses, and a barrier's word */
    uint32_t line;         /* of its first instruction; 0: unknown */
    uint32_t first_share, share_count; /* of its instructions; the last one's place comes last */
} wp_trace_block;

/** A line of the source. An inlined function's line is one place for each chain of calls. */
typedef struct wp_trace_place {
    const char *file;
    const char *calls; /* "a.cu:12, a.cu:40": the calls that it was inlined by, innermost first;
                          NULL: it was not inlined */
    uint32_t line;
} wp_trace_place;

/** How many instructions of a block's ISSUE steps come from a place. */
typedef struct wp_trace_share {
    uint32_t place; /* NONE: unknown */
    uint32_t count;
} wp_trace_share;

typedef enum wp_trace_access {
    WP_TRACE_LOAD = 0,
    WP_TRACE_STORE,
    WP_TRACE_ATOMIC,      /* its result is used */
    WP_TRACE_REDUCE,      /* an atomic whose result is not used */
    WP_TRACE_ACCESS_COUNT /* must be last */
} wp_trace_access;

typedef enum wp_trace_space {
    WP_TRACE_GENERIC = 0, /* known from the address; it may be of the thread's stack */
    WP_TRACE_GLOBAL,
    WP_TRACE_SHARED,
    WP_TRACE_CONST, /* constant memory or parameters, at an address that may differ between threads;
                       the word is the offset in the variable or parameter */
    WP_TRACE_SPACE_COUNT /* must be last */
} wp_trace_space;

/** PTX's cache operators. */
typedef enum wp_trace_cache {
    WP_TRACE_CACHE_ALL = 0,   /* .ca, or none */
    WP_TRACE_CACHE_GLOBAL,    /* .cg: not in L1 */
    WP_TRACE_CACHE_STREAM,    /* .cs, .lu */
    WP_TRACE_CACHE_VOLATILE,  /* .cv, volatile: not in L1 */
    WP_TRACE_CACHE_READ_ONLY, /* ld.global.nc */
    WP_TRACE_CACHE_TEXTURE    /* textures and surfaces; lanes whose address is 0 touch nothing */
} wp_trace_cache;

/** A place in the code that accesses memory. */
typedef struct wp_trace_site {
    const char *file; /* NULL: the program carries no line information */
    const char
        *name; /* of the variable or the kernel parameter that the address starts from, or NULL */
    uint32_t line;
    uint32_t block;
    int32_t parameter; /* number of that kernel parameter; -1: none, or unknown */
    uint8_t access;    /* wp_trace_access */
    uint8_t space;     /* wp_trace_space */
    uint8_t cache;     /* wp_trace_cache */
    uint8_t size_bytes;
    uint32_t place; /* NONE: unknown */
} wp_trace_site;

/** The word of a barrier whose number and count are known only at run time. */
static inline uint64_t wpi_trace_barrier_word(uint32_t number, uint32_t count) {
    return (uint64_t)count << 32 | number;
}

#define WP_TRACE_KERNEL_CLOCK 1u     /* reads the clock */
#define WP_TRACE_KERNEL_SPINS 2u     /* has loops that wait for other threads' stores */
#define WP_TRACE_KERNEL_GRID 4u      /* has a barrier of the whole grid */
#define WP_TRACE_KERNEL_POINTERS 8u  /* calls functions through pointers, which know one variant */
#define WP_TRACE_KERNEL_TENSOR 16u   /* multiplies matrices */
#define WP_TRACE_KERNEL_LAUNCHES 32u /* launches kernels, or calls the CUDA runtime otherwise */
#define WP_TRACE_KERNEL_CLOSE 64u /* warps load what others store soon after, without a barrier */

typedef struct wp_trace_kernel {
    const char *name; /* as in wp_cpu_kernel */
    uint32_t entry;   /* block */
    uint32_t flags;
} wp_trace_kernel;

/** Exported by the variants `trace` and `instep` as WP_TRACE_TABLES_SYMBOL. */
typedef struct wp_trace_tables {
    uint32_t version;
    uint32_t is_in_step; /* of the variant `instep`: each access ends its block */
    uint32_t block_count, step_count, site_count, kernel_count, function_count;
    uint32_t share_count, place_count;
    const wp_trace_block *blocks;
    const wp_trace_step *steps;
    const wp_trace_site *sites;
    const wp_trace_kernel *kernels;
    const char *const *functions; /* names */
    const wp_trace_share *shares;
    const wp_trace_place *places;
} wp_trace_tables;

#define WP_TRACE_TABLES_SYMBOL "wp_trace_tables"

/** Where a thread writes its next words, WP_TRACE_STRIDE apart. Those of a block fit while
 *  cursor + WP_TRACE_STRIDE * words <= limit. */
typedef struct wp_trace_lane {
    uint64_t *cursor;
    uint64_t *limit;
} wp_trace_lane;

#pragma GCC visibility push(default)

/** The running thread's. Called at most once in each activation of a function; must return the same
 *  each time. */
wp_trace_lane *wp_rt_trace_lane(void);
/** No room for the `words` words of the block just entered: returns when there is. The words
 *  written so far are all of blocks whose end was reached. */
void wp_rt_trace_full(wp_trace_lane *lane, uint32_t words);
/** Variant `instep`: the last word before the cursor is the address of an access that the thread
 *  will make next; returns when the model has reached it. */
void wp_rt_trace_step(wp_trace_lane *lane);
/** The block with the CLOCK step was written; returns the SM's clock in cycles, or (`is_ns`) the
 *  global timer. */
uint64_t wp_rt_trace_clock(wp_trace_lane *lane, uint32_t is_ns);

#pragma GCC visibility pop

#endif
