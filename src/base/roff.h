/* SPDX-License-Identifier: Apache-2.0 */
/** Manual pages in the man macros of roff. All text is escaped: it appears as it is written. */
#ifndef WP_BASE_ROFF_H
#define WP_BASE_ROFF_H

#include "base/text.h"

/** Starts page `name` of section 1, "warpage-run", with its NAME section; `version` is Warpage's.
 */
void wpi_roff_begin(wpi_text *page, const char *name, const char *summary, const char *version);
void wpi_roff_section(wpi_text *page, const char *title);
/** A line of running text. */
void wpi_roff_line(wpi_text *page, const char *text);
/** Lines as they are; "\n" between them. */
void wpi_roff_verbatim(wpi_text *page, const char *text);
/** An entry of a list: `term` in bold, `argument` (NULL: none) in italics, what it means below. */
void wpi_roff_item(wpi_text *page, const char *term, const char *argument, const char *meaning);

#endif
