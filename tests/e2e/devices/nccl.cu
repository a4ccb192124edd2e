/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL on all devices of the program, against loops on the host: every type and operation, in place and not, by one thread
 * in groups and by a thread a device; transfers, parts of communicators, order within streams, errors. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <nccl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define RANKS_MAX 4
#define OK(call) CHECK_EQ((int)(call), (int)ncclSuccess)

static int ranks;
static ncclComm_t comms[RANKS_MAX];
static cudaStream_t streams[RANKS_MAX];

/* ---- types ---- */

struct type {
    ncclDataType_t id;
    size_t bytes;
    double error; /* of a sum, relative */
};
static const type types[] = {{ncclInt8, 1, 0},    {ncclUint8, 1, 0},    {ncclInt32, 4, 0},      {ncclUint32, 4, 0},
                             {ncclInt64, 8, 0},   {ncclUint64, 8, 0},   {ncclFloat16, 2, 1e-3}, {ncclFloat32, 4, 1e-6},
                             {ncclFloat64, 8, 0}, {ncclBfloat16, 2, 8e-3}};

static double get(const void *data, const type &t, size_t i)
{
    switch (t.id) {
    case ncclInt8: return ((const signed char *)data)[i];
    case ncclUint8: return ((const unsigned char *)data)[i];
    case ncclInt32: return ((const int *)data)[i];
    case ncclUint32: return ((const unsigned *)data)[i];
    case ncclInt64: return (double)((const long long *)data)[i];
    case ncclUint64: return (double)((const unsigned long long *)data)[i];
    case ncclFloat16: return __half2float(((const __half *)data)[i]);
    case ncclFloat32: return ((const float *)data)[i];
    case ncclFloat64: return ((const double *)data)[i];
    default: return __bfloat162float(((const __nv_bfloat16 *)data)[i]);
    }
}

static void put(void *data, const type &t, size_t i, double value)
{
    switch (t.id) {
    case ncclInt8: ((signed char *)data)[i] = (signed char)value; break;
    case ncclUint8: ((unsigned char *)data)[i] = (unsigned char)value; break;
    case ncclInt32: ((int *)data)[i] = (int)value; break;
    case ncclUint32: ((unsigned *)data)[i] = (unsigned)value; break;
    case ncclInt64: ((long long *)data)[i] = (long long)value; break;
    case ncclUint64: ((unsigned long long *)data)[i] = (unsigned long long)value; break;
    case ncclFloat16: ((__half *)data)[i] = __float2half((float)value); break;
    case ncclFloat32: ((float *)data)[i] = (float)value; break;
    case ncclFloat64: ((double *)data)[i] = value; break;
    default: ((__nv_bfloat16 *)data)[i] = __float2bfloat16((float)value); break;
    }
}

/* Element i that rank r starts with: small, so that all types hold the results. */
static double input(int r, size_t i) { return (double)((i * 5 + (size_t)r * 3 + i / 7) % 6); }

static double reduced(int op, size_t i, const double *factors)
{
    double result = op == ncclProd ? 1 : op == ncclMin ? 1e9 : op == ncclMax ? -1e9 : 0;
    for (int r = 0; r < ranks; r++) {
        const double x = input(r, i);
        switch (op) {
        case ncclProd: result *= x; break;
        case ncclMax: result = fmax(result, x); break;
        case ncclMin: result = fmin(result, x); break;
        case ncclSum:
        case ncclAvg: result += x; break;
        default: result += factors[r] * x;
        }
    }
    return op == ncclAvg ? result / ranks : result;
}

/* ---- arrays of all ranks ---- */

struct arrays {
    char *on_device[RANKS_MAX], *host;
    size_t bytes;
};

static void make(arrays *a, size_t bytes)
{
    a->bytes = bytes;
    a->host = (char *)malloc(bytes);
    for (int r = 0; r < ranks; r++) {
        CUDA_OK(cudaSetDevice(r));
        CUDA_OK(cudaMalloc(&a->on_device[r], bytes));
        CUDA_OK(cudaMemset(a->on_device[r], 0x77, bytes));
        CUDA_OK(cudaDeviceSynchronize());
    }
}

static void drop(arrays *a)
{
    for (int r = 0; r < ranks; r++) CUDA_OK(cudaFree(a->on_device[r]));
    free(a->host);
}

/* `count` elements of rank r's input from `first` on, to the array's element `at`. */
static void start(arrays *a, int r, const type &t, size_t at, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) put(a->host, t, i, input(r, first + i));
    CUDA_OK(cudaSetDevice(r));
    CUDA_OK(cudaMemcpy(a->on_device[r] + at * t.bytes, a->host, count * t.bytes, cudaMemcpyHostToDevice));
}

static const char *fetch(arrays *a, int r)
{
    CUDA_OK(cudaSetDevice(r));
    CUDA_OK(cudaStreamSynchronize(streams[r]));
    CUDA_OK(cudaMemcpy(a->host, a->on_device[r], a->bytes, cudaMemcpyDeviceToHost));
    return a->host;
}

static void near(const char *what, const type &t, int op, int r, size_t i, double got, double want)
{
    const double error = t.error * fmax(1, fabs(want)) + (op == ncclAvg && t.error == 0 && t.id != ncclFloat64 ? 0.999 : 1e-12);
    if (fabs(got - want) > error && check_note_failure())
        printf("FAIL: %s, type %d, operation %d, rank %d, element %zu: %g, not %g\n", what, (int)t.id, op, r, i, got, want);
}

/* ---- collectives by one thread ---- */

static ncclRedOp_t own_op(int r, const type &t, double factor)
{
    alignas(8) char scalar[8];
    ncclRedOp_t op;
    put(scalar, t, 0, factor);
    OK(ncclRedOpCreatePreMulSum(&op, scalar, t.id, ncclScalarHostImmediate, comms[r]));
    CHECK((int)op >= (int)ncclNumOps);
    return op;
}

static void all_reduce(const type &t, int op, size_t n, bool is_in_place)
{
    arrays in, out;
    double factors[RANKS_MAX];
    ncclRedOp_t ops[RANKS_MAX];
    make(&in, n * t.bytes + 8);
    make(&out, n * t.bytes + 8);
    for (int r = 0; r < ranks; r++) {
        factors[r] = 1 + (r + 1) % 3;
        start(is_in_place ? &out : &in, r, t, 0, 0, n);
        ops[r] = op < ncclNumOps ? (ncclRedOp_t)op : own_op(r, t, factors[r]);
    }
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        OK(ncclAllReduce(is_in_place ? out.on_device[r] : in.on_device[r], out.on_device[r], n, t.id, ops[r], comms[r],
                         streams[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(&out, r);
        for (size_t i = 0; i < n; i++) near("AllReduce", t, op, r, i, get(got, t, i), reduced(op, i, factors));
        for (size_t i = n * t.bytes; i < out.bytes; i++) CHECK_EQ((int)got[i], 0x77); /* behind it */
        if (op >= ncclNumOps) OK(ncclRedOpDestroy(ops[r], comms[r]));
    }
    drop(&in);
    drop(&out);
}

/* Reduce, ReduceScatter, AllGather, Broadcast of n elements a rank. */
static void others(const type &t, size_t n, bool is_in_place)
{
    const size_t all = n * (size_t)ranks;
    const int root = ranks - 1;
    arrays in, out;
    make(&in, all * t.bytes);
    make(&out, all * t.bytes);
    for (int r = 0; r < ranks; r++) start(&in, r, t, 0, 0, all);
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        OK(ncclReduceScatter(in.on_device[r], is_in_place ? in.on_device[r] + (size_t)r * n * t.bytes : out.on_device[r], n,
                             t.id, ncclSum, comms[r], streams[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(is_in_place ? &in : &out, r);
        for (size_t i = 0; i < n; i++)
            near("ReduceScatter", t, 0, r, i, get(got, t, i + (is_in_place ? (size_t)r * n : 0)),
                 reduced(ncclSum, (size_t)r * n + i, NULL));
    }
    for (int r = 0; r < ranks; r++) start(&in, r, t, 0, 0, all);
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        OK(ncclReduce(in.on_device[r], is_in_place ? in.on_device[r] : r == root ? out.on_device[r] : NULL, all, t.id, ncclMax,
                      root, comms[r], streams[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(is_in_place || r != root ? &in : &out, r); /* others keep what they have */
        for (size_t i = 0; i < all; i++)
            near("Reduce", t, 0, r, i, get(got, t, i), r == root ? reduced(ncclMax, i, NULL) : input(r, i));
    }
    for (int r = 0; r < ranks; r++) start(is_in_place ? &out : &in, r, t, is_in_place ? (size_t)r * n : 0, 0, n);
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        OK(ncclAllGather(is_in_place ? out.on_device[r] + (size_t)r * n * t.bytes : in.on_device[r], out.on_device[r], n, t.id,
                         comms[r], streams[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(&out, r);
        for (size_t i = 0; i < all; i++)
            near("AllGather", t, 0, r, i, get(got, t, i), input((int)(i / n), i % n));
    }
    for (int r = 0; r < ranks; r++) start(&in, r, t, 0, 0, all);
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        if (is_in_place)
            OK(ncclBcast(in.on_device[r], all, t.id, root, comms[r], streams[r]));
        else
            OK(ncclBroadcast(r == root ? in.on_device[r] : NULL, out.on_device[r], all, t.id, root, comms[r], streams[r]));
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(is_in_place ? &in : &out, r);
        for (size_t i = 0; i < all; i++) near("Broadcast", t, 0, r, i, get(got, t, i), input(root, i));
    }
    drop(&in);
    drop(&out);
}

/* Everyone sends to everyone, to itself, too; then around a ring. */
static void transfers(size_t n)
{
    const type &t = types[7];
    const size_t all = n * (size_t)ranks;
    arrays in, out;
    make(&in, all * t.bytes);
    make(&out, all * t.bytes);
    for (int r = 0; r < ranks; r++) start(&in, r, t, 0, 0, all);
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        for (int p = 0; p < ranks; p++) {
            const size_t at = (size_t)p * n * t.bytes;
            OK(ncclSend(in.on_device[r] + at, n, t.id, p, comms[r], streams[r]));
            OK(ncclRecv(out.on_device[r] + at, n, t.id, p, comms[r], streams[r]));
        }
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(&out, r);
        for (size_t i = 0; i < all; i++)
            near("Send", t, 0, r, i, get(got, t, i), input((int)(i / n), (size_t)r * n + i % n));
    }
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++) { /* two messages, received in the order of sending */
        const int to = (r + 1) % ranks, from = (r + ranks - 1) % ranks;
        OK(ncclSend(in.on_device[r], 1, t.id, to, comms[r], streams[r]));
        OK(ncclSend(in.on_device[r] + t.bytes, 1, t.id, to, comms[r], streams[r]));
        OK(ncclRecv(out.on_device[r], 1, t.id, from, comms[r], streams[r]));
        OK(ncclRecv(out.on_device[r] + t.bytes, 1, t.id, from, comms[r], streams[r]));
    }
    OK(ncclGroupEnd());
    for (int r = 0; r < ranks; r++) {
        const char *got = fetch(&out, r);
        for (size_t i = 0; i < 2; i++) near("ring", t, 0, r, i, get(got, t, i), input((r + ranks - 1) % ranks, i));
    }
    drop(&in);
    drop(&out);
}

/* ---- a thread a device ---- */

__global__ void fill(float *data, int n, float value)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] = value;
}

__global__ void halve(float *data, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] /= 2;
}

static ncclUniqueId id;

/* Kernels and collectives in one stream, without waiting between them. */
static void *rank_thread(void *arg)
{
    const int r = (int)(size_t)arg, n = 5000;
    ncclComm_t comm, part;
    cudaStream_t stream;
    float *data, last[2];
    int got, device;
    CUDA_OK(cudaSetDevice(r));
    OK(ncclCommInitRank(&comm, ranks, id, r));
    OK(ncclCommCount(comm, &got));
    CHECK_EQ(got, ranks);
    OK(ncclCommUserRank(comm, &got));
    CHECK_EQ(got, r);
    OK(ncclCommCuDevice(comm, &device));
    CHECK_EQ(device, r);
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaMalloc(&data, n * sizeof(float)));
    float expected = 0;
    for (int round = 0; round < 4; round++) {
        fill<<<4, 128, 0, stream>>>(data, n, (float)(r + round));
        OK(ncclAllReduce(data, data, n, ncclFloat, ncclSum, comm, stream));
        halve<<<4, 128, 0, stream>>>(data, n);
        OK(ncclAllReduce(data, data, n, ncclFloat, ncclSum, comm, stream));
        expected = 0;
        for (int p = 0; p < ranks; p++) expected += (float)(p + round);
        expected = expected / 2 * ranks;
    }
    CUDA_OK(cudaMemcpyAsync(last, data + n - 2, sizeof last, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(last[0], expected);
    CHECK_EQ(last[1], expected);
    /* Even and odd ranks apart, in the opposite order. */
    OK(ncclCommSplit(comm, r % 2, -r, &part, NULL));
    OK(ncclCommCount(part, &got));
    CHECK_EQ(got, (ranks + 1 - r % 2) / 2);
    OK(ncclCommUserRank(part, &device));
    CHECK_EQ(device, got - 1 - r / 2);
    fill<<<4, 128, 0, stream>>>(data, n, (float)(r + 1));
    OK(ncclBroadcast(data, data, n, ncclFloat, 0, part, stream));
    CUDA_OK(cudaMemcpyAsync(last, data + n - 2, sizeof last, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(last[1], (float)(2 * (got - 1) + r % 2 + 1));
    OK(ncclCommDestroy(part));
    OK(ncclCommSplit(comm, r == 0 ? 0 : NCCL_SPLIT_NOCOLOR, 0, &part, NULL));
    CHECK_EQ(part != NULL, r == 0);
    OK(ncclCommDestroy(part));
    OK(ncclCommFinalize(comm));
    OK(ncclCommDestroy(comm));
    CUDA_OK(cudaFree(data));
    CUDA_OK(cudaStreamDestroy(stream));
    return NULL;
}

/* A rank of a communicator whose other ranks never call. */
static void *deserted_thread(void *arg)
{
    CUDA_OK(cudaSetDevice(0));
    CHECK_EQ((int)ncclAllReduce(arg, arg, 1, ncclFloat, ncclSum, comms[0], streams[0]), (int)ncclRemoteError);
    return NULL;
}

static void errors(void)
{
    ncclResult_t state;
    ncclUniqueId other;
    ncclComm_t none;
    float *data;
    int version = 0;
    const int twice[] = {0, 0}, beyond[] = {99};
    OK(ncclGetVersion(&version));
    CHECK_EQ(version, NCCL_VERSION_CODE);
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaMalloc(&data, 64));
    CHECK_EQ((int)ncclAllReduce(data, data, 1, ncclNumTypes, ncclSum, comms[0], streams[0]), (int)ncclInvalidArgument);
    CHECK_EQ((int)ncclAllReduce(data, data, 1, ncclFloat, ncclNumOps, comms[0], streams[0]), (int)ncclInvalidArgument);
    CHECK_EQ((int)ncclAllReduce(NULL, data, 1, ncclFloat, ncclSum, comms[0], streams[0]), (int)ncclInvalidArgument);
    CHECK_EQ((int)ncclAllReduce(data, data, 1, ncclFloat, ncclSum, NULL, streams[0]), (int)ncclInvalidArgument);
    CHECK_EQ((int)ncclBroadcast(data, data, 1, ncclFloat, ranks, comms[0], streams[0]), (int)ncclInvalidArgument);
    CHECK(strstr(ncclGetLastError(comms[0]), "ncclBroadcast") != NULL);
    CHECK_EQ((int)ncclGroupEnd(), (int)ncclInvalidUsage);
    CHECK_EQ((int)ncclCommInitAll(&none, 2, twice), (int)ncclInvalidUsage);
    CHECK_EQ((int)ncclCommInitAll(&none, 1, beyond), (int)ncclInvalidArgument);
    memset(&other, 1, sizeof other);
    CHECK_EQ((int)ncclCommInitRank(&none, 1, other, 0), (int)ncclInvalidArgument);
    CHECK(strcmp(ncclGetErrorString(ncclSuccess), "no error") == 0);
    cudaGraph_t graph;
    CUDA_OK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeRelaxed));
    CHECK_EQ((int)ncclAllReduce(data, data, 1, ncclFloat, ncclSum, comms[0], streams[0]), (int)ncclInvalidUsage);
    CUDA_OK(cudaStreamEndCapture(streams[0], &graph));
    CUDA_OK(cudaGraphDestroy(graph));
    /* Ranks that do not agree. */
    OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++)
        OK(ncclAllGather(data, data, (size_t)(r == 0 ? 1 : 2), ncclFloat, comms[r], streams[r]));
    CHECK_EQ((int)ncclGroupEnd(), (int)ncclInvalidArgument);
    OK(ncclCommGetAsyncError(comms[0], &state));
    CHECK_EQ((int)state, (int)ncclSuccess);
    pthread_t deserted;
    pthread_create(&deserted, NULL, deserted_thread, data);
    OK(ncclCommAbort(comms[1]));
    pthread_join(deserted, NULL);
    OK(ncclCommGetAsyncError(comms[0], &state));
    CHECK_EQ((int)state, (int)ncclRemoteError);
    comms[1] = NULL;
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaFree(data));
}

/* A rank in another process, before this one has used a device. */
static void try_process(void)
{
    int state = -1;
    OK(ncclGetUniqueId(&id));
    const pid_t child = fork();
    if (child == 0) {
        ncclComm_t comm;
        _exit(ncclCommInitRank(&comm, 2, id, 1) == ncclSystemError ? 0 : 1);
    }
    CHECK(waitpid(child, &state, 0) == child);
    CHECK_EQ(state, 0);
}

int main(void)
{
    try_process();
    CUDA_OK(cudaGetDeviceCount(&ranks));
    CHECK(ranks >= 2 && ranks <= RANKS_MAX);
    OK(ncclCommInitAll(comms, ranks, NULL));
    for (int r = 0; r < ranks; r++) {
        CUDA_OK(cudaSetDevice(r));
        CUDA_OK(cudaStreamCreate(&streams[r]));
    }
    for (const type &t : types) {
        for (int op = 0; op <= ncclNumOps; op++) all_reduce(t, op, 1000 + (size_t)op, op % 2 != 0);
        others(t, 77, false);
        others(t, 64, true);
    }
    for (size_t n : {0, 1, 2, 40000}) all_reduce(types[7], ncclSum, n, n == 2);
    transfers(300);

    pthread_t threads[RANKS_MAX];
    OK(ncclGetUniqueId(&id));
    for (int r = 0; r < ranks; r++) pthread_create(&threads[r], NULL, rank_thread, (void *)(size_t)r);
    for (int r = 0; r < ranks; r++) pthread_join(threads[r], NULL);

    /* Joined by one thread, in a group; a factor in device memory. */
    ncclComm_t joined[RANKS_MAX];
    float *factor, *data, result;
    OK(ncclGetUniqueId(&id));
    OK(ncclGroupStart());
    for (int r = 0; r < 2; r++) {
        CUDA_OK(cudaSetDevice(r));
        OK(ncclCommInitRank(&joined[r], 2, id, r));
    }
    OK(ncclGroupEnd());
    ncclRedOp_t scaled;
    CUDA_OK(cudaSetDevice(1));
    OK(ncclMemAlloc((void **)&factor, 2 * sizeof(float)));
    data = factor + 1;
    fill<<<1, 32>>>(factor, 2, 3);
    CUDA_OK(cudaDeviceSynchronize());
    OK(ncclRedOpCreatePreMulSum(&scaled, factor, ncclFloat, ncclScalarDevice, joined[1]));
    CHECK_EQ((int)ncclAllReduce(data, data, 1, ncclDouble, scaled, joined[1], 0), (int)ncclInvalidArgument);
    OK(ncclGroupStart());
    OK(ncclReduce(data, data, 1, ncclFloat, ncclSum, 1, joined[0], 0));
    OK(ncclReduce(data, data, 1, ncclFloat, ncclSum, 1, joined[1], 0));
    OK(ncclGroupEnd());
    CUDA_OK(cudaMemcpy(&result, data, sizeof result, cudaMemcpyDeviceToHost));
    CHECK_EQ(result, 6);
    ncclComm_t alone;
    OK(ncclCommInitAll(&alone, 1, (const int[]){1}));
    OK(ncclRedOpDestroy(scaled, joined[1]));
    OK(ncclRedOpCreatePreMulSum(&scaled, factor, ncclFloat, ncclScalarDevice, alone));
    OK(ncclAllReduce(data, data, 1, ncclFloat, scaled, alone, 0));
    CUDA_OK(cudaMemcpy(&result, data, sizeof result, cudaMemcpyDeviceToHost));
    CHECK_EQ(result, 18);
    OK(ncclCommDestroy(alone));
    for (int r = 0; r < 2; r++) OK(ncclCommDestroy(joined[r]));
    OK(ncclMemFree(factor));

    errors();
    for (int r = 0; r < ranks; r++) {
        OK(ncclCommDestroy(comms[r]));
        CUDA_OK(cudaSetDevice(r));
        CUDA_OK(cudaStreamDestroy(streams[r]));
    }
    return check_done();
}
