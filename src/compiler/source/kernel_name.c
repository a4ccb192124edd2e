/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/kernel_name.h"

#include <string.h>

#include "base/must.h"
#include "compiler/source/demangle.h"

/* Removes each `part` from `text`, in place. */
static void remove_all(char *text, const char *part) {
    const size_t length = strlen(part);
    for (char *at = strstr(text, part); at; at = strstr(at, part))
        memmove(at, at + length, strlen(at + length) + 1);
}

/* The start of the parentheses that the text ends with, or its end. */
static char *parameters_of(char *text) {
    char *end = text + strlen(text), *at = end;
    int depth = 0;
    do {
        if (at == text) return end;
        at--;
        depth += (*at == ')') - (*at == '(');
    } while (depth > 0);
    return *at == '(' ? at : end;
}

/* clang appends these, and a hash of the file, to the names of static kernels. */
static char *without_suffix(const char *mangled) {
    const char *end = strstr(mangled, "__intern__");
    if (!end) end = strstr(mangled, "__static__");
    return wpi_must_strndup(mangled, end ? (size_t)(end - mangled) : strlen(mangled));
}

char *wpi_kernel_signature(const char *mangled) {
    char *plain = without_suffix(mangled), *text = wpi_demangle(plain);
    wpi_free(plain);
    if (strncmp(text, "void ", 5) == 0) memmove(text, text + 5, strlen(text + 5) + 1);
    return text;
}

char *wpi_kernel_source_name(const char *mangled) {
    char *text = wpi_kernel_signature(mangled);
    *parameters_of(text) = '\0';
    return text;
}

static bool is_same(char *own, const char *wanted) {
    remove_all(own, "(anonymous namespace)::");
    remove_all(own, " ");
    return strcmp(own, wanted) == 0;
}

bool wpi_kernel_is_called(const char *mangled, const char *name) {
    if (strcmp(mangled, name) == 0) return true;
    char *signature = wpi_kernel_signature(mangled), *own = wpi_kernel_source_name(mangled);
    char *wanted = wpi_must_strdup(strncmp(name, "void ", 5) == 0 ? name + 5 : name);
    remove_all(wanted, "(anonymous namespace)::");
    remove_all(wanted, " ");
    bool is_called = is_same(signature, wanted) || is_same(own, wanted);
    if (!is_called) {
        own[strcspn(own, "<")] = '\0'; /* kernels are not members: these are their own arguments */
        is_called = strcmp(own, wanted) == 0;
    }
    wpi_free(wanted);
    wpi_free(own);
    wpi_free(signature);
    return is_called;
}
