/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of compiled kernels and the runtime: the CPU code table, the thread context, the
 * points at which a thread stops. In words: docs/rooms/abi.md.
 *
 * The compiler (src/compiler) emits these structures as constants, the CPU device (src/device/cpu)
 * reads them. docs/rooms/abi.md lists the changes that raise WP_ABI_VERSION.
 *
 * How a kernel runs. A thread block is a `wp_cpu_block`. Its threads are numbered
 * x-fastest, `thread = tid.x + dim.x * (tid.y + dim.y * tid.z)`; 32 neighbours are a warp.
 * A kernel comes in one of two forms:
 *
 *   regions   The kernel was cut at every point where a thread may have to wait (barrier, warp
 *             operation, spin). `regions[s].run(block, first, outer)` runs the threads
 *             [first, outer), all in state s, each up to its next stop. State 0 is the entry.
 *             Values that live across a stop are in `block->frame`. A kernel that never waits is
 *             one region: a plain loop over the threads.
 *   fibers    `thread(block)` runs one thread on a stack of its own; at a stop it calls
 *             `wp_rt_stop`, which switches to the scheduler. For kernels in which a stop is
 *             inside a function that could not be inlined (recursion, function pointers).
 *
 *         entry ──► region 0 ──stop──► region 1 ──stop──► … ──► EXIT
 *                                 ▲           │
 *                                 └───────────┘   (a barrier in a loop)
 */
#ifndef WP_BASE_ABI_H
#define WP_BASE_ABI_H

#include <stdint.h>

#define WP_ABI_VERSION 1u
#define WP_WARP_LANES 32u

#define WP_STATE_EXIT 0xfffffffeu  /* the thread has returned */
#define WP_STATE_MIXED 0xffffffffu /* returned by a region: see block->states[] */

/** Why a thread stopped: the first argument of `wp_rt_stop`, and `wp_cpu_region.stop`. */
typedef enum wp_stop {
    WP_STOP_NONE = 0,       /* entry */
    WP_STOP_BARRIER,        /* block barrier; mask = thread count (0: all), a = barrier id */
    WP_STOP_BARRIER_COUNT,  /* … result: number of threads with b != 0 */
    WP_STOP_BARRIER_AND,    /* … result: 1 if b != 0 for all */
    WP_STOP_BARRIER_OR,     /* … result: 1 if b != 0 for any */
    WP_STOP_BARRIER_ARRIVE, /* bar.arrive: counts, does not wait */
    WP_STOP_WARP_SYNC,      /* lanes of `mask` meet */
    WP_STOP_SHFL_IDX,       /* a = 32-bit value, b = lane | c << 32 (PTX's c operand) */
    WP_STOP_SHFL_UP,        /* result: value | (source in range) << 32 */
    WP_STOP_SHFL_DOWN,
    WP_STOP_SHFL_BFLY,
    WP_STOP_VOTE_ALL, /* a = predicate; result 0 or 1 */
    WP_STOP_VOTE_ANY,
    WP_STOP_VOTE_UNI,
    WP_STOP_VOTE_BALLOT, /* result: mask */
    WP_STOP_MATCH_ANY,   /* a = 64-bit value; result: mask of lanes with the same value */
    WP_STOP_MATCH_ALL,   /* result: mask | (all equal) << 32 */
    WP_STOP_REDUX_ADD,   /* a = 32-bit value; result: reduction over `mask` */
    WP_STOP_REDUX_MIN_S,
    WP_STOP_REDUX_MAX_S,
    WP_STOP_REDUX_MIN_U,
    WP_STOP_REDUX_MAX_U,
    WP_STOP_REDUX_AND,
    WP_STOP_REDUX_OR,
    WP_STOP_REDUX_XOR,
    WP_STOP_ACTIVE_MASK, /* result: lanes that stopped here together */
    WP_STOP_STEP,        /* lockstep: before a volatile access to shared memory */
    WP_STOP_YIELD,       /* about to repeat a loop that waits for other threads */
    WP_STOP_GRID,        /* grid barrier of a cooperative launch */
    WP_STOP_ROUND,  /* between two iterations of a loop that all threads execute together: never
                       waits; result: b != 0 for any thread that stopped here in the same call */
    WP_STOP_CUT,    /* between two pieces of work that each thread does in sequence: never waits */
    WP_STOP_MATRIX, /* a = address of the lane's registers, b = the operation (base/matrix_abi.h);
                       the results are written behind them */
    WP_STOP_CLUSTER_ARRIVE, /* barrier of the block's cluster: counts, does not wait */
    WP_STOP_CLUSTER_WAIT,   /* … waits until all threads of the cluster have arrived as often as
                               this one */
    WP_STOP_COUNT           /* must be last */
} wp_stop;

/** Added to a warp operation: without `mask`, the lanes that reach it together take part (the forms
 *  without `_sync`). */
#define WP_STOP_FLAG_ACTIVE 0x100u
/** Added to WP_STOP_YIELD: only the host can end the waiting, so lanes that wait at a join need not
 * continue alone. */
#define WP_STOP_FLAG_HOST 0x200u
#define WP_STOP_KIND(op) ((op) & 0xffu)

/** The operation that a stopped thread requests, and its result. Written by the region before it
 *  stops (all fields), answered by the scheduler in `result`, read by the next region. A plain
 *  barrier over all threads (`WP_CPU_REGION_PLAIN`), a step and a yield write none; nor does a warp
 *  operation of whole warps (`WP_CPU_REGION_ALIKE`). */
typedef struct wp_cpu_request {
    uint32_t op;   /* wp_stop and flags */
    uint32_t mask; /* lanes, or thread count of a barrier */
    uint64_t a;
    uint64_t b;
    uint64_t result;
} wp_cpu_request;

/* Compiled programs find the functions below in libwarpage. */
#pragma GCC visibility push(default)

typedef struct wp_cpu_block wp_cpu_block;

/** One thread block while it runs. The compiler uses the fields down to `thread`;
 *  the CPU device owns the structure and keeps more behind it. */
struct wp_cpu_block {
    uint32_t grid_dim[3];
    uint32_t block_dim[3];
    uint32_t block_idx[3];
    uint32_t thread_count;
    void *const *args;        /* one pointer for each kernel parameter; the launch's own copies */
    char *shared;             /* static shared memory, then dynamic; 128-byte aligned */
    char *frame;              /* thread_count * frame_bytes; slot-major, see wp_cpu_kernel */
    uint32_t *states;         /* [thread_count] */
    wp_cpu_request *requests; /* [thread_count] */
    uint32_t shared_bytes;    /* static + dynamic */
    uint32_t shared_dynamic_bytes; /* %dynamic_smem_size */
    uint32_t sm_id;                /* %smid: the worker's number */
    uint32_t sm_count;             /* %nsmid */
    uint64_t grid_id;              /* %gridid: number of the launch */
    uint32_t
        thread; /* the running thread, up to date where a callee may read it (fibers: always) */
    uint32_t tid[3];         /* … and its threadIdx */
    uint32_t is_cooperative; /* launched by cudaLaunchCooperativeKernel */
    /* Checked code only (`wpcc --variant=check`); see wp_check_site. */
    struct wp_check_guard *guards; /* [site count] */
    uint32_t *barrier_sites; /* [thread_count]: the site of the last barrier a thread reached */
    /* The block's cluster; without one, a cluster of this block alone. */
    uint32_t cluster_dim[3];   /* %cluster_nctaid: blocks of the cluster */
    uint32_t cluster_block[3]; /* %cluster_ctaid: this block in it */
    uint32_t cluster_idx[3];   /* %clusterid */
    uint32_t cluster_count[3]; /* %nclusterid */
    uint32_t cluster_rank;     /* %cluster_ctarank */
    uint32_t cluster_size;     /* %cluster_nctarank */
    uint32_t is_in_cluster;    /* %is_explicit_cluster */
    uint32_t reserved;
    /* Shared memory of the cluster: that of rank r lies at cluster_shared + r * stride. */
    char *cluster_shared;
    uint64_t cluster_stride_bytes; /* 0: no cluster */
    uint32_t *words, *lane_words;  /* [thread_count]: see WP_CPU_REGION_ALIKE */
};

/** Numbers of barriers: 0 to 15 are the program's; then each warpgroup (four warps) has one. */
#define WP_BARRIER_FIRST_GROUP 16u
#define WP_BARRIER_GROUPS 8u

/** Blocks of a cluster, at most. */
#define WP_CLUSTER_BLOCKS_MAX 16u

/** The block whose threads run on this OS thread; set by the CPU device. Functions that were not
 *  inlined read the thread's identity here. NULL outside kernels. */
extern _Thread_local wp_cpu_block *wp_rt_block __attribute__((tls_model("initial-exec")));

/** Stops the running thread. Called by fiber-form kernels; in region form the compiler has
 *  replaced every call. `point` numbers the call site in program order (smaller is earlier). */
uint64_t wp_rt_stop(uint32_t op, uint32_t point, uint32_t mask, uint64_t a, uint64_t b);

/** Performs a warp operation (WP_CPU_REGION_ALIKE) for all warps of a block whose threads are all
 *  there. */
void wp_rt_warps(wp_cpu_block *block, uint32_t op, uint64_t b);

/** Runs the threads [first, outer), all in this region's state. Returns the common next state, or
 *  WP_STATE_MIXED after writing `block->states[t]` for each of them. */
typedef uint32_t (*wp_region_fn)(wp_cpu_block *block, uint32_t first, uint32_t outer);
typedef void (*wp_thread_fn)(wp_cpu_block *block);

#define WP_CPU_REGION_PLAIN 1u /* stop is BARRIER over all threads, id 0: no request is written */
/** The stop is a warp operation (WARP_SYNC, SHFL, VOTE, REDUX) whose mask names all lanes, or that
 *  takes those that reach it together; `b` is the region's. A thread writes the lower half of `a`
 *  into `block->words[thread]`, and finds that of the result there. (Whether a shuffle's source is
 *  in range follows from lane and b.) */
#define WP_CPU_REGION_ALIKE 2u
/** In the region's `b`: its lower half is each thread's own, in `block->lane_words[thread]`. */
#define WP_WORDS_OWN_LANES 0x80000000u

/** State s: why a thread stopped there, and the function that continues it. States are numbered in
 *  reverse post order: among lanes of a warp the smallest state runs first, so that lanes meet
 *  again. */
typedef struct wp_cpu_region {
    wp_region_fn run;
    uint32_t stop; /* wp_stop and WP_STOP_FLAG_ACTIVE of the stop that led here; NONE for state 0 */
    uint32_t flags;
    uint64_t b; /* ALIKE: the operand beside the value */
} wp_cpu_region;

typedef struct wp_cpu_param {
    uint32_t size_bytes;
    uint32_t align_bytes;
} wp_cpu_param;

#define WP_CPU_KERNEL_GRID_SYNC 1u /* uses the grid barrier */
#define WP_CPU_KERNEL_SPINS 2u     /* has yields: its blocks may wait for other blocks */
#define WP_CPU_KERNEL_WARP 4u      /* has warp operations or steps */
#define WP_CPU_KERNEL_LAUNCHES 8u  /* launches kernels */
#define WP_CPU_KERNEL_WORDS 16u    /* uses block->words */

typedef struct wp_cpu_kernel {
    const char *name;             /* mangled, as in PTX */
    const wp_cpu_region *regions; /* region form; NULL in fiber form */
    wp_thread_fn thread;          /* fiber form; NULL in region form */
    const wp_cpu_param *params;
    uint32_t region_count;
    uint32_t param_count;
    uint32_t
        shared_static_bytes;    /* dynamic shared memory follows at this offset (multiple of 16) */
    uint32_t frame_bytes;       /* a thread; slot i of all threads lies before slot i+1 */
    uint32_t local_bytes;       /* local memory a thread (arrays, spills), for attributes */
    uint32_t register_estimate; /* 32-bit registers a thread */
    uint32_t max_threads;       /* __launch_bounds__, 0: none */
    uint32_t flags;
    uint32_t cluster_dim[3]; /* __cluster_dims__, 0: none */
} wp_cpu_kernel;

typedef enum wp_variable_kind {
    WP_VARIABLE_DEVICE = 0,
    WP_VARIABLE_CONSTANT,
    WP_VARIABLE_MANAGED, /* `address` is a cell: see below */
    WP_VARIABLE_TEXTURE, /* 8 bytes: the texture object's handle */
    WP_VARIABLE_SURFACE
} wp_variable_kind;

/** A managed variable is stored in the host object's variable of the same name, which host code
 *  reads and writes. Kernel code reaches it through a pointer, the cell, which it loads at each
 *  use:
 *
 *      kernel code ──► cell (void *) ──► copy with the initial value      as compiled
 *                            └─────────► the host's variable              once registered
 *
 *  __cudaRegisterVar copies `size_bytes` from the cell's target to the host variable and stores
 * that variable's address in the cell. Code must be registered first for host code to see initial
 *  values in main: its constructor has a priority (any below 65535). */
typedef struct wp_cpu_variable {
    const char *name;
    void *address;
    uint64_t size_bytes;
    uint32_t kind;  /* wp_variable_kind */
    uint32_t flags; /* WP_VARIABLE_… */
} wp_cpu_variable;

/** The section of the host object with managed variables: whole pages, with nothing else in them.
 *  Its variables have the flag. */
#define WP_MANAGED_SECTION "wp_managed"
#define WP_VARIABLE_OWN_PAGES 1u

typedef enum wp_cpu_isa { WP_CPU_ISA_BASELINE = 0, WP_CPU_ISA_X86_64_V3 = 3 } wp_cpu_isa;

/** All CPU code of one image for one instruction set. Variables are shared between the
 *  instruction sets: only the baseline copy defines them, or the only copy. */
typedef struct wp_cpu_code {
    uint32_t abi_version;
    uint32_t isa;
    uint64_t image_id; /* equals wp_image_header.id */
    const wp_cpu_kernel *kernels;
    const wp_cpu_variable *variables;
    uint32_t kernel_count;
    uint32_t variable_count;
} wp_cpu_code;

/** Called by a constructor in every object made by wpcc, before main and before
 *  __cudaRegisterFatBinary of the same object (or after it, where no variable is managed).
 *  `code` has static storage. */
void wp_cpu_code_register(const wp_cpu_code *code);

/* Runtime functions that kernel code on the CPU calls (defined in src/device/cpu/kernel_rt.c). */
int32_t wp_rt_vprintf(const char *format, const void *packed); /* CUDA's packing of varargs */
void wp_rt_assert_fail(const char *expression, const char *file, uint32_t line,
                       const char *function);
void wp_rt_trap(void); /* does not return */
void *wp_rt_malloc(uint64_t bytes);
void wp_rt_free(void *pointer);
/* Adds `value` to the word of `bytes` (4 or 8) by the end of the launch: warpage/shared_words.h,
 * wp_word_sum32. */
void wp_rt_sum(void *word, uint64_t value, uint32_t bytes);
/* Calls of the CUDA runtime in kernels (src/device/cpu/nested). `thread`: the caller's number in
 * its block. Results are cudaError_t unless stated otherwise; errors are also the thread's last
 * one.
 *
 * A kernel is named in kernel code by its id, the hash of its name (wpi_kernel_id), as a pointer.
 * `shape`: grid, then block. `args`: one pointer for each parameter. */
int32_t wp_rt_launch(const void *kernel, const uint32_t shape[6], uint64_t shared_bytes,
                     uint64_t stream, void *const *args, uint32_t thread);
typedef enum wp_device_call {
    WP_DEVICE_ERROR_GET = 0, /* the last error; a != 0: forgets it */
    WP_DEVICE_ERROR_SET,     /* the error a */
    WP_DEVICE_COPY,          /* a: to, b: from, c: bytes, d: stream */
    WP_DEVICE_FILL,          /* a: to, b: byte, c: bytes, d: stream */
    WP_DEVICE_NAME,          /* result: the handle of a new stream or event */
    WP_DEVICE_SYNC_BEGIN,    /* result: a number for SYNC_IS_DONE, or minus an error */
    WP_DEVICE_SYNC_IS_DONE,  /* whether what the block had queued at SYNC_BEGIN's a is done */
    WP_DEVICE_RECORD,        /* a: event, d: stream */
    WP_DEVICE_WAIT_EVENT,    /* a: event, d: stream */
    WP_DEVICE_ATTRIBUTE,     /* a: cudaDeviceAttr; result: its value, or minus an error */
    WP_DEVICE_NUMBER,        /* result: the number of the device */
    WP_DEVICE_CALL_COUNT     /* must be last */
} wp_device_call;
int64_t wp_rt_device_call(uint32_t call, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                          uint32_t thread);

uint64_t wp_rt_clock64(void);      /* cycles */
uint64_t wp_rt_globaltimer(void);  /* ns */
void wp_rt_nanosleep(uint32_t ns); /* a hint; yields the OS thread at most */
/** Textures. `out` receives 4 components (float bits, or 32-bit integers extended as the
 *  format says); coordinates that an access does not use are 0. `kind`: wp_tex_kind; `ix`: the
 *  texel, the layer or the component that the kind asks for. */
typedef enum wp_tex_kind {
    WP_TEX_1D_FETCH = 0, /* texel ix of linear memory */
    WP_TEX_1D,
    WP_TEX_2D,
    WP_TEX_3D,
    WP_TEX_1D_LAYERED, /* layer ix */
    WP_TEX_2D_LAYERED,
    WP_TEX_CUBE, /* x, y, z: a direction */
    WP_TEX_CUBE_LAYERED,
    WP_TEX_2D_GATHER /* component ix of the four texels around (x, y) */
} wp_tex_kind;
void wp_rt_tex(uint64_t texture, uint32_t kind, float x, float y, float z, int32_t ix,
               uint32_t out[4]);
/** For traces: the address of the texel that the fetch reads at `corner`, whose bits are steps
 * along the axes; a filtered fetch mixes all corners. 0: none, or one in the sector of the corner
 * before.
 */
uint64_t wp_rt_tex_place(uint64_t texture, uint32_t kind, float x, float y, float z, int32_t ix,
                         uint32_t corner);
/** Surfaces: `bytes` bytes at byte x of a row; z is the layer, too (cube maps: 6 * layer + face).
 */
typedef enum wp_surf_mode {
    WP_SURF_ZERO = 0, /* outside: reads give 0, writes are dropped */
    WP_SURF_CLAMP,    /* … the nearest inside */
    WP_SURF_TRAP      /* … the kernel fails */
} wp_surf_mode;
/** In bits 8 and up of `mode`: the instruction that a GPU needs. The CPU's surfaces know their
 * shape.
 */
typedef enum wp_surf_shape {
    WP_SURF_1D = 0,
    WP_SURF_2D,
    WP_SURF_3D,
    WP_SURF_1D_LAYERED,
    WP_SURF_2D_LAYERED /* cube maps, too */
} wp_surf_shape;
#define WP_SURF_MODE(mode) ((mode) & 0xffu)
void wp_rt_surf_read(uint64_t surface, void *data, uint32_t bytes, int32_t x_bytes, int32_t y,
                     int32_t z, uint32_t mode);
void wp_rt_surf_write(uint64_t surface, const void *data, uint32_t bytes, int32_t x_bytes,
                      int32_t y, int32_t z, uint32_t mode);
/** For traces: the address that these access; 0: none. */
uint64_t wp_rt_surf_place(uint64_t surface, uint32_t bytes, int32_t x_bytes, int32_t y, int32_t z,
                          uint32_t mode, uint32_t is_write);

/* ---- variants ----
 *
 * A variant is a second compilation of an image's bitcode, with a pass more, made on first use by
 * `wpcc --variant=<name>` (base/variant.h) as a shared library. It exports its code as
 * `wp_variant_code` in place of registering it. Its variables are the program's own: `address` of
 * each wp_cpu_variable, whatever its kind, is a cell (void *) that the device fills before the
 * first launch. */

#define WP_VARIANT_CODE_SYMBOL "wp_variant_code"
/* void (void): called when the cells are filled; sets constants that hold addresses of
 * variables. */
#define WP_VARIANT_FILL_SYMBOL "wp_variant_fill"

/* ---- libraries of streamed kernels
 *
 * `wpcc --stream-library=KERNEL:MASK` makes an image of its own with the form of one kernel that
 * streams the parameters of the mask, and the CPU code of that image, which registers itself. The
 * library exports the image (wp_image_header) by this name. */

#define WP_STREAM_IMAGE_SYMBOL "wp_stream_image"

/* ---- libraries of modules
 *
 * `wpcc --module-library IMAGE` makes the CPU code of an image that no program has, such as one
 * that a module was loaded from; it registers itself. The library exports the image's id (uint64_t)
 * by this name. */

#define WP_MODULE_ID_SYMBOL "wp_module_image_id"

/* wpcc's exit status if a kernel cannot be compiled to the requested library; its last line is then
 * "wpcc: error: " and the reason. */
#define WP_LIBRARY_REFUSED 3

/* The variant `check` tests each access that may be wrong. Most pass inline: for memory of unknown
 * extent, a guard holds the range in which this site's last good access lay. All others call the
 * runtime, which returns the address to use: the same one, or harmless memory that reads as 0. */

typedef enum wp_check_access {
    WP_CHECK_LOAD = 0,
    WP_CHECK_STORE,
    WP_CHECK_ATOMIC,
    WP_CHECK_BARRIER
} wp_check_access;

typedef enum wp_check_object {
    WP_CHECK_ANY = 0,   /* any memory */
    WP_CHECK_SHARED,    /* all of the block's shared memory, or one array of it */
    WP_CHECK_DYNAMIC,   /* dynamic shared memory */
    WP_CHECK_LOCAL,     /* an array of the thread */
    WP_CHECK_PARAMETER, /* a structure passed to the kernel */
    WP_CHECK_CONSTANT,  /* a __constant__ variable */
    WP_CHECK_VARIABLE   /* a __device__ or __managed__ variable */
} wp_check_object;

/** A place in the source that accesses memory, or a barrier. Exported as `wp_check_sites`, their
 * number (uint32_t) as `wp_check_site_count`. */
typedef struct wp_check_site {
    const char *file; /* NULL: the program carries no line information */
    const char *name; /* of the variable, or NULL */
    /* Of a barrier in an inlined function: the places of the calls, the innermost first; or NULL.
     */
    const char *calls;
    uint32_t line;
    uint32_t access; /* wp_check_access */
    uint32_t object; /* wp_check_object */
    uint32_t size_bytes;
    uint32_t align_bytes;
    uint32_t flags; /* WP_CHECK_SITE_… */
    /* Of a barrier: equal for copies of one place in the source, reached by the same calls; 0: it
     * is unknown. */
    uint32_t place;
} wp_check_site;

#define WP_CHECK_SITE_VOLATILE 1u
#define WP_CHECK_SITE_ATOMIC 2u  /* a load or store that is atomic */
#define WP_CHECK_SITE_VALUE 4u   /* wp_rt_race gets the value that is stored */
#define WP_CHECK_SITE_LIBRARY 8u /* a barrier of Warpage's own code: not to be reported */

/** An access of this site at `address` is good if address - first < limit, unsigned; limit 0:
 * nothing is. */
typedef struct wp_check_guard {
    uint64_t first;
    uint64_t limit;
} wp_check_guard;

/** An access that its guard did not pass: the address to use. */
void *wp_rt_check(void *address, uint32_t site);
/** An access that is misaligned or leaves the object [base, base + size_bytes): the address to use.
 */
void *wp_rt_check_object(void *address, uint32_t site, void *base, uint64_t size_bytes);
/** An access to `size_bytes` bytes: `size_bytes`, or 0 if they must not be touched. */
uint64_t wp_rt_check_range(void *address, uint32_t site, uint64_t size_bytes);

/* The variant `races` is `check` that also reports what other threads may access, before it is
 * done, and where a thread meets others, on both sides. */

/** An access to memory that is not the thread's own. `value`: what a store puts there, if the site
 * says so. */
void wp_rt_race(const void *address, uint64_t size_bytes, uint64_t value, uint32_t site,
                uint32_t thread);
/** The thread synchronises: an operation of its warp, a barrier, an atomic, a fence. */
void wp_rt_race_sync(uint32_t thread);

#pragma GCC visibility pop

/* ---- the image: what wpcc embeds as CUDA's "fat binary" ------------------------------------- */

#define WP_IMAGE_MAGIC "WPIMAGE" /* 8 bytes with the terminating NUL */

typedef enum wp_section_kind {
    WP_SECTION_BITCODE = 1, /* nvptx64 bitcode after scalar optimisation */
    WP_SECTION_PTX = 2,     /* text, NUL-terminated when decompressed */
    WP_SECTION_CUBIN = 3    /* the PTX, assembled for `arch`; beside it, never alone */
} wp_section_kind;

typedef struct wp_image_section {
    uint32_t kind;           /* wp_section_kind */
    uint32_t arch;           /* PTX, cubin: 70 for sm_70; else 0 */
    uint64_t offset;         /* from the start of the header */
    uint64_t size_bytes;     /* as stored: zstd frame */
    uint64_t raw_size_bytes; /* decompressed */
} wp_image_section;

typedef struct wp_image_header {
    char magic[8];
    uint32_t abi_version;
    uint32_t section_count;
    uint64_t id;         /* pairs the image with its CPU code */
    uint64_t size_bytes; /* whole image */
    /* wp_image_section sections[section_count]; data follow, 16-byte aligned */
} wp_image_header;

#endif
