/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcuda
// DEVICES: cpu sim
/* Memory and events of one process in another: handles, copies and kernels on both sides, the order that events give,
 * descriptors of memory without an address; what is refused. */
#include <cuda.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define COUNT 100000
#define DRIVER_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)

__global__ void add(int *data, int n, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] += value;
}

static void launch(int *data, int value, cudaStream_t stream) {
    (void)cudaGetLastError(); /* of calls that were refused */
    add<<<(COUNT + 255) / 256, 256, 0, stream>>>(data, COUNT, value);
    CUDA_OK(cudaGetLastError());
}

/* What the processes tell each other. */
struct message {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled, added;
};

static void send(int to, const void *data, size_t bytes) { CHECK_EQ((size_t)write(to, data, bytes), bytes); }
static void receive(int from, void *data, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        const ssize_t got = read(from, (char *)data + at, bytes - at);
        if (got <= 0) {
            printf("FAIL: the other process ended\n");
            exit(1);
        }
        at += (size_t)got;
    }
}

/* A descriptor, as programs hand it on. */
static void send_file(int to, int file) {
    char byte = 0, room[CMSG_SPACE(sizeof(int))] = {0};
    iovec data = {&byte, 1};
    msghdr m = {};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(c), &file, sizeof file);
    CHECK_EQ((int)sendmsg(to, &m, 0), 1);
}
static int receive_file(int from) {
    char byte, room[CMSG_SPACE(sizeof(int))];
    iovec data = {&byte, 1};
    msghdr m = {};
    m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = room, m.msg_controllen = sizeof room;
    int file = -1;
    if (recvmsg(from, &m, 0) == 1 && CMSG_FIRSTHDR(&m) != nullptr) memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof file);
    return file;
}

/* At an address with a large alignment, as programs ask for that map several. */
static CUdeviceptr map(CUmemGenericAllocationHandle memory, size_t bytes) {
    CUdeviceptr at = 0;
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER_OK(cuMemAddressReserve(&at, bytes, 64 << 20, 0, 0));
    CHECK_EQ(at % (64 << 20), (CUdeviceptr)0);
    DRIVER_OK(cuMemMap(at, bytes, 0, memory, 0));
    DRIVER_OK(cuMemSetAccess(at, bytes, &access, 1));
    return at;
}

/* ---- the process that opens ---- */

static int other(int link) {
    message m;
    int *data = nullptr, *again = nullptr;
    cudaEvent_t filled, added;
    cudaStream_t stream;
    receive(link, &m, sizeof m);
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaIpcOpenMemHandle((void **)&data, m.memory, cudaIpcMemLazyEnablePeerAccess));
    CUDA_OK(cudaIpcOpenMemHandle((void **)&again, m.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(data == again); /* counted, not mapped twice */
    CUDA_OK(cudaIpcCloseMemHandle(again));
    CUDA_OK(cudaIpcOpenEventHandle(&filled, m.filled));
    CUDA_OK(cudaIpcOpenEventHandle(&added, m.added));
    cudaPointerAttributes facts;
    CUDA_OK(cudaPointerGetAttributes(&facts, data));
    CHECK_EQ((int)facts.type, (int)cudaMemoryTypeDevice);
    CHECK_ERROR(cudaFree(data), cudaErrorInvalidValue); /* closed, not freed */
    cudaIpcMemHandle_t handle;
    CHECK_ERROR(cudaIpcGetMemHandle(&handle, data), cudaErrorInvalidValue);
    float ms;
    CHECK_ERROR(cudaEventElapsedTime(&ms, filled, added), cudaErrorInvalidResourceHandle);

    /* The owner records `filled` behind its kernel and then says so. */
    char byte = 1;
    receive(link, &byte, 1);
    CUDA_OK(cudaStreamWaitEvent(stream, filled, 0));
    launch(data, 1000, stream);
    CUDA_OK(cudaEventRecord(added, stream));
    send(link, &byte, 1);
    CUDA_OK(cudaEventSynchronize(added));
    static int copy[COUNT];
    CUDA_OK(cudaMemcpy(copy, data, sizeof copy, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(copy[i], i + 1011);

    /* Zeroed here, seen there. */
    receive(link, &byte, 1);
    CUDA_OK(cudaMemset(data, 0, COUNT * sizeof *data));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaIpcCloseMemHandle(data));
    CHECK_ERROR(cudaIpcCloseMemHandle(data), cudaErrorInvalidValue);
    send(link, &byte, 1);

    /* The owner has freed the memory: its handle opens nothing. */
    receive(link, &byte, 1);
    CHECK_ERROR(cudaIpcOpenMemHandle((void **)&data, m.memory, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidResourceHandle);
    CUDA_OK(cudaEventDestroy(filled));
    CUDA_OK(cudaEventDestroy(added));

    size_t bytes = 0;
    receive(link, &bytes, sizeof bytes);
    const int file = receive_file(link);
    CUmemGenericAllocationHandle memory;
    DRIVER_OK(cuMemImportFromShareableHandle(&memory, (void *)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    const CUdeviceptr at = map(memory, bytes);
    DRIVER_OK(cuMemRelease(memory));
    launch((int *)at, 7, stream);
    CUDA_OK(cudaStreamSynchronize(stream));
    DRIVER_OK(cuMemUnmap(at, bytes));
    DRIVER_OK(cuMemAddressFree(at, bytes));
    send(link, &byte, 1);
    return check_done();
}

/* ---- the owner ---- */

static void share(int link) {
    message m;
    static int values[COUNT];
    int *data;
    char byte = 2;
    cudaEvent_t filled, added, plain;
    CUDA_OK(cudaMalloc(&data, sizeof values));
    for (int i = 0; i < COUNT; i++)
        values[i] = i;
    CUDA_OK(cudaMemcpy(data, values, sizeof values, cudaMemcpyHostToDevice));
    CUDA_OK(cudaIpcGetMemHandle(&m.memory, data)); /* the contents stay, and the address */
    CUDA_OK(cudaEventCreateWithFlags(&filled, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA_OK(cudaEventCreateWithFlags(&added, cudaEventInterprocess | cudaEventDisableTiming));
    CUDA_OK(cudaEventCreate(&plain));
    CUDA_OK(cudaIpcGetEventHandle(&m.filled, filled));
    CUDA_OK(cudaIpcGetEventHandle(&m.added, added));
    CUDA_OK(cudaEventQuery(added)); /* not recorded yet */
    CHECK_ERROR(cudaIpcGetEventHandle(&m.added, plain), cudaErrorInvalidResourceHandle);
    CHECK_ERROR(cudaEventCreateWithFlags(&plain, cudaEventInterprocess), cudaErrorInvalidValue);
    CHECK_ERROR(cudaIpcGetMemHandle(&m.memory, values), cudaErrorInvalidValue);
    int *here;
    CHECK(cudaIpcOpenMemHandle((void **)&here, m.memory, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess); /* in its own process */
    send(link, &m, sizeof m);
    launch(data, 11, nullptr);
    CUDA_OK(cudaEventRecord(filled));
    send(link, &byte, 1);
    receive(link, &byte, 1);
    CUDA_OK(cudaStreamWaitEvent(nullptr, added, 0));
    CUDA_OK(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(values[i], i + 1011);
    send(link, &byte, 1);
    receive(link, &byte, 1);
    CUDA_OK(cudaMemcpy(values, data, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(values[i], 0);
    CUDA_OK(cudaFree(data));
    send(link, &byte, 1);
    CUDA_OK(cudaEventDestroy(filled));
    CUDA_OK(cudaEventDestroy(added));
}

/* Memory without an address, mapped in both. */
static void share_physical(int link) {
    CUmemAllocationProp wanted = {};
    wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t unit = 0;
    CUmemGenericAllocationHandle memory, own;
    DRIVER_OK(cuMemGetAllocationGranularity(&unit, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    const size_t bytes = 8 * unit;
    CHECK(bytes >= COUNT * sizeof(int));
    int file = -1;
    DRIVER_OK(cuMemCreate(&own, bytes, &wanted, 0));
    CHECK_EQ((int)cuMemExportToShareableHandle(&file, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), (int)CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemRelease(own));
    wanted.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DRIVER_OK(cuMemCreate(&memory, bytes, &wanted, 0));
    DRIVER_OK(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    const CUdeviceptr at = map(memory, bytes);
    CUDA_OK(cudaMemset((void *)at, 1, bytes));
    CUDA_OK(cudaMemset((void *)at, 0, bytes)); /* zeros take pages of a file out of it */
    CUDA_OK(cudaDeviceSynchronize());
    send(link, &bytes, sizeof bytes);
    send_file(link, file);
    close(file);
    char byte;
    receive(link, &byte, 1);
    static int values[COUNT];
    CUDA_OK(cudaMemcpy(values, (void *)at, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(values[i], 7);
    DRIVER_OK(cuMemUnmap(at, bytes));
    DRIVER_OK(cuMemRelease(memory));
    DRIVER_OK(cuMemAddressFree(at, bytes));
}

int main() {
    int link[2];
    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, link), 0);
    const pid_t process = fork(); /* before either uses the device */
    if (process == 0) {
        close(link[0]);
        return other(link[1]);
    }
    close(link[1]);
    signal(SIGPIPE, SIG_IGN);
    share(link[0]);
    share_physical(link[0]);
    int status = 0;
    CHECK_EQ((int)waitpid(process, &status, 0), (int)process);
    CHECK_EQ(status, 0);
    return check_done();
}
