/* SPDX-License-Identifier: Apache-2.0 */
/** malloc and free of kernels: limits, reuse, damage, and a random run in which blocks keep their
 * bytes. */
#include "cpu_program.h"
#include "device/cpu/cpu.h"
#include "wp_random.h"

static wpi_heap *create(size_t size_bytes) {
    wpi_heap *heap;
    wp_error err = {0};
    assert_status_ok(wpi_heap_create(size_bytes, false, 0, &heap, &err), &err);
    return heap;
}

static void allocations_are_aligned_and_apart(void **state) {
    (void)state;
    wpi_heap *heap = create(1 << 16);
    char *a = wpi_heap_alloc(heap, 100), *b = wpi_heap_alloc(heap, 1),
         *c = wpi_heap_alloc(heap, 50);
    assert_non_null(a);
    assert_int_equal((uintptr_t)a % 16, 0);
    assert_int_equal((uintptr_t)b % 16, 0);
    memset(a, 1, 100);
    memset(b, 2, 1);
    memset(c, 3, 50);
    assert_int_equal(a[99], 1);
    assert_int_equal(b[0], 2);
    assert_true(wpi_heap_free(heap, b));
    assert_true(wpi_heap_free(heap, a));
    assert_true(wpi_heap_free(heap, c));
    assert_true(wpi_heap_is_empty(heap));
    wpi_heap_destroy(heap);
}

static void a_full_heap_gives_null_and_recovers_whole(void **state) {
    (void)state;
    wpi_heap *heap = create(1 << 16);
    void *all[1000];
    size_t count = 0;
    while (count < 1000 && (all[count] = wpi_heap_alloc(heap, 1000)) != NULL)
        count++;
    assert_true(count >= 60 && count < 66);
    for (size_t i = 0; i < count; i += 2)
        assert_true(wpi_heap_free(heap, all[i]));
    assert_null(wpi_heap_alloc(heap, 3000)); /* only holes */
    for (size_t i = 1; i < count; i += 2)
        assert_true(wpi_heap_free(heap, all[i]));
    void *most = wpi_heap_alloc(heap, (1 << 16) - 64);
    assert_non_null(most);
    assert_null(wpi_heap_alloc(heap, UINT64_MAX));
    assert_null(wpi_heap_alloc(heap, 0));
    wpi_heap_destroy(heap);
}

static void foreign_and_freed_pointers_are_refused(void **state) {
    (void)state;
    wpi_heap *heap = create(1 << 16);
    char *a = wpi_heap_alloc(heap, 64);
    int local = 0;
    assert_false(wpi_heap_free(heap, &local));
    assert_false(wpi_heap_free(heap, a + 16));
    assert_false(wpi_heap_free(heap, a + 1));
    assert_true(wpi_heap_free(heap, a));
    assert_false(wpi_heap_free(heap, a));
    wpi_heap_destroy(heap);
}

static void an_overrun_is_noticed(void **state) {
    (void)state;
    wpi_heap *heap = create(1 << 16);
    char *a = wpi_heap_alloc(heap, 16), *b = wpi_heap_alloc(heap, 16);
    memset(a, 0x5a, 32);
    assert_false(wpi_heap_free(heap, b));
    wpi_heap_destroy(heap);
}

static void blocks_keep_their_bytes(void **state) {
    (void)state;
    enum { SLOTS = 200 };
    wpi_heap *heap = create(1 << 18);
    unsigned char *slots[SLOTS] = {NULL};
    size_t sizes[SLOTS] = {0};
    uint64_t seed = 88172645463325252u;
    for (int step = 0; step < 50000; step++) {
        const uint64_t random = wp_random_next(&seed);
        const size_t i = random % SLOTS;
        if (slots[i] == NULL) {
            sizes[i] = 1 + (random >> 20) % 3000;
            slots[i] = wpi_heap_alloc(heap, sizes[i]);
            if (slots[i] != NULL) memset(slots[i], (int)(i & 0xff), sizes[i]);
        } else {
            for (size_t k = 0; k < sizes[i]; k += 1 + sizes[i] / 7) {
                assert_int_equal(slots[i][k], i & 0xff);
            }
            assert_int_equal(slots[i][sizes[i] - 1], i & 0xff);
            assert_true(wpi_heap_free(heap, slots[i]));
            slots[i] = NULL;
        }
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (slots[i] != NULL) assert_true(wpi_heap_free(heap, slots[i]));
    }
    assert_true(wpi_heap_is_empty(heap));
    wpi_heap_destroy(heap);
}

/* ---- through kernels ---- */

static uint32_t allocate_in_kernel(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)outer;
    if (first == 0) ARG(b, 0, void **)[b->block_idx[0]] = wp_rt_malloc(ARG(b, 1, uint64_t));
    return WP_STATE_EXIT;
}

static uint32_t free_in_kernel(wp_cpu_block *b, uint32_t first, uint32_t outer) {
    (void)outer;
    if (first == 0) wp_rt_free(ARG(b, 0, void **)[b->block_idx[0]]);
    return WP_STATE_EXIT;
}

static void the_heap_of_kernels_outlives_them_and_has_a_limit(void **state) {
    (void)state;
    static const wp_cpu_region alloc_regions[] = {REGION(allocate_in_kernel, WP_STOP_NONE, 0)};
    static const wp_cpu_region free_regions[] = {REGION(free_in_kernel, WP_STOP_NONE, 0)};
    static const wp_cpu_kernel codes[] = {REGION_KERNEL("alloc", alloc_regions, 2, 0, 0),
                                          REGION_KERNEL("free", free_regions, 2, 0, 0)};
    wp_error err = {0};
    wp_device *device = open_device("2");
    wp_module *module = load_kernels(device, codes, 2);
    wp_queue *queue = wp_device_default_queue(device);
    void *pointers[10], *to = pointers;
    uint64_t bytes = 1 << 20, limit;
    void *args[] = {&to, &bytes};
    assert_status_ok(wpi_device_get_limit(device, WPI_LIMIT_HEAP, &limit, &err), &err);
    assert_u64(limit, 8 << 20);
    for (uint32_t expected = 7; expected <= 8; expected++) { /* headers take the eighth MiB */
        assert_status_ok(launch(queue, find_kernel(module, "alloc"), 10, 1, args, &err), &err);
        assert_status_ok(wp_queue_wait(queue, &err), &err);
        uint32_t given = 0;
        for (int i = 0; i < 10; i++)
            given += pointers[i] != NULL;
        assert_int_equal(given, expected);
        assert_status_fails(wpi_device_set_limit(device, WPI_LIMIT_HEAP, 1 << 20, &err),
                            WP_STATUS_INVALID, &err, "before kernels allocate");
        assert_status_ok(launch(queue, find_kernel(module, "free"), 10, 1, args, &err), &err);
        assert_status_ok(wp_queue_wait(queue, &err), &err);
        assert_status_ok(wpi_device_set_limit(device, WPI_LIMIT_HEAP, (8 << 20) + 4096, &err),
                         &err);
    }
    wp_module_unload(module);
    wp_device_close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_apart),
        cmocka_unit_test(a_full_heap_gives_null_and_recovers_whole),
        cmocka_unit_test(foreign_and_freed_pointers_are_refused),
        cmocka_unit_test(an_overrun_is_noticed),
        cmocka_unit_test(blocks_keep_their_bytes),
        cmocka_unit_test(the_heap_of_kernels_outlives_them_and_has_a_limit),
    };
    return wp_test_main(tests);
}
