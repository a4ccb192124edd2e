/* SPDX-License-Identifier: Apache-2.0 */
/* A table of names: a module has tens of thousands of registers, and names of any length. */
#include <string.h>

#define uthash_malloc(size) wpi_must_malloc(size)
#define uthash_free(memory, size) wpi_free(memory)
#include <uthash.h>

#include "base/must.h"
#include "compiler/ptx/ptx.h"

struct wpi_ptx_name {
    char *text;
    int number;
    UT_hash_handle hh;
};

wpi_ptx_name *wpi_ptx_name_find(wpi_ptx_name *names, const char *text) {
    wpi_ptx_name *found;
    HASH_FIND_STR(names, text, found);
    return found;
}

wpi_ptx_name *wpi_ptx_name_add(wpi_ptx_name **names, const char *text, size_t length) {
    wpi_ptx_name *found;
    HASH_FIND(hh, *names, text, length, found);
    if (found) return found;
    found = wpi_must_calloc(1, sizeof *found);
    found->text = wpi_must_strndup(text, length);
    found->number = -1;
    HASH_ADD_KEYPTR(hh, *names, found->text, length, found);
    return found;
}

const char *wpi_ptx_name_text(const wpi_ptx_name *name) {
    return name->text;
}

int *wpi_ptx_name_number(wpi_ptx_name *name) {
    return &name->number;
}

void wpi_ptx_names_deinit(wpi_ptx_name **names) {
    wpi_ptx_name *name, *next;
    HASH_ITER(hh, *names, name, next) {
        HASH_DEL(*names, name);
        wpi_free(name->text);
        wpi_free(name);
    }
}
