// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcuda
/* External shared arrays in PTX text: one with a size is memory of its own, as Taichi has it; one
 * without a size is the launch's. */
#include <cuda.h>

#include "check.h"

#define DRIVER_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)

/* Each thread stores to both arrays and reads its neighbour's, which a barrier separates. */
static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .shared .align 8 .b8 own[256];\n"
    ".extern .shared .align 8 .b8 dynamic[];\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    "\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<10>;\n"
    "\tld.param.u64 %rd1, [p];\n\tcvta.to.global.u64 %rd2, %rd1;\n"
    "\tmov.u32 %r1, %tid.x;\n\txor.b32 %r2, %r1, 63;\n"
    "\tmul.wide.u32 %rd3, %r1, 4;\n\tmul.wide.u32 %rd4, %r2, 4;\n"
    "\tmov.u64 %rd5, own;\n\tadd.s64 %rd6, %rd5, %rd3;\n\tadd.s64 %rd7, %rd5, %rd4;\n"
    "\tmov.u64 %rd5, dynamic;\n\tadd.s64 %rd8, %rd5, %rd3;\n\tadd.s64 %rd9, %rd5, %rd4;\n"
    "\tadd.u32 %r3, %r1, 1000;\n\tst.shared.u32 [%rd6], %r1;\n\tst.shared.u32 [%rd8], %r3;\n"
    "\tbar.sync 0;\n"
    "\tld.shared.u32 %r4, [%rd7];\n\tld.shared.u32 %r5, [%rd9];\n\tadd.u32 %r6, %r4, %r5;\n"
    "\tadd.s64 %rd2, %rd2, %rd3;\n\tst.global.u32 [%rd2], %r6;\n\tret;\n}\n";

int main() {
    CUcontext context;
    CUmodule module;
    CUfunction k;
    CUdeviceptr data;
    int got[64], bytes = 0;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, 0, 0));
    DRIVER_OK(cuModuleLoadData(&module, text));
    DRIVER_OK(cuModuleGetFunction(&k, module, "k"));
    DRIVER_OK(cuMemAlloc(&data, sizeof got));
    void *args[] = {&data};
    DRIVER_OK(cuLaunchKernel(k, 1, 1, 1, 64, 1, 1, 256, NULL, args, NULL));
    DRIVER_OK(cuMemcpyDtoH(got, data, sizeof got));
    for (int i = 0; i < 64; i++)
        CHECK_EQ(got[i], 2 * (63 - i) + 1000);
    DRIVER_OK(cuFuncGetAttribute(&bytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, k));
    CHECK_EQ(bytes, 256);
    DRIVER_OK(cuMemFree(data));
    DRIVER_OK(cuModuleUnload(module));
    return check_done();
}
