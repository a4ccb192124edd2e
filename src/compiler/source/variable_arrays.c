/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/variable_arrays.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "compiler/source/source_text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static const char *skip_spaces(const char *p) {
    for (;;) {
        const size_t skipped = *p == '/' ? wpi_source_skip(p) : 0; /* a comment */
        if (skipped == 0 && !isspace((unsigned char)*p)) return p;
        p += skipped > 0 ? skipped : 1;
    }
}

/* Behind the bracket that closes the one at `p`; NULL: there is none. */
static const char *behind_brackets(const char *p) {
    int depth = 0;
    while (*p != '\0') {
        const size_t skipped = wpi_source_skip(p);
        if (skipped > 0) {
            p += skipped;
            continue;
        }
        depth += (*p == '(' || *p == '[' || *p == '{') - (*p == ')' || *p == ']' || *p == '}');
        p++;
        if (depth == 0) return p;
    }
    return NULL;
}

/* Behind the semicolon that ends the declaration; NULL: there is none before its block ends. */
static const char *behind_declaration(const char *p) {
    while (*p != '\0' && *p != '}' && *p != ')') {
        const size_t skipped = wpi_source_skip(p);
        if (skipped > 0) {
            p += skipped;
        } else if (*p == '(' || *p == '[' || *p == '{') {
            p = behind_brackets(p);
            if (p == NULL) return NULL;
        } else if (*p++ == ';') {
            return p;
        }
    }
    return NULL;
}

char *wpi_variable_array_change(const char *text, const char *at) {
    while (at > text && isspace((unsigned char)at[-1]))
        at--;
    if (at == text || *--at != '[') return NULL;
    const char *name_end = at;
    while (name_end > text && isspace((unsigned char)name_end[-1]))
        name_end--;
    const char *name = name_end;
    while (name > text && is_word_char(name[-1]))
        name--;
    if (name == name_end) return NULL;
    int bounds = 0;
    while (*at == '[') {
        at = behind_brackets(at);
        if (at == NULL || ++bounds > 3) return NULL;
        at = skip_spaces(at);
    }
    const char *list = *at == '=' ? skip_spaces(at + 1) : at;
    const char *list_end = *list == '{' ? behind_brackets(list) : NULL;
    const char *end = list_end != NULL ? behind_declaration(list_end) : NULL;
    if (end == NULL) return NULL;
    const int length = (int)(name_end - name);
    char *first = wpi_format("%.*s[0]", length, name);
    const int list_length = (int)(list_end - list);
    char *call = NULL;
    if (bounds == 1)
        call = wpi_format(" __wp_fill_row(&%s, sizeof %.*s / sizeof %s, %.*s);", first, length,
                          name, first, list_length, list);
    else if (bounds == 2)
        call = wpi_format(" __wp_fill_rows(__wp_first_choice(), &%s[0], sizeof %.*s / sizeof %s, "
                          "sizeof %s / sizeof %s[0], %.*s);",
                          first, length, name, first, first, first, list_length, list);
    else
        call =
            wpi_format(" __wp_fill_blocks(&%s[0][0], sizeof %.*s / sizeof %s, "
                       "sizeof %s / sizeof %s[0], sizeof %s[0] / sizeof %s[0][0], %.*s);",
                       first, length, name, first, first, first, first, first, list_length, list);
    char *changed = wpi_format("%.*s%.*s%s%s", (int)(at - text), text, (int)(end - list_end),
                               list_end, call, end);
    wpi_free(call);
    wpi_free(first);
    return changed;
}
