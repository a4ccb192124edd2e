/* SPDX-License-Identifier: Apache-2.0 */
#include "table_io/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"

#define BUFFER_BYTES ((size_t)1 << 16)

struct wpi_output {
    int fd;
    char *path, *temporary; /* of a file; the temporary one exists until the end */
    size_t used;
    int code; /* errno of the first failure */
    char buffer[BUFFER_BYTES];
};

static wp_status fail_errno(const wpi_output *output, int code, wp_error *err) {
    return WP_FAIL(err, IO, "cannot write %s: %s",
                   output->path != NULL ? output->path : "to stdout", strerror(code));
}

wp_status wpi_output_open(const char *path, wpi_output **out, wp_error *err) {
    *out = NULL;
    wpi_output *output = wpi_malloc(sizeof *output);
    if (output == NULL) return WP_FAIL(err, NOMEM, "writing results");
    output->path = output->temporary = NULL;
    output->used = 0;
    output->code = 0;
    output->fd = STDOUT_FILENO;
    if (path != NULL) {
        output->path = wpi_strdup(path);
        output->fd = output->path != NULL ? wpi_file_begin(output->path, &output->temporary) : -1;
    }
    if (output->fd < 0) {
        const wp_status status = fail_errno(output, errno, err);
        wpi_output_close(output);
        return status;
    }
    *out = output;
    return WP_STATUS_OK;
}

static void flush(wpi_output *output) {
    size_t done = 0;
    while (done < output->used && output->code == 0) {
        const ssize_t count = write(output->fd, output->buffer + done, output->used - done);
        if (count >= 0)
            done += (size_t)count;
        else if (errno != EINTR)
            output->code = errno;
    }
    output->used = 0;
}

void wpi_output_write(wpi_output *output, const void *data, size_t size_bytes) {
    const char *from = data;
    while (size_bytes > 0) {
        if (output->used == BUFFER_BYTES) flush(output);
        const size_t room = BUFFER_BYTES - output->used,
                     part = size_bytes < room ? size_bytes : room;
        memcpy(output->buffer + output->used, from, part);
        output->used += part;
        from += part;
        size_bytes -= part;
    }
}

void wpi_output_text(wpi_output *output, const char *text) {
    wpi_output_write(output, text, strlen(text));
}

wp_status wpi_output_finish(wpi_output *output, wp_error *err) {
    flush(output);
    if (output->path != NULL) {
        if (close(output->fd) != 0 && output->code == 0) output->code = errno;
        output->fd = -1;
    }
    if (output->code != 0) return fail_errno(output, output->code, err);
    char *const temporary = output->temporary;
    output->temporary = NULL;
    if (!wpi_file_end(output->path, temporary, true)) return fail_errno(output, errno, err);
    return WP_STATUS_OK;
}

void wpi_output_close(wpi_output *output) {
    if (output == NULL) return;
    if (output->path != NULL && output->fd >= 0) (void)close(output->fd);
    (void)wpi_file_end(output->path, output->temporary, false);
    wpi_free(output->path);
    wpi_free(output);
}

/* ---- text ---- */

static bool needs_quotes(const char *text, size_t length, char delimiter) {
    for (size_t i = 0; i < length; i++)
        if (text[i] == delimiter || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
            return true;
    return length == 0;
}

void wpi_output_csv(wpi_output *output, const char *text, size_t length, char delimiter) {
    if (!needs_quotes(text, length, delimiter)) {
        wpi_output_write(output, text, length);
        return;
    }
    wpi_output_write(output, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"') wpi_output_write(output, "\"", 1);
        wpi_output_write(output, &text[i], 1);
    }
    wpi_output_write(output, "\"", 1);
}

void wpi_output_json(wpi_output *output, const char *text, size_t length) {
    wpi_output_write(output, "\"", 1);
    for (size_t i = 0; i < length;) {
        const unsigned char *at = (const unsigned char *)text + i;
        const size_t size = wpi_utf8_bytes(text + i, length - i);
        char escape[8];
        if (size == 0) {
            wpi_output_text(output, "\\ufffd"); /* JSON is UTF-8; this byte is not */
        } else if (*at == '"' || *at == '\\') {
            (void)snprintf(escape, sizeof escape, "\\%c", *at);
            wpi_output_text(output, escape);
        } else if (*at < 0x20) {
            (void)snprintf(escape, sizeof escape, "\\u%04x", *at);
            wpi_output_text(output, escape);
        } else {
            wpi_output_write(output, at, size);
        }
        i += size != 0 ? size : 1;
    }
    wpi_output_write(output, "\"", 1);
}
