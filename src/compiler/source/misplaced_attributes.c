/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/misplaced_attributes.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

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
