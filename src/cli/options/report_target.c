/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/report_target.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"

typedef struct stdout_form {
    const char *path;
    char *(*render)(const wp_run_record *record);
} stdout_form;

static const stdout_form forms[] = {{"-", wp_run_record_to_text},
                                    {"-.txt", wp_run_record_to_text},
                                    {"-.json", wp_run_record_to_json},
                                    {"-.csv", wp_run_record_to_csv}};

static const stdout_form *form_of(const char *path) {
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(forms[i].path, path) == 0) return &forms[i];
    return NULL;
}

bool wpi_report_is_stdout(const char *path) {
    return form_of(path) != NULL;
}

wp_status wpi_report_check(const char *path, wp_error *err) {
    if (wpi_report_is_stdout(path)) return WP_STATUS_OK;
    if (strcmp(path, "-.html") == 0)
        return WP_FAIL(err, INVALID,
                       "--report -.html: a page goes to a file, such as --report run.html");
    return wp_run_record_check_path(path, err);
}

wp_status wpi_report_write(const wp_run_record *record, const char *path, wp_error *err) {
    const stdout_form *form = form_of(path);
    if (form == NULL) return wp_run_record_write(record, path, err);
    char *text = form->render(record);
    const bool is_written = fputs(text, stdout) >= 0 && fflush(stdout) == 0;
    wp_run_text_free(text);
    return is_written ? WP_STATUS_OK : WP_FAIL(err, IO, "cannot write the report to stdout");
}
