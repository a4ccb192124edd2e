/* SPDX-License-Identifier: Apache-2.0 */
/* The model of postponement without a table: a requestee that serves what is "resident", passes,
 * who decides to retry, units served in part, chunks that are skipped, the inequality. */
#include "warpage/postpone.h"

#include "wp_test.h"

#define UNITS 1000u
#define PARTS 4u

typedef struct world {
    uint32_t resident; /* the part that requests are served from */
    uint32_t served[UNITS][3];
    uint64_t calls, chunk_calls, first_seen;
    uint32_t requests;
    bool never_serves, asks_too_often;
    uint64_t requester_passes, requestee_passes; /* that want to go on; 0: no opinion */
    uint64_t halt_after;
} world;

static wp_device *device;

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    world *w = object;
    (void)err;
    if (w->chunk_calls++ == 0) w->first_seen = first;
    for (uint64_t unit = first; unit < outer; unit++) {
        if (wp_units_is_done(units, unit)) continue;
        wp_attempt attempt = wp_attempt_begin(units, unit);
        for (uint32_t r = 0; r < w->requests + (w->asks_too_often ? 1 : 0); r++) {
            if (!wp_attempt_wants(&attempt)) continue;
            w->calls++;
            const bool is_there = !w->never_serves && (unit + r) % PARTS == w->resident;
            if (is_there) w->served[unit][r]++;
            wp_attempt_note(&attempt, is_there ? WP_DONE : WP_POSTPONE);
        }
        wp_attempt_end(&attempt);
    }
    return WP_STATUS_OK;
}

static wp_status end(void *object, const wp_postpone_facts *facts, wp_error *err) {
    world *w = object;
    (void)err;
    w->resident = (w->resident + 1) % PARTS;
    assert_u64(facts->done_units + facts->postponed_units, UNITS);
    return WP_STATUS_OK;
}

static wp_status halts(void *object, bool *out, wp_error *err) {
    const world *w = object;
    (void)err;
    *out = w->halt_after != 0 && w->chunk_calls % w->halt_after == 0;
    return WP_STATUS_OK;
}

static bool requester_retries(void *object, const wp_postpone_facts *facts) {
    return facts->pass < ((const world *)object)->requester_passes;
}

static bool requestee_retries(void *object, const wp_postpone_facts *facts) {
    return facts->pass < ((const world *)object)->requestee_passes;
}

static wp_status run(world *w, wp_postpone *postpone, wp_postpone_facts *facts, wp_error *err) {
    const wp_requester requester = {w, process,
                                    w->requester_passes != 0 ? requester_retries : NULL};
    const wp_requestee requestee = {.object = w,
                                    .halts = w->halt_after != 0 ? halts : NULL,
                                    .end = end,
                                    .retries = w->requestee_passes != 0 ? requestee_retries : NULL};
    return wp_postpone_run(postpone, &requester, &requestee, facts, err);
}

static wp_postpone *create(const world *w, uint64_t chunk_units) {
    const wp_postpone_spec spec = {UNITS, chunk_units, w->requests, 0};
    wp_postpone *postpone;
    wp_error err = {0};
    assert_status_ok(wp_postpone_create(device, &spec, &postpone, &err), &err);
    return postpone;
}

static void assert_each_once(const world *w) {
    for (uint32_t unit = 0; unit < UNITS; unit++)
        for (uint32_t r = 0; r < w->requests; r++)
            assert_int_equal(w->served[unit][r], 1);
}

static void every_request_is_served_once(void **state) {
    (void)state;
    for (uint32_t requests = 1; requests <= 3; requests++) {
        world w = {.requests = requests};
        wp_postpone *postpone = create(&w, 100);
        wp_postpone_facts facts;
        wp_error err = {0};
        assert_status_ok(run(&w, postpone, &facts, &err), &err);
        assert_each_once(&w);
        assert_u64(facts.pass, PARTS);
        assert_u64(facts.done_units, UNITS);
        assert_u64(facts.first_postponed, UNITS);
        /* A request is made until it is served, and not again. */
        uint64_t wanted = 0;
        for (uint64_t unit = 0; unit < UNITS; unit++)
            for (uint32_t r = 0; r < requests; r++)
                wanted += 1 + (unit + r) % PARTS;
        assert_u64(w.calls, wanted);
        wp_postpone_destroy(postpone);
    }
}

static void chunks_without_postponed_units_are_skipped(void **state) {
    (void)state;
    world w = {.requests = 1, .requester_passes = 1};
    wp_postpone *postpone = create(&w, 32);
    wp_postpone_facts facts;
    wp_error err = {0};
    const wp_units units = wp_postpone_units(postpone);
    for (uint64_t unit = 0; unit < UNITS; unit++)
        if (unit / 32 % 3 != 0) wp_bits_set(units.done, unit);
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_u64(facts.chunks, 32); /* the first pass has seen no bits yet */
    w.requester_passes = 2;
    w.chunk_calls = 0;
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_u64(facts.chunks, 11);
    assert_u64(w.first_seen, 0);
    wp_postpone_destroy(postpone);
}

static void a_pass_begins_at_the_first_postponed_unit(void **state) {
    (void)state;
    world w = {.requests = 1, .requester_passes = 1};
    wp_postpone *postpone = create(&w, 64);
    const wp_units units = wp_postpone_units(postpone);
    wp_postpone_facts facts;
    wp_error err = {0};
    for (uint64_t unit = 0; unit < 200; unit++)
        wp_bits_set(units.done, unit);
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_u64(facts.first_postponed, 201); /* 200 was resident */
    w.chunk_calls = 0;
    w.requester_passes = 2;
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_u64(w.first_seen, 192);
    wp_postpone_destroy(postpone);
}

static void a_pass_follows_only_if_both_want_it(void **state) {
    (void)state;
    static const uint64_t limits[][3] = {{2, 0, 2}, {0, 3, 3}, {3, 2, 2}, {2, 3, 2}, {9, 9, PARTS}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        world w = {
            .requests = 1, .requester_passes = limits[i][0], .requestee_passes = limits[i][1]};
        wp_postpone *postpone = create(&w, 0);
        wp_postpone_facts facts;
        wp_error err = {0};
        assert_status_ok(run(&w, postpone, &facts, &err), &err);
        assert_u64(facts.pass, limits[i][2]);
        assert_u64(facts.postponed_units, UNITS - UNITS / PARTS * limits[i][2]);
        w.requester_passes = w.requestee_passes = 0; /* a further call goes on */
        assert_status_ok(run(&w, postpone, &facts, &err), &err);
        assert_u64(facts.postponed_units, 0);
        assert_each_once(&w);
        wp_postpone_destroy(postpone);
    }
}

static void a_halted_pass_leaves_the_rest_to_the_next(void **state) {
    (void)state;
    world w = {.requests = 1, .halt_after = 3};
    wp_postpone *postpone = create(&w, 100); /* 128 units a chunk, 8 chunks */
    wp_postpone_facts facts;
    wp_error err = {0};
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_each_once(&w);
    assert_true(facts.pass > PARTS);
    wp_postpone_destroy(postpone);
}

static void mistakes_are_named(void **state) {
    (void)state;
    wp_error err = {0};
    wp_postpone *postpone;
    wp_postpone_facts facts;
    const wp_postpone_spec none = {(UINT64_C(1) << 40) + 1, 0, 0, 0},
                           many = {1, 0, (1u << 20) + 1, 0};
    assert_status_fails(wp_postpone_create(device, &none, &postpone, &err), WP_STATUS_INVALID, &err,
                        "1099511627777 units");
    assert_null(postpone);
    assert_status_fails(wp_postpone_create(device, &many, &postpone, &err), WP_STATUS_INVALID, &err,
                        "1048577 requests");
    assert_status_fails(wp_postpone_create(NULL, &none, &postpone, &err), WP_STATUS_INVALID, &err,
                        "no device");
    world w = {.requests = 2, .asks_too_often = true};
    postpone = create(&w, 0);
    assert_status_fails(run(&w, postpone, &facts, &err), WP_STATUS_INVALID, &err,
                        "more than the 2 requests");
    wp_postpone_destroy(postpone);
    w = (world){.requests = 1, .never_serves = true};
    postpone = create(&w, 0);
    assert_status_fails(
        run(&w, postpone, &facts, &err), WP_STATUS_INVALID, &err,
        "8 passes in a row served nothing of the 1000 units that are left, from unit 0");
    wp_postpone_destroy(postpone);
}

static void without_units_nothing_is_processed(void **state) {
    (void)state;
    const wp_postpone_spec spec = {0, 0, 3, 0};
    world w = {.requests = 3};
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_error err = {0};
    assert_status_ok(wp_postpone_create(device, &spec, &postpone, &err), &err);
    assert_status_ok(run(&w, postpone, &facts, &err), &err);
    assert_u64(facts.pass, 0);
    assert_u64(w.chunk_calls, 0);
    wp_postpone_destroy(postpone);
}

static void postponing_pays_if_the_inequality_holds(void **state) {
    (void)state;
    wp_postpone_terms terms = {10, 2, 5, 30, 3, 1};
    double postponing, serving;
    char text[1024];
    assert_true(wp_postpone_pays(&terms, &postponing, &serving));
    assert_near(postponing, 10 + 2 + 10 + 5 + 3, 1e-12);
    assert_near(serving, 10 + 30 + 3, 1e-12);
    terms.postponements = 3;
    assert_false(wp_postpone_pays(&terms, &postponing, NULL));
    assert_near(postponing, 3 * 12 + 18, 1e-12);
    assert_true(wp_postpone_explain(&terms, text, sizeof text) < sizeof text);
    assert_contains(text, "= 54.00 ns with postponing");
    assert_contains(text, "= 43.00 ns without: postponing does not pay");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_request_is_served_once),
                                       cmocka_unit_test(chunks_without_postponed_units_are_skipped),
                                       cmocka_unit_test(a_pass_begins_at_the_first_postponed_unit),
                                       cmocka_unit_test(a_pass_follows_only_if_both_want_it),
                                       cmocka_unit_test(a_halted_pass_leaves_the_rest_to_the_next),
                                       cmocka_unit_test(mistakes_are_named),
                                       cmocka_unit_test(without_units_nothing_is_processed),
                                       cmocka_unit_test(postponing_pays_if_the_inequality_holds)};
    wp_error err = {0};
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    const int failed = wp_test_main(tests);
    wp_device_close(device);
    return failed;
}
