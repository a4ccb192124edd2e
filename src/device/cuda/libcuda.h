/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The part of NVIDIA's driver API that this room uses: types, constants, and a table of functions
 * found in libcuda.so.1 at run time. Building needs nothing of NVIDIA's.
 *
 * A function whose interface changed has a suffix in its symbol (cuMemAlloc_v2). The table has the
 * symbol, or two, "new|old", if old drivers have another one of the same form. `since` is the CUDA
 * version that introduced it, 1000 * major + 10 * minor.
 */
#ifndef WP_DEVICE_CUDA_DRIVER_H
#define WP_DEVICE_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

typedef int wpi_cu_result;
typedef int wpi_cu_device; /* number of a device */
typedef struct wpi_cu_context_st *wpi_cu_context;
typedef struct wpi_cu_stream_st *wpi_cu_stream; /* NULL: the default stream */
typedef struct wpi_cu_event_st *wpi_cu_event;
typedef struct wpi_cu_module_st *wpi_cu_module;
typedef struct wpi_cu_function_st *wpi_cu_function;
typedef struct wpi_cu_array_st *wpi_cu_array;
typedef uint64_t wpi_cu_ptr;    /* an address on the device */
typedef uint64_t wpi_cu_object; /* texture or surface object */

/* Results that the code tests; all others: cuda_error.c. */
enum {
    WPI_CU_SUCCESS = 0,
    WPI_CU_INVALID_VALUE = 1,
    WPI_CU_OUT_OF_MEMORY = 2,
    WPI_CU_DEINITIALIZED = 4,
    WPI_CU_NO_DEVICE = 100,
    WPI_CU_INVALID_DEVICE = 101,
    WPI_CU_INVALID_IMAGE = 200,
    WPI_CU_NO_BINARY_FOR_GPU = 209,
    WPI_CU_INVALID_PTX = 218,
    WPI_CU_JIT_COMPILER_NOT_FOUND = 221,
    WPI_CU_UNSUPPORTED_PTX_VERSION = 222,
    WPI_CU_JIT_COMPILATION_DISABLED = 223,
    WPI_CU_INVALID_SOURCE = 300,
    WPI_CU_NOT_FOUND = 500,
    WPI_CU_NOT_READY = 600,
    WPI_CU_HOST_MEMORY_ALREADY_REGISTERED = 712
};

/* Attributes of a device. CUDA's runtime has the same numbers for its cudaDevAttr… */
enum {
    WPI_CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    WPI_CU_ATTRIBUTE_SHARED_PER_BLOCK = 8,
    WPI_CU_ATTRIBUTE_CONSTANT_BYTES = 9,
    WPI_CU_ATTRIBUTE_REGISTERS_PER_BLOCK = 12,
    WPI_CU_ATTRIBUTE_CLOCK_KHZ = 13,
    WPI_CU_ATTRIBUTE_SM_COUNT = 16,
    WPI_CU_ATTRIBUTE_MEMORY_CLOCK_KHZ = 36,
    WPI_CU_ATTRIBUTE_MEMORY_BUS_BITS = 37,
    WPI_CU_ATTRIBUTE_L2_BYTES = 38,
    WPI_CU_ATTRIBUTE_THREADS_PER_SM = 39,
    WPI_CU_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    WPI_CU_ATTRIBUTE_TEXTURE_1D_LINEAR_WIDTH = 69,
    WPI_CU_ATTRIBUTE_COMPUTE_MAJOR = 75,
    WPI_CU_ATTRIBUTE_COMPUTE_MINOR = 76,
    WPI_CU_ATTRIBUTE_SHARED_PER_SM = 81,
    WPI_CU_ATTRIBUTE_REGISTERS_PER_SM = 82,
    WPI_CU_ATTRIBUTE_MANAGED_MEMORY = 83,
    WPI_CU_ATTRIBUTE_PAGEABLE_ACCESS = 88,
    WPI_CU_ATTRIBUTE_HOST_POINTERS_OF_REGISTERED = 91,
    WPI_CU_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN = 97,
    WPI_CU_ATTRIBUTE_BLOCKS_PER_SM = 106,
    WPI_CU_ATTRIBUTE_SHARED_RESERVED = 111 /* of a block */
};

enum { WPI_CU_STREAM_NON_BLOCKING = 1 };
enum { WPI_CU_EVENT_BLOCKING_SYNC = 1, WPI_CU_EVENT_NO_TIMING = 2 };
enum { WPI_CU_HOST_PORTABLE = 1, WPI_CU_HOST_DEVICE_MAP = 2 }; /* alloc's and register's */
enum {
    WPI_CU_LIMIT_STACK = 0,
    WPI_CU_LIMIT_PRINTF_FIFO = 1,
    WPI_CU_LIMIT_HEAP = 2,
    WPI_CU_LIMIT_SYNC_DEPTH = 3,
    WPI_CU_LIMIT_PENDING_LAUNCHES = 4
};
enum {
    WPI_CU_JIT_INFO_LOG = 3,
    WPI_CU_JIT_INFO_LOG_BYTES = 4,
    WPI_CU_JIT_ERROR_LOG = 5,
    WPI_CU_JIT_ERROR_LOG_BYTES = 6
};
enum {
    WPI_CU_FUNCTION_MAX_THREADS = 0,
    WPI_CU_FUNCTION_SHARED_BYTES = 1,
    WPI_CU_FUNCTION_CONSTANT_BYTES = 2,
    WPI_CU_FUNCTION_LOCAL_BYTES = 3,
    WPI_CU_FUNCTION_REGISTERS = 4,
    WPI_CU_FUNCTION_SHARED_DYNAMIC_MAX = 8,
    WPI_CU_FUNCTION_CARVEOUT = 9, /* percent of the most shared memory; -1: none is preferred */
    WPI_CU_FUNCTION_CLUSTER_WIDTH = 11, /* height, depth: the next two */
    WPI_CU_FUNCTION_LARGE_CLUSTERS = 14
};
enum { WPI_CU_MEMORY_HOST = 1, WPI_CU_MEMORY_DEVICE = 2, WPI_CU_MEMORY_ARRAY = 3 };

/** Side of a copy of rows; the fields that its memory type does not name are 0. */
typedef struct wpi_cu_copy_2d {
    size_t src_x_bytes, src_y;
    int src_type;
    const void *src_host;
    wpi_cu_ptr src_device;
    wpi_cu_array src_array;
    size_t src_pitch_bytes;
    size_t dst_x_bytes, dst_y;
    int dst_type;
    void *dst_host;
    wpi_cu_ptr dst_device;
    wpi_cu_array dst_array;
    size_t dst_pitch_bytes;
    size_t width_bytes, height;
} wpi_cu_copy_2d;

typedef struct wpi_cu_copy_3d {
    size_t src_x_bytes, src_y, src_z, src_lod;
    int src_type;
    const void *src_host;
    wpi_cu_ptr src_device;
    wpi_cu_array src_array;
    void *reserved_0;
    size_t src_pitch_bytes, src_height;
    size_t dst_x_bytes, dst_y, dst_z, dst_lod;
    int dst_type;
    void *dst_host;
    wpi_cu_ptr dst_device;
    wpi_cu_array dst_array;
    void *reserved_1;
    size_t dst_pitch_bytes, dst_height;
    size_t width_bytes, height, depth;
} wpi_cu_copy_3d;

enum { /* formats of a component */
       WPI_CU_FORMAT_U8 = 0x01,
       WPI_CU_FORMAT_U16 = 0x02,
       WPI_CU_FORMAT_U32 = 0x03,
       WPI_CU_FORMAT_S8 = 0x08,
       WPI_CU_FORMAT_S16 = 0x09,
       WPI_CU_FORMAT_S32 = 0x0a,
       WPI_CU_FORMAT_HALF = 0x10,
       WPI_CU_FORMAT_FLOAT = 0x20
};

typedef struct wpi_cu_array_desc {
    size_t width, height, depth; /* elements */
    int format;
    unsigned channel_count;
    unsigned flags; /* the runtime's cudaArray… */
} wpi_cu_array_desc;

enum { WPI_CU_RESOURCE_ARRAY = 0, WPI_CU_RESOURCE_LINEAR = 2, WPI_CU_RESOURCE_PITCH_2D = 3 };

typedef struct wpi_cu_resource {
    int kind;
    union {
        struct {
            wpi_cu_array array;
        } array;
        struct {
            wpi_cu_ptr data;
            int format;
            unsigned channel_count;
            size_t size_bytes;
        } linear;
        struct {
            wpi_cu_ptr data;
            int format;
            unsigned channel_count;
            size_t width, height, pitch_bytes;
        } pitch_2d;
        int reserved[32];
    } u;
    unsigned flags;
} wpi_cu_resource;

enum { WPI_CU_TEXTURE_AS_INTEGER = 1, WPI_CU_TEXTURE_NORMALIZED = 2 };

typedef struct wpi_cu_texture {
    int address[3]; /* as wpi_tex_address */
    int filter;     /* 0: nearest, 1: linear */
    unsigned flags;
    unsigned anisotropy_max;
    int mipmap_filter;
    float mipmap_bias, mipmap_min, mipmap_max;
    float border[4];
    int reserved[12];
} wpi_cu_texture;

enum { /* attributes of a range of managed memory */
       WPI_CU_RANGE_READ_MOSTLY = 1,
       WPI_CU_RANGE_PREFERRED_LOCATION = 2,
       WPI_CU_RANGE_ACCESSED_BY = 3,
       WPI_CU_RANGE_LAST_PREFETCH_LOCATION = 4,
       WPI_CU_RANGE_PREFERRED_LOCATION_TYPE = 5,
       WPI_CU_RANGE_PREFERRED_LOCATION_ID = 6,
       WPI_CU_RANGE_LAST_PREFETCH_LOCATION_TYPE = 7,
       WPI_CU_RANGE_LAST_PREFETCH_LOCATION_ID = 8
};
enum { WPI_CU_LOCATION_DEVICE = 1 };

/** CUlaunchConfig, with an attribute that says the blocks of a cluster. */
typedef struct wpi_cu_launch_attribute {
    int id;
    int pad;
    unsigned value[16]; /* 64 bytes */
} wpi_cu_launch_attribute;
#define WPI_CU_LAUNCH_COOPERATIVE 2
#define WPI_CU_LAUNCH_CLUSTER 4
typedef struct wpi_cu_launch_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    wpi_cu_stream stream;
    wpi_cu_launch_attribute *attributes;
    unsigned attribute_count;
} wpi_cu_launch_config;

/* X(need, since, function, symbol, parameters). NEEDED: without it the driver is too old. OPTIONAL:
 * NULL if the driver lacks it; callers then use another way, or report what is missing.
 */
#define WPI_DRIVER_MAP(X)                                                                          \
    X(NEEDED, 2000, init, "cuInit", (unsigned flags))                                              \
    X(NEEDED, 2020, driver_version, "cuDriverGetVersion", (int *version))                          \
    X(NEEDED, 6000, error_name, "cuGetErrorName", (wpi_cu_result, const char **name))              \
    X(NEEDED, 2000, device_count, "cuDeviceGetCount", (int *count))                                \
    X(NEEDED, 2000, device_get, "cuDeviceGet", (wpi_cu_device * device, int number))               \
    X(NEEDED, 2000, device_name, "cuDeviceGetName", (char *name, int bytes, wpi_cu_device))        \
    X(NEEDED, 2000, device_attribute, "cuDeviceGetAttribute",                                      \
      (int *value, int attribute, wpi_cu_device))                                                  \
    X(NEEDED, 3020, device_memory, "cuDeviceTotalMem_v2", (size_t *bytes, wpi_cu_device))          \
    X(NEEDED, 4010, device_pci, "cuDeviceGetPCIBusId", (char *id, int bytes, wpi_cu_device))       \
    X(NEEDED, 7000, context_retain, "cuDevicePrimaryCtxRetain", (wpi_cu_context *, wpi_cu_device)) \
    X(NEEDED, 7000, context_release, "cuDevicePrimaryCtxRelease_v2|cuDevicePrimaryCtxRelease",     \
      (wpi_cu_device))                                                                             \
    X(NEEDED, 7000, context_reset, "cuDevicePrimaryCtxReset_v2|cuDevicePrimaryCtxReset",           \
      (wpi_cu_device))                                                                             \
    X(NEEDED, 4000, context_set, "cuCtxSetCurrent", (wpi_cu_context))                              \
    X(OPTIONAL, 4000, peer_can, "cuDeviceCanAccessPeer",                                           \
      (int *can, wpi_cu_device, wpi_cu_device peer))                                               \
    X(OPTIONAL, 4000, peer_enable, "cuCtxEnablePeerAccess", (wpi_cu_context, unsigned flags))      \
    X(OPTIONAL, 4000, peer_disable, "cuCtxDisablePeerAccess", (wpi_cu_context))                    \
    X(NEEDED, 2000, context_wait, "cuCtxSynchronize", (void))                                      \
    X(NEEDED, 3010, limit_set, "cuCtxSetLimit", (int limit, size_t value))                         \
    X(NEEDED, 3010, limit_get, "cuCtxGetLimit", (size_t *value, int limit))                        \
    X(NEEDED, 3020, memory_alloc, "cuMemAlloc_v2", (wpi_cu_ptr *, size_t bytes))                   \
    X(NEEDED, 3020, memory_free, "cuMemFree_v2", (wpi_cu_ptr))                                     \
    X(NEEDED, 3020, memory_info, "cuMemGetInfo_v2", (size_t *free_bytes, size_t *total_bytes))     \
    X(OPTIONAL, 6000, managed_alloc, "cuMemAllocManaged",                                          \
      (wpi_cu_ptr *, size_t bytes, unsigned flags))                                                \
    X(NEEDED, 8000, prefetch, "cuMemPrefetchAsync",                                                \
      (wpi_cu_ptr, size_t bytes, wpi_cu_device to, wpi_cu_stream))                                 \
    X(NEEDED, 8000, advise, "cuMemAdvise",                                                         \
      (wpi_cu_ptr, size_t bytes, int advice, wpi_cu_device location))                              \
    X(NEEDED, 8000, range_attribute, "cuMemRangeGetAttribute",                                     \
      (void *data, size_t data_bytes, int attribute, wpi_cu_ptr, size_t bytes))                    \
    X(NEEDED, 6000, attach, "cuStreamAttachMemAsync",                                              \
      (wpi_cu_stream, wpi_cu_ptr, size_t bytes, unsigned flags))                                   \
    X(NEEDED, 2020, host_alloc, "cuMemHostAlloc", (void **out, size_t bytes, unsigned flags))      \
    X(NEEDED, 2000, host_free, "cuMemFreeHost", (void *base))                                      \
    X(NEEDED, 6050, host_register, "cuMemHostRegister_v2",                                         \
      (void *base, size_t bytes, unsigned flags))                                                  \
    X(NEEDED, 4000, host_unregister, "cuMemHostUnregister", (void *base))                          \
    X(NEEDED, 3020, host_pointer, "cuMemHostGetDevicePointer_v2",                                  \
      (wpi_cu_ptr *, void *host, unsigned flags))                                                  \
    X(NEEDED, 4000, copy, "cuMemcpyAsync",                                                         \
      (wpi_cu_ptr dst, wpi_cu_ptr src, size_t bytes, wpi_cu_stream))                               \
    X(NEEDED, 3020, copy_2d, "cuMemcpy2DAsync_v2", (const wpi_cu_copy_2d *, wpi_cu_stream))        \
    X(NEEDED, 3020, copy_3d, "cuMemcpy3DAsync_v2", (const wpi_cu_copy_3d *, wpi_cu_stream))        \
    X(NEEDED, 3020, copy_in, "cuMemcpyHtoD_v2", (wpi_cu_ptr dst, const void *src, size_t bytes))   \
    X(NEEDED, 3020, fill_1, "cuMemsetD8Async",                                                     \
      (wpi_cu_ptr, unsigned char value, size_t count, wpi_cu_stream))                              \
    X(NEEDED, 3020, fill_2, "cuMemsetD16Async",                                                    \
      (wpi_cu_ptr, unsigned short value, size_t count, wpi_cu_stream))                             \
    X(NEEDED, 3020, fill_4, "cuMemsetD32Async",                                                    \
      (wpi_cu_ptr, unsigned value, size_t count, wpi_cu_stream))                                   \
    X(NEEDED, 5050, stream_create, "cuStreamCreateWithPriority",                                   \
      (wpi_cu_stream *, unsigned flags, int priority))                                             \
    X(NEEDED, 4000, stream_destroy, "cuStreamDestroy_v2", (wpi_cu_stream))                         \
    X(NEEDED, 2000, stream_wait, "cuStreamSynchronize", (wpi_cu_stream))                           \
    X(NEEDED, 2000, stream_query, "cuStreamQuery", (wpi_cu_stream))                                \
    X(NEEDED, 3020, stream_wait_event, "cuStreamWaitEvent",                                        \
      (wpi_cu_stream, wpi_cu_event, unsigned flags))                                               \
    X(OPTIONAL, 11070, wait_word_4, "cuStreamWaitValue32_v2",                                      \
      (wpi_cu_stream, wpi_cu_ptr, uint32_t value, unsigned flags))                                 \
    X(OPTIONAL, 11070, wait_word_8, "cuStreamWaitValue64_v2",                                      \
      (wpi_cu_stream, wpi_cu_ptr, uint64_t value, unsigned flags))                                 \
    X(OPTIONAL, 11070, write_word_4, "cuStreamWriteValue32_v2",                                    \
      (wpi_cu_stream, wpi_cu_ptr, uint32_t value, unsigned flags))                                 \
    X(OPTIONAL, 11070, write_word_8, "cuStreamWriteValue64_v2",                                    \
      (wpi_cu_stream, wpi_cu_ptr, uint64_t value, unsigned flags))                                 \
    X(NEEDED, 10000, host_call, "cuLaunchHostFunc",                                                \
      (wpi_cu_stream, void (*call)(void *), void *arg))                                            \
    X(NEEDED, 2000, event_create, "cuEventCreate", (wpi_cu_event *, unsigned flags))               \
    X(NEEDED, 4000, event_destroy, "cuEventDestroy_v2", (wpi_cu_event))                            \
    X(NEEDED, 2000, event_record, "cuEventRecord", (wpi_cu_event, wpi_cu_stream))                  \
    X(NEEDED, 2000, event_wait, "cuEventSynchronize", (wpi_cu_event))                              \
    X(NEEDED, 2000, event_query, "cuEventQuery", (wpi_cu_event))                                   \
    X(NEEDED, 2000, event_elapsed, "cuEventElapsedTime",                                           \
      (float *ms, wpi_cu_event first, wpi_cu_event second))                                        \
    X(NEEDED, 2010, module_load, "cuModuleLoadDataEx",                                             \
      (wpi_cu_module *, const void *image, unsigned option_count, int *options, void **values))    \
    X(NEEDED, 2000, module_unload, "cuModuleUnload", (wpi_cu_module))                              \
    X(NEEDED, 2000, module_function, "cuModuleGetFunction",                                        \
      (wpi_cu_function *, wpi_cu_module, const char *name))                                        \
    X(NEEDED, 3020, module_global, "cuModuleGetGlobal_v2",                                         \
      (wpi_cu_ptr *, size_t *bytes, wpi_cu_module, const char *name))                              \
    X(NEEDED, 2020, function_attribute, "cuFuncGetAttribute",                                      \
      (int *value, int attribute, wpi_cu_function))                                                \
    X(NEEDED, 9000, function_set_attribute, "cuFuncSetAttribute",                                  \
      (wpi_cu_function, int attribute, int value))                                                 \
    X(NEEDED, 4000, launch, "cuLaunchKernel",                                                      \
      (wpi_cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, wpi_cu_stream, void **args,      \
       void **extra))                                                                              \
    X(OPTIONAL, 9000, launch_cooperative, "cuLaunchCooperativeKernel",                             \
      (wpi_cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,       \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, wpi_cu_stream, void **args))     \
    X(OPTIONAL, 11080, launch_ex, "cuLaunchKernelEx",                                              \
      (const wpi_cu_launch_config *, wpi_cu_function, void **args, void **extra))                  \
    X(OPTIONAL, 6050, occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                    \
      (int *blocks, wpi_cu_function, int block_threads, size_t shared_dynamic_bytes))              \
    X(NEEDED, 3020, array_create, "cuArray3DCreate_v2",                                            \
      (wpi_cu_array *, const wpi_cu_array_desc *))                                                 \
    X(NEEDED, 2000, array_destroy, "cuArrayDestroy", (wpi_cu_array))                               \
    X(NEEDED, 5000, texture_create, "cuTexObjectCreate",                                           \
      (wpi_cu_object *, const wpi_cu_resource *, const wpi_cu_texture *, const void *view))        \
    X(NEEDED, 5000, texture_destroy, "cuTexObjectDestroy", (wpi_cu_object))                        \
    X(NEEDED, 5000, surface_create, "cuSurfObjectCreate",                                          \
      (wpi_cu_object *, const wpi_cu_resource *))                                                  \
    X(NEEDED, 5000, surface_destroy, "cuSurfObjectDestroy", (wpi_cu_object))

typedef struct wpi_driver {
#define WPI_DRIVER_FIELD(need, since, field, symbol, parameters) wpi_cu_result(*field) parameters;
    WPI_DRIVER_MAP(WPI_DRIVER_FIELD)
#undef WPI_DRIVER_FIELD
    int version; /* as cuDriverGetVersion returns it: 12040 is 12.4 */
} wpi_driver;

/** The oldest supported driver: that of CUDA 10.0, whose PTX version programs contain. */
#define WPI_DRIVER_VERSION_MIN 10000

/** Loads the library, finds its functions and initialises it, once; retries after a failure. Any
 *  thread. NOT_FOUND: no driver, or no GPU; UNSUPPORTED: too old; DEVICE: it does not work. */
WP_NODISCARD wp_status wpi_driver_load(const wpi_driver **out, wp_error *err);

/** The status for a result; its name (static; "CUDA_ERROR_…"); its meaning, with a remedy if there
 *  is one. */
wp_status wpi_cu_status(wpi_cu_result result);
const char *wpi_cu_name(wpi_cu_result result);
const char *wpi_cu_text(wpi_cu_result result);
/** Whether every call fails after such a result, until the context is reset. */
bool wpi_cu_is_sticky(wpi_cu_result result);

#endif
