// SPDX-License-Identifier: Apache-2.0
/* Graphs: captured from streams that fork and join, made by calls, instantiated, launched repeatedly,
 * updated; what a capture refuses. */
#include "check.h"

enum { N = 1000 };

__global__ void add(int *data, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) data[i] += value;
}

__global__ void join(const int *a, const int *b, int *sum) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) sum[i] = 1000 * a[i] + b[i];
}

static void CUDART_CB count(void *counter) {
    (*(int *)counter)++;
}

static int *a, *b, *sum, *out;

static void check_sum(int expected) {
    for (int i = 0; i < N; i++)
        CHECK_EQ(out[i], expected);
}

static void captured(void) {
    cudaStream_t stream, other;
    cudaEvent_t fork, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec, old_form;
    cudaStreamCaptureStatus status;
    int calls = 0;
    size_t nodes = 0, roots = 0, edges = 0;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA_OK(cudaEventCreate(&fork));
    CUDA_OK(cudaEventCreate(&joined));
    CUDA_OK(cudaMemset(a, 0, N * sizeof(int)));
    CUDA_OK(cudaMemset(b, 0, N * sizeof(int)));
    CUDA_OK(cudaMemset(out, 0, N * sizeof(int)));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA_OK(cudaStreamIsCapturing(stream, &status));
    CHECK_EQ((int)status, (int)cudaStreamCaptureStatusActive);
    add<<<4, 256, 0, stream>>>(a, 1);
    CUDA_OK(cudaEventRecord(fork, stream));
    CUDA_OK(cudaStreamWaitEvent(other, fork, 0));
    CUDA_OK(cudaStreamIsCapturing(other, &status));
    CHECK_EQ((int)status, (int)cudaStreamCaptureStatusActive);
    CUDA_OK(cudaMemsetAsync(b, 0, N * sizeof(int), other));
    add<<<4, 256, 0, other>>>(b, 7);
    CUDA_OK(cudaEventRecord(joined, other));
    add<<<4, 256, 0, stream>>>(a, 1);
    CUDA_OK(cudaStreamWaitEvent(stream, joined, 0));
    join<<<4, 256, 0, stream>>>(a, b, sum);
    CUDA_OK(cudaMemcpyAsync(out, sum, N * sizeof(int), cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaLaunchHostFunc(stream, count, &calls));
    CHECK_ERROR(cudaEventQuery(joined), cudaErrorCapturedEvent);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaStreamIsCapturing(other, &status));
    CHECK_EQ((int)status, (int)cudaStreamCaptureStatusNone);
    check_sum(0); /* nothing has run */
    CHECK_EQ(calls, 0);
    CUDA_OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CUDA_OK(cudaGraphGetRootNodes(graph, NULL, &roots));
    CUDA_OK(cudaGraphGetEdges(graph, NULL, NULL, &edges));
    CHECK_EQ(nodes, 7u);
    CHECK_EQ(roots, 1u);
    CHECK_EQ(edges, 7u);
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphInstantiate(&old_form, graph, NULL, NULL, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    for (int launch = 1; launch <= 3; launch++) {
        CUDA_OK(cudaGraphLaunch(exec, stream));
        CUDA_OK(cudaStreamSynchronize(stream));
        check_sum(2000 * launch + 7);
        CHECK_EQ(calls, launch);
    }
    CUDA_OK(cudaGraphLaunch(old_form, other));
    CUDA_OK(cudaStreamSynchronize(other));
    check_sum(8007);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphExecDestroy(old_form));
    CHECK_ERROR(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue);
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaStreamDestroy(other));
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, void *function,
                                  void **args) {
    cudaGraphNode_t node;
    cudaKernelNodeParams p = {};
    p.func = function;
    p.gridDim = dim3(4);
    p.blockDim = dim3(256);
    p.kernelParams = args;
    CUDA_OK(cudaGraphAddKernelNode(&node, graph, after != NULL ? &after : NULL, after != NULL, &p));
    return node;
}

static void made_by_calls(void) {
    cudaGraph_t graph, changed;
    cudaGraphExec_t exec;
    cudaGraphNode_t fill, first, second, last, copy, empty, deps[2];
    cudaGraphNodeType type;
    cudaGraphExecUpdateResultInfo info;
    int five = 5, six = 6, value = 5;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    cudaMemsetParams p = {};
    p.dst = a;
    p.value = 0x01010101;
    p.elementSize = 4;
    p.width = N;
    p.height = 1;
    CUDA_OK(cudaGraphAddMemsetNode(&fill, graph, NULL, 0, &p));
    void *args_a[] = {&a, &value}, *args_b[] = {&b, &six}, *args_join[] = {&a, &b, &sum};
    first = add_kernel(graph, fill, (void *)add, args_a);
    value = 99; /* the node has its own copy */
    CUDA_OK(cudaGraphAddEmptyNode(&empty, graph, NULL, 0));
    second = add_kernel(graph, empty, (void *)add, args_b);
    last = add_kernel(graph, first, (void *)join, args_join);
    CUDA_OK(cudaGraphAddDependencies(graph, &second, &last, 1));
    CUDA_OK(cudaGraphAddMemcpyNode1D(&copy, graph, &last, 1, out, sum, N * sizeof(int),
                                     cudaMemcpyDeviceToHost));
    size_t count = 2;
    CUDA_OK(cudaGraphNodeGetDependencies(last, deps, &count));
    CHECK_EQ(count, 2u);
    CHECK(deps[0] == first && deps[1] == second);
    CUDA_OK(cudaGraphNodeGetType(copy, &type));
    CHECK_EQ((int)type, (int)cudaGraphNodeTypeMemcpy);
    CUDA_OK(cudaMemset(b, 0, N * sizeof(int)));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaDeviceSynchronize());
    check_sum((int)(1000u * (0x01010101u + 5u) + 6u));
    /* Another argument for one node, then all of a graph of the same shape. */
    cudaKernelNodeParams k;
    CUDA_OK(cudaGraphKernelNodeGetParams(first, &k));
    CHECK_EQ(*(int *)k.kernelParams[1], 5);
    void *args_changed[] = {&a, &five};
    five = -0x01010101;
    k.kernelParams = args_changed;
    CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, first, &k));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaDeviceSynchronize());
    check_sum(12);
    CUDA_OK(cudaGraphClone(&changed, graph));
    CUDA_OK(cudaGraphExecUpdate(exec, changed, &info));
    CHECK_EQ((int)info.result, (int)cudaGraphExecUpdateSuccess);
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaDeviceSynchronize());
    check_sum((int)(1000u * (0x01010101u + 5u) + 18u));
    CUDA_OK(cudaGraphAddEmptyNode(&empty, changed, NULL, 0));
    CHECK_ERROR(cudaGraphExecUpdate(exec, changed, &info), cudaErrorGraphExecUpdateFailure);
    CHECK_EQ((int)info.result, (int)cudaGraphExecUpdateErrorTopologyChanged);
    /* A graph in a graph; and a cycle. */
    cudaGraph_t outer;
    cudaGraphNode_t child;
    CUDA_OK(cudaGraphCreate(&outer, 0));
    CUDA_OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphInstantiate(&exec, outer, 0));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaDeviceSynchronize());
    check_sum((int)(1000u * (0x01010101u + 5u) + 24u));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphAddDependencies(graph, &last, &fill, 1));
    CHECK_ERROR(cudaGraphInstantiate(&exec, graph, 0), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphDestroy(outer));
    CUDA_OK(cudaGraphDestroy(changed));
    CUDA_OK(cudaGraphDestroy(graph));
    CHECK_ERROR(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

static void refused(void) {
    cudaStream_t stream, other;
    cudaEvent_t event;
    cudaGraph_t graph = NULL;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamCreate(&other));
    CUDA_OK(cudaEventCreate(&event));
    CHECK_ERROR(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal),
                cudaErrorStreamCaptureUnsupported);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK_ERROR(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed),
                cudaErrorIllegalState);
    CHECK_ERROR(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
    add<<<1, 32, 0, stream>>>(a, 1);
    CHECK_ERROR(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CHECK(graph == NULL);
    /* Work in another stream that does not come back. */
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, stream>>>(a, 1);
    CUDA_OK(cudaEventRecord(event, stream));
    CUDA_OK(cudaStreamWaitEvent(other, event, 0));
    add<<<1, 32, 0, other>>>(a, 1);
    CHECK_ERROR(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 32, 0, stream>>>(a, 1);
    CUDA_OK(cudaEventRecord(event, stream));
    CUDA_OK(cudaStreamWaitEvent(other, event, 0));
    add<<<1, 32, 0, other>>>(a, 1);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
    /* The legacy stream would wait for the capturing one. */
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    add<<<1, 32>>>(a, 1);
    CHECK_ERROR(cudaGetLastError(), cudaErrorStreamCaptureImplicit);
    CHECK_ERROR(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    (void)cudaGetLastError();
    add<<<1, 32, 0, stream>>>(a, 1); /* the stream works again */
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaStreamDestroy(other));
}

int main(void) {
    CUDA_OK(cudaMalloc(&a, N * sizeof(int)));
    CUDA_OK(cudaMalloc(&b, N * sizeof(int)));
    CUDA_OK(cudaMalloc(&sum, N * sizeof(int)));
    CUDA_OK(cudaMallocHost(&out, N * sizeof(int)));
    captured();
    made_by_calls();
    refused();
    return check_done();
}
