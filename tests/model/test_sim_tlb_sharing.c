/* SPDX-License-Identifier: Apache-2.0 */
/* First-level TLBs that ask each other, against arithmetic and against private ones. */
#include "sim/tlb/tlb_ring.h"
#include "sim_traffic.h"

#define PAGE ((uint64_t)64 * 1024)
#define SMS 8u

#define NEXT_LEVEL 9 /* cycles of tlb.l2.latency */
#define ASKED(hops_there, hops_back, lookups) ((hops_there) + (hops_back) + (lookups))

static uint64_t cycles(rig *r, uint32_t sm, uint64_t page) {
    return rig_time(r, sm, WP_TRACE_LOAD, page * PAGE) / WP_PS_PER_NS;
}

/* `first` loads a page, then `second` does: how much longer that takes than with private TLBs,
 * where the second level has it. */
static int64_t gain(uint32_t first, uint32_t second, const char *policy, const char *more) {
    int64_t took[2];
    for (int i = 0; i < 2; i++) {
        rig r;
        RIG_OPEN(&r, i == 0 ? "tlb_sharing.policy=private" : policy, more, );
        (void)cycles(&r, first, 3);
        took[i] = (int64_t)cycles(&r, second, 3);
        rig_close(&r);
    }
    return took[1] - took[0];
}

#define NOTHING "gpu.seed=1"

static void a_neighbour_answers_in_two_hops_and_a_look_up(void **state) {
    (void)state;
    static const char *const names[] = {
        "tlb_sharing.policy=neidty", "tlb_sharing.policy=neidty-exclusive",
        "tlb_sharing.policy=neidty-twice", "tlb_sharing.policy=valkyrie"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(gain(4, 3, names[i], NOTHING), ASKED(1, 1, 1) - NEXT_LEVEL);
        assert_int_equal(gain(4, 3, names[i], "tlb_sharing.hop=3cycles"),
                         ASKED(3, 3, 1) - NEXT_LEVEL);
        assert_int_equal(gain(0, SMS - 1, names[i], NOTHING), ASKED(1, 1, 1) - NEXT_LEVEL);
    }
    for (size_t i = 0; i < 3; i++) { /* to the left, too */
        assert_int_equal(gain(3, 4, names[i], NOTHING), ASKED(1, 1, 1) - NEXT_LEVEL);
        assert_int_equal(gain(SMS - 1, 0, names[i], NOTHING), ASKED(1, 1, 1) - NEXT_LEVEL);
        assert_int_equal(gain(2, 4, names[i], NOTHING), 0); /* no neighbour */
        /* The one between looks it up, too. */
        assert_int_equal(gain(2, 4, names[i], "tlb_sharing.neighbours=2"),
                         ASKED(2, 2, 2) - NEXT_LEVEL);
        /* A directory that is slower than the TLB is waited for. */
        assert_int_equal(gain(3, 4, names[i], "tlb_sharing.directory_latency=4cycles"),
                         3 + ASKED(1, 1, 1) - NEXT_LEVEL);
    }
}

static void valkyrie_asks_all_on_its_way(void **state) {
    (void)state;
    const char *const valkyrie = "tlb_sharing.policy=valkyrie";
    for (uint32_t distance = 1; distance < SMS; distance++) {
        const uint32_t back = distance < SMS - distance ? distance : SMS - distance;
        assert_int_equal(gain(distance, 0, valkyrie, NOTHING),
                         (int)ASKED(distance, back, distance) - NEXT_LEVEL);
    }
    /* In vain: the second level is asked afterwards. */
    assert_int_equal(gain(5, 0, valkyrie, "tlb_sharing.neighbours=2"), ASKED(2, 2, 2));
}

static void rings_are_of_a_scope(void **state) {
    (void)state;
    /* GPCs are dealt by TPCs: 0, 1, 4, 5 and 2, 3, 6, 7. */
    const char *const neidty = "tlb_sharing.policy=neidty";
    assert_int_equal(gain(3, 4, neidty, "tlb_sharing.scope=gpc"), 0);
    assert_int_equal(gain(1, 4, neidty, "tlb_sharing.scope=gpc"), ASKED(1, 1, 1) - NEXT_LEVEL);
    assert_int_equal(gain(5, 0, neidty, "tlb_sharing.scope=gpc"), ASKED(1, 1, 1) - NEXT_LEVEL);
    assert_int_equal(gain(3, 2, neidty, "tlb_sharing.scope=tpc"), ASKED(1, 1, 1) - NEXT_LEVEL);
    assert_int_equal(gain(3, 2, neidty, "tlb_sharing.scope=sm"), 0); /* alone */
    /* Where a TPC has one TLB, there are four in the ring. */
    assert_int_equal(gain(0, 2, neidty, "tlb.l1.sharing=tpc"), ASKED(1, 1, 1) - NEXT_LEVEL);
    assert_int_equal(gain(0, 4, neidty, "tlb.l1.sharing=tpc"), 0);
}

static void a_wrong_hint_costs_the_way(void **state) {
    (void)state;
    uint64_t took[2];
    for (int i = 0; i < 2; i++) {
        rig r;
        RIG_OPEN(&r, i == 0 ? "tlb_sharing.policy=private" : "tlb_sharing.policy=neidty",
                 "tlb_sharing.tag_bits=1", );
        (void)cycles(&r, 4, 1);
        (void)cycles(&r, 0, 2); /* of the other's tag, 01 and 10 folded */
        took[i] = cycles(&r, 3, 2);
        if (i == 1) assert_u64(rig_count(&r, "tlb_sharing.passed"), 1);
        rig_close(&r);
    }
    assert_u64(took[1] - took[0], ASKED(1, 1, 1));
}

/* Three lines of a page that the neighbour has, at once: where misses do not merge each asks; the
 * page is stored once. */
static void each_miss_asks_where_they_do_not_merge(void **state) {
    (void)state;
    static const char *const merge[] = {"tlb.l1.merge=on", "tlb.l1.merge=off"};
    for (uint64_t i = 0; i < 2; i++) {
        rig r;
        RIG_OPEN(&r, "tlb_sharing.policy=neidty", "tlb_sharing.census=on", "tlb.requests=line",
                 merge[i], );
        (void)cycles(&r, 4, 3);
        const uint64_t before = rig_count(&r, "tlb.translation");
        rig_issue(&r, 3, WP_TRACE_LOAD, 7, 3 * PAGE, 128, wpi_engine_now(r.engine));
        wpi_engine_run(r.engine);
        const uint64_t took = (rig_count(&r, "tlb.translation") - before) / WP_PS_PER_NS;
        assert_u64(rig_count(&r, "tlb_sharing.hits"), i == 0 ? 1 : 3);
        assert_u64(rig_count(&r, "census.tlb3.neighbour_had"), i == 0 ? 1 : 3);
        assert_u64(rig_count(&r, "census.tlb3.requests"), 3);
        assert_u64(rig_count(&r, "census.holders_1"), 3); /* SM 4's own was of none */
        assert_u64(rig_count(&r, "tlb.l1.merges"), i == 0 ? 2 : 0);
        assert_u64(rig_count(&r, "tlb.l2.hits"), 0);
        /* A line a cycle: 1 to miss, there and back and a look-up. */
        const uint64_t alone = 1 + ASKED(1, 1, 1);
        assert_u64(took, i == 0 ? alone + (alone - 1) + (alone - 2) : 3 * alone);
        assert_u64(cycles(&r, 3, 3), cycles(&r, 3, 3));
        assert_u64(rig_count(&r, "tlb_sharing.asked"), i == 0 ? 1 : 3);
        rig_close(&r);
    }
}

/* A TLB loads a page, and so many cycles later TLB 0 one. */
static void load_both(rig *r, uint32_t first, uint64_t page, uint64_t later, uint64_t own_page) {
    const wpi_time_ps start = wpi_engine_now(r->engine);
    rig_issue(r, first, WP_TRACE_LOAD, 1, page * PAGE, 0, start);
    wpi_engine_run_until(r->engine, start + later * WP_PS_PER_NS);
    rig_issue(r, 0, WP_TRACE_LOAD, 1, own_page * PAGE, 0, wpi_engine_now(r->engine));
    wpi_engine_run(r->engine);
}

/* TLB 5 loads a page, and so many cycles later TLB 0 does, whose question comes by there after 5
 * steps: it finds the page if TLB 5 has it by then, be it that it did not when the question set
 * out. */
static void a_page_learned_on_the_way_is_found(void **state) {
    (void)state;
    const uint64_t comes_by = 1 + ASKED(5, 0, 5);
    for (uint64_t later = 0; later < 40; later++) {
        rig r;
        RIG_OPEN(&r, "tlb_sharing.policy=valkyrie", );
        (void)cycles(&r, 6, 3); /* the second level has it … */
        for (uint64_t page = 100; page < 116; page++)
            (void)cycles(&r, 6, page); /* … and no other */
        const uint64_t hits = rig_count(&r, "tlb_sharing.hits");
        const uint64_t before = rig_count(&r, "tlb.translation");
        load_both(&r, 5, 3, later, 3);
        const uint64_t alone = 1 + ASKED(SMS, 0, SMS - 1) + NEXT_LEVEL;
        const bool is_found = later + comes_by >= alone;
        assert_u64(rig_count(&r, "tlb_sharing.hits") - hits, is_found);
        /* TLB 5's question comes by TLB 0 after 3 steps: then that one's waits for a beat. */
        const uint64_t waits = later == ASKED(3, 0, 3) ? 1 : 0;
        if (!is_found)
            assert_u64(rig_count(&r, "tlb.translation") - before,
                       (2 * alone + waits) * WP_PS_PER_NS);
        assert_u64(rig_count(&r, "tlb_sharing.slot_wait"), waits * WP_PS_PER_NS);
        rig_close(&r);
    }
}

/* Four questions of TLB 0 come by TLB 1 one after the other, as it has four of its own: as many as
 * its buffer has places set out behind those, the others are turned away. */
static void who_finds_the_buffer_full_asks_the_next_level(void **state) {
    (void)state;
    for (uint64_t places = 1; places <= 5; places++) {
        char buffer[32];
        (void)snprintf(buffer, sizeof buffer, "tlb_sharing.buffer=%u", (unsigned)places);
        rig r;
        RIG_OPEN(&r, "tlb_sharing.policy=valkyrie", "tlb.l1.ports=1", buffer, );
        rig_issue(&r, 0, WP_TRACE_LOAD, 15, 0, PAGE, 0);
        wpi_engine_run_until(r.engine, ASKED(1, 0, 1) * WP_PS_PER_NS);
        rig_issue(&r, 1, WP_TRACE_LOAD, 15, 10 * PAGE, PAGE, wpi_engine_now(r.engine));
        wpi_engine_run(r.engine);
        const uint64_t kept = places < 4 ? places : 4;
        assert_u64(rig_count(&r, "tlb_sharing.asked"), 8);
        assert_u64(rig_count(&r, "tlb_sharing.passed"), 8);
        assert_u64(rig_count(&r, "tlb_sharing.no_room"), 4 - kept);
        assert_u64(rig_count(&r, "tlb_sharing.lookups"), (4 + kept) * (SMS - 1));
        /* The first waits four beats for the slot behind them, and each of the others comes one
         * later, and waits as long. */
        assert_u64(rig_count(&r, "tlb_sharing.slot_wait"), kept * 4 * WP_PS_PER_NS);
        rig_close(&r);
    }
}

/* TLB 2's answer comes by TLB 1 when that one has one for TLB 0, too: which waits for a beat. */
static void answers_wait_for_those_on_their_way(void **state) {
    (void)state;
    for (uint64_t later = 1; later < 6; later++) {
        rig r;
        RIG_OPEN(&r, "tlb_sharing.policy=valkyrie", );
        (void)cycles(&r, 2, 3);
        (void)cycles(&r, 1, 4);
        const uint64_t before = rig_count(&r, "tlb.translation");
        load_both(&r, 0, 3, later, 4);
        const uint64_t waits = later + ASKED(1, 0, 1) == ASKED(2, 1, 2) ? 1 : 0;
        const uint64_t alone = 1 + ASKED(2, 2, 2) + 1 + ASKED(1, 1, 1);
        assert_u64(rig_count_sum(&r, "tlb_sharing.answer_wait"), waits * WP_PS_PER_NS);
        assert_u64(rig_count(&r, "tlb.translation") - before, (alone + waits) * WP_PS_PER_NS);
        rig_close(&r);
    }
}

/* Pages 1 and 2 are the left neighbour's; this is which of the accesses to them miss. */
static const char *misses_of(const char *policy, const char *more, const char *pages) {
    static char result[16];
    rig r;
    RIG_OPEN(&r, policy, more, );
    (void)cycles(&r, 0, 1);
    (void)cycles(&r, 0, 2);
    size_t i = 0;
    for (; pages[i] != '\0'; i++) {
        const uint64_t before = rig_count(&r, "tlb.l1.misses");
        (void)cycles(&r, 1, (uint64_t)(pages[i] - '0'));
        result[i] = rig_count(&r, "tlb.l1.misses") > before ? 'm' : 'h';
    }
    result[i] = '\0';
    assert_u64(rig_count(&r, "tlb.l2.misses"), 2);
    assert_u64(rig_count(&r, "tlb.l2.hits"), 0); /* the neighbour has them all */
    rig_close(&r);
    return result;
}

static void an_answer_is_stored_at_once_never_or_the_second_time(void **state) {
    (void)state;
    const char *const twice = "tlb_sharing.policy=neidty-twice";
    assert_string_equal(misses_of("tlb_sharing.policy=neidty", NOTHING, "1112"), "mhhm");
    assert_string_equal(misses_of("tlb_sharing.policy=neidty-exclusive", NOTHING, "1112"), "mmmm");
    assert_string_equal(misses_of(twice, NOTHING, "111221"), "mmhmmh");
    assert_string_equal(misses_of(twice, NOTHING, "121122"), "mmmmmm");
    assert_string_equal(misses_of(twice, "tlb_sharing.count=by-entry", "121122"), "mmmhmh");
    assert_string_equal(misses_of(twice, "tlb_sharing.threshold=3", "1111"), "mmmh");
    assert_string_equal(misses_of(twice, "tlb_sharing.threshold=1", "1111"), "mhhh");
}

/* ---- random traffic ---- */

#define WARPS 64u

/* Eight lanes all over so many pages. */
static void choose_among(traffic *t, wpi_access *access, uint64_t first, uint64_t pages) {
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        t->addresses[lane] = first + wp_random_next(&t->random) % (pages * PAGE) / 4 * 4;
    access->kind = t->left % 3 == 0 ? WP_TRACE_STORE : WP_TRACE_LOAD;
    access->mask = 0x11111111;
}

static void choose_of_few(traffic *t, wpi_access *access) {
    choose_among(t, access, 0, 40);
}

static void choose_of_many(traffic *t, wpi_access *access) {
    choose_among(t, access, 0, 60);
}

static void choose_managed(traffic *t, wpi_access *access) {
    choose_among(t, access, BENCH_FIRST, 100);
}

static void all_questions_end(void **state) {
    (void)state;
    static const char *const settings[] = {
        "tlb_sharing.buffer=1",   "tlb_sharing.hop=200cycles",       "tlb_sharing.neighbours=3",
        "tlb_sharing.tag_bits=2", "tlb_sharing.directory_entries=2", "tlb.l1.mshrs=2",
        "tlb.l1.merge=off"};
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        if (strcmp((*p)->kind, "tlb_sharing") != 0 || strcmp((*p)->name, "private") == 0) continue;
        for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
            char policy[64];
            (void)snprintf(policy, sizeof policy, "tlb_sharing.policy=%s", (*p)->name);
            traffic t = {.choose = choose_of_few, .random = 7 + i, .left = 3000};
            RIG_OPEN(&t.rig, policy, settings[i], "tlb_sharing.census=on",
                     i % 2 == 0 ? "tlb.requests=line" : "tlb.requests=page", );
            assert_true(traffic_run(&t, WARPS));
            assert_u64(rig_count(&t.rig, "tlb_sharing.asked"),
                       rig_count(&t.rig, "tlb_sharing.hits") +
                           rig_count(&t.rig, "tlb_sharing.passed"));
            assert_true(rig_count(&t.rig, "tlb_sharing.hits") > 100);
            uint64_t misses = 0;
            static const char *const classes[] = {"census.others_0",    "census.others_1",
                                                  "census.others_2_4",  "census.others_5_8",
                                                  "census.others_9_12", "census.others_more"};
            for (size_t k = 0; k < 6; k++)
                misses += rig_count(&t.rig, classes[k]);
            assert_u64(misses, rig_count(&t.rig, "tlb.l1.misses"));
            rig_close(&t.rig);
        }
    }
}

typedef struct numbers {
    uint64_t values[512];
    uint32_t count;
} numbers;

static void keep(void *object, const wpi_statistic *statistic) {
    numbers *n = object;
    if (strncmp(statistic->name, "census.", 7) == 0) return;
    assert_true(n->count < 512);
    n->values[n->count++] = statistic->histogram != NULL     ? statistic->histogram->sum
                            : statistic->utilisation != NULL ? statistic->utilisation->total_ps
                                                             : statistic->value;
}

static void a_census_changes_nothing(void **state) {
    (void)state;
    static numbers n[2];
    for (int i = 0; i < 2; i++) {
        traffic t = {.choose = choose_of_many, .random = 3, .left = 3000};
        RIG_OPEN(&t.rig, i == 0 ? NOTHING : "tlb_sharing.census=on", );
        assert_true(traffic_run(&t, WARPS));
        wpi_memory_statistics(t.rig.memory, keep, &n[i]);
        rig_close(&t.rig);
    }
    assert_u64(n[0].count, n[1].count);
    assert_memory_equal(n[0].values, n[1].values, sizeof n[0].values);
}

static void a_census_counts_who_else_has_the_page(void **state) {
    (void)state;
    rig r;
    RIG_OPEN(&r, "tlb_sharing.census=on", );
    for (uint32_t sm = 0; sm < SMS; sm++)
        (void)cycles(&r, sm, 1);
    assert_u64(rig_count(&r, "census.others_0"), 1);
    assert_u64(rig_count(&r, "census.others_1"), 1);
    assert_u64(rig_count(&r, "census.others_2_4"), 3);
    assert_u64(rig_count(&r, "census.others_5_8"), 3);
    assert_u64(rig_count(&r, "census.tlb0.neighbour_had"), 0);
    for (uint32_t sm = 1; sm < SMS; sm++) {
        char name[32];
        (void)snprintf(name, sizeof name, "census.tlb%u.neighbour_had", sm);
        assert_u64(rig_count(&r, name), 1);
    }
    for (uint64_t page = 100; page < 116; page++) /* the TLB's 16 entries */
        (void)cycles(&r, 4, page);
    (void)cycles(&r, 4, 1);
    assert_u64(rig_count(&r, "census.others_5_8"), 4);
    rig_close(&r);
}

/* Pages come and go under the TLBs: gmmu and residency check that none is used that is not there.
 */
static void pages_that_leave_are_forgotten(void **state) {
    (void)state;
    static const char *const pages[] = {"page.bytes=4KiB", "page.bytes=2MiB"};
    static const char *const migrate[] = {"paging.migrate=first-touch", "paging.migrate=adaptive"};
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        for (uint32_t i = 0; strcmp((*p)->kind, "tlb_sharing") == 0 && i < 6; i++) {
            char policy[64];
            (void)snprintf(policy, sizeof policy, "tlb_sharing.policy=%s", (*p)->name);
            traffic t = {.choose = choose_managed, .random = 11 + i, .left = 2000};
            RIG_OPEN(&t.rig, policy, pages[i % 2], migrate[i / 2 % 2], "gpu.memory=5MiB",
                     "tlb_sharing.census=on", "paging.prefetch=tree",
                     i < 4 ? "tlb.l1.merge=on" : "tlb.l1.merge=off",
                     i < 4 ? "tlb.requests=page" : "tlb.requests=line", );
            traffic_manage(&t, 100 * PAGE);
            assert_true(traffic_run(&t, WARPS));
            assert_true(rig_count(&t.rig, "paging.evicted") > 0);
            traffic_check_quiet(&t);
            rig_close(&t.rig);
        }
    }
}

static wpi_tlb_ring_storage storage_with(const char *policy, const char *more) {
    rig r;
    RIG_OPEN(&r, policy, more, "tlb.l1.entries=32", "tlb_sharing.buffer=2", );
    const wpi_tlb_ring_storage found = wpi_tlb_ring_storage_of(r.profile, 16);
    rig_close(&r);
    return found;
}

/* 16 directories of 32 entries: a valid bit, a tag of 18, a bit for each TLB in reach and one for
 * its own. 32 buffers of two queries: 52 bits of page, 36 of frame, and a valid bit. */
static void storage_is_of_directories_and_buffers(void **state) {
    (void)state;
    wpi_tlb_ring_storage found = storage_with("tlb_sharing.policy=neidty", NOTHING);
    assert_u64(found.directories, 16);
    assert_u64(found.directory_entries, 32);
    assert_u64(found.map_bits, 3);
    assert_u64(found.directory_bits, 16 * 32 * (1 + 18 + 3));
    assert_u64(found.buffers, 32);
    assert_u64(found.buffer_bits, 32 * 2 * 89);
    found = storage_with("tlb_sharing.policy=neidty-twice", "tlb_sharing.neighbours=2");
    assert_u64(found.directory_bits, 16 * 32 * (1 + 18 + 5));
    found = storage_with("tlb_sharing.policy=valkyrie", NOTHING);
    assert_u64(found.directory_bits, 0);
    assert_u64(found.buffer_bits, 32 * 2 * 89);
    found = storage_with("tlb_sharing.policy=private", NOTHING);
    assert_u64(found.buffers + found.buffer_bits + found.directory_bits, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(storage_is_of_directories_and_buffers),
        cmocka_unit_test(a_neighbour_answers_in_two_hops_and_a_look_up),
        cmocka_unit_test(valkyrie_asks_all_on_its_way),
        cmocka_unit_test(rings_are_of_a_scope),
        cmocka_unit_test(a_wrong_hint_costs_the_way),
        cmocka_unit_test(each_miss_asks_where_they_do_not_merge),
        cmocka_unit_test(a_page_learned_on_the_way_is_found),
        cmocka_unit_test(who_finds_the_buffer_full_asks_the_next_level),
        cmocka_unit_test(answers_wait_for_those_on_their_way),
        cmocka_unit_test(an_answer_is_stored_at_once_never_or_the_second_time),
        cmocka_unit_test(all_questions_end),
        cmocka_unit_test(a_census_changes_nothing),
        cmocka_unit_test(a_census_counts_who_else_has_the_page),
        cmocka_unit_test(pages_that_leave_are_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
