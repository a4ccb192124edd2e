/* SPDX-License-Identifier: Apache-2.0 */
/** Images and their CPU code: damage, versions, the choice of instruction set, variables, launches
 * that a kernel's own numbers forbid. */
#include "device/cpu/code.h"

#include "cpu_program.h"
#include "device/image.h"

typedef struct image {
    wp_image_header header;
    wp_image_section sections[2];
    char data[32];
} image;

static image valid_image(uint64_t id) {
    return (image){.header = {.magic = WP_IMAGE_MAGIC,
                              .abi_version = WP_ABI_VERSION,
                              .section_count = 2,
                              .id = id,
                              .size_bytes = sizeof(image)},
                   .sections = {{WP_SECTION_BITCODE, 0, offsetof(image, data), 16, 64},
                                {WP_SECTION_PTX, 70, offsetof(image, data) + 16, 16, 40}}};
}

static void sections_are_found_by_kind(void **state) {
    (void)state;
    const image i = valid_image(1);
    const wp_image_header *header;
    wp_error err = {0};
    assert_status_ok(wpi_image_check(&i, &header, &err), &err);
    const wp_image_section *ptx = wpi_image_find(header, WP_SECTION_PTX);
    assert_non_null(ptx);
    assert_int_equal(ptx->arch, 70);
    assert_ptr_equal(wpi_image_section_data(header, ptx), i.data + 16);
}

static void damaged_images_are_refused_with_a_reason(void **state) {
    (void)state;
    const wp_image_header *header;
    wp_error err = {0};
    image i = valid_image(1);
    i.header.magic[0] = 'X';
    assert_status_fails(wpi_image_check(&i, &header, &err), WP_STATUS_PARSE, &err,
                        "not made by wpcc");
    i = valid_image(1);
    i.header.abi_version++;
    assert_status_fails(wpi_image_check(&i, &header, &err), WP_STATUS_UNSUPPORTED, &err,
                        "compile the program again");
    i = valid_image(1);
    i.header.section_count = 1000000;
    assert_status_fails(wpi_image_check(&i, &header, &err), WP_STATUS_PARSE, &err,
                        "1000000 sections do not fit");
    i = valid_image(1);
    i.sections[1].size_bytes = UINT64_MAX;
    assert_status_fails(wpi_image_check(&i, &header, &err), WP_STATUS_PARSE, &err, "section 1");
    i = valid_image(1);
    i.sections[0].offset = 8;
    assert_status_fails(wpi_image_check(&i, &header, &err), WP_STATUS_PARSE, &err, "section 0");
}

static uint32_t run_baseline(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    *ARG(b, 0, int *) = 1;
    return WP_STATE_EXIT;
}

static uint32_t run_v3(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    *ARG(b, 0, int *) = 3;
    return WP_STATE_EXIT;
}

static int counter = 5;
static int managed_start = 6, host_managed;
static int *managed_cell = &managed_start;

static const wp_cpu_region baseline_regions[] = {REGION(run_baseline, WP_STOP_NONE, 0)};
static const wp_cpu_region v3_regions[] = {REGION(run_v3, WP_STOP_NONE, 0)};
static const wp_cpu_kernel baseline_kernels[] = {REGION_KERNEL("both", baseline_regions, 1, 0, 0),
                                                 REGION_KERNEL("old", baseline_regions, 1, 0, 0),
                                                 {.name = "limited",
                                                  .regions = baseline_regions,
                                                  .region_count = 1,
                                                  .params = pointer_params,
                                                  .param_count = 1,
                                                  .max_threads = 64,
                                                  .shared_static_bytes = 40000}};
static const wp_cpu_kernel v3_kernels[] = {REGION_KERNEL("both", v3_regions, 1, 0, 0)};
static const wp_cpu_variable variables[] = {
    {"counter", &counter, sizeof counter, WP_VARIABLE_DEVICE, 0},
    {"managed", &managed_cell, sizeof(int), WP_VARIABLE_MANAGED, 0}};
static const wp_cpu_code baseline = {.abi_version = WP_ABI_VERSION,
                                     .isa = WP_CPU_ISA_BASELINE,
                                     .image_id = 77,
                                     .kernels = baseline_kernels,
                                     .kernel_count = 3,
                                     .variables = variables,
                                     .variable_count = 2};
static const wp_cpu_code v3 = {.abi_version = WP_ABI_VERSION,
                               .isa = WP_CPU_ISA_X86_64_V3,
                               .image_id = 77,
                               .kernels = v3_kernels,
                               .kernel_count = 1};
static const wp_cpu_code future = {.abi_version = WP_ABI_VERSION + 1, .image_id = 78};

static bool has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("fma");
}

typedef struct fixture {
    wp_device *device;
    wp_module *module;
    image image;
    wp_error err;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->device = open_device("1");
    f->image = valid_image(77);
    assert_status_ok(wp_module_load(f->device, &f->image, &f->module, &f->err), &f->err);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    wp_module_unload(f->module);
    wp_device_close(f->device);
    free(f);
    return 0;
}

static int run(fixture *f, const char *name) {
    int value = 0;
    void *to = &value;
    assert_status_ok(launch(wp_device_default_queue(f->device), find_kernel(f->module, name), 1, 1,
                            (void *[]){&to}, &f->err),
                     &f->err);
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
    return value;
}

static void the_best_code_that_runs_here_is_chosen(void **state) {
    assert_int_equal(run(*state, "both"), has_v3() ? 3 : 1);
}

static void kernels_without_a_better_copy_use_the_baseline(void **state) {
    assert_int_equal(run(*state, "old"), 1);
}

static void the_baseline_can_be_asked_for(void **state) {
    (void)state;
    wpi_cpu_code code;
    wp_error err = {0};
    setenv("WARPAGE_CPU_ISA", "baseline", 1);
    assert_status_ok(wpi_cpu_code_find(77, &code, &err), &err);
    unsetenv("WARPAGE_CPU_ISA");
    assert_ptr_equal(code.best, &baseline);
}

static void code_that_is_missing_or_foreign_is_told_apart(void **state) {
    (void)state;
    wpi_cpu_code code;
    wp_error err = {0};
    assert_status_fails(wpi_cpu_code_find(12345, &code, &err), WP_STATUS_NOT_FOUND, &err,
                        "0000000000003039");
    assert_status_fails(wpi_cpu_code_find(78, &code, &err), WP_STATUS_UNSUPPORTED, &err,
                        "compile the program again");
}

static void variables_are_known_memory(void **state) {
    fixture *f = *state;
    void *address;
    size_t size_bytes;
    wp_allocation allocation;
    assert_status_ok(wp_module_find_variable(f->module, "counter", &address, &size_bytes, &f->err),
                     &f->err);
    assert_ptr_equal(address, &counter);
    assert_int_equal(size_bytes, sizeof counter);
    assert_true(wp_memory_find(f->device, &counter, &allocation));
    assert_int_equal(allocation.kind, WP_MEMORY_VARIABLE);
    assert_status_fails(wp_memory_free(f->device, &counter, &f->err), WP_STATUS_INVALID, &f->err,
                        "a variable of a kernel");
    assert_status_fails(wp_module_find_variable(f->module, "none", &address, &size_bytes, &f->err),
                        WP_STATUS_NOT_FOUND, &f->err, "none");
}

static void a_managed_variable_is_where_its_cell_points(void **state) {
    fixture *f = *state;
    void *address;
    size_t size_bytes;
    const wp_cpu_variable *variable = wpi_code_find_variable(77, "managed");
    assert_non_null(variable);
    assert_ptr_equal(variable->address, &managed_cell);
    assert_status_ok(wp_module_find_variable(f->module, "managed", &address, &size_bytes, &f->err),
                     &f->err);
    assert_ptr_equal(address, &managed_start);
    managed_cell = &host_managed;
    assert_status_ok(wp_module_find_variable(f->module, "managed", &address, &size_bytes, &f->err),
                     &f->err);
    assert_ptr_equal(address, &host_managed);
    managed_cell = &managed_start;
}

static wp_status try_launch(fixture *f, const char *name, wp_dim3 grid, wp_dim3 block,
                            uint32_t shared_bytes) {
    static int value;
    static void *to = &value;
    const wp_launch l = {.kernel = find_kernel(f->module, name),
                         .grid = grid,
                         .block = block,
                         .shared_dynamic_bytes = shared_bytes,
                         .args = (void *[]){&to}};
    return wp_queue_launch(wp_device_default_queue(f->device), &l, &f->err);
}

static void launches_beyond_the_limits_are_refused_in_words(void **state) {
    fixture *f = *state;
    const wp_dim3 one = {1, 1, 1};
    const struct {
        const char *name;
        wp_dim3 grid, block;
        uint32_t shared_bytes;
        const char *words;
    } cases[] = {
        {"both", {0, 1, 1}, {1, 1, 1}, 0, "a grid of 0 x 1 x 1 blocks"},
        {"both", {1, 65536, 1}, {1, 1, 1}, 0, "a grid of 1 x 65536 x 1 blocks"},
        {"both", {0x80000000u, 1, 1}, {1, 1, 1}, 0, "a grid of 2147483648"},
        {"both", {1, 1, 1}, {1025, 1, 1}, 0, "at most 1024 threads"},
        {"both", {1, 1, 1}, {65536, 65536, 1}, 0, "a block of 65536 x 65536 x 1 threads"},
        {"both", {1, 1, 1}, {1, 1, 65}, 0, "a block of 1 x 1 x 65 threads"},
        {"limited", {1, 1, 1}, {65, 1, 1}, 0, "at most 64 threads"},
        {"both", {1, 1, 1}, {1, 1, 1}, 49153, "49153 bytes of dynamic shared memory"},
        {"limited", {1, 1, 1}, {1, 1, 1}, 9153, "beside 40000 static ones; at most 9152"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_status_fails(
            try_launch(f, cases[i].name, cases[i].grid, cases[i].block, cases[i].shared_bytes),
            WP_STATUS_LAUNCH, &f->err, cases[i].words);
    }
    assert_status_ok(try_launch(f, "both", one, one, 49152), &f->err);
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
}

static void more_shared_memory_is_given_on_request(void **state) {
    fixture *f = *state;
    const wp_dim3 one = {1, 1, 1};
    wp_kernel *kernel = find_kernel(f->module, "limited");
    assert_status_fails(wpi_kernel_set_shared_max(kernel, 227 * 1024, &f->err), WP_STATUS_INVALID,
                        &f->err, "40000 of them static");
    assert_status_ok(wpi_kernel_set_shared_max(kernel, 100000, &f->err), &f->err);
    assert_status_ok(try_launch(f, "limited", one, one, 100000), &f->err);
    assert_int_equal(try_launch(f, "limited", one, one, 100001), WP_STATUS_LAUNCH);
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
}

static void occupancy_follows_from_threads_and_shared_memory(void **state) {
    fixture *f = *state;
    const wp_kernel *both = find_kernel(f->module, "both");
    assert_int_equal(wp_kernel_occupancy_blocks(both, 256, 0), 2048 / 256);
    assert_int_equal(wp_kernel_occupancy_blocks(both, 33, 0), 32);
    assert_int_equal(wp_kernel_occupancy_blocks(both, 256, 40 * 1024), 228 / 40);
    assert_int_equal(wp_kernel_occupancy_blocks(both, 2000, 0), 0);
}

int main(void) {
    wp_cpu_code_register(&baseline);
    wp_cpu_code_register(&v3);
    wp_cpu_code_register(&future);
#define CODE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_are_found_by_kind),
        cmocka_unit_test(damaged_images_are_refused_with_a_reason),
        CODE_TEST(the_best_code_that_runs_here_is_chosen),
        CODE_TEST(kernels_without_a_better_copy_use_the_baseline),
        cmocka_unit_test(the_baseline_can_be_asked_for),
        cmocka_unit_test(code_that_is_missing_or_foreign_is_told_apart),
        CODE_TEST(variables_are_known_memory),
        CODE_TEST(a_managed_variable_is_where_its_cell_points),
        CODE_TEST(launches_beyond_the_limits_are_refused_in_words),
        CODE_TEST(more_shared_memory_is_given_on_request),
        CODE_TEST(occupancy_follows_from_threads_and_shared_memory),
    };
    return wp_test_main(tests);
}
