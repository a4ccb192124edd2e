/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory for inputs, which may be larger than the memory of the host.
 *
 * Plain files are mapped: their pages come from the disk when they are read, and may leave again.
 * Other rooms (of packed files, of enlarged and generated inputs) are memory of the process, or,
 * after app_room_use_file(), a file without a name in TMPDIR (or /tmp), whose pages may leave, too.
 */
#ifndef APP_ROOM_H
#define APP_ROOM_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** From now on rooms are files. */
void app_room_use_file(void);
/** A room of `count` items, undefined; with some bytes to spare behind it. Failures end the program
 *  with a sentence naming `what`. */
void *app_room_create(size_t count, size_t item_bytes, const char *what);
/** The same room with another size; NULL: a new one. */
void *app_room_resize(void *room, size_t count, size_t item_bytes, const char *what);
/** NULL allowed. */
void app_room_free(void *room);
/** The content as memory from malloc, which the caller owns; the room is gone. */
void *app_room_to_memory(void *room, size_t bytes, const char *what);

/** The content of a file, unpacked, with a NUL behind it. It may be written to; the file stays as it
 *  is. */
char *app_room_read(const char *path, size_t *size_bytes);
/** The same of a file as it is, packed or not; an empty one is a failure. */
char *app_room_map(const char *path, size_t *size_bytes);

#ifdef __cplusplus
}
#endif
#endif
