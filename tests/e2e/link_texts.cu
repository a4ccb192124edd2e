// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcuda -lnvrtc -lnvJitLink -ldl
/* Texts of PTX linked at run time, by the driver and by nvJitLink, whose calls programs also look up by name: one
 * declares a function that the other defines. Texts of our own, and those of NVRTC with relocatable code. */
#include <cuda.h>
#include <dlfcn.h>
#include <nvJitLink.h>
#include <nvrtc.h>
#include <string.h>
#include <vector>

#include "check.h"

#define DRIVER_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)

static const char caller[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"
    ".visible .entry k(.param .u64 p)\n{\n"
    "\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<3>;\n"
    "\tld.param.u64 %rd1, [p];\n\tcvta.to.global.u64 %rd2, %rd1;\n\tld.global.u32 %r1, [%rd2];\n"
    "\t{\n\t.param .b32 a;\n\tst.param.b32 [a], %r1;\n\t.param .b32 b;\n"
    "\tcall.uni (b), twice, (a);\n\tld.param.b32 %r2, [b];\n\t}\n"
    "\tst.global.u32 [%rd2], %r2;\n\tret;\n}\n";
static const char called[] =
    ".version 7.1\n.target sm_70\n.address_size 64\n"
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n"
    "\t.reg .b32 %r<3>;\n\tld.param.u32 %r1, [x];\n\tadd.s32 %r2, %r1, %r1;\n"
    "\tst.param.b32 [r], %r2;\n\tret;\n}\n";

static void run(const void *image) {
    CUmodule module;
    CUfunction k;
    CUdeviceptr data;
    int value = 21;
    DRIVER_OK(cuModuleLoadData(&module, image));
    DRIVER_OK(cuModuleGetFunction(&k, module, "k"));
    DRIVER_OK(cuMemAlloc(&data, sizeof value));
    DRIVER_OK(cuMemcpyHtoD(data, &value, sizeof value));
    void *args[] = {&data};
    DRIVER_OK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    DRIVER_OK(cuMemcpyDtoH(&value, data, sizeof value));
    CHECK_EQ(value, 42);
    DRIVER_OK(cuMemFree(data));
    DRIVER_OK(cuModuleUnload(module));
}

static void by_the_driver(void) {
    CUlinkState state;
    void *image;
    size_t bytes;
    DRIVER_OK(cuLinkCreate(0, NULL, NULL, &state));
    CHECK_EQ((int)cuLinkComplete(state, &image, &bytes), (int)CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)caller, sizeof caller, "a", 0, NULL, NULL));
    DRIVER_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)called, strlen(called), "b", 0, NULL, NULL));
    DRIVER_OK(cuLinkComplete(state, &image, &bytes));
    run(image);
    DRIVER_OK(cuLinkDestroy(state));
    /* machine code */
    DRIVER_OK(cuLinkCreate(0, NULL, NULL, &state));
    char elf[64] = "\177ELF\2\1\1";
    CHECK(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, elf, sizeof elf, "c", 0, NULL, NULL) != CUDA_SUCCESS);
    DRIVER_OK(cuLinkDestroy(state));
}

#define JIT_OK(call) CHECK_EQ((int)(call), (int)NVJITLINK_SUCCESS)

/* The image of two texts. */
static std::vector<char> linked(const char *first, size_t first_bytes, const char *second, size_t second_bytes) {
    const char *options[] = {"-arch=sm_80"};
    nvJitLinkHandle link = NULL;
    size_t bytes = 0;
    CHECK_EQ((int)nvJitLinkCreate(&link, 0, NULL), (int)NVJITLINK_ERROR_MISSING_ARCH);
    JIT_OK(nvJitLinkCreate(&link, 1, options));
    JIT_OK(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, first, first_bytes, "a"));
    CHECK(nvJitLinkGetLinkedCubinSize(link, &bytes) != NVJITLINK_SUCCESS); /* not complete */
    JIT_OK(nvJitLinkAddData(link, NVJITLINK_INPUT_PTX, second, second_bytes, "b"));
    JIT_OK(nvJitLinkComplete(link));
    JIT_OK(nvJitLinkGetLinkedCubinSize(link, &bytes));
    std::vector<char> image(bytes);
    JIT_OK(nvJitLinkGetLinkedCubin(link, image.data()));
    JIT_OK(nvJitLinkDestroy(&link));
    CHECK(link == NULL);
    return image;
}

static void by_nvjitlink(void) {
    run(linked(caller, sizeof caller, called, sizeof called).data());
    const char *options[] = {"-arch=sm_80"};
    char log[400];
    nvJitLinkHandle link;
    size_t bytes = 0;
    JIT_OK(nvJitLinkCreate(&link, 1, options));
    CHECK_EQ((int)nvJitLinkAddData(link, NVJITLINK_INPUT_LTOIR, "BC", 2, "c"), (int)NVJITLINK_ERROR_UNRECOGNIZED_INPUT);
    JIT_OK(nvJitLinkGetErrorLogSize(link, &bytes));
    CHECK(bytes > 1 && bytes <= sizeof log);
    JIT_OK(nvJitLinkGetErrorLog(link, log));
    CHECK(strstr(log, "link PTX") != NULL);
    JIT_OK(nvJitLinkDestroy(&link));
    for (const char *name : {"nvJitLinkCreate", "nvJitLinkAddFile", "nvJitLinkGetLinkedPtx", "nvJitLinkVersion"})
        CHECK(dlsym(RTLD_DEFAULT, name) != NULL);
}

static std::vector<char> relocatable(const char *source, bool is_code = false) {
    const char *options[] = {"-rdc=true", "--gpu-architecture=compute_70"};
    nvrtcProgram program;
    size_t bytes = 0;
    CHECK_EQ((int)nvrtcCreateProgram(&program, source, "part.cu", 0, NULL, NULL), (int)NVRTC_SUCCESS);
    CHECK_EQ((int)nvrtcCompileProgram(program, 2, options), (int)NVRTC_SUCCESS);
    CHECK_EQ((int)nvrtcGetPTXSize(program, &bytes), (int)NVRTC_SUCCESS);
    std::vector<char> ptx(bytes);
    CHECK_EQ((int)nvrtcGetPTX(program, ptx.data()), (int)NVRTC_SUCCESS);
    CHECK_EQ((int)nvrtcGetCUBINSize(program, &bytes), (int)NVRTC_SUCCESS);
    std::vector<char> code(bytes); /* of relocatable code is for a link, too */
    CHECK_EQ((int)nvrtcGetCUBIN(program, code.data()), (int)NVRTC_SUCCESS);
    if (is_code) ptx = code;
    CHECK_EQ((int)nvrtcDestroyProgram(&program), (int)NVRTC_SUCCESS);
    return ptx;
}

/* A function, a variable and a table of the other text, in either order. */
static void of_nvrtc(void) {
    const std::vector<char> a = relocatable("extern __device__ int factor;\nextern __constant__ int table[4];\n__device__ int twice(int x);\n"
                                            "__device__ int kept = 5;\n"
                                            "extern \"C\" __global__ void k(int *p) { *p = twice(*p) * factor * table[2]; }\n");
    const std::vector<char> b = relocatable("__device__ int factor = 1;\n__constant__ int table[4] = {7, 7, 1, 7};\nextern __device__ int kept;\n"
                                            "__device__ int twice(int x) { return kept == 5 ? 2 * x : 0; }\n",
                                            true);
    run(linked(a.data(), a.size(), b.data(), b.size()).data());
    run(linked(b.data(), b.size(), a.data(), a.size()).data());
    CUlinkState state;
    void *image;
    size_t bytes;
    DRIVER_OK(cuLinkCreate(0, NULL, NULL, &state));
    DRIVER_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)a.data(), a.size(), "a", 0, NULL, NULL));
    DRIVER_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)b.data(), b.size(), "b", 0, NULL, NULL));
    DRIVER_OK(cuLinkComplete(state, &image, &bytes));
    run(image);
    DRIVER_OK(cuLinkDestroy(state));
    CUmodule module; /* alone, a variable is missing */
    CHECK(cuModuleLoadData(&module, a.data()) != CUDA_SUCCESS);
}

int main() {
    CUcontext context;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, 0, 0));
    by_the_driver();
    by_nvjitlink();
    of_nvrtc();
    return check_done();
}
