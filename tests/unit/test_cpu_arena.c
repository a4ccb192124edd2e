/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of simulated devices: what is in it, and what it costs the host. */
#define _GNU_SOURCE
#include "device/cpu/arena.h"

#include <fcntl.h>
#include <unistd.h>

#include "wp_test.h"

#define UNIT_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)

/* By pages that are ours alone: the one page of zeros, which the system shows where memory was only
 * read, is everybody's. */
static size_t backed_bytes(const char *memory, size_t bytes) {
    const uint64_t own = UINT64_C(1) << 63 | UINT64_C(1) << 56;
    const int pagemap = open("/proc/self/pagemap", O_RDONLY);
    size_t count = 0;
    assert_true(pagemap >= 0);
    for (size_t i = 0; i < bytes / PAGE_BYTES; i++) {
        uint64_t entry;
        const off_t at = (off_t)(((uintptr_t)memory / PAGE_BYTES + i) * sizeof entry);
        assert_int_equal(pread(pagemap, &entry, sizeof entry, at), sizeof entry);
        count += (entry & own) == own;
    }
    (void)close(pagemap);
    return count * PAGE_BYTES;
}

/* Of four units: all pages written, half of them, none, all read. */
static void condensing_changes_nothing_and_backs_only_what_is_full(void **state) {
    (void)state;
    char *memory = wpi_arena_map(WPI_ARENA_DEVICE, 4 * UNIT_BYTES, 0);
    assert_non_null(memory);
    assert_true(wpi_arena_has((uintptr_t)memory));
    unsigned sum = 0;
    for (size_t at = 0; at < UNIT_BYTES; at += PAGE_BYTES) {
        memory[at + at / PAGE_BYTES % 64] = (char)(at / PAGE_BYTES);
        if (at < UNIT_BYTES / 2) memory[UNIT_BYTES + 2 * at] = 1;
        sum += *(volatile char *)&memory[3 * UNIT_BYTES + at] != 0;
    }
    assert_int_equal(sum, 0);
    assert_u64(backed_bytes(memory, 4 * UNIT_BYTES), UNIT_BYTES + UNIT_BYTES / 2);
    wpi_arena_condense();
    assert_u64(backed_bytes(memory, 4 * UNIT_BYTES), UNIT_BYTES + UNIT_BYTES / 2);
    for (size_t i = 0; i < 4 * UNIT_BYTES; i++) {
        const size_t page = i / PAGE_BYTES, place = i % PAGE_BYTES;
        char wanted = 0;
        if (i < UNIT_BYTES && place == page % 64) wanted = (char)page;
        if (i / UNIT_BYTES == 1 && page % 2 == 0 && place == 0) wanted = 1;
        assert_int_equal(memory[i], wanted);
    }
    assert_true(wpi_arena_unmap(memory, 4 * UNIT_BYTES));
}

/* Zeros over whole units give memory back. */
static void zeros_give_memory_back(void **state) {
    (void)state;
    char *memory = wpi_arena_map(WPI_ARENA_DEVICE, 8 * UNIT_BYTES, 0);
    assert_non_null(memory);
    memset(memory, 7, 8 * UNIT_BYTES);
    assert_true(wpi_arena_zero(memory + 100, 7 * UNIT_BYTES));
    assert_true(backed_bytes(memory + UNIT_BYTES, 6 * UNIT_BYTES) == 0);
    for (size_t i = 0; i < 8 * UNIT_BYTES; i++)
        assert_int_equal(memory[i], i < 100 || i >= 100 + 7 * UNIT_BYTES ? 7 : 0);
    assert_true(wpi_arena_unmap(memory, 8 * UNIT_BYTES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(condensing_changes_nothing_and_backs_only_what_is_full),
        cmocka_unit_test(zeros_give_memory_back),
    };
    return wp_test_main(tests);
}
