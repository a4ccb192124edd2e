// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcuda
/* The driver API without cuInit: an error before the first call of the runtime, which initialises the driver. */
#include "check.h"

#include <cuda.h>

int main(void) {
    CUdevice device = -1;
    CUcontext context = NULL;
    size_t free_bytes = 0, total_bytes = 0;
    CHECK_EQ(cuCtxGetDevice(&device), CUDA_ERROR_NOT_INITIALIZED);
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaFree(NULL));
    CHECK_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
    CHECK_EQ(device, 0);
    CHECK_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    CHECK(context != NULL);
    CHECK_EQ(cuMemGetInfo(&free_bytes, &total_bytes), CUDA_SUCCESS);
    CHECK(free_bytes != 0 && free_bytes <= total_bytes);
    return check_done();
}
