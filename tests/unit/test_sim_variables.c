/* SPDX-License-Identifier: Apache-2.0 */
/* Managed variables have a second place: the same bytes, known by another address; what the host
 * touches of them is found where the host has them. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "device/sim/variables.h"

#include <sys/mman.h>

#include "device/sim/addresses.h"
#include "wp_test.h"

#define PAGES 6u

/* As the linker leaves them: private memory, zeros but for what was initialised. */
static char *program_pages(void) {
    char *pages = mmap(NULL, PAGES * WPI_PAGE_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    return pages;
}

static char *place_of(const char *address) {
    return (char *)(uintptr_t)wpi_variables_find((uintptr_t)address);
}

static void a_variable_is_the_same_at_both_places(void **state) {
    (void)state;
    char *pages = program_pages();
    pages[100] = 7;
    pages[WPI_PAGE_BYTES] = 9;
    wpi_variables_place(pages + 50, WPI_PAGE_BYTES);
    char *place = place_of(pages);
    assert_ptr_not_equal(place, pages);
    assert_u64((uintptr_t)place % WPI_CHUNK_BYTES, 0);
    assert_int_equal(place[100], 7);
    assert_int_equal(place[WPI_PAGE_BYTES], 9);
    pages[200] = 5;
    assert_int_equal(place[200], 5);
    place[300] = 6;
    assert_int_equal(pages[300], 6);
    assert_ptr_equal(place_of(pages + 2 * WPI_PAGE_BYTES), pages + 2 * WPI_PAGE_BYTES);
}

/* The next variable begins in the last page of the one before. */
static void pages_have_one_place(void **state) {
    (void)state;
    char *pages = program_pages();
    wpi_managed_range run;
    size_t before = 0;
    while (wpi_variables_at(before, &run))
        before++;
    wpi_variables_place(pages, WPI_PAGE_BYTES + 1);
    char *first = place_of(pages);
    wpi_variables_place(pages + WPI_PAGE_BYTES + 8, 3 * WPI_PAGE_BYTES);
    wpi_variables_place(pages, PAGES * WPI_PAGE_BYTES); /* the sixth page is new */
    assert_ptr_equal(place_of(pages), first);
    assert_ptr_equal(place_of(pages + WPI_PAGE_BYTES + 8), first + WPI_PAGE_BYTES + 8);
    uint64_t bytes = 0;
    for (size_t i = before; wpi_variables_at(i, &run); i++)
        bytes += run.bytes;
    assert_u64(bytes, PAGES * WPI_PAGE_BYTES);
    for (uint32_t page = 0; page < PAGES; page++)
        assert_ptr_not_equal(place_of(pages + page * WPI_PAGE_BYTES),
                             pages + page * WPI_PAGE_BYTES);
}

static void the_hosts_touches_are_its_own(void **state) {
    (void)state;
    wpi_touch touch;
    if (!wpi_touch_init(&touch) || touch.faults < 0) skip();
    char *pages = program_pages();
    pages[3 * WPI_PAGE_BYTES] = 1;
    wpi_variables_place(pages, PAGES * WPI_PAGE_BYTES);
    wpi_touch_watch(&touch, (uintptr_t)pages, PAGES * WPI_PAGE_BYTES);
    wpi_pages touched = {{0}};
    wpi_touch_find(&touch, (uintptr_t)pages, PAGES * WPI_PAGE_BYTES, &touched);
    assert_true(wpi_pages_is_empty(&touched)); /* it was placed since */
    pages[WPI_PAGE_BYTES] = 1;
    place_of(pages)[2 * WPI_PAGE_BYTES] = 1; /* not the host's */
    assert_int_equal(((volatile char *)pages)[4 * WPI_PAGE_BYTES], 0);
    wpi_touch_find(&touch, (uintptr_t)pages, PAGES * WPI_PAGE_BYTES, &touched);
    assert_u64(wpi_pages_count(&touched), 2);
    assert_true(wpi_pages_has(&touched, 1) && wpi_pages_has(&touched, 4));
    wpi_touch_deinit(&touch);
}

static void the_model_knows_them_by_their_place(void **state) {
    (void)state;
    char *pages = program_pages();
    wpi_addresses *addresses = wpi_addresses_create();
    wpi_variables_place(pages, PAGES * WPI_PAGE_BYTES);
    wp_error err = {0};
    assert_status_ok(wpi_addresses_set(addresses, (uintptr_t)pages, PAGES * WPI_PAGE_BYTES,
                                       (uintptr_t)place_of(pages), &err),
                     &err);
    assert_u64(wpi_address_simulated(addresses, (uintptr_t)pages + 5000),
               (uintptr_t)place_of(pages) + 5000);
    assert_true(wpi_address_simulated(addresses, (uintptr_t)addresses) !=
                (uintptr_t)place_of(pages));
    wpi_addresses_destroy(addresses);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_is_the_same_at_both_places),
        cmocka_unit_test(pages_have_one_place),
        cmocka_unit_test(the_hosts_touches_are_its_own),
        cmocka_unit_test(the_model_knows_them_by_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
