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
    char *a = wpi_arena_map(MIB, 0), *b = wpi_arena_map(3 * MIB, 4096);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(wpi_arena_has((uintptr_t)a) && wpi_arena_has((uintptr_t)b));
    assert_u64((uintptr_t)a % (2 * MIB), 0);
    assert_u64((uintptr_t)b % (2 * MIB), 4096);
    assert_true(b > a);
    b[3 * MIB - 1] = 1;
    assert_true(wpi_arena_unmap(b, 3 * MIB));
    char *c = wpi_arena_map(MIB, 4096);
    assert_ptr_equal(c, b);
    assert_int_equal(c[0], 0);
    assert_true(wpi_arena_unmap(a, MIB)); /* something lies behind it: not again */
    char *d = wpi_arena_map(MIB, 0);
    assert_true(d > c);
    assert_true(wpi_arena_unmap(d, MIB) && wpi_arena_unmap(c, MIB));
}

static void what_somebody_else_has_is_passed_over(void **state) {
    (void)state;
    char *a = wpi_arena_map(MIB, 0);
    assert_true(wpi_arena_unmap(a, MIB));
    void *theirs = mmap(a, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    assert_ptr_equal(theirs, a);
    char *b = wpi_arena_map(MIB, 0);
    assert_non_null(b);
    assert_true(b > a);
    assert_true(wpi_arena_unmap(b, MIB));
    assert_false(wpi_arena_unmap((void *)(uintptr_t)4096, 4096));
    munmap(theirs, 4096);
}

static void too_much_is_refused(void **state) {
    (void)state;
    assert_null(wpi_arena_map(WPI_ARENA_BYTES, 0));
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
        seen[run][2] = wpi_address_simulated(a, heap + 8);       /* nobody registered it */
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
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(simulated_addresses_follow_the_order),
        cmocka_unit_test(the_arena_keeps_its_addresses),
    };
    return wp_test_main(tests);
}
