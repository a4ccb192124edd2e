/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/source/source_overlay.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/source/asm_syntax.h"
#include "compiler/source/launch_syntax.h"
#include "compiler/source/overlay_file.h"

typedef struct walk {
    wpi_compile_job *job;
    wpi_strings seen;
    json_t *roots;
} walk;

static wp_status visit(walk *w, const char *path, wp_error *err);

/* The file of `#include "name"` in `path`, or NULL. */
static char *find_include(const walk *w, const char *path, const char *name) {
    char *dir = wpi_path_dir(path), *found = wpi_path_join(dir, name);
    wpi_free(dir);
    const wpi_strings *args = &w->job->options->source_args;
    for (size_t i = 0; i < args->count && !wpi_file_exists(found); i++) {
        if (strncmp(args->items[i], "-I", 2) != 0) continue;
        wpi_free(found);
        found = wpi_path_join(args->items[i] + 2, name);
    }
    if (wpi_file_exists(found)) return found;
    wpi_free(found);
    return NULL;
}

static wp_status visit_includes(walk *w, const char *path, const char *text, wp_error *err) {
    for (const char *p = strstr(text, "#include"); p; p = strstr(p + 1, "#include")) {
        const char *open = p + 8 + strspn(p + 8, " \t");
        size_t length = *open == '"' ? strcspn(open + 1, "\"\n") : 0;
        if (length == 0) continue;
        char *name = wpi_must_strndup(open + 1, length), *found = find_include(w, path, name);
        wp_status status = found ? visit(w, found, err) : WP_STATUS_OK;
        wpi_free(name);
        wpi_free(found);
        WP_TRY(status);
    }
    return WP_STATUS_OK;
}

static wp_status visit(walk *w, const char *path, wp_error *err) {
    char *absolute = realpath(path, NULL);
    if (!absolute) return WP_STATUS_OK;
    char *text = NULL;
    size_t size_bytes = 0;
    wp_status status = WP_STATUS_OK;
    if (wpi_strings_contains(&w->seen, absolute) ||
        wpi_file_read(absolute, &text, &size_bytes, NULL) != WP_STATUS_OK)
        goto done;
    wpi_strings_add(&w->seen, absolute);
    WP_TRY_GOTO(visit_includes(w, absolute, text, err), done);
    bool is_changed = wpi_launch_syntax_join(text);
    char *escaped = wpi_asm_syntax_escape(text);
    if (escaped) {
        wpi_free(text);
        text = escaped;
        is_changed = true;
    }
    if (is_changed) {
        char *changed = wpi_job_temp(w->job, path, ".source");
        json_array_append_new(w->roots, json_pack("{s:s,s:s,s:s}", "name", absolute, "type", "file",
                                                  "external-contents", changed));
        status = wpi_file_write(changed, text, escaped ? strlen(text) : size_bytes, err);
        wpi_free(changed);
    }
done:
    wpi_free(text);
    free(absolute);
    return status;
}

wp_status wpi_source_overlay(wpi_compile_job *job, const char *source, char **overlay,
                             wp_error *err) {
    *overlay = NULL;
    walk w = {.job = job, .roots = json_array()};
    wp_status status = visit(&w, source, err);
    if (status == WP_STATUS_OK && json_array_size(w.roots) > 0) {
        *overlay = wpi_job_temp(job, source, ".overlay.json");
        status = wpi_overlay_write(*overlay, w.roots, true, err);
    }
    json_decref(w.roots);
    wpi_strings_deinit(&w.seen);
    return status;
}
