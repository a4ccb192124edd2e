/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_buffers.h"

#include "wp_test.h"

#define MIB (UINT64_C(1) << 20)

static const wpi_stream_facts four_doubles = {.read_need = {0, 0, 0, 4, 0},
                                              .write_need = {0, 0, 0, 1, 0}};
static const wpi_stream_facts mixed = {.read_need = {3, 0, 1, 0, 2}, .write_need = {0, 5, 0, 0, 0}};

static wpi_stream_layout layout_of(const wpi_stream_facts *facts, wp_dim3 block, uint32_t sets,
                                   uint64_t bytes, uint32_t slots) {
    const wpi_stream_shape shape = {
        .block = block, .set_count_max = sets, .device_bytes_max = bytes, .slots_max = slots};
    wpi_stream_layout layout;
    wp_error err = {0};
    assert_status_ok(wpi_stream_layout_make(facts, &shape, &layout, &err), &err);
    assert_true(layout.device_bytes <= bytes);
    return layout;
}

static void slots_are_multiples_of_the_need(void **state) {
    (void)state;
    const wpi_stream_layout l = layout_of(&four_doubles, (wp_dim3){128, 1, 1}, 4, 64 * MIB, 64);
    assert_u64(l.slots, 64);
    assert_u64(l.launch.classes[3].read_slots, 64);
    assert_u64(l.launch.classes[3].write_slots, 16);
    assert_u64(l.launch.classes[0].read_slots, 0);
    assert_u64(layout_of(&four_doubles, (wp_dim3){128, 1, 1}, 4, 64 * MIB, 63).slots, 60);
    assert_u64(layout_of(&four_doubles, (wp_dim3){128, 1, 1}, 4, 64 * MIB, 1).slots, 4);
}

static void halves_are_whole_warps(void **state) {
    (void)state;
    const wpi_stream_layout l = layout_of(&mixed, (wp_dim3){7, 5, 3}, 1, 64 * MIB, 10);
    assert_u64(l.launch.threads, 105);
    assert_u64(l.launch.half, 128);
    assert_u64(l.launch.block_x * 100 + l.launch.block_y * 10 + l.launch.block_z, 753);
}

static void classes_do_not_overlap(void **state) {
    (void)state;
    const wpi_stream_launch l = layout_of(&mixed, (wp_dim3){50, 1, 1}, 2, 64 * MIB, 20).launch;
    uint64_t data = 0, addresses = 0, values = 0;
    for (int k = 0; k < WPI_STREAM_CLASSES; k++) {
        const wpi_stream_class *c = &l.classes[k];
        assert_true(c->data_offset >= data && c->address_offset >= addresses &&
                    c->value_offset >= values);
        assert_u64(c->data_offset % 16, 0);
        data = c->data_offset + ((uint64_t)c->read_slots * l.half << k);
        addresses = c->address_offset + (uint64_t)c->read_slots * l.half * 8;
        values = c->value_offset + ((uint64_t)c->write_slots * l.half << k);
    }
    assert_true(data <= l.data_bytes && addresses <= l.addresses_bytes && values <= l.values_bytes);
}

/* A thread's next 16 bytes are a place: of neighbouring threads, or in the original layout of the
 * thread, they lie side by side. */
static void lines_are_whole(void **state) {
    (void)state;
    wpi_stream_facts facts = mixed;
    facts.has_lines = 1;
    const wpi_stream_launch l = layout_of(&facts, (wp_dim3){50, 1, 1}, 2, 64 * MIB, 30).launch;
    assert_u64(l.half, 64);
    assert_u64(l.classes[0].read_slots, 18);
    assert_u64(l.classes[0].read_step, 16 * 64);
    assert_u64(l.classes[0].thread_step, 16);
    assert_u64(l.classes[2].read_slots, 6);
    assert_u64(l.classes[2].data_offset, 2 * 16 * 64);
    assert_u64(l.classes[4].data_offset, 2 * 16 * 64 + 2 * 16 * 64);
    assert_u64(l.classes[4].read_step, 16 * 64);
    assert_true(l.data_bytes >= l.classes[4].data_offset + 12 * 16 * 64);
    const wpi_stream_shape original = {.block = {50, 1, 1},
                                       .set_count_max = 1,
                                       .device_bytes_max = 64 * MIB,
                                       .slots_max = 30,
                                       .is_original = true};
    wpi_stream_layout layout;
    wp_error err = {0};
    assert_status_ok(wpi_stream_layout_make(&facts, &original, &layout, &err), &err);
    assert_u64(layout.launch.classes[0].read_step, 16);
    assert_u64(layout.launch.classes[0].thread_step, 2 * 16);
    assert_u64(layout.launch.classes[2].thread_step, 2 * 16);
}

static void indices_have_addresses_and_no_data(void **state) {
    (void)state;
    const wpi_stream_facts facts = {
        .read_need = {0, 0, 2, 0, 0, 3},
        .followed_count = 2,
        .followed = {{.class = 3, .index = 6, .scale = 8}, {.class = 2, .is_index = 1}}};
    const wpi_stream_launch l = layout_of(&facts, (wp_dim3){64, 1, 1}, 1, 64 * MIB, 30).launch;
    assert_u64(l.row_count, 7);
    assert_u64(l.classes[2].read_slots, 20);
    assert_u64(l.classes[5].read_slots, 30);
    assert_u64(l.classes[6].read_slots, 30);
    assert_u64(l.data_bytes, (20 * 4 + 30 * 8) * 64);
    assert_u64(l.addresses_bytes, (20 + 30 + 30) * 64 * 8);
    assert_u64(l.classes[6].address_offset, (20 + 30) * 64 * 8);
    assert_u64(l.classes[5].read_step, 64 * 8);
}

/* Blocks first share what there is; then fewer run at a time; then chunks get small. */
static void short_memory_costs_sets_then_slots(void **state) {
    (void)state;
    const wp_dim3 block = {256, 1, 1};
    assert_u64(layout_of(&four_doubles, block, 16, 64 * MIB, 64).launch.set_count, 16);
    const wpi_stream_layout some = layout_of(&four_doubles, block, 16, 2 * MIB, 64);
    assert_true(some.launch.set_count < 16 && some.launch.set_count >= 4);
    const wpi_stream_layout few = layout_of(&four_doubles, block, 16, 200000, 64);
    assert_true(few.launch.set_count >= 1 && few.slots >= 4);
}

static void too_little_memory_is_told(void **state) {
    (void)state;
    const wpi_stream_shape shape = {
        .block = {256, 1, 1}, .set_count_max = 16, .device_bytes_max = 10000, .slots_max = 64};
    wpi_stream_layout layout;
    wp_error err = {0};
    assert_status_fails(wpi_stream_layout_make(&four_doubles, &shape, &layout, &err),
                        WP_STATUS_DEVICE_NOMEM, &err, "bytes of device memory, but 10000 may");
}

static void buffers_are_used_again(void **state) {
    (void)state;
    wp_device *device;
    wp_error err = {0};
    wpi_stream_buffers b = {0};
    wpi_stream_memory m = {0};
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    const wpi_stream_layout large = layout_of(&mixed, (wp_dim3){64, 1, 1}, 4, 64 * MIB, 20);
    const wpi_stream_layout small = layout_of(&mixed, (wp_dim3){32, 1, 1}, 2, 64 * MIB, 10);
    assert_status_ok(
        wpi_stream_memory_alloc(&m, device, large.pinned_bytes, large.device_bytes, &err), &err);
    void *const pinned = m.pinned;
    assert_status_ok(
        wpi_stream_memory_alloc(&m, device, small.pinned_bytes, small.device_bytes, &err), &err);
    assert_ptr_equal(m.pinned, pinned);
    wpi_stream_buffers_place(&b, &m, &large);
    const char *end = (const char *)m.pinned + m.pinned_bytes;
    assert_true((const char *)(b.launch_source + 1) <= end);
    assert_true((const char *)(b.launch + 1) <= (const char *)m.memory + m.device_bytes);
    assert_u64(*b.launch_source->asked, 0);
    wpi_stream_memory_free(&m);
    wp_device_close(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_multiples_of_the_need),
        cmocka_unit_test(halves_are_whole_warps),
        cmocka_unit_test(classes_do_not_overlap),
        cmocka_unit_test(lines_are_whole),
        cmocka_unit_test(indices_have_addresses_and_no_data),
        cmocka_unit_test(short_memory_costs_sets_then_slots),
        cmocka_unit_test(too_little_memory_is_told),
        cmocka_unit_test(buffers_are_used_again),
    };
    return wp_test_main(tests);
}
