/* SPDX-License-Identifier: Apache-2.0 */
/** Hints: which operations come out for those that go in. */
#include "trace/hints.h"

#include "base/text.h"
#include "warpage/device.h"
#include "warpage/report.h"
#include "wp_test.h"

#define FIRST 0x200000u
#define SECOND 0x800000u
#define BYTES 0x10000u

static wpi_text seen;

static wp_status write_down(void *object, const wpi_op *op, wp_error *err) {
    (void)object;
    (void)err;
    wpi_text_appendf(&seen, "%s", wpi_op_word(op->kind));
    for (int i = 0; i < 4; i++)
        wpi_text_appendf(&seen, " %llx", (unsigned long long)op->fields[i]);
    wpi_text_append(&seen, "\n");
    return WP_STATUS_OK;
}

static wpi_hints *begin(const char *text) {
    wpi_hints *hints;
    wp_error err = {0};
    wpi_text_clear(&seen);
    assert_status_ok(wpi_hints_create(text, write_down, NULL, &hints, &err), &err);
    return hints;
}

static void put(wpi_hints *hints, wpi_op_kind kind, uint64_t a, uint64_t b, uint64_t c) {
    wp_error err = {0};
    const wpi_op op = {.kind = kind, .fields = {a, b, c}};
    assert_status_ok(wpi_hints_op(hints, &op, &err), &err);
}

/* Two managed allocations, with one of the device between them. */
static void allocate(wpi_hints *hints) {
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, FIRST);
    put(hints, WPI_OP_ALLOC, WP_MEMORY_DEVICE, BYTES, 0x1000);
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, SECOND);
    wpi_text_clear(&seen);
}

static void end(wpi_hints *hints, const char *expected) {
    wp_error err = {0};
    assert_string_equal(wpi_text_string(&seen), expected);
    assert_status_ok(wpi_hints_check(hints, &err), &err);
    wpi_hints_destroy(hints);
}

static void advice_follows_the_allocation_that_is_named(void **state) {
    (void)state;
    wpi_hints *hints = begin("2=host,read-mostly");
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, FIRST);
    put(hints, WPI_OP_ALLOC, WP_MEMORY_DEVICE, BYTES, 0x1000);
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, SECOND);
    end(hints, "alloc 1 10000 200000 0\nalloc 0 10000 1000 0\nalloc 1 10000 800000 0\n"
               "advice 800000 10000 7 0\n");
}

static void each_advice_is_its_own_word(void **state) {
    (void)state;
    wpi_hints *hints = begin("1=device;2=accessed-by");
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, FIRST);
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, SECOND);
    end(hints, "alloc 1 10000 200000 0\nadvice 200000 10000 8 0\n"
               "alloc 1 10000 800000 0\nadvice 800000 10000 4 0\n");
}

static void what_the_program_says_comes_on_top(void **state) {
    (void)state;
    wpi_hints *hints = begin("1=host");
    allocate(hints);
    put(hints, WPI_OP_ADVICE, FIRST + 0x1000, 0x1000, WPI_ADVICE_READ_MOSTLY);
    put(hints, WPI_OP_ADVICE, SECOND, 0x1000, WPI_ADVICE_READ_MOSTLY);
    end(hints, "advice 201000 1000 7 0\nadvice 800000 1000 1 0\n");
}

static void all_is_of_those_without_a_hint_of_their_own(void **state) {
    (void)state;
    wpi_hints *hints = begin("1=host;all=prefetch");
    allocate(hints);
    put(hints, WPI_OP_LAUNCH, 3, 0, 0);
    end(hints, "prefetch 3 800000 10000 1\nlaunch 3 0 0 0\n");
}

static void freed_memory_is_left_alone(void **state) {
    (void)state;
    wpi_hints *hints = begin("all=prefetch");
    allocate(hints);
    put(hints, WPI_OP_FREE, WP_MEMORY_MANAGED, BYTES, FIRST);
    put(hints, WPI_OP_LAUNCH, 0, 0, 0);
    put(hints, WPI_OP_RESET, 0, 0, 0);
    put(hints, WPI_OP_LAUNCH, 0, 1, 0);
    end(hints, "free 1 10000 200000 0\nprefetch 0 800000 10000 1\nlaunch 0 0 0 0\n"
               "reset 0 0 0 0\nlaunch 0 1 0 0\n");
}

/* All goes over once; then what the host touched comes back, and goes over again. What is found at
 * the first wait was touched before the launches. */
static void copies_take_the_place_of_touches(void **state) {
    (void)state;
    wpi_hints *hints = begin("1=copy");
    put(hints, WPI_OP_ALLOC, WP_MEMORY_MANAGED, BYTES, FIRST);
    put(hints, WPI_OP_HOST_TOUCH, FIRST, 0x2000, 0);
    put(hints, WPI_OP_LAUNCH, 0, 0, 0);
    put(hints, WPI_OP_LAUNCH, 0, 1, 0);
    put(hints, WPI_OP_HOST_TOUCH, FIRST, 0x4000, 0);
    put(hints, WPI_OP_QUEUE_WAIT, 0, 0, 0);
    put(hints, WPI_OP_HOST_TOUCH, FIRST + 0x1000, 0x2000, 0);
    put(hints, WPI_OP_LAUNCH, 0, 2, 0);
    put(hints, WPI_OP_FREE, WP_MEMORY_MANAGED, BYTES, FIRST);
    end(hints, "alloc 0 10000 200000 0\n"
               "copy 0 0 10000 200000\nlaunch 0 0 0 0\nlaunch 0 1 0 0\nwait 0 0 0 0\n"
               "copy 0 1 2000 201000\nwait 0 0 0 0\n"
               "copy 0 0 2000 200000\nlaunch 0 2 0 0\nfree 0 10000 200000 0\n");
}

static void touches_of_others_stay(void **state) {
    (void)state;
    wpi_hints *hints = begin("1=copy;2=prefetch");
    allocate(hints);
    put(hints, WPI_OP_HOST_TOUCH, SECOND, 0x1000, 0);
    end(hints, "touch 800000 1000 0 0\n");
}

static void hints_that_are_none_are_refused(void **state) {
    (void)state;
    wpi_hints *hints;
    wp_error err = {0};
    static const struct {
        const char *text, *part;
    } cases[] = {{"1=hots", "'hots'"}, {"1=", "'1='"},         {"=host", "'=host'"},
                 {"host", "'host'"},   {"0=host", "'0=host'"}, {"1=host;x=copy", "'x=copy'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_status_fails(wpi_hints_create(cases[i].text, write_down, NULL, &hints, &err),
                            WP_STATUS_INVALID, &err, cases[i].part);
        assert_null(hints);
    }
}

static void a_hint_of_no_allocation_is_refused(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_hints *hints = begin("3=host");
    allocate(hints);
    assert_status_fails(wpi_hints_check(hints, &err), WP_STATUS_INVALID, &err, "allocation 3");
    wpi_hints_destroy(hints);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advice_follows_the_allocation_that_is_named),
        cmocka_unit_test(each_advice_is_its_own_word),
        cmocka_unit_test(what_the_program_says_comes_on_top),
        cmocka_unit_test(all_is_of_those_without_a_hint_of_their_own),
        cmocka_unit_test(freed_memory_is_left_alone),
        cmocka_unit_test(copies_take_the_place_of_touches),
        cmocka_unit_test(touches_of_others_stay),
        cmocka_unit_test(hints_that_are_none_are_refused),
        cmocka_unit_test(a_hint_of_no_allocation_is_refused),
    };
    const int failed = wp_test_main(tests);
    wpi_text_deinit(&seen);
    return failed;
}
