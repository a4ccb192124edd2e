/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/template_keyword.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

char *wpi_template_keyword_change(const char *text, const char *at) {
    const char *before = at;
    if (!isalpha((unsigned char)*at) && *at != '_') return NULL;
    while (before > text && isspace((unsigned char)before[-1]))
        before--;
    const bool is_scope = before - text >= 2 && before[-1] == ':' && before[-2] == ':';
    const bool is_arrow = before - text >= 2 && before[-1] == '>' && before[-2] == '-';
    const bool is_member = before > text && before[-1] == '.';
    if (!is_scope && !is_arrow && !is_member) return NULL;
    return wpi_format("%.*stemplate %s", (int)(at - text), text, at);
}

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Behind the list <…> that begins at `p`; NULL: it does not end, or is none. */
static const char *behind_list(const char *p) {
    int depth = 0;
    for (; *p && *p != ';' && *p != '{'; p++) {
        depth += (*p == '<') - (*p == '>');
        if (depth == 0) return p + 1;
    }
    return NULL;
}

/* object.f<4>(x) and object.operator()<4>(x), at the name behind the dot. */
static char *change_member(const char *text, const char *at) {
    static const char word[] = "operator";
    const char *p = at;
    while (is_word_char(*p))
        p++;
    const bool is_operator =
        (size_t)(p - at) == sizeof word - 1 && strncmp(at, word, sizeof word - 1) == 0;
    for (const char *next = is_operator ? "()<" : "<"; *next; next++) {
        p += strspn(p, " \t");
        if (*p++ != *next) return NULL;
    }
    return *p == '<' ? NULL : wpi_template_keyword_change(text, at);
}

char *wpi_template_keyword_call(const char *text, const char *at) {
    bool is_dependent = false; /* behind a list of arguments */
    for (const char *p = at; is_word_char(*p);) {
        const char *name = p;
        while (is_word_char(*p))
            p++;
        if (*p == '<' && is_dependent)
            return wpi_format("%.*stemplate %s", (int)(name - text), text, name);
        if (*p == '<') {
            p = behind_list(p);
            if (!p) return NULL;
            is_dependent = true;
        }
        if (p[0] != ':' || p[1] != ':') break;
        p += 2;
    }
    return change_member(text, at);
}

char *wpi_typename_keyword_change(const char *text, const char *at) {
    if (!is_word_char(*at) && *at != ':') return NULL;
    return wpi_format("%.*stypename %s", (int)(at - text), text, at);
}

char *wpi_template_comma_remove(const char *text, const char *at) {
    const char *comma = at;
    do {
        if (comma == text) return NULL;
        comma--;
    } while (isspace((unsigned char)*comma));
    if (*at != '>' || *comma != ',') return NULL;
    return wpi_format("%.*s%s", (int)(comma - text), text, comma + 1);
}
