/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/this_pointer.h"

#include <ctype.h>
#include <string.h>

#include "base/text.h"

char *wpi_this_pointer_change(const char *text, const char *at) {
    static const char word[] = "this";
    if (strncmp(at, word, sizeof word - 1) != 0) return NULL;
    const char *arrow = at + sizeof word - 1;
    arrow += strspn(arrow, " \t\r\n");
    if (strncmp(arrow, "->", 2) != 0) return NULL;
    wpi_text out = {0};
    wpi_text_append_n(&out, text, (size_t)(at - text));
    wpi_text_append(&out, "::std::remove_reference_t<decltype(*this)>::");
    wpi_text_append(&out, arrow + 2);
    return wpi_text_take(&out);
}

char *wpi_this_pointer_insert(const char *text, const char *at) {
    if (!isalpha((unsigned char)*at) && *at != '_') return NULL;
    return wpi_format("%.*sthis->%s", (int)(at - text), text, at);
}
