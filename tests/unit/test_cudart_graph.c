/* SPDX-License-Identifier: Apache-2.0 */
/* graph/ and driver/: captures of several threads, graphs that change, contexts, virtual memory. */
#include <pthread.h>

#include "cuda_program.h"
#include "cudart/cudart.h"
#include "warpage/cuda/cuda.h"

enum { N = 64 };

static void queue_add(int *data, int value, cudaStream_t stream) {
    int count = N;
    void *args[] = {&data, &value, &count};
    assert_ok(cudaLaunchKernel(&stub_add, (dim3){1, 1, 1}, (dim3){N, 1, 1}, args, 0, stream));
}

/* Captures on a stream and one that it forks, launches the graph three times. */
static void *capture_and_launch(void *arg) {
    int *data = arg;
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    assert_ok(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    assert_ok(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    assert_ok(cudaEventCreate(&fork));
    assert_ok(cudaEventCreate(&join));
    assert_ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    assert_ok(cudaMemsetAsync(data, 0, N * sizeof *data, a));
    assert_ok(cudaEventRecord(fork, a));
    assert_ok(cudaStreamWaitEvent(b, fork, 0));
    queue_add(data, 3, a);
    assert_ok(cudaEventRecord(join, b));
    assert_ok(cudaStreamWaitEvent(a, join, 0));
    queue_add(data, 4, a);
    assert_ok(cudaStreamEndCapture(a, &graph));
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    assert_ok(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        assert_ok(cudaGraphLaunch(exec, b));
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaStreamSynchronize(b));
    assert_int_equal(data[N - 1], 7);
    assert_ok(cudaEventDestroy(fork));
    assert_ok(cudaEventDestroy(join));
    assert_ok(cudaStreamDestroy(a));
    assert_ok(cudaStreamDestroy(b));
    return NULL;
}

static void threads_capture_side_by_side(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    int *data[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_ok(cudaMallocManaged((void **)&data[i], N * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, capture_and_launch, data[i]), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void a_stream_that_is_destroyed_ends_its_capture(void **state) {
    (void)state;
    int *data;
    cudaStream_t a, b;
    cudaGraph_t graph;
    cudaEvent_t event;
    assert_ok(cudaMallocManaged((void **)&data, N * sizeof *data, cudaMemAttachGlobal));
    assert_ok(cudaEventCreate(&event));
    assert_ok(cudaStreamCreate(&a));
    assert_ok(cudaStreamCreate(&b));
    assert_ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    queue_add(data, 1, a);
    assert_ok(cudaEventRecord(event, a));
    assert_ok(cudaStreamWaitEvent(b, event, 0));
    assert_ok(cudaStreamDestroy(b));
    assert_ok(cudaStreamEndCapture(a, &graph));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    queue_add(data, 1, a);
    assert_ok(cudaStreamDestroy(a));
    assert_ok(cudaDeviceSynchronize()); /* nothing is captured */
}

static void graphs_are_updated_and_nested(void **state) {
    (void)state;
    int *data, value = 5, count = N;
    cudaGraph_t graph, outer;
    cudaGraphNode_t node, child, empty;
    cudaGraphExec_t exec;
    cudaGraphExecUpdateResultInfo info;
    assert_ok(cudaMallocManaged((void **)&data, N * sizeof *data, cudaMemAttachGlobal));
    assert_ok(cudaMemset(data, 0, N * sizeof *data));
    void *args[] = {&data, &value, &count};
    struct cudaKernelNodeParams p = {
        .func = &stub_add, .gridDim = {1, 1, 1}, .blockDim = {N, 1, 1}, .kernelParams = args};
    assert_ok(cudaGraphCreate(&graph, 0));
    assert_ok(cudaGraphAddKernelNode(&node, graph, NULL, 0, &p));
    assert_ok(cudaGraphCreate(&outer, 0));
    assert_ok(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    assert_ok(cudaGraphAddEmptyNode(&empty, outer, &child, 1));
    assert_ok(cudaGraphInstantiate(&exec, outer, 0));
    assert_ok(cudaGraphExecUpdate(exec, outer, &info));
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(data[0], 5);
    assert_cuda(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
    assert_ok(cudaGraphExecDestroy(exec));
    assert_ok(cudaGraphInstantiate(&exec, graph, 0));
    value = -5;
    assert_ok(cudaGraphExecKernelNodeSetParams(exec, node, &p));
    p.func = &stub_gone;
    assert_true(cudaGraphAddKernelNode(&empty, graph, NULL, 0, &p) != cudaSuccess);
    assert_ok(cudaGraphLaunch(exec, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(data[0], 0);
    assert_ok(cudaGraphDestroy(outer));
    assert_ok(cudaGraphDestroy(graph));
    assert_ok(cudaGraphExecDestroy(exec));
    (void)cudaGetLastError();
}

static void *use_contexts(void *unused) {
    (void)unused;
    CUcontext own, current;
    CUdeviceptr memory;
    assert_int_equal(cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
    assert_int_equal(cuCtxCreate(&own, 0, 0), CUDA_SUCCESS);
    assert_int_equal(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
    assert_int_equal(cuMemFree(memory), CUDA_SUCCESS);
    assert_int_equal(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, own);
    assert_int_equal(cuCtxDestroy(own), CUDA_SUCCESS);
    assert_int_equal(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_null(current);
    return NULL;
}

static void threads_have_contexts_of_their_own(void **state) {
    (void)state;
    pthread_t threads[3];
    CUmodule module;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_contexts, NULL), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    static const char other_version[64] = WP_IMAGE_MAGIC;
    assert_int_equal(cuModuleLoadData(&module, other_version), CUDA_ERROR_NO_BINARY_FOR_GPU);
    assert_int_equal(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_IMAGE);
    assert_ok(cudaGetLastError());
}

static void mapped_memory_is_found_and_forgotten(void **state) {
    (void)state;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {.location = prop.location,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr range;
    CUmemGenericAllocationHandle memory;
    size_t unit;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                     CUDA_SUCCESS);
    assert_int_equal(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0), CUDA_SUCCESS);
    assert_int_equal(cuMemCreate(&memory, unit, &prop, 0), CUDA_SUCCESS);
    for (int i = 0; i < 4; i += 3) {
        assert_int_equal(cuMemMap(range + (size_t)i * unit, unit, 0, memory, 0), CUDA_SUCCESS);
        assert_int_equal(cuMemSetAccess(range + (size_t)i * unit, unit, &access, 1), CUDA_SUCCESS);
    }
    assert_int_equal(cuMemRelease(memory), CUDA_SUCCESS);
    int *data = (int *)(uintptr_t)range, read = 0;
    assert_int_equal(cuMemsetD32(range, 8, N), CUDA_SUCCESS);
    queue_add(data, 3, NULL);
    assert_int_equal(cuMemcpyDtoH(&read, range + 3 * unit, sizeof read), CUDA_SUCCESS);
    assert_int_equal(read, 11);
    assert_int_equal(cuMemUnmap(range, unit), CUDA_SUCCESS);
    assert_int_equal(cuMemcpyDtoH(&read, range, sizeof read), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cuMemUnmap(range + 3 * unit, unit), CUDA_SUCCESS);
    assert_int_equal(cuMemAddressFree(range, 4 * unit), CUDA_SUCCESS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_capture_side_by_side, start_over),
        cmocka_unit_test_setup(a_stream_that_is_destroyed_ends_its_capture, start_over),
        cmocka_unit_test_setup(graphs_are_updated_and_nested, start_over),
        cmocka_unit_test_setup(threads_have_contexts_of_their_own, start_over),
        cmocka_unit_test_setup(mapped_memory_is_found_and_forgotten, start_over),
    };
    return wp_test_main(tests);
}
