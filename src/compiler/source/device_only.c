/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "compiler/source/device_only.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

enum { DEPTH_MAX = 256 };

/* A brace that is open, and the text before it. */
typedef struct scope {
    const char *head, *brace;
} scope;

static const char *find_word(const scope *s, const char *word) {
    const size_t length = strlen(word);
    for (const char *p = s->head; p + length <= s->brace; p++)
        if (strncmp(p, word, length) == 0) return p;
    return NULL;
}

static bool is_lambda(const char *head, const char *attribute) {
    while (attribute > head && isspace((unsigned char)attribute[-1]))
        attribute--;
    return attribute - head >= 2 && attribute[-1] == ']' && attribute[-2] != ']';
}

/* Whether the brace begins the body of a function for the device only that can do without.
 * Libraries write the attribute as a macro, such as CCCL's _CCCL_DEVICE and _CCCL_HOST_DEVICE. */
static bool is_device_body(const scope *s) {
    const char *attribute = find_word(s, "__global__");
    if (attribute == NULL) attribute = find_word(s, "__device__");
    if (attribute == NULL) attribute = find_word(s, "_DEVICE");
    if (attribute == NULL || find_word(s, "__host__") != NULL || find_word(s, "HOST") != NULL ||
        is_lambda(s->head, attribute))
        return false;
    return find_word(s, ")") != NULL && find_word(s, "constexpr") == NULL &&
           (find_word(s, "auto") == NULL || find_word(s, "->") != NULL);
}

/* The braces that are open at `at`; their number, or 0 if there are too many. */
static int find_scopes(const char *text, const char *at, scope open[DEPTH_MAX]) {
    const char *head = text;
    int depth = 0;
    for (const char *p = text; p < at && *p != '\0';) {
        const size_t skipped = wpi_source_skip(p);
        if (skipped > 0) {
            p += skipped;
            continue;
        }
        if (*p == '{') {
            if (depth == DEPTH_MAX) return 0;
            open[depth++] = (scope){head, p};
        }
        if (*p == '}' && depth > 0) depth--;
        if (strchr(";{}", *p) != NULL) head = p + 1;
        p++;
    }
    return depth;
}

/* The brace that closes the one at `brace`, or the end of the text. */
static const char *closing_brace(const char *brace) {
    int depth = 0;
    for (const char *p = brace;;) {
        const size_t skipped = wpi_source_skip(p);
        depth += (*p == '{') - (*p == '}');
        if (*p == '\0' || depth == 0) return p;
        p += skipped > 0 ? skipped : 1;
    }
}

char *wpi_device_body_remove(const char *text, const char *at) {
    scope open[DEPTH_MAX];
    const int depth = find_scopes(text, at, open);
    for (int i = 0; i < depth; i++) {
        if (!is_device_body(&open[i])) continue;
        const char *body = open[i].brace + 1, *end = closing_brace(open[i].brace);
        wpi_text out = {0};
        wpi_text_append_n(&out, text, (size_t)(body - text));
        wpi_text_append(&out, " __builtin_trap(); ");
        for (const char *p = body; p < end; p++)
            if (*p == '\n') wpi_text_append_n(&out, p, 1);
        wpi_text_append(&out, end);
        return wpi_text_take(&out);
    }
    return NULL;
}

char *wpi_device_constructor_share(const char *text, const char *at) {
    static const char word[] = "template";
    const bool has_templates = memmem(text, (size_t)(at - text), word, sizeof word - 1) != NULL;
    if (!has_templates || (!isalpha((unsigned char)*at) && *at != '_')) return NULL;
    return wpi_format("%.*s__host__ %s", (int)(at - text), text, at);
}

char *wpi_both_sides_insert(const char *text, const char *at) {
    if (!isalpha((unsigned char)*at) && *at != '_' && *at != '~') return NULL;
    const char *name = at; /* before "outer::" */
    while (name > text && (isalnum((unsigned char)name[-1]) || strchr("_:", name[-1]) != NULL))
        name--;
    return wpi_format("%.*s__host__ __device__ %s", (int)(name - text), text, name);
}
