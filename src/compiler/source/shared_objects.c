/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration becomes, on its own lines,
 *
 *     __shared__ wp_shared_object<T> wpi_of_x; auto &x = wpi_of_x.object();
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "compiler/source/shared_objects.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/source/overlay_file.h"

#define MESSAGE ": error: initialization is not supported for __shared__ variables"
#define TOO_MANY "fatal error: too many errors emitted"

typedef struct place {
    char *path;
    unsigned long line, column;
    bool is_done;
} place;

typedef struct places {
    place *items;
    size_t count;
} places;

static void destroy(places *list) {
    for (size_t i = 0; i < list->count; i++)
        wpi_free(list->items[i].path);
    wpi_free(list->items);
}

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- the messages ---- */

/* Reads "path:line:column" of `length` bytes. */
static bool read_place(const char *text, size_t length, place *out) {
    char *copy = wpi_must_strndup(text, length);
    char *column = strrchr(copy, ':');
    if (column) *column++ = '\0';
    char *line = column ? strrchr(copy, ':') : NULL;
    if (line) {
        *line++ = '\0';
        *out = (place){wpi_must_strdup(copy), strtoul(line, NULL, 10), strtoul(column, NULL, 10),
                       false};
    }
    wpi_free(copy);
    return line != NULL;
}

static bool is_known(const places *list, const place *p) {
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].line == p->line && list->items[i].column == p->column &&
            strcmp(list->items[i].path, p->path) == 0)
            return true;
    return false;
}

/* False: there are other errors. */
static bool find_places(const char *talk, places *list) {
    for (const char *line = talk; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        char *copy = wpi_must_strndup(line, length);
        const char *message = strstr(copy, MESSAGE);
        place found;
        bool is_other = !message && (strstr(copy, ": error: ") || strstr(copy, "fatal error: ")) &&
                        !strstr(copy, TOO_MANY);
        if (message && read_place(copy, (size_t)(message - copy), &found)) {
            if (is_known(list, &found)) {
                wpi_free(found.path); /* of another instance of a template */
            } else {
                list->items =
                    wpi_must_realloc(list->items, (list->count + 1) * sizeof *list->items);
                list->items[list->count++] = found;
            }
        }
        wpi_free(copy);
        if (is_other) return false;
    }
    return list->count > 0;
}

/* ---- one declaration ---- */

/* The closing bracket of the one at `p`, or NULL. */
static const char *closing(const char *p) {
    const char open = *p, close = open == '(' ? ')' : ']';
    for (int depth = 0; *p; p++) {
        depth += (*p == open) - (*p == close);
        if (depth == 0) return p;
    }
    return NULL;
}

static const char *skip_blank(const char *p) {
    return p + strspn(p, " \t\r\n");
}

/* After alignas(…), __align__(…), __attribute__((…)) at `p`. */
static const char *skip_attributes(const char *p) {
    static const char *const words[] = {"alignas", "__align__", "__attribute__"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = skip_blank(p), *open = skip_blank(at + strlen(words[i]));
        if (strncmp(at, words[i], strlen(words[i])) != 0 || *open != '(') continue;
        const char *end = closing(open);
        return end ? skip_attributes(end + 1) : p;
    }
    return p;
}

/* Changes the declaration of the name at `name` in the text; NULL: it has another form. */
static char *change(const char *text, const char *name) {
    static const char word[] = "__shared__";
    size_t length = 0;
    while (is_word_char(name[length]))
        length++;
    const char *end = skip_blank(name + length), *sizes = end;
    while (*end == '[' && closing(end))
        end = skip_blank(closing(end) + 1);
    const char *begin = name;
    while (begin > text && strncmp(begin, word, strlen(word)) != 0 && !strchr(";{}", begin[-1]))
        begin--;
    if (length == 0 || *end != ';' || strncmp(begin, word, strlen(word)) != 0) return NULL;
    const char *type = skip_attributes(begin + strlen(word));
    return wpi_format("%.*s%.*s wp_shared_object<%.*s %.*s> wpi_of_%.*s; auto &%.*s = "
                      "wpi_of_%.*s.object()%s",
                      (int)(begin - text), text, (int)(type - begin), begin, (int)(name - type),
                      type, (int)(end - sizes), sizes, (int)length, name, (int)length, name,
                      (int)length, name, end);
}

static const char *position(const char *text, const place *p) {
    for (unsigned long line = 1; line < p->line; line++) {
        text = strchr(text, '\n');
        if (!text) return NULL;
        text++;
    }
    return p->column > 0 && strlen(text) >= p->column ? text + p->column - 1 : NULL;
}

/* ---- files and the overlay ---- */

static json_t *find_entry(json_t *roots, const char *path) {
    size_t i;
    json_t *entry;
    json_array_foreach(roots, i, entry) {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name && strcmp(name, path) == 0) return entry;
    }
    return NULL;
}

/* Changes the declarations of one file, the last one first: earlier places stay right. */
static wp_status change_file(wpi_compile_job *job, json_t *roots, places *list, size_t index,
                             bool *is_changed, wp_error *err) {
    const char *path = list->items[index].path;
    char *real = realpath(path, NULL), *text = NULL;
    size_t size_bytes = 0;
    wp_status status = WP_STATUS_OK;
    if (!real) return WP_STATUS_OK;
    json_t *entry = find_entry(roots, real);
    const char *contents =
        entry ? json_string_value(json_object_get(entry, "external-contents")) : real;
    WP_TRY_GOTO(wpi_file_read(contents, &text, &size_bytes, err), done);
    for (;;) {
        place *last = NULL;
        for (size_t i = index; i < list->count; i++) {
            place *p = &list->items[i];
            if (p->is_done || strcmp(p->path, path) != 0) continue;
            if (!last || p->line > last->line ||
                (p->line == last->line && p->column > last->column))
                last = p;
        }
        if (!last) break;
        last->is_done = true;
        const char *name = position(text, last);
        char *changed = name ? change(text, name) : NULL;
        if (!changed) continue;
        wpi_free(text);
        text = changed;
        *is_changed = true;
    }
    char *copy = wpi_job_temp(job, path, ".shared");
    status = wpi_file_write(copy, text, strlen(text), err);
    if (entry)
        json_object_set_new(entry, "external-contents", json_string(copy));
    else
        json_array_append_new(roots, json_pack("{s:s,s:s,s:s}", "name", real, "type", "file",
                                               "external-contents", copy));
    wpi_free(copy);
done:
    wpi_free(text);
    free(real);
    return status;
}

wp_status wpi_shared_objects_change(wpi_compile_job *job, const char *talk, bool *is_changed,
                                    wp_error *err) {
    places list = {0};
    wp_status status = WP_STATUS_OK;
    *is_changed = false;
    json_t *roots = NULL, *before = NULL;
    if (!find_places(talk, &list)) goto done;
    if (job->overlay) before = json_load_file(job->overlay, 0, NULL);
    roots = job->overlay ? json_incref(json_object_get(before, "roots")) : json_array();
    for (size_t i = 0; i < list.count && roots && status == WP_STATUS_OK; i++)
        if (!list.items[i].is_done) status = change_file(job, roots, &list, i, is_changed, err);
    if (status == WP_STATUS_OK && *is_changed) {
        wpi_free(job->overlay);
        job->overlay = wpi_job_temp(job, "shared", ".overlay.json");
        status = wpi_overlay_write(job->overlay, roots, true, err);
    }
done:
    json_decref(roots);
    json_decref(before);
    destroy(&list);
    return status;
}
