/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/source_text.h"

#include <string.h>

size_t wpi_source_skip(const char *p) {
    if (p[0] == '/' && p[1] == '/') return strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? (size_t)(end + 2 - p) : strlen(p);
    }
    if (*p != '"' && *p != '\'') return 0;
    const char *at = p + 1;
    for (; *at && *at != *p && *at != '\n'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at == *p ? (size_t)(at + 1 - p) : (size_t)(at - p);
}
