/* SPDX-License-Identifier: Apache-2.0 */
/** Manual page and completion of wpcc, from the table of options that --help prints. */
#ifndef WP_COMPILER_MANUAL_H
#define WP_COMPILER_MANUAL_H

/** Prints the manual page (--manual), or completion for a shell (--completion=bash, =zsh). */
void wpi_manual_print(const char *what);

#endif
