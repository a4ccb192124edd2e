/* SPDX-License-Identifier: Apache-2.0 */
/* Calls whose parameters CUDA 13 changed: C++ programs call either form, and the driver's are found by version. */
#include "check.h"
#include <cuda.h>
#include <cudaTypedefs.h>

#define DRIVER_OK(call) CHECK_EQ((int)(call), 0)

__global__ void twice(int *data) { data[threadIdx.x] *= 2; }

static void contexts(void)
{
    CUcontext context, inner;
    CUctxCreateParams params = {};
    CUexecAffinityParam part = {};
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, NULL, 0, 0));
    DRIVER_OK(cuCtxCreate(&inner, &params, 0, 0));
    DRIVER_OK(cuCtxDestroy(inner));
    part.param.smCount.val = 1;
    params.execAffinityParams = &part;
    params.numExecAffinityParams = 1;
    CHECK_EQ((int)cuCtxCreate(&inner, &params, 0, 0), (int)CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    params.numExecAffinityParams = 0;
    CHECK_EQ((int)cuCtxCreate(&inner, &params, 0, 0), (int)CUDA_ERROR_INVALID_VALUE);
    params.execAffinityParams = NULL;
    CUctxCigParam graphics = {};
    params.cigParams = &graphics;
    CHECK_EQ((int)cuCtxCreate(&inner, &params, 0, 0), (int)CUDA_ERROR_NOT_SUPPORTED);
    DRIVER_OK(cuCtxDestroy(context));
}

static void by_version(void)
{
    CUresult (*with_params)(CUcontext *, CUctxCreateParams *, unsigned, CUdevice);
    CUresult (*with_parts)(CUcontext *, CUexecAffinityParam *, int, unsigned, CUdevice);
    PFN_cuCtxCreate plain;
    CUcontext context;
    DRIVER_OK(cuGetProcAddress("cuCtxCreate", (void **)&with_params, 13000, 0, NULL));
    DRIVER_OK(with_params(&context, NULL, 0, 0));
    DRIVER_OK(cuCtxDestroy(context));
    DRIVER_OK(cuGetProcAddress("cuCtxCreate", (void **)&with_parts, 11040, 0, NULL));
    DRIVER_OK(with_parts(&context, NULL, 0, 0, 0));
    DRIVER_OK(cuCtxDestroy(context));
    DRIVER_OK(cuGetProcAddress("cuCtxCreate", (void **)&plain, 3020, 0, NULL));
    DRIVER_OK(plain(&context, 0, 0));
    CUdeviceptr managed;
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUresult (*prefetch)(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream);
    CUresult (*advise)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation);
    DRIVER_OK(cuMemAllocManaged(&managed, 1 << 20, CU_MEM_ATTACH_GLOBAL));
    DRIVER_OK(cuGetProcAddress("cuMemAdvise", (void **)&advise, 12020, 0, NULL));
    DRIVER_OK(advise(managed, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    int preferred = -7;
    DRIVER_OK(cuMemRangeGetAttribute(&preferred, sizeof preferred, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION,
                                     managed, 1 << 20));
    CHECK_EQ(preferred, 0);
    DRIVER_OK(cuGetProcAddress("cuMemPrefetchAsync", (void **)&prefetch, 12020, 0, NULL));
    DRIVER_OK(prefetch(managed, 1 << 20, here, 0, NULL));
    DRIVER_OK(cuMemFree(managed));
    DRIVER_OK(cuCtxDestroy(context));
}

static void edges(void)
{
    enum { N = 32 };
    int *data = check_managed<int>(N);
    cudaGraph_t graph;
    cudaGraphNode_t nodes[3], from[3], to[3];
    cudaGraphEdgeData data_of[3];
    cudaGraphNodeParams params = {};
    cudaGraphExec_t exec;
    void *args[] = {&data};
    size_t count = 3;
    for (int i = 0; i < N; i++)
        data[i] = i;
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = (void *)twice;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(N);
    params.kernel.kernelParams = args;
    CUDA_OK(cudaGraphCreate(&graph, 0));
    CUDA_OK(cudaGraphAddNode(&nodes[0], graph, NULL, NULL, 0, &params));
    CUDA_OK(cudaGraphAddNode(&nodes[1], graph, nodes, NULL, 1, &params));
    CUDA_OK(cudaGraphAddNode(&nodes[2], graph, NULL, 0, &params));
    CUDA_OK(cudaGraphAddDependencies(graph, &nodes[1], &nodes[2], NULL, 1));
    CUDA_OK(cudaGraphGetEdges(graph, from, to, data_of, &count));
    CHECK_EQ(count, 2u);
    CUDA_OK(cudaGraphNodeGetDependencies(nodes[2], from, data_of, &count));
    CHECK_EQ(count, 1u);
    CHECK(from[0] == nodes[1]);
    CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
    CUDA_OK(cudaGraphLaunch(exec, 0));
    KERNEL_OK();
    for (int i = 0; i < N; i++)
        CHECK_EQ(data[i], 8 * i);

    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    unsigned long long id;
    const cudaGraphNode_t *last;
    const cudaGraphEdgeData *last_data;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    twice<<<1, N, 0, stream>>>(data);
    CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &last_data, &count));
    CHECK_EQ((int)status, (int)cudaStreamCaptureStatusActive);
    CHECK_EQ(count, 1u);
    CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &count));
    CHECK_EQ(count, 1u);
    CUDA_OK(cudaGraphAddNode(&nodes[0], graph, last, NULL, 1, &params));
    CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, 1, cudaStreamSetCaptureDependencies));
    CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &last, &last_data, &count));
    CHECK(count == 1 && last[0] == nodes[0]);
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    count = 3;
    CUDA_OK(cudaGraphGetEdges(graph, from, to, data_of, &count));
    CHECK_EQ(count, 1u);
    CUDA_OK(cudaGraphRemoveDependencies(graph, from, to, data_of, 1));
    CUDA_OK(cudaGraphGetEdges(graph, NULL, NULL, NULL, &count));
    CHECK_EQ(count, 0u);
}

int main(void)
{
    contexts();
    by_version();
    edges();
    return check_done();
}
