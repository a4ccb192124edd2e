/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text input. One buffer holds unpacked bytes; lines are handed out in place:
 *
 *     buffer  |####used####|----unread----|      free      |
 *             0            begin          end              capacity
 */
#include "common/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/report.h"
#include "common/unzstd.h"

#define APT_HELPER "/usr/lib/apt/apt-helper"

enum { CHUNK_BYTES = 1 << 18 };

struct app_text {
    char *path;
    int fd;
    pid_t helper;     /* unpacks for us; 0: none */
    app_unzstd *zstd; /* NULL: bytes are taken as they are */
    char *packed;
    size_t packed_begin;
    size_t packed_end;
    char *buffer;
    size_t begin;
    size_t end;
    size_t capacity;
    bool is_at_end;
    uint64_t line_number;
};

void app_text_fail(const app_text *text, const char *format, ...) {
    char message[400];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    app_fail("%s:%llu: %s", text->path, (unsigned long long)text->line_number, message);
}

static size_t read_some(app_text *text, char *bytes, size_t capacity) {
    for (;;) {
        ssize_t count = read(text->fd, bytes, capacity);
        if (count >= 0) {
            return (size_t)count;
        }
        if (errno != EINTR) {
            app_fail("cannot read %s: %s", text->path, strerror(errno));
        }
    }
}

/* Replaces the file by a pipe from apt's helper, which knows all formats of package lists. */
static void open_through_helper(app_text *text, const char *format) {
    int ends[2];
    if (access(APT_HELPER, X_OK) != 0) {
        app_fail("%s is compressed with %s, which cannot be unpacked here; unpack it first",
                 text->path, format);
    }
    if (pipe(ends) != 0) {
        app_fail("cannot make a pipe to unpack %s: %s", text->path, strerror(errno));
    }
    fflush(NULL);
    text->helper = fork();
    if (text->helper < 0) {
        app_fail("cannot start %s for %s: %s", APT_HELPER, text->path, strerror(errno));
    }
    if (text->helper == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execl(APT_HELPER, APT_HELPER, "cat-file", text->path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    close(text->fd);
    text->fd = ends[0];
}

static bool starts_with(const unsigned char *bytes, size_t length, const char *magic,
                        size_t count) {
    return length >= count && memcmp(bytes, magic, count) == 0;
}

app_text *app_text_open(const char *path) {
    app_text *text = app_allocate(1, sizeof *text, path);
    *text = (app_text){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    text->path = app_allocate(strlen(path) + 1, 1, path);
    strcpy(text->path, path);
    if (text->fd < 0) {
        app_fail("cannot open %s: %s", path, strerror(errno));
    }
    text->capacity = 2 * CHUNK_BYTES;
    text->buffer = app_allocate(text->capacity + 1, 1, path);
    text->packed = app_allocate(CHUNK_BYTES, 1, path);

    text->packed_end = read_some(text, text->packed, CHUNK_BYTES);
    const unsigned char *magic = (const unsigned char *)text->packed;
    if (starts_with(magic, text->packed_end, "\x28\xb5\x2f\xfd", 4)) {
        const char *reason;
        text->zstd = app_unzstd_create(&reason);
        if (text->zstd == NULL) {
            app_fail("%s is compressed with zstd, but %s", path, reason);
        }
        return text;
    }
    const char *format = starts_with(magic, text->packed_end, "\x04\x22\x4d\x18", 4) ? "lz4"
                         : starts_with(magic, text->packed_end, "\x1f\x8b", 2)       ? "gzip"
                         : starts_with(magic, text->packed_end,
                                       "\xfd"
                                       "7zXZ",
                                       5)
                             ? "xz"
                         : starts_with(magic, text->packed_end, "BZh", 3) ? "bzip2"
                                                                          : NULL;
    if (format != NULL) {
        open_through_helper(text, format);
        text->packed_end = 0;
        return text;
    }
    memcpy(text->buffer, text->packed, text->packed_end);
    text->end = text->packed_end;
    return text;
}

void app_text_close(app_text *text) {
    if (text == NULL) {
        return;
    }
    close(text->fd);
    if (text->helper > 0) {
        while (waitpid(text->helper, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    app_unzstd_destroy(text->zstd);
    free(text->packed);
    free(text->buffer);
    free(text->path);
    free(text);
}

static void end_of_file(app_text *text) {
    text->is_at_end = true;
    if (text->zstd != NULL && !app_unzstd_is_complete(text->zstd)) {
        app_fail("%s ends in the middle of its zstd data; get the file again", text->path);
    }
    if (text->helper > 0) {
        int status = 0;
        while (waitpid(text->helper, &status, 0) < 0 && errno == EINTR) {
        }
        text->helper = 0;
        if (status != 0) {
            app_fail("%s could not be unpacked by %s", text->path, APT_HELPER);
        }
    }
}

/* Makes room, then adds at least one unread byte, or notes the end of the file. */
static void fill(app_text *text) {
    if (text->begin > 0) {
        memmove(text->buffer, text->buffer + text->begin, text->end - text->begin);
        text->end -= text->begin;
        text->begin = 0;
    }
    if (text->capacity - text->end < CHUNK_BYTES) {
        text->capacity *= 2;
        text->buffer = app_reallocate(text->buffer, text->capacity + 1, 1, text->path);
    }
    if (text->zstd == NULL) {
        size_t count = read_some(text, text->buffer + text->end, text->capacity - text->end);
        text->end += count;
        if (count == 0) {
            end_of_file(text);
        }
        return;
    }
    size_t end_before = text->end;
    while (text->end == end_before) {
        if (text->packed_begin == text->packed_end) {
            text->packed_begin = 0;
            text->packed_end = read_some(text, text->packed, CHUNK_BYTES);
            if (text->packed_end == 0) {
                end_of_file(text);
                return;
            }
        }
        const char *reason =
            app_unzstd_some(text->zstd, text->packed, text->packed_end, &text->packed_begin,
                            text->buffer, text->capacity, &text->end);
        if (reason != NULL) {
            app_fail("%s holds broken zstd data: %s", text->path, reason);
        }
    }
}

bool app_text_line(app_text *text, char **line, size_t *length) {
    size_t searched = text->begin;
    for (;;) {
        char *newline = memchr(text->buffer + searched, '\n', text->end - searched);
        if (newline != NULL || (text->is_at_end && text->begin < text->end)) {
            char *start = text->buffer + text->begin;
            char *stop = newline != NULL ? newline : text->buffer + text->end;
            text->begin = (size_t)(stop - text->buffer) + (newline != NULL);
            if (stop > start && stop[-1] == '\r') {
                stop--;
            }
            *stop = '\0'; /* the buffer has one byte more than its capacity */
            *line = start;
            *length = (size_t)(stop - start);
            text->line_number++;
            return true;
        }
        if (text->is_at_end) {
            return false;
        }
        searched = text->end - text->begin; /* fill moves the unread bytes to the front */
        fill(text);
    }
}

uint64_t app_text_line_number(const app_text *text) {
    return text->line_number;
}

const char *app_text_path(const app_text *text) {
    return text->path;
}

bool app_text_is_plain(const app_text *text) {
    return text->zstd == NULL && text->helper == 0;
}

bool app_text_some(app_text *text, char **bytes, size_t *length) {
    while (text->begin == text->end && !text->is_at_end) {
        fill(text);
    }
    *bytes = text->buffer + text->begin;
    *length = text->end - text->begin;
    text->begin = text->end;
    return *length != 0;
}

char *app_text_read_all(const char *path, size_t *size_bytes) {
    app_text *text = app_text_open(path);
    while (!text->is_at_end) {
        fill(text);
    }
    char *bytes = text->buffer;
    bytes[text->end] = '\0';
    *size_bytes = text->end;
    text->buffer = NULL;
    app_text_close(text);
    return bytes;
}

void app_text_write(const char *path, const char *bytes, size_t count) {
    const size_t length = strlen(path);
    char *part = app_allocate(length + sizeof ".part", 1, path);
    memcpy(part, path, length);
    memcpy(part + length, ".part", sizeof ".part");
    FILE *file = fopen(part, "w");
    bool is_written = file != NULL && fwrite(bytes, 1, count, file) == count;
    is_written = (file == NULL || fclose(file) == 0) && is_written;
    if (!is_written || rename(part, path) != 0) {
        const int reason = errno;
        unlink(part);
        app_fail("cannot write %s: %s", path, strerror(reason));
    }
    free(part);
}

bool app_parse_number(char **cursor, uint64_t *value) {
    char *p = *cursor;
    uint64_t number = 0;
    if (*p < '0' || *p > '9') {
        return false;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');
        if (number > (UINT64_MAX - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    while (*p == ' ' || *p == '\t' || *p == ',') {
        p++;
    }
    *cursor = p;
    *value = number;
    return true;
}
