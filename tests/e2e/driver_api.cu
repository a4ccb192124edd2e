// SPDX-License-Identifier: Apache-2.0
/* The driver API: contexts, memory, streams, events, modules from images and from PTX, launches,
 * occupancy; beside the runtime API in one process. The module is a file that this program's own
 * source is compiled to, or, without the argument, nothing: see driver_modules.sh. */
#include <cuda.h>
#include <dlfcn.h>

#include "check.h"

#define DRIVER_OK(call)                                                                            \
    do {                                                                                           \
        const CUresult driver_result = (call);                                                     \
        const char *driver_name = "?";                                                             \
        if (driver_result != CUDA_SUCCESS) {                                                       \
            cuGetErrorName(driver_result, &driver_name);                                           \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, driver_name);                     \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define CHECK_DRIVER(call, expected) CHECK_EQ((int)(call), (int)(expected))

__global__ void add_to(int *data, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}

static void errors_and_start(void) {
    const char *text = NULL;
    int count = 0;
    CUcontext context;
    CHECK_DRIVER(cuCtxGetCurrent(&context), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_DRIVER(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuInit(0));
    CHECK_DRIVER(cuGetErrorName(CUDA_ERROR_INVALID_CONTEXT, &text), CUDA_SUCCESS);
    CHECK(strcmp(text, "CUDA_ERROR_INVALID_CONTEXT") == 0);
    CHECK_DRIVER(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    CHECK(strcmp(text, "out of memory") == 0);
    CHECK_DRIVER(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(text == NULL);
    DRIVER_OK(cuDeviceGetCount(&count));
    CHECK_EQ(count, 1);
    CHECK_DRIVER(cuGetErrorName(CUDA_SUCCESS, &text), CUDA_SUCCESS);
    CHECK(strcmp(text, "CUDA_SUCCESS") == 0);
}

static void devices(void) {
    CUdevice device = -1;
    int value = 0, major = 0, minor = 0;
    size_t bytes = 0;
    char name[64] = "", few[4] = "";
    cudaDeviceProp prop;
    CHECK_DRIVER(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
    DRIVER_OK(cuDeviceGet(&device, 0));
    CUDA_OK(cudaGetDeviceProperties(&prop, 0));
    DRIVER_OK(cuDeviceGetName(name, sizeof name, device));
    CHECK(strncmp(name, prop.name, sizeof name - 1) == 0);
    DRIVER_OK(cuDeviceGetName(few, sizeof few, device));
    CHECK_EQ(few[3], '\0');
    DRIVER_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
    CHECK_EQ(value, 32);
    DRIVER_OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    DRIVER_OK(cuDeviceComputeCapability(&value, &minor, device));
    CHECK_EQ(value, major);
    CHECK_EQ(minor, prop.minor);
    DRIVER_OK(cuDeviceTotalMem(&bytes, device));
    CHECK_EQ(bytes, prop.totalGlobalMem);
}

/* Before any call of the runtime in this thread. */
static void contexts(void) {
    CUcontext first, second, current = NULL, primary;
    CUdeviceptr memory = 0;
    CUdevice device = -1;
    unsigned flags = 0;
    int active = 7;
    CHECK_DRIVER(cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == NULL);
    CHECK_DRIVER(cuCtxPopCurrent(&current), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER_OK(cuCtxCreate(&first, CU_CTX_MAP_HOST, 0));
    DRIVER_OK(cuCtxGetFlags(&flags));
    CHECK_EQ(flags, (unsigned)CU_CTX_MAP_HOST);
    DRIVER_OK(cuCtxCreate(&second, 0, 0));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == second);
    DRIVER_OK(cuCtxPopCurrent(&current));
    CHECK(current == second);
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == first);
    DRIVER_OK(cuCtxPushCurrent(second));
    DRIVER_OK(cuCtxDestroy(second));
    DRIVER_OK(cuCtxGetCurrent(&current));
    CHECK(current == first);
    CHECK_DRIVER(cuCtxPushCurrent(second), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER_OK(cuCtxGetDevice(&device));
    CHECK_EQ(device, 0);
    DRIVER_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 0);
    DRIVER_OK(cuDevicePrimaryCtxRetain(&primary, 0));
    DRIVER_OK(cuCtxSetCurrent(primary));
    DRIVER_OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK_EQ(active, 1);
    DRIVER_OK(cuCtxDestroy(first));
    CHECK_DRIVER(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
    DRIVER_OK(cuCtxSynchronize());
}

static void memory_and_copies(void) {
    enum { N = 1000 };
    static int from[N], to[N];
    CUdeviceptr a, b, base;
    size_t bytes = 0, free_before, free_after, total, pitch;
    void *host;
    unsigned managed = 7;
    CUmemorytype type;
    for (int i = 0; i < N; i++)
        from[i] = i * 7;
    CHECK_DRIVER(cuMemAlloc(&a, 0), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemGetInfo(&free_before, &total));
    DRIVER_OK(cuMemAlloc(&a, sizeof from));
    DRIVER_OK(cuMemAlloc(&b, sizeof from));
    DRIVER_OK(cuMemGetInfo(&free_after, &total));
    CHECK(free_after <= free_before - 2 * sizeof from);
    DRIVER_OK(cuMemGetAddressRange(&base, &bytes, a + 40));
    CHECK_EQ(base, a);
    CHECK_EQ(bytes, sizeof from);
    DRIVER_OK(cuMemcpyHtoD(a, from, sizeof from));
    DRIVER_OK(cuMemcpyDtoD(b, a, sizeof from));
    DRIVER_OK(cuMemcpyDtoH(to, b, sizeof from));
    CHECK(memcmp(from, to, sizeof from) == 0);
    DRIVER_OK(cuMemsetD32(b, 0x01020304, N));
    DRIVER_OK(cuMemsetD16(b + 4, 0xbeef, 2));
    DRIVER_OK(cuMemsetD8(b + 8, 0x55, 4));
    CHECK_DRIVER(cuMemsetD32(b + 2, 1, 1), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemcpyDtoH(to, b, sizeof to));
    CHECK_EQ(to[0], 0x01020304);
    CHECK_EQ((unsigned)to[1], 0xbeefbeefu);
    CHECK_EQ(to[2], 0x55555555);
    CHECK_EQ(to[N - 1], 0x01020304);
    DRIVER_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a));
    CHECK_EQ((int)type, (int)CU_MEMORYTYPE_DEVICE);
    DRIVER_OK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    DRIVER_OK(cuMemHostGetDevicePointer(&base, host, 0));
    DRIVER_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
    CHECK_EQ((int)type, (int)CU_MEMORYTYPE_HOST);
    DRIVER_OK(cuMemFreeHost(host));
    DRIVER_OK(cuMemFree(a));
    DRIVER_OK(cuMemFree(b));
    CHECK_DRIVER(cuMemFree(b + 4), CUDA_ERROR_INVALID_VALUE);
    /* Managed memory, and rows. */
    DRIVER_OK(cuMemAllocManaged(&a, sizeof from, CU_MEM_ATTACH_GLOBAL));
    memcpy((void *)a, from, sizeof from);
    DRIVER_OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, a));
    CHECK_EQ(managed, 1u);
    DRIVER_OK(cuMemAllocPitch(&b, &pitch, 10 * sizeof(int), 5, 4));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = 20 * sizeof(int);
    copy.srcXInBytes = 2 * sizeof(int);
    copy.srcY = 1;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = b;
    copy.dstPitch = pitch;
    copy.WidthInBytes = 10 * sizeof(int);
    copy.Height = 5;
    DRIVER_OK(cuMemcpy2D(&copy));
    DRIVER_OK(cuMemcpyDtoH(to, b + 3 * pitch, 10 * sizeof(int)));
    for (int i = 0; i < 10; i++)
        CHECK_EQ(to[i], from[(1 + 3) * 20 + 2 + i]);
    DRIVER_OK(cuMemFree(a));
    DRIVER_OK(cuMemFree(b));
}

static void called_back(void *counter) {
    (*(int *)counter)++;
}

static void streams_events_launches(void) {
    enum { N = 5000 };
    int *data, calls = 0;
    static int out[N];
    CUstream stream, other;
    CUevent start, end;
    CUfunction function;
    CUdeviceptr at;
    float ms = -1;
    DRIVER_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER_OK(cuStreamCreateWithPriority(&other, CU_STREAM_NON_BLOCKING, 0));
    DRIVER_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
    DRIVER_OK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    DRIVER_OK(cuMemAlloc(&at, N * sizeof(int)));
    data = (int *)at;
    DRIVER_OK(cuMemsetD32Async(at, 5, N, stream));
    DRIVER_OK(cuEventRecord(start, stream));
    CUDA_OK(cudaGetFuncBySymbol(&function, (const void *)add_to));
    int n = N, value = 37;
    void *args[] = {&data, &n, &value};
    DRIVER_OK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, stream, args, NULL));
    DRIVER_OK(cuEventRecord(end, stream));
    DRIVER_OK(cuStreamWaitEvent(other, end, CU_EVENT_WAIT_DEFAULT));
    DRIVER_OK(cuLaunchHostFunc(other, called_back, &calls));
    DRIVER_OK(cuMemcpyDtoHAsync(out, at, sizeof out, other));
    DRIVER_OK(cuStreamSynchronize(other));
    CHECK_EQ(calls, 1);
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], 42);
    DRIVER_OK(cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 0);
    /* The arguments in a buffer, as PTX lays them out. */
    struct {
        int *data;
        int n, value;
    } packed = {data, N, -40};
    size_t packed_bytes = sizeof packed, offset, size;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &packed_bytes, CU_LAUNCH_PARAM_END};
    DRIVER_OK(cuFuncGetParamInfo(function, 2, &offset, &size));
    CHECK_EQ(offset, 12u);
    CHECK_EQ(size, 4u);
    CHECK_DRIVER(cuFuncGetParamInfo(function, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuKernelGetParamInfo((CUkernel)function, 1, &offset, NULL));
    CHECK_EQ(offset, 8u);
    CHECK_DRIVER(cuKernelGetParamInfo((CUkernel)function, 3, &offset, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuLaunchKernel(function, (N + 255) / 256, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
    packed_bytes = 8;
    CHECK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra),
                 CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemcpyDtoH(out, at, sizeof out));
    CHECK_EQ(out[N - 1], 2);
    CHECK_DRIVER(cuLaunchKernel((CUfunction)&calls, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL),
                 CUDA_ERROR_INVALID_HANDLE);
    CHECK_DRIVER(cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, NULL, args, NULL),
                 CUDA_ERROR_INVALID_VALUE);
    /* The runtime's last error is its own. */
    CHECK_EQ((int)cudaGetLastError(), (int)cudaSuccess);
    int blocks = 0, grid = 0, block = 0, most = 0;
    DRIVER_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
    CHECK(blocks >= 1);
    DRIVER_OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
    DRIVER_OK(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    CHECK(grid >= 1 && block >= 32 && block <= most);
    DRIVER_OK(cuMemFree(at));
    DRIVER_OK(cuEventDestroy(start));
    DRIVER_OK(cuEventDestroy(end));
    DRIVER_OK(cuStreamDestroy(stream));
    DRIVER_OK(cuStreamDestroy(other));
}

static void functions_by_name(void) {
    CUdriverProcAddressQueryResult status;
    CUresult (*version)(int *) = NULL;
    int value = 0, same = 0;
    void *missing = &value, *alloc = NULL;
    DRIVER_OK(cuGetProcAddress("cuDriverGetVersion", (void **)&version, 12000, 0, &status));
    DRIVER_OK(version(&value));
    DRIVER_OK(cuDriverGetVersion(&same));
    CHECK_EQ(value, same);
    CHECK_DRIVER(cuGetProcAddress("cuNothing", &missing, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
    CHECK_EQ((int)status, (int)CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    CHECK(missing == NULL);
    CUDA_OK(cudaGetDriverEntryPoint("cuMemAlloc", &alloc, cudaEnableDefault));
    CHECK(alloc == (void *)cuMemAlloc);
}

/* Taichi and Warp look plain names up in the library; cuGetProcAddress has four parameters then. */
static void functions_by_old_names(void) {
    typedef CUresult get_type(const char *, void **, int, cuuint64_t);
    get_type *get = (get_type *)dlsym(RTLD_DEFAULT, "cuGetProcAddress"), *again = NULL;
    CUresult (*destroy)(CUevent) = (CUresult (*)(CUevent))dlsym(RTLD_DEFAULT, "cuEventDestroy");
    CUresult (*version)(int *) = NULL;
    int value = 0, same = 0;
    CHECK(get != NULL && destroy != NULL);
    if (get == NULL || destroy == NULL) return;
    DRIVER_OK(get("cuGetProcAddress", (void **)&again, 11040, 0));
    DRIVER_OK(again("cuDriverGetVersion", (void **)&version, 11040, 0));
    DRIVER_OK(version(&value));
    DRIVER_OK(cuDriverGetVersion(&same));
    CHECK_EQ(value, same);
    CUevent event = NULL;
    DRIVER_OK(cuEventCreate(&event, 0));
    DRIVER_OK(destroy(event));
}

/* hashcat looks these up, and gives them addresses of 64 bits. */
static void memory_is_set_by_old_names(void) {
    CUresult (*set_8)(CUdeviceptr, unsigned char, size_t), (*set_32)(CUdeviceptr, unsigned, size_t);
    CUresult (*set_16)(CUdeviceptr, unsigned short, size_t);
    set_8 = (CUresult(*)(CUdeviceptr, unsigned char, size_t))dlsym(RTLD_DEFAULT, "cuMemsetD8");
    set_16 = (CUresult(*)(CUdeviceptr, unsigned short, size_t))dlsym(RTLD_DEFAULT, "cuMemsetD16");
    set_32 = (CUresult(*)(CUdeviceptr, unsigned, size_t))dlsym(RTLD_DEFAULT, "cuMemsetD32");
    CHECK(set_8 != NULL && set_16 != NULL && set_32 != NULL);
    if (set_8 == NULL || set_16 == NULL || set_32 == NULL) return;
    CUdeviceptr memory = 0;
    unsigned words[3] = {0};
    DRIVER_OK(cuMemAlloc(&memory, sizeof words));
    DRIVER_OK(set_32(memory, 0x12345678, 3));
    DRIVER_OK(set_16(memory, 0x9abc, 3));
    DRIVER_OK(set_8(memory, 0xde, 1));
    DRIVER_OK(cuMemcpyDtoH(words, memory, sizeof words));
    CHECK_EQ(words[0], 0x9abc9adeU);
    CHECK_EQ(words[1], 0x12349abcU);
    CHECK_EQ(words[2], 0x12345678U);
    DRIVER_OK(cuMemFree(memory));
}

/* A program that looks all functions up starts, also where it calls none of these. */
static void unsupported_calls_are_found(void) {
    CUresult (*get_handle)(CUmemPoolPtrExportData *, CUdeviceptr) = NULL;
    void *open = NULL;
    CUmemPoolPtrExportData handle;
    DRIVER_OK(cuGetProcAddress("cuMemPoolExportPointer", (void **)&get_handle, 12000, 0, NULL));
    DRIVER_OK(cuGetProcAddress("cuIpcOpenMemHandle", &open, 12000, 0, NULL)); /* _v2 */
    CHECK_DRIVER(get_handle(&handle, 0), CUDA_ERROR_NOT_SUPPORTED);
}

static void modules_refuse_other_code(void) {
    CUmodule module = NULL;
    CUfunction function;
    static const char ptx[] = ".version 6.3\n.target sm_70\n.address_size 64\n"
                              ".visible .entry k() { nonsense.u32; }\n";
    static const unsigned char cubin[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    CHECK_DRIVER(cuModuleLoadData(&module, ptx), CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_DRIVER(cuModuleLoadData(&module, cubin), CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK_DRIVER(cuModuleLoadData(&module, "no code"), CUDA_ERROR_INVALID_IMAGE);
    CHECK_DRIVER(cuModuleLoad(&module, "no-such-file.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
    CHECK_DRIVER(cuModuleGetFunction(&function, module, "k"), CUDA_ERROR_INVALID_HANDLE);
    CHECK_DRIVER(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

int main(void) {
    errors_and_start();
    contexts();
    devices();
    memory_and_copies();
    streams_events_launches();
    functions_by_name();
    functions_by_old_names();
    memory_is_set_by_old_names();
    unsupported_calls_are_found();
    modules_refuse_other_code();
    return check_done();
}
