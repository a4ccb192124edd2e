/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA device through the seam, on the stand-in for the driver: what it calls. */
#include <pthread.h>

#include "cuda_bench.h"

static void it_says_what_it_is(void **state) {
    (void)state;
    wp_device *d = open_fake();
    const wp_device_info *info = wp_device_get_info(d);
    assert_string_equal(info->spec, "cuda:0");
    assert_string_equal(info->name, "Fake GPU 0");
    assert_string_equal(info->pci_id, "ffff:00:00.0");
    assert_u64(info->sm_count, 108);
    assert_u64(info->memory_bytes, 1u << 30);
    assert_u64(info->driver_version, 12040);
    assert_u64(info->clock_hz, 1410000000);
    assert_false(info->host_pointers_are_device_pointers);
    int value = 0;
    wp_error err = {0};
    assert_status_ok(wpi_device_attribute(d, 33, &value, &err), &err);
    assert_int_equal(value, 101);
    close_clean(d);
}

static void memory_of_every_kind_is_found_and_freed(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    const wp_memory_kind kinds[] = {WP_MEMORY_DEVICE, WP_MEMORY_MANAGED, WP_MEMORY_PINNED};
    for (size_t i = 0; i < 3; i++) {
        char *memory;
        wp_allocation found;
        const uint32_t flags = kinds[i] == WP_MEMORY_MANAGED ? 1 : 0;
        assert_status_ok(wp_memory_alloc(d, kinds[i], 1000, flags, (void **)&memory, &err), &err);
        assert_true(wp_memory_find(d, memory + 999, &found));
        assert_ptr_equal(found.base, memory);
        assert_int_equal(found.kind, kinds[i]);
        assert_false(wp_memory_find(d, memory + 1000, &found));
        assert_status_ok(wp_memory_free(d, memory, &err), &err);
        assert_false(wp_memory_find(d, memory, &found));
    }
    static char own[5000];
    assert_status_ok(wp_memory_register(d, own, sizeof own, 0, &err), &err);
    assert_u64(fake->live(FAKE_REGISTERED), 1);
    assert_int_equal(wp_memory_register(d, own + 1, 1, 0, &err), WP_STATUS_INVALID);
    assert_status_ok(wp_memory_unregister(d, own, &err), &err);
    assert_u64(fake->live(FAKE_REGISTERED), 0);
    close_clean(d);
}

static void out_of_memory_says_what_is_left(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    void *memory;
    assert_status_fails(wp_memory_alloc(d, WP_MEMORY_DEVICE, (size_t)1 << 31, 0, &memory, &err),
                        WP_STATUS_DEVICE_NOMEM, &err, "1.00 GiB free on cuda:0");
    fake->fail_at("cuMemAlloc_v2", 1, 2); /* the limit allows it, the driver does not */
    assert_status_fails(wp_memory_alloc(d, WP_MEMORY_DEVICE, 4096, 0, &memory, &err),
                        WP_STATUS_DEVICE_NOMEM, &err, "4.00 KiB requested");
    assert_status_ok(wp_device_sticky_error(d, &err), &err);
    close_clean(d);
}

static void the_memory_limit_holds(void **state) {
    (void)state;
    setenv("WARPAGE_DEVICE_MEMORY", "1MiB", 1);
    wp_device *d = open_fake();
    unsetenv("WARPAGE_DEVICE_MEMORY");
    wp_error err = {0};
    uint64_t free_bytes, total_bytes;
    void *memory, *more;
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 1u << 19, 0, &memory, &err), &err);
    wp_memory_info(d, &free_bytes, &total_bytes);
    assert_u64(free_bytes, 1u << 19);
    assert_u64(total_bytes, 1u << 20);
    assert_int_equal(wp_memory_alloc(d, WP_MEMORY_DEVICE, (1u << 19) + 1, 0, &more, &err),
                     WP_STATUS_DEVICE_NOMEM);
    close_clean(d); /* takes what is left with it */
}

static void copies_say_what_kind_of_memory_it_is(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_queue *q = wp_device_default_queue(d);
    wp_error err = {0};
    unsigned char *a, *pinned, host[600], back[600];
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 4096, 0, (void **)&a, &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_PINNED, 4096, 0, (void **)&pinned, &err), &err);
    assert_status_ok(wp_queue_copy_2d(q, a, 64, host, 30, 30, 20, &err), &err);
    assert_status_ok(wp_queue_copy_2d(q, pinned, 100, a, 64, 30, 20, &err), &err);
    assert_status_ok(wp_queue_copy_2d(q, back, 30, pinned, 100, 30, 20, &err), &err);
    assert_status_ok(wp_queue_wait(q, &err), &err);
    assert_memory_equal(back, host, sizeof host);
    assert_status_ok(wp_queue_fill(q, a + 4, 0x01020304, 4, 3, &err), &err);
    assert_status_ok(wp_queue_fill(q, a + 2, 0x0506, 2, 1, &err), &err);
    assert_status_ok(wp_queue_copy(q, back, a, 16, &err), &err);
    const unsigned char wanted[] = {6, 5, 4, 3, 2, 1, 4, 3, 2, 1};
    assert_memory_equal(back + 2, wanted, sizeof wanted);
    close_clean(d);
}

static void kernels_get_their_parameters(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    wp_kernel *mix, *bare;
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    assert_status_ok(wp_module_find_kernel(m, "mix", &mix, &err), &err);
    assert_status_ok(wp_module_find_kernel(m, "bare", &bare, &err), &err);
    assert_u64(wp_kernel_get_info(mix)->param_count, 3);
    assert_u64(wp_kernel_get_info(mix)->register_count, 32);
    assert_u64(wp_kernel_occupancy_blocks(mix, 256, 0), 8);
    assert_status_fails(wp_module_find_kernel(m, "none", &bare, &err), WP_STATUS_NOT_FOUND, &err,
                        "no kernel none");
    uint64_t pointer = 0x1122334455667788u;
    unsigned char structure[24];
    uint16_t number = 99;
    memset(structure, 5, sizeof structure);
    const wp_launch launch = {.kernel = mix,
                              .grid = {3, 2, 1},
                              .block = {32, 4, 1},
                              .shared_dynamic_bytes = 1024,
                              .args = (void *[]){&pointer, structure, &number}};
    wp_queue *q = wp_device_default_queue(d);
    assert_status_ok(wp_queue_launch(q, &launch, &err), &err);
    fake_cuda_launch seen;
    (void)fake->launches(&seen);
    assert_string_equal(seen.kernel, "mix");
    assert_true(seen.grid[1] == 2 && seen.block[1] == 4 && seen.shared_bytes == 1024);
    assert_memory_equal(seen.params, &pointer, 8);
    assert_memory_equal(seen.params + 16, structure, 24);
    assert_memory_equal(seen.params + 48, &number, 2);
    wp_launch together = launch;
    together.is_cooperative = true;
    assert_status_ok(wp_queue_launch(q, &together, &err), &err);
    (void)fake->launches(&seen);
    assert_true(seen.is_cooperative);
    assert_status_ok(wpi_kernel_set_shared_max(mix, 100000, &err), &err);
    together.shared_dynamic_bytes = 100000;
    together.grid = (wp_dim3){1, 1, 1};
    assert_status_ok(wp_queue_launch(q, &together, &err), &err);
    wp_module_unload(m);
    close_clean(d);
}

static void variables_are_found_and_managed_ones_are_the_hosts(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    void *address, *again;
    size_t size_bytes;
    wp_allocation found;
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    assert_u64(fake->live(FAKE_REGISTERED), 1);
    assert_status_ok(wp_module_find_variable(m, "total", &address, &size_bytes, &err), &err);
    assert_ptr_equal(address, total);
    assert_u64(size_bytes, sizeof total);
    /* The module's pointer to it is set. */
    assert_status_ok(wp_module_find_variable(m, "wp_managed_total", &address, &size_bytes, &err),
                     &err);
    assert_ptr_equal(*(void **)address, total);
    assert_status_ok(wp_module_find_variable(m, "table", &address, &size_bytes, &err), &err);
    assert_u64(size_bytes, 64);
    assert_true(wp_memory_find(d, (char *)address + 63, &found));
    assert_int_equal(found.kind, WP_MEMORY_VARIABLE);
    assert_status_ok(wp_module_find_variable(m, "table", &again, &size_bytes, &err), &err);
    assert_ptr_equal(again, address);
    assert_status_fails(wp_module_find_variable(m, "none", &address, &size_bytes, &err),
                        WP_STATUS_NOT_FOUND, &err, "no variable none");
    wp_module_unload(m);
    assert_u64(fake->live(FAKE_REGISTERED), 0);
    close_clean(d);
}

/* Loads an image that should not load. */
static void refuse(wp_device *d, const char *ptx, uint32_t arch, wp_status status,
                   const char *part) {
    wp_error err = {0};
    wp_module *m;
    wp_image_header *bad = make_ptx_image(ptx, arch, PROGRAM_ID);
    assert_status_fails(wp_module_load(d, bad, &m, &err), status, &err, part);
    assert_null(m);
    free(bad);
}

static void code_that_does_not_load_says_why(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    refuse(d, program, 90, WP_STATUS_UNSUPPORTED,
           "need a GPU of sm_90 or later, cuda:0 (Fake GPU 0) is sm_80");
    refuse(d, "nonsense", 70, WP_STATUS_PARSE, "line 1; error   : '.version' expected");
    fake->fail_at("cuModuleLoadDataEx", 1, 222);
    refuse(d, program, 70, WP_STATUS_UNSUPPORTED,
           "version 6.3, newer than this driver for CUDA 12.4");
    fake->fail_at("cuModuleLoadDataEx", 1, 221);
    refuse(d, program, 70, WP_STATUS_TOOLCHAIN, "libnvidia-ptxjitcompiler");
    wp_image_header *other = make_ptx_image(program, 70, PROGRAM_ID + 1);
    assert_status_fails(wp_module_load(d, other, &m, &err), WP_STATUS_NOT_FOUND, &err,
                        "no managed variable total");
    ((wp_image_section *)(void *)(other + 1))->kind = WP_SECTION_BITCODE;
    assert_status_fails(wp_module_load(d, other, &m, &err), WP_STATUS_NOT_FOUND, &err,
                        "contains no PTX");
    free(other);
    wp_image_header *torn = make_ptx_image(program, 70, PROGRAM_ID);
    ((wp_image_section *)(void *)(torn + 1))->size_bytes /= 2;
    assert_status_fails(wp_module_load(d, torn, &m, &err), WP_STATUS_PARSE, &err, "damaged");
    free(torn);
    assert_u64(fake->live(FAKE_MODULE), 0);
    assert_u64(fake->live(FAKE_REGISTERED), 0);
    close_clean(d);
}

/* Loads `program` with cubins for sm_75, sm_80, sm_86 and sm_90; how the driver was asked. */
static unsigned load_calls(const char *gpu, bool is_taken) {
    static char cubin[sizeof program + 8];
    (void)snprintf(cubin, sizeof cubin, "\177ELF%s", is_taken ? program : "newer");
    const size_t bytes = strlen(cubin) + 1;
    const test_section parts[] = {
        {WP_SECTION_PTX, 70, program, sizeof program}, {WP_SECTION_CUBIN, 75, cubin, bytes},
        {WP_SECTION_CUBIN, 80, cubin, bytes},          {WP_SECTION_CUBIN, 86, cubin, bytes},
        {WP_SECTION_CUBIN, 90, cubin, bytes},
    };
    wp_image_header *with_cubins = make_image(parts, 5, PROGRAM_ID);
    setenv("FAKE_CUDA_SM", gpu, 1);
    wp_device *d = open_fake();
    unsetenv("FAKE_CUDA_SM");
    wp_error err = {0};
    wp_module *m;
    wp_kernel *mix;
    const unsigned calls = fake->calls("cuModuleLoadDataEx");
    assert_status_ok(wp_module_load(d, with_cubins, &m, &err), &err);
    const unsigned result = fake->calls("cuModuleLoadDataEx") - calls;
    assert_status_ok(wp_module_find_kernel(m, "mix", &mix, &err), &err);
    assert_u64(wp_kernel_get_info(mix)->param_count, 3); /* the PTX says so */
    assert_status_ok(wp_device_reset(d, &err), &err);
    wp_module_unload(m);
    close_clean(d);
    free(with_cubins);
    return result;
}

static void code_for_this_gpu_is_preferred_to_ptx(void **state) {
    (void)state;
    /* Taken at once, and refused before the PTX; none for a GPU of another generation. */
    assert_u64(load_calls("80", true), 1);
    assert_u64(load_calls("80", false), 2);
    assert_u64(load_calls("89", false), 2);
    assert_u64(load_calls("70", false), 1); /* 75 is too new for it */
    assert_u64(load_calls("100", false), 1);
}

static void a_cubin_that_cannot_be_read_is_an_error(void **state) {
    (void)state;
    const test_section parts[] = {{WP_SECTION_PTX, 70, program, sizeof program},
                                  {WP_SECTION_CUBIN, 80, program, sizeof program}};
    wp_image_header *torn = make_image(parts, 2, PROGRAM_ID);
    ((wp_image_section *)(void *)(torn + 1))[1].size_bytes /= 2;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    assert_status_fails(wp_module_load(d, torn, &m, &err), WP_STATUS_PARSE, &err, "damaged");
    close_clean(d);
    free(torn);
}

static void a_fault_sticks_until_the_reset(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    wp_kernel *bare;
    wp_queue *q;
    wp_event *e;
    void *memory, *address;
    size_t size_bytes;
    assert_status_ok(wp_queue_create(d, true, &q, &err), &err);
    assert_status_ok(wp_event_create(d, &e, &err), &err);
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    assert_status_ok(wp_module_find_kernel(m, "bare", &bare, &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 64, 0, &memory, &err), &err);
    assert_status_ok(wp_event_record(e, q, &err), &err);
    fake->fail_at("cuStreamSynchronize", 1, 700);
    assert_status_fails(wp_queue_wait(q, &err), WP_STATUS_KERNEL_ADDRESS, &err,
                        "waiting for a stream");
    assert_int_equal(wp_device_sticky_error(d, &err), WP_STATUS_KERNEL_ADDRESS);
    assert_int_equal(wp_queue_fill(q, memory, 0, 1, 8, &err), WP_STATUS_KERNEL_ADDRESS);
    assert_status_ok(wp_device_reset(d, &err), &err);
    assert_status_ok(wp_device_sticky_error(d, &err), &err);
    assert_u64(fake->live(FAKE_MEMORY), 0);
    /* Queue, event, module and kernel are the caller's still, and work. */
    assert_u64(wp_kernel_occupancy_blocks(bare, 1024, 0), 2);
    const wp_launch launch = {.kernel = bare, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_status_ok(wp_queue_launch(q, &launch, &err), &err);
    assert_true(wp_event_is_complete(e));
    assert_u64(wp_event_time_ns(e), 0);
    assert_status_ok(wp_event_record(e, q, &err), &err);
    assert_status_ok(wp_module_find_variable(m, "wp_managed_total", &address, &size_bytes, &err),
                     &err);
    assert_ptr_equal(*(void **)address, total);
    wp_event_destroy(e);
    wp_queue_destroy(q);
    wp_module_unload(m);
    close_clean(d);
}

static void set_flag(void *flag) {
    *(int *)flag = 1;
}

static void events_and_host_functions(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_queue *q;
    wp_event *first, *second;
    int flag = 0;
    assert_status_ok(wp_queue_create(d, false, &q, &err), &err);
    assert_status_ok(wp_event_create(d, &first, &err), &err);
    assert_status_ok(wp_event_create(d, &second, &err), &err);
    assert_true(wp_event_is_complete(first));
    assert_status_ok(wp_event_record(first, q, &err), &err);
    assert_status_ok(wp_queue_host_call(q, set_flag, &flag, &err), &err);
    assert_status_ok(wp_queue_wait_event(wp_device_default_queue(d), first, &err), &err);
    assert_status_ok(wp_event_record(second, q, &err), &err);
    assert_status_ok(wp_event_wait(second, &err), &err);
    assert_int_equal(flag, 1);
    assert_true(wpi_event_elapsed_ns(first, second) >= 0);
    assert_true(wp_event_time_ns(second) >= wp_event_time_ns(first));
    fake->fail_at("cuEventQuery", 1, 600);
    assert_false(wp_event_is_complete(first));
    fake->fail_at("cuStreamQuery", 1, 600);
    assert_false(wp_queue_is_idle(q));
    assert_true(wp_queue_is_idle(q));
    wp_event_destroy(first);
    wp_event_destroy(second);
    wp_queue_destroy(q);
    close_clean(d);
}

/* Every kind of linear and boxed copy against a model: an array of 3 slices of 5 rows of 7. */
static void arrays_are_reached_by_addresses_that_stand_for_them(void **state) {
    (void)state;
    enum { WIDTH = 7, ROWS = 5, SLICES = 3, ROW = WIDTH * 4, ALL = ROW * ROWS * SLICES };
    wp_device *d = open_fake();
    wp_queue *q = wp_device_default_queue(d);
    wp_error err = {0};
    const wpi_array description = {.width = WIDTH,
                                   .height = ROWS,
                                   .depth = SLICES,
                                   .element_bytes = 4,
                                   .channel_bits = {32},
                                   .channel = WPI_TEX_CHANNEL_FLOAT};
    char *arrays[2], model[2][ALL], bytes[ALL], *memory;
    for (size_t i = 0; i < 2; i++)
        assert_status_ok(wpi_device_array_create(d, &description, (void **)&arrays[i], &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, ALL, 0, (void **)&memory, &err), &err);
    memset(model, 0, sizeof model);
    uint64_t random = 12345;
    for (int step = 0; step < 500; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const size_t from = (random >> 33) % (ALL / 4), to = (random >> 43) % (ALL / 4);
        const size_t most = ALL / 4 - (from > to ? from : to);
        const size_t count = 4 * (1 + (random >> 53) % most);
        switch (step % 4) {
        case 0: /* host to array, over the ends of rows */
            for (size_t i = 0; i < count; i++)
                bytes[i] = (char)(random >> (i % 50));
            assert_status_ok(wp_queue_copy(q, arrays[0] + 4 * to, bytes, count, &err), &err);
            memcpy(model[0] + 4 * to, bytes, count);
            break;
        case 1: /* array to array */
            assert_status_ok(
                wp_queue_copy(q, arrays[1] + 4 * to, arrays[0] + 4 * from, count, &err), &err);
            memcpy(model[1] + 4 * to, model[0] + 4 * from, count);
            break;
        case 2: { /* a box of device memory */
            const size_t s = (size_t)step, z = s % SLICES;
            const size_t width = 4 * (1 + s % WIDTH), height = 1 + s % ROWS;
            assert_status_ok(wp_queue_fill(q, memory, (uint32_t)step, 1, ALL, &err), &err);
            assert_status_ok(wp_queue_copy_2d(q, arrays[0] + z * ROW * ROWS, ROW, memory, 32, width,
                                              height, &err),
                             &err);
            for (size_t y = 0; y < height; y++)
                memset(model[0] + z * ROW * ROWS + y * ROW, step, width);
            break;
        }
        default: /* back */
            assert_status_ok(wp_queue_copy(q, bytes, arrays[1] + 4 * from, count, &err), &err);
            assert_memory_equal(bytes, model[1] + 4 * from, count);
            break;
        }
    }
    for (size_t i = 0; i < 2; i++) {
        assert_status_ok(wp_queue_copy(q, bytes, arrays[i], ALL, &err), &err);
        assert_memory_equal(bytes, model[i], ALL);
        assert_status_ok(wp_memory_free(d, arrays[i], &err), &err);
    }
    assert_u64(fake->live(FAKE_ARRAY), 0);
    close_clean(d);
}

static void textures_and_surfaces_are_objects_of_the_driver(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    const wpi_array description = {.width = 16,
                                   .height = 4,
                                   .element_bytes = 4,
                                   .channel_bits = {8, 8, 8, 8},
                                   .channel = WPI_TEX_CHANNEL_UNSIGNED,
                                   .flags = 2};
    void *array, *memory, *variable;
    size_t size_bytes;
    uint64_t handle, surface, linear;
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    assert_status_ok(wpi_device_array_create(d, &description, &array, &err), &err);
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, 4096, 0, &memory, &err), &err);
    wpi_texture t = {.data = array,
                     .width = 16,
                     .height = 4,
                     .channel_bits = {8, 8, 8, 8},
                     .channel = WPI_TEX_CHANNEL_UNSIGNED};
    assert_status_ok(wpi_device_texture_create(d, &t, false, &handle, &err), &err);
    assert_status_ok(wpi_device_texture_create(d, &t, true, &surface, &err), &err);
    t.data = memory;
    t.height = 0;
    assert_status_ok(wpi_device_texture_create(d, &t, false, &linear, &err), &err);
    assert_status_fails(wpi_device_texture_create(d, &t, true, &linear, &err), WP_STATUS_INVALID,
                        &err, "needs an array");
    t.data = (char *)memory + 4;
    assert_int_equal(wpi_device_texture_create(d, &t, false, &linear, &err), WP_STATUS_INVALID);
    assert_status_ok(wp_module_find_variable(m, "table", &variable, &size_bytes, &err), &err);
    assert_status_ok(wpi_device_texture_bind(d, variable, handle, &err), &err);
    assert_memory_equal(variable, &handle, sizeof handle);
    assert_u64(fake->live(FAKE_TEXTURE), 2);
    wpi_device_texture_destroy(d, handle, false);
    wpi_device_texture_destroy(d, surface, true);
    wpi_device_texture_destroy(d, linear, false);
    assert_u64(fake->live(FAKE_SURFACE), 0);
    wp_module_unload(m);
    close_clean(d);
}

static void streams_and_events_are_what_was_asked_for(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_queue *q;
    wp_event *e;
    assert_status_ok(wpi_queue_create(d, false, -3, &q, &err), &err);
    assert_int_equal(fake->given().stream_priority, -3);
    assert_status_ok(wpi_event_create(d, WPI_EVENT_BLOCKING_SYNC | WPI_EVENT_NO_TIMING, &e, &err),
                     &err);
    assert_u64(fake->given().event_flags, 3);
    assert_status_ok(wp_event_record(e, q, &err), &err);
    assert_u64(wp_event_time_ns(e), 0); /* not measured */
    assert_status_ok(wp_device_reset(d, &err), &err);
    assert_int_equal(fake->given().stream_priority, -3); /* made anew as they were */
    assert_u64(fake->given().event_flags, 3);
    wp_event_destroy(e);
    assert_status_ok(wp_event_create(d, &e, &err), &err);
    assert_u64(fake->given().event_flags, 0);
    wp_event_destroy(e);
    wp_queue_destroy(q);
    close_clean(d);
}

static void a_destroyed_queue_is_busy_until_its_work_ends(void **state) {
    (void)state;
    enum { NOT_READY = 600 };
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_queue *q;
    assert_true(wpi_device_is_idle(d));
    assert_status_ok(wp_queue_create(d, true, &q, &err), &err);
    fake->fail_at("cuStreamQuery", 1, NOT_READY);
    wp_queue_destroy(q);
    assert_u64(fake->live(FAKE_STREAM), 1);
    fake->fail_at("cuStreamQuery", 1, NOT_READY);
    assert_false(wpi_device_is_idle(d));
    assert_true(wpi_device_is_idle(d));
    assert_u64(fake->live(FAKE_STREAM), 0);
    /* One that is never asked about goes with the device. */
    assert_status_ok(wp_queue_create(d, true, &q, &err), &err);
    fake->fail_at("cuStreamQuery", 1, NOT_READY);
    wp_queue_destroy(q);
    close_clean(d);
}

static void pageable_memory_is_staged_where_the_gpu_cannot_reach_it(void **state) {
    (void)state;
    wp_device *d = open_fake();
    assert_true(wpi_device_stages_pageable(d));
    close_clean(d);
    setenv("FAKE_CUDA_PAGEABLE", "1", 1);
    d = open_fake();
    unsetenv("FAKE_CUDA_PAGEABLE");
    assert_false(wpi_device_stages_pageable(d));
    close_clean(d);
}

static void a_reset_gives_pages_of_managed_variables_back(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    const unsigned calls = fake->calls("cuMemHostUnregister");
    assert_status_ok(wp_device_reset(d, &err), &err);
    assert_u64(fake->calls("cuMemHostUnregister"), calls + 1);
    assert_u64(fake->live(FAKE_REGISTERED), 1);
    wp_module_unload(m);
    close_clean(d);
}

static void kernels_are_loaded_with_their_module(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    wp_kernel *bare;
    assert_status_ok(wp_module_load(d, image, &m, &err), &err);
    const unsigned calls = fake->calls("cuModuleGetFunction");
    assert_status_ok(wp_module_find_kernel(m, "bare", &bare, &err), &err);
    const wp_launch launch = {.kernel = bare, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    assert_status_ok(wp_queue_launch(wp_device_default_queue(d), &launch, &err), &err);
    assert_u64(fake->calls("cuModuleGetFunction"), calls);
    wp_module_unload(m);
    close_clean(d);
}

static void managed_variables_need_one_address_for_both(void **state) {
    (void)state;
    wp_device *d = open_fake();
    wp_error err = {0};
    wp_module *m;
    setenv("FAKE_CUDA_HOST_OFFSET", "65536", 1);
    const wp_status status = wp_module_load(d, image, &m, &err);
    unsetenv("FAKE_CUDA_HOST_OFFSET");
    assert_status_fails(status, WP_STATUS_UNSUPPORTED, &err, "variable total cannot be shared");
    assert_u64(fake->live(FAKE_REGISTERED), 0);
    assert_u64(fake->live(FAKE_MODULE), 0);
    close_clean(d);
}

static void page_locked_memory_has_the_hosts_address(void **state) {
    (void)state;
    enum { WRITE_COMBINED = 4 };
    wp_device *d = open_fake();
    wp_error err = {0};
    void *memory;
    wp_allocation found;
    assert_status_ok(wp_memory_alloc(d, WP_MEMORY_PINNED, 4096, WRITE_COMBINED, &memory, &err),
                     &err);
    assert_true(wp_memory_find(d, memory, &found));
    assert_u64(found.flags, WRITE_COMBINED); /* what the program asks back */
    fake->fail_at("cuMemHostAlloc", 1, 2);
    assert_status_fails(wp_memory_alloc(d, WP_MEMORY_PINNED, 8192, 0, &memory, &err),
                        WP_STATUS_NOMEM, &err, "no 8.00 KiB of memory to lock");
    close_clean(d);
}

static void a_reset_that_fails_leaves_a_device_that_says_so(void **state) {
    (void)state;
    static const char *const calls[] = {"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRetain",
                                        "cuStreamCreateWithPriority", "cuModuleLoadDataEx"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        wp_device *d = open_fake();
        wp_error err = {0};
        wp_queue *q;
        wp_module *m;
        assert_status_ok(wp_queue_create(d, true, &q, &err), &err);
        assert_status_ok(wp_module_load(d, image, &m, &err), &err);
        fake->fail_at(calls[i], 1, 801);
        assert_int_equal(wp_device_reset(d, &err), WP_STATUS_UNSUPPORTED);
        assert_int_equal(wp_device_sticky_error(d, &err), WP_STATUS_UNSUPPORTED);
        assert_status_ok(wp_device_reset(d, &err), &err); /* another try may do */
        assert_status_ok(wp_device_sticky_error(d, &err), &err);
        wp_module_unload(m);
        wp_queue_destroy(q);
        close_clean(d);
    }
}

static void *use_from_another_thread(void *arg) {
    wp_device *d = arg;
    void *memory;
    wp_error err = {0};
    if (wp_memory_alloc(d, WP_MEMORY_DEVICE, 64, 0, &memory, &err) != WP_STATUS_OK) return arg;
    return wp_memory_free(d, memory, &err) == WP_STATUS_OK ? NULL : arg;
}

static void other_threads_need_no_preparation(void **state) {
    (void)state;
    wp_device *d = open_fake();
    pthread_t thread;
    void *failed = d;
    assert_int_equal(pthread_create(&thread, NULL, use_from_another_thread, d), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    close_clean(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
        cmocka_unit_test(memory_of_every_kind_is_found_and_freed),
        cmocka_unit_test(out_of_memory_says_what_is_left),
        cmocka_unit_test(the_memory_limit_holds),
        cmocka_unit_test(copies_say_what_kind_of_memory_it_is),
        cmocka_unit_test(kernels_get_their_parameters),
        cmocka_unit_test(variables_are_found_and_managed_ones_are_the_hosts),
        cmocka_unit_test(code_that_does_not_load_says_why),
        cmocka_unit_test(code_for_this_gpu_is_preferred_to_ptx),
        cmocka_unit_test(a_cubin_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_fault_sticks_until_the_reset),
        cmocka_unit_test(events_and_host_functions),
        cmocka_unit_test(arrays_are_reached_by_addresses_that_stand_for_them),
        cmocka_unit_test(textures_and_surfaces_are_objects_of_the_driver),
        cmocka_unit_test(streams_and_events_are_what_was_asked_for),
        cmocka_unit_test(a_destroyed_queue_is_busy_until_its_work_ends),
        cmocka_unit_test(pageable_memory_is_staged_where_the_gpu_cannot_reach_it),
        cmocka_unit_test(a_reset_gives_pages_of_managed_variables_back),
        cmocka_unit_test(kernels_are_loaded_with_their_module),
        cmocka_unit_test(managed_variables_need_one_address_for_both),
        cmocka_unit_test(page_locked_memory_has_the_hosts_address),
        cmocka_unit_test(a_reset_that_fails_leaves_a_device_that_says_so),
        cmocka_unit_test(other_threads_need_no_preparation),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
