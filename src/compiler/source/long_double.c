/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/long_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"

bool wpi_long_double_is_mentioned(const char *path) {
    char *text = NULL;
    size_t size_bytes = 0;
    if (wpi_file_read(path, &text, &size_bytes, NULL) != WP_STATUS_OK) return false;
    bool found = false;
    for (const char *p = strstr(text, "long"); p && !found; p = strstr(p + 4, "long")) {
        const char *next = p + 4 + strspn(p + 4, " \t");
        found = next > p + 4 && strncmp(next, "double", 6) == 0;
    }
    wpi_free(text);
    return found;
}

/* The number behind `key` in the line that begins at `line`, or -1. */
static long number_after(const char *line, const char *key) {
    const char *end = line + strcspn(line, "\n"), *at = strstr(line, key);
    return at && at < end ? strtol(at + strlen(key), NULL, 10) : -1;
}

static bool line_has(const char *line, const char *word) {
    const char *at = strstr(line, word);
    return at && at < line + strcspn(line, "\n");
}

/* Whether the metadata line is a declaration with type number `type`. */
static bool declares(const char *line, long type) {
    if (line_has(line, "DILocalVariable(") || line_has(line, "DIGlobalVariable("))
        return number_after(line, ", type: !") == type;
    return line_has(line, "DW_TAG_member") && number_after(line, "baseType: !") == type;
}

wp_status wpi_long_double_check(const char *ir, const char *source, wp_error *err) {
    const char *definition = strstr(ir, "= !DIBasicType(name: \"long double\"");
    if (!definition) return WP_STATUS_OK;
    const char *start = definition;
    while (start > ir && start[-1] != '\n')
        start--;
    long type = strtol(start + 1, NULL, 10);
    char *base = wpi_path_base(source), named[512];
    snprintf(named, sizeof named, "%.500s\"", base);
    wpi_free(base);
    for (const char *line = ir; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line != '!' || !declares(line, type)) continue;
        /* Declarations of the C library's headers are not the program's. */
        char key[64];
        long file = number_after(line, "file: !");
        snprintf(key, sizeof key, "\n!%ld = !DIFile(", file);
        const char *place = strstr(ir, key);
        if (!place || !line_has(place + 1, named)) continue;
        return WP_FAIL(err, UNSUPPORTED,
                       "%s:%ld: long double in device code; it has 8 bytes on a GPU and 16 on the "
                       "host: use double",
                       source, number_after(line, "line: "));
    }
    return WP_STATUS_OK;
}
