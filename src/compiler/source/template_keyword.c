/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/template_keyword.h"

#include <ctype.h>
#include <stdbool.h>

#include "base/text.h"

char *wpi_template_keyword_change(const char *text, const char *at) {
    const char *before = at;
    if (!isalpha((unsigned char)*at) && *at != '_') return NULL;
    while (before > text && isspace((unsigned char)before[-1]))
        before--;
    const bool is_scope = before - text >= 2 && before[-1] == ':' && before[-2] == ':';
    const bool is_arrow = before - text >= 2 && before[-1] == '>' && before[-2] == '-';
    const bool is_member = before > text && before[-1] == '.';
    if (!is_scope && !is_arrow && !is_member) return NULL;
    return wpi_format("%.*stemplate %s", (int)(at - text), text, at);
}
