/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The CUDA runtime in kernels: launches (dynamic parallelism), and calls beside them. wpcc turns
 *
 *     kernel<<<grid, block, shared, stream>>>(x)        in device code into
 *     wp_kernel_of<decltype(&kernel), &kernel>::with(grid, block, shared, stream)(x)
 *
 * A grid is complete when those that it launched are. `cudaDeviceSynchronize` waits for what the
 * block has launched, as in CUDA 11; the streams are those of CUDA 12.
 */
#ifndef WARPAGE_CUDA_WP_DEVICE_RUNTIME_H
#define WARPAGE_CUDA_WP_DEVICE_RUNTIME_H

#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

extern "C" {
__device__ int __wp_launch(const void *kernel, const unsigned int *shape,
                           unsigned long long shared_bytes, unsigned long long stream, void **args,
                           unsigned int thread) __attribute__((nothrow));
__device__ long long __wp_device_call(unsigned int call, unsigned long long a, unsigned long long b,
                                      unsigned long long c, unsigned long long d,
                                      unsigned int thread) __attribute__((nothrow));
}

/* wp_device_call of base/abi.h. */
enum __wp_call {
    __WP_CALL_ERROR_GET,
    __WP_CALL_ERROR_SET,
    __WP_CALL_COPY,
    __WP_CALL_FILL,
    __WP_CALL_NAME,
    __WP_CALL_SYNC_BEGIN,
    __WP_CALL_SYNC_IS_DONE,
    __WP_CALL_RECORD,
    __WP_CALL_WAIT_EVENT,
    __WP_CALL_ATTRIBUTE,
    __WP_CALL_DEVICE
};

WP_DEVICE unsigned int __wp_thread_number() {
    return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
WP_DEVICE long long __wp_runtime(__wp_call call, unsigned long long a = 0, unsigned long long b = 0,
                                 unsigned long long c = 0, unsigned long long d = 0) {
    return __wp_device_call((unsigned int)call, a, b, c, d, __wp_thread_number());
}

/* ---- launches ---- */

template <class... Parameters> struct wp_launcher {
    void (*kernel)(Parameters...);
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;

    __host__ __device__ void operator()(Parameters... parameters) const {
#if defined(__CUDA_ARCH__)
        const unsigned int shape[] = {grid.x, grid.y, grid.z, block.x, block.y, block.z};
        void *arguments[sizeof...(Parameters) + 1] = {(void *)&parameters...};
        (void)__wp_launch((const void *)kernel, shape, shared_bytes, (unsigned long long)stream,
                          arguments, __wp_thread_number());
#else
        kernel<<<grid, block, shared_bytes, stream>>>(parameters...);
#endif
    }
};

template <class Function, Function kernel> struct wp_kernel_of;
template <class... Parameters, void (*kernel)(Parameters...)>
struct wp_kernel_of<void (*)(Parameters...), kernel> {
    static constexpr void (*address)(Parameters...) = kernel;
    static __host__ __device__ wp_launcher<Parameters...>
    with(dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = 0) {
        return {address, grid, block, shared_bytes, stream};
    }
};

/* The type of the only one of several functions that has so many parameters. */
#define WP_KERNEL_WITH(count, types, ...)                                                          \
    template <__VA_ARGS__> void(*__wp_kernel_with_##count(void(*) types)) types;
#define WP_TYPES(...) (__VA_ARGS__)
void (*__wp_kernel_with_0(void (*)()))();
WP_KERNEL_WITH(1, (wp_1), class wp_1)
WP_KERNEL_WITH(2, WP_TYPES(wp_1, wp_2), class wp_1, class wp_2)
WP_KERNEL_WITH(3, WP_TYPES(wp_1, wp_2, wp_3), class wp_1, class wp_2, class wp_3)
WP_KERNEL_WITH(4, WP_TYPES(wp_1, wp_2, wp_3, wp_4), class wp_1, class wp_2, class wp_3, class wp_4)
WP_KERNEL_WITH(5, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5), class wp_1, class wp_2, class wp_3,
               class wp_4, class wp_5)
WP_KERNEL_WITH(6, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5, wp_6), class wp_1, class wp_2, class wp_3,
               class wp_4, class wp_5, class wp_6)
WP_KERNEL_WITH(7, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5, wp_6, wp_7), class wp_1, class wp_2,
               class wp_3, class wp_4, class wp_5, class wp_6, class wp_7)
WP_KERNEL_WITH(8, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5, wp_6, wp_7, wp_8), class wp_1, class wp_2,
               class wp_3, class wp_4, class wp_5, class wp_6, class wp_7, class wp_8)
WP_KERNEL_WITH(9, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5, wp_6, wp_7, wp_8, wp_9), class wp_1,
               class wp_2, class wp_3, class wp_4, class wp_5, class wp_6, class wp_7, class wp_8,
               class wp_9)
WP_KERNEL_WITH(10, WP_TYPES(wp_1, wp_2, wp_3, wp_4, wp_5, wp_6, wp_7, wp_8, wp_9, wp_10),
               class wp_1, class wp_2, class wp_3, class wp_4, class wp_5, class wp_6, class wp_7,
               class wp_8, class wp_9, class wp_10)
#undef WP_KERNEL_WITH
/* The type of a kernel with parameters of the arguments' types, without references and const. */
template <class... Arguments> void (*wp_kernel_taking(Arguments...))(Arguments...);
#undef WP_TYPES

/* ---- errors ---- */

WP_DEVICE cudaError_t cudaGetLastError(void) {
    return (cudaError_t)__wp_runtime(__WP_CALL_ERROR_GET, 1);
}
WP_DEVICE cudaError_t cudaPeekAtLastError(void) {
    return (cudaError_t)__wp_runtime(__WP_CALL_ERROR_GET, 0);
}

#define WP_DEVICE_ERRORS(NAME)                                                                     \
    NAME(cudaSuccess, "no error")                                                                  \
    NAME(cudaErrorInvalidValue, "invalid argument")                                                \
    NAME(cudaErrorMemoryAllocation, "out of memory")                                               \
    NAME(cudaErrorInvalidConfiguration, "invalid configuration argument")                          \
    NAME(cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches")  \
    NAME(cudaErrorSyncDepthExceeded,                                                               \
         "cudaDeviceSynchronize failed because caller's grid depth exceeds "                       \
         "cudaLimitDevRuntimeSyncDepth")                                                           \
    NAME(cudaErrorLaunchPendingCountExceeded,                                                      \
         "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount")        \
    NAME(cudaErrorInvalidDeviceFunction, "invalid device function")                                \
    NAME(cudaErrorInvalidResourceHandle, "invalid resource handle")                                \
    NAME(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                 \
    NAME(cudaErrorNotSupported, "operation not supported")

static __device__ __inline__ const char *cudaGetErrorName(cudaError_t error) {
#define WP_NAME(name, text)                                                                        \
    case name: return #name;
    switch (error) {
        WP_DEVICE_ERRORS(WP_NAME)
    default: return "unrecognized error code";
    }
#undef WP_NAME
}
static __device__ __inline__ const char *cudaGetErrorString(cudaError_t error) {
#define WP_NAME(name, text)                                                                        \
    case name: return text;
    switch (error) {
        WP_DEVICE_ERRORS(WP_NAME)
    default: return "unrecognized error code";
    }
#undef WP_NAME
}
#undef WP_DEVICE_ERRORS

/* ---- waiting ---- */

WP_DEVICE cudaError_t cudaDeviceSynchronize(void) {
    const long long number = __wp_runtime(__WP_CALL_SYNC_BEGIN);
    if (number < 0) return (cudaError_t)-number;
    while (number != 0 && __wp_runtime(__WP_CALL_SYNC_IS_DONE, (unsigned long long)number) == 0)
        __nanosleep(100);
    __threadfence();
    return cudaSuccess;
}

/* ---- streams and events ---- */

WP_DEVICE cudaError_t __wp_name(void **handle) {
    if (handle == 0) return (cudaError_t)__wp_runtime(__WP_CALL_ERROR_SET, cudaErrorInvalidValue);
    *handle = (void *)__wp_runtime(__WP_CALL_NAME);
    return cudaSuccess;
}
WP_DEVICE cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    /* Kernels can only create streams that do not wait for the default one. */
    return __wp_name(flags == cudaStreamNonBlocking ? (void **)stream : 0);
}
WP_DEVICE cudaError_t cudaStreamDestroy(cudaStream_t) {
    return cudaSuccess;
}
WP_DEVICE cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    return __wp_name(flags == cudaEventDisableTiming ? (void **)event : 0);
}
WP_DEVICE cudaError_t cudaEventDestroy(cudaEvent_t) {
    return cudaSuccess;
}
WP_DEVICE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = 0) {
    return (cudaError_t)__wp_runtime(__WP_CALL_RECORD, (unsigned long long)event, 0, 0,
                                     (unsigned long long)stream);
}
WP_DEVICE cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                          unsigned int = 0) {
    return (cudaError_t)__wp_runtime(__WP_CALL_WAIT_EVENT, (unsigned long long)event, 0, 0,
                                     (unsigned long long)stream);
}

/* ---- memory ---- */

WP_DEVICE cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind,
                                      cudaStream_t stream = 0) {
    return (cudaError_t)__wp_runtime(__WP_CALL_COPY, (unsigned long long)to,
                                     (unsigned long long)from, bytes, (unsigned long long)stream);
}
WP_DEVICE cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = 0) {
    return (cudaError_t)__wp_runtime(__WP_CALL_FILL, (unsigned long long)to,
                                     (unsigned long long)value, bytes, (unsigned long long)stream);
}
WP_DEVICE cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    if (pointer != 0) *pointer = malloc(bytes);
    if (pointer != 0 && (*pointer != 0 || bytes == 0)) return cudaSuccess;
    return (cudaError_t)__wp_runtime(__WP_CALL_ERROR_SET, pointer == 0 ? cudaErrorInvalidValue
                                                                       : cudaErrorMemoryAllocation);
}
template <class T> WP_DEVICE cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc((void **)(void *)pointer, bytes);
}
WP_DEVICE cudaError_t cudaFree(void *pointer) {
    free(pointer);
    return cudaSuccess;
}

/* ---- the device ---- */

WP_DEVICE cudaError_t cudaGetDevice(int *device) {
    *device = (int)__wp_runtime(__WP_CALL_DEVICE);
    return cudaSuccess;
}
WP_DEVICE cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    const long long answer = __wp_runtime(__WP_CALL_ATTRIBUTE, (unsigned long long)attribute);
    if (answer < 0) return (cudaError_t)-answer;
    *value = (int)answer;
    return cudaSuccess;
}

#endif
