/* SPDX-License-Identifier: Apache-2.0 */
/* Rooms of memory are from malloc; those of files are in a list. */
#include "common/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/report.h"
#include "common/text.h"

#define PAGE ((size_t)4096)
#define SPARE_BYTES 32u /* behind the content */

typedef struct room {
    struct room *next;
    char *content;
    size_t mapped_bytes;
    int file; /* of a room without a name; -1: an input's, which is closed */
} room;

static room *rooms;
static bool uses_file;

void app_room_use_file(void) {
    uses_file = true;
}

/* Where the list has the room; it ends with NULL if the content is memory. */
static room **find_room(const void *content) {
    room **r = &rooms;
    while (*r != NULL && (*r)->content != content) {
        r = &(*r)->next;
    }
    return r;
}

static void *add_room(char *content, size_t mapped_bytes, int file, const char *what) {
    room *r = app_allocate(1, sizeof *r, what);
    *r = (room){rooms, content, mapped_bytes, file};
    rooms = r;
    return content;
}

static void remove_room(room **r) {
    room *old = *r;
    munmap(old->content, old->mapped_bytes);
    *r = old->next;
    free(old);
}

static size_t bytes_of(size_t count, size_t item_bytes, const char *what) {
    if (item_bytes != 0 && count > (SIZE_MAX / 2) / item_bytes) {
        app_fail("%s: %zu items of %zu bytes are too many", what, count, item_bytes);
    }
    return count * item_bytes + SPARE_BYTES;
}

static void *map_room(int file, size_t bytes, const char *what) {
    /* A mapped page for which the disk has no room would be a signal. */
    const int failed = posix_fallocate(file, 0, (off_t)bytes);
    void *content = failed != 0
                        ? MAP_FAILED
                        : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (content == MAP_FAILED) {
        app_fail("%s: no room for %zu bytes in a file: %s; set TMPDIR to another folder", what, bytes,
                 strerror(failed != 0 ? failed : errno));
    }
    return add_room(content, bytes, file, what);
}

static int open_file(const char *what) {
    const char *folder = getenv("TMPDIR");
    char path[4096];
    folder = folder != NULL && *folder != '\0' ? folder : "/tmp";
    const int length = snprintf(path, sizeof path, "%s/warpage-input-XXXXXX", folder);
    const int file = length < (int)sizeof path ? mkstemp(path) : -1;
    if (file < 0) {
        app_fail("%s: cannot make a file in %s: %s; set TMPDIR to another folder", what, folder,
                 strerror(length < (int)sizeof path ? errno : ENAMETOOLONG));
    }
    unlink(path);
    return file;
}

void *app_room_resize(void *content, size_t count, size_t item_bytes, const char *what) {
    const size_t bytes = bytes_of(count, item_bytes, what);
    if (content == NULL && uses_file) {
        return map_room(open_file(what), bytes, what);
    }
    room **r = find_room(content);
    if (*r == NULL) {
        return app_reallocate(content, 1, bytes, what);
    }
    const int file = (*r)->file;
    if (file < 0) {
        app_fail("%s: an input that is mapped keeps its size", what);
    }
    remove_room(r);
    return map_room(file, bytes, what);
}

void *app_room_create(size_t count, size_t item_bytes, const char *what) {
    return app_room_resize(NULL, count, item_bytes, what);
}

void app_room_free(void *content) {
    room **r = find_room(content);
    if (*r == NULL) {
        free(content);
        return;
    }
    if ((*r)->file >= 0) {
        close((*r)->file);
    }
    remove_room(r);
}

void *app_room_to_memory(void *content, size_t bytes, const char *what) {
    if (*find_room(content) == NULL) {
        return content;
    }
    void *memory = app_allocate(bytes, 1, what);
    memcpy(memory, content, bytes);
    app_room_free(content);
    return memory;
}

/* With a page of zeros behind it, for the bytes to spare. */
static char *map_file(const char *path, size_t bytes) {
    const size_t mapped = (bytes + PAGE - 1) / PAGE * PAGE + PAGE;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    char *content = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (file < 0 || content == MAP_FAILED ||
        mmap(content, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file,
             0) == MAP_FAILED) {
        app_fail("cannot map %s: %s", path, strerror(errno));
    }
    close(file);
    return add_room(content, mapped, -1, path);
}

char *app_room_map(const char *path, size_t *size_bytes) {
    struct stat about;
    if (stat(path, &about) != 0) {
        app_fail("%s: %s", path, strerror(errno));
    }
    if (about.st_size == 0) {
        app_fail("%s is empty", path);
    }
    *size_bytes = (size_t)about.st_size;
    return map_file(path, *size_bytes);
}

char *app_room_read(const char *path, size_t *size_bytes) {
    app_text *text = app_text_open(path);
    struct stat about;
    if (app_text_is_plain(text) && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
        about.st_size != 0) {
        app_text_close(text);
        *size_bytes = (size_t)about.st_size;
        return map_file(path, *size_bytes);
    }
    size_t capacity = (size_t)1 << 20, used = 0, length;
    char *content = app_room_create(capacity, 1, path), *some;
    while (app_text_some(text, &some, &length)) {
        if (capacity - used < length) {
            capacity = 2 * capacity + length;
            content = app_room_resize(content, capacity, 1, path);
        }
        memcpy(content + used, some, length);
        used += length;
    }
    app_text_close(text);
    content[used] = '\0';
    *size_bytes = used;
    return content;
}
