/* SPDX-License-Identifier: Apache-2.0 */
/* What host work and host actors promise on every kind of device (warpage/host.h). */
#include "warpage/host.h"

#include <stdatomic.h>

#include "base/alloc.h"
#include "device/device.h"
#include "every_device.h"
#include "wp_test.h"

enum { ROUNDS = 50, PAIRS = 4 };

/* Two actors that answer each other: one counts up, the other copies, each in a word of its own. */
typedef struct player {
    const volatile uint32_t *theirs;
    uint32_t *mine;
    uint32_t count, steps;
    bool leads;
} player;

static wp_actor_answer play(wp_actor *actor, void *object) {
    player *p = object;
    p->steps++;
    const uint32_t seen = __atomic_load_n(p->theirs, __ATOMIC_ACQUIRE);
    const uint32_t wanted = p->leads ? p->count : p->count + 1;
    if (seen == wanted) {
        p->count++;
        __atomic_store_n(p->mine, p->count, __ATOMIC_RELEASE);
        if (p->count == ROUNDS) return WP_ACTOR_ENDS;
    }
    wp_actor_watch(actor, p->theirs, seen);
    return WP_ACTOR_GOES_ON;
}

static void check_actors_that_answer(wp_device *device) {
    wp_error err = {0};
    void *memory;
    player players[2 * PAIRS] = {0};
    wp_actor *actors[2 * PAIRS];
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_PINNED, 4096, 0, &memory, &err), &err);
    uint32_t *words = memory;
    memset(words, 0, 4096);
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        players[i] =
            (player){.theirs = &words[(i ^ 1) * 16], .mine = &words[i * 16], .leads = i % 2 == 0};
        assert_status_ok(wp_actor_start(device, "player", play, &players[i], &actors[i], &err),
                         &err);
    }
    for (size_t i = 0; i < 2 * PAIRS; i++) {
        assert_status_ok(wp_actor_wait(actors[i], &err), &err);
        assert_int_equal(players[i].count, ROUNDS);
        wp_actor_destroy(actors[i]);
    }
    assert_status_ok(wp_memory_free(device, memory, &err), &err);
}

static void actors_wake_each_other(void **state) {
    (void)state;
    for_every_device(check_actors_that_answer);
}

/* An actor that hands on what a queue's fills leave in its word, by copies of its own. */
typedef struct relay {
    wp_queue *queue;
    uint32_t *word, *staged, *target; /* staged: one a value, as earlier copies may yet read */
    uint32_t seen;
} relay;

static wp_actor_answer pass_on(wp_actor *actor, void *object) {
    relay *r = object;
    const uint32_t value = __atomic_load_n(r->word, __ATOMIC_ACQUIRE);
    if (value != r->seen) {
        r->seen = value;
        uint32_t *staged = &r->staged[value];
        *staged = value;
        if (wp_queue_copy(r->queue, r->target, staged, sizeof value, NULL) != WP_STATUS_OK)
            return WP_ACTOR_ENDS;
        const wp_host_work work = {.read_bytes = 4096, .written_bytes = 4096};
        if (wp_device_host_work(actor->device, &work, NULL) != WP_STATUS_OK) return WP_ACTOR_ENDS;
        if (value == 9) return WP_ACTOR_ENDS;
    }
    wp_actor_watch(actor, r->word, value);
    return WP_ACTOR_GOES_ON;
}

static void check_relay(wp_device *device) {
    wp_error err = {0};
    void *pinned, *target;
    uint32_t back = 0;
    wp_queue *queue;
    wp_actor *actor;
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_PINNED, 128, 0, &pinned, &err), &err);
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_DEVICE, 64, 0, &target, &err), &err);
    assert_status_ok(wp_queue_create(device, false, &queue, &err), &err);
    memset(pinned, 0, 128);
    relay r = {.queue = queue, .word = pinned, .staged = (uint32_t *)pinned + 16, .target = target};
    assert_status_ok(wp_actor_start(device, "relay", pass_on, &r, &actor, &err), &err);
    for (uint32_t value = 1; value <= 9; value++) {
        assert_status_ok(wp_queue_fill(wp_device_default_queue(device), r.word, value, 4, 1, &err),
                         &err);
        assert_status_ok(wp_queue_wait(wp_device_default_queue(device), &err), &err);
    }
    assert_status_ok(wp_actor_wait(actor, &err), &err);
    assert_status_ok(wp_queue_wait(queue, &err), &err);
    assert_status_ok(
        wp_queue_copy(wp_device_default_queue(device), &back, target, sizeof back, &err), &err);
    assert_status_ok(wp_queue_wait(wp_device_default_queue(device), &err), &err);
    assert_int_equal(back, 9);
    wp_actor_destroy(actor);
    wp_queue_destroy(queue);
    assert_status_ok(wp_memory_free(device, target, &err), &err);
    assert_status_ok(wp_memory_free(device, pinned, &err), &err);
}

static void fills_wake_an_actor_that_copies(void **state) {
    (void)state;
    for_every_device(check_relay);
}

static wp_actor_answer watch_only(wp_actor *actor, void *object) {
    wp_actor_watch(actor, object, 0);
    return WP_ACTOR_GOES_ON;
}

static void check_destroy(wp_device *device) {
    wp_error err = {0};
    void *word;
    wp_actor *actors[3];
    assert_status_ok(wp_memory_alloc(device, WP_MEMORY_PINNED, 64, 0, &word, &err), &err);
    memset(word, 0, 64);
    for (int i = 0; i < 3; i++)
        assert_status_ok(wp_actor_start(device, "idler", watch_only, word, &actors[i], &err), &err);
    for (int i = 2; i >= 0; i--)
        wp_actor_destroy(actors[i]);
    wp_actor_destroy(NULL);
    assert_status_ok(wp_memory_free(device, word, &err), &err);
}

static void an_actor_can_be_destroyed_while_it_waits(void **state) {
    (void)state;
    for_every_device(check_destroy);
}

static void check_refused(wp_device *device) {
    wp_error err = {0};
    wp_queue *queue = wp_device_default_queue(device);
    assert_status_fails(
        wp_device_host_work(device, &(wp_host_work){.pattern = WP_HOST_PATTERN_COUNT}, &err),
        WP_STATUS_INVALID, &err, "no pattern");
    assert_status_fails(wp_queue_host_work(queue, &(wp_host_work){.threads = 4097}, &err),
                        WP_STATUS_INVALID, &err, "4097 threads");
    assert_status_fails(wp_queue_host_work(queue, &(wp_host_work){.read_bytes = UINT64_MAX}, &err),
                        WP_STATUS_INVALID, &err, "1 PiB");
    assert_status_ok(wp_device_host_work(device, &(wp_host_work){0}, &err), &err);
    assert_status_ok(wp_queue_wait(queue, &err), &err);
}

static void impossible_work_is_refused(void **state) {
    (void)state;
    for_every_device(check_refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actors_wake_each_other),
        cmocka_unit_test(fills_wake_an_actor_that_copies),
        cmocka_unit_test(an_actor_can_be_destroyed_while_it_waits),
        cmocka_unit_test(impossible_work_is_refused),
    };
    return wp_test_main(tests);
}
