# SPDX-License-Identifier: Apache-2.0
# A module whose kernels launch kernels, from PTX text without code for GPUs, alone and linked with libcudadevrt.a.
set -e
cd "$TMP"
cat >module.cu <<'END'
__global__ void child(int *out) { out[threadIdx.x] = threadIdx.x * 2; }
extern "C" __global__ void parent(int *out) { child<<<1, 32>>>(out); }
END
cat >host.cu <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OK(call) do { CUresult r = (call); if (r) { printf("line %d: %d\n", __LINE__, (int)r); exit(1); } } while (0)
int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule m;
    CUfunction f;
    CUdeviceptr at;
    CUlinkState link;
    void *image;
    int out[32];
    OK(cuInit(0)); OK(cuCtxCreate(&context, 0, 0));
    if (argc > 2) {
        OK(cuLinkCreate(0, NULL, NULL, &link));
        OK(cuLinkAddFile(link, CU_JIT_INPUT_PTX, argv[1], 0, NULL, NULL));
        OK(cuLinkAddFile(link, CU_JIT_INPUT_LIBRARY, argv[2], 0, NULL, NULL));
        OK(cuLinkComplete(link, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuLinkDestroy(link));
    } else {
        OK(cuModuleLoad(&m, argv[1]));
    }
    OK(cuModuleGetFunction(&f, m, "parent"));
    OK(cuMemAlloc(&at, sizeof out));
    void *args[] = {&at};
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(out, at, sizeof out));
    for (int i = 0; i < 32; i++)
        if (out[i] != 2 * i) return printf("out[%d] is %d\n", i, out[i]);
    puts("right");
    return 0;
}
END
"$WPCC" host.cu -o host -lcuda
for flags in -ptx '-ptx -rdc=true'; do
    "$WPCC" $flags module.cu -o module.ptx 2>talk
    grep -q 'warning: .*no code for NVIDIA GPUs.*device runtime' talk || { cat talk; exit 1; }
    for device in cpu sim:v100; do
        [ "$(WARPAGE_DEVICE=$device ./host module.ptx)" = right ]
        [ "$(WARPAGE_DEVICE=$device ./host module.ptx /somewhere/libcudadevrt.a)" = right ]
    done
done
