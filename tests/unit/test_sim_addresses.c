/* SPDX-License-Identifier: Apache-2.0 */
/** Addresses that do not depend on where the system puts things: the arena, and what gets simulated
 * addresses in the order in which it is met. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "device/sim/addresses.h"

#include <sys/mman.h>

#include "device/device.h"
#include "wp_test.h"

#define MIB ((size_t)1 << 20)

static void what_is_given_back_last_comes_again(void **state) {
    (void)state;
    char *a = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 0),
         *b = wpi_arena_map(WPI_ARENA_DEVICE, 3 * MIB, 4096);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(wpi_arena_has((uintptr_t)a) && wpi_arena_has((uintptr_t)b));
    assert_u64((uintptr_t)a % (2 * MIB), 0);
    assert_u64((uintptr_t)b % (2 * MIB), 4096);
    assert_true(b > a);
    b[3 * MIB - 1] = 1;
    assert_true(wpi_arena_unmap(b, 3 * MIB));
    char *c = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 4096);
    assert_ptr_equal(c, b);
    assert_int_equal(c[0], 0);
    assert_true(wpi_arena_unmap(a, MIB)); /* something lies behind it: not again */
    char *d = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 0);
    assert_true(d > c);
    assert_true(wpi_arena_unmap(d, MIB) && wpi_arena_unmap(c, MIB));
}

static void what_somebody_else_has_is_passed_over(void **state) {
    (void)state;
    char *a = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 0);
    assert_true(wpi_arena_unmap(a, MIB));
    void *theirs = mmap(a, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_ptr_equal(theirs, a);
    char *b = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 0);
    assert_non_null(b);
    assert_true(b > a);
    assert_true(wpi_arena_unmap(b, MIB));
    assert_false(wpi_arena_unmap((void *)(uintptr_t)4096, 4096));
    munmap(theirs, 4096);
}

static void host_memory_lies_in_an_area_of_its_own(void **state) {
    (void)state;
    char *device = wpi_arena_map(WPI_ARENA_DEVICE, MIB, 0),
         *host = wpi_arena_map(WPI_ARENA_HOST, MIB, 0);
    assert_true((uintptr_t)device < WPI_HOST_FIRST);
    assert_true((uintptr_t)host >= WPI_HOST_FIRST && (uintptr_t)host < WPI_HOST_OUTER);
    assert_true(wpi_arena_unmap(host, MIB) && wpi_arena_unmap(device, MIB));
    char *again = wpi_arena_map(WPI_ARENA_HOST, MIB, 0);
    assert_ptr_equal(again, host);
    assert_true(wpi_arena_unmap(again, MIB));
}

static void every_device_has_a_part_of_the_area(void **state) {
    (void)state;
    char *first = wpi_arena_map_on(0, MIB, 0), *third = wpi_arena_map_on(2, MIB, 4096);
    assert_int_equal(wpi_arena_device_of((uintptr_t)first), 0);
    assert_int_equal((uintptr_t)third, wpi_arena_device_first(2) + 4096);
    assert_int_equal(wpi_arena_device_of((uintptr_t)third), 2);
    assert_int_equal(wpi_arena_device_first(WPI_ARENA_DEVICES), WPI_ARENA_MANAGED_FIRST);
    assert_true(wpi_arena_unmap(third, MIB) && wpi_arena_unmap(first, MIB));
    char *again = wpi_arena_map_on(2, MIB, 4096);
    assert_ptr_equal(again, third);
    assert_true(wpi_arena_unmap(again, MIB));
}

/* Which side of the link memory outside of the arena is on. */
static void kinds_of_memory_have_their_side_of_the_link(void **state) {
    (void)state;
    const struct {
        wp_memory_kind kind;
        bool is_host;
    } rows[] = {{WP_MEMORY_DEVICE, false},
                {WP_MEMORY_VARIABLE, false},
                {WP_MEMORY_MANAGED, true},
                {WP_MEMORY_PINNED, true},
                {WP_MEMORY_REGISTERED, true}};
    wpi_addresses *a = wpi_addresses_create();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        wpi_memory_entry entry = {
            .allocation = {.base = (void *)(uintptr_t)(0x7f0000000000 + i * MIB),
                           .size_bytes = 4096,
                           .kind = rows[i].kind}};
        wp_error err = {0};
        assert_status_ok(wpi_memory_map_add(wpi_memory_map_global(), &entry, &err), &err);
        const uint64_t simulated = wpi_address_simulated(a, (uintptr_t)entry.allocation.base);
        assert_int_equal(simulated >= WPI_HOST_FIRST && simulated < WPI_HOST_OUTER,
                         rows[i].is_host);
        assert_true(wpi_memory_map_remove(wpi_memory_map_global(), entry.allocation.base, NULL));
    }
    const uint64_t nobody_s = wpi_address_simulated(a, 0x7f1000000000);
    assert_true(nobody_s >= WPI_HOST_FIRST && nobody_s < WPI_HOST_OUTER);
    wpi_addresses_destroy(a);
}

static void too_much_is_refused(void **state) {
    (void)state;
    assert_null(wpi_arena_map(WPI_ARENA_DEVICE, WPI_ARENA_BYTES, 0));
}

/* Two heaps of a program, shifted as the system shifts them from run to run. */
static void simulated_addresses_follow_the_order(void **state) {
    (void)state;
    const uint64_t shifts[] = {0x7f0000000000, 0x7f1234567000};
    uint64_t seen[2][5];
    for (int run = 0; run < 2; run++) {
        wpi_addresses *a = wpi_addresses_create();
        const uint64_t heap = shifts[run];
        wpi_memory_entry entry = {.allocation = {.base = (void *)(uintptr_t)(heap + 0x10010),
                                                 .size_bytes = 100000,
                                                 .kind = WP_MEMORY_REGISTERED}};
        wp_error err = {0};
        assert_status_ok(wpi_memory_map_add(wpi_memory_map_global(), &entry, &err), &err);
        seen[run][0] = wpi_address_simulated(a, heap + 0x10010 + 50000);
        seen[run][1] = wpi_address_simulated(a, heap + 0x10010);
        seen[run][2] = wpi_address_simulated(a, heap + 8);       /* not registered */
        seen[run][3] = wpi_address_simulated(a, heap + 0x1000f); /* … the page of the first byte */
        seen[run][4] = wpi_address_simulated(a, heap + 0x10010 + 99999);
        assert_u64(wpi_addresses_original(a, seen[run][0]), heap + 0x10010 + 50000);
        assert_u64(wpi_addresses_original(a, seen[run][2]), heap + 8);
        assert_true(wpi_memory_map_remove(wpi_memory_map_global(), entry.allocation.base, NULL));
        wpi_addresses_destroy(a);
    }
    for (int i = 0; i < 5; i++)
        assert_u64(seen[0][i], seen[1][i]);
    assert_u64(seen[0][0], seen[0][1] + 50000);
    assert_u64(seen[0][4], seen[0][1] + 99999);
    assert_u64(seen[0][1] % 4096, 0x10);
    assert_u64(seen[0][2] % 4096, 8);
    assert_true(seen[0][3] < seen[0][1] || seen[0][3] > seen[0][4]);
}

static void the_arena_keeps_its_addresses(void **state) {
    (void)state;
    wpi_addresses *a = wpi_addresses_create();
    assert_u64(wpi_address_simulated(a, WPI_ARENA_FIRST + 12345), WPI_ARENA_FIRST + 12345);
    wpi_addresses_destroy(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_given_back_last_comes_again),
        cmocka_unit_test(what_somebody_else_has_is_passed_over),
        cmocka_unit_test(host_memory_lies_in_an_area_of_its_own),
        cmocka_unit_test(every_device_has_a_part_of_the_area),
        cmocka_unit_test(kinds_of_memory_have_their_side_of_the_link),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(simulated_addresses_follow_the_order),
        cmocka_unit_test(the_arena_keeps_its_addresses),
    };
    return wp_test_main(tests);
}
