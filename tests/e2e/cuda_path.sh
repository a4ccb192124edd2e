# SPDX-License-Identifier: Apache-2.0
# The folder that serves as CUDA_PATH: a makefile in the manner of NVIDIA's samples builds with it, helper_cuda.h included.
set -e
cd "$TMP"
CUDA_PATH=$(cd "$(dirname "$WPCC")/../lib/warpage/cuda" && pwd)
cat >sample.cu <<'END'
#include <helper_cuda.h>
#include <stdio.h>
__global__ void square(float *v) { v[threadIdx.x] *= v[threadIdx.x]; }
int main(int argc, char **argv)
{
    int device = findCudaDevice(argc, (const char **)argv);
    float *v, h[64];
    for (int i = 0; i < 64; i++)
        h[i] = (float)i;
    checkCudaErrors(cudaMalloc((void **)&v, sizeof h));
    checkCudaErrors(cudaMemcpy(v, h, sizeof h, cudaMemcpyHostToDevice));
    square<<<1, 64>>>(v);
    getLastCudaError("square");
    checkCudaErrors(cudaMemcpy(h, v, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        if (h[i] != (float)(i * i)) return 1;
    printf(device == 0 ? "PASS\n" : "FAIL: device %d\n", device);
    return 0;
}
END
cat >Makefile <<'END'
CUDA_PATH ?= /usr/local/cuda
HOST_COMPILER ?= g++
NVCC := $(CUDA_PATH)/bin/nvcc -ccbin $(HOST_COMPILER)
NVCCFLAGS := -m64
SMS ?= 35 37 50 52 60 61 70 75 80
$(foreach sm,$(SMS),$(eval GENCODE_FLAGS += -gencode arch=compute_$(sm),code=sm_$(sm)))
GENCODE_FLAGS += -gencode arch=compute_80,code=compute_80
INCLUDES := -I$(CUDA_PATH)/include
LIBRARIES := -L$(CUDA_PATH)/lib64 -lcudart -lcuda
all: sample
sample.o: sample.cu
	$(NVCC) $(INCLUDES) $(NVCCFLAGS) $(GENCODE_FLAGS) -Xcompiler -Wall --threads 0 --std=c++11 -o $@ -c $<
sample: sample.o
	$(NVCC) $(NVCCFLAGS) $(GENCODE_FLAGS) -o $@ $+ $(LIBRARIES)
END
make CUDA_PATH="$CUDA_PATH" >log 2>&1 || { cat log; exit 1; }
[ "$(./sample | tail -n 1)" = PASS ] || { ./sample; exit 1; }
