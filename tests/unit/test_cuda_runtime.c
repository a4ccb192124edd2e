/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA runtime on a CUDA device, on the stand-in for the driver: what reaches the driver, and
 * what does not. */
#define _XOPEN_SOURCE 700
#include <sys/wait.h>
#include <unistd.h>

#include "cudart/cudart.h"
#include "fake_driver.h"

static const fake_cuda_hooks *fake;

static void assert_ok(cudaError_t error) {
    assert_string_equal(cudaGetErrorName(error), "cudaSuccess");
}

static void streams_and_events_pass_their_options_on(void **state) {
    (void)state;
    cudaStream_t stream;
    cudaEvent_t event;
    assert_ok(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2));
    assert_int_equal(fake->given().stream_priority, -2);
    assert_ok(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming));
    assert_u64(fake->given().event_flags, cudaEventBlockingSync | cudaEventDisableTiming);
    assert_ok(cudaEventRecord(event, stream));
    assert_ok(cudaEventSynchronize(event));
    assert_ok(cudaEventDestroy(event));
    assert_ok(cudaStreamDestroy(stream));
}

/* The driver stages what comes from pageable memory; a second copy, a host function to free it or a
 * wait would only cost time. */
static void pageable_memory_is_staged_once(void **state) {
    (void)state;
    static char host[1 << 20];
    char *memory, *pinned;
    cudaStream_t stream;
    assert_ok(cudaMalloc((void **)&memory, sizeof host));
    assert_ok(cudaMallocHost((void **)&pinned, sizeof host));
    assert_ok(cudaStreamCreate(&stream));
    const unsigned host_calls = fake->calls("cuLaunchHostFunc");
    const unsigned waits = fake->calls("cuStreamSynchronize");
    assert_ok(cudaMemcpyAsync(memory, host, 100, cudaMemcpyHostToDevice, stream));
    assert_ok(cudaMemcpyAsync(memory, host, sizeof host, cudaMemcpyHostToDevice, stream));
    assert_u64(fake->calls("cuLaunchHostFunc"), host_calls);
    assert_u64(fake->calls("cuStreamSynchronize"), waits);
    /* Other memory is none of the driver's business. */
    assert_ok(cudaMemcpyAsync(pinned, host, sizeof host, cudaMemcpyDefault, stream));
    assert_ok(cudaMemcpyAsync(host, memory, sizeof host, cudaMemcpyDeviceToHost, stream));
    assert_u64(fake->calls("cuStreamSynchronize"), waits + 2);
    assert_ok(cudaStreamDestroy(stream));
    assert_ok(cudaFreeHost(pinned));
    assert_ok(cudaFree(memory));
}

static void write_combined_memory_has_one_address(void **state) {
    (void)state;
    void *memory, *on_device;
    unsigned flags;
    assert_ok(cudaHostAlloc(&memory, 4096, cudaHostAllocWriteCombined));
    assert_ok(cudaHostGetDevicePointer(&on_device, memory, 0));
    assert_ptr_equal(on_device, memory);
    assert_ok(cudaHostGetFlags(&flags, memory));
    assert_true((flags & cudaHostAllocWriteCombined) != 0);
    assert_ok(cudaFreeHost(memory));
}

static void nothing_was_misused(void **state) {
    (void)state;
    assert_no_misuse(fake);
}

/* In a child: ends while a stream that was destroyed has an endless kernel. */
static void end_with_an_endless_kernel(void) {
    cudaStream_t stream;
    (void)alarm(60); /* it would wait for ever */
    if (cudaStreamCreate(&stream) != cudaSuccess) exit(1);
    setenv("FAKE_CUDA_ENDLESS", "1", 1);
    exit(cudaStreamDestroy(stream) == cudaSuccess ? 3 : 2);
}

/* First of all: a child of a process that opened the driver would be another case. */
static void an_endless_kernel_does_not_keep_the_process(void **state) {
    (void)state;
    (void)fflush(NULL);
    const pid_t child = fork();
    if (child == 0) end_with_an_endless_kernel();
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static int set_up(void **state) {
    (void)state;
    fake = fake_driver_use();
    setenv("WARPAGE_DEVICE", "cuda:0", 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_kernel_does_not_keep_the_process),
        cmocka_unit_test(streams_and_events_pass_their_options_on),
        cmocka_unit_test(pageable_memory_is_staged_once),
        cmocka_unit_test(write_combined_memory_has_one_address),
        cmocka_unit_test(nothing_was_misused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
