/* SPDX-License-Identifier: Apache-2.0 */
/** Headers that a program's source includes and that are not there. Programs read NVRTC's log for
 * them, add these headers, and compile again. Thread rule: any thread, one log. */
#ifndef WP_CUDART_MISSING_HEADER_H
#define WP_CUDART_MISSING_HEADER_H

#include "base/text.h"

/** If the log, of clang, has the message that a header is missing, adds it in NVRTC's words:
 * `source(3): catastrophic error: cannot open source file "header"`. */
void wpi_missing_header_say(wpi_text *log);

#endif
