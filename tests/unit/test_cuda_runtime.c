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

static int asked(enum cudaMemRangeAttribute attribute, const char *memory) {
    int value = 99;
    assert_ok(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory + 4096, 4096));
    return value;
}

/* In the driver the runtime's device 0 is number 1. */
static void advice_is_the_drivers_to_hear(void **state) {
    (void)state;
    char *memory;
    int who[3] = {9, 9, 9};
    assert_ok(cudaMallocManaged((void **)&memory, 16384, cudaMemAttachGlobal));
    assert_int_equal(asked(cudaMemRangeAttributePreferredLocation, memory), cudaInvalidDeviceId);
    assert_int_equal(asked(cudaMemRangeAttributeLastPrefetchLocationType, memory),
                     cudaMemLocationTypeInvalid);
    assert_ok(cudaMemAdvise(memory, 16384, cudaMemAdviseSetPreferredLocation, 0));
    assert_ok(cudaMemAdvise(memory, 16384, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
    assert_ok(cudaMemAdvise(memory, 16384, cudaMemAdviseSetAccessedBy, 0));
    assert_ok(cudaMemAdvise(memory, 16384, cudaMemAdviseSetReadMostly, 77)); /* not looked at */
    assert_ok(cudaMemPrefetchAsync(memory, 16384, 0, NULL));
    assert_int_equal(fake->calls("cuMemAdvise"), 4);
    assert_int_equal(fake->calls("cuMemPrefetchAsync"), 1);
    assert_int_equal(asked(cudaMemRangeAttributeReadMostly, memory), 1);
    assert_int_equal(asked(cudaMemRangeAttributePreferredLocation, memory), 0);
    assert_int_equal(asked(cudaMemRangeAttributePreferredLocationId, memory), 0);
    assert_int_equal(asked(cudaMemRangeAttributePreferredLocationType, memory),
                     cudaMemLocationTypeDevice);
    assert_int_equal(asked(cudaMemRangeAttributeLastPrefetchLocation, memory), 0);
    assert_ok(cudaMemPrefetchAsync(memory, 16384, cudaCpuDeviceId, NULL));
    assert_int_equal(asked(cudaMemRangeAttributeLastPrefetchLocation, memory), cudaCpuDeviceId);
    assert_int_equal(asked(cudaMemRangeAttributeLastPrefetchLocationType, memory),
                     cudaMemLocationTypeHost);
    assert_ok(
        cudaMemRangeGetAttribute(who, sizeof who, cudaMemRangeAttributeAccessedBy, memory, 1));
    assert_int_equal(who[0], cudaCpuDeviceId);
    assert_int_equal(who[1], 0);
    assert_int_equal(who[2], cudaInvalidDeviceId);
    assert_ok(cudaMemAdvise(memory, 16384, cudaMemAdviseUnsetPreferredLocation, 0));
    assert_int_equal(asked(cudaMemRangeAttributePreferredLocation, memory), cudaInvalidDeviceId);
    assert_ok(cudaFree(memory));
}

static void memory_is_attached_to_a_stream(void **state) {
    (void)state;
    char *memory;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMallocManaged((void **)&memory, 16384, cudaMemAttachHost));
    assert_ok(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    assert_ok(cudaStreamAttachMemAsync(stream, memory, 16384, cudaMemAttachGlobal));
    assert_int_equal(fake->calls("cuStreamAttachMemAsync"), 2);
    assert_int_equal(cudaStreamAttachMemAsync(stream, memory + 1, 0, cudaMemAttachSingle),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaStreamAttachMemAsync(stream, memory, 4096, cudaMemAttachSingle),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaStreamAttachMemAsync(NULL, memory, 0, cudaMemAttachSingle),
                     cudaErrorInvalidValue);
    assert_int_equal(fake->calls("cuStreamAttachMemAsync"), 2);
    assert_ok(cudaFree(memory));
    assert_ok(cudaStreamDestroy(stream));
    (void)cudaGetLastError();
}

/* A GPU that does not fault is no place for pages; what the program may not ask never gets there.
 */
static void bad_advice_has_cudas_errors(void **state) {
    (void)state;
    char *memory, *plain;
    assert_ok(cudaMallocManaged((void **)&memory, 16384, cudaMemAttachGlobal));
    assert_ok(cudaMalloc((void **)&plain, 16384));
    const unsigned before = fake->calls("cuMemAdvise");
    assert_int_equal(cudaMemAdvise(plain, 16384, cudaMemAdviseSetReadMostly, 0),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemAdvise(memory, 16385, cudaMemAdviseSetReadMostly, 0),
                     cudaErrorInvalidValue);
    assert_int_equal(cudaMemAdvise(memory, 16384, cudaMemAdviseSetAccessedBy, 3),
                     cudaErrorInvalidDevice);
    assert_int_equal(fake->calls("cuMemAdvise"), before);
    setenv("FAKE_CUDA_FIXED_PAGES", "1", 1);
    assert_int_equal(cudaMemPrefetchAsync(memory, 16384, 0, NULL), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemAdvise(memory, 16384, cudaMemAdviseSetPreferredLocation, 0),
                     cudaErrorInvalidDevice);
    unsetenv("FAKE_CUDA_FIXED_PAGES");
    assert_ok(cudaFree(memory));
    assert_ok(cudaFree(plain));
    (void)cudaGetLastError();
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
    setenv("FAKE_CUDA_DEVICES", "2", 1);
    setenv("WARPAGE_DEVICE", "cuda:1", 1);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_endless_kernel_does_not_keep_the_process),
        cmocka_unit_test(streams_and_events_pass_their_options_on),
        cmocka_unit_test(pageable_memory_is_staged_once),
        cmocka_unit_test(write_combined_memory_has_one_address),
        cmocka_unit_test(advice_is_the_drivers_to_hear),
        cmocka_unit_test(memory_is_attached_to_a_stream),
        cmocka_unit_test(bad_advice_has_cudas_errors),
        cmocka_unit_test(nothing_was_misused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
