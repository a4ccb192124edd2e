/* SPDX-License-Identifier: Apache-2.0 */
#include "table_io/python.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

wp_status wpi_python_argv(const char *name, wpi_strings *argv, wp_error *err) {
    const char *python = getenv("WARPAGE_PYTHON");
    char *self;
    WP_TRY(wpi_self_path(&self, err));
    char *folder = wpi_path_dir(self);
    wpi_strings_add(argv, python != NULL && *python != '\0' ? python : "python3");
    wpi_strings_addf(argv, "%s/../lib/warpage/python/warpage/%s", folder, name);
    wpi_free(folder);
    wpi_free(self);
    return WP_STATUS_OK;
}

wp_status wpi_python_run(const wpi_strings *argv, const wpi_subprocess_options *options,
                         wp_error *err) {
    wpi_text talk = {0};
    wpi_subprocess_options with_talk = *options;
    int exit_code = 0;
    with_talk.stderr_text = &talk;
    wp_status status = wpi_subprocess_run(wpi_strings_argv(argv), &with_talk, &exit_code, err);
    if (status == WP_STATUS_OK && exit_code != 0) {
        const char *why = wpi_text_string(&talk);
        status = *why != '\0'
                     ? WP_FAIL(err, IO, "%.*s", (int)strcspn(why, "\n"), why)
                     : WP_FAIL(err, IO, "%s ended with status %d", argv->items[0], exit_code);
    }
    wpi_text_deinit(&talk);
    return status;
}
