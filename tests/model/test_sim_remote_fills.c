/* SPDX-License-Identifier: Apache-2.0 */
/* TLBs that learn the pages that are reached across the link (paging.remote_fills). */
#include "sim_traffic.h"

#define MIB ((uint64_t)1 << 20)

static void open_managed(rig *r, const char *fills, const char *migrate) {
    wp_error err = {0};
    RIG_OPEN(r, fills, migrate, "tlb.levels=1", "paging.migrate_threshold=1000", "gpu.memory=2MiB",
             "paging.service=added", "paging.evict=lru-4k", );
    assert_status_ok(wpi_memory_manage(r->memory, BENCH_FIRST, &err), &err);
    assert_status_ok(wpi_paging_add(wpi_memory_paging(r->memory), BENCH_FIRST, 4 * MIB, &err),
                     &err);
}

static void use(rig *r, uint32_t sm, uint8_t kind, uint32_t page, uint32_t line) {
    (void)rig_time(r, sm, kind, BENCH_FIRST + page * WPI_PAGE_BYTES + line * WPI_LINE_BYTES);
}

static void a_page_is_local_to_who_has_reached_it(void **state) {
    (void)state;
    for (uint64_t fills = 0; fills < 2; fills++) {
        rig r;
        open_managed(&r, fills ? "paging.remote_fills=on" : "paging.remote_fills=off",
                     "paging.migrate=always");
        for (uint32_t line = 0; line < 3; line++)
            use(&r, 0, WP_TRACE_LOAD, 7, line);
        assert_u64(rig_count(&r, "paging.remote"), fills ? 1 : 3);
        assert_u64(rig_count(&r, "link.to_device.remote_accesses"), fills ? 1 : 3);
        use(&r, 1, WP_TRACE_LOAD, 7, 3); /* another SM has to reach it itself */
        assert_u64(rig_count(&r, "paging.remote"), fills ? 2 : 4);
        use(&r, 0, WP_TRACE_LOAD, 8, 0); /* another page */
        assert_u64(rig_count(&r, "paging.remote"), fills ? 3 : 5);
        use(&r, 1, WP_TRACE_STORE, 7, 4); /* a write brings it, where it is asked for */
        assert_u64(rig_count(&r, "paging.far_faults"), fills ? 0 : 1);
        use(&r, 2, WP_TRACE_STORE, 7, 5);
        assert_u64(rig_count(&r, "paging.far_faults"), 1);
        rig_close(&r);
    }
}

/* A page that was fetched meanwhile is on the device for all SMs, and its eviction invalidates the
 * remote translation that an SM had. */
static void who_knew_it_forgets_it_when_it_leaves(void **state) {
    (void)state;
    rig r;
    open_managed(&r, "paging.remote_fills=on", "paging.migrate=always");
    use(&r, 0, WP_TRACE_LOAD, 7, 0);
    use(&r, 1, WP_TRACE_STORE, 7, 0);
    use(&r, 0, WP_TRACE_LOAD, 7, 1);
    assert_u64(rig_count(&r, "paging.remote"), 1);
    for (uint32_t page = 8; page < 8 + 512; page++) /* as many as there are frames */
        use(&r, 1, WP_TRACE_STORE, page, 0);
    assert_false(wpi_paging_is_here(wpi_memory_paging(r.memory), BENCH_FIRST + 7 * WPI_PAGE_BYTES));
    use(&r, 0, WP_TRACE_LOAD, 7, 2);
    assert_u64(rig_count(&r, "paging.remote"), 2);
    rig_close(&r);
}

static void memory_that_is_freed_is_forgotten(void **state) {
    (void)state;
    rig r;
    wp_error err = {0};
    open_managed(&r, "paging.remote_fills=on", "paging.migrate=zero-copy");
    wpi_paging *paging = wpi_memory_paging(r.memory);
    use(&r, 0, WP_TRACE_LOAD, 7, 0);
    wpi_paging_remove(paging, BENCH_FIRST, 4 * MIB);
    assert_status_ok(wpi_paging_add(paging, BENCH_FIRST, 4 * MIB, &err), &err);
    use(&r, 0, WP_TRACE_LOAD, 7, 0);
    assert_u64(rig_count(&r, "paging.remote"), 2);
    rig_close(&r);
}

/* Four times as much as memory, read and written by all at once. */
static void choose(traffic *t, wpi_access *access) {
    static const uint8_t kinds[] = {WP_TRACE_LOAD, WP_TRACE_LOAD, WP_TRACE_STORE, WP_TRACE_ATOMIC};
    const uint64_t r = wp_random_next(&t->random);
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        t->addresses[lane] = BENCH_FIRST + (r >> 8) % (8 * MIB - 4096) / 4 * 4 + lane * 4;
    access->kind = kinds[r % 4];
}

static void all_accesses_end_whatever_tlbs_know(void **state) {
    (void)state;
    static const char *const migrate[] = {"paging.migrate=adaptive", "paging.migrate=always",
                                          "paging.migrate=oversub", "paging.migrate=zero-copy",
                                          "paging.migrate=payback"};
    static const char *const evict[] = {"paging.evict=lru-2m", "paging.evict=lfu-2m",
                                        "paging.evict=lru-4k", "paging.evict=tree"};
    static const char *const more[] = {"paging.stage_victims=on", "tlb.levels=1",
                                       "tlb.l1.merge=off", "paging.service=batch"};
    for (uint32_t i = 0; i < 20; i++) {
        traffic t = {.choose = choose, .random = i + 1, .left = 3000};
        RIG_OPEN(&t.rig, migrate[i / 4], evict[i % 4], more[(i + i / 4) % 4], "gpu.memory=2MiB",
                 "paging.migrate_threshold=3", "paging.remote_fills=on", );
        traffic_manage(&t, 8 * MIB);
        if (!traffic_run(&t, 64))
            fail_msg("%s, %s, %s: %llu of 3000 accesses", migrate[i / 4], evict[i % 4],
                     more[(i + i / 4) % 4], (unsigned long long)t.rig.answers);
        traffic_check_quiet(&t);
        assert_true(rig_count(&t.rig, "paging.remote") > 0);
        rig_close(&t.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_local_to_who_has_reached_it),
        cmocka_unit_test(who_knew_it_forgets_it_when_it_leaves),
        cmocka_unit_test(memory_that_is_freed_is_forgotten),
        cmocka_unit_test(all_accesses_end_whatever_tlbs_know),
    };
    return wp_test_main(tests);
}
