/* SPDX-License-Identifier: Apache-2.0 */
/* Accel-Sim's traces: a small one, written by hand, gives the sectors that were counted by hand;
 * what is damaged is refused with its line. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/sm/coalescer.h"
#include "trace/part.h"
#include "trace/trace_source.h"
#include "warpage/trace.h"
#include "wp_test.h"

#define LIST WP_TEST_SOURCE_DIR "/tests/traces/accelsim/kernelslist.g"

static char *folder, *path;

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

/* What a launch did. */
typedef struct counts {
    uint64_t accesses[WP_TRACE_ACCESS_COUNT]; /* to global memory */
    uint64_t sectors[WP_TRACE_ACCESS_COUNT];
    uint64_t local_sectors, shared_accesses, shared_first_sum;
    uint64_t instructions, barriers, waits, exited_lanes, blocks;
} counts;

static void fail_test(void *object, const wp_error *error) {
    (void)object;
    fail_msg("%s", error->message);
}

static void count_access(const wp_trace_site *site, const wpi_warp_block *block,
                         const uint64_t *addresses, counts *c) {
    const uint64_t first = addresses[__builtin_ctz(block->mask)];
    if (site->space == WP_TRACE_SHARED) {
        c->shared_accesses++;
        c->shared_first_sum += first - WPI_TRACE_SHARED_BASE;
        return;
    }
    const wpi_access access = {.kind = site->access,
                               .size_bytes = site->size_bytes,
                               .mask = block->mask,
                               .addresses = addresses};
    wpi_footprint footprint;
    uint64_t sectors = 0;
    wpi_coalesce(&access, 12, &footprint);
    for (uint32_t i = 0; i < footprint.line_count; i++)
        sectors += (uint64_t)__builtin_popcount(footprint.lines[i].sectors);
    if (first >> 32 == 0x7d00) {
        c->local_sectors += sectors;
        return;
    }
    c->accesses[site->access]++;
    c->sectors[site->access] += sectors;
}

static void count_block(const wp_trace_tables *tables, const wpi_warp_block *block, counts *c) {
    const wp_trace_block *b = &tables->blocks[block->block];
    const uint64_t *addresses = block->addresses;
    c->blocks++;
    for (uint32_t i = 0; i < b->step_count; i++) {
        const wp_trace_step *step = &tables->steps[b->first_step + i];
        c->instructions += step->op == WP_TRACE_ISSUE ? step->count : 0;
        c->barriers += step->op == WP_TRACE_STOP;
        c->waits += step->op == WP_TRACE_WAIT;
        if (step->op != WP_TRACE_ACCESS) continue;
        c->instructions++;
        count_access(&tables->sites[step->value], block, addresses, c);
        addresses += WPI_LANES;
    }
}

static counts count_launch(uint64_t number) {
    counts c = {0};
    wpi_trace *trace;
    wpi_trace_source *made;
    wp_error err = {0};
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    assert_status_ok(wpi_trace_source_create(trace, number, fail_test, NULL, &made, &err), &err);
    wpi_warp_source *source = wpi_trace_source_base(made);
    for (uint64_t cta = 0; cta < source->cta_count; cta++) {
        uint32_t slot;
        wpi_windows windows;
        assert_status_ok(source->ops->start(source, cta, 0, &slot, &windows, &err), &err);
        for (uint32_t w = 0; w < source->warps_per_cta; w++) {
            wpi_warp_block block = {0};
            while (source->ops->next(source, slot, w, 0, &block) == WPI_SOURCE_BLOCK)
                count_block(source->tables, &block, &c);
            c.exited_lanes += (uint64_t)__builtin_popcount(block.exited);
        }
        source->ops->finish(source, slot);
    }
    wpi_trace_source_destroy(made);
    wpi_trace_close(trace);
    return c;
}

static void import_good(void) {
    wp_error err = {0};
    assert_status_ok(wp_trace_import(LIST, path, &err), &err);
}

static void sectors_are_those_counted_by_hand(void **state) {
    (void)state;
    import_good();
    const counts c = count_launch(0); /* four warps */
    assert_u64(c.accesses[WP_TRACE_LOAD], 4 * 3);
    /* A row of 4-byte words (128 bytes), a line for each lane, a row of 8-byte words. */
    assert_u64(c.sectors[WP_TRACE_LOAD], 4 * (4 + 32 + 8));
    assert_u64(c.sectors[WP_TRACE_STORE], 4 * 2); /* 16 lanes, 64 bytes */
    assert_u64(c.local_sectors, 4 * 4); /* the same word of 32 threads: 128 bytes in a row */
    assert_u64(c.shared_accesses, 4 * 2);
    assert_u64(c.shared_first_sum, 2 * (0 + 128 + 128 + 0)); /* from the window's beginning */
    assert_u64(c.instructions, 4 * 13);
    assert_u64(c.barriers, 4);
    /* FADD waits for two loads, STL for LDS, FMUL for it and a load: registers say so. */
    assert_u64(c.waits, 4 * 5);
    assert_u64(c.exited_lanes, 2 * 64);
}

static void loops_lanes_that_return_and_missing_blocks_come_along(void **state) {
    (void)state;
    import_good();
    const counts c = count_launch(1); /* of two thread blocks one is in the file */
    assert_u64(c.accesses[WP_TRACE_LOAD], 3 + 1);
    assert_u64(c.sectors[WP_TRACE_LOAD], 3 * 16 + 4); /* 32 lanes of 16 bytes; 8 lanes */
    assert_u64(c.accesses[WP_TRACE_REDUCE], 2);
    assert_u64(c.sectors[WP_TRACE_REDUCE], 2); /* all lanes at one word */
    assert_u64(c.instructions, 9 + 6);
    assert_u64(c.exited_lanes, 2 * 40);
}

static void the_host_side_comes_along(void **state) {
    (void)state;
    wpi_trace *trace;
    wpi_trace_launch launch;
    wp_error err = {0};
    import_good();
    assert_status_ok(wpi_trace_open(path, &trace, &err), &err);
    const wpi_trace_root *root = wpi_trace_root_of(trace);
    assert_u64(root->launches.count, 2);
    assert_string_equal(root->origin.device, "");
    /* A copy and its wait, two launches, a stream of the second one, the end. */
    assert_u64(root->op_count, 6);
    assert_status_ok(wpi_trace_launch_at(trace, 1, &launch, &err), &err);
    assert_int_equal(launch.registers, 32);
    assert_int_equal(launch.grid[1], 2);
    wpi_trace_close(trace);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static void write_file(const char *name, const char *text) {
    char *file = wpi_path_join(folder, name);
    wp_error err = {0};
    assert_status_ok(wpi_file_write(file, text, strlen(text), &err), &err);
    wpi_free(file);
}

/* A kernel's file with these lines behind its properties; the first of them is line 5. */
static void expect_refused(const char *lines, const char *part) {
    wp_error err = {0};
    char *list = wpi_path_join(folder, "list.g");
    char *text =
        wpi_format("-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n#\n%s", lines);
    write_file("list.g", "kernel-1.traceg\n");
    write_file("kernel-1.traceg", text);
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_PARSE, &err, part);
    assert_false(wpi_file_exists(path));
    wpi_free(text);
    wpi_free(list);
}

static void damaged_files_are_refused_with_the_line(void **state) {
    (void)state;
    expect_refused("warp = 0\n", "kernel-1.traceg:5: a warp outside of a thread block");
    expect_refused("thread block = 1,0,0\n", ":5: the thread block is not in the grid");
    expect_refused("thread block = 0,0,0\nwarp = 1\n", ":6: the warp is not in the thread block");
    expect_refused("thread block = 0,0,0\nwarp = 0\n0000 ffffffff 1 R1\n",
                   ":7: the opcode is missing");
    expect_refused("thread block = 0,0,0\nwarp = 0\n0 3 1 R1 LDG.E 1 R2 4 0 7f00\n",
                   ":7: the addresses are missing");
    expect_refused("thread block = 0,0,0\nwarp = 0\n0 1 1 R1 LDG.E 1 R2 4 9 7f00\n",
                   ":7: the addresses are missing or in an unknown format");
    expect_refused("thread block = 0,0,0\nwarp = 0\n0 1 0 EXIT 0 0\n",
                   "ends inside a thread block");
    expect_refused("thread block = 0,0,0\nwarp = 0\n0 1 0 NOP 0 0\n0 1 0 EXIT 0 0\n#END_TB\n",
                   ":8: a different instruction has this address");
    expect_refused("thread block = 0,0,0\n#END_TB\nthread block = 0,0,0\n#END_TB\n",
                   ":7: this thread block occurred before");
}

static void damaged_lists_are_refused(void **state) {
    (void)state;
    wp_error err = {0};
    char *list = wpi_path_join(folder, "list.g");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_NOT_FOUND, &err, "list.g");
    write_file("list.g", "MemcpyHtoD,0x1000,4096\n");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_PARSE, &err, "no kernel");
    write_file("list.g", "kernel-9.traceg\n");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_NOT_FOUND, &err,
                        "kernel-9.traceg");
    write_file("list.g", "kernel-9.traceg.xz\n");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_UNSUPPORTED, &err, "xz -d");
    write_file("list.g", "MemcpyHtoD,many\n");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_PARSE, &err,
                        "expected a copy");
    write_file("list.g", "#include <stdio.h>\n");
    assert_status_fails(wp_trace_import(list, path, &err), WP_STATUS_PARSE, &err, "neither");
    wpi_free(list);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(sectors_are_those_counted_by_hand),
        WITH_FOLDER(loops_lanes_that_return_and_missing_blocks_come_along),
        WITH_FOLDER(the_host_side_comes_along),
        WITH_FOLDER(damaged_files_are_refused_with_the_line),
        WITH_FOLDER(damaged_lists_are_refused),
    };
    return wp_test_main(tests);
}
