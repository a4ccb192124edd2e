/* SPDX-License-Identifier: Apache-2.0 */
/** printf of kernels: CUDA's packing of arguments, every conversion, and when the text appears. */
#include <unistd.h>

#include "cpu_program.h"
#include "device/cpu/cpu.h"

/* Packs arguments as the compiler does: each at the next multiple of its size. */
typedef struct packer {
    _Alignas(8) char bytes[256];
    size_t length;
} packer;

static void pack(packer *p, const void *value, size_t size_bytes) {
    p->length = (p->length + size_bytes - 1) / size_bytes * size_bytes;
    memcpy(p->bytes + p->length, value, size_bytes);
    p->length += size_bytes;
}

static void pack_int(packer *p, int value) {
    pack(p, &value, sizeof value);
}
static void pack_long(packer *p, long long value) {
    pack(p, &value, sizeof value);
}
static void pack_double(packer *p, double value) {
    pack(p, &value, sizeof value);
}
static void pack_pointer(packer *p, const void *value) {
    pack(p, &value, sizeof value);
}

static void expect(const char *format, const packer *p, int count, const char *expected) {
    wpi_text text = {0};
    assert_int_equal(wpi_printf_format(&text, format, p->bytes), count);
    assert_string_equal(wpi_text_string(&text), expected);
    wpi_text_deinit(&text);
}

static void integers_of_all_sizes_are_read_from_their_places(void **state) {
    (void)state;
    packer p = {.length = 0};
    pack_int(&p, -1);
    pack_long(&p, -2);
    pack_int(&p, 3);
    pack_int(&p, 300);
    pack_int(&p, 70000);
    pack_long(&p, 1LL << 40);
    pack_int(&p, 'x');
    expect("%d %ld %u %hhd %hd %llx %c", &p, 7, "-1 -2 3 44 4464 10000000000 x");
}

static void sizes_with_their_own_letters_are_8_bytes(void **state) {
    (void)state;
    packer p = {.length = 0};
    for (int i = 1; i <= 3; i++)
        pack_long(&p, i);
    expect("%zu %td %ji", &p, 3, "1 2 3");
}

static void floating_point_takes_flags_width_and_precision(void **state) {
    (void)state;
    packer p = {.length = 0};
    pack_double(&p, 3.14159);
    pack_int(&p, 8);
    pack_int(&p, 2);
    pack_double(&p, 2.5);
    pack_double(&p, 1e10);
    pack_double(&p, 0.5);
    expect("[%-8.3f][%*.*f][%e][%Lg]", &p, 6, "[3.142   ][    2.50][1.000000e+10][0.5]");
}

static void strings_pointers_and_percent_signs(void **state) {
    (void)state;
    packer p = {.length = 0};
    pack_pointer(&p, "word");
    pack_pointer(&p, NULL);
    pack_pointer(&p, "cut here");
    pack_pointer(&p, (void *)(uintptr_t)0xabc);
    expect("%s %s %.3s %p 100%%", &p, 4, "word (null) cut 0xabc 100%");
}

static void unknown_conversions_stay_as_written(void **state) {
    (void)state;
    packer p = {.length = 0};
    expect("%q and %", &p, 0, "%q and %");
}

static void a_format_that_is_missing_gives_minus_one(void **state) {
    (void)state;
    wpi_text text = {0};
    assert_int_equal(wpi_printf_format(&text, NULL, NULL), -1);
}

/* ---- when it appears ---- */

static uint32_t say(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)first, (void)outer;
    const uint64_t number = b->block_idx[0];
    (void)wp_rt_vprintf("block %llu\n", &number);
    return WP_STATE_EXIT;
}

static void text_appears_in_order_when_the_host_waits(void **state) {
    (void)state;
    static const wp_cpu_region regions[] = {REGION(say, WP_STOP_NONE, 0)};
    static const wp_cpu_kernel code = REGION_KERNEL("say", regions, 0, 0, 0);
    char path[] = "/tmp/warpage_output_XXXXXX";
    wp_error err = {0};
    const int file = mkstemp(path), saved = dup(STDOUT_FILENO);
    assert_true(file >= 0 && saved >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);

    wp_device *device = open_device("1");
    wp_module *module = load_kernels(device, &code, 1);
    printf("before\n");
    const wp_status status =
        launch(wp_device_default_queue(device), find_kernel(module, "say"), 3, 1, NULL, &err);
    const wp_status waited = wp_device_wait(device, &err);
    printf("after\n");
    wp_module_unload(module);
    wp_device_close(device);

    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    assert_int_equal(status, WP_STATUS_OK);
    assert_int_equal(waited, WP_STATUS_OK);
    char text[100] = "";
    assert_true(pread(file, text, sizeof text - 1, 0) > 0);
    close(file);
    unlink(path);
    assert_string_equal(text, "before\nblock 0\nblock 1\nblock 2\nafter\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_of_all_sizes_are_read_from_their_places),
        cmocka_unit_test(sizes_with_their_own_letters_are_8_bytes),
        cmocka_unit_test(floating_point_takes_flags_width_and_precision),
        cmocka_unit_test(strings_pointers_and_percent_signs),
        cmocka_unit_test(unknown_conversions_stay_as_written),
        cmocka_unit_test(a_format_that_is_missing_gives_minus_one),
        cmocka_unit_test(text_appears_in_order_when_the_host_waits),
    };
    return wp_test_main(tests);
}
