/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/asm_syntax.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

static size_t word_length(const char *p) {
    size_t length = 0;
    while (is_word_char(p[length]))
        length++;
    return length;
}

static bool is_one_of(const char *word, size_t length, const char *const *list) {
    for (; *list; list++)
        if (strlen(*list) == length && memcmp(*list, word, length) == 0) return true;
    return false;
}

/* Blanks, continued lines and comments. */
static const char *skip_blank(const char *p) {
    for (;;) {
        size_t comment = *p == '/' ? wpi_source_skip(p) : 0;
        if (comment)
            p += comment;
        else if (isspace((unsigned char)*p) || (*p == '\\' && (p[1] == '\n' || p[1] == '\r')))
            p++;
        else
            return p;
    }
}

/* The length of a raw string R"x(…)x" at `p`; 0: none. */
static size_t raw_string(const char *p) {
    if (p[0] != 'R' || p[1] != '"') return 0;
    size_t name = strcspn(p + 2, "(\"\\ \n");
    if (p[2 + name] != '(' || name > 16) return 0;
    char close[20] = ")";
    memcpy(close + 1, p + 2, name);
    close[1 + name] = '"';
    const char *end = strstr(p + 3 + name, close);
    return end ? (size_t)(end - p) + name + 2 : 0;
}

/* Length of the string literal at `p`, or 0. */
static size_t string_length(const char *p) {
    return *p == '"' ? wpi_source_skip(p) : raw_string(p);
}

/* Finds the ":" that ends an asm statement's strings. NULL: no operands, so percent signs have no
 * meaning. */
static const char *find_operands(const char *p) {
    for (int depth = 0; *p;) {
        size_t length = string_length(p);
        if (!length) length = wpi_source_skip(p);
        if (!length && is_word_char(*p)) length = word_length(p);
        if (length) {
            p += length;
            continue;
        }
        if (*p == ':' && depth == 0) return p;
        if (*p == ';' || (*p == ')' && depth == 0)) return NULL;
        depth += (*p == '(') - (*p == ')');
        p++;
    }
    return NULL;
}

/* Whether a percent sign must be doubled: before a name that cannot be an operand. */
static bool is_register(const char *p) {
    if (p[0] != '%' || !(isalpha((unsigned char)p[1]) || p[1] == '_')) return false;
    return isalpha((unsigned char)p[2]) || p[2] == '_';
}

/* `is_half`: the text before, in another literal, ended with a percent sign that has no partner. */
static bool copy_string(wpi_text *out, const char *p, size_t length, bool *is_half) {
    bool any = false;
    const char *end = p + length;
    const char *first = *p == '"' ? p + 1 : strchr(p, '(') + 1;
    const char *outer = *p == '"' ? end - 1 : end - (first - p - 1);
    wpi_text_append_n(out, p, (size_t)(first - p));
    for (p = first; p < outer; p++) {
        bool is_percent = *p == '%', is_second = is_percent && *is_half;
        if (is_percent && !is_second && is_register(p)) {
            wpi_text_append(out, "%");
            any = true;
        } else {
            *is_half = is_percent && !is_second;
        }
        wpi_text_append_n(out, p, 1);
    }
    wpi_text_append_n(out, outer, (size_t)(end - outer));
    return any;
}

/* The "(" of an asm statement whose first word begins at `p`, or NULL. */
static const char *find_open(const char *p) {
    static const char *const names[] = {"asm", "__asm__", "__asm", NULL};
    static const char *const between[] = {"volatile", "__volatile__", "__volatile",
                                          "inline",   "__inline__",   NULL};
    size_t length = word_length(p);
    if (!is_one_of(p, length, names)) return NULL;
    for (p = skip_blank(p + length); (length = word_length(p)); p = skip_blank(p + length))
        if (!is_one_of(p, length, between)) return NULL;
    return *p == '(' ? p : NULL;
}

/* Whether the ")" at `p`, which ends an operand, lacks a comma before the next one. */
static bool lacks_comma(const char *p) {
    return *skip_blank(p + 1) == '"';
}

char *wpi_asm_syntax_escape(const char *text) {
    wpi_text out = {0};
    bool any = false, is_half = false;
    int depth = -1; /* of parentheses among operands; < 0: elsewhere */
    for (const char *p = text, *end = text; *p;) {
        size_t length = string_length(p);
        if (length && p < end) { /* between "(" and ":" of an asm statement */
            any |= copy_string(&out, p, length, &is_half);
            p += length;
            continue;
        }
        if (!length) length = wpi_source_skip(p);
        if (!length && is_word_char(*p)) {
            length = word_length(p);
            const char *open = p >= end ? find_open(p) : NULL, *operands = NULL;
            if (open) operands = find_operands(open + 1);
            if (operands) {
                end = operands;
                is_half = false;
                depth = -1;
            }
        }
        if (p == end && *p == ':') depth = 0;
        if (depth >= 0 && !length) {
            depth += (*p == '(') - (*p == ')');
            if (*p == ')' && depth == 0 && lacks_comma(p)) {
                wpi_text_append(&out, "),");
                any = true;
                p++;
                continue;
            }
        }
        if (!length) length = 1;
        wpi_text_append_n(&out, p, length);
        p += length;
    }
    if (any) return wpi_text_take(&out);
    wpi_text_deinit(&out);
    return NULL;
}

char *wpi_asm_operand_escape(const char *text, const char *at) {
    while (at > text && at[-1] != '\n' && *at != '%' && *at != '"')
        at--;
    if (*at != '%' || at[1] < '0' || at[1] > '9' || (at > text && at[-1] == '%')) return NULL;
    return wpi_format("%.*s%%%s", (int)(at - text), text, at);
}

char *wpi_asm_register_escape(const char *text, const char *at) {
    const char *end = at;
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    if (end - text < 3 || end[-1] != '"' || end[-2] != '%' || end[-3] == '%') return NULL;
    return wpi_format("%.*s%%%s", (int)(end - 1 - text), text, end - 1);
}
