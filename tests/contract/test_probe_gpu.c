/* SPDX-License-Identifier: Apache-2.0 */
/* What the sampler promises, on simulated GPUs whose TLBs are known to the cycle. */
#include "probe/measure/probe_gpu.h"
#include "probe/measure/probe_kernels.h"

#include "wp_test.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

typedef struct bench {
    wp_device *device;
    wpi_gpu_sampler *gpu;
    const wpi_sampler *sampler;
    unsigned rounds_heard;
    double cycles_heard;
} bench;

static void hear(void *object, const wpi_chase *chase, uint32_t round, double cycles) {
    bench *b = object;
    (void)chase;
    assert_int_equal(round, b->rounds_heard);
    b->rounds_heard++;
    b->cycles_heard = cycles;
}

static bench *open_bench(const char *spec) {
    static bench b;
    wp_error err = {0};
    b = (bench){0};
    const wpi_round_listener listener = {.object = &b, .chased = hear};
    assert_status_ok(wp_device_open(spec, &b.device, &err), &err);
    assert_status_ok(wpi_gpu_sampler_create(b.device, 0, &listener, &b.gpu, &err), &err);
    b.sampler = wpi_gpu_sampler_get(b.gpu);
    return &b;
}

static void close_bench(bench *b) {
    wpi_gpu_sampler_destroy(b->gpu);
    wp_device_close(b->device);
}

static double cycles_of(bench *b, wpi_chase chase) {
    wp_error err = {0};
    wpi_timing timing;
    if (chase.repeats == 0) chase.repeats = 1;
    b->rounds_heard = 0;
    assert_status_ok(b->sampler->chase(b->sampler->object, &chase, &timing, &err), &err);
    assert_int_equal(timing.rounds, chase.repeats);
    return timing.mean_cycles;
}

static double contest_of(const bench *b, uint32_t timed, uint32_t other, uint64_t stride,
                         uint64_t loads) {
    wp_error err = {0};
    wpi_timing timing;
    const wpi_contest contest = {timed, other, stride, loads, loads, 1};
    assert_status_ok(b->sampler->contest(b->sampler->object, &contest, &timing, &err), &err);
    return timing.mean_cycles;
}

/* 16 entries of 128 KiB, +9; 65 of 2 MiB, +55; 129 sets of 8 of 2 MiB, +177. */
static void misses_of_each_level_are_there_to_the_cycle(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    const double hit =
        cycles_of(b, (wpi_chase){.stride_bytes = 128 * KIB, .loads = 16, .sm = WPI_SM_ANY});
    const struct {
        uint64_t stride, loads;
        double added;
    } points[] = {{128 * KIB, 1, 0},    {128 * KIB, 17, 9}, {128 * KIB, 500, 9},
                  {2 * MIB, 65, 9},     {2 * MIB, 66, 64},  {2 * MIB, 1032, 64},
                  {2 * MIB, 1161, 241}, {4 * MIB, 300, 64}, {2 * MIB, 1033, 64 + 177 * 9 / 1033.0}};
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        const wpi_chase chase = {
            .stride_bytes = points[i].stride, .loads = points[i].loads, .sm = WPI_SM_ANY};
        assert_within(cycles_of(b, chase) - hit, points[i].added, 1e-3);
    }
    close_bench(b);
}

static void a_control_has_the_lines_and_not_the_pages(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    const wpi_chase far = {.stride_bytes = 2 * MIB, .loads = 1400, .sm = WPI_SM_ANY};
    wpi_chase control = far;
    control.is_control = true;
    assert_within(cycles_of(b, far) - cycles_of(b, control), 241, 1e-3);
    close_bench(b);
}

static void order_and_place_make_no_difference_to_a_full_miss(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    const wpi_chase strided = {.stride_bytes = 2 * MIB, .loads = 1400, .sm = 12};
    wpi_chase shuffled = strided;
    shuffled.order = WPI_ORDER_SHUFFLED;
    shuffled.seed = 3;
    assert_within(cycles_of(b, strided), cycles_of(b, shuffled), 1e-3);
    close_bench(b);
}

/* 17 pages of 128 KiB, of which the first TLB holds 16, asked for in 64 KiB. */
static void halves_meet_each_page_twice_a_round(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    wpi_chase chase = {.stride_bytes = 64 * KIB, .loads = 32, .sm = WPI_SM_ANY};
    const double hit = cycles_of(b, chase);
    chase.order = WPI_ORDER_HALVES;
    assert_within(cycles_of(b, chase), hit, 1e-3);
    chase.loads = 34;
    assert_within(cycles_of(b, chase), hit + 9, 1e-3);
    chase.order = WPI_ORDER_STRIDED;
    assert_within(cycles_of(b, chase), hit + 4.5, 1e-3);
    close_bench(b);
}

static void rounds_are_told_one_by_one(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    const wpi_chase chase = {.stride_bytes = MIB, .loads = 4, .sm = 3, .repeats = 5};
    const double mean = cycles_of(b, chase);
    assert_int_equal(b->rounds_heard, 5);
    assert_within(b->cycles_heard / 4, mean, 1e-9);
    close_bench(b);
}

/* SMs of the K80: {0,5} {1,6} {2,7,10} … share the second TLB, all the third, none the first. */
static void who_shares_pushes_entries_out(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    const double hit = contest_of(b, 0, 1, 128 * KIB, 16);
    assert_within(contest_of(b, 0, 5, 128 * KIB, 16), hit, 1e-9);
    assert_within(contest_of(b, 0, 0, 128 * KIB, 16), hit + 9, 1e-9);
    assert_within(contest_of(b, 0, 1, 2 * MIB, 65), hit + 9, 1e-9);
    assert_within(contest_of(b, 0, 5, 2 * MIB, 65), hit + 64, 1e-9);
    assert_within(contest_of(b, 5, 0, 2 * MIB, 65), hit + 64, 1e-9);
    assert_within(contest_of(b, 0, 4, 2 * MIB, 1032), hit + 241, 1e-9);
    close_bench(b);
}

static void what_cannot_be_measured_is_refused(void **state) {
    (void)state;
    bench *b = open_bench("sim:k80");
    wp_error err = {0};
    wpi_timing timing;
    const wpi_chase too_far = {
        .stride_bytes = 32 * MIB, .loads = 1000, .sm = WPI_SM_ANY, .repeats = 1};
    const wpi_chase nothing = {.stride_bytes = MIB, .sm = WPI_SM_ANY, .repeats = 1};
    const wpi_chase no_sm = {.stride_bytes = MIB, .loads = 4, .sm = 13, .repeats = 1};
    assert_int_equal(b->sampler->chase(b->sampler->object, &too_far, &timing, &err),
                     WP_STATUS_DEVICE_NOMEM);
    assert_int_equal(b->sampler->chase(b->sampler->object, &nothing, &timing, &err),
                     WP_STATUS_INVALID);
    assert_int_equal(b->sampler->chase(b->sampler->object, &no_sm, &timing, &err),
                     WP_STATUS_INVALID);
    assert_true(cycles_of(b, (wpi_chase){.stride_bytes = MIB, .loads = 4, .sm = 12}) > 0);
    wpi_gpu_sampler *other = NULL;
    assert_int_equal(wpi_gpu_sampler_create(b->device, MIB, NULL, &other, &err),
                     WP_STATUS_DEVICE_NOMEM);
    assert_null(other);
    close_bench(b);
}

static void only_kernels_have_images(void **state) {
    (void)state;
    wp_error err = {0};
    const void *image = NULL;
    const char *name = NULL;
    assert_status_ok(wp_image_find(wpi_probe_kernel_of(WPI_PROBE_CHASE), &image, &name, &err),
                     &err);
    assert_string_equal(name, "wp_probe_chase");
    assert_non_null(image);
    assert_status_fails(wp_image_find(&image, &image, &name, &err), WP_STATUS_NOT_FOUND, &err,
                        "no kernel");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misses_of_each_level_are_there_to_the_cycle),
        cmocka_unit_test(a_control_has_the_lines_and_not_the_pages),
        cmocka_unit_test(order_and_place_make_no_difference_to_a_full_miss),
        cmocka_unit_test(halves_meet_each_page_twice_a_round),
        cmocka_unit_test(rounds_are_told_one_by_one),
        cmocka_unit_test(who_shares_pushes_entries_out),
        cmocka_unit_test(what_cannot_be_measured_is_refused),
        cmocka_unit_test(only_kernels_have_images),
    };
    return wp_test_main(tests);
}
