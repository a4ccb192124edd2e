/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever bytes a trace is made of: it replays, or is refused in one sentence.
 *
 *     fuzz_trace kernelslist.g
 *
 * The list is imported; then its text is cut and damaged line by line, the trace byte by byte, and
 * traces are written that are whole but say nonsense. With -DWP_FUZZ (clang -fsanitize=fuzzer) a
 * libFuzzer target for the bytes of a trace.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "trace/part.h"
#include "trace/trace_source.h"
#include "trace/writer.h"
#include "trace_program.h"
#include "warpage/device.h"
#include "warpage/trace.h"

static char *folder;

static void check_said(wp_status status, const wp_error *err, const char *what) {
    const bool is_silent = err->message[0] == '\0' || strchr(err->message, '\n') != NULL;
    if (status == WP_STATUS_OK || !is_silent) return;
    (void)fprintf(stderr, "%s: status %d, message '%s'\n", what, (int)status, err->message);
    abort();
}

static char *file_in_folder(const char *name) {
    return wpi_path_join(folder, name);
}

static void write_bytes(const char *path, const void *data, size_t bytes) {
    wp_error err = {0};
    if (wpi_file_write(path, data, bytes, &err) == WP_STATUS_OK) return;
    (void)fprintf(stderr, "%s\n", err.message);
    exit(1);
}

/* ---- reading -------------------------------------------------------------------------------- */

static void note_error(void *object, const wp_error *error) {
    check_said(error->status, error, "warp");
    *(bool *)object = true;
}

static void drain_warps(wpi_warp_source *source, uint32_t slot, const bool *has_failed) {
    for (uint32_t w = 0; w < source->warps_per_cta; w++) {
        wpi_warp_block block;
        while (!*has_failed && source->ops->next(source, slot, w, 0, &block) == WPI_SOURCE_BLOCK) {
            if (block.block >= source->tables->block_count || block.mask == 0) abort();
        }
    }
}

static void drain(wpi_trace *trace, uint64_t launch) {
    wpi_trace_source *made;
    bool has_failed = false;
    wp_error err = {0};
    const wp_status status =
        wpi_trace_source_create(trace, launch, note_error, &has_failed, &made, &err);
    check_said(status, &err, "launch");
    if (status != WP_STATUS_OK) return;
    wpi_warp_source *source = wpi_trace_source_base(made);
    for (uint64_t cta = 0; cta < source->cta_count && !has_failed; cta++) {
        uint32_t slot;
        wpi_windows windows;
        if (source->ops->start(source, cta, 0, &slot, &windows, &err) != WP_STATUS_OK) break;
        drain_warps(source, slot, &has_failed);
        source->ops->finish(source, slot);
    }
    wpi_trace_source_destroy(made);
}

static wp_status pass_over(void *object, const wpi_op *op, wp_error *err) {
    (void)object, (void)op, (void)err;
    return WP_STATUS_OK;
}

static void try_trace(const char *path) {
    wpi_trace *trace;
    wp_error err = {0};
    wp_status status = wpi_trace_open(path, &trace, &err);
    check_said(status, &err, "open");
    if (status != WP_STATUS_OK) return;
    status = wpi_trace_visit_ops(trace, pass_over, NULL, &err);
    check_said(status, &err, "operations");
    for (uint64_t i = 0; i < wpi_trace_root_of(trace)->launches.count; i++)
        drain(trace, i);
    wpi_trace_close(trace);
}

static void try_replay(const char *path) {
    char *record = file_in_folder("record.json");
    wp_error err = {0};
    check_said(wp_trace_replay(path, "sim:gtx680", NULL, record, &err), &err, "replay");
    wpi_free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (folder == NULL && wpi_temp_dir_create(&folder, NULL) != WP_STATUS_OK) return 0;
    char *path = file_in_folder("fuzz.wpt");
    write_bytes(path, data, size);
    try_trace(path);
    wpi_free(path);
    return 0;
}

#ifndef WP_FUZZ

/* ---- bytes ---------------------------------------------------------------------------------- */

static void damage_bytes(const char *path) {
    char *data, *damaged = file_in_folder("damaged.wpt");
    size_t bytes;
    if (wpi_file_read(path, &data, &bytes, NULL) != WP_STATUS_OK) exit(1);
    for (size_t at = 0; at < bytes; at++) {
        write_bytes(damaged, data, at);
        try_trace(damaged);
        data[at] = (char)(data[at] ^ (1 << at % 8));
        write_bytes(damaged, data, bytes);
        try_trace(damaged);
        data[at] = (char)(data[at] ^ (1 << at % 8));
    }
    wpi_free(damaged);
    wpi_free(data);
}

/* ---- whole traces of nonsense --------------------------------------------------------------- */

static uint64_t random_state = 20211;

static uint64_t any(uint64_t outer) {
    return wp_random_next(&random_state) % outer;
}

/* Mostly small, sometimes as large as a number can be. */
static uint64_t any_field(void) {
    return any(8) == 0 ? wp_random_next(&random_state) >> any(64) : any(4);
}

static void write_any_part(wpi_trace_writer *writer, uint64_t number, uint32_t warps) {
    wpi_text part = {0};
    wpi_part_append_head(&part, any(4) == 0 ? any(8) : WPI_PART_NONE, warps + (any(16) == 0));
    for (uint32_t w = 0; w < warps; w++)
        wpi_varint_append(&part, any(40));
    for (uint64_t left = any(40 * warps); left != 0; left--) {
        const uint8_t byte = (uint8_t)(any(4) == 0 ? any(256) : any(8));
        wpi_text_append_n(&part, &byte, 1);
    }
    wpi_trace_writer_part(writer, number, part.data, part.length);
    wpi_text_deinit(&part);
}

static void write_any_launch(wpi_trace_writer *writer, uint64_t number) {
    const uint32_t ctas = (uint32_t)any(4) + 1, threads = (uint32_t)any(128) + 1;
    const wpi_trace_launch launch = {
        .tables = any(16) == 0,
        .kernel = (uint32_t)any(3),
        .grid = {any(16) == 0 ? 0x7fffffff : ctas, 1, 1},
        .block = {threads, 1, 1},
        .shared_static_bytes = (uint32_t)any_field(),
        .registers = (uint32_t)any_field(),
        .first_part = any(8) == 0 ? any_field() : wpi_trace_writer_reserve(writer, ctas),
    };
    for (uint32_t c = 0; c < ctas; c++)
        write_any_part(writer, launch.first_part + c, (threads + 31) / 32);
    wpi_trace_writer_launch(writer, number, &launch);
}

static void write_nonsense(const char *path) {
    wpi_trace_writer *writer;
    wpi_origin origin = {.version = wpi_strdup("x"), .device = wpi_strdup("sim:gtx680")};
    wp_error err = {0};
    if (wpi_trace_writer_create(path, &writer, &err) != WP_STATUS_OK) exit(1);
    (void)wpi_trace_writer_tables(writer, &program_tables);
    (void)wpi_trace_writer_reserve(writer, 1);
    const uint64_t launches = any(4) + 1;
    for (uint64_t i = 0; i < launches; i++)
        write_any_launch(writer, i);
    for (uint64_t left = any(30); left != 0; left--) {
        uint64_t fields[WPI_OP_FIELDS_MAX];
        for (uint32_t i = 0; i < WPI_OP_FIELDS_MAX; i++)
            fields[i] = any_field();
        const wpi_op_kind kind = any(2) == 0 ? WPI_OP_LAUNCH : (wpi_op_kind)any(WPI_OP_COUNT);
        wpi_trace_writer_op(writer, kind, fields, "a name");
    }
    check_said(wpi_trace_writer_finish(writer, &origin, &err), &err, "nonsense");
    wpi_trace_writer_destroy(writer);
    wpi_origin_deinit(&origin);
}

static void try_nonsense(void) {
    char *path = file_in_folder("nonsense.wpt"), *cut = file_in_folder("cut.wpt");
    for (int i = 0; i < 2000; i++) {
        const wp_trace_selection selection = {.first_launch = any(3), .outer_launch = any(6)};
        wp_error err = {0};
        write_nonsense(path);
        try_trace(path);
        if (i % 8 == 0) try_replay(path);
        check_said(wp_trace_cut(path, &selection, cut, &err), &err, "cut");
    }
    wpi_free(path);
    wpi_free(cut);
}

/* ---- text ----------------------------------------------------------------------------------- */

static void try_text(const char *text, size_t first, size_t outer, const char *by, size_t end) {
    char *list = file_in_folder("list.g"), *kernel = file_in_folder("kernel-1.traceg");
    char *out = file_in_folder("text.wpt");
    wpi_text changed = {0};
    wp_error err = {0};
    wpi_text_append_n(&changed, text, first);
    wpi_text_append(&changed, by);
    if (outer < end) wpi_text_append_n(&changed, text + outer, end - outer);
    write_bytes(list, "kernel-1.traceg\n", 16);
    write_bytes(kernel, changed.data, changed.length);
    const wp_status status = wp_trace_import(list, out, &err);
    check_said(status, &err, "import");
    if (status == WP_STATUS_OK) try_trace(out);
    wpi_text_deinit(&changed);
    wpi_free(list);
    wpi_free(kernel);
    wpi_free(out);
}

static void damage_text(const char *path) {
    static const char *const damage[] = {"",
                                         "-grid dim = (0,1,1)",
                                         "-block dim = (1024,1024,64)",
                                         "-kernel name = ",
                                         "thread block = 0,0,0",
                                         "thread block = 99,0,0",
                                         "warp = 0",
                                         "warp = 4294967295",
                                         "#BEGIN_TB",
                                         "#END_TB",
                                         "0000 ffffffff 1 R255 MOV 9 0",
                                         "ffffffffffff 1 0 NOP 0 0",
                                         "0050 1 1 R254 LDG.E.128 1 R254 16 1 ffffffffffffffff -1",
                                         "0060 1ffffffff 0 NOP 0 0",
                                         "0070 00000000 1 R2 LDG.E 1 R4 4",
                                         "\xff\xfe"};
    char *text;
    size_t bytes;
    if (wpi_file_read(path, &text, &bytes, NULL) != WP_STATUS_OK) exit(1);
    for (size_t at = 0; at < bytes; at += 61)
        try_text(text, at, bytes, "", bytes);
    size_t number = 0;
    for (size_t first = 0; first < bytes; number++) {
        const size_t length = strcspn(text + first, "\n");
        try_text(text, first, first + length, damage[number % (sizeof damage / sizeof damage[0])],
                 bytes);
        first += length + 1;
    }
    wpi_free(text);
}

int main(int argc, char **argv) {
    wp_error err = {0};
    if (argc != 2 || wpi_temp_dir_create(&folder, &err) != WP_STATUS_OK) return 2;
    char *good = file_in_folder("good.wpt"), *beside = wpi_path_dir(argv[1]);
    char *kernel = wpi_path_join(beside, "kernel-1.traceg");
    if (wp_trace_import(argv[1], good, &err) != WP_STATUS_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    damage_bytes(good);
    damage_text(kernel);
    try_nonsense();
    try_replay(good);
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    wpi_free(good);
    wpi_free(beside);
    wpi_free(kernel);
    return 0;
}

#endif
