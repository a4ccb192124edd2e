/* SPDX-License-Identifier: Apache-2.0 */
/* Tables as text. Columns of quantities are right-aligned. If the width is limited, the widest
 * column of words is narrowed first, down to its longest word; if that is not enough, each row is a
 * paragraph with one line a column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/print/listing.h"

#define GAP 2u            /* between columns */
#define INDENT 2u         /* of rows beneath a heading */
#define WORD_MAX 48u      /* longer words may be broken */
#define NARROWEST 8u      /* room for text behind an indentation */
#define WIDTH_DEFAULT 80u /* of a terminal of unknown width */
#define WIDTH_LEAST 20u   /* a narrower width counts as unknown */

size_t wpi_terminal_width(void) {
    struct winsize size = {0};
    if (isatty(STDOUT_FILENO) == 0) return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= WIDTH_LEAST)
        return size.ws_col;
    const char *text = getenv("COLUMNS");
    const long columns = text != NULL ? strtol(text, NULL, 10) : 0;
    return columns >= (long)WIDTH_LEAST ? (size_t)columns : WIDTH_DEFAULT;
}

/* ---- cells ---- */

/* Characters of UTF-8. */
static size_t length_of(const char *text, size_t bytes) {
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* A cell may come from a file: control characters are shown as escapes. */
static char *printable(const char *text) {
    wpi_text out = {0};
    for (const char *c = text; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        if (byte == '\n' || byte == '\r' || byte == '\t')
            wpi_text_append(&out, byte == '\n' ? "\\n" : byte == '\r' ? "\\r" : "\\t");
        else if (byte < 0x20 || byte == 0x7f)
            wpi_text_appendf(&out, "\\x%02x", (unsigned)byte);
        else
            wpi_text_append_n(&out, c, 1);
    }
    return wpi_text_take(&out);
}

/* "12", "-3.5e+07", "1.00 GiB", "1410 MHz", "99 %". */
static bool is_quantity(const char *text) {
    char *end;
    if (strspn(text, "+-.0123456789") == 0) return false;
    (void)strtod(text, &end);
    if (end == text) return false;
    if (*end == ' ') end++;
    return strcspn(end, " ,;:.()[]=0123456789-") == strlen(end) && strlen(end) <= 6;
}

/* Bytes of an unbreakable part: a word, or a part of it up to a hyphen. */
static size_t part_bytes(const char *text) {
    const size_t bytes = strcspn(text, " -");
    return bytes + (text[bytes] == '-');
}

static size_t longest_part(const char *text) {
    size_t longest = 0;
    while (*text != '\0') {
        const size_t bytes = part_bytes(text), length = length_of(text, bytes);
        if (length > longest) longest = length;
        text += bytes + (text[bytes] == ' ');
    }
    return longest;
}

/* Bytes of `text` that go on a line of `width` characters; `*skipped`: the space behind them. Ends
 * at a space, else behind a hyphen, else within a word. */
static size_t line_bytes(const char *text, size_t width, size_t *skipped) {
    size_t bytes = 0, characters = 0, at_space = 0, behind_hyphen = 0;
    *skipped = 0;
    while (text[bytes] != '\0') {
        const bool is_start = ((unsigned char)text[bytes] & 0xc0) != 0x80;
        if (text[bytes] == ' ') at_space = bytes;
        if (is_start && characters == width) break;
        if (text[bytes] == '-') behind_hyphen = bytes + 1;
        characters += is_start;
        bytes++;
    }
    if (text[bytes] == '\0') return bytes;
    if (at_space == 0) return behind_hyphen != 0 ? behind_hyphen : bytes;
    *skipped = strspn(text + at_space, " ");
    return at_space;
}

/* ---- layout ---- */

typedef struct layout {
    const wpi_listing *table;
    wpi_strings cells;            /* printable */
    size_t columns, first, outer; /* those within [first, outer) stand side by side */
    size_t from, to;              /* cells that are laid out together: rows of one heading */
    size_t width;                 /* of a line; 0: any */
    size_t indent;
    size_t *widths, *least; /* [columns] */
    bool *is_right;         /* [columns]: quantities */
    const char **rest;      /* [columns]: of a row's cells, what is still to be printed */
    wpi_text *out;
} layout;

static void measure_column(layout *l, size_t c) {
    const char *name = l->table->columns[c];
    const wpi_column_kind kind = l->table->kinds != NULL ? l->table->kinds[c] : WP_COLUMN_TEXT;
    size_t filled = 0, quantities = 0, word = longest_part(name);
    l->widths[c] = length_of(name, strlen(name));
    for (size_t i = l->from + c; i < l->to; i += l->columns) {
        const char *cell = l->cells.items[i];
        const size_t length = length_of(cell, strlen(cell)), longest = longest_part(cell);
        if (length > l->widths[c]) l->widths[c] = length;
        if (longest > word) word = longest;
        filled += *cell != '\0';
        quantities += is_quantity(cell);
    }
    l->is_right[c] = kind == WP_COLUMN_NUMBER || (filled > 0 && quantities == filled);
    l->least[c] = l->is_right[c] ? l->widths[c] : word < WORD_MAX ? word : WORD_MAX;
}

static size_t total(const layout *l) {
    size_t sum = l->indent;
    for (size_t c = l->first; c < l->outer; c++)
        sum += l->widths[c] + (c > l->first ? GAP : 0);
    return sum;
}

/* Takes from the widest column that has more than its least. False: none has. */
static bool narrow(layout *l) {
    size_t widest = l->outer;
    for (size_t c = l->first; c < l->outer; c++)
        if (l->widths[c] > l->least[c] && (widest == l->outer || l->widths[c] > l->widths[widest]))
            widest = c;
    if (widest == l->outer) return false;
    l->widths[widest]--;
    return true;
}

/* Narrows columns to the line's width. False: impossible. */
static bool fit(layout *l) {
    if (l->width == 0) return true;
    while (total(l) > l->width && narrow(l)) {
    }
    return total(l) <= l->width;
}

/* ---- lines ---- */

static void end_line(layout *l) {
    while (l->out->length > 0 && l->out->data[l->out->length - 1] == ' ')
        l->out->data[--l->out->length] = '\0';
    wpi_text_append(l->out, "\n");
}

static void append_spaces(layout *l, size_t count) {
    for (; count > 0; count--)
        wpi_text_append(l->out, " ");
}

/* Cells side by side, on as many lines as the longest takes. */
static void append_row(layout *l, const char *const *cells) {
    const char **const rest = l->rest;
    bool is_more = true;
    memcpy((void *)rest, cells, l->columns * sizeof *rest);
    while (is_more) {
        is_more = false;
        append_spaces(l, l->indent);
        for (size_t c = l->first; c < l->outer; c++) {
            size_t skipped = 0;
            const size_t bytes =
                l->width == 0 ? strlen(rest[c]) : line_bytes(rest[c], l->widths[c], &skipped);
            const size_t length = length_of(rest[c], bytes),
                         padding = l->widths[c] > length ? l->widths[c] - length : 0;
            if (l->is_right[c]) append_spaces(l, padding);
            wpi_text_append_n(l->out, rest[c], bytes);
            if (!l->is_right[c]) append_spaces(l, padding);
            if (c + 1 < l->outer) append_spaces(l, GAP);
            rest[c] += bytes + skipped;
            is_more = is_more || *rest[c] != '\0';
        }
        end_line(l);
    }
}

/* "name: cell" on lines of its own, indented. */
static void append_named(layout *l, size_t indent, const char *name, const char *cell) {
    const size_t hang = indent + INDENT;
    char *whole = wpi_format("%s: %s", name, cell);
    const char *rest = whole;
    for (size_t at = indent; *rest != '\0'; at = hang) {
        size_t skipped;
        const size_t bytes =
            line_bytes(rest, l->width > at + NARROWEST ? l->width - at : NARROWEST, &skipped);
        append_spaces(l, at);
        wpi_text_append_n(l->out, rest, bytes);
        end_line(l);
        rest += bytes + skipped;
    }
    wpi_free(whole);
}

static bool has_same_heading(const layout *l, const char *const *a, const char *const *b) {
    for (size_t c = 0; c < l->first; c++)
        if (strcmp(a[c], b[c]) != 0) return false;
    return true;
}

static void append_heading(layout *l, const char *const *cells) {
    const char *joint = l->table->heading_joint != NULL ? l->table->heading_joint : ", ";
    for (size_t c = 0; c < l->first; c++)
        wpi_text_appendf(l->out, "%s%s", c > 0 ? joint : "", cells[c]);
    end_line(l);
}

static void append_paragraph(layout *l, const char *const *cells) {
    for (size_t c = l->first; c < l->columns; c++)
        if (*cells[c] != '\0')
            append_named(l, c == l->first ? l->indent : l->indent + INDENT, l->table->columns[c],
                         cells[c]);
}

/* Beneath the second column, if the details' words fit there. */
static size_t detail_indent(const layout *l) {
    const size_t indent = l->indent + l->widths[l->first] + GAP;
    for (size_t i = l->from; i < l->to; i++)
        if (i % l->columns >= l->outer &&
            indent + INDENT + longest_part(l->cells.items[i]) > l->width)
            return l->indent + 2 * INDENT;
    return indent;
}

static void append_details(layout *l, const char *const *cells, size_t indent) {
    for (size_t c = l->outer; c < l->columns; c++)
        if (*cells[c] != '\0') append_named(l, indent, l->table->columns[c], cells[c]);
}

static void measure(layout *l, size_t from, size_t to) {
    l->from = from;
    l->to = to;
    for (size_t c = 0; c < l->columns; c++)
        measure_column(l, c);
}

static void append_rows(layout *l) {
    const char *const *rows = (const char *const *)l->cells.items;
    const bool has_room = fit(l);
    const size_t indent = l->outer < l->columns ? detail_indent(l) : 0;
    if (has_room) append_row(l, l->table->columns);
    for (size_t i = l->from; i < l->to; i += l->columns) {
        if (has_room) {
            append_row(l, rows + i);
            append_details(l, rows + i, indent);
        } else {
            append_paragraph(l, rows + i);
        }
    }
}

/* Each heading's rows are a table of their own. */
static void append_groups(layout *l) {
    const char *const *rows = (const char *const *)l->cells.items;
    for (size_t from = 0, to; from < l->cells.count; from = to) {
        to = from + l->columns;
        while (to < l->cells.count && has_same_heading(l, rows + from, rows + to))
            to += l->columns;
        if (from > 0) end_line(l);
        append_heading(l, rows + from);
        measure(l, from, to);
        append_rows(l);
    }
}

void wpi_listing_to_text(const wpi_listing *table, size_t width, wpi_text *out) {
    layout l = {
        .table = table, .columns = wpi_listing_column_count(table), .width = width, .out = out};
    l.outer = l.columns;
    l.widths = wpi_calloc(l.columns + 1, sizeof *l.widths);
    l.least = wpi_calloc(l.columns + 1, sizeof *l.least);
    l.is_right = wpi_calloc(l.columns + 1, sizeof *l.is_right);
    l.rest = (const char **)wpi_calloc(l.columns + 1, sizeof *l.rest);
    WP_CHECK(l.widths != NULL && l.least != NULL && l.is_right != NULL && l.rest != NULL);
    for (size_t i = 0; i < table->cells.count; i++)
        wpi_strings_add_take(&l.cells, printable(table->cells.items[i]));
    measure(&l, 0, l.cells.count);
    if (width != 0 && total(&l) > width) {
        l.first = table->heading_columns;
        l.outer = l.columns - table->detail_columns;
        l.indent = l.first > 0 ? INDENT : 0;
    }
    if (l.first > 0)
        append_groups(&l);
    else
        append_rows(&l);
    wpi_strings_deinit(&l.cells);
    wpi_free(l.widths);
    wpi_free(l.least);
    wpi_free(l.is_right);
    wpi_free((void *)l.rest);
}
