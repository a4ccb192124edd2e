/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gnuplot.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"

/* Of series, in their order: distinct in light and dark, and for the colour-blind. */
static const unsigned colours[] = {0x3182bd, 0xe6a23c, 0x2a9d8f, 0xc0392b,
                                   0x8e44ad, 0x6b7785, 0x9ccc65, 0x795548};

void wp_gnuplot_begin(wp_text *script, const char *name, unsigned width, unsigned height) {
    wp_text_appendf(script,
                    "set encoding utf8\nset terminal svg size %u,%u standalone noenhanced name "
                    "'%s' background 'white' font 'sans-serif,12'\nset grid\nset border 3\n"
                    "set tics nomirror\n",
                    width, height, name);
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        wp_text_appendf(script, "set linetype %zu linecolor rgb '#%06x'\n", i + 1, colours[i]);
}

/* Doubles the quotes that would end the string. */
void wp_gnuplot_quote(wp_text *script, const char *text, size_t length) {
    wp_text_append(script, "'");
    for (size_t i = 0; i < length && text[i] != '\0'; i++)
        wp_text_append_n(script, text[i] == '\'' ? "''" : &text[i], text[i] == '\'' ? 2 : 1);
    wp_text_append(script, "'");
}

static wp_status run(const char *gnuplot, const char *script_path, char **svg, wp_error *err) {
    const char *const argv[] = {gnuplot, script_path, NULL};
    wp_text out = {0}, errors = {0};
    const wp_subprocess_options options = {.stdout_text = &out, .stderr_text = &errors};
    int exit_code = 0;
    wp_status status = wp_subprocess_run(argv, &options, &exit_code, err);
    if (status == WP_STATUS_OK && (exit_code != 0 || out.length == 0)) {
        const char *text = wp_text_string(&errors);
        text += strspn(text, " \n");
        status = WP_FAIL(err, IO, "gnuplot failed: %.*s", (int)strcspn(text, "\n"), text);
    }
    wp_text_deinit(&errors);
    if (status == WP_STATUS_OK) *svg = wp_text_take(&out);
    wp_text_deinit(&out);
    return status;
}

wp_status wp_gnuplot_run(const wp_text *script, char **svg, wp_error *err) {
    char *dir = NULL, *gnuplot = wp_program_find("gnuplot");
    *svg = NULL;
    if (gnuplot == NULL)
        return WP_FAIL(err, NOT_FOUND, "gnuplot is not installed (package gnuplot-nox)");
    wp_status status = wp_temp_dir_create(&dir, err);
    if (status == WP_STATUS_OK) {
        char *path = wp_path_join(dir, "plot.gp");
        status = wp_file_write(path, script->data, script->length, err);
        if (status == WP_STATUS_OK) status = run(gnuplot, path, svg, err);
        wp_free(path);
        wp_temp_dir_remove(dir);
        wp_free(dir);
    }
    wp_free(gnuplot);
    return status;
}
