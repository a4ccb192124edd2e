/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration becomes, on its own lines,
 *
 *     __shared__ wp_shared_object<T> wpi_of_x; auto &x = wpi_of_x.object();
 */
#include "compiler/source/shared_objects.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

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

char *wpi_shared_object_change(const char *text, const char *name) {
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
