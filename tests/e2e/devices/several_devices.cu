/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices in one program: a current one for each host thread, memory, variables, streams and events of each,
 * copies between them, access to a peer's memory, and the errors of mixing them up. */
#include "check.h"
#include <pthread.h>

#define DEVICES_MAX 8
#define N 5000

__device__ int counter = 7;
__device__ int table[1000];
__constant__ int factor = 3;
__managed__ int shared_by_all = 1;
static int devices;
static bool is_stand_in; /* for a GPU's driver: its devices share one memory and one reset */

__global__ void scale(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] = data[i] * factor + counter;
}

__global__ void count(int n)
{
    if (threadIdx.x == 0)
        atomicAdd(&counter, n);
}

__global__ void fill_table(int value)
{
    table[threadIdx.x] = value + threadIdx.x;
}

__global__ void add(int *to, const int *from, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] += from[i];
}

__global__ void add_to_managed(int *shared)
{
    atomicAdd(shared, 1);
    atomicAdd(&shared_by_all, 1);
}

static int blocks_of(int n) { return (n + 255) / 256; }

/* As NVIDIA's sample simpleMultiGPU: each device gets a part of the data, in a stream of its own. */
static void parts_on_all_devices()
{
    cudaStream_t streams[DEVICES_MAX];
    int *parts[DEVICES_MAX], *host;
    CUDA_OK(cudaMallocHost((void **)&host, devices * N * sizeof(int)));
    for (int i = 0; i < devices * N; i++)
        host[i] = i;
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaStreamCreate(&streams[d]));
        CUDA_OK(cudaMalloc((void **)&parts[d], N * sizeof(int)));
    }
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaMemcpyAsync(parts[d], host + d * N, N * sizeof(int), cudaMemcpyHostToDevice, streams[d]));
        scale<<<blocks_of(N), 256, 0, streams[d]>>>(parts[d], N);
        CUDA_OK(cudaGetLastError());
        CUDA_OK(cudaMemcpyAsync(host + d * N, parts[d], N * sizeof(int), cudaMemcpyDeviceToHost, streams[d]));
    }
    int wrong = 0;
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaStreamSynchronize(streams[d]));
        for (int i = d * N; i < (d + 1) * N; i++)
            wrong += host[i] != i * 3 + 7;
        CUDA_OK(cudaStreamDestroy(streams[d]));
        CUDA_OK(cudaFree(parts[d]));
    }
    CHECK_EQ(wrong, 0);
    CUDA_OK(cudaFreeHost(host));
}

/* Variables with one name are as many variables as there are devices. */
static void variables_of_each()
{
    int value, three = 3;
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        count<<<1, 32>>>(100 * (d + 1));
        fill_table<<<1, 1000>>>(d * 10000);
        int mine = 3 + d;
        CUDA_OK(cudaMemcpyToSymbol(factor, &mine, sizeof mine));
    }
    void *first = NULL;
    for (int d = 0; d < devices; d++) {
        int rows[1000], wrong = 0;
        void *address;
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
        CHECK_EQ(value, 7 + 100 * (d + 1));
        CUDA_OK(cudaMemcpyFromSymbol(&value, factor, sizeof value));
        CHECK_EQ(value, 3 + d);
        CUDA_OK(cudaMemcpyFromSymbol(rows, table, sizeof rows));
        for (int i = 0; i < 1000; i++)
            wrong += rows[i] != d * 10000 + i;
        CHECK_EQ(wrong, 0);
        CUDA_OK(cudaGetSymbolAddress(&address, counter));
        CHECK(d == 0 || address != first);
        cudaPointerAttributes a;
        CUDA_OK(cudaPointerGetAttributes(&a, address));
        CHECK_EQ(a.device, d);
        first = address;
        int seven = 7;
        CUDA_OK(cudaMemcpyToSymbol(counter, &seven, sizeof seven));
        CUDA_OK(cudaMemcpyToSymbol(factor, &three, sizeof three));
    }
}

/* A ring: each device sends its buffer to the next one, until each has been everywhere. */
static void ring_of_copies(bool with_peers)
{
    int *own[DEVICES_MAX], *sum[DEVICES_MAX], *inbox[DEVICES_MAX], host[N];
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        if (with_peers && devices > 1)
            CUDA_OK(cudaDeviceEnablePeerAccess((d + 1) % devices, 0));
        CUDA_OK(cudaMalloc((void **)&own[d], sizeof host));
        CUDA_OK(cudaMalloc((void **)&inbox[d], sizeof host));
        CUDA_OK(cudaMalloc((void **)&sum[d], sizeof host));
        for (int i = 0; i < N; i++)
            host[i] = i + d * 1000;
        CUDA_OK(cudaMemcpy(own[d], host, sizeof host, cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemset(sum[d], 0, sizeof host));
        add<<<blocks_of(N), 256>>>(sum[d], own[d], N);
    }
    for (int step = 1; step < devices; step++) {
        for (int d = 0; d < devices; d++)
            CUDA_OK(cudaMemcpyPeer(inbox[(d + 1) % devices], (d + 1) % devices, own[d], d, sizeof host));
        for (int d = 0; d < devices; d++) {
            CUDA_OK(cudaSetDevice(d));
            CUDA_OK(cudaMemcpyAsync(own[d], inbox[d], sizeof host, cudaMemcpyDefault, 0));
            add<<<blocks_of(N), 256>>>(sum[d], own[d], N);
        }
    }
    for (int d = 0; d < devices; d++) {
        int wrong = 0;
        /* Not its own device: the copy finds the owner, and waits for its work. */
        CUDA_OK(cudaSetDevice((d + 1) % devices));
        CUDA_OK(cudaMemcpy(host, sum[d], sizeof host, cudaMemcpyDefault));
        for (int i = 0; i < N; i++)
            wrong += host[i] != devices * i + 1000 * (devices * (devices - 1) / 2);
        CHECK_EQ(wrong, 0);
        CUDA_OK(cudaSetDevice(d));
        if (with_peers && devices > 1)
            CUDA_OK(cudaDeviceDisablePeerAccess((d + 1) % devices));
        CUDA_OK(cudaFree(own[d]));
        CUDA_OK(cudaFree(inbox[d]));
        CUDA_OK(cudaFree(sum[d]));
    }
}

/* A kernel reads and writes memory of another device, to which it has access. */
static void kernels_use_a_peers_memory()
{
    int *near, *far, host[N], wrong = 0, can = -1;
    CUDA_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    CHECK_EQ(can, 1);
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaMalloc((void **)&far, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = 2 * i;
    CUDA_OK(cudaMemcpy(far, host, sizeof host, cudaMemcpyHostToDevice));
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaDeviceEnablePeerAccess(1, 0));
    CHECK_ERROR(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    CUDA_OK(cudaMalloc((void **)&near, sizeof host));
    CUDA_OK(cudaMemset(near, 0, sizeof host));
    add<<<blocks_of(N), 256>>>(near, far, N);
    add<<<blocks_of(N), 256>>>(far, near, N);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(host, far, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        wrong += host[i] != 4 * i;
    CHECK_EQ(wrong, 0);
    CUDA_OK(cudaDeviceDisablePeerAccess(1));
    CHECK_ERROR(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    cudaGetLastError();
    CUDA_OK(cudaFree(near));
    CUDA_OK(cudaFree(far));
}

/* An event of one device holds up a stream of another. */
static void events_across_devices()
{
    int *from, *to, host[N], wrong = 0;
    cudaStream_t first, second;
    cudaEvent_t done;
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaStreamCreate(&second));
    CUDA_OK(cudaMalloc((void **)&to, sizeof host));
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaStreamCreate(&first));
    CUDA_OK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CUDA_OK(cudaMalloc((void **)&from, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = i;
    CUDA_OK(cudaMemcpyAsync(from, host, sizeof host, cudaMemcpyHostToDevice, first));
    for (int k = 0; k < 8; k++)
        add<<<blocks_of(N), 256, 0, first>>>(from, from, N);
    CUDA_OK(cudaEventRecord(done, first));
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaStreamWaitEvent(second, done, 0));
    CUDA_OK(cudaMemcpyPeerAsync(to, 1, from, 0, sizeof host, second));
    add<<<blocks_of(N), 256, 0, second>>>(to, to, N);
    CUDA_OK(cudaMemcpyAsync(host, to, sizeof host, cudaMemcpyDeviceToHost, second));
    CUDA_OK(cudaStreamSynchronize(second));
    CUDA_OK(cudaEventQuery(done));
    for (int i = 0; i < N; i++)
        wrong += host[i] != i * 512;
    CHECK_EQ(wrong, 0);

    /* Each stream and each event belongs to a device. */
    CHECK_ERROR(cudaEventRecord(done, second), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    scale<<<1, 32, 0, first>>>(from, 32); /* device 1 is current */
    CHECK_EQ((int)cudaGetLastError(), (int)cudaErrorInvalidResourceHandle);
    CUDA_OK(cudaStreamSynchronize(first)); /* a wait may come from anywhere */
    CUDA_OK(cudaMemsetAsync(from, 0, sizeof host, first));
    CUDA_OK(cudaStreamSynchronize(first));
    CUDA_OK(cudaEventDestroy(done));
    CUDA_OK(cudaStreamDestroy(first));
    CUDA_OK(cudaStreamDestroy(second));
    CUDA_OK(cudaFree(from));
    CUDA_OK(cudaFree(to));
}

static void memory_for_all_devices()
{
    int *managed, *pinned, device_of_this = -1;
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaMallocManaged((void **)&managed, 64));
    CUDA_OK(cudaHostAlloc((void **)&pinned, 64, cudaHostAllocPortable | cudaHostAllocMapped));
    *managed = *pinned = 10;
    for (int d = 0; d < devices; d++) {
        CUDA_OK(cudaSetDevice(d));
        add_to_managed<<<2, 32>>>(managed);
        add_to_managed<<<1, 32>>>(pinned);
        CUDA_OK(cudaDeviceSynchronize());
    }
    CHECK_EQ(*managed, 10 + 64 * devices);
    CHECK_EQ(*pinned, 10 + 32 * devices);
    CHECK_EQ(shared_by_all, 1 + 96 * devices);
    cudaPointerAttributes a;
    CUDA_OK(cudaPointerGetAttributes(&a, pinned));
    CHECK_EQ((int)a.type, (int)cudaMemoryTypeHost);
    CUDA_OK(cudaGetDevice(&device_of_this));
    CHECK_EQ(device_of_this, devices - 1);
    CUDA_OK(cudaFree(managed));
    CUDA_OK(cudaFreeHost(pinned));
}

static void what_devices_say()
{
    char first_id[32], id[32];
    for (int d = 0; d < devices; d++) {
        cudaDeviceProp p;
        size_t before, after, total;
        int *memory, found = -1;
        CUDA_OK(cudaGetDeviceProperties(&p, d));
        CHECK(p.multiProcessorCount > 0);
        CUDA_OK(cudaDeviceGetPCIBusId(id, sizeof id, d));
        CUDA_OK(cudaDeviceGetByPCIBusId(&found, id));
        CHECK_EQ(found, d);
        CHECK(d == 0 || strcmp(id, first_id) != 0);
        memcpy(first_id, id, sizeof id);
        CUDA_OK(cudaSetDevice(d));
        CUDA_OK(cudaMemGetInfo(&before, &total));
        CUDA_OK(cudaMalloc((void **)&memory, 16 << 20));
        CUDA_OK(cudaMemGetInfo(&after, &total));
        CHECK(before - after >= 16 << 20);
        CUDA_OK(cudaSetDevice((d + 1) % devices));
        size_t other;
        CUDA_OK(cudaMemGetInfo(&other, &total));
        CHECK(is_stand_in || other > after);
        cudaPointerAttributes a;
        CUDA_OK(cudaPointerGetAttributes(&a, memory));
        CHECK_EQ(a.device, d);
        CUDA_OK(cudaFree(memory));
    }
    CHECK_ERROR(cudaSetDevice(devices), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaSetDevice(-1), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaDeviceEnablePeerAccess(devices, 0), cudaErrorInvalidDevice);
    cudaSetDevice(0);
    CHECK_ERROR(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaMemcpyPeer(NULL, devices, NULL, 0, 4), cudaErrorInvalidDevice);
    cudaGetLastError();
}

/* A reset of one device leaves the others as they are. */
static void reset_of_one()
{
    int *kept, *gone, value = 5;
    cudaStream_t stream;
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaMalloc((void **)&kept, 4));
    CUDA_OK(cudaMemcpy(kept, &value, 4, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpyToSymbol(counter, &value, 4));
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaMemcpyToSymbol(counter, &value, 4));
    CUDA_OK(cudaMalloc((void **)&gone, 4));
    CUDA_OK(cudaDeviceReset());
    CHECK_ERROR(cudaMemset(gone, 0, 4), cudaErrorInvalidValue);
    cudaGetLastError();
    CUDA_OK(cudaMemcpyFromSymbol(&value, counter, 4));
    CHECK_EQ(value, 7);
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaMemcpy(&value, kept, 4, cudaMemcpyDeviceToHost));
    CHECK_EQ(value, 5);
    value = 0;
    CUDA_OK(cudaMemcpyFromSymbol(&value, counter, 4));
    CHECK_EQ(value, 5);
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(kept));
}

/* A graph is launched on the device of its stream, whichever is current. */
static void graph_of_another_device()
{
    int *data, host[N], wrong = 0;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA_OK(cudaSetDevice(1));
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaMalloc((void **)&data, sizeof host));
    for (int i = 0; i < N; i++)
        host[i] = i;
    CUDA_OK(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    add<<<blocks_of(N), 256, 0, stream>>>(data, data, N);
    add<<<blocks_of(N), 256, 0, stream>>>(data, data, N);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    int now = -1;
    CUDA_OK(cudaGetDevice(&now));
    CHECK_EQ(now, 0);
    CUDA_OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDefault));
    for (int i = 0; i < N; i++)
        wrong += host[i] != 4 * i;
    CHECK_EQ(wrong, 0);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(data));
}

/* A thread for each device, as OpenMP programs have. */
static void *use_device(void *arg)
{
    int d = *(int *)arg, *data, host[N], now = -1, wrong = 0;
    if (cudaGetDevice(&now) != cudaSuccess || now != 0) /* a new thread's */
        wrong++;
    wrong += cudaSetDevice(d) != cudaSuccess;
    wrong += cudaMalloc((void **)&data, sizeof host) != cudaSuccess;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < N; i++)
            host[i] = i + d;
        wrong += cudaMemcpyAsync(data, host, sizeof host, cudaMemcpyHostToDevice, cudaStreamPerThread) != cudaSuccess;
        add<<<blocks_of(N), 256, 0, cudaStreamPerThread>>>(data, data, N);
        wrong += cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, cudaStreamPerThread) != cudaSuccess;
        wrong += cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess;
        for (int i = 0; i < N; i++)
            wrong += host[i] != 2 * (i + d);
    }
    wrong += cudaFree(data) != cudaSuccess;
    wrong += cudaGetDevice(&now) != cudaSuccess || now != d;
    *(int *)arg = wrong;
    return NULL;
}

static void a_thread_for_each()
{
    pthread_t threads[DEVICES_MAX];
    int args[DEVICES_MAX];
    for (int d = 0; d < devices; d++) {
        args[d] = d;
        pthread_create(&threads[d], NULL, use_device, &args[d]);
    }
    for (int d = 0; d < devices; d++) {
        pthread_join(threads[d], NULL);
        CHECK_EQ(args[d], 0);
    }
}

int main(int argc, char **argv)
{
    is_stand_in = argc > 1 && strcmp(argv[1], "stand-in") == 0;
    CUDA_OK(cudaGetDeviceCount(&devices));
    CHECK(devices >= 2 && devices <= DEVICES_MAX);
    if (devices < 2)
        return check_done();
    what_devices_say();
    parts_on_all_devices();
    variables_of_each();
    ring_of_copies(false);
    ring_of_copies(true);
    kernels_use_a_peers_memory();
    events_across_devices();
    memory_for_all_devices();
    graph_of_another_device();
    a_thread_for_each();
    if (!is_stand_in)
        reset_of_one();
    return check_done();
}
