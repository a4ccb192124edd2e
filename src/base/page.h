/* SPDX-License-Identifier: Apache-2.0 */
/**
 * HTML pages that need no other file, all in one style: readable from 400 pixels of width on, in
 * light and dark, on paper, by keyboard. What may be wider than the page scrolls in a box of its
 * own. A table of class `sortable` sorts by a click on a head, its cells by data-v where they have
 * it.
 */
#ifndef WP_BASE_PAGE_H
#define WP_BASE_PAGE_H

#include <stdbool.h>

#include "base/text.h"

/** Everything up to the beginning of <body>. */
void wpi_page_begin(wpi_text *out, const char *title);
void wpi_page_end(wpi_text *out);

/** "<tag>text</tag>", escaped. */
void wpi_page_element(wpi_text *out, const char *tag, const char *text);
/** Text, escaped; what is between `…` becomes code. */
void wpi_page_words(wpi_text *out, const char *text);
/** <h1> with a command line. */
void wpi_page_command(wpi_text *out, char *const *words, size_t count);

/** A bar of `share` (0 to 1) of its cell, which has class `bar`. */
void wpi_page_bar(wpi_text *out, double share);

/** One name and its value, between wpi_page_begin_facts and wpi_page_end_facts: a row of boxes. */
void wpi_page_begin_facts(wpi_text *out);
void wpi_page_fact(wpi_text *out, const char *name, const char *value);
void wpi_page_end_facts(wpi_text *out);

/** A table's beginning, in a box that scrolls, with a heading (NULL: none). The first column is at
 *  the left, the others at the right. */
void wpi_page_begin_table(wpi_text *out, const char *title);
void wpi_page_end_table(wpi_text *out);

/** A box that scrolls, for something wide; `label` is for screen readers. Ends with "</div>". */
void wpi_page_begin_wide(wpi_text *out, const char *label);

/** A section that folds. `what`: a phrase beside its title, or NULL. */
void wpi_page_begin_fold(wpi_text *out, const char *title, const char *what, bool is_open);
void wpi_page_end_fold(wpi_text *out);

/** The plot alone; `label` is for screen readers. */
void wpi_page_drawing(wpi_text *out, const char *label, const char *svg);
/** A heading and a plot: `svg` may be a whole file, whose part before <svg> is left out. */
void wpi_page_plot(wpi_text *out, const char *title, const char *svg);

#endif
