// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcuda
/* Graphs of the driver API: made by calls and by capture, asked, changed, launched; copies of arrays and of variables,
 * arguments in one buffer, attributes of nodes and streams. The kernels' functions come from the runtime. */
#include <cuda.h>
#include <cudaTypedefs.h>

#include "check.h"

enum { N = 256 };

__global__ void add(int *data, int value) {
    data[threadIdx.x] += value;
}

__global__ void together(int *data) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1);
    __syncthreads();
    data[threadIdx.x] = sum;
}

__device__ int variable[4];

#define DRIVER_OK(call)                                                                            \
    do {                                                                                           \
        const CUresult result = (call);                                                            \
        const char *name = "?";                                                                    \
        if (result == CUDA_SUCCESS) break;                                                         \
        cuGetErrorName(result, &name);                                                             \
        printf("FAIL: %s:%d: %s: %s\n", __FILE__, __LINE__, #call, name);                          \
        exit(1);                                                                                   \
    } while (0)

static int *host, *out;
static CUdeviceptr data;
static CUstream stream;

static CUfunction function_of(const void *symbol) {
    cudaFunction_t f;
    CUDA_OK(cudaGetFuncBySymbol(&f, symbol));
    return f;
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(const void *symbol, void **args) {
    CUDA_KERNEL_NODE_PARAMS p = {};
    p.func = function_of(symbol);
    p.gridDimX = p.gridDimY = p.gridDimZ = p.blockDimY = p.blockDimZ = 1;
    p.blockDimX = N;
    p.kernelParams = args;
    return p;
}

static CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from) {
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = c.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    c.srcDevice = from;
    c.dstDevice = to;
    c.WidthInBytes = N * sizeof(int);
    c.Height = c.Depth = 1;
    return c;
}

static void CUDART_CB count(void *counter) {
    ++*(int *)counter;
}

static void launch(CUgraphExec exec) {
    DRIVER_OK(cuGraphLaunch(exec, stream));
    DRIVER_OK(cuStreamSynchronize(stream));
}

/* host -> data, + 5, filled in part, -> out */
static void by_calls() {
    CUgraph graph, clone;
    CUgraphExec exec;
    CUgraphNode nodes[5], found, listed[8];
    CUgraphNodeType type;
    int value = 5, calls = 0;
    size_t size = 8;
    void *args[] = {&data, &value};
    DRIVER_OK(cuGraphCreate(&graph, 0));
    CUDA_MEMCPY3D in = copy_of(data, (CUdeviceptr)(uintptr_t)host);
    DRIVER_OK(cuGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &in, NULL));
    CUDA_KERNEL_NODE_PARAMS k = kernel_of((const void *)add, args);
    DRIVER_OK(cuGraphAddKernelNode(&nodes[1], graph, &nodes[0], 1, &k));
    CUDA_MEMSET_NODE_PARAMS fill = {data, 0, 7, 4, 10, 1};
    DRIVER_OK(cuGraphAddMemsetNode(&nodes[2], graph, &nodes[1], 1, &fill, NULL));
    CUgraphNodeParams any = {};
    any.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    any.memcpy.copyParams = copy_of((CUdeviceptr)(uintptr_t)out, data);
    DRIVER_OK(cuGraphAddNode(&nodes[3], graph, &nodes[2], 1, &any));
    CUDA_HOST_NODE_PARAMS work = {count, &calls};
    DRIVER_OK(cuGraphAddHostNode(&nodes[4], graph, &nodes[3], 1, &work));

    DRIVER_OK(cuGraphGetNodes(graph, listed, &size));
    CHECK_EQ(size, 5);
    DRIVER_OK(cuGraphNodeGetType(nodes[2], &type));
    CHECK_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
    DRIVER_OK(cuGraphClone(&clone, graph));
    DRIVER_OK(cuGraphNodeFindInClone(&found, nodes[1], clone));
    CUDA_KERNEL_NODE_PARAMS got;
    DRIVER_OK(cuGraphKernelNodeGetParams(found, &got));
    CHECK(got.func == k.func);
    CHECK_EQ(got.blockDimX, N);
    CHECK_EQ(*(int *)got.kernelParams[1], 5);
    DRIVER_OK(cuGraphDestroy(clone));

    DRIVER_OK(cuGraphInstantiate(&exec, graph, 0));
    launch(exec);
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], i < 10 ? 7 : host[i] + 5);
    CHECK_EQ(calls, 1);

    /* Parameters of the executable graph, the arguments in a buffer; of the graph they stay. */
    struct {
        CUdeviceptr data;
        int value;
    } packed = {data, 100};
    size_t packed_size = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_size,
                     CU_LAUNCH_PARAM_END};
    k.kernelParams = NULL;
    k.extra = extra;
    DRIVER_OK(cuGraphExecKernelNodeSetParams(exec, nodes[1], &k));
    DRIVER_OK(cuGraphNodeSetEnabled(exec, nodes[2], 0));
    CUDA_MEMCPY3D half;
    DRIVER_OK(cuGraphMemcpyNodeGetParams(nodes[3], &half));
    CHECK_EQ(half.WidthInBytes, N * sizeof(int));
    CHECK(half.srcDevice == data);
    half.WidthInBytes /= 2;
    DRIVER_OK(cuGraphExecMemcpyNodeSetParams(exec, nodes[3], &half, NULL));
    memset(out, 0, N * sizeof *out);
    launch(exec);
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], i < N / 2 ? host[i] + 100 : 0);
    DRIVER_OK(cuGraphKernelNodeGetParams(nodes[1], &got));
    CHECK_EQ(*(int *)got.kernelParams[1], 5);
    CHECK(cuGraphKernelNodeSetParams(nodes[0], &k) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cuGraphLaunch(NULL, stream) == CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuGraphExecDestroy(exec));
    DRIVER_OK(cuGraphDestroy(graph));
}

static void by_capture() {
    CUgraph graph, again;
    CUgraphExec exec;
    CUgraphExecUpdateResultInfo info;
    CUstreamCaptureStatus status;
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {};
    cuuint64_t flags = 1;
    int value = 3;
    void *args[] = {&data, &value};
    for (int turn = 0; turn < 2; turn++) {
        DRIVER_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        DRIVER_OK(cuMemsetD32Async(data, 40, N, stream));
        DRIVER_OK(cuLaunchKernel(function_of((const void *)add), 1, 1, 1, N, 1, 1, 0, stream, args, NULL));
        DRIVER_OK(cuMemcpyDtoHAsync(out, data, N * sizeof(int), stream));
        DRIVER_OK(cuStreamIsCapturing(stream, &status));
        CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
        DRIVER_OK(cuStreamEndCapture(stream, turn == 0 ? &graph : &again));
        value = 4;
    }
    DRIVER_OK(cuStreamIsCapturing(stream, &status));
    CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    DRIVER_OK(cuGraphInstantiateWithParams(&exec, graph, &params));
    CHECK_EQ(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
    DRIVER_OK(cuGraphExecGetFlags(exec, &flags));
    CHECK_EQ(flags, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    launch(exec);
    CHECK_EQ(out[N - 1], 43);
    DRIVER_OK(cuGraphExecUpdate(exec, again, &info));
    CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    launch(exec);
    CHECK_EQ(out[N - 1], 44);
    DRIVER_OK(cuGraphExecDestroy(exec));
    DRIVER_OK(cuGraphDestroy(graph));
    DRIVER_OK(cuGraphDestroy(again));
}

/* Memory of the graph; a child, whose parameters change. */
static void memory_and_children() {
    CUgraph graph, child, other;
    CUgraphExec exec;
    CUgraphNode node, last, kernel;
    int value = 1;
    void *args[] = {&data, &value};
    CUDA_MEM_ALLOC_NODE_PARAMS memory = {};
    memory.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    memory.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    memory.bytesize = N * sizeof(int);
    DRIVER_OK(cuGraphCreate(&graph, 0));
    DRIVER_OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &memory));
    CUDA_MEMSET_NODE_PARAMS fill = {memory.dptr, 0, 9, 4, N, 1};
    DRIVER_OK(cuGraphAddMemsetNode(&last, graph, &node, 1, &fill, NULL));
    CUDA_MEMCPY3D copy = copy_of(data, memory.dptr);
    DRIVER_OK(cuGraphAddMemcpyNode(&node, graph, &last, 1, &copy, NULL));
    DRIVER_OK(cuGraphAddMemFreeNode(&last, graph, &node, 1, memory.dptr));
    DRIVER_OK(cuGraphCreate(&child, 0));
    CUDA_KERNEL_NODE_PARAMS k = kernel_of((const void *)add, args);
    DRIVER_OK(cuGraphAddKernelNode(&kernel, child, NULL, 0, &k));
    DRIVER_OK(cuGraphClone(&other, child));
    DRIVER_OK(cuGraphAddChildGraphNode(&node, graph, &last, 1, child));
    DRIVER_OK(cuGraphInstantiate(&exec, graph, 0));
    launch(exec);
    DRIVER_OK(cuMemcpyDtoH(out, data, N * sizeof(int)));
    CHECK_EQ(out[17], 10);
    value = 20;
    DRIVER_OK(cuGraphNodeFindInClone(&kernel, kernel, other));
    DRIVER_OK(cuGraphKernelNodeSetParams(kernel, &k));
    DRIVER_OK(cuGraphExecChildGraphNodeSetParams(exec, node, other));
    launch(exec);
    DRIVER_OK(cuMemcpyDtoH(out, data, N * sizeof(int)));
    CHECK_EQ(out[17], 29);
    CHECK(cuGraphExecChildGraphNodeSetParams(exec, node, graph) == CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuGraphExecDestroy(exec));
    DRIVER_OK(cuGraphDestroy(graph));
    DRIVER_OK(cuGraphDestroy(child));
    DRIVER_OK(cuGraphDestroy(other));
}

/* The runtime's nodes for arrays and variables. */
static void arrays_and_variables() {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[4];
    cudaArray_t array;
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
    CUDA_OK(cudaMallocArray(&array, &format, 16, 16));
    CUDA_OK(cudaGraphCreate(&graph, 0));
    cudaMemcpy3DParms to = {}, from = {}, got;
    to.srcPtr = make_cudaPitchedPtr(host, 16 * sizeof(int), 16, 16);
    to.dstArray = array;
    to.extent = make_cudaExtent(16, 16, 1);
    to.kind = cudaMemcpyHostToDevice;
    from.srcArray = array;
    from.dstPtr = make_cudaPitchedPtr(out, 8 * sizeof(int), 8, 4);
    from.srcPos = make_cudaPos(3, 2, 0);
    from.extent = make_cudaExtent(8, 4, 1);
    from.kind = cudaMemcpyDeviceToHost;
    CUDA_OK(cudaGraphAddMemcpyNode(&nodes[0], graph, NULL, 0, &to));
    CUDA_OK(cudaGraphAddMemcpyNode(&nodes[1], graph, &nodes[0], 1, &from));
    CUDA_OK(cudaGraphAddMemcpyNodeToSymbol(&nodes[2], graph, NULL, 0, variable, host + 40, 2 * sizeof(int), sizeof(int),
                                           cudaMemcpyHostToDevice));
    CUDA_OK(cudaGraphAddMemcpyNodeFromSymbol(&nodes[3], graph, &nodes[2], 1, out + 100, variable, 3 * sizeof(int), 0,
                                             cudaMemcpyDeviceToHost));
    CHECK_ERROR(cudaGraphAddMemcpyNodeToSymbol(&nodes[2], graph, NULL, 0, variable, host, 4 * sizeof(int), sizeof(int),
                                               cudaMemcpyHostToDevice),
                cudaErrorInvalidValue);
    CUDA_OK(cudaGraphMemcpyNodeGetParams(nodes[1], &got));
    CHECK(got.srcArray == array && got.dstPtr.ptr == out);
    CHECK_EQ(got.srcPos.x, 3);
    CUDA_MEMCPY3D described;
    DRIVER_OK(cuGraphMemcpyNodeGetParams(nodes[1], &described));
    CHECK_EQ(described.srcMemoryType, CU_MEMORYTYPE_ARRAY);
    CHECK_EQ(described.srcXInBytes, 3 * sizeof(int));
    CHECK_EQ(described.WidthInBytes, 8 * sizeof(int));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    memset(out, 0, N * sizeof *out);
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 8; x++)
            CHECK_EQ(out[8 * y + x], host[16 * (y + 2) + x + 3]);
    CHECK_EQ(out[100], 0);
    CHECK_EQ(out[101], host[40]);
    CHECK_EQ(out[102], host[41]);
    from.srcPos = make_cudaPos(0, 0, 0);
    CUDA_OK(cudaGraphExecMemcpyNodeSetParams(exec, nodes[1], &from));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(out[9], host[17]);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaFreeArray(array));
}

static void attributes() {
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node, other;
    void *args[] = {&data};
    CUkernelNodeAttrValue value = {}, got;
    CUDA_KERNEL_NODE_PARAMS k = kernel_of((const void *)together, args);
    DRIVER_OK(cuGraphCreate(&graph, 0));
    DRIVER_OK(cuGraphAddKernelNode(&node, graph, NULL, 0, &k));
    DRIVER_OK(cuGraphAddKernelNode(&other, graph, &node, 1, &k));
    value.cooperative = 1;
    DRIVER_OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
    DRIVER_OK(cuGraphKernelNodeSetParams(node, &k)); /* attributes stay */
    DRIVER_OK(cuGraphKernelNodeCopyAttributes(other, node));
    DRIVER_OK(cuGraphKernelNodeGetAttribute(other, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &got));
    CHECK_EQ(got.cooperative, 1);
    DRIVER_OK(cuGraphInstantiate(&exec, graph, 0));
    launch(exec);
    DRIVER_OK(cuMemcpyDtoH(out, data, N * sizeof(int)));
    CHECK_EQ(out[5], N);
    DRIVER_OK(cuGraphExecDestroy(exec));
    DRIVER_OK(cuGraphDestroy(graph));

    CUlaunchAttribute launches[2] = {};
    launches[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    launches[0].value.cooperative = 1;
    launches[1].id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN;
    launches[1].value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    CUlaunchConfig config = {};
    config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.blockDimX = N / 2;
    config.hStream = stream;
    config.attrs = launches;
    config.numAttrs = 2;
    DRIVER_OK(cuLaunchKernelEx(&config, function_of((const void *)together), args, NULL));
    DRIVER_OK(cuStreamSynchronize(stream));
    DRIVER_OK(cuMemcpyDtoH(out, data, N * sizeof(int)));
    CHECK_EQ(out[5], N / 2);

    CUstreamAttrValue policy = {}, kept;
    CUstream second;
    DRIVER_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    DRIVER_OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &kept));
    CHECK_EQ(kept.syncPolicy, CU_SYNC_POLICY_AUTO);
    policy.syncPolicy = CU_SYNC_POLICY_YIELD;
    DRIVER_OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &policy));
    cudaStreamAttrValue window = {};
    window.accessPolicyWindow.base_ptr = (void *)(uintptr_t)data;
    window.accessPolicyWindow.num_bytes = N;
    window.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    CUDA_OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window));
    DRIVER_OK(cuStreamCopyAttributes(second, stream));
    DRIVER_OK(cuStreamGetAttribute(second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &kept));
    CHECK_EQ(kept.syncPolicy, CU_SYNC_POLICY_YIELD);
    CUDA_OK(cudaStreamGetAttribute(second, cudaStreamAttributeAccessPolicyWindow, &window));
    CHECK_EQ(window.accessPolicyWindow.num_bytes, N);
    CHECK(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &policy) == CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuStreamDestroy(second));
    DRIVER_OK(cuCtxResetPersistingL2Cache());
}

/* Contexts that are counted, boxes between contexts, fills of rows. */
static void others(CUcontext context) {
    CUcontext same;
    CUDA_MEMCPY3D_PEER copy = {};
    DRIVER_OK(cuCtxAttach(&same, 0));
    CHECK(same == context);
    DRIVER_OK(cuCtxDetach(context));
    DRIVER_OK(cuMemsetD2D16Async(data, 4 * sizeof(short), 0x1234, 2, 3, stream));
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = data;
    copy.srcContext = copy.dstContext = context;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = out;
    copy.srcPitch = 4 * sizeof(short);
    copy.dstPitch = 2 * sizeof(short);
    copy.WidthInBytes = 2 * sizeof(short);
    copy.Height = 3;
    copy.Depth = 1;
    DRIVER_OK(cuMemcpy3DPeerAsync(&copy, stream));
    DRIVER_OK(cuStreamSynchronize(stream));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(out[i], 0x12341234);
    CUmemPoolPtrExportData handle;
    CHECK(cuMemPoolExportPointer(&handle, data) == CUDA_ERROR_NOT_SUPPORTED);
    CHECK(cuProfilerInitialize("", "", CU_OUT_CSV) == CUDA_ERROR_NOT_SUPPORTED);
    PFN_cuTensorMapEncodeIm2col named = cuTensorMapEncodeIm2col; /* CUTLASS has this type */
    CHECK(named != NULL);
}

int main() {
    CUcontext context;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, 0, 0));
    DRIVER_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    DRIVER_OK(cuMemAlloc(&data, N * sizeof(int)));
    DRIVER_OK(cuMemAllocHost((void **)&host, N * sizeof(int)));
    DRIVER_OK(cuMemAllocHost((void **)&out, N * sizeof(int)));
    for (int i = 0; i < N; i++)
        host[i] = 3 * i + 1;
    by_calls();
    by_capture();
    memory_and_children();
    arrays_and_variables();
    attributes();
    others(context);
    DRIVER_OK(cuStreamDestroy(stream));
    DRIVER_OK(cuCtxDetach(context));
    CHECK(cuCtxDetach(context) == CUDA_ERROR_INVALID_CONTEXT);
    return check_done();
}
