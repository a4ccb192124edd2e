/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c at the two ends of a process: opening the device, and exit. Each test forks a program;
 * this process itself never opens a device.
 */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cuda_program.h"
#include "cudart/cudart.h"

/* Runs `program` in a child; its exit status, and in `output` what it wrote to stdout. */
static int run(void (*program)(void), char *output, size_t output_bytes) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        program();
        exit(99);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while (length + 1 < output_bytes &&
           (got = read(ends[0], output + length, output_bytes - 1 - length)) > 0)
        length += (size_t)got;
    output[length] = '\0';
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static cudaError_t launch_print(int value) {
    void *args[] = {&value};
    return cudaLaunchKernel(&stub_print, dim(1), dim(1), args, 0, NULL);
}

static void prints_and_waits(void) {
    exit(launch_print(7) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess ? 0 : 1);
}

static void prints_and_ends(void) {
    exit(launch_print(8) == cudaSuccess ? 0 : 1);
}

static void output_of_kernels_appears(void **state) {
    (void)state;
    char output[256];
    assert_int_equal(run(prints_and_waits, output, sizeof output), 0);
    assert_string_equal(output, "value 7\n");
    assert_int_equal(run(prints_and_ends, output, sizeof output), 0);
    assert_string_equal(output, "value 8\n");
}

static void leaves_a_kernel_that_never_ends(void) {
    atomic_int *gate;
    if (cudaMallocHost((void **)&gate, sizeof *gate) != cudaSuccess) exit(1);
    atomic_store(gate, 0);
    exit(launch_wait(gate, NULL) == cudaSuccess ? 3 : 1);
}

static void leaves_a_kernel_in_a_destroyed_stream(void) {
    atomic_int *gate;
    cudaStream_t stream;
    alarm(60); /* or the test would not end when it fails */
    if (cudaMallocHost((void **)&gate, sizeof *gate) != cudaSuccess) exit(1);
    atomic_store(gate, 0);
    if (cudaStreamCreate(&stream) != cudaSuccess || launch_wait(gate, stream) != cudaSuccess)
        exit(1);
    exit(cudaStreamDestroy(stream) == cudaSuccess ? 3 : 1);
}

static void endless_kernels_do_not_keep_the_program(void **state) {
    (void)state;
    char output[256];
    assert_int_equal(run(leaves_a_kernel_that_never_ends, output, sizeof output), 3);
    assert_int_equal(run(leaves_a_kernel_in_a_destroyed_stream, output, sizeof output), 3);
}

static int *kept;
static cudaStream_t kept_stream;

static void free_late(void) {
    const cudaError_t freed = cudaFree(kept), destroyed = cudaStreamDestroy(kept_stream);
    printf("%s %s\n", cudaGetErrorName(freed), cudaGetErrorName(destroyed));
}

static void frees_after_everything(void) {
    /* As a static destructor would: registered first, called last. */
    if (atexit(free_late) != 0) exit(1);
    if (cudaMalloc((void **)&kept, 64) != cudaSuccess) exit(1);
    if (cudaStreamCreate(&kept_stream) != cudaSuccess) exit(1);
    exit(0);
}

static void late_destructors_can_still_free(void **state) {
    (void)state;
    char output[256];
    assert_int_equal(run(frees_after_everything, output, sizeof output), 0);
    assert_string_equal(output, "cudaSuccess cudaSuccess\n");
}

static void end_here(void *unused) {
    (void)unused;
    exit(9);
}

static void exits_in_a_host_function(void) {
    const struct timespec long_time = {.tv_sec = 60};
    if (cudaLaunchHostFunc(NULL, end_here, NULL) != cudaSuccess) exit(1);
    nanosleep(&long_time, NULL);
}

static void exit_works_in_a_host_function(void **state) {
    (void)state;
    char output[256];
    assert_int_equal(run(exits_in_a_host_function, output, sizeof output), 9);
}

static void looks_for_a_device(void) {
    int count = 5;
    void *memory;
    setenv("WARPAGE_DEVICE", "abacus", 1);
    const cudaError_t counted = cudaGetDeviceCount(&count), allocated = cudaMalloc(&memory, 16);
    printf("%d %s %s %s\n", count, cudaGetErrorName(counted), cudaGetErrorName(allocated),
           cudaGetErrorName(cudaGetLastError()));
    exit(0);
}

static void an_unknown_device_is_no_device(void **state) {
    (void)state;
    char output[256];
    assert_int_equal(run(looks_for_a_device, output, sizeof output), 0);
    assert_string_equal(output, "0 cudaErrorNoDevice cudaErrorNoDevice cudaErrorNoDevice\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_of_kernels_appears),
        cmocka_unit_test(endless_kernels_do_not_keep_the_program),
        cmocka_unit_test(late_destructors_can_still_free),
        cmocka_unit_test(exit_works_in_a_host_function),
        cmocka_unit_test(an_unknown_device_is_no_device),
    };
    return wp_test_main(tests);
}
