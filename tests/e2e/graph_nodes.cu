// SPDX-License-Identifier: Apache-2.0
/* Graphs that allocate and free memory, that decide by conditions, and that record events; nodes added by the general
 * call, captures into a graph of the program. */
#include "check.h"

#include <string.h>

enum { N = 1000 };

__global__ void set(int *data, int value) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) data[i] = value + i;
}

__global__ void add(int *data, const int *more) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) data[i] += more[i];
}

__global__ void count(int *counter) {
    ++*counter;
}

__global__ void decide(const int *from, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, *from);
}

__global__ void count_down(int *left, cudaGraphConditionalHandle handle) {
    cudaGraphSetConditional(handle, --*left != 0);
}

static int *data, *counter;

static unsigned long long attribute(cudaGraphMemAttributeType attr) {
    unsigned long long bytes = 0;
    CUDA_OK(cudaDeviceGetGraphMemAttribute(0, attr, &bytes));
    return bytes;
}

static cudaMemAllocNodeParams block_of(size_t bytes) {
    cudaMemAllocNodeParams p = {};
    p.poolProps.allocType = cudaMemAllocationTypePinned;
    p.poolProps.location.type = cudaMemLocationTypeDevice;
    p.bytesize = bytes;
    return p;
}

static void kernel_node(cudaGraphNode_t *out, cudaGraph_t graph, cudaGraphNode_t *after, void *function, void *first,
                        void *second) {
    void *args[] = {first, second};
    cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
    p.kernel.func = function;
    p.kernel.gridDim = dim3((N + 127) / 128);
    p.kernel.blockDim = dim3(128);
    if (function == (void *)count || function == (void *)decide || function == (void *)count_down)
        p.kernel.gridDim = p.kernel.blockDim = dim3(1);
    p.kernel.kernelParams = args;
    CUDA_OK(cudaGraphAddNode(out, graph, after, after != NULL, &p));
}

static void check_data(int value) {
    static int host[N];
    CUDA_OK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        CHECK_EQ(host[i], value + 2 * i);
}

/* Memory from one node to another, launched twice. */
static void memory_within(void) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t taken, filled, first, added, freed;
    int seven = 7, three = 3;
    const unsigned long long before = attribute(cudaGraphMemAttrReservedMemCurrent);
    CUDA_OK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams p = block_of(N * sizeof(int)), read = {};
    CUDA_OK(cudaGraphAddMemAllocNode(&taken, graph, NULL, 0, &p));
    CHECK(p.dptr != NULL);
    CUDA_OK(cudaGraphMemAllocNodeGetParams(taken, &read));
    CHECK(read.dptr == p.dptr && read.bytesize == p.bytesize);
    kernel_node(&filled, graph, &taken, (void *)set, &p.dptr, &seven);
    kernel_node(&first, graph, &filled, (void *)set, &data, &three);
    kernel_node(&added, graph, &first, (void *)add, &data, &p.dptr);
    CUDA_OK(cudaGraphAddMemFreeNode(&freed, graph, &added, 1, p.dptr));
    CHECK_EQ(cudaGraphAddMemFreeNode(&freed, graph, &added, 1, data), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        CUDA_OK(cudaMemset(data, 0, N * sizeof(int)));
        CUDA_OK(cudaGraphLaunch(exec, 0));
        check_data(10);
        CHECK_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0);
    }
    CHECK(attribute(cudaGraphMemAttrUsedMemHigh) >= N * sizeof(int));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaDeviceGraphMemTrim(0));
    CHECK_EQ(attribute(cudaGraphMemAttrReservedMemCurrent), before);
    cudaGetLastError();
}

/* Memory that the program frees after the launch: by a call, by another graph, by the next launch. */
static void memory_beyond(void) {
    cudaStream_t stream;
    cudaGraph_t graph, frees;
    cudaGraphExec_t exec, freeing;
    cudaGraphNode_t node;
    int *memory;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CUDA_OK(cudaMallocAsync((void **)&memory, N * sizeof(int), stream));
    set<<<(N + 127) / 128, 128, 0, stream>>>(memory, 1);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CHECK_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidValue); /* it is allocated still */
    CUDA_OK(cudaMemcpyAsync(data, memory, N * sizeof(int), cudaMemcpyDeviceToDevice, stream));
    add<<<(N + 127) / 128, 128, 0, stream>>>(data, memory);
    CUDA_OK(cudaFreeAsync(memory, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    check_data(2);
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaGraphCreate(&frees, 0));
    CUDA_OK(cudaGraphAddMemFreeNode(&node, frees, NULL, 0, memory));
    CUDA_OK(cudaGraphInstantiate(&freeing, frees, 0));
    CUDA_OK(cudaGraphLaunch(freeing, stream));
    CHECK_EQ(cudaGraphLaunch(freeing, stream), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphExecDestroy(freeing));
    CUDA_OK(cudaGraphDestroy(frees));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaGraphLaunch(exec, stream));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaFree(memory)); /* no graph has it any more */
    CHECK_EQ(cudaFree(memory), cudaErrorInvalidValue);
    CUDA_OK(cudaStreamDestroy(stream));
    cudaGetLastError();
}

static cudaGraphNodeParams condition(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                     unsigned size) {
    cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
    p.conditional.handle = handle;
    p.conditional.type = type;
    p.conditional.size = size;
    return p;
}

static int launch(cudaGraphExec_t exec, int value) {
    int input[2] = {0, value};
    CUDA_OK(cudaMemcpy(counter, input, sizeof input, cudaMemcpyHostToDevice));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaMemcpy(input, counter, sizeof input, cudaMemcpyDeviceToHost));
    return input[0];
}

/* Body b counts b + 1 times. */
static void choices(cudaGraphConditionalNodeType type, unsigned bodies, const int *expected) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t asked, node;
    cudaGraphConditionalHandle handle;
    int *input = counter + 1;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph));
    kernel_node(&asked, graph, NULL, (void *)decide, &input, &handle);
    cudaGraphNodeParams p = condition(handle, type, bodies);
    CUDA_OK(cudaGraphAddNode(&node, graph, &asked, 1, &p));
    for (unsigned b = 0; b < bodies; b++) {
        cudaGraphNode_t last = NULL;
        for (unsigned i = 0; i <= b; i++)
            kernel_node(&last, p.conditional.phGraph_out[b], i != 0 ? &last : NULL, (void *)count, &counter, NULL);
    }
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphDestroy(graph));
    for (int value = 0; value < 4; value++)
        CHECK_EQ(launch(exec, value), expected[value]);
    CUDA_OK(cudaGraphExecDestroy(exec));
}

/* A loop within a loop: the inner one's value is set at each launch of the outer body by its kernels. */
static void loops(void) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle outer;
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *last;
    size_t last_count;
    cudaGraph_t captured;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    count<<<1, 1, 0, stream>>>(counter);
    CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, NULL, &captured, &last, &last_count));
    CHECK_EQ(status, cudaStreamCaptureStatusActive);
    CHECK_EQ(last_count, 1);
    CUDA_OK(cudaGraphConditionalHandleCreate(&outer, captured, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams p = condition(outer, cudaGraphCondTypeWhile, 1);
    CUDA_OK(cudaGraphAddNode(&node, captured, last, last_count, &p));
    CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies));
    count<<<1, 1, 0, stream>>>(counter);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaStreamBeginCaptureToGraph(stream, p.conditional.phGraph_out[0], NULL, NULL, 0,
                                          cudaStreamCaptureModeGlobal));
    count<<<1, 1, 0, stream>>>(counter);
    count_down<<<1, 1, 0, stream>>>(counter + 1, outer);
    CUDA_OK(cudaStreamEndCapture(stream, NULL));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_EQ(launch(exec, 5), 7);
    CHECK_EQ(launch(exec, 1), 3);
    CHECK_EQ(launch(exec, 60), 62);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaStreamDestroy(stream));
}

static void mistakes(void) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphConditionalHandle handle;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    CHECK_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 0, 8), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph));
    cudaGraphNodeParams p = condition(handle, cudaGraphCondTypeWhile, 2);
    CHECK_EQ(cudaGraphAddNode(&node, graph, NULL, 0, &p), cudaErrorInvalidValue);
    p = condition(handle + 4, cudaGraphCondTypeIf, 1);
    CHECK_EQ(cudaGraphAddNode(&node, graph, NULL, 0, &p), cudaErrorInvalidValue);
    cudaMemAllocNodeParams none = block_of(0);
    CHECK_EQ(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &none), cudaErrorInvalidValue);
    size_t nodes = 9;
    CUDA_OK(cudaGraphGetNodes(graph, NULL, &nodes));
    CHECK_EQ(nodes, 0);
    CUDA_OK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

static void events(void) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t counted, recorded, waited;
    cudaEvent_t event, got;
    CUDA_OK(cudaEventCreate(&event));
    CUDA_OK(cudaGraphCreate(&graph, 0));
    kernel_node(&counted, graph, NULL, (void *)count, &counter, NULL);
    CUDA_OK(cudaGraphAddEventRecordNode(&recorded, graph, &counted, 1, event));
    CUDA_OK(cudaGraphAddEventWaitNode(&waited, graph, &recorded, 1, event));
    CUDA_OK(cudaGraphEventRecordNodeGetEvent(recorded, &got));
    CHECK(got == event);
    CHECK_EQ(cudaGraphEventWaitNodeGetEvent(recorded, &got), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_EQ(launch(exec, 0), 1);
    CUDA_OK(cudaEventSynchronize(event));
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(graph));
    CUDA_OK(cudaEventDestroy(event));
    cudaGetLastError();
}

static void CUDART_CB note(void *said) {
    ++*(int *)said;
}

/* Parameters, edges and nodes that change; what a graph says of itself. */
static void edits(void) {
    cudaGraph_t graph, clone, child;
    cudaGraphExec_t exec;
    cudaGraphNode_t filled, counted, hosted, inner, twin, found[2];
    cudaMemsetParams fill = {}, got = {};
    int said = 0, other = 0;
    unsigned on = 9;
    size_t n = 2;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    fill.dst = counter;
    fill.value = 5;
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    CUDA_OK(cudaGraphAddMemsetNode(&filled, graph, NULL, 0, &fill));
    kernel_node(&counted, graph, &filled, (void *)count, &counter, NULL);
    cudaHostNodeParams host = {note, &other}, host_got;
    CUDA_OK(cudaGraphAddHostNode(&hosted, graph, &counted, 1, &host));
    CUDA_OK(cudaGraphHostNodeGetParams(hosted, &host_got));
    CHECK(host_got.fn == note && host_got.userData == &other);
    host.userData = &said;
    CUDA_OK(cudaGraphHostNodeSetParams(hosted, &host));
    CUDA_OK(cudaGraphMemsetNodeGetParams(filled, &got));
    CHECK(got.dst == counter && got.value == 5 && got.elementSize == 4 && got.width == 1 && got.height == 1);
    fill.value = 20;
    CUDA_OK(cudaGraphMemsetNodeSetParams(filled, &fill));
    CUDA_OK(cudaGraphNodeGetDependentNodes(filled, found, &n));
    CHECK_EQ(n, 1);
    CHECK(found[0] == counted && found[1] == NULL);
    CUDA_OK(cudaGraphClone(&clone, graph));
    CUDA_OK(cudaGraphNodeFindInClone(&twin, counted, clone));
    CHECK(twin != counted);
    CHECK_EQ(cudaGraphNodeFindInClone(&twin, twin, graph), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphDestroyNode(twin)); /* the fill alone is left in front of the host's node */
    CUDA_OK(cudaGraphGetNodes(clone, NULL, &n));
    CHECK_EQ(n, 2);
    CUDA_OK(cudaGraphInstantiate(&exec, clone, 0));
    CHECK_EQ(launch(exec, 0), 20);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphAddChildGraphNode(&inner, graph, &hosted, 1, clone));
    CUDA_OK(cudaGraphChildGraphNodeGetGraph(inner, &child));
    CHECK(child != clone && child != NULL);
    CUDA_OK(cudaGraphRemoveDependencies(graph, &hosted, &inner, 1));
    CHECK_EQ(cudaGraphRemoveDependencies(graph, &hosted, &inner, 1), cudaErrorInvalidValue);
    CUDA_OK(cudaGraphDestroyNode(inner));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK_EQ(launch(exec, 0), 21);
    fill.value = 30;
    CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, filled, &fill));
    CHECK_EQ(launch(exec, 0), 31);
    CUDA_OK(cudaGraphNodeSetEnabled(exec, counted, 0));
    CUDA_OK(cudaGraphNodeGetEnabled(exec, counted, &on));
    CHECK_EQ(on, 0);
    CHECK_EQ(cudaGraphNodeSetEnabled(exec, hosted, 0), cudaErrorInvalidValue);
    CHECK_EQ(launch(exec, 0), 30);
    CHECK_EQ(said, 4);
    CHECK_EQ(other, 0);
    CUDA_OK(cudaGraphDebugDotPrint(graph, "graph_nodes.dot", 0));
    char text[400] = "";
    FILE *file = fopen("graph_nodes.dot", "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0);
    CHECK(strstr(text, "label=\"fill\"") != NULL && strstr(text, "count") != NULL &&
          strstr(text, "node_0 -> node_1;") != NULL && strstr(text, "node_1 -> node_2;") != NULL);
    fclose(file);
    remove("graph_nodes.dot");
    CHECK_EQ(cudaGraphDebugDotPrint(graph, "no/such/folder.dot", 0), cudaErrorOperatingSystem);
    CUDA_OK(cudaGraphExecDestroy(exec));
    CUDA_OK(cudaGraphDestroy(clone));
    CUDA_OK(cudaGraphDestroy(graph));
    cudaGetLastError();
}

/* After a reset, memory at the address that a graph's had is the program's. */
static void reset(void) {
    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    int *memory;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams p = block_of(1 << 20);
    CUDA_OK(cudaGraphAddMemAllocNode(&node, graph, NULL, 0, &p));
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    CUDA_OK(cudaDeviceReset());
    CHECK_EQ(attribute(cudaGraphMemAttrUsedMemCurrent), 0);
    CUDA_OK(cudaMalloc(&memory, 1 << 20));
    CUDA_OK(cudaFree(memory));
    CHECK_EQ(cudaFree(p.dptr), cudaErrorInvalidValue);
    cudaGetLastError();
}

int main(void) {
    static const int one[] = {0, 1, 1, 1}, two[] = {2, 1, 1, 1}, three[] = {1, 2, 3, 0};
    CUDA_OK(cudaMalloc(&data, N * sizeof(int)));
    CUDA_OK(cudaMalloc(&counter, 2 * sizeof(int)));
    memory_within();
    memory_beyond();
    choices(cudaGraphCondTypeIf, 1, one);
    choices(cudaGraphCondTypeIf, 2, two);
    choices(cudaGraphCondTypeSwitch, 3, three);
    loops();
    mistakes();
    events();
    edits();
    CUDA_OK(cudaFree(counter));
    CUDA_OK(cudaFree(data));
    reset();
    return check_done();
}
