// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lcuda -ldl
/* Texts of PTX linked at run time, by the driver and by nvJitLink, which programs look up by name: one declares a
 * function that the other defines. */
#include <cuda.h>
#include <dlfcn.h>
#include <string.h>

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

template <typename F> static F look_up(const char *name) {
    F found = (F)dlsym(RTLD_DEFAULT, name);
    CHECK(found != NULL);
    return found;
}

static void by_nvjitlink(void) {
    auto create = look_up<int (*)(void **, unsigned, const char **)>("nvJitLinkCreate");
    auto add = look_up<int (*)(void *, int, const void *, size_t, const char *)>("nvJitLinkAddData");
    auto complete = look_up<int (*)(void *)>("nvJitLinkComplete");
    auto size_of = look_up<int (*)(void *, size_t *)>("nvJitLinkGetLinkedCubinSize");
    auto get = look_up<int (*)(void *, void *)>("nvJitLinkGetLinkedCubin");
    auto log_size = look_up<int (*)(void *, size_t *)>("nvJitLinkGetErrorLogSize");
    auto get_log = look_up<int (*)(void *, char *)>("nvJitLinkGetErrorLog");
    auto destroy = look_up<int (*)(void **)>("nvJitLinkDestroy");
    const char *options[] = {"-arch=sm_80"};
    char log[400];
    void *link, *image;
    size_t bytes = 0;
    enum { CUBIN = 1, PTX = 2, LTOIR = 3 };
    CHECK_EQ(create(&link, 0, NULL), 2); /* no architecture */
    CHECK_EQ(create(&link, 1, options), 0);
    CHECK_EQ(add(link, PTX, caller, sizeof caller, "a"), 0);
    CHECK(size_of(link, &bytes) != 0); /* not complete */
    CHECK_EQ(add(link, PTX, called, sizeof called, "b"), 0);
    CHECK_EQ(complete(link), 0);
    CHECK_EQ(size_of(link, &bytes), 0);
    image = malloc(bytes);
    CHECK_EQ(get(link, image), 0);
    run(image);
    free(image);
    CHECK_EQ(destroy(&link), 0);
    CHECK(link == NULL);

    CHECK_EQ(create(&link, 1, options), 0);
    CHECK_EQ(add(link, LTOIR, "BC", 2, "c"), 8);
    CHECK_EQ(log_size(link, &bytes), 0);
    CHECK(bytes > 1 && bytes <= sizeof log);
    CHECK_EQ(get_log(link, log), 0);
    CHECK(strstr(log, "link PTX") != NULL);
    CHECK_EQ(destroy(&link), 0);
}

int main() {
    CUcontext context;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, 0, 0));
    by_the_driver();
    by_nvjitlink();
    return check_done();
}
