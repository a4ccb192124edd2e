/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices by the driver API: a context on each, which the runtime's current device follows, and copies and
 * access between them. */
#include "check.h"
#include <cuda.h>

#define CU_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)

__global__ void twice(int *data) { data[threadIdx.x] *= 2; }

int main()
{
    int count = 0, ordinal = -1, now = -1, can = 0, host[32];
    CUdevice devices[2];
    CUcontext contexts[2], primary, current;
    CUdeviceptr memory[2];
    CU_OK(cuInit(0));
    CU_OK(cuDeviceGetCount(&count));
    CHECK(count >= 2);
    CHECK_EQ((int)cuDeviceGet(&devices[0], count), (int)CUDA_ERROR_INVALID_DEVICE);
    for (int d = 0; d < 2; d++) {
        CU_OK(cuDeviceGet(&devices[d], d));
        CU_OK(cuCtxCreate(&contexts[d], 0, devices[d]));
        CU_OK(cuCtxGetDevice(&devices[d]));
        CHECK_EQ((int)devices[d], d);
        CU_OK(cuMemAlloc(&memory[d], sizeof host));
        CU_OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory[d]));
        CHECK_EQ(ordinal, d);
        CU_OK(cuPointerGetAttribute(&current, CU_POINTER_ATTRIBUTE_CONTEXT, memory[d]));
        CHECK(current == contexts[d]);
    }
    for (int i = 0; i < 32; i++)
        host[i] = i;
    CU_OK(cuMemcpyHtoD(memory[0], host, sizeof host));
    CU_OK(cuMemcpyPeer(memory[1], contexts[1], memory[0], contexts[0], sizeof host));

    /* The runtime follows the context, and the context the runtime. */
    CUDA_OK(cudaGetDevice(&now));
    CHECK_EQ(now, 1);
    twice<<<1, 32>>>((int *)memory[1]);
    CU_OK(cuCtxSynchronize());
    CU_OK(cuCtxSetCurrent(contexts[0]));
    CUDA_OK(cudaGetDevice(&now));
    CHECK_EQ(now, 0);
    CUDA_OK(cudaSetDevice(1));
    CU_OK(cuCtxGetCurrent(&current));
    CU_OK(cuDevicePrimaryCtxRetain(&primary, devices[1]));
    CHECK(current == primary);
    CU_OK(cuMemcpyDtoH(host, memory[1], sizeof host));
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        wrong += host[i] != 2 * i;
    CHECK_EQ(wrong, 0);

    CU_OK(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, devices[0], devices[1]));
    CHECK_EQ(can, 1);
    CHECK_EQ((int)cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, devices[0], devices[0]),
             (int)CUDA_ERROR_INVALID_DEVICE);
    can = -1;
    CU_OK(cuDeviceCanAccessPeer(&can, devices[1], devices[0]));
    CHECK_EQ(can, 1);
    CHECK_EQ((int)cuCtxEnablePeerAccess(contexts[1], 0), (int)CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    CU_OK(cuCtxEnablePeerAccess(contexts[0], 0));
    CHECK_EQ((int)cuCtxEnablePeerAccess(contexts[0], 0), (int)CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    CU_OK(cuCtxDisablePeerAccess(contexts[0]));
    CHECK_EQ((int)cuCtxDisablePeerAccess(contexts[0]), (int)CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);

    CU_OK(cuDevicePrimaryCtxRelease(devices[1]));
    for (int d = 0; d < 2; d++) {
        CU_OK(cuMemFree(memory[d]));
        CU_OK(cuCtxDestroy(contexts[d]));
    }
    return check_done();
}
