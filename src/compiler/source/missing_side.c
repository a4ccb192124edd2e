/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "compiler/source/missing_side.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"

char *wpi_missing_side_insert(const char *text, const char *at) {
    static const char word[] = "template";
    const bool has_templates = memmem(text, (size_t)(at - text), word, sizeof word - 1) != NULL;
    if (!has_templates || (!isalpha((unsigned char)*at) && *at != '_')) return NULL;
    return wpi_format("%.*s__host__ %s", (int)(at - text), text, at);
}
