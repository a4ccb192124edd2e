/* SPDX-License-Identifier: Apache-2.0 */
/** Colours for the text of a run's report on a terminal. */
#ifndef WP_CLI_REPORT_COLOURS_H
#define WP_CLI_REPORT_COLOURS_H

#include <stdbool.h>

#include "base/text.h"

/** Whether text to this descriptor gets colours: a terminal, without NO_COLOR and TERM=dumb. */
bool wpi_colours_are_on(int descriptor);
/** Appends the report: headings in bold, the verdict's evidence and lines of the source coloured,
 *  lines of --source by their heat. The text without its escapes is `report`. */
void wpi_report_colours(const char *report, wpi_text *out);

#endif
