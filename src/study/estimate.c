/* SPDX-License-Identifier: Apache-2.0 */
#include "study/estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "base/time.h"

/* The simulated time of a run under `settings`, which count after those of the first run. */
static wp_status run(const char *const *program, const wpi_strings *environment,
                     const char *settings, const char *path, uint64_t *time_ns, wp_error *err) {
    const char *before = getenv("WARPAGE_SET");
    wpi_strings rows = {0}; /* of rows with one name the first counts */
    wp_run_record record = {0};
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
    if (status == WP_STATUS_OK) status = wp_run_record_read(path, &record, err);
    if (status == WP_STATUS_OK && record.simulation == NULL)
        status = WP_FAIL(err, INVALID, "it did not run on a simulated GPU");
    if (status == WP_STATUS_OK) *time_ns = record.simulation->time_ps / WP_PS_PER_NS;
    wp_run_record_deinit(&record);
    wpi_strings_deinit(&rows);
    wpi_text_deinit(&said);
    return status;
}

void wpi_estimate(wp_run_record *record, const char *const *program, const wpi_strings *environment,
                  const char *folder) {
    wp_run_ideal ideals[WP_RUN_IDEALS];
    const size_t count = wp_run_record_ideals(record, ideals);
    for (size_t i = 0; i < count; i++) {
        uint64_t time_ns = 0;
        wp_error err = {0};
        char *name = wpi_format("ideal%zu.json", i), *path = wpi_path_join(folder, name);
        (void)fprintf(stderr, "warpage run: runs again for an estimate: %s\n", ideals[i].rule);
        if (run(program, environment, ideals[i].settings, path, &time_ns, &err) == WP_STATUS_OK)
            wp_run_record_add_estimate(record, ideals[i].rule, time_ns);
        else
            (void)fprintf(stderr, "warpage run: no estimate of %s: %s\n", ideals[i].rule,
                          err.message);
        wpi_free(path);
        wpi_free(name);
        wp_run_text_free(ideals[i].settings);
    }
}
