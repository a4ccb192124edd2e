/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c, event.c, per_thread.c: order, waiting, host functions, time. */
#include <pthread.h>
#include <time.h>

#include "cuda_program.h"
#include "cudart/cudart.h"

static atomic_int *gate;
static int *data;

static int open_gate(void **state) {
    if (start_over(state) != 0) return -1;
    if (cudaMallocHost((void **)&gate, sizeof *gate) != cudaSuccess) return -1;
    if (cudaMallocManaged((void **)&data, 64, cudaMemAttachGlobal) != cudaSuccess) return -1;
    atomic_store(gate, 0);
    memset(data, 0, 64);
    return 0;
}

static void streams_know_flags_and_priority(void **state) {
    (void)state;
    cudaStream_t a, b;
    unsigned flags;
    int least, greatest, priority;
    unsigned long long id_a, id_b;
    assert_ok(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    assert_true(greatest <= least);
    assert_ok(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    assert_ok(cudaStreamCreateWithPriority(&b, cudaStreamDefault, -1000));
    assert_ok(cudaStreamGetFlags(a, &flags));
    assert_int_equal(flags, cudaStreamNonBlocking);
    assert_ok(cudaStreamGetPriority(b, &priority));
    assert_int_equal(priority, greatest);
    assert_ok(cudaStreamGetId(a, &id_a));
    assert_ok(cudaStreamGetId(b, &id_b));
    assert_true(id_a != id_b);
    assert_cuda(cudaStreamCreateWithFlags(&a, 0x10), cudaErrorInvalidValue);
    assert_cuda(cudaStreamCreate(NULL), cudaErrorInvalidValue);
}

static void dead_and_foreign_streams_are_refused(void **state) {
    (void)state;
    cudaStream_t stream;
    int on_stack;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamDestroy(stream));
    assert_cuda(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaStreamQuery((cudaStream_t)(void *)&on_stack), cudaErrorInvalidResourceHandle);
    assert_cuda(launch_add(data, 1, 1, stream), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaStreamDestroy(NULL), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
}

static void queries_see_work_under_way(void **state) {
    (void)state;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamQuery(stream));
    assert_ok(launch_wait(gate, stream));
    assert_cuda(cudaStreamQuery(stream), cudaErrorNotReady);
    atomic_store(gate, 1);
    assert_ok(cudaStreamSynchronize(stream));
    assert_ok(cudaStreamQuery(stream));
}

static void destroyed_streams_finish_their_work(void **state) {
    (void)state;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(launch_wait(gate, stream));
    assert_ok(launch_add(data, 4, 1, stream));
    assert_ok(cudaStreamDestroy(stream));
    atomic_store(gate, 1);
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(data[0], 4);
}

static void default_stream_waits_for_blocking_streams(void **state) {
    (void)state;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(launch_wait(gate, stream));
    assert_ok(launch_add(data, 1, 1, NULL));
    assert_cuda(cudaStreamQuery(NULL), cudaErrorNotReady);
    atomic_store(gate, 1);
    assert_ok(cudaStreamSynchronize(cudaStreamLegacy));
    assert_int_equal(data[0], 1);
}

static void other_streams_do_not_wait(void **state) {
    (void)state;
    cudaStream_t waiting, free_one;
    assert_ok(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    assert_ok(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
    assert_ok(launch_wait(gate, waiting));
    assert_ok(launch_add(data, 1, 1, free_one));
    assert_ok(cudaStreamSynchronize(free_one)); /* while the other is stuck */
    assert_int_equal(data[0], 1);
    assert_ok(launch_add(data, 1, 1, NULL)); /* nor does the default one */
    assert_ok(cudaStreamSynchronize(NULL));
    atomic_store(gate, 1);
    assert_ok(cudaDeviceSynchronize());
}

static void events_order_streams(void **state) {
    (void)state;
    cudaStream_t first, second;
    cudaEvent_t event;
    assert_ok(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    assert_ok(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    assert_ok(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    assert_ok(cudaStreamWaitEvent(second, event, 0)); /* never recorded: no wait */
    assert_ok(launch_wait(gate, first));
    assert_ok(cudaEventRecord(event, first));
    assert_ok(cudaStreamWaitEvent(second, event, 0));
    assert_ok(launch_add(data, 1, 1, second));
    assert_cuda(cudaStreamQuery(second), cudaErrorNotReady);
    assert_cuda(cudaEventQuery(event), cudaErrorNotReady);
    assert_int_equal(data[0], 0);
    atomic_store(gate, 1);
    assert_ok(cudaEventSynchronize(event));
    assert_ok(cudaEventQuery(event));
    assert_ok(cudaStreamSynchronize(second));
    assert_int_equal(data[0], 1);
    assert_cuda(cudaStreamWaitEvent(second, event, 7), cudaErrorInvalidValue);
}

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Between what the host sees pass inside and around: true at any speed. */
static void events_measure_time(void **state) {
    (void)state;
    cudaEvent_t start, end;
    float ms = -1;
    const float rounding_ms = 0.01f;
    const struct timespec pause = {.tv_nsec = 20000000};
    assert_ok(cudaEventCreate(&start));
    assert_ok(cudaEventCreate(&end));
    const double outer_start_ms = now_ms();
    assert_ok(cudaEventRecord(start, NULL));
    assert_ok(cudaEventSynchronize(start)); /* a record is asynchronous: its time is later */
    assert_ok(launch_wait(gate, NULL));
    assert_ok(cudaEventRecord(end, NULL));
    assert_cuda(cudaEventElapsedTime(&ms, start, end), cudaErrorNotReady);
    const double inner_start_ms = now_ms();
    nanosleep(&pause, NULL);
    const float inner_ms = (float)(now_ms() - inner_start_ms);
    atomic_store(gate, 1);
    assert_ok(cudaEventSynchronize(end));
    const float outer_ms = (float)(now_ms() - outer_start_ms);
    assert_ok(cudaEventElapsedTime(&ms, start, end));
    if (ms < inner_ms - rounding_ms || ms > outer_ms + rounding_ms)
        fail_msg("%g ms, expected %g to %g", (double)ms, (double)inner_ms, (double)outer_ms);
    const float forwards_ms = ms;
    assert_ok(cudaEventElapsedTime(&ms, end, start));
    assert_true(ms == -forwards_ms);
}

static void times_need_recorded_events_with_a_clock(void **state) {
    (void)state;
    cudaEvent_t untimed, unrecorded, good;
    float ms;
    assert_ok(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    assert_ok(cudaEventCreate(&unrecorded));
    assert_ok(cudaEventCreate(&good));
    assert_ok(cudaEventRecord(untimed, NULL));
    assert_ok(cudaEventRecord(good, NULL));
    assert_ok(cudaEventSynchronize(good));
    assert_cuda(cudaEventElapsedTime(&ms, good, untimed), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaEventElapsedTime(&ms, unrecorded, good), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaEventElapsedTime(NULL, good, good), cudaErrorInvalidValue);
    assert_ok(cudaEventQuery(unrecorded)); /* never recorded: nothing to wait for */
    assert_ok(cudaEventSynchronize(unrecorded));
    assert_ok(cudaEventDestroy(good));
    assert_cuda(cudaEventDestroy(good), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaEventRecord(NULL, NULL), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaEventCreateWithFlags(&good, 0x80), cudaErrorInvalidValue);
    assert_cuda(cudaEventCreateWithFlags(&good, cudaEventInterprocess), cudaErrorInvalidValue);
}

typedef struct seen {
    int value;
    cudaError_t status, inner;
    cudaStream_t stream;
} seen;

static void look(void *arg) {
    seen *s = arg;
    void *memory;
    s->value = data[0];
    s->inner = cudaMalloc(&memory, 16);
}

static void look_back(cudaStream_t stream, cudaError_t status, void *arg) {
    look(arg);
    ((seen *)arg)->status = status;
    ((seen *)arg)->stream = stream;
}

static void host_functions_run_in_order_and_call_nothing(void **state) {
    (void)state;
    cudaStream_t stream;
    seen first = {0}, second = {.status = cudaErrorUnknown};
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(launch_add(data, 1, 1, stream));
    assert_ok(cudaLaunchHostFunc(stream, look, &first));
    assert_ok(launch_add(data, 1, 1, stream));
    assert_ok(cudaStreamAddCallback(stream, look_back, &second, 0));
    assert_ok(cudaStreamSynchronize(stream));
    assert_int_equal(first.value, 1);
    assert_cuda(first.inner, cudaErrorNotPermitted);
    assert_int_equal(second.value, 2);
    assert_ok(second.status);
    assert_ptr_equal(second.stream, stream);
    assert_cuda(cudaLaunchHostFunc(stream, NULL, NULL), cudaErrorInvalidValue);
    assert_cuda(cudaStreamAddCallback(stream, look_back, NULL, 1), cudaErrorInvalidValue);
}

static void *add_on_own_stream(void *unused) {
    (void)unused;
    cudaError_t error = launch_add(data, 1, 1, cudaStreamPerThread);
    if (error == cudaSuccess) error = cudaStreamSynchronize(cudaStreamPerThread);
    return (void *)(uintptr_t)error;
}

static void each_thread_has_its_own_default_stream(void **state) {
    (void)state;
    cudaStream_t blocked;
    pthread_t thread;
    void *result;
    assert_ok(cudaStreamCreateWithFlags(&blocked, cudaStreamNonBlocking));
    assert_ok(launch_wait(gate, blocked));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, add_on_own_stream, NULL), 0);
        pthread_join(thread, &result);
        assert_int_equal((uintptr_t)result, cudaSuccess);
    }
    assert_int_equal(data[0], 3);
    assert_ok(launch_add(data, 1, 1, cudaStreamPerThread));
    atomic_store(gate, 1);
    assert_ok(cudaDeviceReset());
    assert_ok(cudaStreamSynchronize(cudaStreamPerThread)); /* a new one after the reset */
}

cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 grid, dim3 block, void **args,
                                  size_t shared, cudaStream_t stream);
cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream);

static void per_thread_calls_take_stream_0_as_the_threads_own(void **state) {
    (void)state;
    void *args[] = {&gate};
    assert_ok(cudaLaunchKernel_ptsz(&stub_wait, dim(1), dim(1), args, 0, NULL));
    assert_cuda(cudaStreamQuery_ptsz(NULL), cudaErrorNotReady);
    assert_cuda(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
    assert_ok(cudaStreamQuery(NULL));
    atomic_store(gate, 1);
    assert_ok(cudaStreamSynchronize(cudaStreamPerThread));
}

static void capturing_streams_are_known(void **state) {
    (void)state;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusNone);
    assert_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    assert_ok(cudaStreamIsCapturing(stream, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    cudaGraph_t graph;
    assert_ok(cudaStreamEndCapture(stream, &graph));
    assert_ok(cudaGraphDestroy(graph));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, open_gate)
    const struct CMUnitTest tests[] = {
        TEST(streams_know_flags_and_priority),
        TEST(dead_and_foreign_streams_are_refused),
        TEST(queries_see_work_under_way),
        TEST(destroyed_streams_finish_their_work),
        TEST(default_stream_waits_for_blocking_streams),
        TEST(other_streams_do_not_wait),
        TEST(events_order_streams),
        TEST(events_measure_time),
        TEST(times_need_recorded_events_with_a_clock),
        TEST(host_functions_run_in_order_and_call_nothing),
        TEST(each_thread_has_its_own_default_stream),
        TEST(per_thread_calls_take_stream_0_as_the_threads_own),
        TEST(capturing_streams_are_known),
    };
    return wp_test_main(tests);
}
