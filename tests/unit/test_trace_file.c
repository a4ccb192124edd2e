/* SPDX-License-Identifier: Apache-2.0 */
/* A trace as a file: what a tee wrote a source hands out again, whatever the order of warps; what
 * is truncated, damaged or foreign is refused with the offset. */
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "trace/part.h"
#include "trace/tee.h"
#include "trace/trace_source.h"
#include "trace_program.h"
#include "wp_test.h"

static char *folder, *path;
static program_source program, twin;

static int begin(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_ok(wpi_temp_dir_create(&folder, &err), &err);
    path = wpi_path_join(folder, "x.wpt");
    return 0;
}

static int end(void **state) {
    (void)state;
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    wpi_free(path);
    return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Up to PROGRAM_SLOTS CTAs at a time, a random warp of them at each step. */
static void drive(wpi_warp_source *source, uint64_t seed) {
    uint32_t slots[PROGRAM_SLOTS], live[PROGRAM_SLOTS] = {0}, ended[PROGRAM_SLOTS] = {0};
    uint64_t random = seed + 77, next_cta = 0;
    for (uint64_t finished = 0; finished < source->cta_count;) {
        const uint32_t i = (uint32_t)(wp_random_next(&random) % PROGRAM_SLOTS);
        wpi_windows windows;
        wpi_warp_block block;
        wp_error err = {0};
        if (live[i] == 0) {
            if (next_cta % PROGRAM_SLOTS != i || next_cta == source->cta_count) continue;
            assert_status_ok(source->ops->start(source, next_cta++, 0, &slots[i], &windows, &err),
                             &err);
            live[i] = source->warps_per_cta;
            ended[i] = 0;
        }
        const uint32_t warp = (uint32_t)(wp_random_next(&random) % source->warps_per_cta);
        if ((ended[i] >> warp & 1u) != 0) continue;
        if (source->ops->next(source, slots[i], warp, 0, &block) != WPI_SOURCE_EXIT) continue;
        ended[i] |= 1u << warp;
        if (--live[i] != 0) continue;
        source->ops->finish(source, slots[i]);
        finished++;
    }
}

static wpi_trace_launch launch_of(uint32_t ctas, uint32_t tables) {
    return (wpi_trace_launch){.tables = tables,
                              .grid = {ctas, 1, 1},
                              .block = {PROGRAM_WARPS * WPI_LANES, 1, 1},
                              .shared_static_bytes = 4096,
                              .registers = 32};
}

static void finish(wpi_trace_writer *writer) {
    wp_error err = {0};
    wpi_origin origin = {.version = wpi_strdup("0.1"), .device = wpi_strdup("sim:k80")};
    wpi_strings_add(&origin.program, "./app");
    wpi_strings_add(&origin.program, "12");
    origin.info[WPI_INFO_SM_COUNT] = 13;
    assert_status_ok(wpi_trace_writer_finish(writer, &origin, &err), &err);
    wpi_trace_writer_op(writer, WPI_OP_DEVICE_WAIT, NULL, NULL); /* too late: it is not there */
    wpi_trace_writer_destroy(writer);
    wpi_origin_deinit(&origin);
}

/* Two launches of the program, the second is in the trace before the first. */
static void write_trace(uint64_t seed, uint32_t ctas, uint32_t blocks_max) {
    wpi_trace_writer *writer;
    wp_error err = {0};
    assert_status_ok(wpi_trace_writer_create(path, &writer, &err), &err);
    const wpi_trace_launch launch =
        launch_of(ctas, wpi_trace_writer_tables(writer, &program_tables));
    for (uint64_t number = 2; number-- != 0;) {
        wpi_tee *tee;
        program_init(&program, seed + number, ctas, blocks_max);
        assert_status_ok(wpi_tee_create(writer, number, &launch, &program.base, &tee, &err), &err);
        drive(wpi_tee_source(tee), seed);
        wpi_tee_finish(tee);
        const uint64_t fields[] = {0, number};
        wpi_trace_writer_op(writer, WPI_OP_LAUNCH, fields, NULL);
    }
    finish(writer);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void fail_test(void *object, const wp_error *error) {
    (void)object;
    fail_msg("%s", error->message);
}

static uint64_t as_written(uint32_t space, uint64_t address, uint64_t cta) {
    const uint64_t in_shared = address - (PROGRAM_SHARED + cta * 4096);
    const uint64_t in_local = address - (PROGRAM_LOCAL + cta * 65536);
    if (space == WP_TRACE_SHARED) return WPI_TRACE_SHARED_BASE + in_shared;
    if (space == WP_TRACE_GENERIC && in_local < 65536) return WPI_TRACE_LOCAL_BASE + in_local;
    return address;
}

/* One warp of the trace beside one of the program. */
static void compare_warp(wpi_warp_source *source, uint32_t slot, uint32_t warp, uint64_t cta) {
    for (;;) {
        wpi_warp_block got, wanted;
        const wpi_source_answer answer = source->ops->next(source, slot, warp, 0, &got);
        assert_int_equal(
            answer, program_next(&twin.base, (uint32_t)(cta % PROGRAM_SLOTS), warp, 0, &wanted));
        assert_int_equal(got.exited, wanted.exited);
        if (answer == WPI_SOURCE_EXIT) return;
        assert_int_equal(got.block, wanted.block);
        assert_int_equal(got.mask, wanted.mask);
        const wp_trace_block *b = &program_blocks[got.block];
        for (uint32_t i = 0; i < b->access_count * WPI_LANES; i++) {
            const uint32_t space = program_sites[got.block == 0 ? i / WPI_LANES : 2].space;
            if ((got.mask >> i % WPI_LANES & 1u) != 0)
                assert_u64(got.addresses[i],
                           as_written(space, wanted.addresses[i], cta % PROGRAM_SLOTS));
        }
    }
}

static void compare_launch(wpi_trace *trace, uint64_t number, uint64_t seed, uint32_t ctas,
                           uint32_t blocks_max) {
    wpi_trace_source *source;
    wp_error err = {0};
    assert_status_ok(wpi_trace_source_create(trace, number, fail_test, NULL, &source, &err), &err);
    wpi_warp_source *base = wpi_trace_source_base(source);
    assert_u64(base->cta_count, ctas);
    program_init(&twin, seed + number, ctas, blocks_max);
    for (uint64_t cta = 0; cta < ctas; cta++) {
        uint32_t slot, twin_slot;
        wpi_windows windows;
        assert_status_ok(base->ops->start(base, cta, 0, &slot, &windows, &err), &err);
        (void)program_start(&twin.base, cta, 0, &twin_slot, &windows, NULL);
        for (uint32_t w = PROGRAM_WARPS; w-- != 0;)
            compare_warp(base, slot, w, cta);
        base->ops->finish(base, slot);
    }
    wpi_trace_source_destroy(source);
}

static void check_trace(uint64_t seed, uint32_t ctas, uint32_t blocks_max) {
    wpi_trace *trace;
    wp_error err = {0};
    write_trace(seed, ctas, blocks_max);
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    for (uint64_t number = 0; number < 2; number++)
        compare_launch(trace, number, seed, ctas, blocks_max);
    wpi_trace_close(trace);
}

static void many_small_ctas_come_back(void **state) {
    (void)state;
    check_trace(3, 20000, 4);
}

static void ctas_of_many_parts_come_back(void **state) {
    (void)state;
    check_trace(4, 70, 8000);
}

static void a_trace_says_where_it_is_from(void **state) {
    (void)state;
    wpi_trace *trace;
    wp_error err = {0};
    int status;
    write_trace(5, 3, 10);
    assert_status_ok(wpi_trace_set_exit_status(path, 3, &err), &err);
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    const wpi_trace_root *root = wpi_trace_root_of(trace);
    assert_string_equal(root->origin.device, "sim:k80");
    assert_int_equal(root->origin.program.count, 2);
    assert_string_equal(root->origin.program.items[1], "12");
    assert_u64(root->origin.info[WPI_INFO_SM_COUNT], 13);
    assert_u64(root->op_count, 2);
    assert_true(wpi_trace_exit_status(trace, &status));
    assert_int_equal(status, 3);
    wpi_trace_launch launch;
    assert_status_ok(wpi_trace_launch_at(trace, 1, &launch, &err), &err);
    assert_u64(launch.ctas, 3);
    assert_string_equal(wpi_trace_kernel_of(trace, &launch)->name, "walk");
    assert_status_fails(wpi_trace_launch_at(trace, 2, &launch, &err), WP_STATUS_PARSE, &err,
                        "2 entries");
    wpi_trace_close(trace);
}

static void a_warp_with_lanes_at_a_barrier_waits(void **state) {
    (void)state;
    wpi_trace *trace;
    wpi_trace_source *source;
    wp_error err = {0};
    uint32_t slot;
    wpi_windows windows;
    wpi_warp_block block;
    write_trace(6, 1, 100);
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    assert_status_ok(wpi_trace_source_create(trace, 0, fail_test, NULL, &source, &err), &err);
    wpi_warp_source *base = wpi_trace_source_base(source);
    assert_status_ok(base->ops->start(base, 0, 0, &slot, &windows, &err), &err);
    assert_int_equal(base->ops->next(base, slot, 0, ~0u, &block), WPI_SOURCE_WAIT);
    assert_int_equal(base->ops->next(base, slot, 0, ~0u, &block), WPI_SOURCE_WAIT);
    program_init(&twin, 6, 1, 100);
    (void)program_start(&twin.base, 0, 0, &slot, &windows, NULL);
    compare_warp(base, 0, 0, 0);
    wpi_trace_source_destroy(source);
    wpi_trace_close(trace);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void in_step_launches_are_refused_by_name(void **state) {
    (void)state;
    wpi_trace_writer *writer;
    wpi_trace *trace;
    wpi_trace_source *source;
    wp_error err = {0};
    assert_status_ok(wpi_trace_writer_create(path, &writer, &err), &err);
    wpi_trace_launch launch = launch_of(1, wpi_trace_writer_tables(writer, &program_tables));
    launch.kernel = 1;
    launch.flags = WPI_LAUNCH_IN_STEP;
    wpi_trace_writer_launch(writer, 0, &launch);
    finish(writer);
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    assert_status_fails(wpi_trace_source_create(trace, 0, fail_test, NULL, &source, &err),
                        WP_STATUS_UNSUPPORTED, &err, "kernel spin");
    wpi_trace_close(trace);
}

static void a_file_that_is_no_trace_is_refused(void **state) {
    (void)state;
    wpi_trace *trace;
    wp_error err = {0};
    assert_status_fails(wpi_trace_open(path, &trace, &err), WP_STATUS_NOT_FOUND, &err, "x.wpt");
    assert_status_ok(wpi_file_write(path, "", 0, &err), &err);
    assert_status_fails(wpi_trace_open(path, &trace, &err), WP_STATUS_PARSE, &err, "offset 0");
    const char text[] = "kernel,time\nwalk,12 and more text than a header has\n";
    assert_status_ok(wpi_file_write(path, text, sizeof text, &err), &err);
    assert_status_fails(wpi_trace_open(path, &trace, &err), WP_STATUS_PARSE, &err,
                        "offset 0: this is not a Warpage trace");
    assert_status_fails(wpi_trace_open(folder, &trace, &err), WP_STATUS_IO, &err, "regular file");
}

static void a_truncated_trace_is_refused_with_the_offset(void **state) {
    (void)state;
    char *data, where[64];
    size_t bytes;
    wp_error err = {0};
    write_trace(7, 5, 50);
    assert_status_ok(wpi_file_read(path, &data, &bytes, &err), &err);
    for (size_t cut = 33; cut < bytes; cut += bytes / 97 + 1) {
        wpi_trace *trace;
        assert_status_ok(wpi_file_write(path, data, cut, &err), &err);
        (void)snprintf(where, sizeof where, "offset %zu: the trace is truncated", cut);
        assert_status_fails(wpi_trace_open(path, &trace, &err), WP_STATUS_PARSE, &err, where);
    }
    wpi_free(data);
}

static void another_version_is_refused(void **state) {
    (void)state;
    char *data;
    size_t bytes;
    wpi_trace *trace;
    wp_error err = {0};
    write_trace(8, 1, 5);
    assert_status_ok(wpi_file_read(path, &data, &bytes, &err), &err);
    data[8] = 9;
    assert_status_ok(wpi_file_write(path, data, bytes, &err), &err);
    assert_status_fails(wpi_trace_open(path, &trace, &err), WP_STATUS_PARSE, &err,
                        "offset 8: the trace has format 9");
    wpi_free(data);
}

static void an_abandoned_trace_leaves_nothing(void **state) {
    (void)state;
    wpi_trace_writer *writer;
    wp_error err = {0};
    assert_status_ok(wpi_trace_writer_create(path, &writer, &err), &err);
    wpi_trace_writer_abandon(writer);
    wpi_trace_writer_op(writer, WPI_OP_DEVICE_WAIT, NULL, NULL);
    wpi_trace_writer_destroy(writer);
    assert_false(wpi_file_exists(path));
    assert_status_fails(wpi_trace_writer_create("/nowhere/x.wpt", &writer, &err), WP_STATUS_IO,
                        &err, "/nowhere/x.wpt");
}

static void a_pipe_gets_the_trace_and_stays_a_pipe(void **state) {
    (void)state;
    wpi_trace_writer *writer;
    wpi_block_file *file;
    wp_error err = {0};
    struct stat info;
    char magic[4];
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status_fails(wpi_block_file_open(path, &file, &err), WP_STATUS_IO, &err,
                        "must be a regular file");
    const int end = open(path, O_RDWR | O_NONBLOCK);
    assert_true(end >= 0);
    assert_status_ok(wpi_trace_writer_create(path, &writer, &err), &err);
    finish(writer);
    assert_int_equal(read(end, magic, sizeof magic), sizeof magic);
    assert_int_equal(stat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    (void)close(end);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(many_small_ctas_come_back),
        WITH_FOLDER(ctas_of_many_parts_come_back),
        WITH_FOLDER(a_trace_says_where_it_is_from),
        WITH_FOLDER(a_warp_with_lanes_at_a_barrier_waits),
        WITH_FOLDER(in_step_launches_are_refused_by_name),
        WITH_FOLDER(a_file_that_is_no_trace_is_refused),
        WITH_FOLDER(a_truncated_trace_is_refused_with_the_offset),
        WITH_FOLDER(another_version_is_refused),
        WITH_FOLDER(an_abandoned_trace_leaves_nothing),
        WITH_FOLDER(a_pipe_gets_the_trace_and_stays_a_pipe),
    };
    return wp_test_main(tests);
}
