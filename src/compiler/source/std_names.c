/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/std_names.h"

#include <string.h>

#include "base/text.h"

char *wpi_std_name_change(const char *text, const char *at) {
    static const char *const beginnings[] = {"using cuda::std::", "using ::cuda::std::"};
    const char *first = at, *end = at + strcspn(at, ";\n");
    while (first > text && first[-1] != ';' && first[-1] != '\n' && first[-1] != '{')
        first--;
    first += strspn(first, " \t");
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        if (*end != ';' || strncmp(first, beginnings[i], strlen(beginnings[i])) != 0) continue;
        wpi_text out = {0};
        wpi_text_append_n(&out, text, (size_t)(first - text));
        wpi_text_append(&out, end); /* an empty declaration: places of other errors in the line */
        return wpi_text_take(&out);
    }
    return NULL;
}
