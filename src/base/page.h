/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTML pages that need no other file, all in one style: readable from 400 pixels of width on, in
 * light and dark. What may be wider than the page scrolls in a box of its own.
 */
#ifndef WP_BASE_PAGE_H
#define WP_BASE_PAGE_H

#include "base/text.h"

/** Everything up to the beginning of <body>. */
void wp_page_begin(wp_text *out, const char *title);
void wp_page_end(wp_text *out);

/** "<tag>text</tag>", escaped. */
void wp_page_element(wp_text *out, const char *tag, const char *text);
/** <h1> with a command line. */
void wp_page_command(wp_text *out, char *const *words, size_t count);

/** One name and its value, between wp_page_begin_facts and wp_page_end_facts: a row of boxes. */
void wp_page_begin_facts(wp_text *out);
void wp_page_fact(wp_text *out, const char *name, const char *value);
void wp_page_end_facts(wp_text *out);

/** A table's beginning, in a box that scrolls, with a heading (NULL: none). The first column is at
 *  the left, the others at the right. */
void wp_page_begin_table(wp_text *out, const char *title);
void wp_page_end_table(wp_text *out);

/** A heading and a plot: `svg` may be a whole file, whose part before <svg> is left out. */
void wp_page_plot(wp_text *out, const char *title, const char *svg);

#endif
