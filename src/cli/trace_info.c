/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace info: the contents of a trace, by kernel or by launch. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/units.h"
#include "cli/print/listing.h"
#include "cli/trace_commands.h"
#include "warpage/trace.h"

enum option_index { FORMAT, LAUNCHES };

const wpi_cli_option wpi_trace_info_options[] = {
    [FORMAT] = {"format", "text|json|csv", ""}, [LAUNCHES] = {"launches", NULL, ""}, {0}};

/* A kernel's launches together. */
typedef struct kernel_row {
    char *kernel;
    bool is_in_step;
    uint64_t launches, threads, blocks, accesses, bytes;
} kernel_row;

typedef struct listing {
    wpi_listing table;
    bool is_text, has_launches;
    kernel_row *rows; /* in order of their first launches */
    size_t row_count;
} listing;

static void say_trace(void *object, const wp_trace_info *info) {
    const listing *l = object;
    char bytes[32];
    if (!l->is_text) return;
    (void)printf("program     ");
    for (size_t i = 0; i < info->program_count; i++)
        (void)printf("%s%s", i != 0 ? " " : "", info->program[i]);
    (void)printf("%s\n", info->program_count == 0 ? "imported" : "");
    if (info->device[0] != '\0') (void)printf("device      %s\n", info->device);
    if (info->has_exit_status) (void)printf("exit status %d\n", info->exit_status);
    (void)printf("operations  %" PRIu64 "\nlaunches    %" PRIu64 "\naccesses    %" PRIu64
                 "\nsize        %s",
                 info->operations, info->launches, info->accesses,
                 wpi_format_bytes(info->file_bytes, bytes));
    if (info->accesses != 0)
        (void)printf(", %.2f bytes an access", (double)info->file_bytes / (double)info->accesses);
    (void)printf("\n\n");
}

static uint64_t volume(const uint32_t shape[3]) {
    return (uint64_t)shape[0] * shape[1] * shape[2];
}

static void add_launch(listing *l, const wp_trace_launch_info *info) {
    wpi_strings *cells = &l->table.cells;
    wpi_strings_addf(cells, "%" PRIu64, info->number);
    wpi_strings_add(cells, info->kernel);
    wpi_strings_addf(cells, "%ux%ux%u", info->grid[0], info->grid[1], info->grid[2]);
    wpi_strings_addf(cells, "%ux%ux%u", info->block[0], info->block[1], info->block[2]);
    wpi_strings_addf(cells, "%u", info->shared_bytes);
    wpi_strings_addf(cells, "%u", info->registers);
    wpi_strings_addf(cells, "%" PRIu64, info->blocks);
    wpi_strings_addf(cells, "%" PRIu64, info->accesses);
    wpi_strings_addf(cells, "%" PRIu64, info->bytes);
    wpi_strings_add(cells, info->is_in_step ? "no" : "yes");
}

static void count_launch(listing *l, const wp_trace_launch_info *info) {
    size_t i = 0;
    while (i < l->row_count && strcmp(l->rows[i].kernel, info->kernel) != 0)
        i++;
    if (i == l->row_count) {
        kernel_row *rows = wpi_realloc(l->rows, (l->row_count + 1) * sizeof *rows);
        WP_CHECK(rows != NULL);
        l->rows = rows;
        rows[l->row_count++] = (kernel_row){.kernel = wpi_strdup(info->kernel)};
    }
    kernel_row *row = &l->rows[i];
    row->launches++;
    row->threads += volume(info->grid) * volume(info->block);
    row->blocks += info->blocks;
    row->accesses += info->accesses;
    row->bytes += info->bytes;
    row->is_in_step = row->is_in_step || info->is_in_step;
}

static void take_launch(void *object, const wp_trace_launch_info *info) {
    listing *l = object;
    if (l->has_launches) {
        add_launch(l, info);
    } else {
        count_launch(l, info);
    }
}

static void add_kernels(listing *l) {
    wpi_strings *cells = &l->table.cells;
    for (size_t i = 0; i < l->row_count; i++) {
        const kernel_row *row = &l->rows[i];
        wpi_strings_add(cells, row->kernel);
        wpi_strings_addf(cells, "%" PRIu64, row->launches);
        wpi_strings_addf(cells, "%" PRIu64, row->threads);
        wpi_strings_addf(cells, "%" PRIu64, row->blocks);
        wpi_strings_addf(cells, "%" PRIu64, row->accesses);
        wpi_strings_addf(cells, "%" PRIu64, row->bytes);
        wpi_strings_add(cells, row->is_in_step ? "no" : "yes");
        wpi_free(row->kernel);
    }
    wpi_free(l->rows);
}

int wpi_trace_info_main(int argc, char **argv) {
    static const char *const kernel_columns[] = {
        "kernel", "launches", "threads", "warp_blocks", "accesses", "bytes", "replayable", NULL};
    static const char *const launch_columns[] = {
        "launch",   "kernel", "grid",       "block", "shared_bytes", "registers", "warp_blocks",
        "accesses", "bytes",  "replayable", NULL};
    static const wpi_column_kind kernel_kinds[] = {
        WP_COLUMN_TEXT,   WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_NUMBER,
        WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_FLAG};
    static const wpi_column_kind launch_kinds[] = {
        WP_COLUMN_NUMBER, WP_COLUMN_TEXT,   WP_COLUMN_TEXT,   WP_COLUMN_TEXT,   WP_COLUMN_NUMBER,
        WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_NUMBER, WP_COLUMN_FLAG};
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    if (wpi_arguments_parse_mixed(wpi_trace_info_options, argc, argv, &arguments, &err) !=
            WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "info: %s", err.message);
    if (arguments.operand_count != 1)
        return wpi_usage_error("trace", "info: which trace? One file");
    listing l = {.is_text = format == WPI_LISTING_TEXT,
                 .has_launches = arguments.values[LAUNCHES] != NULL};
    l.table.columns = l.has_launches ? launch_columns : kernel_columns;
    if (!l.is_text) l.table.kinds = l.has_launches ? launch_kinds : kernel_kinds;
    const wp_status status =
        wp_trace_read_info(arguments.operands[0], say_trace, take_launch, &l, &err);
    add_kernels(&l);
    if (status == WP_STATUS_OK) wpi_listing_print(&l.table, format);
    wpi_listing_deinit(&l.table);
    if (status != WP_STATUS_OK) return wpi_failure("trace info", "%s", err.message);
    return wpi_finish("trace info");
}
