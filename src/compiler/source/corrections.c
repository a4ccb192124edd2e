/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* realpath, memmem */
#include "compiler/source/corrections.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/source/asm_syntax.h"
#include "compiler/source/builtin_names.h"
#include "compiler/source/builtin_variables.h"
#include "compiler/source/device_launches.h"
#include "compiler/source/device_only.h"
#include "compiler/source/launch_syntax.h"
#include "compiler/source/macro_pragmas.h"
#include "compiler/source/misplaced_attributes.h"
#include "compiler/source/overlay_file.h"
#include "compiler/source/shared_objects.h"
#include "compiler/source/specialisation.h"
#include "compiler/source/std_names.h"
#include "compiler/source/template_keyword.h"
#include "compiler/source/this_pointer.h"
#include "compiler/source/variable_arrays.h"

/* Where the text to change is: at the error, or at its first or last note of the row's. */
typedef enum which_place { AT_ERROR, AT_FIRST_NOTE, AT_LAST_NOTE } which_place;

typedef struct correction {
    const char *message;
    const char *note; /* NULL, or further on in its line, or in one of its notes */
    which_place place;
    char *(*change)(const char *text, const char *at);
} correction;

/* A call of a dependent template without the word template, or a kernel that kernels launch. */
static char *resolve_function(const char *text, const char *at) {
    char *changed = wpi_template_keyword_call(text, at);
    return changed ? changed : wpi_device_launch_choose(text, at);
}

/* A header that the source names in angle brackets, which source_overlay.h leaves alone: all of its
 * statements. */
static char *escape_file(const char *text, const char *at) {
    (void)at;
    return wpi_asm_syntax_escape(text);
}

/* Lists in braces among a launch's arguments, or spaces inside of its "<<<" in such a header; a
 * comma behind the last argument of a template. */
static char *mend_expression(const char *text, const char *at) {
    char *changed = wpi_template_comma_remove(text, at);
    if (!changed) changed = wpi_launch_syntax_braces(text, at);
    if (changed) return changed;
    changed = wpi_must_strdup(text);
    if (wpi_launch_syntax_join(changed)) return changed;
    wpi_free(changed);
    return NULL;
}

static const correction corrections[] = {
    {": error: initialization is not supported for __shared__ variables", NULL, AT_ERROR,
     wpi_shared_object_change},
    {": error: __shared__ variable '", NULL, AT_ERROR,
     wpi_extern_shared_change}, /* … cannot be 'extern' */
    {": error: an attribute list cannot appear here", NULL, AT_ERROR,
     wpi_misplaced_attribute_change},
    {": error: 'alignas' attribute cannot be applied to types", NULL, AT_ERROR,
     wpi_misplaced_attribute_change},
    {": error: reference to __global__ function ", NULL, AT_ERROR, wpi_device_launch_change},
    {": error: no matching function for call to ", "call to __global__ function from", AT_ERROR,
     wpi_device_launch_change},
    {": error: reference to overloaded function could not be resolved", NULL, AT_ERROR,
     resolve_function},
    {": error: no matching function for call to '__wp_kernel_with_", NULL, AT_ERROR,
     wpi_device_launch_deduce},
    {": error: use of undeclared identifier '__wp_kernel_with_", NULL, AT_ERROR,
     wpi_device_launch_deduce},
    {": error: variable-sized object may not be initialized", NULL, AT_ERROR,
     wpi_variable_array_change},
    {": error: missing 'template' keyword prior to dependent template name", NULL, AT_ERROR,
     wpi_template_keyword_call},
    {": error: reference to non-static member function must be called", NULL, AT_ERROR,
     wpi_template_keyword_call},
    {": error: missing 'typename' prior to dependent type name '", NULL, AT_ERROR,
     wpi_typename_keyword_change},
    {": error: use 'template' keyword to treat '", NULL, AT_ERROR, wpi_template_keyword_change},
    {": error: static declaration of '", "' is a builtin with type '", AT_ERROR,
     wpi_builtin_name_change},
    {": error: target of using declaration conflicts with declaration already in scope",
     "include/c++/", AT_ERROR, wpi_std_name_change},
    {": error: expected expression", ": note: expanded from macro ", AT_LAST_NOTE,
     wpi_macro_pragma_change},
    {": error: expected member name or ';' after declaration specifiers",
     ": note: expanded from macro ", AT_LAST_NOTE, wpi_macro_pragma_change},
    {": error: expected unqualified-id", ": note: expanded from macro ", AT_LAST_NOTE,
     wpi_macro_pragma_change},
    {": error: expected expression", NULL, AT_ERROR, mend_expression},
    {": error: invalid operand number in inline asm string", NULL, AT_ERROR,
     wpi_asm_operand_escape},
    {": error: explicit qualification required to use member '", NULL, AT_ERROR,
     wpi_this_pointer_insert},
    {": error: ", ": note: use of 'this' pointer is only allowed within the evaluation of a call",
     AT_LAST_NOTE, wpi_this_pointer_change},
    {": error: invalid % escape in inline assembly string", ": note: expanded from macro ",
     AT_FIRST_NOTE, wpi_asm_register_escape},
    {": error: invalid % escape in inline assembly string", NULL, AT_ERROR, escape_file},
    {": error: no matching ",
     ": note: candidate constructor not viable: call to __device__ function from __host__ function",
     AT_LAST_NOTE, wpi_device_constructor_share},
    {": error: no viable conversion from returned value of type 'const __cuda_builtin_", NULL,
     AT_ERROR, wpi_builtin_variable_convert},
    {": error: no matching function for call to '",
     "no known conversion from 'const __cuda_builtin_", AT_ERROR, wpi_builtin_variable_convert},
    {": error: no viable conversion from 'const __cuda_builtin_", NULL, AT_ERROR,
     wpi_builtin_variable_convert},
    {": error: redeclaration of '", "__clang_cuda_builtin_vars.h", AT_ERROR,
     wpi_builtin_variable_redeclare},
    {": error: no function template matches function template specialization '",
     ": note: candidate template ignored: target attributes do not match", AT_ERROR,
     wpi_specialisation_both_sides},
    {": error: __host__ __device__ function '", ": note: previous declaration is here",
     AT_FIRST_NOTE, wpi_both_sides_insert}, /* … cannot overload __host__ function */
    {": error: __host__ function '", "' cannot overload __host__ __device__ function '", AT_ERROR,
     wpi_both_sides_insert},
    {": error: __device__ function '", "' cannot overload __host__ __device__ function '", AT_ERROR,
     wpi_both_sides_insert},
    {": error: variable of non-literal type '", NULL, AT_ERROR, wpi_misplaced_constexpr_remove},
    {": error: default arguments cannot be added to an out-of-line definition of a member of a "
     "class "
     "template",
     NULL, AT_ERROR, wpi_default_argument_remove},
    {": error: out-of-line definition of '", "' does not match any declaration in namespace '",
     AT_ERROR, wpi_out_of_line_template_enclose},
};

/* On the host side: any error in the body of a function for the device only. */
static const correction device_body = {": error: ", NULL, AT_ERROR, wpi_device_body_remove};

typedef struct place {
    char *path;
    unsigned long line, column;
    const correction *correction;
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

/* ---- the messages ---- */

/* Reads "path:line:column" of `length` bytes. */
static bool read_place(const char *text, size_t length, place *out) {
    char *copy = wpi_must_strndup(text, length);
    char *column = strrchr(copy, ':');
    if (column) *column++ = '\0';
    char *line = column ? strrchr(copy, ':') : NULL;
    if (line) {
        *line++ = '\0';
        *out = (place){.path = wpi_must_strdup(copy),
                       .line = strtoul(line, NULL, 10),
                       .column = strtoul(column, NULL, 10)};
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

static bool is_error(const char *line, size_t length) {
    static const char word[] = ": error: ";
    return memmem(line, length, word, sizeof word - 1) != NULL;
}

/* Whether a note of the error at `line` contains the text. */
static bool has_note(const char *line, const char *note) {
    for (;;) {
        line += strcspn(line, "\n");
        if (*line == '\0' || *++line == '\0') return false;
        size_t length = strcspn(line, "\n");
        if (is_error(line, length)) return false;
        if (memmem(line, length, note, strlen(note)) != NULL) return true;
    }
}

/* The first or last note of the error at `line` that contains the text, and where that begins. */
static const char *find_note(const char *line, const char *note, which_place which, size_t *at) {
    const char *last = NULL;
    for (;;) {
        line += strcspn(line, "\n");
        if (*line == '\0' || *++line == '\0') return last;
        const size_t length = strcspn(line, "\n");
        if (is_error(line, length)) return last;
        const char *found = memmem(line, length, note, strlen(note));
        if (found == NULL) continue;
        last = line;
        *at = (size_t)(found - line);
        if (which == AT_FIRST_NOTE) return last;
    }
}

/* The correction for the error at `line`, and where its message begins; NULL: there is none. */
static const correction *find_correction(const char *line, size_t length, size_t *at) {
    for (size_t i = 0; i < sizeof corrections / sizeof *corrections; i++) {
        const correction *c = &corrections[i];
        const char *found = memmem(line, length, c->message, strlen(c->message));
        if (found == NULL) continue;
        if (c->note != NULL && memmem(line, length, c->note, strlen(c->note)) == NULL &&
            !has_note(line, c->note))
            continue;
        *at = (size_t)(found - line);
        return c;
    }
    return NULL;
}

static void add_place(places *list, const char *line, size_t length, const correction *c) {
    place found;
    if (!read_place(line, length, &found)) return;
    found.correction = c;
    if (is_known(list, &found)) {
        wpi_free(found.path); /* of another instance of a template */
        return;
    }
    list->items = wpi_must_realloc(list->items, (list->count + 1) * sizeof *list->items);
    list->items[list->count++] = found;
}

/* The places of an error, and of the uses that led to it. */
static void add_uses(places *list, const char *line, size_t error_at) {
    static const char note[] = ": note: in instantiation of ";
    add_place(list, line, error_at, &device_body);
    while (*(line += strcspn(line, "\n")) != '\0') {
        line++;
        const size_t length = strcspn(line, "\n");
        if (is_error(line, length)) return;
        const char *found = memmem(line, length, note, sizeof note - 1);
        if (found != NULL) add_place(list, line, (size_t)(found - line), &device_body);
    }
}

static void find_places(const char *talk, bool is_host_side, places *list) {
    for (const char *line = talk; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t at;
        const size_t length = strcspn(line, "\n");
        const correction *own = find_correction(line, length, &at);
        if (own != NULL) {
            const char *where =
                own->place == AT_ERROR ? line : find_note(line, own->note, own->place, &at);
            add_place(list, where, at, own);
        } else if (is_host_side && is_error(line, length)) {
            add_uses(list, line, (size_t)(strstr(line, device_body.message) - line));
        }
    }
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

/* Changes the places of one file, the last one first: earlier places stay right. */
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
        char *changed = name ? last->correction->change(text, name) : NULL;
        if (!changed) continue;
        wpi_free(text);
        text = changed;
        *is_changed = true;
    }
    char *copy = wpi_job_temp(job, path, ".corrected");
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

wp_status wpi_corrections_apply(wpi_compile_job *job, const char *talk, bool *is_changed,
                                wp_error *err) {
    places list = {0};
    wp_status status = WP_STATUS_OK;
    *is_changed = false;
    json_t *roots = NULL, *before = NULL;
    find_places(talk, job->is_host_side, &list);
    if (list.count == 0) goto done;
    if (job->overlay) before = json_load_file(job->overlay, 0, NULL);
    roots = job->overlay ? json_incref(json_object_get(before, "roots")) : json_array();
    for (size_t i = 0; i < list.count && roots && status == WP_STATUS_OK; i++)
        if (!list.items[i].is_done) status = change_file(job, roots, &list, i, is_changed, err);
    if (status == WP_STATUS_OK && *is_changed) {
        wpi_free(job->overlay);
        job->overlay = wpi_job_temp(job, "corrected", ".overlay.json");
        status = wpi_overlay_write(job->overlay, roots, true, err);
    }
done:
    json_decref(roots);
    json_decref(before);
    destroy(&list);
    return status;
}
