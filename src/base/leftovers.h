/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Temporary files and folders of this process, removed when a signal ends it. base/file.c registers
 * what it creates; a program that wants them removed asks for it once. Callable from any thread.
 */
#ifndef WP_BASE_LEFTOVERS_H
#define WP_BASE_LEFTOVERS_H

void wp_leftover_add(const char *path);  /* does nothing when there are many, or `path` is long */
void wp_leftover_drop(const char *path); /* it is gone, or has become a result */

/** SIGINT, SIGTERM, SIGHUP, SIGPIPE from now on remove them before they end the process; a signal
 * that is ignored stays so. */
void wp_leftovers_remove_on_signals(void);
/** The signals do again what they do by default, unless someone else has a handler by now. */
void wp_leftovers_ignore_signals(void);

/** Removes a file, or a folder and all in it; links are not followed. Async-signal-safe, and
 * allocates nothing. */
void wp_leftover_remove(const char *path);

#endif
