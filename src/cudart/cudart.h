/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Internals of the CUDA runtime. Every public function has the same shape:
 *
 *     cudaError_t cudaSomething(…)
 *     {
 *         wp_device *device;
 *         WPI_TRY(wpi_enter(&device));               opens the device, answers sticky errors
 *         if (bad) return wpi_note(cudaErrorInvalidValue);
 *         wp_error err = {0};
 *         return wpi_result(wp_device_wait(device, &err), &err);
 *     }
 *
 * `wpi_note` and `wpi_result` record the error that they return as the calling thread's last one
 * ("noted" below). All functions here may be called from any thread.
 */
#ifndef WP_CUDART_CUDART_H
#define WP_CUDART_CUDART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/abi.h"
#include "base/fail.h"
#include "cache/cache_code.h"
#include "device/device.h"
#include "warpage/cuda/cuda_runtime_api.h"
#include "warpage/device.h"

#define WPI_TRY(expression)                                                                        \
    do {                                                                                           \
        const cudaError_t wpi_try_error = (expression);                                            \
        if (wpi_try_error != cudaSuccess) return wpi_try_error;                                    \
    } while (0)

/* ---- error.c ---- */

/** Notes `error` as the thread's last one (success notes nothing) and returns it. */
cudaError_t wpi_note(cudaError_t error);
/** The CUDA code of a Warpage status. */
cudaError_t wpi_error_of(wp_status status);
/** Translates, prints a message if the user needs one, notes, returns. */
cudaError_t wpi_result(wp_status status, const wp_error *err);
/** Prints `err`'s sentence, unless it was printed lately, and notes and returns `error`. */
cudaError_t wpi_explain(cudaError_t error, const wp_error *err);
/** The device's sticky error. Not noted. */
cudaError_t wpi_error_sticky(wp_device *device);
/** Prints `err`'s sentence with the error's name, unless it was printed lately. */
void wpi_print_once(cudaError_t error, const wp_error *err);
/** Sets the calling thread's last error and returns the one before: calls of the driver API leave
 * it as it is. */
cudaError_t wpi_error_swap(cudaError_t error);
/** Forgets which sentences were printed: after cudaDeviceReset the same fault is printed again. */
void wpi_error_reset(void);

/* ---- rt_context.c ---- */

/** The calling thread's current device; all devices of the process are opened at the first call.
 *  Then the device's sticky error, if any. The result has been noted. Calls from inside host
 *  callbacks are refused (NotPermitted). */
cudaError_t wpi_enter(wp_device **device);
/** As wpi_enter, but also after a sticky error and from callbacks: for queries and teardown. */
cudaError_t wpi_enter_any(wp_device **device);
/** Whether this thread has called the runtime API: it then has a current context (driver API). */
bool wpi_thread_uses_runtime(void);
/** Between true and false this thread's calls come from the driver API. */
void wpi_set_driver_call(bool is_driver_call);
/** The current device if the devices are open, else NULL. */
wp_device *wpi_device_if_open(void);
/** How many are open: 0 before the first call that needs one. */
uint32_t wpi_device_count(void);
wp_device *wpi_device_at(uint32_t number);
/** The number of the thread's current device. */
uint32_t wpi_device_current(void);
void wpi_device_set_current(uint32_t number);
/** As wpi_enter_any, but the device of that number. InvalidDevice, noted. */
cudaError_t wpi_enter_device(int number, wp_device **device);
/** Finds the allocation and the device that contain an address; `device` may be NULL. */
bool wpi_allocation_find(const void *address, wp_allocation *out, wp_device **device);
/** Waits for all devices. Noted. */
cudaError_t wpi_wait_all(void);
/** The list of devices that are or will be opened. */
const char *wpi_device_spec(void);
/** Flags of cudaSetDeviceFlags. */
unsigned wpi_context_flags(void);
void wpi_context_set_flags(unsigned flags);
/** Counts resets of a device: objects that a thread kept from an earlier epoch are gone. */
uint64_t wpi_context_epoch(const wp_device *device);
/** Forgets everything on a device but itself: streams, events, arrays, opt-ins. */
void wpi_context_forget(wp_device *device);
/** Whether work was still running at exit: then nothing that it may use can be freed. */
bool wpi_context_work_was_dropped(void);

/* ---- handle.c ---- */

typedef enum wpi_handle_kind {
    WPI_HANDLE_STREAM = 0,
    WPI_HANDLE_EVENT,
    WPI_HANDLE_ARRAY,
    WPI_HANDLE_CONTEXT, /* of the driver API */
    WPI_HANDLE_MODULE,
    WPI_HANDLE_LINK,
    WPI_HANDLE_PHYSICAL, /* memory of cuMemCreate */
    WPI_HANDLE_GRAPH,
    WPI_HANDLE_GRAPH_EXEC,
    WPI_HANDLE_POOL, /* of memory */
    WPI_HANDLE_COUNT /* must be last */
} wpi_handle_kind;

/** The set of live handles of a kind, so that a stale or foreign one is an error, not a crash. */
bool wpi_handle_add(wpi_handle_kind kind, void *handle); /* false: out of memory */
bool wpi_handle_is_live(wpi_handle_kind kind, const void *handle);
bool wpi_handle_remove(wpi_handle_kind kind, const void *handle); /* false: was not live */
/** Removes and returns any one that is wanted; NULL when none is left. `is_wanted` is called under
 * the set's lock. */
void *wpi_handle_take(wpi_handle_kind kind, bool (*is_wanted)(void *handle, const void *arg),
                      const void *arg);
/** Calls `visit` for each, under the set's lock; stops when it returns false, and returns that. */
bool wpi_handle_all(wpi_handle_kind kind, bool (*visit)(void *handle, void *arg), void *arg);

/* ---- register.c ---- */

/** A __global__ function. The opt-ins are the program's (cudaFuncSet…). */
typedef struct wpi_function {
    const char *name;
    const void *image;
    wp_module *module;
    wp_kernel *kernel;
    const wp_kernel_info *info;
    uint32_t shared_dynamic_bytes_max; /* of a launch, at most */
    int shared_carveout_pct;           /* -1: no preference */
    bool allows_large_clusters;        /* of more than WPI_CLUSTER_PORTABLE blocks */
    int cache_config;                  /* enum cudaFuncCache */
    wpi_cache_code *cached;            /* its form that caches; NULL: wpcc --cache was not given */
} wpi_function;

/** The kernel behind the host function `function`; loads its image on first use. Explained and
 *  noted. The result lives until its program or library is unloaded. */
cudaError_t wpi_function_find(wp_device *device, const void *function, wpi_function **out);
/** Where the parameters of a function are in a buffer; false: no such parameter. */
bool wpi_function_param(const wpi_function *f, size_t i, size_t *offset, size_t *size);
/** Adds an image that no object registered, and loads it. `handle` is one of
 * __cudaRegisterFatBinary, for __cudaRegisterFunction and __cudaUnregisterFatBinary. The image
 * lives until then. Not noted; `detail` has the reason of a failure. */
cudaError_t wpi_image_open(wp_device *device, const wp_image_header *image, void ***handle,
                           wp_error *detail);
wp_module *wpi_image_module(void **handle);
/** The number of the launch's blocks that fit an SM at once. */
uint32_t wpi_function_occupancy(const wpi_function *f, uint32_t block_threads,
                                uint32_t shared_dynamic_bytes);
/** Resets the opt-ins of all functions on a device (cudaDeviceReset). */
void wpi_functions_forget(wp_device *device);

/** A variable that host code names. */
typedef struct wpi_variable {
    const char *name;
    const void *host; /* the address that host code uses */
    void *address;    /* on the device */
    size_t size_bytes;
    wp_variable_kind kind;
    int texture_dim;               /* textures: cudaTextureType… */
    bool texture_reads_normalized; /* … cudaReadModeNormalizedFloat */
} wpi_variable;

/** The variable with the host address `symbol`; loads its image on first use. The error is
 *  explained but not noted: which code is right depends on the call. */
cudaError_t wpi_variable_find(wp_device *device, const void *symbol, wpi_variable *out);
/** True when `address` lies in a __managed__ variable; how many bytes of it follow. Also before the
 *  image is loaded: host code uses such a variable from the start. */
bool wpi_variable_managed_at(const void *address, size_t *left_bytes);
/** __managed__ variables have their initial values again (cudaDeviceReset). */
void wpi_variables_reset(wp_device *device);

/* ---- rt_streaming.c ---- */

/** InvalidValue, explained and noted, for a pointer from streamingMalloc, which has no memory. */
cudaError_t wpi_refuse_reserved(const void *address);
/** Before the device's memory is freed: no streamed launch is under way. Files that kernels were
 * writing will not appear. */
void wpi_streaming_forget(void);
/** The same at exit, where reservations end, too. */
void wpi_streaming_end(void);

/** A launch with mapped data: `mask` says which parameters. Explained and noted. */
cudaError_t wpi_launch_streamed(wp_device *device, const wpi_function *f, wp_queue *queue,
                                const wp_launch *launch, uint64_t mask);

/* ---- stream.c ---- */

struct CUstream_st {
    wp_queue *queue;
    unsigned flags;
    int priority;
    uint64_t id;
    struct cudaAccessPolicyWindow window; /* hints, kept for questions */
    enum cudaSynchronizationPolicy sync_policy;
};

/** The queue of a stream: the default one for NULL and cudaStreamLegacy, the calling thread's own
 * for cudaStreamPerThread. InvalidResourceHandle otherwise. Noted. */
cudaError_t wpi_stream_queue(wp_device *device, cudaStream_t stream, wp_queue **out);
/** The stream itself behind a handle: the thread's own for its names, NULL for the legacy one. */
cudaStream_t wpi_stream_key(cudaStream_t stream);
/** Waits for a queue and returns its error or that of an earlier kernel. Noted. */
cudaError_t wpi_queue_sync(wp_queue *queue);
/** True when nothing is queued or running anywhere. */
bool wpi_streams_are_idle(void);
void wpi_streams_forget(const wp_device *device);
/** Whether stream 0 is, for calls of this thread, the thread's own (per_thread.c). */
void wpi_default_stream_set_per_thread(bool is_per_thread);
/** True while this thread runs a host function of a stream. */
bool wpi_in_callback(void);

/* ---- event.c, array.c, rt_texture.c, rt_managed.c ---- */

/* A device is reset: its objects are gone. */
void wpi_events_forget(const wp_device *device);
void wpi_arrays_forget(const wp_device *device);
void wpi_textures_forget(wp_device *device);
/** Binds a reference that has no host variable: `key` names it, `variable` is the device's. `modes`
 * NULL: a surface. Noted. */
cudaError_t wpi_reference_bind(wp_device *device, const void *key, void *variable,
                               const struct cudaResourceDesc *resource,
                               const struct cudaTextureDesc *modes);
/** Unbinds it. */
void wpi_reference_forget(wp_device *device, const void *key, void *variable, bool is_surface);
/** Forgets advice for [base, base + size_bytes): the memory was freed. */
void wpi_advice_forget(const void *base, size_t size_bytes);
void wpi_advice_forget_all(const wp_device *device);

/* ---- rt_pool.c ---- */

/** The memory was freed, or all of it; its pool, if it had one, counts it no longer. */
void wpi_pool_forget(const void *base);
void wpi_pool_forget_all(const wp_device *device);
/** The pool of an allocation; NULL: it is of none. */
cudaMemPool_t wpi_pool_of(const void *base);

/** Flags of an allocation that cuMemMap made: only cuMemUnmap frees it. */
#define WPI_ALLOCATION_MAPPED 0x80000000u

/* ---- copy.c ---- */

typedef enum wpi_memory_class {
    WPI_MEMORY_PAGEABLE = 0, /* the program's own */
    WPI_MEMORY_HOST,         /* page-locked or registered */
    WPI_MEMORY_MANAGED,
    WPI_MEMORY_DEVICE
} wpi_memory_class;

/** The class of [pointer, pointer + size_bytes); false if it begins in an allocation and leaves
 * it. */
bool wpi_memory_classify(const void *pointer, size_t size_bytes, wpi_memory_class *out);
/** The device in whose memory the address is; NULL: host or managed memory. */
wp_device *wpi_memory_owner(const void *pointer);
/** True when [pointer, pointer + size_bytes) lies in one allocation that kernels can use. */
bool wpi_is_device_range(const void *pointer, size_t size_bytes);

/** An upright box of bytes in memory, one side of a copy. */
typedef struct wpi_box {
    char *first; /* of the part to copy */
    size_t pitch_bytes;
    size_t slice_bytes; /* from one 2D slice to the next */
} wpi_box;

typedef struct wpi_extent {
    size_t width_bytes, height, depth;
} wpi_extent;

static inline wpi_extent wpi_row_of(size_t width_bytes) {
    return (wpi_extent){width_bytes, 1, 1};
}

static inline wpi_extent wpi_rows_of(size_t width_bytes, size_t height) {
    return (wpi_extent){width_bytes, height, 1};
}

/** One side of a copy of rows. The cast: a source is never written. */
static inline wpi_box wpi_rows_at(const void *first, size_t pitch_bytes) {
    return (wpi_box){.first = (char *)(uintptr_t)first, .pitch_bytes = pitch_bytes};
}

static inline wpi_box wpi_row_at(const void *first) {
    return wpi_rows_at(first, 0);
}

/** Bytes from the first byte of a box to the end of its last; false on overflow. */
bool wpi_box_span(const wpi_box *box, const wpi_extent *extent, size_t *out);

/** Both are numbers of devices. Noted. */
cudaError_t wpi_check_peers(int dst_device, int src_device);

/** Copies a box; checks both sides against `kind`. With `is_async` it returns as early as CUDA
 * does: for pageable memory, when the program may change it. Noted. */
cudaError_t wpi_copy(cudaStream_t stream, wpi_box dst, wpi_box src, wpi_extent extent,
                     enum cudaMemcpyKind kind, bool is_async);

/** The sides and the size of a 3D copy (copy_array.c); boxes without memory where the size is 0.
 * Noted. */
cudaError_t wpi_copy_boxes(const struct cudaMemcpy3DParms *p, wpi_box *dst, wpi_box *src,
                           wpi_extent *extent);

/* ---- fill.c ---- */

/** Fills a box with a value of 1, 2 or 4 bytes, to whose multiples it is aligned. Noted. */
cudaError_t wpi_fill(cudaStream_t stream, wpi_box box, uint32_t value, uint32_t value_bytes,
                     wpi_extent extent, bool is_async);

/* ---- array.c ---- */

/** Memory with a format; on every device rows follow each other without gaps. */
struct cudaArray {
    wp_device *device;
    char *base;
    struct cudaChannelFormatDesc format;
    struct cudaExtent extent; /* elements; 0 for missing dimensions */
    unsigned flags;
    size_t element_bytes;
};

/** Bytes of an element of a format; 0 when there is no such format. */
size_t wpi_channel_bytes(const struct cudaChannelFormatDesc *format);
/** Extent of an array with at least 1 in each dimension; width in bytes. */
wpi_extent wpi_array_extent(cudaArray_const_t array);

/* ---- clusters (launch.c) */
#define WPI_CLUSTER_PORTABLE 8u /* blocks of a cluster that every GPU with clusters allows */
/** Whether the function may be launched with clusters of these blocks (0: its own). */
cudaError_t wpi_check_cluster(const wp_device_info *info, const wpi_function *f, dim3 grid,
                              dim3 given);

#endif
