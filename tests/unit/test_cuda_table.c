/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the CUDA device, on the stand-in for the driver, whose memory the host can write:
 * right without failures, and with each call of the driver failing once: reported, and nothing
 * leaks. */
#include "warpage/table.h"

#include "device/device.h"
#include "fake_driver.h"

#define UNITS 300u
#define KEYS 7u

static const fake_cuda_hooks *fake;

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    const wp_table_view view = wp_table_get_view(object);
    (void)err;
    for (uint64_t unit = first; unit < outer; unit++) {
        if (wp_units_is_done(units, unit)) continue;
        const uint64_t key = unit % KEYS;
        wp_attempt attempt = wp_attempt_begin(units, unit);
        wp_table_emit(&view, &attempt, &key, sizeof key, &unit, sizeof unit);
        wp_attempt_end(&attempt);
    }
    return WP_STATUS_OK;
}

static void check(const wp_table *table) {
    assert_u64(wp_table_pair_count(table), UNITS);
    assert_u64(wp_table_key_count(table), KEYS);
    for (uint64_t key = 0; key < KEYS; key++) {
        wp_table_cursor cursor = {0};
        wp_table_pair pair;
        uint64_t sum = 0, wanted = 0;
        while (wp_table_find_next(table, &key, sizeof key, &cursor, &pair))
            sum += *(const uint64_t *)pair.value;
        for (uint64_t unit = key; unit < UNITS; unit += KEYS)
            wanted += unit;
        assert_u64(sum, wanted);
    }
}

typedef struct searches {
    wp_table *table;
    wp_table_seek seeks[KEYS];
    uint64_t sums[KEYS];
} searches;

static wp_status look(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                      wp_error *err) {
    searches *s = object;
    const wp_table_view view = wp_table_get_view(s->table);
    (void)err;
    for (uint64_t key = first; key < outer; key++) {
        if (wp_units_is_done(units, key)) continue;
        const void *value;
        uint32_t bytes;
        wp_answer answer;
        wp_attempt attempt = wp_attempt_begin(units, key);
        do {
            answer = wp_table_seek_next(&view, &s->seeks[key], &key, sizeof key, &value, &bytes);
            if (value != NULL) s->sums[key] += *(const uint64_t *)value;
        } while (value != NULL);
        wp_attempt_note(&attempt, answer);
        wp_attempt_end(&attempt);
    }
    return WP_STATUS_OK;
}

/* Parts are brought back: the table is larger than its heap. */
static wp_status search(wp_device *device, wp_table *table, wp_error *err) {
    const wp_postpone_spec units = {KEYS, 0, 1, 0};
    searches s = {.table = table};
    wp_postpone *postpone = NULL;
    wp_postpone_facts facts;
    wp_status status = wp_postpone_create(device, &units, &postpone, err);
    if (status == WP_STATUS_OK) {
        const wp_requester requester = {.object = &s, .process = look};
        status = wp_table_search(table, postpone, &requester, &facts, err);
    }
    for (uint64_t key = 0; key < KEYS && status == WP_STATUS_OK; key++) {
        uint64_t wanted = 0;
        for (uint64_t unit = key; unit < UNITS; unit += KEYS)
            wanted += unit;
        assert_u64(s.sums[key], wanted);
    }
    if (status == WP_STATUS_OK) assert_true(facts.pass > 2);
    wp_postpone_destroy(postpone);
    return status;
}

/* Multi-valued, so that pages stay as well as leave. */
static wp_status use(wp_device *device, wp_error *err) {
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    const wp_postpone_spec units = {UNITS, 64, 1, 0};
    wp_table *table = NULL;
    wp_postpone *postpone = NULL;
    wp_table_report report = {0};
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 2048;
    spec.page_bytes = 256;
    spec.bucket_count = 4;
    wp_status status = wp_table_create(device, &spec, &table, err);
    if (status == WP_STATUS_OK) status = wp_postpone_create(device, &units, &postpone, err);
    if (status == WP_STATUS_OK) {
        const wp_requester requester = {.object = table, .process = process};
        status = wp_table_run(table, postpone, &requester, NULL, err);
        wp_table_get_report(table, &report);
    }
    if (status == WP_STATUS_OK) {
        check(table);
        assert_true(report.passes > 2 && report.pages_kept != 0);
        status = search(device, table, err);
    }
    wp_postpone_destroy(postpone);
    wp_table_close(table);
    return status;
}

static void a_table_is_right_on_the_cuda_device(void **state) {
    (void)state;
    wp_device *device;
    wp_error err = {0};
    assert_status_ok(wp_device_open("cuda:0", &device, &err), &err);
    assert_status_ok(use(device, &err), &err);
    wp_device_close(device);
    assert_no_misuse(fake);
    assert_u64(fake->left(), 0);
}

/* What could not be given back is all that may be left; without an event's answer only a pass's
 * time is unknown. */
static bool may_pass(const char *symbol) {
    return strstr(symbol, "Free") != NULL || strstr(symbol, "Destroy") != NULL ||
           strcmp(symbol, "cuCtxSynchronize") == 0 || strcmp(symbol, "cuCtxSetCurrent") == 0 ||
           strcmp(symbol, "cuStreamQuery") == 0 || strcmp(symbol, "cuEventQuery") == 0 ||
           strcmp(symbol, "cuEventElapsedTime") == 0;
}

static void each_call_of_the_driver_may_fail(void **state) {
    (void)state;
    for (unsigned n = 1;; n++) {
        wp_device *device;
        wp_error err = {0};
        assert_status_ok(wp_device_open("cuda:0", &device, &err), &err);
        fake->fail_at("*", n, 999);
        const wp_status status = use(device, &err);
        char symbol[64];
        (void)snprintf(symbol, sizeof symbol, "%s", fake->failed());
        fake->fail_at("*", 0, 0);
        if (status != WP_STATUS_OK && err.message[0] == '\0') fail_msg("call %u: no sentence", n);
        wp_device_close(device);
        assert_no_misuse(fake);
        if (symbol[0] == '\0') {
            assert_int_equal(status, WP_STATUS_OK);
            assert_true(n > 100);
            return;
        }
        if (!may_pass(symbol)) {
            if (status == WP_STATUS_OK) fail_msg("call %u: %s failed unnoticed", n, symbol);
            if (fake->left() != 0)
                fail_msg("call %u: %s failed, %u objects are left", n, symbol, fake->left());
        }
    }
}

static int set_up(void **state) {
    (void)state;
    fake = fake_driver_use();
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_table_is_right_on_the_cuda_device),
                                       cmocka_unit_test(each_call_of_the_driver_may_fail)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
