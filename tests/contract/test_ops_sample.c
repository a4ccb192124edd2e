/* SPDX-License-Identifier: Apache-2.0 */
/* Sampling: estimates near what they estimate, the same by every strategy. */
#include "warpage/ops.h"

#include "wp_test.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define ROWS 50000u

static const char *const without_gpu[] = {"cpu", "sim:k80", "sim:gtx1080ti"};
static const char *const with_gpu[] = {"cuda:0"}; /* WARPAGE_LIBCUDA says whose */
static const char *const *devices = without_gpu;
static size_t device_count = COUNT(without_gpu);
static int32_t integers[ROWS];
static double floats[ROWS];
static uint8_t valid[ROWS / 8 + 1];

/* -20,000 to 29,999: mean 4999.5; half of them for floats. */
static void fill(void) {
    for (uint32_t i = 0; i < ROWS; i++) {
        integers[i] = (int32_t)i - 20000;
        floats[i] = integers[i] / 2.0;
        if (i % 4 == 0) valid[i / 8] |= (uint8_t)(1u << i % 8);
    }
}

static wp_sample_result sample(const char *spec, const wp_column *column,
                               const wp_sample_options *options) {
    wp_sample_result result;
    wp_device *device = NULL;
    wp_error err = {0};
    assert_status_ok(wp_device_open(spec, &device, &err), &err);
    assert_status_ok(wp_sample(device, column, ROWS, options, &result, &err), &err);
    wp_device_close(device);
    return result;
}

static void check_near(double value, double wanted, double error) {
    if (!(error > 0) || value < wanted - 2 * error || value > wanted + 2 * error)
        fail_msg("%g +- %g is far from %g", value, error, wanted);
}

static void estimates_are_near(void **state) {
    (void)state;
    const wp_column column = {WP_TYPE_INT32, integers, NULL, 0};
    const wp_sample_options options = {
        .read_count = 16384, .reads_per_thread = 64, .seed = 3, .low = 0, .high = 9999};
    for (size_t d = 0; d < device_count; d++) {
        const wp_sample_result r = sample(devices[d], &column, &options);
        assert_u64(r.read_count, 16384);
        assert_u64(r.value_count, 16384);
        check_near(r.mean, 4999.5, r.mean_error);
        check_near(r.selectivity, 0.2, r.selectivity_error);
        assert_near(r.mean_error, 1.95996 * 14433.8 / 128, 0.02); /* z * deviation / sqrt(n) */
        assert_true(r.min >= -20000 && r.min < -19900 && r.max <= 29999 && r.max > 29900);
    }
}

static void null_is_not_counted(void **state) {
    (void)state;
    const wp_column column = {WP_TYPE_FLOAT64, floats, valid, 0};
    const wp_sample_options options = {
        .read_count = 8192, .reads_per_thread = 64, .low = -1e9, .high = 1e9};
    const wp_sample_result r = sample(devices[0], &column, &options);
    assert_near((double)r.value_count, 2048, 0.1);
    check_near(r.mean, 2499.75, r.mean_error);
    assert_true(r.selectivity == 1);
}

/* The generators are restarted, so each pass sees the same positions. */
static void scopes_read_the_same_values(void **state) {
    (void)state;
    const wp_column column = {WP_TYPE_INT32, integers, NULL, 0};
    for (size_t d = 0; d < device_count; d++) {
        wp_sample_options options = {.read_count = 4096, .reads_per_thread = 32, .seed = 5};
        const wp_sample_result direct = sample(devices[d], &column, &options);
        assert_u64(direct.pass_count, 1);
        options.strategy = WP_STRATEGY_SCOPED;
        options.scope_bytes = 30000;
        for (wp_placement p = WP_PLACEMENT_AUTO; p <= WP_PLACEMENT_RESIDENT; p++) {
            options.placement = p;
            const wp_sample_result scoped = sample(devices[d], &column, &options);
            assert_u64(scoped.pass_count, 7);
            assert_true(scoped.sum == direct.sum && scoped.min == direct.min &&
                        scoped.max == direct.max && scoped.mean_error == direct.mean_error);
        }
        options.is_sum_only = true;
        assert_true(sample(devices[d], &column, &options).sum == direct.sum);
    }
}

static void seeds_differ_and_repeat(void **state) {
    (void)state;
    const wp_column column = {WP_TYPE_INT32, integers, NULL, 0};
    wp_sample_options options = {.read_count = 1024, .seed = 1};
    const double sum = sample(devices[0], &column, &options).sum;
    assert_true(sample(devices[0], &column, &options).sum == sum);
    options.seed = 2;
    assert_true(sample(devices[0], &column, &options).sum != sum);
}

static void what_cannot_be_is_refused(void **state) {
    (void)state;
    const wp_column column = {WP_TYPE_INT32, integers, NULL, 0};
    wp_sample_result r;
    wp_error err = {0};
    assert_status_fails(wp_sample(NULL, &column, 0, &(wp_sample_options){0}, &r, &err),
                        WP_STATUS_INVALID, &err, "no rows");
    assert_status_fails(
        wp_sample(NULL, &column, 1, &(wp_sample_options){.strategy = WP_STRATEGY_COPY}, &r, &err),
        WP_STATUS_INVALID, &err, "copy");
    assert_status_ok(wp_sample(NULL, &column, 1, &(wp_sample_options){.read_count = 1}, &r, &err),
                     &err);
    assert_true(r.mean == -20000 && r.max == -20000);
}

int main(void) {
    if (getenv("WARPAGE_LIBCUDA") != NULL) {
        devices = with_gpu;
        device_count = COUNT(with_gpu);
    }
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_are_near),          cmocka_unit_test(null_is_not_counted),
        cmocka_unit_test(scopes_read_the_same_values), cmocka_unit_test(seeds_differ_and_repeat),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return wp_test_main(tests);
}
