/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/specialisation.h"

#include <string.h>

#include "base/text.h"

char *wpi_specialisation_both_sides(const char *text, const char *at) {
    static const char word[] = "template", blanks[] = " \t\r\n";
    const size_t length = sizeof word - 1;
    const char *from = at;
    while (from > text && strncmp(from, word, length) != 0) {
        if (strchr(";{}", *from) != NULL) return NULL;
        from--;
    }
    if (strncmp(from, word, length) != 0) return NULL;
    from += length;
    from += strspn(from, blanks);
    if (*from++ != '<') return NULL;
    from += strspn(from, blanks);
    if (*from++ != '>') return NULL;
    return wpi_format("%.*s __host__ __device__%s", (int)(from - text), text, from);
}
