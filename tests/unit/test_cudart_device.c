/* SPDX-License-Identifier: Apache-2.0 */
/* device.c, profiler.c: questions about the device, and its switches. */
#include "cuda_program.h"
#include "cudart/cudart.h"

static void there_is_one_device(void **state) {
    (void)state;
    int count = 0, device = 5;
    struct cudaDeviceProp wanted = {.major = 9};
    assert_ok(cudaGetDeviceCount(&count));
    assert_int_equal(count, 1);
    assert_ok(cudaSetDevice(0));
    assert_cuda(cudaSetDevice(1), cudaErrorInvalidDevice);
    assert_cuda(cudaSetDevice(-1), cudaErrorInvalidDevice);
    assert_ok(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    assert_ok(cudaChooseDevice(&device, &wanted));
    assert_int_equal(device, 0);
    assert_ok(cudaInitDevice(0, 0, 0));
    assert_ok(cudaSetValidDevices(&device, 1));
    assert_cuda(cudaGetDeviceCount(NULL), cudaErrorInvalidValue);
}

static void properties_and_attributes_agree(void **state) {
    (void)state;
    struct cudaDeviceProp p;
    int value;
    assert_ok(cudaGetDeviceProperties(&p, 0));
    assert_true(p.name[0] != '\0');
    assert_int_equal(p.warpSize, 32);
    assert_int_equal(p.maxThreadsPerBlock, 1024);
    assert_true(p.multiProcessorCount >= 1 && p.totalGlobalMem > 0 && p.major >= 3);
    const struct {
        enum cudaDeviceAttr attribute;
        size_t expected;
    } pairs[] = {
        {cudaDevAttrWarpSize, (size_t)p.warpSize},
        {cudaDevAttrMultiProcessorCount, (size_t)p.multiProcessorCount},
        {cudaDevAttrMaxSharedMemoryPerBlock, p.sharedMemPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin},
        {cudaDevAttrComputeCapabilityMajor, (size_t)p.major},
        {cudaDevAttrClockRate, (size_t)p.clockRate},
        {cudaDevAttrMaxGridDimY, 65535},
        {cudaDevAttrManagedMemory, 1},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_ok(cudaDeviceGetAttribute(&value, pairs[i].attribute, 0));
        assert_int_equal(value, pairs[i].expected);
    }
    for (int a = cudaDevAttrMaxThreadsPerBlock; a <= cudaDevAttrComputePreemptionSupported; a++)
        if (a != 44) /* has no meaning in CUDA, either */
            assert_ok(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)a, 0));
    assert_cuda(cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)9999, 0),
                cudaErrorInvalidValue);
    assert_cuda(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
    assert_cuda(cudaGetDeviceProperties(&p, 1), cudaErrorInvalidDevice);
}

static void versions_are_those_of_the_header(void **state) {
    (void)state;
    int runtime, driver;
    assert_ok(cudaRuntimeGetVersion(&runtime));
    assert_ok(cudaDriverGetVersion(&driver));
    assert_int_equal(runtime, CUDART_VERSION);
    assert_true(driver >= runtime);
    assert_cuda(cudaDriverGetVersion(NULL), cudaErrorInvalidValue);
}

static void bus_ids_go_both_ways(void **state) {
    (void)state;
    char id[32];
    int device = 9;
    assert_ok(cudaDeviceGetPCIBusId(id, sizeof id, 0));
    assert_ok(cudaDeviceGetByPCIBusId(&device, id));
    assert_int_equal(device, 0);
    assert_cuda(cudaDeviceGetByPCIBusId(&device, "0000:7f:00.0"), cudaErrorInvalidDevice);
    assert_cuda(cudaDeviceGetByPCIBusId(&device, "gpu"), cudaErrorInvalidValue);
    assert_cuda(cudaDeviceGetPCIBusId(id, 4, 0), cudaErrorInvalidValue);
}

static void limits_can_be_set_and_read(void **state) {
    (void)state;
    size_t value;
    const enum cudaLimit limits[] = {cudaLimitMallocHeapSize, cudaLimitStackSize,
                                     cudaLimitDevRuntimeSyncDepth};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        assert_ok(cudaDeviceGetLimit(&value, limits[i]));
        assert_ok(cudaDeviceSetLimit(limits[i], value * 2));
        size_t doubled;
        assert_ok(cudaDeviceGetLimit(&doubled, limits[i]));
        assert_true(doubled >= value * 2);
    }
    assert_ok(cudaThreadGetLimit(&value, cudaLimitPrintfFifoSize));
    assert_true(value > 0);
    assert_cuda(cudaDeviceSetLimit((enum cudaLimit)77, 1), cudaErrorUnsupportedLimit);
    assert_cuda(cudaDeviceGetLimit(NULL, cudaLimitStackSize), cudaErrorInvalidValue);
}

static void switches_are_remembered(void **state) {
    (void)state;
    unsigned flags;
    enum cudaFuncCache cache;
    enum cudaSharedMemConfig banks;
    assert_ok(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
    assert_ok(cudaGetDeviceFlags(&flags));
    assert_int_equal(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
    assert_cuda(cudaSetDeviceFlags(cudaDeviceScheduleSpin | cudaDeviceScheduleYield),
                cudaErrorInvalidValue);
    assert_cuda(cudaSetDeviceFlags(0x4000), cudaErrorInvalidValue);
    assert_ok(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    assert_ok(cudaThreadGetCacheConfig(&cache));
    assert_int_equal(cache, cudaFuncCachePreferShared);
    assert_ok(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
    assert_ok(cudaDeviceGetSharedMemConfig(&banks));
    assert_int_equal(banks, cudaSharedMemBankSizeEightByte);
    assert_cuda(cudaDeviceSetCacheConfig((enum cudaFuncCache)9), cudaErrorInvalidValue);
}

static void there_are_no_peers(void **state) {
    (void)state;
    int can = 1, value;
    assert_ok(cudaDeviceCanAccessPeer(&can, 0, 0));
    assert_int_equal(can, 0);
    assert_cuda(cudaDeviceCanAccessPeer(&can, 0, 1), cudaErrorInvalidDevice);
    assert_cuda(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
    assert_cuda(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
    assert_cuda(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0),
                cudaErrorInvalidDevice);
}

static void profiler_marks_succeed(void **state) {
    (void)state;
    assert_ok(cudaProfilerStart());
    assert_ok(cudaProfilerStop());
    assert_ok(cudaThreadSynchronize());
    assert_ok(cudaThreadExit());
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(there_is_one_device),
        TEST(properties_and_attributes_agree),
        TEST(versions_are_those_of_the_header),
        TEST(bus_ids_go_both_ways),
        TEST(limits_can_be_set_and_read),
        TEST(switches_are_remembered),
        TEST(there_are_no_peers),
        TEST(profiler_marks_succeed),
    };
    return wp_test_main(tests);
}
