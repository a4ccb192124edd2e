/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/launch_syntax.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

/* ---- the text ---- */

/* Behind a comment or a literal that begins at `p`; `p` itself if none does. */
static char *skip_quiet(char *p) {
    if (p[0] == '/' && p[1] == '/') return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'') return p;
    char quote = *p;
    for (p++; *p && *p != quote && *p != '\n'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p == quote ? p + 1 : p;
}

/* At `c` twice, blanks, `c`: brings the third to the other two. */
static bool join(char *p, char c) {
    if (p[0] != c || p[1] != c) return false;
    size_t blanks = strspn(p + 2, " \t");
    if (blanks == 0 || p[2 + blanks] != c) return false;
    p[2 + blanks] = ' ';
    p[2] = c;
    return true;
}

bool wpi_launch_syntax_join(char *text) {
    bool is_open = false, any = false;
    for (char *p = text; *p;) {
        char *next = skip_quiet(p);
        if (next != p) {
            p = next;
            continue;
        }
        /* `<< <` is nothing else in C++; `>> >` may close templates, so only after an opening one.
         */
        if (join(p, '<')) {
            is_open = any = true;
            p += 3;
        } else if (is_open && (strncmp(p, ">>>", 3) == 0 || join(p, '>'))) {
            is_open = false;
            p += 3;
        } else {
            p++;
        }
    }
    return any;
}

/* ---- the files ---- */

typedef struct walk {
    wp_job *job;
    wp_strings seen;
    json_t *roots;
} walk;

static wp_status visit(walk *w, const char *path, wp_error *err);

/* The file of `#include "name"` in `path`, or NULL. */
static char *find_include(const walk *w, const char *path, const char *name) {
    char *dir = wp_path_dir(path), *found = wp_path_join(dir, name);
    wp_free(dir);
    const wp_strings *args = &w->job->options->source_args;
    for (size_t i = 0; i < args->count && !wp_file_exists(found); i++) {
        if (strncmp(args->items[i], "-I", 2) != 0) continue;
        wp_free(found);
        found = wp_path_join(args->items[i] + 2, name);
    }
    if (wp_file_exists(found)) return found;
    wp_free(found);
    return NULL;
}

static wp_status visit_includes(walk *w, const char *path, const char *text, wp_error *err) {
    for (const char *p = strstr(text, "#include"); p; p = strstr(p + 1, "#include")) {
        const char *open = p + 8 + strspn(p + 8, " \t");
        size_t length = *open == '"' ? strcspn(open + 1, "\"\n") : 0;
        if (length == 0) continue;
        char *name = wp_strndup(open + 1, length), *found = find_include(w, path, name);
        wp_status status = found ? visit(w, found, err) : WP_STATUS_OK;
        wp_free(name);
        wp_free(found);
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
    if (wp_strings_contains(&w->seen, absolute) ||
        wp_file_read(absolute, &text, &size_bytes, NULL) != WP_STATUS_OK)
        goto done;
    wp_strings_add(&w->seen, absolute);
    WP_TRY_GOTO(visit_includes(w, absolute, text, err), done);
    if (wpi_launch_syntax_join(text)) {
        char *joined = wpi_job_temp(w->job, path, ".joined");
        json_array_append_new(w->roots, json_pack("{s:s,s:s,s:s}", "name", absolute, "type", "file",
                                                  "external-contents", joined));
        status = wp_file_write(joined, text, size_bytes, err);
        wp_free(joined);
    }
done:
    wp_free(text);
    free(absolute);
    return status;
}

wp_status wpi_launch_syntax_overlay(wp_job *job, const char *source, char **overlay,
                                    wp_error *err) {
    *overlay = NULL;
    walk w = {.job = job, .roots = json_array()};
    wp_status status = visit(&w, source, err);
    if (status == WP_STATUS_OK && json_array_size(w.roots) > 0) {
        json_t *root =
            json_pack("{s:i,s:b,s:O}", "version", 0, "use-external-names", 0, "roots", w.roots);
        char *text = json_dumps(root, JSON_INDENT(1));
        *overlay = wpi_job_temp(job, source, ".overlay.json");
        status = wp_file_write(*overlay, text, strlen(text), err);
        free(text);
        json_decref(root);
    }
    json_decref(w.roots);
    wp_strings_deinit(&w.seen);
    return status;
}
