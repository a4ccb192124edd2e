/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/builtin_names.h"

#include <string.h>

#include "base/text.h"

char *wpi_builtin_name_change(const char *text, const char *at) {
    if (strncmp(at, "__", 2) != 0) return NULL;
    return wpi_format("%.*swp_own%s", (int)(at - text), text, at);
}
