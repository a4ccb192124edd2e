/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Temporary files and folders of this process, removed when a signal ends it: all that are created
 * here, once the program has enabled this. Callable from any thread.
 */
#ifndef WP_BASE_LEFTOVERS_H
#define WP_BASE_LEFTOVERS_H

#include <stdbool.h>

/** As mkstemp and mkdtemp: `path` ends in XXXXXX. Creation and note are one step for signals. With
 * very many at once, or a path over 4 KiB, it is created but not noted. */
int wpi_leftover_file(char *path);
bool wpi_leftover_folder(char *path);
void wpi_leftover_note(const char *path); /* another process creates it */
void wpi_leftover_drop(const char *path); /* it is gone, or has become a result */

/** SIGINT, SIGTERM, SIGHUP, SIGPIPE from now on remove them before they end the process; a signal
 * that is ignored stays so. */
void wpi_leftovers_remove_on_signals(void);
/** Restores the default action of the signals, unless another handler was installed meanwhile. */
void wpi_leftovers_ignore_signals(void);

/** Removes all noted files and folders; no more are created from then on. For signal handlers. */
void wpi_leftovers_remove(void);
/** Each library that contains this file has notes of its own: the handler also calls `remove`. Call
 * it before wpi_leftovers_remove_on_signals. */
void wpi_leftovers_also(void (*remove)(void));

/** Removes a file, or a folder and all in it; links are not followed. Async-signal-safe, and
 * allocates nothing. */
void wpi_leftover_remove(const char *path);

#endif
