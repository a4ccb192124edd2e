/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/cxx_name.h"
#include "base/must.h"
#include "base/text.h"

/* From the C++ runtime, which LLVM links. Allocates with malloc. */
extern char *__cxa_demangle(const char *name, char *buffer, size_t *length, int *status);

static bool is_name_letter(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

char *wpi_demangle(const char *text) {
    wpi_text out = {0};
    for (const char *c = text; *c;) {
        size_t length = 1;
        if (is_name_letter(*c))
            while (is_name_letter(c[length]))
                length++;
        char *word = wpi_must_strndup(c, length);
        int status = -1;
        char *plain =
            word[0] == '_' && word[1] == 'Z' ? __cxa_demangle(word, NULL, NULL, &status) : NULL;
        char *outer = plain ? NULL : wpi_cxx_outer_name(word);
        wpi_text_append(&out, plain ? plain : outer ? outer : word);
        wpi_free(outer);
        free(plain);
        wpi_free(word);
        c += length;
    }
    return wpi_text_take(&out);
}
