/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/specialisation.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

static const char template_word[] = "template";

/* The `template` before `at`, in its statement; NULL: there is none. */
static const char *begin_of_template(const char *text, const char *at) {
    const char *from = at;
    while (strncmp(from, template_word, sizeof template_word - 1) != 0) {
        if (from == text || strchr(";{}", *from) != NULL) return NULL;
        from--;
    }
    return from;
}

char *wpi_specialisation_both_sides(const char *text, const char *at) {
    static const char blanks[] = " \t\r\n";
    const char *from = begin_of_template(text, at);
    if (from == NULL) return NULL;
    from += sizeof template_word - 1;
    from += strspn(from, blanks);
    if (*from++ != '<') return NULL;
    from += strspn(from, blanks);
    if (*from++ != '>') return NULL;
    return wpi_format("%.*s __host__ __device__%s", (int)(from - text), text, from);
}

/* The comma or parenthesis behind an expression; NULL: the text ends before. */
static const char *end_of_expression(const char *from) {
    int depth = 0;
    for (; *from != '\0'; from++) {
        if (depth == 0 && strchr(",)", *from) != NULL) return from;
        depth += strchr("([{", *from) != NULL;
        depth -= strchr(")]}", *from) != NULL;
    }
    return NULL;
}

char *wpi_default_argument_remove(const char *text, const char *at) {
    const char *first = at;
    while (isalnum((unsigned char)*first) || *first == '_')
        first++;
    const char *equals = first + strspn(first, " \t\r\n");
    if (*equals != '=') return NULL;
    const char *outer = end_of_expression(equals);
    return outer == NULL ? NULL : wpi_format("%.*s%s", (int)(first - text), text, outer);
}

/* Behind the first block in braces from `p` on; NULL: a statement ends before, or the text. */
static const char *end_of_body(const char *p) {
    int depth = 0;
    while (*p != '\0') {
        const size_t skipped = wpi_source_skip(p);
        if (skipped != 0) {
            p += skipped;
            continue;
        }
        if (depth == 0 && *p == ';') return NULL;
        depth += (*p == '{') - (*p == '}');
        if (*p++ == '}' && depth == 0) return p;
    }
    return NULL;
}

char *wpi_out_of_line_template_enclose(const char *text, const char *at) {
    const char *space = at; /* the begin of "outer::inner::" before the name */
    while (space - text > 2 && strncmp(space - 2, "::", 2) == 0) {
        space -= 2;
        while (space > text && (isalnum((unsigned char)space[-1]) || space[-1] == '_'))
            space--;
    }
    const char *begin = begin_of_template(text, at), *end = end_of_body(at);
    if (space == at || begin == NULL || end == NULL || !isalpha((unsigned char)*space)) return NULL;
    return wpi_format("%.*snamespace %.*s { %.*s%.*s }%s", (int)(begin - text), text,
                      (int)(at - 2 - space), space, (int)(space - begin), begin, (int)(end - at),
                      at, end);
}
