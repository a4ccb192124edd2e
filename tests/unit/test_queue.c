/* SPDX-License-Identifier: Apache-2.0 */
/** Queues and events: order, overlap, waits, times. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "cpu_program.h"

/* data[i] += value */
static uint32_t add(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    int *data = ARG(block, 0, int *);
    const uint64_t value = ARG(block, 1, uint64_t);
    for (uint32_t t = first; t < outer; t++) {
        data[block->block_idx[0] * block->thread_count + t] += (int)value;
    }
    return WP_STATE_EXIT;
}

/* Waits until *gate is not 0, then *done = 1. */
static uint32_t pass_gate(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    while (atomic_load(ARG(block, 0, atomic_int *)) == 0)
        sched_yield();
    atomic_store(ARG(block, 1, atomic_int *), 1);
    return WP_STATE_EXIT;
}

/* *seen = *flag */
static uint32_t look(wp_cpu_block *block, uint32_t first, uint32_t outer) {
    (void)first;
    (void)outer;
    atomic_store(ARG(block, 1, atomic_int *), atomic_load(ARG(block, 0, atomic_int *)));
    return WP_STATE_EXIT;
}

static const wp_cpu_region add_regions[] = {REGION(add, WP_STOP_NONE, 0)};
static const wp_cpu_region gate_regions[] = {REGION(pass_gate, WP_STOP_NONE, 0)};
static const wp_cpu_region look_regions[] = {REGION(look, WP_STOP_NONE, 0)};
static const wp_cpu_kernel kernels[] = {REGION_KERNEL("add", add_regions, 2, 0, 0),
                                        REGION_KERNEL("gate", gate_regions, 2, 0, 0),
                                        REGION_KERNEL("look", look_regions, 2, 0, 0)};

typedef struct fixture {
    wp_device *device;
    wp_module *module;
    wp_kernel *add, *gate, *look;
    wp_error err;
} fixture;

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->device = open_device("2");
    f->module = load_kernels(f->device, kernels, COUNT_OF(kernels));
    f->add = find_kernel(f->module, "add");
    f->gate = find_kernel(f->module, "gate");
    f->look = find_kernel(f->module, "look");
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    wp_module_unload(f->module);
    wp_device_close(f->device);
    free(f);
    return 0;
}

static wp_queue *create_queue(fixture *f, bool is_blocking) {
    wp_queue *queue;
    assert_status_ok(wp_queue_create(f->device, is_blocking, &queue, &f->err), &f->err);
    return queue;
}

static void launch_gate(fixture *f, wp_queue *queue, atomic_int *gate, atomic_int *done) {
    assert_status_ok(launch(queue, f->gate, 1, 1, (void *[]){&gate, &done}, &f->err), &f->err);
}

static void launch_look(fixture *f, wp_queue *queue, atomic_int *flag, atomic_int *seen) {
    assert_status_ok(launch(queue, f->look, 1, 1, (void *[]){&flag, &seen}, &f->err), &f->err);
}

static void wait_device(fixture *f) {
    assert_status_ok(wp_device_wait(f->device, &f->err), &f->err);
}

static void copies_and_kernels_of_a_queue_run_in_order(void **state) {
    fixture *f = *state;
    enum { COUNT = 4096 };
    static int host[COUNT];
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    int *data = allocate(f->device, sizeof host);
    wp_queue *queue = create_queue(f, false);
    assert_status_ok(wp_queue_copy(queue, data, host, sizeof host, &f->err), &f->err);
    for (uint64_t value = 1; value <= 10; value++) {
        assert_status_ok(
            launch(queue, f->add, COUNT / 256, 256, (void *[]){&data, &value}, &f->err), &f->err);
    }
    static int back[COUNT];
    assert_status_ok(wp_queue_copy(queue, back, data, sizeof back, &f->err), &f->err);
    assert_status_ok(wp_queue_wait(queue, &f->err), &f->err);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(back[i], i + 55);
    assert_true(wp_queue_is_idle(queue));
    wp_queue_destroy(queue);
}

static void launch_returns_before_the_kernel_ends(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0;
    wp_queue *queue = create_queue(f, false);
    launch_gate(f, queue, &gate, &done);
    assert_int_equal(atomic_load(&done), 0);
    assert_false(wp_queue_is_idle(queue));
    atomic_store(&gate, 1);
    assert_status_ok(wp_queue_wait(queue, &f->err), &f->err);
    assert_int_equal(atomic_load(&done), 1);
    wp_queue_destroy(queue);
}

static void queues_overlap(void **state) {
    fixture *f = *state;
    atomic_int first = 0, second = 0, end = 0;
    wp_queue *a = create_queue(f, false), *b = create_queue(f, false);
    launch_gate(f, a, &second, &first); /* waits for what b's kernel does */
    atomic_int open = 1;
    launch_gate(f, b, &open, &second);
    wait_device(f);
    assert_int_equal(atomic_load(&first), 1);
    (void)end;
    wp_queue_destroy(a);
    wp_queue_destroy(b);
}

static void default_queue_comes_after_blocking_queues(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0, seen = -1;
    wp_queue *blocking = create_queue(f, true);
    launch_gate(f, blocking, &gate, &done);
    launch_look(f, wp_device_default_queue(f->device), &done, &seen);
    assert_int_equal(atomic_load(&seen), -1);
    atomic_store(&gate, 1);
    assert_status_ok(wp_queue_wait(wp_device_default_queue(f->device), &f->err), &f->err);
    assert_int_equal(atomic_load(&seen), 1);
    wp_queue_destroy(blocking);
}

static void blocking_queues_come_after_the_default_queue(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0, seen = -1;
    wp_queue *blocking = create_queue(f, true);
    launch_gate(f, wp_device_default_queue(f->device), &gate, &done);
    launch_look(f, blocking, &done, &seen);
    atomic_store(&gate, 1);
    assert_status_ok(wp_queue_wait(blocking, &f->err), &f->err);
    assert_int_equal(atomic_load(&seen), 1);
    wp_queue_destroy(blocking);
}

static void other_queues_do_not_wait_for_the_default_queue(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0, seen = -1;
    wp_queue *free_queue = create_queue(f, false);
    launch_gate(f, wp_device_default_queue(f->device), &gate, &done);
    launch_look(f, free_queue, &done, &seen);
    assert_status_ok(wp_queue_wait(free_queue, &f->err), &f->err);
    assert_int_equal(atomic_load(&seen), 0);
    atomic_store(&gate, 1);
    wait_device(f);
    wp_queue_destroy(free_queue);
}

static void waiting_for_the_default_queue_waits_for_blocking_queues(void **state) {
    fixture *f = *state;
    atomic_int gate = 1, done = 0;
    wp_queue *blocking = create_queue(f, true);
    launch_gate(f, blocking, &gate, &done);
    assert_status_ok(wp_queue_wait(wp_device_default_queue(f->device), &f->err), &f->err);
    assert_int_equal(atomic_load(&done), 1);
    wp_queue_destroy(blocking);
}

static void a_queue_waits_for_an_event_of_another(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0, seen = -1;
    wp_queue *a = create_queue(f, false), *b = create_queue(f, false);
    wp_event *event;
    assert_status_ok(wp_event_create(f->device, &event, &f->err), &f->err);
    assert_true(wp_event_is_complete(event)); /* never recorded */
    launch_gate(f, a, &gate, &done);
    assert_status_ok(wp_event_record(event, a, &f->err), &f->err);
    assert_status_ok(wp_queue_wait_event(b, event, &f->err), &f->err);
    launch_look(f, b, &done, &seen);
    assert_false(wp_event_is_complete(event));
    wp_event_destroy(event); /* the queued wait still counts */
    atomic_store(&gate, 1);
    wait_device(f);
    assert_int_equal(atomic_load(&seen), 1);
    wp_queue_destroy(a);
    wp_queue_destroy(b);
}

/* Of two records in different queues the later one counts, whichever is done first. */
static void the_last_record_of_an_event_counts(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0;
    wp_queue *held = create_queue(f, false), *quick = create_queue(f, false);
    wp_event *event;
    assert_status_ok(wp_event_create(f->device, &event, &f->err), &f->err);
    launch_gate(f, held, &gate, &done);
    assert_status_ok(wp_event_record(event, held, &f->err), &f->err);
    assert_status_ok(wp_event_record(event, quick, &f->err), &f->err);
    assert_status_ok(wp_event_wait(event, &f->err), &f->err); /* while the first is held up */
    const uint64_t time_ns = wp_event_time_ns(event);
    atomic_store(&gate, 1);
    wait_device(f);
    assert_true(wp_event_is_complete(event));
    assert_u64(wp_event_time_ns(event), time_ns);
    wp_event_destroy(event);
    wp_queue_destroy(held);
    wp_queue_destroy(quick);
}

/* … but a wait queued before it still means the earlier one. */
static void a_queued_wait_keeps_to_its_record(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0, seen = -1;
    wp_queue *held = create_queue(f, false), *quick = create_queue(f, false),
             *waiting = create_queue(f, false);
    wp_event *event;
    assert_status_ok(wp_event_create(f->device, &event, &f->err), &f->err);
    launch_gate(f, held, &gate, &done);
    assert_status_ok(wp_event_record(event, held, &f->err), &f->err);
    assert_status_ok(wp_queue_wait_event(waiting, event, &f->err), &f->err);
    launch_look(f, waiting, &done, &seen);
    assert_status_ok(wp_event_record(event, quick, &f->err), &f->err);
    assert_status_ok(wp_event_wait(event, &f->err), &f->err);
    assert_status_ok(wp_queue_wait(quick, &f->err), &f->err);
    assert_false(wp_queue_is_idle(waiting));
    atomic_store(&gate, 1);
    wait_device(f);
    assert_int_equal(atomic_load(&seen), 1);
    wp_event_destroy(event);
    wp_queue_destroy(held);
    wp_queue_destroy(quick);
    wp_queue_destroy(waiting);
}

static void events_measure_time_on_the_device(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0;
    wp_queue *queue = create_queue(f, false);
    wp_event *start, *end;
    assert_status_ok(wp_event_create(f->device, &start, &f->err), &f->err);
    assert_status_ok(wp_event_create(f->device, &end, &f->err), &f->err);
    assert_status_ok(wp_event_record(start, queue, &f->err), &f->err);
    launch_gate(f, queue, &gate, &done);
    assert_status_ok(wp_event_record(end, queue, &f->err), &f->err);
    assert_status_ok(wp_event_wait(start, &f->err), &f->err);
    assert_false(wp_event_is_complete(end));
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    atomic_store(&gate, 1);
    assert_status_ok(wp_event_wait(end, &f->err), &f->err);
    assert_true(wp_event_time_ns(end) - wp_event_time_ns(start) >= 5000000);
    wp_event_destroy(start);
    wp_event_destroy(end);
    wp_queue_destroy(queue);
}

static void append(void *arg) {
    int *list = arg;
    list[0]++;
    list[list[0]] = list[0];
}

static void host_calls_run_in_their_place(void **state) {
    fixture *f = *state;
    int list[8] = {0};
    wp_queue *queue = create_queue(f, false);
    atomic_int gate = 0, done = 0;
    launch_gate(f, queue, &gate, &done);
    assert_status_ok(wp_queue_host_call(queue, append, list, &f->err), &f->err);
    assert_status_ok(wp_queue_host_call(queue, append, list, &f->err), &f->err);
    assert_int_equal(list[0], 0);
    atomic_store(&gate, 1);
    assert_status_ok(wp_queue_wait(queue, &f->err), &f->err);
    assert_int_equal(list[0], 2);
    wp_queue_destroy(queue);
}

static void a_destroyed_queue_completes_its_work(void **state) {
    fixture *f = *state;
    atomic_int gate = 0, done = 0;
    wp_queue *queue = create_queue(f, false);
    launch_gate(f, queue, &gate, &done);
    wp_queue_destroy(queue);
    atomic_store(&gate, 1);
    wait_device(f);
    assert_int_equal(atomic_load(&done), 1);
}

static void fills_write_patterns_of_every_size(void **state) {
    fixture *f = *state;
    wp_queue *queue = wp_device_default_queue(f->device);
    uint8_t *data = allocate(f->device, 64);
    assert_status_ok(wp_queue_fill(queue, data, 0x12345678u, 4, 4, &f->err), &f->err);
    assert_status_ok(wp_queue_fill(queue, data + 16, 0xabcdu, 2, 4, &f->err), &f->err);
    assert_status_ok(wp_queue_fill(queue, data + 24, 0x7f, 1, 8, &f->err), &f->err);
    wait_device(f);
    const uint8_t expected[32] = {0x78, 0x56, 0x34, 0x12, 0x78, 0x56, 0x34, 0x12, 0x78, 0x56, 0x34,
                                  0x12, 0x78, 0x56, 0x34, 0x12, 0xcd, 0xab, 0xcd, 0xab, 0xcd, 0xab,
                                  0xcd, 0xab, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f};
    assert_memory_equal(data, expected, sizeof expected);
}

static void copies_of_rows_leave_the_gaps_alone(void **state) {
    fixture *f = *state;
    wp_queue *queue = wp_device_default_queue(f->device);
    char *data = allocate(f->device, 64);
    memset(data, '.', 64);
    assert_status_ok(wp_queue_copy_2d(queue, data, 16, "abcdefghijkl", 4, 3, 3, &f->err), &f->err);
    wait_device(f);
    assert_memory_equal(data, "abc.............efg.............ijk.............", 48);
}

static void copies_beyond_an_allocation_are_refused(void **state) {
    fixture *f = *state;
    wp_queue *queue = wp_device_default_queue(f->device);
    static char host[200];
    char *data = allocate(f->device, 100);
    assert_status_fails(wp_queue_copy(queue, data, host, 101, &f->err), WP_STATUS_INVALID, &f->err,
                        "do not fit the allocation of 100 bytes");
    assert_status_fails(wp_queue_copy(queue, host, data + 99, 2, &f->err), WP_STATUS_INVALID,
                        &f->err, "offset 99");
}

static void a_copy_from_nowhere_is_a_sticky_error(void **state) {
    fixture *f = *state;
    char *data = allocate(f->device, 100);
    wp_queue *queue = wp_device_default_queue(f->device);
    assert_status_ok(wp_queue_copy(queue, data, (void *)(uintptr_t)64, 8, &f->err), &f->err);
    assert_status_fails(wp_queue_wait(queue, &f->err), WP_STATUS_KERNEL_ADDRESS, &f->err,
                        "a copy reached address 0x40");
    assert_status_fails(wp_device_sticky_error(f->device, &f->err), WP_STATUS_KERNEL_ADDRESS,
                        &f->err, "NULL pointer or close to one");
    assert_status_ok(wp_device_reset(f->device, &f->err), &f->err);
    assert_status_ok(wp_device_sticky_error(f->device, &f->err), &f->err);
}

static void thousands_of_commands_may_be_queued(void **state) {
    fixture *f = *state;
    enum { LAUNCHES = 5000 };
    int *data = allocate(f->device, 32 * sizeof *data);
    uint64_t one = 1;
    for (int i = 0; i < LAUNCHES; i++) {
        assert_status_ok(launch(wp_device_default_queue(f->device), f->add, 1, 32,
                                (void *[]){&data, &one}, &f->err),
                         &f->err);
    }
    wait_device(f);
    for (int i = 0; i < 32; i++)
        assert_int_equal(data[i], LAUNCHES);
}

typedef struct client {
    fixture *f;
    wp_queue *queue;
    int *data;
    pthread_t thread;
    bool has_succeeded;
} client;

/* 200 launches in a queue of its own, an event behind each tenth, a wait now and then. */
static void *run_client(void *arg) {
    client *c = arg;
    wp_error err = {0};
    wp_event *event;
    uint64_t one = 1;
    if (wp_event_create(c->f->device, &event, &err) != WP_STATUS_OK) return NULL;
    c->has_succeeded = true;
    for (int i = 0; i < 200; i++) {
        wp_status status = launch(c->queue, c->f->add, 2, 64, (void *[]){&c->data, &one}, &err);
        if (status == WP_STATUS_OK && i % 10 == 0) status = wp_event_record(event, c->queue, &err);
        if (status == WP_STATUS_OK && i % 30 == 0) status = wp_event_wait(event, &err);
        if (status == WP_STATUS_OK && i % 70 == 0) status = wp_queue_wait(c->queue, &err);
        if (status != WP_STATUS_OK) c->has_succeeded = false;
    }
    wp_event_destroy(event);
    return NULL;
}

static void threads_of_the_host_may_share_a_device(void **state) {
    fixture *f = *state;
    client clients[5];
    for (int i = 0; i < 5; i++) {
        clients[i] = (client){.f = f, .data = allocate(f->device, 128 * sizeof(int))};
        clients[i].queue =
            i == 0 ? wp_device_default_queue(f->device) : create_queue(f, i % 2 == 0);
        assert_int_equal(pthread_create(&clients[i].thread, NULL, run_client, &clients[i]), 0);
    }
    for (int i = 0; i < 5; i++)
        pthread_join(clients[i].thread, NULL);
    wait_device(f);
    for (int i = 0; i < 5; i++) {
        assert_true(clients[i].has_succeeded);
        for (int k = 0; k < 128; k++)
            assert_int_equal(clients[i].data[k], 200);
        if (i != 0) wp_queue_destroy(clients[i].queue);
    }
}

int main(void) {
#define QUEUE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(copies_and_kernels_of_a_queue_run_in_order),
        QUEUE_TEST(launch_returns_before_the_kernel_ends),
        QUEUE_TEST(queues_overlap),
        QUEUE_TEST(default_queue_comes_after_blocking_queues),
        QUEUE_TEST(blocking_queues_come_after_the_default_queue),
        QUEUE_TEST(other_queues_do_not_wait_for_the_default_queue),
        QUEUE_TEST(waiting_for_the_default_queue_waits_for_blocking_queues),
        QUEUE_TEST(a_queue_waits_for_an_event_of_another),
        QUEUE_TEST(the_last_record_of_an_event_counts),
        QUEUE_TEST(a_queued_wait_keeps_to_its_record),
        QUEUE_TEST(events_measure_time_on_the_device),
        QUEUE_TEST(host_calls_run_in_their_place),
        QUEUE_TEST(a_destroyed_queue_completes_its_work),
        QUEUE_TEST(fills_write_patterns_of_every_size),
        QUEUE_TEST(copies_of_rows_leave_the_gaps_alone),
        QUEUE_TEST(copies_beyond_an_allocation_are_refused),
        QUEUE_TEST(a_copy_from_nowhere_is_a_sticky_error),
        QUEUE_TEST(thousands_of_commands_may_be_queued),
        QUEUE_TEST(threads_of_the_host_may_share_a_device),
    };
    return wp_test_main(tests);
}
