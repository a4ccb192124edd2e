/* SPDX-License-Identifier: Apache-2.0 */
/* error.c, context.c: names, the last error of a thread, sticky errors, starting over. */
#include <pthread.h>

#include "cuda_program.h"
#include "cudart/cudart.h"

static void names_and_strings_are_cudas(void **state) {
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_string_equal(cudaGetErrorString(cudaSuccess), "no error");
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorString(cudaErrorIllegalAddress),
                        "an illegal memory access was encountered");
    assert_string_equal(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    assert_string_equal(cudaGetErrorName((cudaError_t)-1), "unrecognized error code");
    assert_string_equal(cudaGetErrorString((cudaError_t)4242), "unrecognized error code");
}

static void last_error_is_kept_until_it_is_read(void **state) {
    (void)state;
    assert_ok(cudaGetLastError());
    assert_cuda(cudaFree((void *)16), cudaErrorInvalidValue);
    assert_ok(cudaDeviceSynchronize()); /* success does not clear it */
    assert_cuda(cudaPeekAtLastError(), cudaErrorInvalidValue);
    assert_cuda(cudaGetLastError(), cudaErrorInvalidValue);
    assert_ok(cudaGetLastError());
}

static void *read_last_error(void *out) {
    *(cudaError_t *)out = cudaGetLastError();
    return NULL;
}

static void last_error_is_the_threads_own(void **state) {
    (void)state;
    pthread_t thread;
    cudaError_t other = cudaErrorUnknown;
    assert_cuda(cudaFree((void *)16), cudaErrorInvalidValue);
    assert_int_equal(pthread_create(&thread, NULL, read_last_error, &other), 0);
    pthread_join(thread, NULL);
    assert_ok(other);
    assert_cuda(cudaGetLastError(), cudaErrorInvalidValue);
}

static void assert_everything_fails_with(cudaError_t expected) {
    void *memory;
    cudaStream_t stream;
    int host = 0;
    assert_cuda(cudaDeviceSynchronize(), expected);
    assert_cuda(cudaGetLastError(), expected);
    assert_cuda(cudaGetLastError(), expected); /* reading does not clear it */
    assert_cuda(cudaMalloc(&memory, 16), expected);
    assert_cuda(cudaStreamCreate(&stream), expected);
    assert_cuda(cudaMemcpy(&host, &host, sizeof host, cudaMemcpyHostToHost), expected);
    assert_cuda(cudaLaunchKernel(&stub_limited, dim(1), dim(1), NULL, 0, NULL), expected);
}

static void faults_stick_until_the_device_is_reset(void **state) {
    (void)state;
    int *nowhere = NULL;
    void *args[] = {&nowhere};
    assert_ok(cudaLaunchKernel(&stub_fault, dim(1), dim(1), args, 0, NULL));
    assert_everything_fails_with(cudaErrorIllegalAddress);
    assert_ok(cudaDeviceReset());
    assert_ok(cudaGetLastError());
    assert_ok(cudaLaunchKernel(&stub_limited, dim(1), dim(1), NULL, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
}

static void traps_stick(void **state) {
    (void)state;
    assert_ok(cudaLaunchKernel(&stub_trap, dim(1), dim(1), NULL, 0, NULL));
    assert_everything_fails_with(cudaErrorLaunchFailure);
}

static void faults_reach_other_threads(void **state) {
    (void)state;
    pthread_t thread;
    cudaError_t other = cudaSuccess;
    assert_ok(cudaLaunchKernel(&stub_trap, dim(1), dim(1), NULL, 0, NULL));
    assert_cuda(cudaStreamSynchronize(NULL), cudaErrorLaunchFailure);
    assert_int_equal(pthread_create(&thread, NULL, read_last_error, &other), 0);
    pthread_join(thread, NULL);
    assert_ok(other); /* until that thread calls something that can fail */
}

static void every_status_has_a_code(void **state) {
    (void)state;
    for (int i = 0; i < WP_STATUS_COUNT; i++) {
        const cudaError_t error = wpi_error_of((wp_status)i);
        assert_true((error == cudaSuccess) == (i == WP_STATUS_OK));
        assert_string_not_equal(cudaGetErrorName(error), "unrecognized error code");
    }
    assert_cuda(wpi_error_of(WP_STATUS_KERNEL_ASSERT), cudaErrorAssert);
    assert_cuda(wpi_error_of(WP_STATUS_KERNEL_MISALIGNED), cudaErrorMisalignedAddress);
}

static void reset_takes_streams_events_and_memory(void **state) {
    (void)state;
    cudaStream_t stream;
    cudaEvent_t event;
    void *memory;
    size_t free_before, free_after, total;
    assert_ok(cudaMemGetInfo(&free_before, &total));
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaEventCreate(&event));
    assert_ok(cudaMalloc(&memory, 1 << 20));
    assert_ok(cudaDeviceReset());
    assert_ok(cudaMemGetInfo(&free_after, &total));
    assert_int_equal(free_before, free_after);
    assert_cuda(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaEventSynchronize(event), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaFree(memory), cudaErrorInvalidValue);
}

/* One of the missing calls; its real parameters do not matter. */
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, void *object, unsigned count);

static void missing_calls_say_so(void **state) {
    (void)state;
    assert_cuda(cudaGraphReleaseUserObject(NULL, NULL, 1), cudaErrorNotSupported);
    assert_cuda(cudaGetLastError(), cudaErrorNotSupported);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(names_and_strings_are_cudas),
        TEST(last_error_is_kept_until_it_is_read),
        TEST(last_error_is_the_threads_own),
        TEST(faults_stick_until_the_device_is_reset),
        TEST(traps_stick),
        TEST(faults_reach_other_threads),
        TEST(every_status_has_a_code),
        TEST(reset_takes_streams_events_and_memory),
        TEST(missing_calls_say_so),
    };
    return wp_test_main(tests);
}
