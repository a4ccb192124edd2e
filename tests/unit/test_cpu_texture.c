/* SPDX-License-Identifier: Apache-2.0 */
/** Texture fetches: formats, addressing modes, filtering. Expected values follow from the
 * definitions. */
#include <math.h>

#include "base/abi.h"
#include "device/texture.h"
#include "wp_test.h"

static const float row[4] = {10.0f, 20.0f, 30.0f, 40.0f};

static wpi_texture floats_1d(void) {
    return (wpi_texture){
        .data = row,
        .width = 4,
        .channel_bits = {32},
        .channel = WPI_TEX_CHANNEL_FLOAT,
        .address = {WPI_TEX_ADDRESS_CLAMP, WPI_TEX_ADDRESS_CLAMP, WPI_TEX_ADDRESS_CLAMP}};
}

static void fetch(const wpi_texture *t, uint32_t kind, float x, float y, float z, int32_t ix,
                  uint32_t out[4]) {
    uint64_t handle;
    wp_error err = {0};
    assert_status_ok(wpi_texture_create(t, &handle, &err), &err);
    wp_rt_tex(handle, kind, x, y, z, ix, out);
    wpi_texture_destroy(handle);
}

static float fetch_float(const wpi_texture *t, uint32_t kind, float x, float y, float z) {
    uint32_t out[4];
    float value;
    fetch(t, kind, x, y, z, 0, out);
    memcpy(&value, out, sizeof value);
    return value;
}

static void an_integer_fetch_reads_elements_and_zero_outside(void **state) {
    (void)state;
    const int32_t data[6] = {1, -2, 3, -4, 5, -6};
    const wpi_texture t = {
        .data = data, .width = 3, .channel_bits = {32, 32}, .channel = WPI_TEX_CHANNEL_SIGNED};
    uint32_t out[4];
    fetch(&t, WP_TEX_1D_FETCH, 0, 0, 0, 1, out);
    assert_int_equal((int32_t)out[0], 3);
    assert_int_equal((int32_t)out[1], -4);
    assert_int_equal(out[2], 0);
    fetch(&t, WP_TEX_1D_FETCH, 0, 0, 0, 3, out);
    assert_int_equal(out[0] | out[1], 0);
    fetch(&t, WP_TEX_1D_FETCH, 0, 0, 0, -1, out);
    assert_int_equal(out[0] | out[1], 0);
}

static void small_integers_are_extended_or_normalised(void **state) {
    (void)state;
    const int8_t bytes[4] = {-128, -1, 64, 127};
    wpi_texture t = {
        .data = bytes, .width = 4, .channel_bits = {8}, .channel = WPI_TEX_CHANNEL_SIGNED};
    uint32_t out[4];
    fetch(&t, WP_TEX_1D_FETCH, 0, 0, 0, 1, out);
    assert_int_equal((int32_t)out[0], -1);
    t.channel = WPI_TEX_CHANNEL_UNSIGNED;
    fetch(&t, WP_TEX_1D_FETCH, 0, 0, 0, 1, out);
    assert_int_equal(out[0], 255);
    t.reads_floats = true;
    assert_near(fetch_float(&t, WP_TEX_1D, 2.5f, 0, 0), 64.0 / 255.0, 1e-6);
    t.channel = WPI_TEX_CHANNEL_SIGNED;
    assert_near(fetch_float(&t, WP_TEX_1D, 0.5f, 0, 0), -1.0, 1e-6);
    assert_near(fetch_float(&t, WP_TEX_1D, 2.5f, 0, 0), 64.0 / 127.0, 1e-6);
}

static void halves_become_floats(void **state) {
    (void)state;
    const uint16_t halves[4] = {0x3c00, 0xc100, 0x0001, 0x7bff};
    const float expected[4] = {1.0f, -2.5f, 5.9604644775390625e-8f, 65504.0f};
    const wpi_texture t = {
        .data = halves, .width = 4, .channel_bits = {16}, .channel = WPI_TEX_CHANNEL_FLOAT};
    for (int i = 0; i < 4; i++) {
        assert_true(fetch_float(&t, WP_TEX_1D, (float)i + 0.5f, 0, 0) == expected[i]);
    }
}

static void nearest_takes_the_texel_that_contains_the_coordinate(void **state) {
    (void)state;
    const wpi_texture t = floats_1d();
    assert_true(fetch_float(&t, WP_TEX_1D, 1.0f, 0, 0) == 20.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, 1.99f, 0, 0) == 20.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, 2.0f, 0, 0) == 30.0f);
}

static void addressing_modes_decide_what_lies_outside(void **state) {
    (void)state;
    wpi_texture t = floats_1d();
    t.is_normalized = true;
    t.border[0] = -1.0f;
    const struct {
        wpi_tex_address mode;
        float below, above; /* at -0.125 and 1.375: half a texel and 1.5 texels outside */
    } cases[] = {{WPI_TEX_ADDRESS_CLAMP, 10.0f, 40.0f},
                 {WPI_TEX_ADDRESS_WRAP, 40.0f, 20.0f},
                 {WPI_TEX_ADDRESS_MIRROR, 10.0f, 30.0f},
                 {WPI_TEX_ADDRESS_BORDER, -1.0f, -1.0f}};
    for (size_t i = 0; i < 4; i++) {
        t.address[0] = cases[i].mode;
        assert_true(fetch_float(&t, WP_TEX_1D, -0.125f, 0, 0) == cases[i].below);
        assert_true(fetch_float(&t, WP_TEX_1D, 1.375f, 0, 0) == cases[i].above);
    }
}

static void wrapping_needs_normalised_coordinates(void **state) {
    (void)state;
    wpi_texture t = floats_1d();
    t.address[0] = WPI_TEX_ADDRESS_WRAP;
    assert_true(fetch_float(&t, WP_TEX_1D, 5.5f, 0, 0) == 40.0f);
}

static void linear_filtering_weighs_neighbours_in_steps_of_1_256(void **state) {
    (void)state;
    wpi_texture t = floats_1d();
    t.is_linear = true;
    assert_true(fetch_float(&t, WP_TEX_1D, 1.5f, 0, 0) == 20.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, 2.0f, 0, 0) == 25.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, 0.0f, 0, 0) == 10.0f);
    const float expected = 20.0f + 10.0f * floorf(0.3f * 256.0f + 0.5f) / 256.0f;
    assert_near(fetch_float(&t, WP_TEX_1D, 1.8f, 0, 0), expected, 1e-6);
}

static void rows_and_layers_are_a_pitch_apart(void **state) {
    (void)state;
    float data[2][3][8]; /* rows of 4 texels, 8 apart */
    for (int z = 0; z < 2; z++) {
        for (int y = 0; y < 3; y++) {
            for (int x = 0; x < 8; x++)
                data[z][y][x] = (float)(100 * z + 10 * y + x);
        }
    }
    wpi_texture t = floats_1d();
    t.data = data;
    t.height = 3;
    t.pitch_bytes = sizeof data[0][0];
    assert_true(fetch_float(&t, WP_TEX_2D, 3.5f, 2.5f, 0) == 23.0f);
    t.is_linear = true;
    assert_true(fetch_float(&t, WP_TEX_2D, 2.0f, 1.0f, 0) == 6.5f);
    t.depth = 2;
    t.slice_bytes = sizeof data[0];
    assert_true(fetch_float(&t, WP_TEX_3D, 2.0f, 1.0f, 1.0f) == 56.5f);
}

static void wild_coordinates_are_outside_and_no_accident(void **state) {
    (void)state;
    wpi_texture t = floats_1d();
    assert_true(fetch_float(&t, WP_TEX_1D, INFINITY, 0, 0) == 40.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, -INFINITY, 0, 0) == 10.0f);
    assert_true(fetch_float(&t, WP_TEX_1D, NAN, 0, 0) == 10.0f);
}

static void formats_that_do_not_exist_are_refused(void **state) {
    (void)state;
    uint64_t handle;
    wp_error err = {0};
    wpi_texture t = floats_1d();
    t.channel_bits[0] = 24;
    assert_status_fails(wpi_texture_create(&t, &handle, &err), WP_STATUS_INVALID, &err, "24");
    t = floats_1d();
    t.channel = WPI_TEX_CHANNEL_SIGNED;
    t.is_linear = true;
    assert_status_fails(wpi_texture_create(&t, &handle, &err), WP_STATUS_INVALID, &err,
                        "linear filtering");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_integer_fetch_reads_elements_and_zero_outside),
        cmocka_unit_test(small_integers_are_extended_or_normalised),
        cmocka_unit_test(halves_become_floats),
        cmocka_unit_test(nearest_takes_the_texel_that_contains_the_coordinate),
        cmocka_unit_test(addressing_modes_decide_what_lies_outside),
        cmocka_unit_test(wrapping_needs_normalised_coordinates),
        cmocka_unit_test(linear_filtering_weighs_neighbours_in_steps_of_1_256),
        cmocka_unit_test(rows_and_layers_are_a_pitch_apart),
        cmocka_unit_test(wild_coordinates_are_outside_and_no_accident),
        cmocka_unit_test(formats_that_do_not_exist_are_refused),
    };
    return wp_test_main(tests);
}
