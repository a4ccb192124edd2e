/* SPDX-License-Identifier: Apache-2.0 */
#include "base/roff.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One character of UTF-8 as its number; `*at` moves behind it. Malformed bytes are '?'. */
static uint32_t next_character(const char **at) {
    const unsigned char first = (unsigned char)*(*at)++;
    const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    uint32_t number = more == 0 ? first : first & (0x3fu >> more);
    if (first >= 0x80 && more == 0) return '?';
    for (int i = 0; i < more; i++) {
        if (((unsigned char)**at & 0xc0) != 0x80) return '?';
        number = number << 6 | ((unsigned char)*(*at)++ & 0x3f);
    }
    return number;
}

/* `is_start`: of a line, where '.' and '\'' would begin a request. */
static void append(wp_text *page, const char *text, bool is_start) {
    while (*text != '\0') {
        if (is_start && (text[0] == '.' || text[0] == '\'')) wp_text_append(page, "\\&");
        is_start = text[0] == '\n';
        const uint32_t c = next_character(&text);
        switch (c) {
        case '\\': wp_text_append(page, "\\e"); break;
        case '-': wp_text_append(page, "\\-"); break;
        case '\'': wp_text_append(page, "\\(aq"); break;
        case '"': wp_text_append(page, "\\(dq"); break;
        case '`': wp_text_append(page, "\\(ga"); break;
        case '^': wp_text_append(page, "\\(ha"); break;
        case '~': wp_text_append(page, "\\(ti"); break;
        default:
            if (c < 0x80)
                wp_text_appendf(page, "%c", (int)c);
            else
                wp_text_appendf(page, "\\[u%04X]", c);
        }
    }
}

void wp_roff_begin(wp_text *page, const char *name, const char *summary, const char *version) {
    wp_text_append(page, ".TH \"");
    append(page, name, false);
    wp_text_append(page, "\" 1 \"\" \"Warpage ");
    append(page, version, false);
    wp_text_append(page, "\" \"Warpage\"\n.SH NAME\n");
    append(page, name, true);
    wp_text_append(page, " \\- ");
    append(page, summary, false);
    wp_text_append(page, "\n");
}

void wp_roff_section(wp_text *page, const char *title) {
    wp_text_append(page, ".SH \"");
    append(page, title, false);
    wp_text_append(page, "\"\n");
}

void wp_roff_line(wp_text *page, const char *text) {
    append(page, text, true);
    wp_text_append(page, "\n");
}

/* Without trailing blanks, which roff's checkers report. */
static void append_verbatim_line(wp_text *page, const char *text, size_t length) {
    char line[512];
    if (length >= sizeof line) length = sizeof line - 1;
    while (length != 0 && text[length - 1] == ' ')
        length--;
    memcpy(line, text, length);
    line[length] = '\0';
    append(page, line, true);
    wp_text_append(page, "\n");
}

void wp_roff_verbatim(wp_text *page, const char *text) {
    wp_text_append(page, ".nf\n");
    for (;;) {
        const size_t length = strcspn(text, "\n");
        if (length == 0 && text[0] != '\0')
            wp_text_append(page, ".sp\n");
        else
            append_verbatim_line(page, text, length);
        if (text[length] == '\0') break;
        text += length + 1;
    }
    wp_text_append(page, ".fi\n");
}

void wp_roff_item(wp_text *page, const char *term, const char *argument, const char *meaning) {
    wp_text_append(page, ".TP\n\\fB");
    append(page, term, false);
    wp_text_append(page, "\\fR");
    if (argument != NULL) {
        wp_text_append(page, argument[0] == '=' ? "\\fI" : " \\fI");
        append(page, argument, false);
        wp_text_append(page, "\\fR");
    }
    wp_text_append(page, "\n");
    wp_roff_line(page, meaning);
}
