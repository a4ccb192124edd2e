/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/macro_pragmas.h"

#include <string.h>

#include "base/text.h"

/* Where the directive ends: the line, a comment, or the macro's line that goes on. */
static const char *end_of(const char *at) {
    for (; *at != '\0' && *at != '\n' && *at != '\r'; at++) {
        if (at[0] == '/' && (at[1] == '/' || at[1] == '*')) break;
        if (at[0] == '\\' && (at[1] == '\n' || at[1] == '\r')) break;
    }
    while (at[-1] == ' ' || at[-1] == '\t')
        at--;
    return at;
}

char *wpi_macro_pragma_change(const char *text, const char *at) {
    static const char name[] = "pragma";
    while (at[0] == '\\' &&
           (at[1] == '\n' || at[1] == '\r')) { /* the macro's first line is empty */
        at += at[1] == '\r' && at[2] == '\n' ? 3 : 2;
        at += strspn(at, " \t");
    }
    if (*at != '#') return NULL;
    const char *word = at + 1 + strspn(at + 1, " \t");
    if (strncmp(word, name, sizeof name - 1) != 0) return NULL;
    word += sizeof name - 1;
    if (*word != ' ' && *word != '\t') return NULL;
    word += strspn(word, " \t");
    wpi_text out = {0};
    wpi_text_append_n(&out, text, (size_t)(at - text));
    wpi_text_append(&out, "_Pragma(\"");
    const char *end = end_of(word);
    for (; word < end; word++) {
        if (*word == '"' || *word == '\\') wpi_text_append_n(&out, "\\", 1);
        wpi_text_append_n(&out, word, 1);
    }
    wpi_text_append(&out, "\")");
    wpi_text_append(&out, word);
    return wpi_text_take(&out);
}
