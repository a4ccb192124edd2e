/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/builtin_variables.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

char *wpi_builtin_variable_convert(const char *text, const char *at) {
    static const struct {
        const char *name, *make;
    } variables[] = {{"gridDim", "dim3"},
                     {"blockDim", "dim3"},
                     {"blockIdx", "make_uint3"},
                     {"threadIdx", "make_uint3"}};
    while (*at && *at != ';') {
        const size_t skipped = wpi_source_skip(at);
        size_t length = skipped;
        while (skipped == 0 && is_word_char(at[length]))
            length++;
        /* What has a member's name behind it is a number. */
        const char *behind = at + length + strspn(at + length, " \t\r\n");
        for (size_t i = 0;
             skipped == 0 && *behind != '.' && i < sizeof variables / sizeof *variables; i++)
            if (strlen(variables[i].name) == length && memcmp(variables[i].name, at, length) == 0)
                return wpi_format("%.*s%s(%s.x, %s.y, %s.z)%s", (int)(at - text), text,
                                  variables[i].make, variables[i].name, variables[i].name,
                                  variables[i].name, at + length);
        at += length != 0 ? length : 1;
    }
    return NULL;
}

char *wpi_builtin_variable_redeclare(const char *text, const char *at) {
    return wpi_format("%.*swpi_own_%s", (int)(at - text), text, at);
}
