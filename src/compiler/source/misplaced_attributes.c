/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/misplaced_attributes.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/must.h"
#include "base/text.h"
#include "compiler/source/source_text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Words that may stand before the type of a declaration. */
static bool is_specifier(const char *word, size_t length) {
    static const char *const words[] = {
        "__shared__",      "__device__", "__constant__", "__managed__", "__host__",
        "__forceinline__", "virtual",    "explicit",     "extern",      "static",
        "const",           "volatile",   "constexpr",    "inline",      "thread_local"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0) return true;
    return false;
}

/* The first of the specifiers that end at `end`, or `end`. */
static const char *first_specifier(const char *text, const char *end) {
    for (const char *first = end;;) {
        const char *outer = end;
        while (outer > text && isspace((unsigned char)outer[-1]))
            outer--;
        const char *word = outer;
        while (word > text && is_word_char(word[-1]))
            word--;
        if (!is_specifier(word, (size_t)(outer - word))) return first;
        first = end = word;
    }
}

/* Behind `alignas(…)` or `[[…]]`; NULL: neither is there, or it does not end. */
static const char *end_of_attribute(const char *at) {
    static const char name[] = "alignas";
    const bool is_list = strncmp(at, "[[", 2) == 0;
    if (!is_list && strncmp(at, name, sizeof name - 1) != 0) return NULL;
    const char *end = is_list ? at : at + sizeof name - 1;
    int depth = 0;
    do {
        if (*end == '\0') return NULL;
        depth += (strchr("([", *end) != NULL) - (strchr(")]", *end) != NULL);
        end++;
    } while (depth > 0 || strchr(")]", end[-1]) == NULL);
    return end;
}

char *wpi_misplaced_attribute_change(const char *text, const char *at) {
    const char *end = end_of_attribute(at);
    if (end == NULL) return NULL;
    const char *first = first_specifier(text, at);
    if (first == at) return NULL;
    return wpi_format("%.*s%.*s %.*s%s", (int)(first - text), text, (int)(end - at), at,
                      (int)(at - first), first, end);
}

/* ---- constexpr ---- */

#define NESTING_MAX 64u

/* What stands before an open brace: from the statement's end before it. */
typedef struct opening {
    const char *head, *brace;
} opening;

/* The braces that are open at `at`, the outermost first; UINT32_MAX: too many. */
static uint32_t open_braces(const char *text, const char *at, opening out[NESTING_MAX]) {
    uint32_t count = 0;
    const char *head = text;
    int parentheses = 0;
    for (const char *p = text; p < at;) {
        const size_t skipped = wpi_source_skip(p);
        if (skipped != 0) {
            p += skipped;
            continue;
        }
        parentheses += (*p == '(') - (*p == ')');
        if (*p == '{') {
            if (count == NESTING_MAX) return UINT32_MAX;
            out[count++] = (opening){head, p};
        }
        if (*p == '}' && count > 0) count--;
        p++;
        if (p[-1] == '{' || p[-1] == '}' || (p[-1] == ';' && parentheses == 0)) head = p;
    }
    return count;
}

static bool is_after_if(const char *head, const char *word) {
    while (word > head && isspace((unsigned char)word[-1]))
        word--;
    return word - head >= 2 && strncmp(word - 2, "if", 2) == 0;
}

/* As a lambda's specifiers are. */
static bool is_after_parameters(const char *head, const char *word) {
    while (word > head && isspace((unsigned char)word[-1]))
        word--;
    return word > head && word[-1] == ')' && memchr(head, '[', (size_t)(word - head)) != NULL;
}

/* The word constexpr among a function's specifiers; NULL: there is none. */
static const char *find_constexpr(const opening *o) {
    static const char name[] = "constexpr";
    const size_t length = sizeof name - 1;
    for (const char *p = o->head; p + length <= o->brace; p++) {
        const size_t skipped = wpi_source_skip(p);
        if (skipped != 0) {
            p += skipped - 1;
        } else if (strncmp(p, name, length) == 0 && !is_word_char(p[length]) &&
                   (p == o->head || !is_word_char(p[-1])) && !is_after_if(o->head, p)) {
            return p;
        }
    }
    return NULL;
}

char *wpi_misplaced_constexpr_remove(const char *text, const char *at) {
    opening open[NESTING_MAX];
    uint32_t count = open_braces(text, at, open);
    if (count == UINT32_MAX) return NULL;
    while (count-- > 0) {
        const char *word = find_constexpr(&open[count]);
        if (word == NULL) continue;
        char *changed = wpi_must_strdup(text);
        /* constexpr functions are inline */
        memcpy(changed + (word - text),
               is_after_parameters(open[count].head, word) ? "         " : "inline   ", 9);
        return changed;
    }
    return NULL;
}
