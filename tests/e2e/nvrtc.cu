// SPDX-License-Identifier: Apache-2.0
// FLAGS: -lnvrtc -lcuda
/* NVRTC: kernels compiled at run time, with headers, options and name expressions; the log of a
 * source with a mistake; the result as PTX and as a cubin. */
#include <cuda.h>
#include <nvrtc.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define DRIVER_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)
#define NVRTC_OK(call) CHECK_EQ((int)(call), (int)NVRTC_SUCCESS)

static const char source[] =
    "#include \"ops/twice.h\"\n"
    "__constant__ int offset = 1;\n"
    "template <typename T, int N> __global__ void many(T *data) { data[threadIdx.x] = twice(data[threadIdx.x]) + N; }\n"
    "namespace inner { __global__ void plain(int *data) { data[threadIdx.x] += offset + EXTRA; } }\n"
    "extern \"C\" __global__ void named(float *data) { data[threadIdx.x] *= 0.5f; }\n";
static const char header[] = "template <typename T> __device__ T twice(T x) { return 2 * x; }\n";

static void run(CUmodule module, const char *name, CUdeviceptr data) {
    CUfunction function;
    void *args[] = {&data};
    DRIVER_OK(cuModuleGetFunction(&function, module, name));
    DRIVER_OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
}

static char *text_of(nvrtcResult (*size_of)(nvrtcProgram, size_t *),
                     nvrtcResult (*get)(nvrtcProgram, char *), nvrtcProgram program) {
    size_t bytes = 0;
    NVRTC_OK(size_of(program, &bytes));
    char *text = (char *)malloc(bytes);
    NVRTC_OK(get(program, text));
    return text;
}

/* NVRTC defines std::initializer_list without a header. */
static void initializer_lists(void) {
    nvrtcProgram program;
    NVRTC_OK(nvrtcCreateProgram(&program,
                                "__device__ int sum(std::initializer_list<int> list) {\n"
                                "    int all = 0;\n    for (int x : list) all += x;\n    return all;\n}\n"
                                "__global__ void k(int *x) { *x = sum({1, 2, 3}); }\n",
                                NULL, 0, NULL, NULL));
    NVRTC_OK(nvrtcCompileProgram(program, 0, NULL));
    NVRTC_OK(nvrtcDestroyProgram(&program));
    /* Headers of the C++ library where functions are the device's, as libcu++ includes them. */
    const char *all[] = {"-default-device", "-std=c++17"};
    NVRTC_OK(nvrtcCreateProgram(&program,
                                "#include <iterator>\n#include <tuple>\n#include <optional>\n"
                                "namespace cuda { namespace std { template <typename T> struct remove_cv {}; } }\n"
                                "namespace std {\n    using cuda::std::remove_cv;\n}\n"
                                "int twice(int x) { return 2 * x; }\n"
                                "__global__ void k(int *x) { *x = twice(*x); }\n",
                                NULL, 0, NULL, NULL));
    NVRTC_OK(nvrtcCompileProgram(program, 2, all));
    NVRTC_OK(nvrtcDestroyProgram(&program));
}

/* Headers in files: beside the source, by the name that it is given, and in a folder that an option names. */
static void from_files(void) {
    char folder[] = "nvrtc-XXXXXX", path[64];
    const char *files[] = {"beside.h", "extra/more.h"}, *texts[] = {"#define BESIDE 1\n", "#define MORE 2\n"};
    const char *including = "#include \"beside.h\"\n#include <more.h>\n__global__ void sum(int *x) { *x = BESIDE + MORE; }\n";
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/extra", folder);
    CHECK(mkdir(path, 0700) == 0);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        FILE *file = fopen(path, "w");
        CHECK(file != NULL);
        if (file == NULL) return;
        fputs(texts[i], file);
        fclose(file);
    }
    char name[64], option[64];
    snprintf(name, sizeof name, "%s/sum.cu", folder);
    snprintf(option, sizeof option, "--include-path=%s/extra", folder);
    const char *options[] = {option, "-no-source-include"};
    nvrtcProgram program;
    NVRTC_OK(nvrtcCreateProgram(&program, including, name, 0, NULL, NULL));
    NVRTC_OK(nvrtcCompileProgram(program, 1, options));
    NVRTC_OK(nvrtcDestroyProgram(&program));
    NVRTC_OK(nvrtcCreateProgram(&program, including, name, 0, NULL, NULL));
    CHECK_EQ((int)nvrtcCompileProgram(program, 2, options), (int)NVRTC_ERROR_COMPILATION);
    NVRTC_OK(nvrtcDestroyProgram(&program));
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    snprintf(path, sizeof path, "%s/extra", folder);
    CHECK(rmdir(path) == 0 && rmdir(folder) == 0);
}

/* Static variables are found by name, and take what the program writes into them. */
static void static_variables(void) {
    const char *text = "static __constant__ int table[4];\nstatic __device__ int scale = 2, seen;\n"
                       "extern \"C\" __global__ void look(int *data) { __shared__ int s[32]; s[threadIdx.x] = scale; "
                       "__syncthreads(); data[threadIdx.x] = table[threadIdx.x % 4] * s[0]; seen = 1; }\n";
    const int values[] = {3, 5, 7, 9}, scale = 10;
    int found[32], seen = 0;
    CUdeviceptr at, data;
    CUmodule module;
    size_t bytes = 0;
    nvrtcProgram program;
    NVRTC_OK(nvrtcCreateProgram(&program, text, "static.cu", 0, NULL, NULL));
    NVRTC_OK(nvrtcCompileProgram(program, 0, NULL));
    char *ptx = text_of(nvrtcGetPTXSize, nvrtcGetPTX, program);
    DRIVER_OK(cuModuleLoadData(&module, ptx));
    DRIVER_OK(cuModuleGetGlobal(&at, &bytes, module, "table"));
    CHECK_EQ(bytes, sizeof values);
    DRIVER_OK(cuMemcpyHtoD(at, values, sizeof values));
    DRIVER_OK(cuModuleGetGlobal(&at, NULL, module, "scale"));
    DRIVER_OK(cuMemcpyHtoD(at, &scale, sizeof scale));
    DRIVER_OK(cuMemAlloc(&data, sizeof found));
    run(module, "look", data);
    DRIVER_OK(cuMemcpyDtoH(found, data, sizeof found));
    for (int i = 0; i < 32; i++)
        CHECK_EQ(found[i], values[i % 4] * scale);
    DRIVER_OK(cuModuleGetGlobal(&at, NULL, module, "seen"));
    DRIVER_OK(cuMemcpyDtoH(&seen, at, sizeof seen));
    CHECK_EQ(seen, 1);
    DRIVER_OK(cuModuleUnload(module));
    DRIVER_OK(cuMemFree(data));
    NVRTC_OK(nvrtcDestroyProgram(&program));
    free(ptx);
}

/* Headers of the standard library that a program brings, as NVRTC has none; a header that is missing, which the log
 * names in NVRTC's words; no intermediate code for linking. */
static void own_headers(void) {
    static const char text[] = "#include <limits.h>\n"
                               "#include <type_traits>\n"
                               "#include \"parts/first.h\"\n"
                               "static_assert(std::is_same<number, int>::value && INT_MAX > 7, \"\");\n"
                               "extern \"C\" __global__ void k(number *out) { *out = 1; }\n";
    const char *headers[] = {"#pragma once\n#define INT_MAX 7\n",
                             "namespace std { template <class A, class B> struct is_same {}; }\n",
                             "\n#include \"second.h\"\n", "typedef int number;\n"};
    const char *names[] = {"limits.h", "type_traits", "parts/first.h", "parts/second.h"};
    nvrtcProgram program;
    size_t bytes = 1;
    NVRTC_OK(nvrtcCreateProgram(&program, text, "brings.cu", 4, headers, names));
    NVRTC_OK(nvrtcCompileProgram(program, 0, NULL));
    NVRTC_OK(nvrtcGetLTOIRSize(program, &bytes));
    CHECK_EQ(bytes, 0);
    NVRTC_OK(nvrtcDestroyProgram(&program));
    NVRTC_OK(nvrtcCreateProgram(&program, text, "brings.cu", 3, headers, names));
    CHECK_EQ((int)nvrtcCompileProgram(program, 0, NULL), (int)NVRTC_ERROR_COMPILATION);
    char *log = text_of(nvrtcGetProgramLogSize, nvrtcGetProgramLog, program);
    CHECK(strstr(log, "\nparts/first.h(2): catastrophic error: cannot open source file \"second.h\"\n") != NULL);
    free(log);
    NVRTC_OK(nvrtcDestroyProgram(&program));
}

int main(void) {
    nvrtcProgram program, wrong;
    const char *headers[] = {header}, *names[] = {"ops/twice.h"};
    const char *options[] = {"--gpu-architecture=compute_70", "-DEXTRA=40", "--std=c++17",
                             "-default-device"};
    const char *many = NULL, *plain = NULL, *offset = NULL;
    int major = 0, minor = 0;
    NVRTC_OK(nvrtcVersion(&major, &minor));
    CHECK_EQ(major, 12);
    NVRTC_OK(nvrtcCreateProgram(&program, source, "some.cu", 1, headers, names));
    NVRTC_OK(nvrtcAddNameExpression(program, "many<float, 3>"));
    NVRTC_OK(nvrtcAddNameExpression(program, "inner::plain"));
    NVRTC_OK(nvrtcAddNameExpression(program, "&offset"));
    CHECK_EQ((int)nvrtcGetLoweredName(program, "inner::plain", &plain),
             (int)NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    nvrtcResult compiled = nvrtcCompileProgram(program, 4, options);
    if (compiled != NVRTC_SUCCESS) {
        printf("%s\n%s\n", nvrtcGetErrorString(compiled),
               text_of(nvrtcGetProgramLogSize, nvrtcGetProgramLog, program));
        return 1;
    }
    CHECK_EQ((int)nvrtcAddNameExpression(program, "late"),
             (int)NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    NVRTC_OK(nvrtcGetLoweredName(program, "many<float, 3>", &many));
    NVRTC_OK(nvrtcGetLoweredName(program, "inner::plain", &plain));
    NVRTC_OK(nvrtcGetLoweredName(program, "&offset", &offset));
    CHECK(strcmp(plain, "_ZN5inner5plainEPi") == 0);
    CHECK(strcmp(offset, "offset") == 0);

    CUcontext context;
    CUmodule module, cubin;
    CUdeviceptr data, at;
    float values[32];
    int whole[32], one = 5;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuCtxCreate(&context, 0, 0));
    DRIVER_OK(cuMemAlloc(&data, sizeof values));
    for (int i = 0; i < 32; i++)
        values[i] = (float)i;
    DRIVER_OK(cuMemcpyHtoD(data, values, sizeof values));
    char *ptx = text_of(nvrtcGetPTXSize, nvrtcGetPTX, program);
    char *image = text_of(nvrtcGetCUBINSize, nvrtcGetCUBIN, program);
    DRIVER_OK(cuModuleLoadDataEx(&module, ptx, 0, NULL, NULL));
    DRIVER_OK(cuModuleLoadData(&cubin, image));
    run(module, many, data);
    run(module, "named", data);
    DRIVER_OK(cuMemcpyDtoH(values, data, sizeof values));
    for (int i = 0; i < 32; i++)
        CHECK_EQ(values[i], (2.0f * (float)i + 3) / 2);
    DRIVER_OK(cuModuleGetGlobal(&at, NULL, cubin, offset));
    DRIVER_OK(cuMemcpyHtoD(at, &one, sizeof one));
    DRIVER_OK(cuMemsetD32(data, 7, 32));
    run(cubin, plain, data);
    DRIVER_OK(cuMemcpyDtoH(whole, data, sizeof whole));
    for (int i = 0; i < 32; i++)
        CHECK_EQ(whole[i], 7 + 5 + 40);
    DRIVER_OK(cuModuleUnload(module));
    DRIVER_OK(cuModuleUnload(cubin));
    NVRTC_OK(nvrtcDestroyProgram(&program));
    CHECK(program == NULL);

    static_variables();

    /* A mistake: the log has the file and the line. */
    NVRTC_OK(nvrtcCreateProgram(&wrong, "__global__ void k() {\n    undeclared = 1;\n}\n", NULL, 0,
                                NULL, NULL));
    CHECK_EQ((int)nvrtcCompileProgram(wrong, 0, NULL), (int)NVRTC_ERROR_COMPILATION);
    char *log = text_of(nvrtcGetProgramLogSize, nvrtcGetProgramLog, wrong);
    CHECK(strstr(log, "default_program:2:") != NULL && strstr(log, "undeclared") != NULL);
    const char *bad[] = {"--no-such-option"};
    CHECK_EQ((int)nvrtcCompileProgram(wrong, 1, bad), (int)NVRTC_ERROR_INVALID_OPTION);
    NVRTC_OK(nvrtcDestroyProgram(&wrong));
    from_files();
    own_headers();
    initializer_lists();
    return check_done();
}
