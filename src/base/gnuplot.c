/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gnuplot.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"

/* Of series, in their order: distinct in light and dark, and for the colour-blind. */
static const unsigned colours[] = {0x3182bd, 0xe6a23c, 0x2a9d8f, 0xc0392b,
                                   0x8e44ad, 0x6b7785, 0x9ccc65, 0x795548};

void wpi_gnuplot_begin(wpi_text *script, const char *name, unsigned width, unsigned height) {
    wpi_text_appendf(script,
                     "set encoding utf8\nset terminal svg size %u,%u standalone noenhanced name "
                     "'%s' background 'white' font 'sans-serif,12'\nset grid\nset border 3\n"
                     "set tics nomirror\n",
                     width, height, name);
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        wpi_text_appendf(script, "set linetype %zu linecolor rgb '#%06x'\n", i + 1, colours[i]);
}

/* Doubles the quotes that would end the string. */
void wpi_gnuplot_quote(wpi_text *script, const char *text, size_t length) {
    wpi_text_append(script, "'");
    for (size_t i = 0; i < length && text[i] != '\0'; i++)
        wpi_text_append_n(script, text[i] == '\'' ? "''" : &text[i], text[i] == '\'' ? 2 : 1);
    wpi_text_append(script, "'");
}

static wp_status run(const char *gnuplot, const char *script_path, char **svg, wp_error *err) {
    const char *const argv[] = {gnuplot, script_path, NULL};
    wpi_text out = {0}, errors = {0};
    const wpi_subprocess_options options = {.stdout_text = &out, .stderr_text = &errors};
    int exit_code = 0;
    wp_status status = wpi_subprocess_run(argv, &options, &exit_code, err);
    if (status == WP_STATUS_OK && (exit_code != 0 || out.length == 0)) {
        const char *text = wpi_text_string(&errors);
        text += strspn(text, " \n");
        status = WP_FAIL(err, IO, "gnuplot failed: %.*s", (int)strcspn(text, "\n"), text);
    }
    wpi_text_deinit(&errors);
    if (status == WP_STATUS_OK) *svg = wpi_text_take(&out);
    wpi_text_deinit(&out);
    return status;
}

wp_status wpi_gnuplot_run(const wpi_text *script, char **svg, wp_error *err) {
    char *dir = NULL, *gnuplot = wpi_program_find("gnuplot");
    *svg = NULL;
    if (gnuplot == NULL)
        return WP_FAIL(err, NOT_FOUND, "gnuplot is not installed (package gnuplot-nox)");
    wp_status status = wpi_temp_dir_create(&dir, err);
    if (status == WP_STATUS_OK) {
        char *path = wpi_path_join(dir, "plot.gp");
        status = wpi_file_write(path, script->data, script->length, err);
        if (status == WP_STATUS_OK) status = run(gnuplot, path, svg, err);
        wpi_free(path);
        wpi_temp_dir_remove(dir);
        wpi_free(dir);
    }
    wpi_free(gnuplot);
    return status;
}
