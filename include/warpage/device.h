/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Devices: opening one, allocating memory, queueing work and reading its state.
 *
 * A spec names a device: "cpu", "cuda:0" (the first GPU), "sim:gtx1080ti". Pointers to memory are
 * plain pointers that are valid in kernels; on cpu and sim they are host addresses too. A queue
 * executes its commands in order; commands of different queues may overlap. All times are
 * nanoseconds of the device's clock (host time on cpu, simulated time on sim).
 *
 * Thread rule: every function may be called from any thread. Ownership: the caller owns the
 * results of `_open/_create` and releases them by `_close/_destroy`, which accept NULL.
 */
#ifndef WARPAGE_DEVICE_H
#define WARPAGE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wp_device wp_device;
typedef struct wp_queue wp_queue;
typedef struct wp_event wp_event;
typedef struct wp_module wp_module;
typedef struct wp_kernel wp_kernel;

/** Kinds of memory, in CUDA's terms. */
typedef enum wp_memory_kind {
    WP_MEMORY_DEVICE = 0, /* cudaMalloc */
    WP_MEMORY_MANAGED,    /* cudaMallocManaged; may exceed device memory */
    WP_MEMORY_PINNED,     /* cudaMallocHost / cudaHostAlloc: host memory that kernels can read */
    WP_MEMORY_REGISTERED, /* memory of the caller, cudaHostRegister */
    WP_MEMORY_VARIABLE,   /* a __device__, __constant__ or __managed__ variable */
    WP_MEMORY_ARRAY,      /* a CUDA array in a layout private to the device: for copies only */
    WP_MEMORY_COUNT
} wp_memory_kind;

/** Properties of a device. Unknown numbers are 0. */
typedef struct wp_device_info {
    char spec[64]; /* "cpu" */
    char name[128];
    uint32_t sm_count; /* cpu: worker threads */
    uint32_t compute_major, compute_minor;
    uint32_t threads_per_block_max, threads_per_sm_max, blocks_per_sm_max;
    uint32_t registers_per_sm, registers_per_block;
    uint32_t register_granule; /* registers are allocated to warps in multiples of it; 0: unknown */
    uint32_t schedulers;       /* per SM; they divide its registers equally; 0: unknown */
    uint32_t shared_granule_bytes;  /* allocation unit of shared memory of a block; 0: unknown */
    uint32_t shared_reserved_bytes; /* of a block, by the system */
    uint64_t shared_bytes_per_block, shared_bytes_per_block_optin, shared_bytes_per_sm;
    uint64_t memory_bytes; /* total that cudaMalloc can allocate */
    uint64_t constant_bytes, l2_bytes;
    uint64_t clock_hz, memory_clock_hz;
    uint32_t memory_bus_bits;
    bool host_pointers_are_device_pointers; /* cpu, sim */
    bool has_page_faults;                   /* managed memory may be larger than device memory */
    char pci_id[16];                        /* "0000:65:00.0"; "" if not on a PCI bus */
    uint32_t driver_version;                /* CUDA version: 12040 is 12.4 */
    uint32_t link_width, link_width_max;    /* PCI Express lanes: current, maximum */
    uint32_t link_generation, link_generation_max;
    uint32_t sm_groups;          /* GPCs: all blocks of a cluster are in one; 0: unknown */
    uint32_t cluster_blocks_max; /* blocks of a thread-block cluster; 0: it has none */
    /** L1 of an SM for a launch that prefers it (wp_launch), and the shared memory that an SM has
     * then; 0: launches have no choice. */
    uint64_t l1_preferred_bytes, l1_preferred_shared_bytes;
} wp_device_info;

/** An allocation, which wp_memory_find looks up by any address inside it. */
typedef struct wp_allocation {
    void *base;
    size_t size_bytes;
    wp_memory_kind kind;
    uint32_t flags; /* flags of the runtime API, stored on its behalf */
} wp_allocation;

typedef struct wp_dim3 {
    uint32_t x, y, z;
} wp_dim3;

typedef struct wp_kernel_info {
    const char *name;
    uint32_t param_count;
    uint32_t shared_static_bytes, local_bytes, constant_bytes, register_count;
    uint32_t threads_per_block_max;
    uint32_t cluster_dim[3]; /* __cluster_dims__: blocks of a cluster; 0: none */
    uint64_t address_params; /* bit i: parameter i has the size of an address; of the first 64 */
} wp_kernel_info;

typedef struct wp_launch {
    wp_kernel *kernel;
    wp_dim3 grid, block;
    uint32_t shared_dynamic_bytes;
    void **args; /* a pointer to each parameter; wp_queue_launch copies them */
    bool is_cooperative;
    wp_dim3 cluster; /* blocks of a cluster, which are resident together; 0: as the kernel says */
    /** A hint, for devices whose wp_device_info has an l1_preferred_bytes: global loads look up L1,
     * and L1 gets the larger share of what it divides with shared memory. */
    bool prefers_l1;
} wp_launch;

/** Opens the device named by `spec`; see `warpage devices`. */
WP_NODISCARD WP_API wp_status wp_device_open(const char *spec, wp_device **out, wp_error *err);
/** Opens the devices of a list, "cpu,cpu": all of one kind; their queues can wait for each other's
 * events. A list of one is wp_device_open. `out` has room for WP_DEVICES_MAX; on failure none is
 * open. Close them in reverse order. NOT_FOUND, UNSUPPORTED: devices that cannot be together. */
#define WP_DEVICES_MAX 16u
WP_NODISCARD WP_API wp_status wp_devices_open(const char *specs, wp_device **out, uint32_t *count,
                                              wp_error *err);
WP_API void wp_device_close(wp_device *device);
/** Calls `visit` with the spec of each simulated GPU that Warpage includes ("sim:k80"), ordered by
 * name. */
WP_API void wp_device_visit_simulated(void (*visit)(void *object, const char *spec), void *object);

/** A key of a simulated GPU with its effective value. Strings are valid during the visit. */
typedef struct wp_device_key {
    const char *name;     /* "tlb.l2.entries" */
    const char *unit;     /* "bytes", "time", … */
    const char *value;    /* as written: "65", "9cycles" */
    const char *fallback; /* its default */
    bool needs_future;    /* the value is a policy that looks ahead (WARPAGE_FUTURE) */
    const char *source;   /* a paper's table, "default", "--set"; "": unknown */
    const char *doc;
} wp_device_key;
/** Calls `visit` for each key of the simulated GPU `spec` ("sim:k80"), after applying
 * WARPAGE_SET. NOT_FOUND, PARSE, INVALID as wp_device_open; UNSUPPORTED if `spec` is not a
 * simulated GPU. */
WP_API WP_NODISCARD wp_status wp_device_visit_keys(const char *spec,
                                                   void (*visit)(void *object,
                                                                 const wp_device_key *key),
                                                   void *object, wp_error *err);
/** A policy of simulated GPUs. Strings are static. */
typedef struct wp_policy_info {
    const char *kind, *name; /* "scheduler", "gto" */
    const char *key;         /* the GPU's key that selects it: "sm.scheduler" */
    const char *keys;        /* keys that are its parameters, or "" */
    const char *doc, *source;
} wp_policy_info;
/** Loads a policy file, which `wpcc --policy` made: its policies can then be selected by name.
 * Loads each file once. NOT_FOUND, IO, NOMEM; INVALID: not a policy file, built for another
 * Warpage, or a policy that cannot be used. */
WP_API WP_NODISCARD wp_status wp_policy_file_load(const char *path, wp_error *err);
/** Calls `visit` for each policy of simulated GPUs, by kind. */
WP_API void wp_device_visit_policies(void (*visit)(void *object, const wp_policy_info *policy),
                                     void *object);
WP_API const wp_device_info *wp_device_get_info(const wp_device *device);

/** Memory. Allocating 0 bytes succeeds and returns NULL. wp_memory_free waits for all queued work;
 *  it fails with INVALID if `base` is not the base of an allocation of this device. */
WP_NODISCARD WP_API wp_status wp_memory_alloc(wp_device *device, wp_memory_kind kind,
                                              size_t size_bytes, uint32_t flags, void **out,
                                              wp_error *err);
WP_NODISCARD WP_API wp_status wp_memory_free(wp_device *device, void *base, wp_error *err);
WP_NODISCARD WP_API wp_status wp_memory_register(wp_device *device, void *base, size_t size_bytes,
                                                 uint32_t flags, wp_error *err);
WP_NODISCARD WP_API wp_status wp_memory_unregister(wp_device *device, void *base, wp_error *err);
/** Returns true and fills `out` if `address` is inside an allocation (the end is outside). */
WP_API bool wp_memory_find(wp_device *device, const void *address, wp_allocation *out);
/** Returns the free and the total bytes of device memory. */
WP_API void wp_memory_info(wp_device *device, uint64_t *free_bytes, uint64_t *total_bytes);

/** Queues. The first queue of a device is its default queue. `is_blocking`: the queue follows
 *  CUDA's legacy default-stream ordering (it and the default queue wait for each other's earlier
 *  work). */
WP_API wp_queue *wp_device_default_queue(wp_device *device);
WP_NODISCARD WP_API wp_status wp_queue_create(wp_device *device, bool is_blocking, wp_queue **out,
                                              wp_error *err);
WP_API void wp_queue_destroy(wp_queue *queue); /* queued work still completes */
WP_NODISCARD WP_API wp_status wp_queue_wait(wp_queue *queue, wp_error *err); /* until it is empty */
WP_API bool wp_queue_is_idle(wp_queue *queue);
WP_NODISCARD WP_API wp_status wp_device_wait(wp_device *device, wp_error *err); /* all queues */

/** Commands. These functions return when the command is queued. `dst` and `src` of a copy may be
 *  any memory, host or device, and must not overlap. Rows of 2D copies are `width_bytes` long and
 *  `pitch_bytes` apart. */
WP_NODISCARD WP_API wp_status wp_queue_copy(wp_queue *queue, void *dst, const void *src,
                                            size_t size_bytes, wp_error *err);
WP_NODISCARD WP_API wp_status wp_queue_copy_2d(wp_queue *queue, void *dst, size_t dst_pitch_bytes,
                                               const void *src, size_t src_pitch_bytes,
                                               size_t width_bytes, size_t height, wp_error *err);
/** Fills memory with `count` copies of a value of 1, 2 or 4 bytes. */
WP_NODISCARD WP_API wp_status wp_queue_fill(wp_queue *queue, void *dst, uint32_t value,
                                            uint32_t value_bytes, size_t count, wp_error *err);
/** Migrates pages of managed memory to the device or to the host. No effect on devices whose pages
 *  do not migrate. */
WP_NODISCARD WP_API wp_status wp_queue_prefetch(wp_queue *queue, const void *address,
                                                size_t size_bytes, bool to_device, wp_error *err);
WP_NODISCARD WP_API wp_status wp_queue_launch(wp_queue *queue, const wp_launch *launch,
                                              wp_error *err);
WP_NODISCARD WP_API wp_status wp_queue_host_call(wp_queue *queue, void (*call)(void *), void *arg,
                                                 wp_error *err);

/** Events. An event that was never recorded is complete. */
WP_NODISCARD WP_API wp_status wp_event_create(wp_device *device, wp_event **out, wp_error *err);
WP_API void wp_event_destroy(wp_event *event); /* queued uses still complete */
WP_NODISCARD WP_API wp_status wp_event_record(wp_event *event, wp_queue *queue, wp_error *err);
WP_NODISCARD WP_API wp_status wp_event_wait(wp_event *event, wp_error *err); /* on the host */
WP_NODISCARD WP_API wp_status wp_queue_wait_event(wp_queue *queue, wp_event *event, wp_error *err);
WP_API bool wp_event_is_complete(const wp_event *event);
/** Returns the device time of the last completed record; 0 if there is none. */
WP_API uint64_t wp_event_time_ns(const wp_event *event);

/** Code. `image` is the image that wpcc embedded, in static storage. Kernels and variables are
 * looked up by their mangled names. */
WP_NODISCARD WP_API wp_status wp_module_load(wp_device *device, const void *image, wp_module **out,
                                             wp_error *err);
WP_API void wp_module_unload(wp_module *module);
/** Finds the image that contains a `__global__` function of this program, given by its host
 * address, and the kernel's name in it; both are in static storage. NOT_FOUND if the function is
 * not a kernel or was not compiled by a compatible wpcc. */
WP_NODISCARD WP_API wp_status wp_image_find(const void *function, const void **image,
                                            const char **name, wp_error *err);
WP_NODISCARD WP_API wp_status wp_module_find_kernel(wp_module *module, const char *name,
                                                    wp_kernel **out,
                                                    wp_error *err); /* owned by the module */
WP_NODISCARD WP_API wp_status wp_module_find_variable(wp_module *module, const char *name,
                                                      void **address, size_t *size_bytes,
                                                      wp_error *err);
WP_API const wp_kernel_info *wp_kernel_get_info(const wp_kernel *kernel);
/** Returns how many blocks of `block_threads` threads can be resident on one SM. */
WP_API uint32_t wp_kernel_occupancy_blocks(const wp_kernel *kernel, uint32_t block_threads,
                                           uint32_t shared_dynamic_bytes);

/** Returns the first error of any kernel or copy on this device, which is sticky as in CUDA; OK if
 *  there was none. The wait functions return it too. */
WP_API wp_status wp_device_sticky_error(wp_device *device, wp_error *err);
/** Frees all memory, clears the sticky error and restores the initial values of variables in loaded
 *  modules, as cudaDeviceReset. */
WP_NODISCARD WP_API wp_status wp_device_reset(wp_device *device, wp_error *err);

#ifdef __cplusplus
}
#endif
#endif
