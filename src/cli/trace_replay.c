/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace replay: the report of a run, without the program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/options/report_target.h"
#include "cli/print/listing.h"
#include "cli/trace_commands.h"
#include "study/foresee.h"
#include "warpage/report.h"
#include "warpage/trace.h"

enum option_index { DEVICE, AS, SET, HINT, FORMAT, REPORT, PAGES, SOURCE, POLICY_FILE };

const wpi_cli_option wpi_trace_replay_options[] = {[DEVICE] = {"device", "sim:GPU", ""},
                                                   [AS] = WPI_AS_OPTION,
                                                   [SET] = {"set", "KEY=VALUE", ""},
                                                   [HINT] = {"hint", "N=WORD", ""},
                                                   [FORMAT] = {"format", "text|json|csv", ""},
                                                   [REPORT] = {"report", "FILE", ""},
                                                   [PAGES] = {"pages", "DIR", ""},
                                                   [SOURCE] = {"source", NULL, ""},
                                                   [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
                                                   {0}};

static void note_exit_status(void *object, const wp_trace_info *info) {
    wp_run_record *record = object;
    record->has_exit_status = info->has_exit_status;
    record->exit_status = info->exit_status;
}

static void print_record(const wp_run_record *record, wpi_listing_format format) {
    char *text = format == WPI_LISTING_JSON  ? wp_run_record_to_json(record)
                 : format == WPI_LISTING_CSV ? wp_run_record_to_csv(record)
                                             : wp_run_record_to_text(record);
    (void)fputs(text, stdout);
    wp_run_text_free(text);
}

/* All values of --hint, joined for a replay; NULL: none. */
static char *join_hints(const wpi_arguments *arguments) {
    wpi_text hints = {0};
    int cursor = 0;
    const char *text;
    while ((text = wpi_arguments_next(arguments, HINT, &cursor)) != NULL)
        wpi_text_appendf(&hints, "%s%s", hints.length != 0 ? ";" : "", text);
    return hints.length != 0 ? wpi_text_take(&hints) : NULL;
}

/* If a policy looks ahead, replays the trace once before, to record its page uses. */
static wp_status foresee(const char *trace, const char *device, const char *hints,
                         const char *folder, wp_error *err) {
    char *instead = wpi_foresee_instead(device);
    if (instead == NULL) return WP_STATUS_OK;
    char *path = wpi_path_join(folder, "future"),
         *record_path = wpi_path_join(folder, "first.json");
    const char *settings = getenv("WARPAGE_SET");
    char *before = wpi_format("%s", settings != NULL ? settings : "");
    char *without = wpi_format("%s%s", before, instead);
    (void)setenv("WARPAGE_SET", without, 1);
    (void)setenv("WARPAGE_NOTE_FUTURE", path, 1);
    const wp_status status = wp_trace_replay(trace, device, hints, record_path, err);
    (void)unsetenv("WARPAGE_NOTE_FUTURE");
    (void)setenv("WARPAGE_SET", before, 1);
    (void)setenv("WARPAGE_FUTURE", path, 1);
    wpi_free(without);
    wpi_free(before);
    wpi_free(record_path);
    wpi_free(path);
    wpi_free(instead);
    return status;
}

static wp_status replay(const wpi_arguments *arguments, const char *folder,
                        wpi_listing_format format, wp_error *err) {
    const char *trace = arguments->operands[0], *report = arguments->values[REPORT];
    wp_run_record record = {0};
    char *record_path = wpi_path_join(folder, "record.json");
    char *hints = join_hints(arguments);
    const char *pages = arguments->values[PAGES];
    wp_status status = foresee(trace, arguments->values[DEVICE], hints, folder, err);
    if (pages != NULL) (void)setenv("WARPAGE_PAGES", "on", 1);
    if (arguments->values[SOURCE] != NULL) (void)setenv("WARPAGE_LINES", "on", 1);
    if (status == WP_STATUS_OK)
        status = wp_trace_replay(trace, arguments->values[DEVICE], hints, record_path, err);
    if (status == WP_STATUS_OK) status = wp_run_record_read(record_path, &record, err);
    if (status == WP_STATUS_OK)
        status = wp_trace_read_info(trace, note_exit_status, NULL, &record, err);
    record.wall_time_ns = 0; /* the only number that is not reproducible */
    if (status == WP_STATUS_OK && report != NULL) {
        status = wpi_report_write(&record, report, err);
    } else if (status == WP_STATUS_OK) {
        print_record(&record, format);
    }
    if (status == WP_STATUS_OK && arguments->values[SOURCE] != NULL) {
        char *text = wp_run_record_to_source(&record);
        (void)fputs(text, stderr);
        wp_run_text_free(text);
    }
    if (status == WP_STATUS_OK && pages != NULL)
        status = wp_run_record_write_pages(&record, pages, err);
    wp_run_record_deinit(&record);
    wpi_free(record_path);
    wpi_free(hints);
    return status;
}

static wp_status check_arguments(wpi_arguments *arguments, wp_error *err) {
    WP_TRY(wpi_device_as(arguments, NULL, err));
    const char *device = arguments->values[DEVICE], *report = arguments->values[REPORT];
    if (device == NULL || strncmp(device, "sim:", 4) != 0)
        return WP_FAIL(err, INVALID, "on which simulated GPU? --device sim:p100, say");
    WP_TRY(wpi_set_keys(arguments, device, NULL, err));
    if (report != NULL) WP_TRY(wpi_report_check(report, err));
    return arguments->values[PAGES] != NULL
               ? wp_run_record_check_pages(arguments->values[PAGES], err)
               : WP_STATUS_OK;
}

int wpi_trace_replay_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_listing_format format;
    wp_error err = {0};
    char *folder = NULL;
    if (wpi_arguments_parse_mixed(wpi_trace_replay_options, argc, argv, &arguments, &err) !=
            WP_STATUS_OK ||
        wpi_listing_format_parse(arguments.values[FORMAT], &format, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "replay: %s", err.message);
    if (arguments.operand_count != 1)
        return wpi_usage_error("trace", "replay: which trace? One file");
    if (check_arguments(&arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "replay: %s", err.message);
    wp_status status = wpi_temp_dir_create(&folder, &err);
    if (status == WP_STATUS_OK) status = replay(&arguments, folder, format, &err);
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    if (status != WP_STATUS_OK) return wpi_failure("trace replay", "%s", err.message);
    return wpi_finish("trace replay");
}
