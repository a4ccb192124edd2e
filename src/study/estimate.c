/* SPDX-License-Identifier: Apache-2.0 */
#include "study/estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

/* The record of a run under `settings`, which count after those of the first run. */
static wp_status run(const char *const *program, const wpi_strings *environment,
                     const char *settings, const char *path, wp_run_record *out, wp_error *err) {
    const char *before = getenv("WARPAGE_SET");
    wpi_strings rows = {0}; /* of rows with one name the first counts */
    wpi_text said = {0};
    int exit_code = 0;
    if (before != NULL && before[0] != '\0')
        wpi_strings_addf(&rows, "WARPAGE_SET=%s;%s", before, settings);
    else
        wpi_strings_addf(&rows, "WARPAGE_SET=%s", settings);
    wpi_strings_addf(&rows, "WARPAGE_RUN_RECORD=%s", path);
    wpi_strings_add_all(&rows, environment);
    const wpi_subprocess_options options = {.environment = wpi_strings_argv(&rows),
                                            .stdin_path = "/dev/null",
                                            .stdout_path = "/dev/null",
                                            .stderr_text = &said,
                                            .leaves_signals = true};
    wp_status status = wpi_subprocess_run(program, &options, &exit_code, err);
    if (status == WP_STATUS_OK && !wpi_file_exists(path))
        status = WP_FAIL(err, INVALID, "exit status %d: %.300s", exit_code, wpi_text_string(&said));
    if (status == WP_STATUS_OK) status = wp_run_record_read(path, out, err);
    if (status == WP_STATUS_OK && out->simulation == NULL)
        status = WP_FAIL(err, INVALID, "it did not run on a simulated GPU");
    wpi_strings_deinit(&rows);
    wpi_text_deinit(&said);
    return status;
}

void wpi_estimate(wp_run_record *record, const char *const *program, const wpi_strings *environment,
                  const char *folder) {
    wp_run_ideal ideals[WP_RUN_IDEALS];
    const size_t count = wp_run_record_ideals(record, ideals);
    for (size_t i = 0; i < count; i++) {
        wp_run_record ideal = {0};
        wp_error err = {0};
        char *name = wpi_format("ideal%zu.json", i), *path = wpi_path_join(folder, name);
        (void)fprintf(stderr, "warpage run: runs again for an estimate: %s\n", ideals[i].rule);
        if (run(program, environment, ideals[i].settings, path, &ideal, &err) == WP_STATUS_OK)
            wp_run_record_add_estimate(record, ideals[i].rule, &ideal);
        else
            (void)fprintf(stderr, "warpage run: no estimate of %s: %s\n", ideals[i].rule,
                          err.message);
        wp_run_record_deinit(&ideal);
        wpi_free(path);
        wpi_free(name);
        wp_run_text_free(ideals[i].settings);
    }
}
