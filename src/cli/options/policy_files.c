/* SPDX-License-Identifier: Apache-2.0 */
/* --policy-file FILE: loads the file, and lists it in WARPAGE_POLICY_FILES for processes that this
 * one starts. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cli/cli.h"
#include "warpage/device.h"

/* The option's number, if the command has it. */
static bool find_option(const wpi_cli_option *options, size_t *number) {
    for (size_t i = 0; options[i].name != NULL; i++) {
        if (strcmp(options[i].name, WPI_POLICY_FILE) != 0) continue;
        *number = i;
        return true;
    }
    return false;
}

/* Appends the file's absolute path: programs may change their folder. */
static wp_status add_file(wpi_text *files, const char *path, wp_error *err) {
    WP_TRY(wp_policy_file_load(path, err));
    char *real = realpath(path, NULL);
    if (real == NULL) return WP_FAIL(err, NOT_FOUND, "%s: no such policy file", path);
    wp_status status = WP_STATUS_OK;
    if (strchr(real, ':') != NULL)
        status = WP_FAIL(err, INVALID, "--policy-file %s: its path may not contain ':'", path);
    else
        wpi_text_appendf(files, "%s%s", files->length != 0 ? ":" : "", real);
    free(real); /* realpath's own allocation */
    return status;
}

wp_status wpi_policy_files_use(const wpi_arguments *arguments, wpi_strings *environment,
                               wp_error *err) {
    size_t option = 0;
    int cursor = 0;
    const char *path, *before = getenv("WARPAGE_POLICY_FILES");
    if (!find_option(arguments->options, &option) || arguments->values[option] == NULL)
        return WP_STATUS_OK;
    wpi_text files = {0};
    wp_status status = WP_STATUS_OK;
    if (before != NULL) wpi_text_append(&files, before);
    while (status == WP_STATUS_OK &&
           (path = wpi_arguments_next(arguments, option, &cursor)) != NULL)
        status = add_file(&files, path, err);
    if (status == WP_STATUS_OK) {
        (void)setenv("WARPAGE_POLICY_FILES", wpi_text_string(&files), 1);
        if (environment != NULL)
            wpi_strings_addf(environment, "WARPAGE_POLICY_FILES=%s", wpi_text_string(&files));
    }
    wpi_text_deinit(&files);
    return status;
}
