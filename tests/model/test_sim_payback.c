/* SPDX-License-Identifier: Apache-2.0 */
/* payback: when a block's remote accesses have paid for its move, and that no warp waits for a
 * block that is only ordered. */
#include "sim_paging_bench.h"

#define BLOCK_BYTES ((uint64_t)WPI_BLOCK_PAGES * WPI_PAGE_BYTES)
#define SERVICE_PS (45 * WP_PS_PER_US)
#define MOVE_BYTES 75710 /* 64 KiB take the link for as long as these without the curve */

static void access_block(bench *b, uint32_t number, uint64_t block, bool is_write, wpi_time_ps at) {
    bench_issue(b, number, number % 4, BENCH_FIRST + block * BLOCK_BYTES, is_write, at);
}

/* How many accesses stay remote, one after the other, until one finds its block there. */
static uint64_t remote_accesses(bench *b, uint64_t block, bool is_write) {
    const uint64_t before = b->remote;
    for (uint64_t local = b->local; b->local == local;) {
        access_block(b, 0, block, is_write, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
    return b->remote - before;
}

/* With n of 1024 frames taken the n/1024th part of the move's bytes brings a block, by reads and
 * writes alike; it is ordered with the access that pays the last of them. */
static void a_block_comes_when_its_accesses_have_paid_for_it(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", "paging.prefetch=none", "gpu.memory=4MiB");
    for (uint32_t n = 0; n < 100; n++) {
        const uint64_t bytes = (uint64_t)MOVE_BYTES * n / 1024;
        const uint64_t paid = (bytes + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES;
        assert_u64(remote_accesses(&b, n, n % 2 != 0), paid > 0 ? paid : 1);
    }
    assert_u64(b.waits, 0);
    bench_close(&b);
}

/* Eight accesses in the time of a service: one order, no warp waits, and then the block is
 * resident. With a policy that does not continue remotely all eight wait. */
static void accesses_go_on_until_the_block_is_on_its_way(void **state) {
    (void)state;
    static const char *const migrate[] = {"paging.migrate=payback", "paging.migrate=first-touch"};
    for (uint32_t waits = 0; waits < 2; waits++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, migrate[waits], "paging.prefetch=sequential-local");
        for (uint32_t i = 0; i < 8; i++)
            bench_issue(&b, i, i % 4, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
        wpi_engine_run_until(b.engine, SERVICE_PS / 2);
        assert_u64(b.remote, waits ? 0 : 8);
        wpi_engine_run(b.engine);
        assert_u64(b.waits, waits ? 8 : 0);
        assert_u64(bench_count_of(&b, "paging.far_faults"), waits ? 8 : 1);
        assert_u64(bench_count_of(&b, "paging.fetched"), WPI_BLOCK_PAGES);
        const uint64_t local = b.local;
        access_block(&b, 0, 0, true, wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
        assert_u64(b.local, local + 1);
        bench_check_residency(&b);
        bench_close(&b);
    }
}

/* While the block is on the link it is neither here nor there. */
static void who_comes_while_it_moves_waits(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local");
    access_block(&b, 0, 0, false, 0);
    wpi_engine_run_until(b.engine, SERVICE_PS + WP_PS_PER_US);
    access_block(&b, 1, 0, false, SERVICE_PS + WP_PS_PER_US);
    wpi_engine_run(b.engine);
    assert_u64(b.waits, 1);
    assert_u64(b.remote, 1);
    assert_u64(b.local, 1);
    bench_close(&b);
}

/* Remote accesses take the link for 100 us: who finds it so waits for the page, which is there
 * sooner. */
static void who_finds_the_link_busy_waits(void **state) {
    (void)state;
    for (uint32_t is_busy = 0; is_busy < 2; is_busy++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local");
        const uint64_t bytes = b.profile->link.bytes_per_s / 10000;
        if (is_busy) (void)wpi_link_remote(&b.link, bytes, WPI_DIRECTION_TO_DEVICE, 0);
        access_block(&b, 0, 0, false, 0);
        wpi_engine_run(b.engine);
        assert_u64(b.waits, is_busy);
        assert_u64(b.remote, 1 - is_busy);
        bench_close(&b);
    }
}

/* A fault is under way, and then three pages of one block and one of the next are waited for: a
 * transfer for each block, where other policies have one for each page, and one for the rest. */
static void blocks_are_moved_whole(void **state) {
    (void)state;
    static const struct {
        const char *migrate;
        uint64_t transfers;
    } cases[] = {{"paging.migrate=payback", 1 + 2}, {"paging.migrate=first-touch", 2 + 5}};
    static const uint32_t waited[] = {4 * WPI_BLOCK_PAGES, 0, 5, 9, WPI_BLOCK_PAGES + 1};
    for (uint32_t i = 0; i < 2; i++) {
        bench b;
        BENCH_OPEN(&b, 2 * MIB, cases[i].migrate, "paging.prefetch=sequential-local");
        (void)wpi_link_remote(&b.link, b.profile->link.bytes_per_s / 10000, WPI_DIRECTION_TO_DEVICE,
                              0);
        for (uint32_t k = 0; k < 5; k++)
            bench_issue(&b, k, k % 4, BENCH_FIRST + (uint64_t)waited[k] * WPI_PAGE_BYTES, false, 0);
        wpi_engine_run(b.engine);
        assert_u64(b.waits, 5);
        assert_u64(bench_count_of(&b, "paging.fetched"), 3 * WPI_BLOCK_PAGES);
        assert_u64(b.link.ways[WPI_DIRECTION_TO_DEVICE].copies, cases[i].transfers);
        bench_close(&b);
    }
}

/* Remote accesses have the link for 1 ms: what is ordered then comes, and so does a block that the
 * prefetcher names meanwhile, the one behind what is here. */
static void accesses_do_not_keep_blocks_away(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.prefetch=idle-tree");
    const wpi_pages *const resident = &wpi_paging_residency(b.paging)->chunks[0].resident;
    access_block(&b, 0, 3, false, 0);
    wpi_engine_run(b.engine);
    const uint32_t before = wpi_pages_count(resident), behind = wpi_pages_run_end(resident, 48);
    (void)wpi_link_remote(&b.link, b.profile->link.bytes_per_s / 1000, WPI_DIRECTION_TO_DEVICE,
                          wpi_engine_now(b.engine));
    access_block(&b, 0, 20, false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    assert_u64(wpi_pages_count(resident), before + 2 * WPI_BLOCK_PAGES);
    assert_true(wpi_pages_has(resident, behind));
    assert_true(wpi_pages_has(resident, 20 * WPI_BLOCK_PAGES));
    bench_close(&b);
}

/* Unused pages have no remote copy: they are created, and nothing uses the link. */
static void pages_that_nobody_used_are_made_at_once(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local",
               "paging.zero_fill=on");
    access_block(&b, 0, 0, true, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.remote, 0);
    assert_u64(bench_count_of(&b, "paging.made"), WPI_BLOCK_PAGES);
    assert_u64(bench_count_of(&b, "paging.fetched"), 0);
    bench_close(&b);
}

/* So many accesses to the block go across the link. */
static void pay(bench *b, uint64_t block, uint32_t accesses) {
    for (uint32_t i = 0; i < accesses; i++)
        wpi_paging_use_remote(b->paging, BENCH_FIRST + block * BLOCK_BYTES, BENCH_ACCESS_BYTES, 0);
}

/* Memory of 512 pages is empty, but 31 blocks of them are ordered: the next one has to pay 31/32 of
 * its move before it is. */
static void what_is_ordered_is_taken(void **state) {
    (void)state;
    const uint32_t ordered = 31;
    const uint32_t price_bytes = MOVE_BYTES * ordered / 32;
    const uint32_t paying = (price_bytes + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES;
    bench b;
    BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local",
               "gpu.memory=2MiB");
    for (uint32_t block = 0; block < ordered; block++)
        pay(&b, block, paying);
    assert_u64(bench_count_of(&b, "paging.far_faults"), ordered);
    pay(&b, ordered, paying - 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), ordered);
    pay(&b, ordered, 1);
    assert_u64(bench_count_of(&b, "paging.far_faults"), ordered + 1);
    wpi_engine_run(b.engine);
    bench_check_residency(&b);
    bench_close(&b);
}

/* Accesses, one after the other, to a block that is here. */
static void use_here(bench *b, uint64_t block, uint64_t accesses) {
    for (uint64_t i = 0; i < accesses; i++) {
        access_block(b, 0, block, false, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
}

/* Memory of 32 blocks is full, and a further one comes: it pays for one way, and the one that was
 * used longest ago leaves for it. That pays for the way there and back then if its accesses had
 * saved twice as much while it was here, and otherwise twice as much. */
static void a_stay_in_vain_makes_the_next_one_dearer(void **state) {
    (void)state;
    const uint64_t price_bytes = 2 * MOVE_BYTES;
    const uint64_t worth = (2 * price_bytes + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES;
    for (uint32_t is_worth = 0; is_worth < 2; is_worth++) {
        const uint64_t dearer_bytes = is_worth ? price_bytes : 2 * price_bytes;
        bench b;
        BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local",
                   "paging.evict=sequential-local", "gpu.memory=2MiB");
        for (uint64_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
            (void)remote_accesses(&b, block, false); /* and one that finds it here */
        use_here(&b, 0, worth - 2 + is_worth);
        for (uint64_t block = 1; block < WPI_CHUNK_BLOCKS; block++)
            use_here(&b, block, 1);
        assert_u64(remote_accesses(&b, WPI_CHUNK_BLOCKS, false),
                   (MOVE_BYTES + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES);
        assert_u64(remote_accesses(&b, 0, false),
                   (dearer_bytes + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES);
        bench_close(&b);
    }
}

/* Memory may be freed before an order is served; what comes to its place is ordered anew. */
static void an_order_ends_with_its_memory(void **state) {
    (void)state;
    wp_error err = {0};
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local");
    access_block(&b, 0, 0, false, 0);
    wpi_engine_run_until(b.engine, SERVICE_PS / 2);
    wpi_paging_remove(b.paging, BENCH_FIRST, 2 * MIB);
    wpi_engine_run(b.engine);
    assert_u64(bench_count_of(&b, "paging.fetched"), 0);
    assert_status_ok(wpi_paging_add(b.paging, BENCH_FIRST, 2 * MIB, &err), &err);
    access_block(&b, 0, 0, false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    assert_u64(bench_count_of(&b, "paging.fetched"), WPI_BLOCK_PAGES);
    bench_check_residency(&b);
    bench_close(&b);
}

/* An order has no waiter that a replay would resume, but batches take it, too. */
static void accesses_go_on_where_there_are_replays(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.service=batch",
               "paging.prefetch=sequential-local");
    for (uint32_t i = 0; i < 8; i++)
        bench_issue(&b, i, i % 4, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.remote, 8);
    assert_u64(b.waits, 0);
    assert_u64(bench_count_of(&b, "paging.batch.raised"), 0);
    assert_u64(bench_count_of(&b, "paging.fetched"), WPI_BLOCK_PAGES);
    access_block(&b, 0, 0, false, wpi_engine_now(b.engine));
    wpi_engine_run(b.engine);
    assert_u64(b.local, 1);
    bench_check_residency(&b);
    bench_close(&b);
}

/* A block's transfer takes 5.9 us: five accesses with turns of 1 us may go on, others wait. */
static void accesses_that_go_on_have_the_link_for_the_time_of_a_block(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", "paging.service=batch",
               "paging.prefetch=sequential-local", "link.remote_turn=1us");
    for (uint32_t i = 0; i < 8; i++)
        bench_issue(&b, i, i % 4, BENCH_FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.remote, 5);
    assert_u64(b.local, 3);
    assert_true(b.waits >= 3);
    bench_check_residency(&b);
    bench_close(&b);
}

/* A turn of 20 ns is as long as 257 bytes take: accesses of 128 pay that. */
static void a_turn_is_charged_instead_of_fewer_bytes(void **state) {
    (void)state;
    const uint64_t turn_bytes = (uint64_t)(20e-9 * 12 * 1024 * 1024 * 1024);
    bench b;
    BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", "paging.prefetch=none", "gpu.memory=4MiB",
               "link.remote_turn=20ns");
    for (uint32_t n = 0; n < 100; n++) {
        const uint64_t bytes = (uint64_t)MOVE_BYTES * n / 1024;
        const uint64_t paid = (bytes + turn_bytes - 1) / turn_bytes;
        assert_u64(remote_accesses(&b, n, n % 2 != 0), paid > 0 ? paid : 1);
    }
    bench_close(&b);
}

/* With turns of 24 ns 512 lines take 12.3 us, more than there and back, but less than that and a
 * chunk's share of a service, 1.4 us: the first accesses go across the link. */
static void a_service_adds_to_what_one_pass_has_to_pay(void **state) {
    (void)state;
    static const char *const service[] = {"paging.service=drained", "paging.service=pipelined"};
    for (int i = 0; i < 2; i++) {
        bench b;
        BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", service[i],
                   "paging.prefetch=sequential-local", "paging.evict=sequential-local",
                   "gpu.memory=2MiB", "link.remote_turn=24ns");
        for (uint64_t block = 0; block < WPI_CHUNK_BLOCKS / 2; block++)
            remote_accesses(&b, block, false);
        assert_int_equal(remote_accesses(&b, WPI_CHUNK_BLOCKS / 2, false) == 0, i);
        bench_close(&b);
    }
}

/* 512 lines of a block with turns of 50 ns take 25.6 us, and moving it there and back 11.8. So the
 * first access migrates it, full memory or not, and stalls. After a stay that saved nothing the
 * price is a move there and back, in turns. */
static void blocks_move_at_once_over_a_link_that_is_slow_for_accesses(void **state) {
    (void)state;
    const uint64_t turn_bytes = (uint64_t)(50e-9 * 12 * 1024 * 1024 * 1024);
    bench b;
    BENCH_OPEN(&b, 8 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local",
               "paging.evict=sequential-local", "gpu.memory=2MiB", "link.remote_turn=50ns");
    for (uint64_t block = 0; block <= WPI_CHUNK_BLOCKS; block++)
        assert_u64(remote_accesses(&b, block, block % 2 != 0), 0);
    assert_u64(b.waits, WPI_CHUNK_BLOCKS + 1);
    assert_u64(remote_accesses(&b, 0, false), (2 * MOVE_BYTES + turn_bytes - 1) / turn_bytes);
    bench_close(&b);
}

/* Memory of 32 blocks is full, and the evictor chooses a whole chunk. Only as much leaves as comes,
 * a block: first the one used longest ago of those whose stay was in vain. What is spared is next,
 * unless it is used. */
static void a_chunk_leaves_block_by_block(void **state) {
    (void)state;
    const uint64_t worth = (4 * (uint64_t)MOVE_BYTES + BENCH_ACCESS_BYTES - 1) / BENCH_ACCESS_BYTES;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.migrate=payback", "paging.prefetch=sequential-local",
               "paging.evict=lru-2m", "gpu.memory=2MiB");
    const wpi_chunk *const chunks = wpi_paging_residency(b.paging)->chunks;
    for (uint64_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
        (void)remote_accesses(&b, block, false); /* and one that finds it here */
    use_here(&b, 0, worth);
    for (uint64_t block = 1; block < WPI_CHUNK_BLOCKS; block++)
        use_here(&b, block, 1);
    (void)remote_accesses(&b, WPI_CHUNK_BLOCKS, false);
    assert_u64(bench_count_of(&b, "paging.evicted"), WPI_BLOCK_PAGES);
    assert_false(wpi_block_has(&chunks[0].resident, 1)); /* 0 has paid */
    use_here(&b, 2, 1);
    (void)remote_accesses(&b, WPI_CHUNK_BLOCKS + 1, false);
    assert_u64(bench_count_of(&b, "paging.evicted"), 2 * WPI_BLOCK_PAGES);
    assert_true(wpi_block_has(&chunks[0].resident, 0));
    assert_true(wpi_block_has(&chunks[0].resident, 2)); /* used since it was spared */
    assert_false(wpi_block_has(&chunks[0].resident, 3));
    bench_check_residency(&b);
    bench_close(&b);
}

/* Other migration policies leave the choice to the evictor. */
static void without_payback_a_chunk_leaves_as_a_whole(void **state) {
    (void)state;
    bench b;
    BENCH_OPEN(&b, 4 * MIB, "paging.migrate=first-touch", "paging.prefetch=sequential-local",
               "paging.evict=lru-2m", "gpu.memory=2MiB");
    for (uint64_t block = 0; block <= WPI_CHUNK_BLOCKS; block++)
        use_here(&b, block, 1);
    assert_u64(bench_count_of(&b, "paging.evicted"), WPI_CHUNK_PAGES);
    bench_close(&b);
}

/* Where faults are serviced in batches, an access to a block on order would stall for 60 us and
 * more: as many continue as the link takes in that time, 6,000 lines of 128 bytes. Otherwise as
 * many as it takes in the time of a block, 590. */
static void more_accesses_go_on_where_a_stall_is_a_batch(void **state) {
    (void)state;
    static const char *const service[] = {"paging.service=drained", "paging.service=batch"};
    for (uint32_t is_batch = 0; is_batch < 2; is_batch++) {
        const uint32_t accesses = 2000;
        bench b;
        BENCH_OPEN(&b, 2 * MIB, "paging.migrate=payback", service[is_batch],
                   "paging.prefetch=sequential-local");
        for (uint32_t i = 0; i < accesses; i++)
            bench_issue(&b, i, i % 4, BENCH_FIRST + i % WPI_BLOCK_PAGES * (uint64_t)WPI_PAGE_BYTES,
                        false, 0);
        wpi_engine_run(b.engine);
        if (is_batch)
            assert_u64(b.waits, 0);
        else
            assert_true(b.waits > accesses / 2);
        assert_u64(b.remote + b.local, accesses);
        bench_check_residency(&b);
        bench_close(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_comes_when_its_accesses_have_paid_for_it),
        cmocka_unit_test(accesses_go_on_until_the_block_is_on_its_way),
        cmocka_unit_test(who_comes_while_it_moves_waits),
        cmocka_unit_test(who_finds_the_link_busy_waits),
        cmocka_unit_test(blocks_are_moved_whole),
        cmocka_unit_test(accesses_do_not_keep_blocks_away),
        cmocka_unit_test(pages_that_nobody_used_are_made_at_once),
        cmocka_unit_test(what_is_ordered_is_taken),
        cmocka_unit_test(a_stay_in_vain_makes_the_next_one_dearer),
        cmocka_unit_test(an_order_ends_with_its_memory),
        cmocka_unit_test(accesses_go_on_where_there_are_replays),
        cmocka_unit_test(accesses_that_go_on_have_the_link_for_the_time_of_a_block),
        cmocka_unit_test(a_chunk_leaves_block_by_block),
        cmocka_unit_test(without_payback_a_chunk_leaves_as_a_whole),
        cmocka_unit_test(more_accesses_go_on_where_a_stall_is_a_batch),
        cmocka_unit_test(a_turn_is_charged_instead_of_fewer_bytes),
        cmocka_unit_test(a_service_adds_to_what_one_pass_has_to_pay),
        cmocka_unit_test(blocks_move_at_once_over_a_link_that_is_slow_for_accesses),
    };
    return wp_test_main(tests);
}
