/* SPDX-License-Identifier: Apache-2.0 */
/* PTX of several texts is one text: a function that one declares (.extern) and another defines has
 * both in it. A variable's declaration is dropped, and its definition comes first. Names that are
 * not exported must differ, as the translation says otherwise. */
#include "cudart/link_input.h"

#include <ctype.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/ptx_carrier.h"
#include "device/fat_binary.h"
#include "device/ptx_module.h"
#include "device/ptx_parts.h"

static void append_text(wpi_link_input *link, const char *text) {
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        const char *first = at + strspn(at, " \t");
        if (link->count == 0 || !wpi_ptx_is_header(first)) {
            wpi_text_append_n(&link->ptx, at, length);
            wpi_text_append(&link->ptx, "\n");
        }
        at += length + (at[length] == '\n');
    }
}

/* ---- variables of other texts: compilers write each on a line ---- */

typedef struct variable_line {
    const char *first, *name;
    size_t length, name_length;
    bool is_extern;
} variable_line;

static const char *skip_word(const char *at, const char *word) {
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && at[length] == ' ' ? at + length + 1 : NULL;
}

/* Whether the line at `at` declares or defines a variable of all kernels. */
static bool read_variable(const char *at, variable_line *out) {
    const char *p = at, *after;
    *out = (variable_line){.first = at, .length = strcspn(at, "\n")};
    if ((after = skip_word(p, ".extern")) != NULL)
        out->is_extern = true, p = after;
    else if ((after = skip_word(p, ".visible")) != NULL || (after = skip_word(p, ".weak")) != NULL)
        p = after;
    if (skip_word(p, ".global") == NULL && skip_word(p, ".const") == NULL) return false;
    if (out->length == 0 || at[out->length - 1] != ';') return false;
    const char *end = p + strcspn(p, "[=;\n");
    while (end > p && isspace((unsigned char)end[-1]))
        end--;
    out->name = end;
    while (out->name > p && !isspace((unsigned char)out->name[-1]))
        out->name--;
    out->name_length = (size_t)(end - out->name);
    return out->name_length > 0;
}

/* The definition of what `declared` names; false: there is none. */
static bool find_definition(const char *text, const variable_line *declared, variable_line *out) {
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
        if (read_variable(at, out) && !out->is_extern &&
            out->name_length == declared->name_length &&
            memcmp(out->name, declared->name, declared->name_length) == 0)
            return true;
    return false;
}

static bool find_declaration(const char *text, const variable_line *defined, variable_line *out) {
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at == '\n')
        if (read_variable(at, out) && out->is_extern && out->name_length == defined->name_length &&
            memcmp(out->name, defined->name, defined->name_length) == 0)
            return true;
    return false;
}

/* The text with the definitions of declared variables behind its header, and without their
 * declarations. */
static void settle_variables(const char *text, wpi_text *out) {
    variable_line line, other;
    bool is_settled = false;
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        const bool is_before = length == 0 || wpi_ptx_is_header(at) || strncmp(at, "//", 2) == 0;
        if (!is_settled && !is_before) {
            is_settled = true;
            for (const char *v = text; *v != '\0'; v += strcspn(v, "\n"), v += *v == '\n')
                if (read_variable(v, &line) && !line.is_extern &&
                    find_declaration(text, &line, &other)) {
                    wpi_text_append_n(out, line.first, line.length);
                    wpi_text_append(out, "\n");
                }
        }
        const bool is_variable = read_variable(at, &line);
        const bool is_moved =
            is_variable && !line.is_extern && find_declaration(text, &line, &other);
        const bool is_dropped =
            is_variable && line.is_extern && find_definition(text, &line, &other);
        if (!is_moved && !is_dropped) {
            wpi_text_append_n(out, at, length);
            wpi_text_append(out, "\n");
        }
        at += length + (at[length] == '\n');
    }
}

static bool is_foreign_ptx(const char *text) {
    void *image;
    size_t size_bytes, length;
    if (strstr(text, ".version") == NULL) return false;
    if (wpi_ptx_carrier_read(text, &image, &size_bytes, &length, NULL) == WP_STATUS_NOT_FOUND)
        return true;
    wpi_free(image);
    return false;
}

/* The input's text (wpi_free); NULL: it is none. */
static char *text_of(const void *data, size_t size_bytes) {
    char *text = NULL;
    if (size_bytes >= 4 && wpi_fat_binary_is(data)) {
        if (wpi_fat_binary_ptx(data, size_bytes, &text, NULL) != WP_STATUS_OK) return NULL;
    } else {
        const size_t length = strnlen(data, size_bytes);
        if (length + 1 < size_bytes) return NULL; /* bytes after a NUL */
        text = wpi_strndup(data, length);
    }
    if (text != NULL && is_foreign_ptx(text)) return text;
    wpi_free(text);
    return NULL;
}

static wp_status refuse(wp_error *err) {
    return WP_FAIL(err, UNSUPPORTED,
                   "Warpage links texts of PTX, or one image: compile the sources to PTX by "
                   "another compiler, together, or with wpcc -rdc=true -dlink");
}

wp_status wpi_link_input_add(wpi_link_input *link, const void *data, size_t size_bytes,
                             wp_error *err) {
    if (link->image != NULL) return refuse(err);
    char *text = text_of(data, size_bytes);
    if (text == NULL && link->count != 0) return refuse(err);
    if (text == NULL) WP_TRY(wpi_module_image_copy(data, size_bytes, &link->image, err));
    if (text != NULL) append_text(link, text);
    link->count++;
    wpi_free(text);
    return WP_STATUS_OK;
}

wp_status wpi_link_input_complete(wpi_link_input *link, wp_error *err) {
    if (link->image != NULL) return WP_STATUS_OK;
    if (link->count == 0) return WP_FAIL(err, INVALID, "there is nothing to link");
    const char *text = wpi_text_string(&link->ptx);
    if (strstr(text, ".extern .global ") != NULL || strstr(text, ".extern .const ") != NULL) {
        wpi_text settled = {0};
        settle_variables(text, &settled);
        wpi_text_deinit(&link->ptx);
        link->ptx = settled;
    }
    return wpi_module_image_copy(wpi_text_string(&link->ptx), 0, &link->image, err);
}

void wpi_link_input_deinit(wpi_link_input *link) {
    wpi_text_deinit(&link->ptx);
    wpi_free(link->image);
    *link = (wpi_link_input){0};
}
