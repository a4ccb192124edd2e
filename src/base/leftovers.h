/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Temporary files and folders of this process, removed when a signal ends it: all that are created
 * here, once the program has asked for it. Callable from any thread.
 */
#ifndef WP_BASE_LEFTOVERS_H
#define WP_BASE_LEFTOVERS_H

#include <stdbool.h>

/** As mkstemp and mkdtemp: `path` ends in XXXXXX. A signal finds no moment between the creation and
 * the note of it. With very many at once, or a path over 4 KiB, it is created but not noted. */
int wpi_leftover_file(char *path);
bool wpi_leftover_folder(char *path);
void wpi_leftover_note(const char *path); /* another process makes it */
void wpi_leftover_drop(const char *path); /* it is gone, or has become a result */

/** SIGINT, SIGTERM, SIGHUP, SIGPIPE from now on remove them before they end the process; a signal
 * that is ignored stays so. */
void wpi_leftovers_remove_on_signals(void);
/** The signals do again what they do by default, unless someone else has a handler by now. */
void wpi_leftovers_ignore_signals(void);

/** Removes all that are noted; nothing is created from then on. For signal handlers. */
void wpi_leftovers_remove(void);
/** Each library that contains this file notes its own: the handler calls `remove` as well. Before
 * wpi_leftovers_remove_on_signals. */
void wpi_leftovers_also(void (*remove)(void));

/** Removes a file, or a folder and all in it; links are not followed. Async-signal-safe, and
 * allocates nothing. */
void wpi_leftover_remove(const char *path);

#endif
