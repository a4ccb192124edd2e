/* SPDX-License-Identifier: Apache-2.0 */
/* Host and device fight over a page of chunk 0: what the driver's rules let them do, with its
 * numbers: a lapse of 500 us, 3 events, 10 throttles, naps of a lapse, 300 lapses pinned. */
#include "policy/thrash.h"

#include "base/alloc.h"
#include "wp_test.h"

#define US WP_PS_PER_US
#define HOST WPI_PROCESSOR_HOST
#define DEVICE WPI_PROCESSOR_DEVICE
#define PAGE 7u

typedef struct scene {
    wpi_thrash thrash;
    wpi_thrash_chunk chunks[2];
    const wpi_thrash_ops *ops;
} scene;

static void open_scene(scene *s, const char *name) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_policy_find("thrash", name, &policy, &err), &err);
    *s = (scene){.ops = policy->ops,
                 .thrash = {.threshold = 3,
                            .pin_threshold = 10,
                            .max_resets = 4,
                            .votes_needed = 32,
                            .votes = WPI_LAPSE_FIXED,
                            .lapse_ps = 500 * US,
                            .nap_ps = 500 * US,
                            .epoch_ps = 2000 * 500 * US,
                            .pin_ps = 300 * 500 * US}};
    s->thrash.chunks = s->chunks;
    s->thrash.chunk_count = 2;
}

static void close_scene(scene *s) {
    for (uint32_t chunk = 0; chunk < 2; chunk++)
        wpi_thrash_forget(&s->thrash, chunk);
}

static void move(scene *s, wpi_processor to, uint64_t us) {
    wpi_pages pages = {{0}};
    wpi_pages_add(&pages, PAGE);
    s->ops->moved(&s->thrash, 0, &pages, to, us * US);
}

static wpi_thrash_hint ask(scene *s, wpi_processor processor, uint64_t us) {
    const wpi_thrash_question question = {0, PAGE, processor, us * US, false};
    return s->ops->ask(&s->thrash, &question);
}

static void assert_migrates(scene *s, wpi_processor processor, uint64_t us) {
    assert_u64(ask(s, processor, us).answer, WPI_THRASH_MIGRATE);
    move(s, processor, us);
}

static void assert_throttled(scene *s, wpi_processor processor, uint64_t us, uint64_t until_us) {
    const wpi_thrash_hint hint = ask(s, processor, us);
    assert_u64(hint.answer, WPI_THRASH_THROTTLE);
    assert_u64(hint.until, until_us * US);
}

static void assert_pinned(scene *s, wpi_processor processor, uint64_t us, wpi_processor location) {
    const wpi_thrash_hint hint = ask(s, processor, us);
    assert_u64(hint.answer, WPI_THRASH_PIN);
    assert_u64(hint.location, location);
}

/* The first move is the chunk's, the second the page's; then three events. */
static void make_thrash(scene *s) {
    for (uint64_t i = 0; i <= 4; i++)
        move(s, i % 2 == 0 ? DEVICE : HOST, i * 100);
    assert_u64(s->chunks[0].pages[PAGE].events, 3);
}

static void without_a_policy_all_pages_migrate(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "none");
    for (uint64_t i = 0; i < 100; i++)
        assert_migrates(&s, i % 2 == 0 ? DEVICE : HOST, i);
    assert_null(s.chunks[0].pages);
    close_scene(&s);
}

static void nothing_is_known_before_two_processors_meet(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    move(&s, DEVICE, 0);
    move(&s, DEVICE, 100); /* the same one */
    move(&s, HOST, 601);   /* too late */
    assert_null(s.chunks[0].pages);
    move(&s, DEVICE, 1101); /* a lapse, no more */
    assert_non_null(s.chunks[0].pages);
    assert_u64(s.chunks[0].pages[PAGE].events, 0);
    assert_u64(s.chunks[0].pages[PAGE].processors, 1 << DEVICE);
    assert_u64(ask(&s, HOST, 1102).answer, WPI_THRASH_MIGRATE);
    close_scene(&s);
}

static void events_have_to_follow_one_another(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    wpi_pages thrashing = wpi_thrash_pages(&s.thrash, 0);
    assert_u64(wpi_pages_count(&thrashing), 1);
    assert_true(wpi_pages_has(&thrashing, PAGE));
    move(&s, HOST, 901); /* after 501 us it does not thrash any more */
    assert_u64(s.chunks[0].pages[PAGE].events, 0);
    thrashing = wpi_thrash_pages(&s.thrash, 0);
    assert_true(wpi_pages_is_empty(&thrashing));
    for (uint64_t i = 0; i < 20; i++)
        move(&s, i % 2 == 0 ? DEVICE : HOST, 1000 + i);
    assert_u64(s.chunks[0].pages[PAGE].events, 7); /* three bits */
    close_scene(&s);
}

/* The first processor is exempt for 500 us, then the other one; a throttled one gets the end of its
 * throttling. */
static void processors_take_turns(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    assert_migrates(&s, HOST, 450);
    assert_throttled(&s, DEVICE, 500, 950);
    assert_throttled(&s, DEVICE, 949, 950); /* which does not count again */
    assert_u64(s.chunks[0].pages[PAGE].throttles, 1);
    assert_migrates(&s, DEVICE, 950);
    assert_throttled(&s, HOST, 951, 1450);
    assert_migrates(&s, HOST, 1450);
    assert_u64(s.chunks[0].pages[PAGE].throttles, 2);
    close_scene(&s);
}

/* The exempt processor of a period is not exempt in the next, even if it is first; then either is.
 */
static void nobody_is_exempt_twice_running(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    s.thrash.nap_ps = 300 * US;
    assert_migrates(&s, HOST, 450);
    assert_throttled(&s, HOST, 751, 1051);
    assert_migrates(&s, DEVICE, 752);
    assert_throttled(&s, HOST, 753, 1051);
    close_scene(&s);
}

static void a_page_left_alone_for_a_lapse_migrates(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    assert_migrates(&s, HOST, 450);
    assert_throttled(&s, DEVICE, 500, 950);
    assert_u64(ask(&s, DEVICE, 951).answer, WPI_THRASH_MIGRATE); /* 501 us behind the last move */
    assert_u64(s.chunks[0].pages[PAGE].exempt, HOST);            /* no period was begun for that */
    close_scene(&s);
}

/* Turns until so many throttles; returns when the next period may begin. */
static uint64_t take_turns(scene *s, uint32_t throttles) {
    make_thrash(s);
    uint64_t us = 450;
    for (uint32_t i = 0; i < throttles; i++, us += 500) {
        assert_migrates(s, i % 2 == 0 ? HOST : DEVICE, us);
        assert_throttled(s, i % 2 == 0 ? DEVICE : HOST, us + 1, us + 500);
    }
    return us;
}

/* After 10 throttles it is the host's turn: the page stays there, and the device reaches it. */
static void ten_throttles_pin_a_page(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    const uint64_t us = take_turns(&s, 10);
    assert_pinned(&s, HOST, us, HOST);
    assert_u64(s.chunks[0].pages[PAGE].throttles, 0);
    assert_u64(wpi_thrash_pinned(&s.thrash, 0, PAGE, us * US), HOST);
    assert_pinned(&s, DEVICE, us + 1, HOST);
    assert_pinned(&s, DEVICE, us + 1000, HOST); /* its turn; but the host cannot reach the device */
    assert_u64(wpi_thrash_pinned(&s.thrash, 0, PAGE, (us + 149999) * US), HOST);
    assert_u64(wpi_thrash_pinned(&s.thrash, 0, PAGE, (us + 150000) * US), WPI_PROCESSOR_NONE);
    assert_u64(ask(&s, DEVICE, us + 150000).answer, WPI_THRASH_MIGRATE);
    assert_u64(s.chunks[0].pages[PAGE].events, 0);
    close_scene(&s);
}

/* With an odd number it is the device's. The host is throttled, and when its turn comes the page
 * goes where both can reach it. */
static wpi_thrash_answer ask_preferring_device(scene *s, wpi_processor processor, uint64_t us) {
    const wpi_thrash_question question = {0, PAGE, processor, us * US, true};
    return s->ops->ask(&s->thrash, &question).answer;
}

/* A page whose preferred location is the device goes on thrashing, however long. */
static void a_page_that_prefers_the_device_is_never_pinned(void **state) {
    (void)state;
    scene s;
    uint32_t moves = 0;
    open_scene(&s, "driver");
    make_thrash(&s);
    for (uint64_t turn = 0; turn < 200; turn++) {
        const wpi_processor who = turn % 2 == 0 ? DEVICE : HOST;
        const wpi_thrash_answer answer = ask_preferring_device(&s, who, 500 + turn * 100);
        assert_true(answer != WPI_THRASH_PIN);
        if (answer != WPI_THRASH_MIGRATE) continue;
        moves++;
        move(&s, who, 500 + turn * 100);
    }
    assert_true(moves >= 30); /* about one in each nap of 500 us */
    close_scene(&s);
}

static void a_page_on_the_device_goes_to_the_host_in_its_turn(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    s.thrash.pin_threshold = 3;
    const uint64_t us = take_turns(&s, 3);
    assert_pinned(&s, DEVICE, us, DEVICE);
    assert_throttled(&s, HOST, us + 1, us + 500);
    assert_u64(s.chunks[0].pages[PAGE].throttles, 0); /* of pinned pages they are not counted */
    assert_pinned(&s, HOST, us + 501, HOST);
    assert_u64(wpi_thrash_pinned(&s.thrash, 0, PAGE, (us + 501) * US), HOST);
    assert_u64(s.chunks[0].pages[PAGE].pinned_to, (us + 150000) * US); /* from the first time */
    close_scene(&s);
}

static void a_time_of_0_pins_for_ever(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    s.thrash.pin_ps = 0;
    const uint64_t us = take_turns(&s, 10);
    assert_pinned(&s, HOST, us, HOST);
    assert_u64(wpi_thrash_pinned(&s.thrash, 0, PAGE, WP_TIME_NEVER - 1), HOST);
    close_scene(&s);
}

/* Moves to where a page is pinned are no events. */
static void moves_for_pinning_are_no_events(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    const uint64_t us = take_turns(&s, 10);
    assert_pinned(&s, HOST, us, HOST);
    const wpi_time_ps before = s.chunks[0].pages[PAGE].moved;
    move(&s, HOST, us);
    assert_u64(s.chunks[0].pages[PAGE].moved, before);
    close_scene(&s);
}

/* A quiet second, and the chunk is as at first; four times. Not if a page of it was ever pinned. */
static void quiet_chunks_are_forgotten_four_times(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    for (uint32_t i = 0; i < 6; i++) {
        const uint64_t base_us = i * 10000000;
        for (uint64_t k = 0; k <= 4; k++)
            move(&s, k % 2 == 0 ? DEVICE : HOST, base_us + k * 100);
        assert_u64(ask(&s, HOST, base_us + 400 + 1000000).answer, WPI_THRASH_MIGRATE);
        assert_non_null(s.chunks[0].pages); /* a second, no more */
        assert_u64(ask(&s, HOST, base_us + 400 + 1000001).answer, WPI_THRASH_MIGRATE);
        assert_u64(s.chunks[0].pages == NULL, i < 4);
        assert_u64(s.chunks[0].resets, i < 4 ? i + 1 : 4);
    }
    close_scene(&s);
    open_scene(&s, "driver");
    const uint64_t us = take_turns(&s, 10);
    assert_pinned(&s, HOST, us, HOST);
    (void)ask(&s, HOST, us + 10000000);
    assert_non_null(s.chunks[0].pages);
    assert_u64(s.chunks[0].resets, 0);
    close_scene(&s);
}

/* ---- votes ---- */

/* A fault within the lapse votes for a shorter one, and every single one makes it an eighth longer.
 */
static void as_written_the_lapse_grows_with_every_fault(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    s.thrash.votes = WPI_LAPSE_AS_WRITTEN;
    wpi_time_ps lapse_ps = 500 * US;
    uint32_t steps = 0;
    while (s.thrash.lapse_ps < 500000 * US) {
        (void)ask(&s, HOST, 450);
        const wpi_time_ps eighth_ps = lapse_ps / 8;
        lapse_ps += eighth_ps < 50000 * US ? eighth_ps : 50000 * US;
        assert_u64(s.thrash.lapse_ps, lapse_ps);
        assert_u64((uint64_t)s.thrash.vote, 0);
        steps++;
    }
    assert_true(steps > 50 && steps < 70); /* 1000 is 1.125 to the power of 58.6 */
    for (uint32_t i = 0; i < 100; i++) {
        (void)ask(&s, HOST, 450);
        assert_u64(s.thrash.lapse_ps, lapse_ps); /* no more */
    }
    close_scene(&s);
}

static void as_intended_the_lapse_shrinks_with_32_votes(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    s.thrash.votes = WPI_LAPSE_AS_INTENDED;
    for (uint32_t i = 0; i < 31; i++)
        (void)ask(&s, HOST, 450);
    assert_u64(s.thrash.lapse_ps, 500 * US);
    (void)ask(&s, HOST, 450);
    assert_u64(s.thrash.lapse_ps, 437500 * (US / 1000));
    assert_true(s.thrash.vote == -16);
    for (uint32_t i = 0; i < 16; i++)
        (void)ask(&s, HOST, 450);
    assert_u64(s.thrash.lapse_ps, 437500 * (US / 1000) / 8 * 7);
    close_scene(&s);
}

static void as_intended_the_lapse_grows_with_32_votes(void **state) {
    (void)state;
    scene s;
    open_scene(&s, "driver");
    make_thrash(&s);
    s.thrash.votes = WPI_LAPSE_AS_INTENDED;
    for (uint32_t i = 0; i < 31; i++) /* 600 us behind the last move, which was at 400 */
        assert_u64(ask(&s, HOST, 1000).answer, WPI_THRASH_MIGRATE);
    assert_u64(s.thrash.lapse_ps, 500 * US);
    assert_u64(ask(&s, HOST, 1000).answer, WPI_THRASH_MIGRATE);
    assert_u64(s.thrash.lapse_ps, 562500 * (US / 1000));
    assert_true(s.thrash.vote == 16);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_policy_all_pages_migrate),
        cmocka_unit_test(nothing_is_known_before_two_processors_meet),
        cmocka_unit_test(events_have_to_follow_one_another),
        cmocka_unit_test(processors_take_turns),
        cmocka_unit_test(nobody_is_exempt_twice_running),
        cmocka_unit_test(a_page_left_alone_for_a_lapse_migrates),
        cmocka_unit_test(ten_throttles_pin_a_page),
        cmocka_unit_test(a_page_that_prefers_the_device_is_never_pinned),
        cmocka_unit_test(a_page_on_the_device_goes_to_the_host_in_its_turn),
        cmocka_unit_test(a_time_of_0_pins_for_ever),
        cmocka_unit_test(moves_for_pinning_are_no_events),
        cmocka_unit_test(quiet_chunks_are_forgotten_four_times),
        cmocka_unit_test(as_written_the_lapse_grows_with_every_fault),
        cmocka_unit_test(as_intended_the_lapse_shrinks_with_32_votes),
        cmocka_unit_test(as_intended_the_lapse_grows_with_32_votes),
    };
    return wp_test_main(tests);
}
