/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/specialisation.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

char *wpi_specialisation_both_sides(const char *text, const char *at) {
    static const char word[] = "template", blanks[] = " \t\r\n";
    const size_t length = sizeof word - 1;
    const char *from = at;
    while (from > text && strncmp(from, word, length) != 0) {
        if (strchr(";{}", *from) != NULL) return NULL;
        from--;
    }
    if (strncmp(from, word, length) != 0) return NULL;
    from += length;
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
