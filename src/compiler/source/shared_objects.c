/* SPDX-License-Identifier: Apache-2.0 */
/* A declaration becomes, on its own lines,
 *
 *     __shared__ wp_shared_object<T> wpi_of_x; auto &x = wpi_of_x.object();
 *
 * and `extern __shared__ T x;`, which only clang refuses, an array and its first element:
 *
 *     extern __shared__ T wpi_first_of_x[]; auto &x = wpi_first_of_x[0];
 *
 * An array with a size, `extern __shared__ T x[N];`, loses it: the launch gives the size.
 */
#define _GNU_SOURCE /* memmem, memrchr */
#include "compiler/source/shared_objects.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

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

/* The next comma between declarators in [p, end), or NULL. */
static const char *next_comma(const char *p, const char *end) {
    for (int depth = 0; p < end; p++) {
        depth += (strchr("<([", *p) != NULL) - (strchr(">)]", *p) != NULL);
        if (*p == ',' && depth == 0) return p;
    }
    return NULL;
}

/* Where the name of the declarator begins that ends at `end`; NULL: it has another form. */
static const char *name_before(const char *begin, const char *end) {
    while (end && end > begin && !is_word_char(end[-1]))
        end = end[-1] == ']' ? memrchr(begin, '[', (size_t)(end - begin)) : end - 1;
    while (end && end > begin && is_word_char(end[-1]))
        end--;
    return end;
}

static size_t word_length(const char *word) {
    size_t length = 0;
    while (is_word_char(word[length]))
        length++;
    return length;
}

char *wpi_shared_object_change(const char *text, const char *name) {
    static const char word[] = "__shared__";
    const size_t length = word_length(name);
    const char *end = skip_blank(name + length), *sizes = end;
    while (*end == '[' && closing(end))
        end = skip_blank(closing(end) + 1);
    const char *begin = name;
    while (begin > text && strncmp(begin, word, strlen(word)) != 0 && !strchr(";{}", begin[-1]))
        begin--;
    if (length == 0 || *end != ';' || strncmp(begin, word, strlen(word)) != 0) return NULL;
    const char *type = skip_attributes(begin + strlen(word)), *type_end = name;
    /* One of several: those before it stay a declaration of their own. */
    const char *kept = NULL;
    for (const char *c = next_comma(type, name); c; c = next_comma(c + 1, name)) {
        if (!kept) type_end = name_before(type, c);
        kept = c;
    }
    if (!type_end || memchr(type, '*', (size_t)(type_end - type))) return NULL;
    return wpi_format("%.*s%s%.*s wp_shared_object<%.*s %.*s> wpi_of_%.*s; auto &%.*s = "
                      "wpi_of_%.*s.object()%s",
                      (int)((kept ? kept : begin) - text), text, kept ? "; " : "",
                      (int)(type - begin), begin, (int)(type_end - type), type, (int)(end - sizes),
                      sizes, (int)length, name, (int)length, name, (int)length, name, end);
}

/* Whether the brace at `brace` opens a namespace, or the declarations of extern "C". */
static bool is_namespace(const char *text, const char *brace) {
    const char *from = brace, *last = brace;
    while (from > text && !strchr(";{}", from[-1]))
        from--;
    while (last > from && isspace((unsigned char)last[-1]))
        last--;
    if (last == from || last[-1] == ')') return false; /* of a function; a comment may name one */
    return last[-1] == '"' || memmem(from, (size_t)(brace - from), "namespace", 9);
}

static bool is_in_function(const char *text, const char *at) {
    int depth = 0, hidden = 0; /* braces of namespaces that are open */
    for (const char *p = text; p < at; p++) {
        const size_t skipped = wpi_source_skip(p);
        p += skipped ? skipped - 1 : 0;
        if (skipped) continue;
        if (*p == '{') {
            if (depth == hidden && is_namespace(text, p)) hidden++;
            depth++;
        } else if (*p == '}' && depth > 0) {
            if (depth == hidden) hidden--;
            depth--;
        }
    }
    return depth > hidden;
}

/* `text` without what is in the brackets at `open`; NULL: there is nothing, or other declarators.
 */
static char *without_size(const char *text, const char *at, const char *open, const char *end) {
    const char *close = closing(open);
    if (!close || skip_blank(open + 1) == close || next_comma(at, end)) return NULL;
    return wpi_format("%.*s%s", (int)(open + 1 - text), text, close);
}

char *wpi_extern_shared_change(const char *text, const char *at) {
    const char *end = strchr(at, ';'), *name = end ? name_before(at, end) : NULL;
    const int length = name ? (int)word_length(name) : 0;
    const char *behind = name ? skip_blank(name + length) : NULL;
    if (length > 0 && *behind == '[') return without_size(text, at, behind, end);
    if (length == 0 || behind != end || !is_in_function(text, at)) return NULL;
    return wpi_format("%.*swpi_first_of_%.*s[]; auto &%.*s = wpi_first_of_%.*s[0]%s",
                      (int)(name - text), text, length, name, length, name, length, name, end);
}
