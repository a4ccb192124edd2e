/* SPDX-License-Identifier: Apache-2.0 */
/* launch.c, register.c, function.c: from a host stub to a running kernel. */
#include "cuda_program.h"
#include "cudart/cudart.h"

static void kernel_runs_with_its_arguments(void **state) {
    (void)state;
    int *data, host[100];
    assert_ok(cudaMalloc((void **)&data, sizeof host));
    for (int i = 0; i < 100; i++)
        host[i] = i;
    assert_ok(cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice));
    assert_ok(launch_add(data, 5, 100, NULL));
    assert_ok(cudaGetLastError());
    assert_ok(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        assert_int_equal(host[i], i + 5);
    assert_ok(cudaFree(data));
}

static void arguments_are_copied_at_the_launch(void **state) {
    (void)state;
    int *data;
    atomic_int *gate;
    assert_ok(cudaMallocManaged((void **)&data, sizeof(int), cudaMemAttachGlobal));
    assert_ok(cudaMallocHost((void **)&gate, sizeof *gate));
    *data = 0;
    atomic_store(gate, 0);
    int value = 3, count = 1;
    void *args[] = {&data, &value, &count};
    assert_ok(launch_wait(gate, NULL));
    assert_ok(cudaLaunchKernel(&stub_add, dim(1), dim(1), args, 0, NULL));
    value = 1000;
    atomic_store(gate, 1);
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(*data, 3);
}

static void pushed_configurations_come_back_last_first(void **state) {
    (void)state;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    assert_int_equal(__cudaPushCallConfiguration(dim(1), dim(32), 16, NULL), 0);
    assert_int_equal(__cudaPushCallConfiguration((dim3){2, 3, 4}, dim(64), 0, cudaStreamLegacy), 0);
    assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    assert_int_equal(grid.y, 3);
    assert_int_equal(block.x, 64);
    assert_ptr_equal(stream, cudaStreamLegacy);
    assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    assert_int_equal(block.x, 32);
    assert_int_equal(shared, 16);
    assert_cuda(__cudaPopCallConfiguration(&grid, &block, &shared, &stream),
                cudaErrorMissingConfiguration);
}

static void endless_nesting_of_launches_is_an_error(void **state) {
    (void)state;
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    unsigned pushed = 0;
    while (pushed < 1000 && __cudaPushCallConfiguration(dim(1), dim(1), 0, NULL) == 0)
        pushed++;
    assert_in_range(pushed, 16, 999);
    assert_cuda(cudaGetLastError(), cudaErrorLaunchMaxDepthExceeded);
    while (pushed-- > 0)
        assert_ok(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
}

static void old_launch_calls_work(void **state) {
    (void)state;
    int *data, host = 1, value = 41, count = 1;
    assert_ok(cudaMalloc((void **)&data, sizeof host));
    assert_ok(cudaMemcpy(data, &host, sizeof host, cudaMemcpyHostToDevice));
    assert_ok(cudaConfigureCall(dim(1), dim(1), 0, NULL));
    assert_ok(cudaSetupArgument(&data, sizeof data, 0));
    assert_ok(cudaSetupArgument(&value, sizeof value, 8));
    assert_cuda(cudaSetupArgument(&count, sizeof count, 1 << 20), cudaErrorInvalidValue);
    assert_ok(cudaSetupArgument(&count, sizeof count, 12));
    assert_ok(cudaLaunch(&stub_add));
    assert_ok(cudaMemcpy(&host, data, sizeof host, cudaMemcpyDeviceToHost));
    assert_int_equal(host, 42);
    assert_cuda(cudaLaunch(&stub_add), cudaErrorMissingConfiguration);
    assert_ok(cudaConfigureCall(dim(1), dim(1), 0, NULL));
    assert_cuda(cudaLaunch(&stub_add), cudaErrorInvalidValue); /* arguments are missing */
}

static void impossible_shapes_are_refused(void **state) {
    (void)state;
    const dim3 shapes[][2] = {
        {{0, 1, 1}, {1, 1, 1}},     {{1, 1, 1}, {0, 1, 1}},           {{1, 1, 1}, {1025, 1, 1}},
        {{1, 1, 1}, {1, 1, 65}},    {{1, 1, 1}, {32, 32, 2}},         {{1, 65536, 1}, {1, 1, 1}},
        {{1, 1, 65536}, {1, 1, 1}}, {{0x80000000u, 1, 1}, {1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        assert_cuda(cudaLaunchKernel(&stub_trap, shapes[i][0], shapes[i][1], NULL, 0, NULL),
                    cudaErrorInvalidConfiguration);
        assert_cuda(cudaGetLastError(), cudaErrorInvalidConfiguration);
        assert_ok(cudaGetLastError());
    }
    assert_ok(cudaDeviceSynchronize());
}

static void launch_bounds_are_kept(void **state) {
    (void)state;
    assert_ok(cudaLaunchKernel(&stub_limited, dim(1), dim(64), NULL, 0, NULL));
    assert_cuda(cudaLaunchKernel(&stub_limited, dim(1), dim(65), NULL, 0, NULL),
                cudaErrorLaunchOutOfResources);
}

static void functions_that_are_no_kernels_are_refused(void **state) {
    (void)state;
    static char not_a_stub;
    assert_cuda(cudaLaunchKernel(&not_a_stub, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorInvalidDeviceFunction);
    assert_cuda(cudaLaunchKernel(&stub_gone, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorInvalidDeviceFunction);
    assert_cuda(cudaLaunchKernel(NULL, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorInvalidDeviceFunction);
    assert_cuda(cudaLaunchKernel(&stub_add, dim(1), dim(1), NULL, 0, NULL), cudaErrorInvalidValue);
}

static void large_shared_memory_needs_leave(void **state) {
    (void)state;
    uint32_t *out;
    struct cudaFuncAttributes a;
    assert_ok(cudaMallocManaged((void **)&out, sizeof *out, cudaMemAttachGlobal));
    void *args[] = {&out};
    assert_ok(cudaLaunchKernel(&stub_shared_size, dim(1), dim(32), args, 4096, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(*out, 4096);
    assert_cuda(cudaLaunchKernel(&stub_shared_size, dim(1), dim(32), args, 64 * 1024, NULL),
                cudaErrorInvalidValue);
    assert_ok(cudaFuncSetAttribute(&stub_shared_size, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   64 * 1024));
    assert_ok(cudaFuncGetAttributes(&a, &stub_shared_size));
    assert_int_equal(a.maxDynamicSharedSizeBytes, 64 * 1024);
    assert_ok(cudaLaunchKernel(&stub_shared_size, dim(1), dim(32), args, 64 * 1024, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(*out, 64 * 1024);
    assert_cuda(cudaFuncSetAttribute(&stub_shared_size, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     1 << 30),
                cudaErrorInvalidValue);
}

static void attributes_describe_the_kernel(void **state) {
    (void)state;
    struct cudaFuncAttributes a;
    const char *name;
    assert_ok(cudaFuncGetAttributes(&a, &stub_limited));
    assert_int_equal(a.sharedSizeBytes, 1024);
    assert_int_equal(a.localSizeBytes, 24);
    assert_int_equal(a.numRegs, 20);
    assert_int_equal(a.maxThreadsPerBlock, 64);
    assert_int_equal(a.maxDynamicSharedSizeBytes, 47 * 1024);
    assert_int_equal(a.preferredShmemCarveout, -1);
    assert_ok(
        cudaFuncSetAttribute(&stub_limited, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    assert_ok(cudaFuncGetAttributes(&a, &stub_limited));
    assert_int_equal(a.preferredShmemCarveout, 50);
    assert_cuda(
        cudaFuncSetAttribute(&stub_limited, cudaFuncAttributePreferredSharedMemoryCarveout, 101),
        cudaErrorInvalidValue);
    assert_cuda(cudaFuncGetAttributes(&a, &stub_gone), cudaErrorInvalidDeviceFunction);
    assert_ok(cudaFuncSetCacheConfig(&stub_limited, cudaFuncCachePreferL1));
    assert_ok(cudaFuncGetName(&name, &stub_limited));
    assert_string_equal(name, "k_limited");
}

static void occupancy_counts_blocks(void **state) {
    (void)state;
    int blocks;
    size_t bytes;
    struct cudaDeviceProp p;
    assert_ok(cudaGetDeviceProperties(&p, 0));
    assert_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_add, 1024, 0));
    assert_int_equal(blocks, p.maxThreadsPerMultiProcessor / 1024);
    assert_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_add, 32,
                                                            p.sharedMemPerMultiprocessor + 1));
    assert_int_equal(blocks, 0);
    assert_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_add, 0, 0),
                cudaErrorInvalidValue);
    assert_ok(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &stub_limited, 2, 64));
    assert_int_equal(bytes, p.sharedMemPerMultiprocessor / 2 - 1024);
}

static void cooperative_launches_must_fit(void **state) {
    (void)state;
    int blocks, *data, value = 1, count = 4;
    struct cudaDeviceProp p;
    assert_ok(cudaGetDeviceProperties(&p, 0));
    assert_ok(cudaMallocManaged((void **)&data, 4 * sizeof(int), cudaMemAttachGlobal));
    memset(data, 0, 4 * sizeof(int));
    void *args[] = {&data, &value, &count};
    assert_ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &stub_add, 1024, 0));
    const unsigned room = (unsigned)(blocks * p.multiProcessorCount);
    assert_ok(cudaLaunchCooperativeKernel(&stub_add, dim(room), dim(1024), args, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(data[3], 1);
    assert_cuda(cudaLaunchCooperativeKernel(&stub_add, dim(room + 1), dim(1024), args, 0, NULL),
                cudaErrorCooperativeLaunchTooLarge);

    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    cudaLaunchConfig_t config = {
        .gridDim = dim(room + 1), .blockDim = dim(1024), .attrs = &attribute, .numAttrs = 1};
    assert_cuda(cudaLaunchKernelExC(&config, &stub_add, args), cudaErrorCooperativeLaunchTooLarge);
    attribute.val.cooperative = 0;
    assert_ok(cudaLaunchKernelExC(&config, &stub_add, args));
    attribute = (cudaLaunchAttribute){.id = cudaLaunchAttributeClusterDimension};
    attribute.val.clusterDim.x = 2;
    assert_cuda(cudaLaunchKernelExC(&config, &stub_add, args), cudaErrorInvalidClusterSize);
    assert_cuda(cudaLaunchKernelExC(NULL, &stub_add, args), cudaErrorInvalidValue);
}

static void code_of_another_compiler_is_named(void **state) {
    (void)state;
    static char stub_foreign, stub_no_wrapper;
    static const char foreign_code[64] = "\x50\xed\x55\xba";
    wpi_fatbin fatbin = {WPI_FATBIN_MAGIC, 1, foreign_code, NULL};
    void **foreign = __cudaRegisterFatBinary(&fatbin);
    register_function(foreign, &stub_foreign, "k_add");
    assert_cuda(cudaLaunchKernel(&stub_foreign, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorNoKernelImageForDevice);
    fatbin.magic = 1;
    void **none = __cudaRegisterFatBinary(&fatbin);
    register_function(none, &stub_no_wrapper, "k_add");
    assert_cuda(cudaLaunchKernel(&stub_no_wrapper, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorNoKernelImageForDevice);
    __cudaUnregisterFatBinary(foreign);
    __cudaUnregisterFatBinary(none);
    assert_cuda(cudaLaunchKernel(&stub_foreign, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorInvalidDeviceFunction);
}

static void image_of_another_version_is_invalid(void **state) {
    (void)state;
    static char stub_old;
    wp_image_header old = program_image;
    old.abi_version = WP_ABI_VERSION + 1;
    wpi_fatbin fatbin = {WPI_FATBIN_MAGIC, 1, &old, NULL};
    void **handle = __cudaRegisterFatBinary(&fatbin);
    register_function(handle, &stub_old, "k_add");
    assert_cuda(cudaLaunchKernel(&stub_old, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(handle);
}

static void image_without_code_has_no_kernels(void **state) {
    (void)state;
    static char stub_lost;
    wp_image_header lost = program_image;
    lost.id = 99;
    wpi_fatbin fatbin = {WPI_FATBIN_MAGIC, 1, &lost, NULL};
    void **handle = __cudaRegisterFatBinary(&fatbin);
    register_function(handle, &stub_lost, "k_add");
    assert_cuda(cudaLaunchKernel(&stub_lost, dim(1), dim(1), NULL, 0, NULL),
                cudaErrorNoKernelImageForDevice);
    __cudaUnregisterFatBinary(handle);
}

static char stub_linked[2];
static void **linked_handles[2];

static void register_linked_0(void **handle) {
    linked_handles[0] = handle;
    register_function(handle, &stub_linked[0], "k_limited");
}

static void register_linked_1(void **handle) {
    linked_handles[1] = handle;
    register_function(handle, &stub_linked[1], "k_limited");
}

static void separately_compiled_objects_share_an_image(void **state) {
    (void)state;
    static wp_image_header linked;
    linked = program_image;
    wp_register_linked(&linked, register_linked_0);
    wp_register_linked(&linked, register_linked_1);
    assert_ptr_equal(linked_handles[0], linked_handles[1]);
    for (int i = 0; i < 2; i++)
        assert_ok(cudaLaunchKernel(&stub_linked[i], dim(1), dim(1), NULL, 0, NULL));
    assert_ok(cudaDeviceSynchronize());
    __cudaUnregisterFatBinary(linked_handles[0]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(kernel_runs_with_its_arguments),
        TEST(arguments_are_copied_at_the_launch),
        TEST(pushed_configurations_come_back_last_first),
        TEST(endless_nesting_of_launches_is_an_error),
        TEST(old_launch_calls_work),
        TEST(impossible_shapes_are_refused),
        TEST(launch_bounds_are_kept),
        TEST(functions_that_are_no_kernels_are_refused),
        TEST(large_shared_memory_needs_leave),
        TEST(attributes_describe_the_kernel),
        TEST(occupancy_counts_blocks),
        TEST(cooperative_launches_must_fit),
        TEST(code_of_another_compiler_is_named),
        TEST(image_of_another_version_is_invalid),
        TEST(image_without_code_has_no_kernels),
        TEST(separately_compiled_objects_share_an_image),
    };
    return wp_test_main(tests);
}
