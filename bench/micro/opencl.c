/* SPDX-License-Identifier: Apache-2.0 */
/* The OpenCL engine, for the first CPU device of the platform that is called in BENCH_PLATFORM.
 * BENCH_CL_FOLDER: where the kernels lie; BENCH_CL_OPTIONS: options for the OpenCL compiler.
 * With BENCH_DESCRIBE set it only says which device that is. Exit status 77: there is none. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLATFORMS_MAX 16
#define SOURCE_MAX 65536
#define NO_DEVICE 77

static const bench_data *host;
static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_mem input[BENCH_INPUTS], output, frontier[2], counters, sums[2];
static cl_kernel kernel;

static void check(cl_int status, const char *what) {
    if (status != CL_SUCCESS) bench_fail("%s: OpenCL error %d", what, (int)status);
}

static void find_device(void) {
    const char *wanted = getenv("BENCH_PLATFORM");
    cl_platform_id platforms[PLATFORMS_MAX];
    cl_uint count = 0;
    (void)clGetPlatformIDs(PLATFORMS_MAX, platforms, &count);
    for (cl_uint i = 0; i < count && i < PLATFORMS_MAX; i++) {
        char name[256] = "", version[256] = "", device_name[256] = "";
        cl_uint units = 0;
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (wanted != NULL && strstr(name, wanted) == NULL) continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, &device, NULL) != CL_SUCCESS)
            continue;
        (void)clGetPlatformInfo(platforms[i], CL_PLATFORM_VERSION, sizeof version, version, NULL);
        (void)clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof device_name, device_name, NULL);
        (void)clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
        if (getenv("BENCH_DESCRIBE") != NULL) {
            printf("%s; %s; %u compute units\n", version, device_name, (unsigned)units);
            exit(0);
        }
        return;
    }
    fprintf(stderr, "no OpenCL platform \"%s\" with a CPU device\n", wanted ? wanted : "");
    exit(NO_DEVICE);
}

/* The buffers are the host's memory itself: all engines work on the same kind of pages. */
static cl_mem use_memory(void *memory, size_t bytes) {
    cl_int status;
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, memory, &status);
    check(status, "clCreateBuffer");
    return buffer;
}

static cl_mem new_memory(size_t bytes) {
    return use_memory(bench_alloc(bytes), bytes);
}

void engine_open(const bench_data *data) {
    cl_int status;
    host = data;
    find_device();
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    for (int i = 0; i < BENCH_INPUTS; i++) {
        if (data->input_bytes[i] != 0) input[i] = use_memory(data->input[i], data->input_bytes[i]);
    }
    output = use_memory(data->output, data->output_bytes);
}

void engine_fetch(const bench_data *data) {
    cl_int status;
    void *mapped = clEnqueueMapBuffer(queue, output, CL_TRUE, CL_MAP_READ, 0, data->output_bytes, 0,
                                      NULL, NULL, &status);
    check(status, "clEnqueueMapBuffer");
    check(clEnqueueUnmapMemObject(queue, output, mapped, 0, NULL, NULL), "unmap");
    check(clFinish(queue), "clFinish");
}

/* Compiles on first use, which falls into the warm-up. */
static void need_kernel(const char *file, const char *name) {
    static char source[SOURCE_MAX];
    if (kernel != NULL) return;
    const char *folder = getenv("BENCH_CL_FOLDER"), *options = getenv("BENCH_CL_OPTIONS");
    char path[4096], log[4096] = "";
    snprintf(path, sizeof path, "%s/%s", folder ? folder : ".", file);
    FILE *f = fopen(path, "rb");
    if (f == NULL) bench_fail("cannot read %s", path);
    const size_t bytes = fread(source, 1, sizeof source - 1, f);
    fclose(f);
    cl_int status;
    const char *text = source;
    cl_program program = clCreateProgramWithSource(context, 1, &text, &bytes, &status);
    check(status, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, options ? options : "", NULL, NULL) != CL_SUCCESS) {
        (void)clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        bench_fail("%s: %s", path, log);
    }
    kernel = clCreateKernel(program, name, &status);
    check(status, name);
}

static void set_memory(cl_uint i, cl_mem value) {
    check(clSetKernelArg(kernel, i, sizeof value, &value), "clSetKernelArg");
}

static void set_number(cl_uint i, size_t value) {
    const cl_uint number = (cl_uint)value;
    check(clSetKernelArg(kernel, i, sizeof number, &number), "clSetKernelArg");
}

static void launch(size_t blocks, size_t threads) {
    const size_t global = blocks * threads;
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &threads, 0, NULL, NULL),
          "launch");
}

static void finish(void) {
    check(clFinish(queue), "clFinish");
}

static void fill(cl_mem buffer, cl_uint value, size_t bytes) {
    check(clEnqueueFillBuffer(queue, buffer, &value, sizeof value, 0, bytes, 0, NULL, NULL),
          "fill");
}

static size_t blocks_of(size_t n, size_t threads) {
    return (n + threads - 1) / threads;
}

/* ---- the cases
 * ----------------------------------------------------------------------------------- */

static void empty(void) {
    need_kernel("empty.cl", "empty");
    launch(host->n, BENCH_THREADS);
    finish();
}

static void elementwise(void) {
    set_number(0, host->n);
    set_memory(1, input[0]);
    set_memory(2, input[1]);
    set_memory(3, output);
    launch(blocks_of(host->n, BENCH_THREADS), BENCH_THREADS);
    finish();
}

static void vecadd(void) {
    need_kernel("vecadd.cl", "vecadd");
    elementwise();
}

static void gather(void) {
    need_kernel("gather.cl", "gather");
    elementwise();
}

static void sigmoid(void) {
    need_kernel("sigmoid.cl", "sigmoid");
    set_number(0, host->n);
    set_memory(1, input[0]);
    set_memory(2, output);
    launch(blocks_of(host->n, BENCH_THREADS), BENCH_THREADS);
    finish();
}

static void softmax(void) {
    const size_t rows = host->n / BENCH_ROW;
    need_kernel("softmax.cl", "softmax");
    set_number(0, rows);
    set_memory(1, input[0]);
    set_memory(2, output);
    launch(rows, 32);
    finish();
}

static void reduction(void) {
    need_kernel("reduction.cl", "reduce");
    if (sums[0] == NULL) {
        for (int i = 0; i < 2; i++) {
            sums[i] = new_memory(blocks_of(host->n, 2 * BENCH_THREADS) * sizeof(cl_float));
        }
    }
    size_t left = host->n;
    cl_mem from = input[0];
    for (int turn = 0; left > 1; turn ^= 1) {
        const size_t blocks = blocks_of(left, 2 * BENCH_THREADS);
        cl_mem to = blocks == 1 ? output : sums[turn];
        set_number(0, left);
        set_memory(1, from);
        set_memory(2, to);
        launch(blocks, BENCH_THREADS);
        from = to;
        left = blocks;
    }
    finish();
}

static void zero_output(void) {
    fill(output, 0, host->output_bytes);
    finish();
}

static void histogram(void) {
    set_number(0, host->n);
    set_memory(1, input[0]);
    set_memory(2, output);
    launch(BENCH_GRID_STRIDE, BENCH_THREADS);
    finish();
}

static void histogram_shared(void) {
    need_kernel("histogram.cl", "histogram_shared");
    histogram();
}

static void histogram_global(void) {
    need_kernel("histogram.cl", "histogram_global");
    histogram();
}

static void sgemm(void) {
    need_kernel("sgemm.cl", "sgemm");
    set_number(0, host->n);
    set_memory(1, input[0]);
    set_memory(2, input[1]);
    set_memory(3, output);
    const size_t global[2] = {host->n, host->n}, local[2] = {BENCH_TILE, BENCH_TILE};
    check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
    finish();
}

static void bfs_prepare(void) {
    if (counters == NULL) {
        for (int i = 0; i < 2; i++) {
            frontier[i] = new_memory(host->n * sizeof(cl_uint));
        }
        counters = new_memory(BENCH_LEVELS_MAX * sizeof(cl_uint));
    }
    fill(output, BENCH_UNREACHED, host->output_bytes);
    fill(output, 0, sizeof(cl_uint));
    fill(frontier[0], 0, sizeof(cl_uint));
    fill(counters, 0, BENCH_LEVELS_MAX * sizeof(cl_uint));
    finish();
}

static void search(const char *name) {
    need_kernel("bfs.cl", name);
    cl_uint count = 1;
    for (cl_uint level = 0; count != 0; level++) {
        if (level == BENCH_LEVELS_MAX) bench_fail("bfs: more than %d levels", BENCH_LEVELS_MAX);
        set_memory(0, input[0]);
        set_memory(1, input[1]);
        set_memory(2, output);
        set_memory(3, frontier[level % 2]);
        set_number(4, count);
        set_memory(5, frontier[(level + 1) % 2]);
        set_memory(6, counters);
        set_number(7, level);
        launch(blocks_of(count, BENCH_THREADS), BENCH_THREADS);
        check(clEnqueueReadBuffer(queue, counters, CL_TRUE, level * sizeof count, sizeof count,
                                  &count, 0, NULL, NULL),
              "read");
    }
}

static void bfs(void) {
    search("visit");
}

static void bfs_queue(void) {
    search("visit_queued");
}

static const bench_case cases[] = {
    {"empty", NULL, empty},
    {"vecadd", NULL, vecadd},
    {"sigmoid", NULL, sigmoid},
    {"gather", NULL, gather},
    {"reduction", NULL, reduction},
    {"softmax", NULL, softmax},
    {"histogram_shared", zero_output, histogram_shared},
    {"histogram_global", zero_output, histogram_global},
    {"sgemm", NULL, sgemm},
    {"bfs", bfs_prepare, bfs},
    {"bfs_queue", bfs_prepare, bfs_queue},
};

const bench_case *engine_cases[] = {&cases[0], &cases[1], &cases[2],  &cases[3],
                                    &cases[4], &cases[5], &cases[6],  &cases[7],
                                    &cases[8], &cases[9], &cases[10], NULL};
