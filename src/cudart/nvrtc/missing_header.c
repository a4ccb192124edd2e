/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/nvrtc/missing_header.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static const char before[] = ": fatal error: '", after[] = "' file not found";

/* "path:line:column" of `length` bytes: where the path ends, and the line. */
static size_t read_place(const char *place, size_t length, long *line) {
    size_t colons = 0, at = length;
    while (at > 0 && colons < 2)
        colons += place[--at] == ':';
    *line = colons == 2 ? strtol(place + at + 1, NULL, 10) : 0;
    return at;
}

void wpi_missing_header_say(wpi_text *log) {
    const char *found = log->length != 0 ? strstr(log->data, before) : NULL;
    const char *end = found != NULL ? strstr(found, after) : NULL;
    if (end == NULL) return;
    const char *place = found, *name = found + sizeof before - 1;
    while (place > log->data && place[-1] != '\n')
        place--;
    long line;
    size_t length = read_place(place, (size_t)(found - place), &line);
    if (length > 2 && strncmp(place, "./", 2) == 0) {
        place += 2;
        length -= 2;
    }
    wpi_text out = {0};
    wpi_text_appendf(&out, "%.*s(%ld): catastrophic error: cannot open source file \"%.*s\"\n",
                     (int)length, place, line, (int)(end - name), name);
    wpi_text_append(log, out.data);
    wpi_free(out.data);
}
