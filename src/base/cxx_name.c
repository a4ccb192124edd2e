/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ runtime demangles. C++ programs have it loaded; the warpage command and C programs load
 * it at the first mangled name. It is on every machine on which wpcc runs, as LLVM needs it.
 */
#include "base/cxx_name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* ---- demangling ------------------------------------------------------------------------------ */

/* Allocates with malloc. */
typedef char *(*demangler)(const char *mangled, char *buffer, size_t *length, int *status);

extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status)
    __attribute__((weak));

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangler demangle;

static void find_demangler(void) {
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    demangle = __cxa_demangle;
    for (size_t i = 0; demangle == NULL && i < sizeof libraries / sizeof libraries[0]; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&demangle, &symbol, sizeof demangle); /* ISO C has no cast for it */
    }
}

/* ---- parts of a name ------------------------------------------------------------------------- */

typedef struct part {
    const char *text;
    size_t length;
} part;

static bool is_opening(char c) {
    return c == '<' || c == '(' || c == '{' || c == '[';
}

static bool is_closing(char c) {
    return c == '>' || c == ')' || c == '}' || c == ']';
}

/* The index of the parameters: of the '(' whose ')' ends the name, or is before " const" or "
 * [clone …]". `length`, if there are none. */
static size_t parameters_at(const char *text, size_t length) {
    size_t depth = 0, closing = SIZE_MAX;
    for (size_t i = length; i > 0; i--) {
        const char c = text[i - 1];
        if (c == ')') {
            const char next = i < length ? text[i] : ' ';
            if (depth == 0 && next == ' ' && closing == SIZE_MAX) closing = i - 1;
            depth++;
        } else if (c == '(' && depth != 0 && --depth == 0 && closing != SIZE_MAX) {
            return i - 1 != 0 ? i - 1 : length;
        } else if (depth == 0 && (c == '>' || c == '}')) {
            return length; /* a bracket closes outside of it */
        }
    }
    return length;
}

/* ---- names that are too long ----------------------------------------------------------------- */

enum { DEMANGLED_BYTES_MAX = 1024 }; /* of a mangled name, for the C++ runtime */

char *wpi_cxx_outer_name(const char *mangled) {
    if (strncmp(mangled, "_Z", 2) != 0 || strlen(mangled) <= DEMANGLED_BYTES_MAX) return NULL;
    const char *at = mangled + strlen("_Z");
    wpi_text out = {0};
    if (*at == 'N') at++;
    while (*at == 'L' || isdigit((unsigned char)*at)) {
        char *name;
        const unsigned long length = strtoul(at + (*at == 'L'), &name, 10); /* L: of this file */
        if (length == 0 || length > strlen(name)) break;
        if (out.length != 0) wpi_text_append(&out, "::");
        if (strncmp(name, "_GLOBAL__N_", strlen("_GLOBAL__N_")) == 0)
            wpi_text_append(&out, "(anonymous namespace)");
        else
            wpi_text_append_n(&out, name, length);
        at = name + length;
    }
    if (*at == 'I' && out.length != 0) wpi_text_append(&out, "<…>");
    if (out.length != 0) return wpi_text_take(&out);
    wpi_text_deinit(&out);
    return NULL;
}

/* ---- the whole name -------------------------------------------------------------------------- */

static char *demangle_whole(const char *mangled) {
    (void)pthread_once(&once, find_demangler);
    if (demangle == NULL) return NULL;
    int status = -1;
    char *full = demangle(mangled, NULL, NULL, &status);
    char *copy = status == 0 && full != NULL ? wpi_strdup(full) : NULL;
    free(full);
    return copy == NULL ? wpi_cxx_outer_name(mangled) : copy;
}

char *wpi_cxx_demangle(const char *mangled) {
    if (strncmp(mangled, "_Z", 2) != 0) return NULL;
    const char *suffix = strchr(mangled, '$');
    if (suffix == NULL) return demangle_whole(mangled);
    char *start = wpi_format("%.*s", (int)(suffix - mangled), mangled);
    char *name = start != NULL ? demangle_whole(start) : NULL, *whole = NULL;
    if (name != NULL) {
        const size_t at = parameters_at(name, strlen(name));
        whole = wpi_format("%.*s%s%s", (int)at, name, suffix, name + at);
    }
    wpi_free(name);
    wpi_free(start);
    return whole;
}

/* ---- shortening ------------------------------------------------------------------------------ */

/* The index after the last `mark` outside of brackets; 0: none. */
static size_t behind_last(part name, const char *mark) {
    const size_t mark_length = strlen(mark);
    size_t depth = 0, at = 0;
    for (size_t i = 0; i < name.length; i++) {
        if (is_opening(name.text[i])) depth++;
        if (is_closing(name.text[i]) && depth != 0) depth--;
        if (depth == 0 && i + mark_length < name.length &&
            strncmp(name.text + i, mark, mark_length) == 0)
            at = i + mark_length;
    }
    return at;
}

static part without_before(part name, const char *mark) {
    const size_t at = behind_last(name, mark);
    return (part){name.text + at, name.length - at};
}

static size_t columns_of(part name) {
    size_t columns = 0;
    for (size_t i = 0; i < name.length; i++)
        columns += ((unsigned char)name.text[i] & 0xc0u) != 0x80u;
    return columns;
}

/* The index of the last template arguments of "f<a, b>", after '<'; 0: none. */
static size_t arguments_at(part name) {
    size_t depth = 0;
    if (name.length == 0 || name.text[name.length - 1] != '>') return 0;
    for (size_t i = name.length; i > 0; i--) {
        if (is_closing(name.text[i - 1])) depth++;
        if (is_opening(name.text[i - 1]) && --depth == 0) return i - 1 != 0 ? i : 0;
    }
    return 0;
}

/* "f<a, …>" with as many arguments as fit; NULL: not even "f<…>" does. */
static char *with_fewer_arguments(part name, size_t columns) {
    const size_t first = arguments_at(name);
    size_t depth = 0, kept = first;
    if (first == 0 || columns_of((part){name.text, first}) + strlen(".>") > columns) return NULL;
    for (size_t i = first; i + 1 < name.length; i++) {
        if (is_opening(name.text[i])) depth++;
        if (is_closing(name.text[i]) && depth != 0) depth--;
        if (depth == 0 && strncmp(name.text + i, ", ", 2) == 0 &&
            columns_of((part){name.text, i + 2}) + strlen(".>") <= columns)
            kept = i + 2;
    }
    return wpi_format("%.*s…>", (int)kept, name.text);
}

static char *cut(part name, size_t columns) {
    size_t length = 0;
    for (size_t kept = 0; length < name.length; length++) {
        kept += ((unsigned char)name.text[length] & 0xc0u) != 0x80u;
        if (kept >= columns) break;
    }
    return wpi_format("%.*s…", (int)length, name.text);
}

char *wpi_cxx_name_short(const char *demangled, size_t columns) {
    part name = {demangled, parameters_at(demangled, strlen(demangled))};
    if (demangled[name.length] == '(') name = without_before(name, " ");
    if (columns_of(name) > columns) name = without_before(name, "::");
    if (columns_of(name) <= columns) return wpi_format("%.*s", (int)name.length, name.text);
    char *fewer = with_fewer_arguments(name, columns);
    return fewer != NULL ? fewer : cut(name, columns);
}
