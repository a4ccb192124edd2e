/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What every kind of device promises (src/device/device.h), whatever it is. The cases run over the
 * list of kinds; a kind that cannot be opened on this machine is skipped. A second test runs them
 * with the stand-in for NVIDIA's driver (tests/support/fake_cuda).
 */
#include "device/device.h"

#include <unistd.h>

#include "every_device.h"
#include "wp_random.h"
#include "wp_test.h"

static void check_tables(wp_device *d) {
    const wpi_device_ops *ops = d->ops;
    assert_non_null(ops->kind);
    assert_true(ops->queue != NULL && ops->event != NULL && ops->module != NULL);
    assert_true(ops->queue->create && ops->queue->destroy && ops->queue->wait &&
                ops->queue->is_idle && ops->queue->copy && ops->queue->fill && ops->queue->launch &&
                ops->queue->host_call && ops->queue->wait_event);
    assert_true(ops->event->create && ops->event->destroy && ops->event->record &&
                ops->event->wait && ops->event->is_complete && ops->event->time_ns);
    assert_true(ops->module->load && ops->module->unload && ops->module->find_kernel &&
                ops->module->find_variable);
    assert_true(ops->close && ops->default_queue && ops->wait && ops->reset && ops->sticky_error &&
                ops->memory_alloc && ops->memory_free && ops->memory_info);
}

static void required_operations_are_there(void **state) {
    (void)state;
    for_every_device(check_tables);
}

static void check_info(wp_device *d) {
    const wp_device_info *info = wp_device_get_info(d);
    assert_true(info->spec[0] != '\0' && info->name[0] != '\0');
    assert_true(info->sm_count > 0 && info->compute_major > 0);
    assert_true(info->threads_per_block_max >= 1024);
    assert_true(info->threads_per_sm_max >= info->threads_per_block_max);
    assert_true(info->shared_bytes_per_block >= 48 * 1024);
    assert_true(info->shared_bytes_per_block_optin >= info->shared_bytes_per_block);
    uint64_t free_bytes, total_bytes;
    wp_memory_info(d, &free_bytes, &total_bytes);
    assert_true(free_bytes <= total_bytes);
    assert_u64(total_bytes, info->memory_bytes);
    assert_non_null(wp_device_default_queue(d));
}

static void a_device_describes_itself(void **state) {
    (void)state;
    for_every_device(check_info);
}

static void check_freed_memory(wp_device *d) {
    wp_error err = {0};
    uint64_t before_bytes, after_bytes, total_bytes;
    /* GPUs give out memory in pieces of 2 MiB; smaller allocations share one. */
    enum { COUNT = 4 };
    const size_t least_bytes = (size_t)2 << 20;
    void *data[COUNT];
    wp_memory_info(d, &before_bytes, &total_bytes);
    for (size_t i = 0; i < COUNT; i++) {
        assert_status_ok(wp_memory_alloc(d, WP_MEMORY_DEVICE, least_bytes << i, 0, &data[i], &err),
                         &err);
    }
    wp_memory_info(d, &after_bytes, &total_bytes);
    assert_true(after_bytes + (least_bytes << COUNT) - least_bytes <= before_bytes);
    for (size_t i = 0; i < COUNT; i++)
        assert_status_ok(wp_memory_free(d, data[i], &err), &err);
    wp_memory_info(d, &after_bytes, &total_bytes);
    assert_u64(after_bytes, before_bytes);
}

static void freed_memory_can_be_had_again(void **state) {
    (void)state;
    for_every_device(check_freed_memory);
}

/* ---- queues against a model ---- */

enum { BUFFER_BYTES = 4096, STEPS = 400, QUEUES = 3 };

/* Random fills and copies between two buffers, each step in a random queue that first waits for an
 * event behind the step before: the result must be that of doing all in order. */
static void check_against_model(wp_device *d) {
    const uint64_t seed = (uint64_t)getpid() * 2654435761u + 1;
    uint64_t random = seed;
    print_message("%s: seed %llu\n", wp_device_get_info(d)->spec, (unsigned long long)seed);
    wp_error err = {0};
    wp_queue *queues[QUEUES];
    wp_event *last;
    unsigned char *buffers[2];
    static unsigned char model[2][BUFFER_BYTES], result[BUFFER_BYTES];
    memset(model, 0, sizeof model);
    assert_status_ok(wp_event_create(d, &last, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        assert_status_ok(
            wp_memory_alloc(d, WP_MEMORY_DEVICE, BUFFER_BYTES, 0, (void **)&buffers[i], &err),
            &err);
    }
    queues[0] = wp_device_default_queue(d);
    for (size_t i = 1; i < QUEUES; i++) {
        assert_status_ok(wp_queue_create(d, i % 2 == 0, &queues[i], &err), &err);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_status_ok(wp_queue_fill(queues[0], buffers[i], 0, 1, BUFFER_BYTES, &err), &err);
    }
    assert_status_ok(wp_event_record(last, queues[0], &err), &err);
    for (int step = 0; step < STEPS; step++) {
        wp_queue *q = queues[wp_random_next(&random) % QUEUES];
        const size_t from = wp_random_next(&random) % 2,
                     at = wp_random_next(&random) % BUFFER_BYTES;
        const size_t size_bytes = 1 + wp_random_next(&random) % (BUFFER_BYTES - at);
        assert_status_ok(wp_queue_wait_event(q, last, &err), &err);
        if (wp_random_next(&random) % 2 == 0) {
            const unsigned value = (unsigned)step & 0xffu;
            assert_status_ok(wp_queue_fill(q, buffers[from] + at, value, 1, size_bytes, &err),
                             &err);
            memset(model[from] + at, (int)value, size_bytes);
        } else {
            assert_status_ok(
                wp_queue_copy(q, buffers[1 - from] + at, buffers[from] + at, size_bytes, &err),
                &err);
            memcpy(model[1 - from] + at, model[from] + at, size_bytes);
        }
        assert_status_ok(wp_event_record(last, q, &err), &err);
    }
    assert_status_ok(wp_event_wait(last, &err), &err);
    assert_true(wp_event_is_complete(last));
    for (size_t i = 0; i < 2; i++) {
        assert_status_ok(wp_queue_copy(queues[0], result, buffers[i], BUFFER_BYTES, &err), &err);
        assert_status_ok(wp_queue_wait(queues[0], &err), &err);
        assert_memory_equal(result, model[i], BUFFER_BYTES);
    }
    for (size_t i = 1; i < QUEUES; i++)
        wp_queue_destroy(queues[i]);
    wp_event_destroy(last);
    assert_status_ok(wp_device_reset(d, &err), &err);
}

static void queues_tied_by_events_do_the_same_as_one(void **state) {
    (void)state;
    for_every_device(check_against_model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(required_operations_are_there),
        cmocka_unit_test(a_device_describes_itself),
        cmocka_unit_test(freed_memory_can_be_had_again),
        cmocka_unit_test(queues_tied_by_events_do_the_same_as_one),
    };
    return wp_test_main(tests);
}
