/* SPDX-License-Identifier: Apache-2.0 */
/* Several devices in one program: a current device for each thread, owners of memory, streams and
 * events, copies and waits between devices. */
#include <pthread.h>

#define PROGRAM_WITHOUT_VARIABLES
#include "cuda_program.h"
#include "cudart/cudart.h"
#include "cudart/driver/driver.h"

#define COUNT 3
#define N 2000

__attribute__((constructor)) static void name_devices(void) {
    setenv("WARPAGE_DEVICE", "cpu, cpu,cpu", 1);
}

static int reset_all(void **state) {
    (void)state;
    for (int d = COUNT - 1; d >= 0; d--)
        if (cudaSetDevice(d) != cudaSuccess || cudaDeviceReset() != cudaSuccess) return -1;
    return 0;
}

static void every_thread_has_a_current_device(void **state) {
    (void)state;
    int count = 0, now = -1;
    assert_ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, COUNT);
    assert_ok(cudaGetDevice(&now));
    assert_int_equal(now, 0);
    assert_ok(cudaSetDevice(2));
    assert_cuda(cudaSetDevice(3), cudaErrorInvalidDevice);
    assert_cuda(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_ok(cudaGetDevice(&now));
    assert_int_equal(now, 2);
}

static void memory_belongs_to_the_current_device(void **state) {
    (void)state;
    struct cudaPointerAttributes a;
    size_t free_before[COUNT], free_after[COUNT], total;
    int *memory;
    for (int d = 0; d < COUNT; d++) {
        assert_ok(cudaSetDevice(d));
        assert_ok(cudaMemGetInfo(&free_before[d], &total));
    }
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMalloc((void **)&memory, 4096));
    for (int d = 0; d < COUNT; d++) {
        assert_ok(cudaSetDevice(d));
        assert_ok(cudaMemGetInfo(&free_after[d], &total));
        assert_int_equal(free_before[d] - free_after[d], d == 1 ? 4096 : 0);
        assert_ok(cudaPointerGetAttributes(&a, memory)); /* from any device */
        assert_int_equal(a.device, 1);
    }
    assert_ok(cudaFree(memory));
    assert_cuda(cudaFree(memory), cudaErrorInvalidValue);
}

static void streams_and_events_belong_to_a_device(void **state) {
    (void)state;
    cudaStream_t zero, one;
    cudaEvent_t event, other;
    float ms;
    int *data;
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaStreamCreate(&one));
    assert_ok(cudaEventCreate(&other));
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMalloc((void **)&data, 64));
    assert_ok(cudaStreamCreate(&zero));
    assert_ok(cudaEventCreate(&event));
    assert_cuda(cudaEventRecord(event, one), cudaErrorInvalidResourceHandle);
    assert_cuda(launch_add(data, 1, 1, one), cudaErrorInvalidResourceHandle);
    assert_ok(cudaEventRecord(event, zero));
    assert_ok(cudaEventRecord(other, one)); /* whatever the current device is */
    assert_ok(cudaEventSynchronize(event));
    assert_ok(cudaEventSynchronize(other));
    assert_cuda(cudaEventElapsedTime(&ms, event, other), cudaErrorInvalidResourceHandle);
    assert_ok(cudaStreamSynchronize(one));
    assert_ok(cudaMemsetAsync(data, 0, 64, one));
    assert_ok(cudaStreamSynchronize(one));
}

static void a_stream_waits_for_another_devices_event(void **state) {
    (void)state;
    atomic_int *gate;
    int *from, *to, host[N];
    cudaStream_t first, second;
    cudaEvent_t done;
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMallocHost((void **)&gate, sizeof *gate));
    atomic_store(gate, 0);
    assert_ok(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    assert_ok(cudaEventCreate(&done));
    assert_ok(cudaMalloc((void **)&from, sizeof host));
    assert_ok(cudaMemset(from, 0, sizeof host));
    assert_ok(cudaDeviceSynchronize());
    assert_ok(launch_wait(gate, first));
    assert_ok(launch_add(from, 5, N, first));
    assert_ok(cudaEventRecord(done, first));
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaMalloc((void **)&to, sizeof host));
    assert_ok(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    assert_ok(cudaStreamWaitEvent(second, done, 0)); /* does not wait itself */
    assert_ok(cudaMemcpyPeerAsync(to, 1, from, 0, sizeof host, second));
    assert_ok(launch_add(to, 1, N, second));
    assert_cuda(cudaStreamQuery(second), cudaErrorNotReady);
    atomic_store(gate, 1);
    assert_ok(cudaMemcpyAsync(host, to, sizeof host, cudaMemcpyDefault, second));
    assert_ok(cudaStreamSynchronize(second));
    for (int i = 0; i < N; i++)
        assert_int_equal(host[i], 6);
}

/* Copies in stream 0 between devices come after the work of both, and before their later work. */
static void a_copy_between_devices_orders_their_default_streams(void **state) {
    (void)state;
    int *near, *far, host[N];
    for (int round = 0; round < 20; round++) {
        assert_ok(cudaSetDevice(1));
        assert_ok(cudaMalloc((void **)&far, sizeof host));
        assert_ok(cudaMemset(far, 0, sizeof host));
        assert_ok(launch_add(far, 7, N, NULL));
        assert_ok(cudaSetDevice(0));
        assert_ok(cudaMalloc((void **)&near, sizeof host));
        assert_ok(cudaMemset(near, 0, sizeof host));
        assert_ok(cudaMemcpyPeer(near, 0, far, 1, sizeof host));
        assert_ok(launch_add(near, 1, N, NULL));
        assert_ok(cudaSetDevice(1));
        assert_ok(launch_add(far, 100, N, NULL));                               /* after the copy */
        assert_ok(cudaMemcpy(host, near, sizeof host, cudaMemcpyDeviceToHost)); /* of device 0 */
        for (int i = 0; i < N; i++)
            assert_int_equal(host[i], 8);
        assert_ok(cudaFree(near));
        assert_ok(cudaFree(far));
    }
}

static void peers_are_enabled_once(void **state) {
    (void)state;
    int can = -1;
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaDeviceCanAccessPeer(&can, 0, 1));
    assert_int_equal(can, 1);
    assert_ok(cudaDeviceCanAccessPeer(&can, 1, 1));
    assert_int_equal(can, 0);
    assert_cuda(cudaDeviceCanAccessPeer(&can, 0, 3), cudaErrorInvalidDevice);
    assert_ok(cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, 0, 2));
    assert_int_equal(can, 1);
    assert_cuda(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    assert_cuda(cudaDeviceEnablePeerAccess(1, 1), cudaErrorInvalidValue);
    assert_cuda(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    assert_ok(cudaDeviceEnablePeerAccess(1, 0));
    assert_cuda(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    assert_ok(cudaSetDevice(1)); /* one direction */
    assert_cuda(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    assert_ok(cudaDeviceReset()); /* of the peer */
    assert_ok(cudaSetDevice(0));
    assert_cuda(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

static void a_reset_leaves_other_devices_alone(void **state) {
    (void)state;
    int *kept, *gone;
    cudaStream_t stream, lost;
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaMalloc((void **)&kept, 64));
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaSetDevice(2));
    assert_ok(cudaMalloc((void **)&gone, 64));
    assert_ok(cudaStreamCreate(&lost));
    assert_ok(cudaDeviceReset());
    assert_cuda(cudaStreamSynchronize(lost), cudaErrorInvalidResourceHandle);
    assert_cuda(cudaMemset(gone, 0, 64), cudaErrorInvalidValue);
    assert_ok(cudaStreamSynchronize(stream));
    assert_ok(cudaMemset(kept, 0, 64));
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaDeviceSynchronize());
}

static void an_error_stays_with_its_device(void **state) {
    (void)state;
    int now;
    assert_ok(cudaSetDevice(1));
    assert_ok(cudaLaunchKernel(&stub_trap, dim(1), dim(1), NULL, 0, NULL));
    assert_cuda(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    assert_ok(cudaSetDevice(0));
    assert_ok(cudaDeviceSynchronize());
    assert_cuda(cudaSetDevice(1), cudaErrorLaunchFailure);
    assert_ok(cudaGetDevice(&now));
    assert_int_equal(now, 1);
    assert_ok(cudaDeviceReset());
    assert_ok(cudaDeviceSynchronize());
}

static void the_context_follows_the_current_device(void **state) {
    (void)state;
    CUcontext one, current;
    CUdevice device;
    int now;
    assert_int_equal(cuInit(0), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate(&one, 0, 1), CUDA_SUCCESS);
    assert_ok(cudaGetDevice(&now));
    assert_int_equal(now, 1);
    assert_ok(cudaSetDevice(2));
    assert_int_equal(cuCtxGetDevice(&device), CUDA_SUCCESS);
    assert_int_equal(device, 2);
    assert_int_equal(cuCtxSetCurrent(one), CUDA_SUCCESS);
    assert_int_equal(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    assert_ptr_equal(current, one);
    assert_ok(cudaGetDevice(&now));
    assert_int_equal(now, 1);
    assert_int_equal(cuCtxDestroy(one), CUDA_SUCCESS);
    assert_int_equal(cuCtxCreate(&one, 0, COUNT), CUDA_ERROR_INVALID_DEVICE);
}

/* A ring of threads: each adds to its buffer and sends it to the next device, several times. */
typedef struct part {
    pthread_t thread;
    pthread_barrier_t *all;
    int **inboxes;
    int device, wrong;
} part;

static void *pass_on(void *arg) {
    part *p = arg;
    int *own, host[N];
    const int next = (p->device + 1) % COUNT;
    p->wrong += cudaSetDevice(p->device) != cudaSuccess;
    p->wrong += cudaMalloc((void **)&own, sizeof host) != cudaSuccess;
    p->wrong += cudaMemset(own, 0, sizeof host) != cudaSuccess;
    for (int round = 0; round < COUNT; round++) {
        p->wrong += launch_add(own, p->device + 1, N, NULL) != cudaSuccess;
        p->wrong +=
            cudaMemcpyPeer(p->inboxes[next], next, own, p->device, sizeof host) != cudaSuccess;
        p->wrong += cudaDeviceSynchronize() != cudaSuccess;
        (void)pthread_barrier_wait(p->all);
        p->wrong +=
            cudaMemcpy(own, p->inboxes[p->device], sizeof host, cudaMemcpyDefault) != cudaSuccess;
        p->wrong += cudaDeviceSynchronize() != cudaSuccess;
        (void)pthread_barrier_wait(p->all);
    }
    p->wrong += cudaMemcpy(host, own, sizeof host, cudaMemcpyDefault) != cudaSuccess;
    for (int i = 0; i < N; i++)
        p->wrong += host[i] != COUNT * (COUNT + 1) / 2;
    p->wrong += cudaFree(own) != cudaSuccess;
    return NULL;
}

static void threads_pass_buffers_round_a_ring(void **state) {
    (void)state;
    int *inboxes[COUNT];
    part parts[COUNT];
    pthread_barrier_t all;
    assert_int_equal(pthread_barrier_init(&all, NULL, COUNT), 0);
    for (int d = 0; d < COUNT; d++) {
        assert_ok(cudaSetDevice(d));
        assert_ok(cudaMalloc((void **)&inboxes[d], N * sizeof(int)));
    }
    for (int d = 0; d < COUNT; d++) {
        parts[d] = (part){.all = &all, .inboxes = inboxes, .device = d};
        assert_int_equal(pthread_create(&parts[d].thread, NULL, pass_on, &parts[d]), 0);
    }
    for (int d = 0; d < COUNT; d++) {
        assert_int_equal(pthread_join(parts[d].thread, NULL), 0);
        assert_int_equal(parts[d].wrong, 0);
    }
    (void)pthread_barrier_destroy(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_thread_has_a_current_device, reset_all),
        cmocka_unit_test_setup(memory_belongs_to_the_current_device, reset_all),
        cmocka_unit_test_setup(streams_and_events_belong_to_a_device, reset_all),
        cmocka_unit_test_setup(a_stream_waits_for_another_devices_event, reset_all),
        cmocka_unit_test_setup(a_copy_between_devices_orders_their_default_streams, reset_all),
        cmocka_unit_test_setup(peers_are_enabled_once, reset_all),
        cmocka_unit_test_setup(a_reset_leaves_other_devices_alone, reset_all),
        cmocka_unit_test_setup(an_error_stays_with_its_device, reset_all),
        cmocka_unit_test_setup(the_context_follows_the_current_device, reset_all),
        cmocka_unit_test_setup(threads_pass_buffers_round_a_ring, reset_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
