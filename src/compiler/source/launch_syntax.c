/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/launch_syntax.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

/* At `c` twice, blanks, `c`: moves the third next to the others. */
static bool join(char *p, char c) {
    if (p[0] != c || p[1] != c) return false;
    size_t blanks = strspn(p + 2, " \t");
    if (blanks == 0 || p[2 + blanks] != c) return false;
    p[2 + blanks] = ' ';
    p[2] = c;
    return true;
}

/* `operator<< <T>` is a template's name. */
static bool is_operator(const char *text, const char *at) {
    static const char word[] = "operator";
    while (at > text && isspace((unsigned char)at[-1]))
        at--;
    return (size_t)(at - text) >= sizeof word - 1 &&
           strncmp(at - (sizeof word - 1), word, sizeof word - 1) == 0;
}

bool wpi_launch_syntax_join(char *text) {
    bool is_open = false, any = false;
    for (char *p = text; *p;) {
        char *next = p + wpi_source_skip(p);
        if (next != p) {
            p = next;
            continue;
        }
        /* Else `<< <` has no other meaning in C++; `>> >` may close templates, so it counts only
         * after an opening one.
         */
        if (strncmp(p, "<<", 2) == 0 && is_operator(text, p)) {
            p += 2;
        } else if (join(p, '<')) {
            is_open = any = true;
            p += 3;
        } else if (is_open && (strncmp(p, ">>>", 3) == 0 || join(p, '>'))) {
            is_open = false;
            p += 3;
        } else {
            p++;
        }
    }
    return any;
}

static int depth_of(char c) {
    return (c == '(' || c == '{' || c == '[') - (c == ')' || c == '}' || c == ']');
}

/* The `<<<` of the launch that has `at` among its arguments, and which argument it is; NULL: it is
 * in none. */
static const char *find_launch(const char *text, const char *at, unsigned *argument) {
    int depth = 0;
    *argument = 0;
    for (const char *p = at; p > text;) {
        p--;
        depth -= depth_of(*p);
        if (depth < 0 || *p == ';') return NULL;
        if (depth > 0) continue;
        if (*p == ',') ++*argument;
        if (strncmp(p, "<<<", 3) == 0) return p;
    }
    return NULL;
}

char *wpi_launch_syntax_braces(const char *text, const char *at) {
    static const char *const types[] = {"dim3", "dim3", "size_t", "cudaStream_t"};
    unsigned argument;
    if (*at != '{' || find_launch(text, at, &argument) == NULL) return NULL;
    wpi_text out = {0};
    wpi_text_append_n(&out, text, (size_t)(at - text));
    int depth = 0;
    char before = ','; /* the character before, blanks left out */
    for (; *at != '\0' && *at != ';' && strncmp(at, ">>>", 3) != 0; at++) {
        if (depth == 0 && *at == '{' && before == ',' && argument < sizeof types / sizeof *types)
            wpi_text_append(&out, types[argument]);
        if (depth == 0 && *at == ',') argument++;
        depth += depth_of(*at);
        if (!isspace((unsigned char)*at)) before = *at;
        wpi_text_append_n(&out, at, 1);
    }
    wpi_text_append(&out, at);
    return wpi_text_take(&out);
}
