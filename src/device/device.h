/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface that devices implement: small tables of operations, one per noun.
 *
 *     kind ──opens──► device ──► queue, event, module ──► kernel
 *
 * A device embeds the base structures below as its first member and fills in the tables. device.c
 * implements include/warpage/device.h over them: it checks arguments, so an operation may rely on
 * non-NULL pointers and on handles of its own device. Operations that a table marks optional may be
 * NULL; the default is stated there. All operations may be called from any thread.
 *
 * Below the tables: calls that the CUDA runtime needs and that are too special for the public
 * header.
 */
#ifndef WP_DEVICE_DEVICE_H
#define WP_DEVICE_DEVICE_H

#include "base/abi.h"
#include "base/device_query.h"
#include "device/memory_map.h"
#include "device/texture.h"
#include "warpage/device.h"
#include "warpage/host.h"

typedef struct wpi_device_ops wpi_device_ops;

struct wp_device {
    const wpi_device_ops *ops;
    wp_device_info info;
    const void *group; /* devices with the same one can wait for each other's events */
    uint32_t number;   /* in its group, from 0 */
    bool is_one_of_several;
};

struct wp_queue {
    wp_device *device;
};

struct wp_event {
    wp_device *device;
};

struct wp_module {
    wp_device *device;
};

struct wp_kernel {
    wp_device *device;
    wp_kernel_info info;
    uint8_t shared_carveout; /* wpi_kernel_set_carveout; 0: none is preferred, else 1 + percent */
};

/** Numbers that cudaDeviceSetLimit changes. */
typedef enum wpi_limit {
    WPI_LIMIT_STACK = 0,        /* bytes of stack a thread */
    WPI_LIMIT_HEAP,             /* bytes that malloc in kernels can allocate */
    WPI_LIMIT_PRINTF_FIFO,      /* bytes of kernel output buffered until the host waits */
    WPI_LIMIT_SYNC_DEPTH,       /* levels of grids that may wait for those that they launched */
    WPI_LIMIT_PENDING_LAUNCHES, /* launches by kernels that have not begun */
    WPI_LIMIT_COUNT             /* must be last */
} wpi_limit;

/** Hints for an event, numbered as CUDA's. */
typedef enum wpi_event_flag {
    WPI_EVENT_BLOCKING_SYNC = 1, /* a host thread that waits for it sleeps */
    WPI_EVENT_NO_TIMING = 2      /* its time is not needed: it may be unknown, 0 */
} wpi_event_flag;

/** A program's advice on a range of managed memory; all false initially. */
typedef struct wpi_advice {
    bool is_read_mostly;
    bool prefers_host, prefers_device; /* preferred location, if any */
    bool is_accessed_by_device;
} wpi_advice;

/** How a word of memory is compared with a value; numbered as CUDA's. */
typedef enum wpi_word_test {
    WPI_WORD_REACHES = 0, /* word - value >= 0, as signed numbers that wrap around */
    WPI_WORD_EQUALS,
    WPI_WORD_HAS_BITS,  /* word & value != 0 */
    WPI_WORD_HAS_ZEROS, /* ~(word | value) != 0 */
    WPI_WORD_TEST_COUNT /* must be last */
} wpi_word_test;

/** A word of device or mapped memory, aligned; `bytes`: 4 or 8. */
typedef struct wpi_word {
    void *address;
    uint64_t value;
    uint32_t bytes;
    wpi_word_test test; /* of a wait */
} wpi_word;

typedef struct wpi_queue_ops {
    /** `priority`: as cudaStreamCreateWithPriority's, lower numbers first; a hint. */
    wp_status (*create)(wp_device *device, bool is_blocking, int priority, wp_queue **out,
                        wp_error *err);
    void (*destroy)(wp_queue *queue); /* work already queued still completes */
    wp_status (*wait)(wp_queue *queue, wp_error *err);
    bool (*is_idle)(wp_queue *queue);
    /** A plain copy has height 1. Width and height are not 0. */
    wp_status (*copy)(wp_queue *queue, void *dst, size_t dst_pitch_bytes, const void *src,
                      size_t src_pitch_bytes, size_t width_bytes, size_t height, wp_error *err);
    wp_status (*fill)(wp_queue *queue, void *dst, uint32_t value, uint32_t value_bytes,
                      size_t count, wp_error *err);
    wp_status (*launch)(wp_queue *queue, const wp_launch *launch, wp_error *err);
    wp_status (*host_call)(wp_queue *queue, void (*call)(void *), void *arg, wp_error *err);
    wp_status (*wait_event)(wp_queue *queue, wp_event *event, wp_error *err);
    /** Optional, both; default: UNSUPPORTED. What is queued later starts when the word passes the
     *  test; a word is stored, with all that was queued before. */
    wp_status (*wait_word)(wp_queue *queue, const wpi_word *word, wp_error *err);
    wp_status (*write_word)(wp_queue *queue, const wpi_word *word, wp_error *err);
    /** Optional; default: nothing. A range of managed memory, not empty. */
    wp_status (*prefetch)(wp_queue *queue, const void *address, size_t size_bytes, bool to_device,
                          wp_error *err);
    /** Optional; default: nothing. A managed allocation or variable; `flags` of CUDA's
     *  cudaStreamAttachMemAsync. */
    wp_status (*attach)(wp_queue *queue, void *address, size_t size_bytes, uint32_t flags,
                        wp_error *err);
} wpi_queue_ops;

typedef struct wpi_event_ops {
    /** `flags`: wpi_event_flag. */
    wp_status (*create)(wp_device *device, uint32_t flags, wp_event **out, wp_error *err);
    void (*destroy)(wp_event *event);
    wp_status (*record)(wp_event *event, wp_queue *queue, wp_error *err);
    wp_status (*wait)(wp_event *event, wp_error *err);
    bool (*is_complete)(const wp_event *event);
    uint64_t (*time_ns)(const wp_event *event);
    /** Optional; defaults to the difference of the times. Both are complete and were recorded. */
    int64_t (*elapsed_ns)(const wp_event *first, const wp_event *second);
} wpi_event_ops;

/** An actor on the host (warpage/host.h). */
struct wp_actor {
    wp_device *device;
    const char *name;
    wp_actor_step step;
    void *object;
};

/** The host's side of a device with a clock of its own. */
typedef struct wpi_host_ops {
    /** The pattern of `work` is valid. */
    wp_status (*work)(wp_device *device, const wp_host_work *work, wp_error *err);
    wp_status (*queue_work)(wp_queue *queue, const wp_host_work *work, wp_error *err);
    /** Takes the four fields of `actor`. */
    wp_status (*start)(const wp_actor *actor, wp_actor **out, wp_error *err);
    void (*watch)(wp_actor *actor, const volatile uint32_t *word, uint32_t value);
    wp_status (*wait)(wp_actor *actor, wp_error *err);
    void (*destroy)(wp_actor *actor);
    uint64_t (*now_ns)(wp_device *device); /* in a step */
    /** A host thread is about to call the device. */
    void (*arrive)(wp_device *device);
} wpi_host_ops;

/** Actors as threads that yield while they wait; work takes real time. */
extern const wpi_host_ops wpi_host_threads;
/** In a step of an actor: the time on the device's clock, for measurements of its stages. */
uint64_t wpi_actor_now_ns(const wp_actor *actor);

/** A kernel's parameter in a buffer of all parameters. */
typedef struct wpi_param_place {
    uint32_t offset_bytes, size_bytes;
} wpi_param_place;

typedef struct wpi_module_ops {
    wp_status (*load)(wp_device *device, const void *image, wp_module **out, wp_error *err);
    void (*unload)(wp_module *module);
    wp_status (*find_kernel)(wp_module *module, const char *name, wp_kernel **out, wp_error *err);
    /** Optional: the name of kernel `i`; NULL: there are no more. */
    const char *(*kernel_name)(const wp_module *module, uint32_t i);
    wp_status (*find_variable)(wp_module *module, const char *name, void **address,
                               size_t *size_bytes, wp_error *err);
    /** Optional; defaults to wpi_occupancy_blocks over the device's and the kernel's numbers. */
    uint32_t (*occupancy_blocks)(const wp_kernel *kernel, uint32_t block_threads,
                                 uint32_t shared_dynamic_bytes);
    /** Optional; defaults to refusing anything above shared_bytes_per_block. Static shared bytes
     *  plus `bytes` are within shared_bytes_per_block_optin. */
    wp_status (*set_shared_max)(wp_kernel *kernel, uint32_t bytes, wp_error *err);
    /** Optional: -1 is no preference. */
    wp_status (*set_carveout)(wp_kernel *kernel, int pct, wp_error *err);
    /** Where parameter `i` of a kernel is in a buffer of all, as PTX lays them out. `i` is below
     * the number of parameters. */
    wpi_param_place (*param_place)(const wp_kernel *kernel, uint32_t i);
    /** Optional: gives the module's variables their initial values. No work is in progress. */
    void (*restore)(wp_module *module);
} wpi_module_ops;

struct wpi_device_ops {
    const char *kind; /* "cpu": the part of the spec before ':' */
    const wpi_queue_ops *queue;
    const wpi_event_ops *event;
    const wpi_module_ops *module;
    const wpi_host_ops *host; /* optional: wpi_host_threads */

    void (*close)(wp_device *device); /* waits for all work */
    wp_queue *(*default_queue)(wp_device *device);
    wp_status (*wait)(wp_device *device, wp_error *err);
    wp_status (*reset)(wp_device *device, wp_error *err);
    wp_status (*sticky_error)(wp_device *device, wp_error *err);

    /** `size_bytes` is not 0. The operation enters the allocation in wpi_memory_map_global. */
    wp_status (*memory_alloc)(wp_device *device, wp_memory_kind kind, size_t size_bytes,
                              uint32_t flags, void **out, wp_error *err);
    /** `allocation` is an entry of this device, made by memory_alloc; no work is in progress.
     *  Removes the entry. */
    wp_status (*memory_free)(wp_device *device, const wp_allocation *allocation, wp_error *err);
    /** Optional; both default to adding the range to the map, or removing it. */
    wp_status (*memory_register)(wp_device *device, const wp_allocation *allocation, wp_error *err);
    wp_status (*memory_unregister)(wp_device *device, const wp_allocation *allocation,
                                   wp_error *err);
    void (*memory_info)(wp_device *device, uint64_t *free_bytes, uint64_t *total_bytes);
    /** Optional, both (default: UNSUPPORTED): a range of addresses of device memory without memory
     * behind it, in whole units of 2 MiB; it is in no map. The caller maps pages there. */
    wp_status (*range_reserve)(wp_device *device, size_t size_bytes, void **out, wp_error *err);
    void (*range_release)(wp_device *device, void *base, size_t size_bytes);
    /** Optional: sets the advice for a range of managed memory, in whole pages. */
    void (*memory_advise)(wp_device *device, const void *address, size_t size_bytes,
                          const wpi_advice *advice);
    /** Optional: the same as the program passed it: a cudaMemoryAdvise, and 0 or cudaCpuDeviceId.
     *  INVALID, NOT_FOUND: no such device. Defaults to nothing. */
    wp_status (*managed_advise)(wp_device *device, const void *address, size_t size_bytes,
                                int advice, int location, wp_error *err);
    /** Optional: a cudaMemRangeAttribute of a range, checked but for the size of the answer.
     *  Default: UNSUPPORTED; the CUDA runtime then answers from the advice it has passed. */
    wp_status (*managed_attribute)(wp_device *device, const void *address, size_t size_bytes,
                                   int attribute, void *data, size_t data_bytes, wp_error *err);

    /** Optional, both; default: UNSUPPORTED. */
    wp_status (*set_limit)(wp_device *device, wpi_limit limit, uint64_t value, wp_error *err);
    wp_status (*get_limit)(wp_device *device, wpi_limit limit, uint64_t *value, wp_error *err);
    /** Optional; default: there is no output of kernels. */
    void (*flush_output)(wp_device *device);
    /** Optional: whether copies to device memory from memory outside of allocations return before
     *  they are done, when that memory may be changed. Defaults to false. */
    bool (*stages_pageable)(wp_device *device);
    /** Optional: whether nothing is queued or running, including destroyed queues. Defaults to
     * true. */
    bool (*is_idle)(wp_device *device);
    /** Optional; default: UNSUPPORTED, and the caller answers from `info`. `attribute` is a
     *  cudaDeviceAttr. */
    wp_status (*attribute)(wp_device *device, int attribute, int *value, wp_error *err);
    /** Optional: `call` has returned device properties to the program: a set of WPI_INFO_SET. */
    void (*note_query)(wp_device *device, const char *call, uint32_t fields);
    /** Optional, both: whether kernels of `device` could use memory of `peer`, another device of
     * its group (default: yes), and whether they may (default: they always may). */
    bool (*can_access_peer)(const wp_device *device, const wp_device *peer);
    wp_status (*set_peer_access)(wp_device *device, wp_device *peer, bool is_on, wp_error *err);
    /** Optional: … or an occupancy. */
    void (*note_occupancy)(wp_device *device, const wp_kernel *kernel, uint32_t block_threads,
                           uint32_t shared_dynamic_bytes, uint32_t blocks);
    /** Optional; default: device memory with rows without gaps. The returned addresses represent
     *  the elements in that order, in copies and in texture descriptions; memory_free takes them.
     *  Kind WP_MEMORY_ARRAY in the map if kernels cannot use them as addresses. */
    wp_status (*array_create)(wp_device *device, const wpi_array *array, void **out, wp_error *err);
    /** Optional, all three; default: kernels take the handles of wpi_texture_create, and a
     *  reference's variable is written directly. */
    wp_status (*texture_create)(wp_device *device, const wpi_texture *description, bool is_surface,
                                uint64_t *handle, wp_error *err);
    void (*texture_destroy)(wp_device *device, uint64_t handle, bool is_surface);
    wp_status (*texture_bind)(wp_device *device, void *variable, uint64_t handle, wp_error *err);
};

/** A kind of device, opened by "kind" or "kind:rest". */
typedef struct wpi_device_kind {
    const char *name;
    const char *summary; /* one line for `warpage devices` */
    const char *example; /* an example of a rest */
    wp_status (*open)(const char *rest, wp_device **out, wp_error *err); /* rest: "" if none */
    /** Optional: opens a device of several: a further one in the group of `beside`, which is of
     * this kind, or the first one (NULL). Default: there can be only one. */
    wp_status (*open_beside)(const char *rest, wp_device *beside, wp_device **out, wp_error *err);
    /** Optional: the program has a managed variable, in separate pages, and will open a device of
     *  this kind. Called before main; address and value of the variable must not change. */
    void (*place_variable)(void *address, size_t size_bytes);
} wpi_device_kind;

/** Passes a managed variable to the kind of the device `spec`, which will be opened. */
void wpi_device_place_variable(const char *spec, void *address, size_t size_bytes);

/** Passes advice to the device, if it has the operation. */
void wpi_memory_advise(wp_device *device, const void *address, size_t size_bytes,
                       const wpi_advice *advice);

/** Passes advice, attributes and attachments to the device, if it has the operations. */
WP_NODISCARD wp_status wpi_managed_advise(wp_device *device, const void *address, size_t size_bytes,
                                          int advice, int location, wp_error *err);
WP_NODISCARD wp_status wpi_managed_attribute(wp_device *device, const void *address,
                                             size_t size_bytes, int attribute, void *data,
                                             size_t data_bytes, wp_error *err);
WP_NODISCARD wp_status wpi_queue_attach(wp_queue *queue, void *address, size_t size_bytes,
                                        uint32_t flags, wp_error *err);

extern const wpi_device_kind wpi_device_kind_cpu;
extern const wpi_device_kind wpi_device_kind_sim;
extern const wpi_device_kind wpi_device_kind_cuda;

/** All kinds, NULL at the end. */
const wpi_device_kind *const *wpi_device_kinds(void);

/** The map of all allocations of all devices of this process. */
wpi_memory_map *wpi_memory_map_global(void);

/** The parameter device-memory: the limit of cudaMalloc; 0: all memory. */
WP_NODISCARD wp_status wpi_device_memory_limit(uint64_t *limit_bytes, wp_error *err);

/** Limits a thread's registers to those that a compiler for this device would use; the rest is in
 * local memory. */
uint32_t wpi_registers_at_most(const wp_device_info *device, uint32_t registers);
/** Threads of a block that an SM has registers for; all threads of a block if register_granule is
 * unknown. */
uint32_t wpi_occupancy_threads(const wp_device_info *device, uint32_t registers_per_thread);
/** Blocks that fit one SM by threads, registers, shared memory and block slots; 0: none fits. */
uint32_t wpi_occupancy_blocks(const wp_device_info *device, const wp_kernel_info *kernel,
                              uint32_t block_threads, uint32_t shared_dynamic_bytes);

/* ---- calls for the CUDA runtime -------------------------------------------------------------- */

WP_NODISCARD wp_status wpi_device_set_limit(wp_device *device, wpi_limit limit, uint64_t value,
                                            wp_error *err);
WP_NODISCARD wp_status wpi_device_get_limit(wp_device *device, wpi_limit limit, uint64_t *value,
                                            wp_error *err);
/** Sets the maximum of dynamic shared memory of `kernel` (cudaFuncSetAttribute); initially static
 *  and dynamic together are limited to 48 KiB. */
WP_NODISCARD wp_status wpi_kernel_set_shared_max(wp_kernel *kernel, uint32_t dynamic_bytes,
                                                 wp_error *err);
/** Prefers a share of an SM's memory, in percent of the most that there is, as shared memory, and
 * the rest as L1, for launches from now on; -1: the device chooses (cudaFuncSetAttribute). */
WP_NODISCARD wp_status wpi_kernel_set_carveout(wp_kernel *kernel, int pct, wp_error *err);
wpi_param_place wpi_kernel_param_place(const wp_kernel *kernel, uint32_t i);
/** Gives the variables of a module their initial values, if it is used again after unloading. No
 * work may be in progress. */
void wpi_module_restore(wp_module *module);
/** A range of device addresses without memory: see wpi_device_ops. UNSUPPORTED. */
WP_NODISCARD wp_status wpi_device_range_reserve(wp_device *device, size_t size_bytes, void **out,
                                                wp_error *err);
void wpi_device_range_release(wp_device *device, void *base, size_t size_bytes);
/** wp_queue_create and wp_event_create with the CUDA runtime's further arguments. */
WP_NODISCARD wp_status wpi_queue_create(wp_device *device, bool is_blocking, int priority,
                                        wp_queue **out, wp_error *err);
WP_NODISCARD wp_status wpi_event_create(wp_device *device, uint32_t flags, wp_event **out,
                                        wp_error *err);
/** Whether the device stages copies from pageable memory (wpi_device_ops). */
bool wpi_device_stages_pageable(wp_device *device);
/** Writes what kernels printed so far to stdout. Waits do this too; the runtime calls it at exit.
 */
void wpi_device_flush_output(wp_device *device);
/** False: work is known to be in progress, also in destroyed queues. */
bool wpi_device_is_idle(wp_device *device);
/** Nanoseconds between two complete records. */
WP_NODISCARD wp_status wpi_queue_wait_word(wp_queue *queue, const wpi_word *word, wp_error *err);
WP_NODISCARD wp_status wpi_queue_write_word(wp_queue *queue, const wpi_word *word, wp_error *err);
int64_t wpi_event_elapsed_ns(const wp_event *first, const wp_event *second);
/** UNSUPPORTED: the device leaves the answer to the caller. */
WP_NODISCARD wp_status wpi_device_attribute(wp_device *device, int attribute, int *value,
                                            wp_error *err);
/** The program has queried properties of the device (base/device_query.h), which recordings
 * store. */
void wpi_device_note_query(wp_device *device, const char *call, uint32_t fields);
void wpi_device_note_occupancy(const wp_kernel *kernel, uint32_t block_threads,
                               uint32_t shared_dynamic_bytes, uint32_t blocks);
/** Two devices of one group. */
bool wpi_device_can_access_peer(const wp_device *device, const wp_device *peer);
WP_NODISCARD wp_status wpi_device_set_peer_access(wp_device *device, wp_device *peer, bool is_on,
                                                  wp_error *err);
WP_NODISCARD wp_status wpi_device_array_create(wp_device *device, const wpi_array *array,
                                               void **out, wp_error *err);
WP_NODISCARD wp_status wpi_device_texture_create(wp_device *device, const wpi_texture *description,
                                                 bool is_surface, uint64_t *handle, wp_error *err);
void wpi_device_texture_destroy(wp_device *device, uint64_t handle, bool is_surface);
/** Writes a handle into the variable of a texture or surface reference. No work may be in progress.
 */
WP_NODISCARD wp_status wpi_device_texture_bind(wp_device *device, void *variable, uint64_t handle,
                                               wp_error *err);
/** Finds a variable in the code registered for an image, before any device is open; NULL: none. The
 * address of a managed one is its cell (base/abi.h). */
const wp_cpu_variable *wpi_code_find_variable(uint64_t image_id, const char *name);

/** The blocks of the launch's clusters: 1, 1, 1 without. LAUNCH: the device has no such clusters,
 * or the grid is not made of whole ones. */
WP_NODISCARD wp_status wpi_launch_cluster(const wp_launch *launch, wp_dim3 *out, wp_error *err);

#endif
