/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and contexts. There is one address space: a context is a name that a thread has current,
 * for a device. Memory, streams and modules belong to the device and not to a context, so
 * destroying one frees none of them. A device's primary context is the runtime API's: a thread that
 * called the runtime has that of its device current unless it set another one.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/driver/driver.h"

#define DEPTH_MAX 16 /* contexts that a thread has pushed */
#define API_VERSION 3020

struct CUctx_st {
    uint64_t id;
    unsigned flags;
    uint32_t device;  /* its number */
    atomic_uint uses; /* of cuCtxCreate and cuCtxAttach */
};

static atomic_bool is_initialised;
static struct CUctx_st primary[WP_DEVICES_MAX]; /* of each device; id and device: make_primary */
static atomic_uint primary_uses[WP_DEVICES_MAX], primary_flags[WP_DEVICES_MAX];
static atomic_uint_fast64_t next_id = WP_DEVICES_MAX + 1;
static pthread_once_t primary_once = PTHREAD_ONCE_INIT;

static _Thread_local CUcontext pushed[DEPTH_MAX];
static _Thread_local unsigned depth;

/* ---- results ---- */

CUresult wpi_driver_result(cudaError_t error) {
    switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
    case cudaErrorInvalidTexture:
    case cudaErrorInvalidSurface: return CUDA_ERROR_INVALID_HANDLE;
    default: return (CUresult)error; /* the others have equal numbers */
    }
}

cudaError_t wpi_driver_begin(void) {
    wpi_set_driver_call(true);
    return wpi_error_swap(cudaSuccess);
}

CUresult wpi_driver_end(cudaError_t kept, cudaError_t error) {
    wpi_set_driver_call(false);
    (void)wpi_error_swap(kept);
    return wpi_driver_result(error);
}

/* Calls of the runtime initialise the driver, too. */
CUresult wpi_driver_check(bool needs_context) {
    if (!atomic_load(&is_initialised) && wpi_device_count() == 0) return CUDA_ERROR_NOT_INITIALIZED;
    if (needs_context && wpi_context_current() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
    return CUDA_SUCCESS;
}

static CUresult open(void) {
    const cudaError_t kept = wpi_driver_begin();
    int count;
    return wpi_driver_end(kept, cudaGetDeviceCount(&count));
}

WP_API CUresult cuInit(unsigned int Flags) {
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(open());
    atomic_store(&is_initialised, true);
    return CUDA_SUCCESS;
}

WP_API CUresult cuDriverGetVersion(int *driverVersion) {
    if (driverVersion == NULL) return CUDA_ERROR_INVALID_VALUE;
    const cudaError_t kept = wpi_driver_begin();
    return wpi_driver_end(kept, cudaDriverGetVersion(driverVersion));
}

/* The runtime's strings: equal numbers have the same meaning. */
WP_API CUresult cuGetErrorString(CUresult error, const char **pStr) {
    if (pStr == NULL) return CUDA_ERROR_INVALID_VALUE;
    const char *text = cudaGetErrorString((cudaError_t)error);
    const bool is_known = strcmp(text, "unrecognized error code") != 0;
    *pStr = is_known ? text : NULL;
    return is_known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

#define NAME_MAP(X)                                                                                \
    X(SUCCESS_, 0)                                                                                 \
    X(INVALID_VALUE, 1)                                                                            \
    X(OUT_OF_MEMORY, 2)                                                                            \
    X(NOT_INITIALIZED, 3)                                                                          \
    X(DEINITIALIZED, 4)                                                                            \
    X(PROFILER_DISABLED, 5)                                                                        \
    X(PROFILER_NOT_INITIALIZED, 6)                                                                 \
    X(PROFILER_ALREADY_STARTED, 7)                                                                 \
    X(PROFILER_ALREADY_STOPPED, 8)                                                                 \
    X(STUB_LIBRARY, 34)                                                                            \
    X(DEVICE_UNAVAILABLE, 46)                                                                      \
    X(NO_DEVICE, 100)                                                                              \
    X(INVALID_DEVICE, 101)                                                                         \
    X(DEVICE_NOT_LICENSED, 102)                                                                    \
    X(INVALID_IMAGE, 200)                                                                          \
    X(INVALID_CONTEXT, 201)                                                                        \
    X(CONTEXT_ALREADY_CURRENT, 202)                                                                \
    X(MAP_FAILED, 205)                                                                             \
    X(UNMAP_FAILED, 206)                                                                           \
    X(ARRAY_IS_MAPPED, 207)                                                                        \
    X(ALREADY_MAPPED, 208)                                                                         \
    X(NO_BINARY_FOR_GPU, 209)                                                                      \
    X(ALREADY_ACQUIRED, 210)                                                                       \
    X(NOT_MAPPED, 211)                                                                             \
    X(NOT_MAPPED_AS_ARRAY, 212)                                                                    \
    X(NOT_MAPPED_AS_POINTER, 213)                                                                  \
    X(ECC_UNCORRECTABLE, 214)                                                                      \
    X(UNSUPPORTED_LIMIT, 215)                                                                      \
    X(CONTEXT_ALREADY_IN_USE, 216)                                                                 \
    X(PEER_ACCESS_UNSUPPORTED, 217)                                                                \
    X(INVALID_PTX, 218)                                                                            \
    X(INVALID_GRAPHICS_CONTEXT, 219)                                                               \
    X(NVLINK_UNCORRECTABLE, 220)                                                                   \
    X(JIT_COMPILER_NOT_FOUND, 221)                                                                 \
    X(UNSUPPORTED_PTX_VERSION, 222)                                                                \
    X(JIT_COMPILATION_DISABLED, 223)                                                               \
    X(UNSUPPORTED_EXEC_AFFINITY, 224)                                                              \
    X(UNSUPPORTED_DEVSIDE_SYNC, 225)                                                               \
    X(INVALID_SOURCE, 300)                                                                         \
    X(FILE_NOT_FOUND, 301)                                                                         \
    X(SHARED_OBJECT_SYMBOL_NOT_FOUND, 302)                                                         \
    X(SHARED_OBJECT_INIT_FAILED, 303)                                                              \
    X(OPERATING_SYSTEM, 304)                                                                       \
    X(INVALID_HANDLE, 400)                                                                         \
    X(ILLEGAL_STATE, 401)                                                                          \
    X(LOSSY_QUERY, 402)                                                                            \
    X(NOT_FOUND, 500)                                                                              \
    X(NOT_READY, 600)                                                                              \
    X(ILLEGAL_ADDRESS, 700)                                                                        \
    X(LAUNCH_OUT_OF_RESOURCES, 701)                                                                \
    X(LAUNCH_TIMEOUT, 702)                                                                         \
    X(LAUNCH_INCOMPATIBLE_TEXTURING, 703)                                                          \
    X(PEER_ACCESS_ALREADY_ENABLED, 704)                                                            \
    X(PEER_ACCESS_NOT_ENABLED, 705)                                                                \
    X(PRIMARY_CONTEXT_ACTIVE, 708)                                                                 \
    X(CONTEXT_IS_DESTROYED, 709)                                                                   \
    X(ASSERT, 710)                                                                                 \
    X(TOO_MANY_PEERS, 711)                                                                         \
    X(HOST_MEMORY_ALREADY_REGISTERED, 712)                                                         \
    X(HOST_MEMORY_NOT_REGISTERED, 713)                                                             \
    X(HARDWARE_STACK_ERROR, 714)                                                                   \
    X(ILLEGAL_INSTRUCTION, 715)                                                                    \
    X(MISALIGNED_ADDRESS, 716)                                                                     \
    X(INVALID_ADDRESS_SPACE, 717)                                                                  \
    X(INVALID_PC, 718)                                                                             \
    X(LAUNCH_FAILED, 719)                                                                          \
    X(COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                           \
    X(NOT_PERMITTED, 800)                                                                          \
    X(NOT_SUPPORTED, 801)                                                                          \
    X(SYSTEM_NOT_READY, 802)                                                                       \
    X(SYSTEM_DRIVER_MISMATCH, 803)                                                                 \
    X(COMPAT_NOT_SUPPORTED_ON_DEVICE, 804)                                                         \
    X(MPS_CONNECTION_FAILED, 805)                                                                  \
    X(MPS_RPC_FAILURE, 806)                                                                        \
    X(MPS_SERVER_NOT_READY, 807)                                                                   \
    X(MPS_MAX_CLIENTS_REACHED, 808)                                                                \
    X(MPS_MAX_CONNECTIONS_REACHED, 809)                                                            \
    X(MPS_CLIENT_TERMINATED, 810)                                                                  \
    X(CDP_NOT_SUPPORTED, 811)                                                                      \
    X(CDP_VERSION_MISMATCH, 812)                                                                   \
    X(STREAM_CAPTURE_UNSUPPORTED, 900)                                                             \
    X(STREAM_CAPTURE_INVALIDATED, 901)                                                             \
    X(STREAM_CAPTURE_MERGE, 902)                                                                   \
    X(STREAM_CAPTURE_UNMATCHED, 903)                                                               \
    X(STREAM_CAPTURE_UNJOINED, 904)                                                                \
    X(STREAM_CAPTURE_ISOLATION, 905)                                                               \
    X(STREAM_CAPTURE_IMPLICIT, 906)                                                                \
    X(CAPTURED_EVENT, 907)                                                                         \
    X(STREAM_CAPTURE_WRONG_THREAD, 908)                                                            \
    X(TIMEOUT, 909)                                                                                \
    X(GRAPH_EXEC_UPDATE_FAILURE, 910)                                                              \
    X(EXTERNAL_DEVICE, 911)                                                                        \
    X(INVALID_CLUSTER_SIZE, 912)                                                                   \
    X(FUNCTION_NOT_LOADED, 913)                                                                    \
    X(INVALID_RESOURCE_TYPE, 914) X(INVALID_RESOURCE_CONFIGURATION, 915) X(UNKNOWN, 999)

WP_API CUresult cuGetErrorName(CUresult error, const char **pStr) {
    if (pStr == NULL) return CUDA_ERROR_INVALID_VALUE;
    *pStr = NULL;
    switch ((int)error) {
#define NAME_CASE(name, value)                                                                     \
    case value: *pStr = (value) == 0 ? "CUDA_SUCCESS" : "CUDA_ERROR_" #name; break;
        NAME_MAP(NAME_CASE)
#undef NAME_CASE
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* ---- the contexts of a thread ---- */

static void make_primary(void) {
    for (uint32_t d = 0; d < WP_DEVICES_MAX; d++)
        primary[d] = (struct CUctx_st){.id = d + 1, .device = d};
}

static CUcontext primary_of(uint32_t device) {
    (void)pthread_once(&primary_once, make_primary);
    return &primary[device];
}

static bool is_primary(const struct CUctx_st *c) {
    return c >= primary && c < primary + WP_DEVICES_MAX;
}

static bool is_live(CUcontext c) {
    return is_primary(c) || wpi_handle_is_live(WPI_HANDLE_CONTEXT, c);
}

CUcontext wpi_context_current(void) {
    while (depth != 0 && pushed[depth - 1] != NULL && !is_live(pushed[depth - 1]))
        depth--; /* another thread destroyed it */
    if (depth != 0) return pushed[depth - 1];
    return wpi_thread_uses_runtime() ? primary_of(wpi_device_current()) : NULL;
}

CUcontext wpi_context_on(const wp_device *device) {
    CUcontext c = wpi_context_current();
    return c != NULL && c->device == device->number ? c : primary_of(device->number);
}

void wpi_context_follow(uint32_t device) {
    if (depth != 0) pushed[depth - 1] = primary_of(device);
}

/* The runtime's current device is that of the current context. */
static void use_current(void) {
    if (depth != 0 && pushed[depth - 1] != NULL) wpi_device_set_current(pushed[depth - 1]->device);
}

WP_API CUresult cuCtxGetCurrent(CUcontext *pctx) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (pctx == NULL) return CUDA_ERROR_INVALID_VALUE;
    *pctx = wpi_context_current();
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxPushCurrent(CUcontext ctx) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (ctx == NULL || !is_live(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == DEPTH_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    pushed[depth++] = ctx;
    use_current();
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxPopCurrent(CUcontext *pctx) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (pctx != NULL) *pctx = wpi_context_current();
    if (depth != 0) depth--;
    use_current();
    return CUDA_SUCCESS;
}

/* NULL: the thread has no context, also if it called the runtime. */
WP_API CUresult cuCtxSetCurrent(CUcontext ctx) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (ctx != NULL && !is_live(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    if (depth == 0) depth = 1;
    pushed[depth - 1] = ctx;
    use_current();
    return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice dev) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    const bool is_device = dev >= 0 && (uint32_t)dev < wpi_device_count();
    return is_device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

WP_API CUresult cuCtxCreate(CUcontext *pctx, unsigned int flags, CUdevice dev) {
    WPI_DRIVER_TRY(check_device(dev));
    if (pctx == NULL || (flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUcontext made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct CUctx_st){
        .id = atomic_fetch_add(&next_id, 1), .flags = flags, .device = (uint32_t)dev, .uses = 1};
    const bool is_in = wpi_handle_add(WPI_HANDLE_CONTEXT, made);
    const CUresult result = is_in ? cuCtxPushCurrent(made) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS) {
        *pctx = made;
        return CUDA_SUCCESS;
    }
    if (is_in) (void)wpi_handle_remove(WPI_HANDLE_CONTEXT, made);
    wpi_free(made);
    return result;
}

WP_API CUresult cuCtxCreate_v3(CUcontext *pctx, CUexecAffinityParam *paramsArray, int numParams,
                               unsigned int flags, CUdevice dev) {
    if (numParams < 0 || (paramsArray == NULL) != (numParams == 0)) return CUDA_ERROR_INVALID_VALUE;
    if (numParams != 0) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    return cuCtxCreate(pctx, flags, dev);
}

WP_API CUresult cuCtxCreate_v4(CUcontext *pctx, CUctxCreateParams *ctxCreateParams,
                               unsigned int flags, CUdevice dev) {
    if (ctxCreateParams == NULL) return cuCtxCreate(pctx, flags, dev);
    if (ctxCreateParams->cigParams != NULL) return CUDA_ERROR_NOT_SUPPORTED;
    return cuCtxCreate_v3(pctx, ctxCreateParams->execAffinityParams,
                          ctxCreateParams->numExecAffinityParams, flags, dev);
}

/* The context's work ends first. */
WP_API CUresult cuCtxDestroy(CUcontext ctx) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (ctx == NULL || is_primary(ctx) || !wpi_handle_remove(WPI_HANDLE_CONTEXT, ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    const uint32_t device = wpi_device_current();
    wpi_device_set_current(ctx->device);
    const cudaError_t kept = wpi_driver_begin();
    (void)wpi_driver_end(kept, cudaDeviceSynchronize()); /* other calls return its error */
    wpi_device_set_current(device);
    if (depth != 0 && pushed[depth - 1] == ctx) depth--;
    wpi_free(ctx);
    use_current();
    return CUDA_SUCCESS;
}

/* Calls of before CUDA 4, which count a context's uses. */
WP_API CUresult cuCtxAttach(CUcontext *pctx, unsigned int flags) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    CUcontext ctx = wpi_context_current();
    if (pctx == NULL || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (is_primary(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    atomic_fetch_add(&ctx->uses, 1);
    *pctx = ctx;
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxDetach(CUcontext ctx) {
    WPI_DRIVER_TRY(wpi_driver_check(false));
    if (ctx == NULL || is_primary(ctx) || !wpi_handle_is_live(WPI_HANDLE_CONTEXT, ctx))
        return CUDA_ERROR_INVALID_CONTEXT;
    return atomic_fetch_sub(&ctx->uses, 1) == 1 ? cuCtxDestroy(ctx) : CUDA_SUCCESS;
}

/* ---- the primary context ---- */

WP_API CUresult cuDevicePrimaryCtxRetain(CUcontext *pctx, CUdevice dev) {
    WPI_DRIVER_TRY(check_device(dev));
    if (pctx == NULL) return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add(&primary_uses[dev], 1);
    *pctx = primary_of((uint32_t)dev);
    return CUDA_SUCCESS;
}

WP_API CUresult cuDevicePrimaryCtxRelease(CUdevice dev) {
    WPI_DRIVER_TRY(check_device(dev));
    unsigned uses = atomic_load(&primary_uses[dev]);
    do
        if (uses == 0) return CUDA_ERROR_INVALID_CONTEXT;
    while (!atomic_compare_exchange_weak(&primary_uses[dev], &uses, uses - 1));
    return CUDA_SUCCESS;
}

WP_API CUresult cuDevicePrimaryCtxSetFlags(CUdevice dev, unsigned int flags) {
    WPI_DRIVER_TRY(check_device(dev));
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) != 0) return CUDA_ERROR_INVALID_VALUE;
    atomic_store(&primary_flags[dev], flags);
    return CUDA_SUCCESS;
}

WP_API CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned int *flags, int *active) {
    WPI_DRIVER_TRY(check_device(dev));
    if (flags != NULL) *flags = atomic_load(&primary_flags[dev]);
    if (active != NULL)
        *active = atomic_load(&primary_uses[dev]) != 0 || wpi_thread_uses_runtime() ? 1 : 0;
    return CUDA_SUCCESS;
}

WP_API CUresult cuDevicePrimaryCtxReset(CUdevice dev) {
    WPI_DRIVER_TRY(check_device(dev));
    const uint32_t device = wpi_device_current();
    wpi_device_set_current((uint32_t)dev);
    const cudaError_t kept = wpi_driver_begin();
    const CUresult result = wpi_driver_end(kept, cudaDeviceReset());
    wpi_device_set_current(device);
    return result;
}

/* ---- queries and settings ---- */

WP_API CUresult cuCtxGetDevice(CUdevice *device) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (device == NULL) return CUDA_ERROR_INVALID_VALUE;
    *device = (CUdevice)wpi_context_current()->device;
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxGetFlags(unsigned int *flags) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (flags == NULL) return CUDA_ERROR_INVALID_VALUE;
    const struct CUctx_st *c = wpi_context_current();
    *flags = is_primary(c) ? atomic_load(&primary_flags[c->device]) : c->flags;
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxGetId(CUcontext ctx, unsigned long long *ctxId) {
    WPI_DRIVER_TRY(wpi_driver_check(ctx == NULL));
    if (ctxId == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (ctx == NULL) ctx = wpi_context_current();
    if (!is_live(ctx)) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *ctxId = ctx->id;
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxGetApiVersion(CUcontext ctx, unsigned int *version) {
    WPI_DRIVER_TRY(wpi_driver_check(ctx == NULL));
    if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
    if (ctx != NULL && !is_live(ctx)) return CUDA_ERROR_INVALID_CONTEXT;
    *version = API_VERSION;
    return CUDA_SUCCESS;
}

WP_API CUresult cuCtxResetPersistingL2Cache(void) {
    WPI_DRIVER(cudaCtxResetPersistingL2Cache());
}

WP_API CUresult cuCtxSynchronize(void) {
    WPI_DRIVER(cudaDeviceSynchronize());
}

WP_API CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
    WPI_DRIVER(cudaDeviceSetLimit((enum cudaLimit)limit, value));
}

WP_API CUresult cuCtxGetLimit(size_t *pvalue, CUlimit limit) {
    WPI_DRIVER(cudaDeviceGetLimit(pvalue, (enum cudaLimit)limit));
}

WP_API CUresult cuCtxGetCacheConfig(CUfunc_cache *pconfig) {
    WPI_DRIVER(cudaDeviceGetCacheConfig((enum cudaFuncCache *)pconfig));
}

WP_API CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
    WPI_DRIVER(cudaDeviceSetCacheConfig((enum cudaFuncCache)config));
}

WP_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *pConfig) {
    WPI_DRIVER(cudaDeviceGetSharedMemConfig((enum cudaSharedMemConfig *)pConfig));
}

WP_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
    WPI_DRIVER(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)config));
}

WP_API CUresult cuCtxGetStreamPriorityRange(int *leastPriority, int *greatestPriority) {
    WPI_DRIVER(cudaDeviceGetStreamPriorityRange(leastPriority, greatestPriority));
}

/* Access between contexts of one device is refused, as it is in CUDA. */
static CUresult check_peer(CUcontext peer, CUresult own) {
    WPI_DRIVER_TRY(wpi_driver_check(true));
    if (peer == NULL || !is_live(peer)) return CUDA_ERROR_INVALID_CONTEXT;
    return peer->device == wpi_context_current()->device ? own : CUDA_SUCCESS;
}

WP_API CUresult cuCtxEnablePeerAccess(CUcontext peerContext, unsigned int Flags) {
    if (Flags != 0) return CUDA_ERROR_INVALID_VALUE;
    WPI_DRIVER_TRY(check_peer(peerContext, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED));
    WPI_DRIVER(cudaDeviceEnablePeerAccess((int)peerContext->device, 0));
}

WP_API CUresult cuCtxDisablePeerAccess(CUcontext peerContext) {
    WPI_DRIVER_TRY(check_peer(peerContext, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED));
    WPI_DRIVER(cudaDeviceDisablePeerAccess((int)peerContext->device));
}

WP_API CUresult cuProfilerInitialize(const char *configFile, const char *outputFile,
                                     CUoutput_mode outputMode) {
    WPI_DRIVER(cudaProfilerInitialize(configFile, outputFile, (cudaOutputMode_t)outputMode));
}

WP_API CUresult cuProfilerStart(void) {
    WPI_DRIVER(cudaProfilerStart());
}

WP_API CUresult cuProfilerStop(void) {
    WPI_DRIVER(cudaProfilerStop());
}
