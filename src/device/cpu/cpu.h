/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Internals of the CPU device: its objects and their owners.
 *
 *     device ── pool ── workers (slots)     a thread that runs blocks holds one slot
 *        │                 └── blocks       storage of a block, reused; parked while it waits
 *        ├── queues ── commands             one executor thread a queue, made at its first command
 *        ├── modules ── kernels
 *        └── output, heap, sticky error
 *
 * Locks, in the order in which they may be taken: device->lock (queues, events, sticky error), then
 * pool->lock (launches, slots). Neither is held while kernels, copies or host calls run.
 */
#ifndef WP_DEVICE_CPU_CPU_H
#define WP_DEVICE_CPU_CPU_H

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/variant.h"
#include "device/device.h"

#define WPI_SHARED_BYTES_DEFAULT (48u * 1024u)
#define WPI_SHARED_BYTES_OPTIN (227u * 1024u)
#define WPI_SHARED_BYTES_SM (228u * 1024u)
#define WPI_STACK_BYTES_DEFAULT (64u * 1024u)
#define WPI_HEAP_BYTES_DEFAULT (8u * 1024u * 1024u)
#define WPI_PRINTF_BYTES_DEFAULT (1024u * 1024u)
#define WPI_NEST_WAITING_DEFAULT 2048u /* launches by kernels that have not begun, a grid */
#define WPI_NEST_SYNC_DEPTH_DEFAULT 2u /* levels of grids that may wait for theirs */
#define WPI_NEST_DEPTH_MAX 24u         /* levels of grids launched by grids */
/* Address space for the stack of a thread that runs blocks: local arrays of region form live there.
 */
#define WPI_WORKER_STACK_BYTES ((size_t)64 << 20)
#define WPI_BARRIERS                                                                               \
    (WP_BARRIER_FIRST_GROUP +                                                                      \
     WP_BARRIER_GROUPS) /* named barriers a block, and those of warpgroups */

typedef struct wpi_cpu_device wpi_cpu_device;
typedef struct wpi_cpu_queue wpi_cpu_queue;
typedef struct wpi_cpu_kernel wpi_cpu_kernel;
typedef struct wpi_launch wpi_launch;
typedef struct wpi_block wpi_block;
typedef struct wpi_cluster wpi_cluster;
typedef struct wpi_worker wpi_worker;
typedef struct wpi_pool wpi_pool;
typedef struct wpi_fiber wpi_fiber;
typedef struct wpi_heap wpi_heap;
typedef struct wpi_output wpi_output;

/* ---- kernels (cpu_module.c) ---- */

struct wpi_cpu_kernel {
    wp_kernel base;
    const wp_cpu_kernel *code;
    char *display_name; /* the name in messages: without mangling where that is simple */
    bool has_states;    /* threads can stop, so their states are kept */
    bool has_requests;  /* some stop is more than a plain barrier */
    _Atomic uint32_t shared_dynamic_max;
    const wp_check_site *sites;           /* [site_count], of checked code */
    uint32_t site_count;                  /* 0: not checked */
    const struct wp_trace_tables *tables; /* of traced code; NULL: it is not traced */
    const struct wp_trace_kernel *trace;  /* … the kernel's row */
    struct wpi_cpu_module *module;
    uint64_t id; /* kernel code's name for it: wpi_kernel_id */
};

/** Returns the kernel in a variant of its module, which is compiled on first use. One thread at a
 * time, while the kernel's module is loaded. TOOLCHAIN. */
WP_NODISCARD wp_status wpi_cpu_kernel_as(const wpi_cpu_kernel *kernel, const wpi_variant *variant,
                                         const wpi_cpu_kernel **out, wp_error *err);

/** The kernel of that id in the same module as `kernel`; NULL: none. */
const wpi_cpu_kernel *wpi_cpu_kernel_beside(const wpi_cpu_kernel *kernel, uint64_t id);

/* ---- launches and workers (block_pool.c) ---- */

/** A kernel launch while it runs. Blocks are taken in order of their numbers. */
struct wpi_launch {
    wpi_cpu_device *device;
    const wpi_cpu_kernel *kernel;
    wp_dim3 grid, block;
    uint32_t thread_count;
    uint32_t shared_dynamic_bytes;
    void *const *args;
    bool is_cooperative;
    bool prefers_l1;          /* for simulated GPUs */
    uint8_t shared_carveout;  /* for simulated GPUs */
    bool is_explicit_cluster; /* it has clusters, maybe of one block */
    wp_dim3 cluster;          /* 1, 1, 1: none */
    uint32_t cluster_size;    /* blocks; those of a cluster have consecutive numbers */
    uint64_t id;
    uint64_t block_count;
    uint64_t chunk;        /* blocks taken at once */
    wpi_cpu_queue *queue;  /* that it came from, or the grid did that launched it */
    uint32_t depth;        /* 0: launched by the host; else one more than the launching grid */
    struct wpi_nest *nest; /* under device->lock: what its threads queued; NULL: nothing */
    _Atomic uint32_t nest_waiting; /* … of that, commands that could start */

    _Atomic uint64_t next;            /* first block not yet handed out */
    _Atomic bool is_aborted;          /* an error: no further block starts */
    _Atomic uint32_t grid_generation; /* grid barriers completed */
    /* under pool->lock */
    uint32_t refs; /* workers (or single blocks) that may touch this */
    uint64_t grid_arrived, blocks_finished;
    uint64_t blocks_asleep;           /* of workers that sleep as none of theirs can go on */
    wpi_launch *previous, *following; /* in the list of launches in progress */
};

/** A slot: the state that a thread needs to run blocks. Held by one thread at a time. */
struct wpi_worker {
    wpi_pool *pool;
    wpi_cpu_device *device;
    uint32_t number; /* %smid */
    wpi_worker *next_free;

    wpi_block *current;    /* running, for error messages */
    wpi_block *blocks;     /* storage not in use */
    uint32_t block_count;  /* how many of these */
    uint32_t block_max;    /* … are kept */
    wpi_cluster *clusters; /* not in use, with their memory */
    uint32_t cluster_count;
    bool has_guards;                      /* stacks of fibers end in a guard page */
    wpi_block *parked_head, *parked_tail; /* in order of parking */
    wpi_block *dormant;                   /* they wait for what they launched; device->lock */
    _Atomic(wpi_block *) woken;           /* … that is done; written under that lock */
    uint32_t parked_count, dormant_count; /* dormant: until they are parked again */
    size_t held_bytes;                    /* storage of both */
    uint32_t aborted_seen;                /* pool->aborted when it last looked */
    uint64_t range_next, range_outer;     /* blocks taken from the launch, not yet started */

    sigjmp_buf escape; /* target of errors in kernel code */
    bool is_failing;   /* a fiber failed: escape once back on the worker's stack */
    wp_error error;
    int fault_signal; /* 0: `error` is complete; else a fault not described yet */
    const void *fault_address;
    bool fault_is_alignment;
    bool fault_is_stack;           /* the running fiber's stack has overflowed */
    uintptr_t fault_stack_pointer; /* 0: unknown */

    const void *check_stack; /* checked code: start of kernel code's stack */

    /* NULL, or describes where the thread of an error was: ", at …" */
    void (*place)(const wpi_block *block, uint32_t thread, char *out, size_t out_bytes);

    wpi_text printed; /* buffer for a printf of kernel code */

    struct wpi_sum *sums; /* of counts that are not added up yet (worker_sums.c); NULL: never any */
    bool has_sums;

    void *scheduler_sp; /* the worker's own stack while a fiber runs */
    wpi_fiber *fiber;   /* the running fiber; NULL: none */
    void *scheduler_tsan, *scheduler_fake_stack;
    const void *scheduler_stack;
    size_t scheduler_stack_bytes;
};

/* Signal handlers read these variables: they must not be allocated at first use. */
#define WPI_SIGNAL_SAFE __attribute__((tls_model("initial-exec")))

/** The slot that this OS thread holds; NULL: it runs no blocks. */
extern _Thread_local wpi_worker *wpi_worker_current WPI_SIGNAL_SAFE;

WP_NODISCARD wp_status wpi_pool_create(wpi_cpu_device *device, uint32_t worker_count,
                                       wpi_pool **out, wp_error *err);
void wpi_pool_destroy(wpi_pool *pool); /* no launch may be in progress */
/** Runs a launch to its end, on the calling thread and helpers. An error becomes the device's
 * sticky error.
 */
void wpi_pool_run(wpi_pool *pool, wpi_launch *launch);

/** A slot for a caller that runs blocks itself, on this thread; NULL: none is free. */
wpi_worker *wpi_pool_borrow(wpi_pool *pool);
void wpi_pool_return(wpi_pool *pool, wpi_worker *worker);

/** Wakes workers that sleep as their blocks wait: for some that is over. */
void wpi_pool_announce(wpi_pool *pool);

/** Adds up what kernel code on this worker has counted: before its launch may end (worker_sums.c).
 */
void wpi_worker_add_up(wpi_worker *worker);

/** Sets the worker's error: a kernel of an ordinary launch reached a grid barrier. */
void wpi_worker_refuse_grid(wpi_worker *worker, const wpi_launch *launch);
/** The kernel code on this worker failed: unwinds the block. `message` has no kernel or block name;
 *  `has_thread`: block->tid is the thread that failed. */
_Noreturn void wpi_worker_fail(wpi_worker *worker, wp_status status, bool has_thread,
                               const char *format, ...) WP_PRINTF(4, 5);
/** Leaves kernel code with `worker->error` or the fault set. */
_Noreturn void wpi_worker_escape(wpi_worker *worker);

/* ---- blocks (block/) ---- */

/** A warp of a mixed block: every lane is in exactly one of these sets. */
typedef struct wpi_warp {
    uint32_t ready;         /* may run */
    uint32_t op;            /* at a warp operation with a mask */
    uint32_t meet;          /* at an operation for the present lanes, or at a step */
    uint32_t barrier;       /* at a block barrier */
    uint32_t grid;          /* at the grid barrier */
    uint32_t yielded;       /* yields to other lanes */
    uint32_t held;          /* waits until its trace has been read */
    uint32_t exited;        /* returned, or beyond the end of the block */
    uint32_t passed_over;   /* times that others ran before `yielded` */
    uint32_t cluster;       /* at the cluster's barrier */
    uint32_t met_last;      /* the lane that wpi_block_meet_in_turn chose last */
    uint32_t awaits_nested; /* when they last ran, waited for grids that the block launched */
} wpi_warp;

typedef struct wpi_barrier {
    uint32_t waiting; /* threads */
    uint32_t arrived; /* … that did not wait */
    uint32_t count;   /* threads required; 0: all of the block */
} wpi_barrier;

struct wpi_block {
    wp_cpu_block pub; /* first: kernel code sees this */
    wpi_launch *launch;
    wpi_worker *worker;
    wpi_block *next;     /* in the worker's lists */
    wpi_block *previous; /* … of dormant blocks */
    bool holds_ref;      /* holds a reference to a launch that is not its worker's own */

    /* While all live threads are in the same state they are a range. */
    bool is_mixed;
    uint32_t state, first, outer;
    /* Otherwise: */
    wpi_warp *warps;
    uint32_t warp_count;
    uint32_t warps_run; /* that ran, a bit each, since device/sim looked */
    uint32_t exited_count;
    uint32_t barriers_used;  /* bit i: threads are at barrier i */
    bool are_barriers_plain; /* all that wait are at barrier 0, without requests */
    wpi_barrier barriers[WPI_BARRIERS];

    wpi_cluster *cluster;           /* NULL: none yet (block/cluster.c) */
    uint32_t *cluster_arrived;      /* [cluster_warps]: lanes that have arrived at its barrier */
    uint32_t cluster_arrived_count; /* … of all warps */
    uint32_t cluster_warps;
    bool is_at_cluster;     /* together, all live threads wait at that barrier */
    bool waits_for_cluster; /* no thread can continue before the barrier completes */

    bool is_at_grid;
    uint32_t grid_generation;   /* the generation when it arrived at the grid barrier */
    uint32_t asleep_generation; /* … when its worker fell asleep */

    struct wpi_lane_words *trace;  /* [thread_count] of traced code, for device/sim; not owned */
    uint32_t slot;                 /* … its number there */
    bool awaits_nested;            /* all that could run wait for commands of the block (nested/) */
    uint32_t awaiting_count;       /* … threads that found this, since it was set to 0 */
    uint64_t awaited_least;        /* … the least number up to which they must be done */
    struct wpi_nest_block *awaits; /* while it is dormant, or threads are held for commands */
    uint16_t
        *device_errors; /* [thread_count]: the last error of each thread (nested/); NULL: none */
    bool has_device_errors; /* some are not 0 */
    wpi_fiber *fibers;      /* [thread_count] in fiber form */
    uint32_t fiber_capacity;
    size_t fiber_stack_bytes;
    char *fiber_stacks;
    char **free_stacks; /* [free_stack_count]: stacks of ended threads, for the next */
    uint32_t free_stack_count;
    char *frame_memory;  /* allocation that contains pub.frame */
    char *shared_memory; /* of the block itself: pub.shared, unless it is part of a cluster's */
    size_t shared_capacity, frame_capacity, thread_capacity, word_capacity;
    size_t guard_capacity, barrier_site_capacity; /* access_check.c, as the members below */
    const struct wp_check_site *guard_sites;      /* sites of the guards; NULL: guards are empty */
    struct wpi_races *races; /* check/race_check.c; NULL: they are not looked for */
    uint64_t guard_removals; /* of the memory map, when they were last emptied */
    bool has_own_guards;     /* some are of memory of this block only */
    size_t storage_bytes;    /* total, for the limit on parked blocks */
};

typedef enum wpi_outcome {
    WPI_OUTCOME_DONE = 0,
    WPI_OUTCOME_YIELDS,     /* every runnable thread waits for something outside the block */
    WPI_OUTCOME_PROGRESSED, /* … but some progressed before that */
    WPI_OUTCOME_GRID,       /* all threads are at the grid barrier */
    WPI_OUTCOME_CLUSTER,    /* no thread can continue before the cluster's barrier completes */
    WPI_OUTCOME_HELD,       /* no thread can continue until a lane is released: wpi_block_let_go */
    WPI_OUTCOME_COUNT       /* must be last */
} wpi_outcome;

/** Returns storage for a block of `launch`, reused from the worker's store; NULL: out of memory. */
wpi_block *wpi_block_obtain(wpi_worker *worker, wpi_launch *launch);
void wpi_block_release(wpi_block *block); /* back to the worker's store */
void wpi_block_destroy(wpi_block *block); /* NULL allowed */
/** Sets `block` to the entry of block number `number` of its launch. */
void wpi_block_start(wpi_block *block, uint64_t number);
/** Its number by its indices in the grid, x first. */
uint64_t wpi_block_grid_number(const wpi_block *block);
/** Runs until the block is done or can only wait. Call again to continue; after GRID, once the grid
 * barrier is complete. */
wpi_outcome wpi_block_run(wpi_block *block);
/** wpi_block_run, outside of wpi_pool_run. False: kernel code failed; the device has the error. */
bool wpi_worker_run(wpi_worker *worker, wpi_block *block, wpi_outcome *outcome);
/** Releases held lanes of warp `w`. */
void wpi_block_let_go(wpi_block *block, uint32_t w, uint32_t lanes);
/** Lanes that wait at a step for held ones continue without them, as diverged lanes do on hardware.
 * False: there are none. */
bool wpi_block_meet_without_held(wpi_block *block, uint32_t w);
/** Releases lanes that wait at an operation for the present lanes, wherever the others are: for
 * warps whose other lanes spin, perhaps until these have continued. Each call takes the lanes of
 * another instruction, in turn. False: there are none. */
bool wpi_block_meet_in_turn(wpi_block *block, uint32_t w);

/** Computes an operation of warp `w`: `requests` are the warp's 32, `lanes` participate. */
void wpi_warp_evaluate(const wpi_block *block, uint32_t w, uint32_t kind, wp_cpu_request *requests,
                       uint32_t lanes);
/** The operation of WP_STOP_MATRIX: its results are written behind the lanes' registers. */
void wpi_warp_matrix(const wpi_block *block, uint32_t w, wp_cpu_request *requests, uint32_t lanes);
const char *wpi_stop_name(uint32_t op); /* CUDA's name */

/* ---- clusters (block/cluster.c) ---- */

#define WPI_CLUSTERS_KEPT 2u /* whose memory a worker keeps */

/** Blocks with one range of shared memory and one barrier, all with one worker. */
struct wpi_cluster {
    wpi_cluster *next;
    uint32_t size, joined, ended; /* blocks */
    char *memory;
    size_t memory_bytes;
    char *shared; /* in it: the first block's, the others at multiples of the stride behind it */
    size_t stride_bytes, block_bytes;
    wpi_block *blocks[WP_CLUSTER_BLOCKS_MAX]; /* by rank; NULL: not there yet, or ended */
};

/** A cluster for the next blocks of a launch with clusters; NULL: out of memory. */
wpi_cluster *wpi_cluster_obtain(wpi_worker *worker, const wpi_launch *launch);
void wpi_cluster_release(wpi_worker *worker, wpi_cluster *cluster); /* no block has joined it */
void wpi_cluster_destroy(wpi_cluster *cluster);                     /* NULL allowed */
/** Gives the block its shared memory. False: out of memory. */
bool wpi_cluster_join(wpi_cluster *cluster, wpi_block *block, uint32_t rank);
/** The block has ended, or its launch was aborted. The last one releases the cluster. True: that
 * completed the barrier of the others. */
bool wpi_cluster_leave(wpi_block *block);
/** Sets the block's indices from its number in the launch. */
void wpi_cluster_place(wp_cpu_block *pub, const wpi_launch *launch, uint64_t number);
/** Lanes arrive at the barrier; wpi_cluster_complete ends its phase if they were the last. */
void wpi_cluster_arrive(wpi_block *block, uint32_t w, uint32_t lanes);
/** Those of `lanes` that have arrived in a phase that is not complete. */
uint32_t wpi_cluster_waits(const wpi_block *block, uint32_t w, uint32_t lanes);
/** True if that ended a phase: threads in other blocks may continue. */
bool wpi_cluster_complete(wpi_cluster *cluster);
/** Whether threads that wait for the barrier may continue. */
bool wpi_block_is_past_cluster(const wpi_block *block);
/** Whether all its blocks wait for the barrier. */
bool wpi_cluster_is_stuck(const wpi_cluster *cluster);

/* ---- fibers (fiber.c) ---- */

#define WPI_FIBER_GUARD_BYTES 4096u /* below each stack: one page */

struct wpi_fiber {
    void *sp;
    char *stack; /* lowest usable byte, above a guard page; NULL: not started, or ended */
    size_t stack_bytes;
    uint32_t tid[3];
    void *tsan, *fake_stack;
};

/** Allocates fibers for `count` threads of `block`; false: out of memory. */
bool wpi_fibers_prepare(wpi_block *block, uint32_t count, size_t stack_bytes);
void wpi_fibers_release(wpi_block *block);
/** Sets all fibers of the block to the entry of its kernel. */
void wpi_fibers_start(wpi_block *block);
/** Runs thread `thread` of `block` to its next stop; its request says why it stopped. */
void wpi_fiber_resume(wpi_block *block, uint32_t thread);
/** From a fiber back to the scheduler. */
void wpi_fiber_leave(wpi_worker *worker);
bool wpi_fiber_owns_guard(const wpi_fiber *fiber, const void *address);

#define WPI_OP_EXIT 0xffu /* request of a fiber that has returned */
#define WPI_OP_HELD 0xfeu /* … of one that is held: wpi_block_let_go */

/** The reason `a` of threads that wait for commands of their own block, under an executor. */
#define WPI_HELD_FOR_NESTED UINT64_MAX

/** From a fiber: holds the running thread; `a` and `b` tell the holder why. Returns the holder's
 * answer. */
uint64_t wpi_fiber_hold(uint64_t a, uint64_t b);

/* ---- faults (fault.c) ---- */

/** Installs the process's signal handlers, cheaply if they are installed. Called before every
 *  command that may fault: the program may have replaced them meanwhile, and its handlers then get
 *  all other signals.
 */
void wpi_fault_install(void);
void wpi_fault_prepare_thread(void); /* makes a signal stack for this thread, if it has none */
/** Copies rows; false, and the address, if memory is not accessible. */
bool wpi_fault_copy(void *dst, size_t dst_pitch_bytes, const void *src, size_t src_pitch_bytes,
                    size_t width_bytes, size_t height, const void **fault);
bool wpi_fault_fill(void *dst, uint32_t value, uint32_t value_bytes, size_t count,
                    const void **fault);
/** Finds the address that the instruction at a general-protection fault accessed; false:
 * unknown. */
bool wpi_fault_decode(const void *signal_context, uint64_t *address);
bool wpi_fault_is_canonical(uint64_t address); /* whether it can be a pointer */
/** "… 4 bytes past the end of the nearest allocation (4096 bytes at 0x…)": where `address` is. */
void wpi_fault_describe(const wp_device *device, const void *address, char *out, size_t out_bytes);

/* ---- output and heap of kernels (printf.c, heap.c) ---- */

WP_NODISCARD wp_status wpi_output_create(wpi_output **out, wp_error *err);
void wpi_output_destroy(wpi_output *output);
void wpi_output_set_capacity(wpi_output *output, size_t capacity_bytes);
size_t wpi_output_capacity(wpi_output *output);
void wpi_output_append(wpi_output *output, const char *data, size_t size_bytes);
void wpi_output_flush(wpi_output *output);
/** Appends the output of CUDA's printf for packed arguments. Returns the number of arguments, -1
 *  for a NULL format. */
int wpi_printf_format(wpi_text *out, const char *format, const void *packed);

/** `is_fixed`: in the arena, in the part of the device of that number, if there is room. */
WP_NODISCARD wp_status wpi_heap_create(size_t size_bytes, bool is_fixed, uint32_t device,
                                       wpi_heap **out, wp_error *err);
void wpi_heap_destroy(wpi_heap *heap);                     /* NULL allowed */
void *wpi_heap_alloc(wpi_heap *heap, uint64_t size_bytes); /* 16-byte aligned; NULL: full */
bool wpi_heap_free(wpi_heap *heap, void *pointer); /* false: not a live block of this heap */
bool wpi_heap_is_empty(wpi_heap *heap);
size_t wpi_heap_size(const wpi_heap *heap);
const void *wpi_heap_base(const wpi_heap *heap);

/** Forgets the errors of a block's threads. */
void wpi_device_errors_clear(wpi_block *block);

/* ---- memory (cpu_memory.c) ---- */

typedef struct wpi_cpu_memory {
    pthread_mutex_t lock;
    uint64_t used_bytes, limit_bytes; /* of device memory */
    uint64_t managed_bytes;           /* for the report */
} wpi_cpu_memory;

wp_status wpi_cpu_memory_alloc(wp_device *device, wp_memory_kind kind, size_t size_bytes,
                               uint32_t flags, void **out, wp_error *err);
wp_status wpi_cpu_memory_free(wp_device *device, const wp_allocation *allocation, wp_error *err);
void wpi_cpu_memory_info(wp_device *device, uint64_t *free_bytes, uint64_t *total_bytes);
wp_status wpi_cpu_range_reserve(wp_device *device, size_t size_bytes, void **out, wp_error *err);
void wpi_cpu_range_release(wp_device *device, void *base, size_t size_bytes);
/** Frees every allocation of the device; variables only if `with_variables`. */
void wpi_cpu_memory_free_all(wpi_cpu_device *device, bool with_variables);

/* ---- queues and the device (cpu_queue.c, cpu_event.c, cpu_device.c) ---- */

typedef struct wpi_waiter wpi_waiter;

/** Devices whose queues can wait for each other: those that wp_devices_open opened together. Most
 * devices are alone in theirs. */
typedef struct wpi_cpu_group {
    pthread_mutex_t lock;    /* device->lock of each */
    wpi_cpu_device *devices; /* in order of their numbers */
    wpi_waiter *waiters;     /* host threads that wait */
} wpi_cpu_group;

struct wpi_cpu_device {
    wp_device base;
    wpi_cpu_group *group;
    wpi_cpu_device *next; /* in the group */
    wpi_pool *pool;
    wpi_output *output;
    wpi_cpu_memory memory;
    _Atomic(wpi_heap *) heap;
    _Atomic uint64_t heap_bytes, stack_bytes;
    _Atomic uint64_t launch_count;
    _Atomic uint32_t nest_waiting_max, nest_sync_depth; /* limits of launches by kernels */
    struct wpi_nest *nests;  /* of grids whose threads queued commands; under the lock */
    uint32_t nested_running; /* such commands */
    uint64_t nested_names;   /* streams and events that kernels created */
    _Atomic uint32_t peers;  /* bit p: kernels may use memory of device p; for checks */
    _Atomic bool has_failed; /* the sticky error is set */

    pthread_mutex_t *lock; /* the group's */
    wp_error sticky;
    wpi_cpu_queue *queues; /* all, including destroyed ones with work; the default one last */
    wpi_cpu_queue *default_queue;
    struct wpi_cpu_module *modules; /* loaded modules */

    struct wpi_executor *executor; /* NULL: the queues' threads (queue.h) */
    bool has_fixed_addresses;      /* memory has the same addresses in every run (arena.h) */
    const wpi_variant *variant;    /* variant of kernels; NULL: the program's own code */
    bool is_in_lockstep;           /* … or, with the parameter lockstep, this one */
    wpi_variant lockstep;
    /* NULL, or returns, for a variant's tables, the variant that all kernels of the module must
     * have
     */
    const wpi_variant *(*variant_instead)(const wpi_cpu_device *device,
                                          const struct wp_trace_tables *tables);
};

extern const wpi_device_ops wpi_cpu_device_ops;
wp_queue *wpi_cpu_device_default_queue(wp_device *device);
wp_status wpi_cpu_device_sticky_error(wp_device *device, wp_error *err);
wp_status wpi_cpu_device_set_limit(wp_device *device, wpi_limit limit, uint64_t value,
                                   wp_error *err);
wp_status wpi_cpu_device_get_limit(wp_device *device, wpi_limit limit, uint64_t *value,
                                   wp_error *err);
void wpi_cpu_device_flush_output(wp_device *device);
/** Operations common to devices built on this one; the others are their own, or wrap those of
 *  wpi_cpu_device_ops. */
#define WPI_CPU_DEVICE_SHARED_OPS                                                                  \
    .queue = &wpi_cpu_queue_ops, .event = &wpi_cpu_event_ops, .module = &wpi_cpu_module_ops,       \
    .default_queue = wpi_cpu_device_default_queue, .sticky_error = wpi_cpu_device_sticky_error,    \
    .memory_info = wpi_cpu_memory_info, .range_reserve = wpi_cpu_range_reserve,                    \
    .range_release = wpi_cpu_range_release, .set_limit = wpi_cpu_device_set_limit,                 \
    .get_limit = wpi_cpu_device_get_limit, .flush_output = wpi_cpu_device_flush_output,            \
    .is_idle = wpi_cpu_device_is_idle
/** Initialises a device that has `ops` and is otherwise zero; closes (and frees) it on failure. It
 * joins the group of `beside`, unless that is NULL. */
WP_NODISCARD wp_status wpi_cpu_device_init(wpi_cpu_device *device, wpi_cpu_device *beside,
                                           uint32_t worker_count, uint64_t limit_bytes,
                                           wp_error *err);

extern const wpi_queue_ops wpi_cpu_queue_ops;
extern const wpi_event_ops wpi_cpu_event_ops;
extern const wpi_module_ops wpi_cpu_module_ops;

/** Gives the variables of all modules the values they had when they were loaded. */
void wpi_cpu_modules_reset(wpi_cpu_device *device);

/** Records the device's first error, and prints it on stderr. */
void wpi_cpu_device_fail(wpi_cpu_device *device, const wp_error *error);
/** Gives the device, unless it has failed itself, the error of `other`, a failed device of its
 * group.
 */
void wpi_cpu_device_fail_with(wpi_cpu_device *device, wpi_cpu_device *other);
/** The lowest address and the size of the calling thread's stack. False: unknown. */
bool wpi_thread_stack(uintptr_t *low, size_t *bytes);
size_t wpi_thread_stack_bytes(void); /* of the calling thread */

#endif
