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
static void append(wpi_text *page, const char *text, bool is_start) {
    while (*text != '\0') {
        if (is_start && (text[0] == '.' || text[0] == '\'')) wpi_text_append(page, "\\&");
        is_start = text[0] == '\n';
        const uint32_t c = next_character(&text);
        switch (c) {
        case '\\': wpi_text_append(page, "\\e"); break;
        case '-': wpi_text_append(page, "\\-"); break;
        case '\'': wpi_text_append(page, "\\(aq"); break;
        case '"': wpi_text_append(page, "\\(dq"); break;
        case '`': wpi_text_append(page, "\\(ga"); break;
        case '^': wpi_text_append(page, "\\(ha"); break;
        case '~': wpi_text_append(page, "\\(ti"); break;
        default:
            if (c < 0x80)
                wpi_text_appendf(page, "%c", (int)c);
            else
                wpi_text_appendf(page, "\\[u%04X]", c);
        }
    }
}

void wpi_roff_begin(wpi_text *page, const char *name, const char *summary, const char *version) {
    wpi_text_append(page, ".TH \"");
    append(page, name, false);
    wpi_text_append(page, "\" 1 \"\" \"Warpage ");
    append(page, version, false);
    wpi_text_append(page, "\" \"Warpage\"\n.SH NAME\n");
    append(page, name, true);
    wpi_text_append(page, " \\- ");
    append(page, summary, false);
    wpi_text_append(page, "\n");
}

void wpi_roff_section(wpi_text *page, const char *title) {
    wpi_text_append(page, ".SH \"");
    append(page, title, false);
    wpi_text_append(page, "\"\n");
}

void wpi_roff_line(wpi_text *page, const char *text) {
    append(page, text, true);
    wpi_text_append(page, "\n");
}

/* Without trailing blanks, which roff's checkers report. */
static void append_verbatim_line(wpi_text *page, const char *text, size_t length) {
    char line[512];
    if (length >= sizeof line) length = sizeof line - 1;
    while (length != 0 && text[length - 1] == ' ')
        length--;
    memcpy(line, text, length);
    line[length] = '\0';
    append(page, line, true);
    wpi_text_append(page, "\n");
}

void wpi_roff_verbatim(wpi_text *page, const char *text) {
    wpi_text_append(page, ".nf\n");
    for (;;) {
        const size_t length = strcspn(text, "\n");
        if (length == 0 && text[0] != '\0')
            wpi_text_append(page, ".sp\n");
        else
            append_verbatim_line(page, text, length);
        if (text[length] == '\0') break;
        text += length + 1;
    }
    wpi_text_append(page, ".fi\n");
}

void wpi_roff_item(wpi_text *page, const char *term, const char *argument, const char *meaning) {
    wpi_text_append(page, ".TP\n\\fB");
    append(page, term, false);
    wpi_text_append(page, "\\fR");
    if (argument != NULL) {
        wpi_text_append(page, argument[0] == '=' ? "\\fI" : " \\fI");
        append(page, argument, false);
        wpi_text_append(page, "\\fR");
    }
    wpi_text_append(page, "\n");
    wpi_roff_line(page, meaning);
}
