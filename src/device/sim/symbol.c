/* SPDX-License-Identifier: Apache-2.0 */
/* dladdr knows exported names only, so the file's own table is looked through. */
#define _GNU_SOURCE /* dladdr */
#include "device/sim/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/file.h"
#include "base/text.h"

/* A file's table of symbols and their names; count 0: it has none. */
typedef struct table {
    const Elf64_Sym *symbols;
    size_t count;
    const char *names;
    size_t names_bytes;
} table;

static bool is_inside(size_t size_bytes, uint64_t first, uint64_t bytes) {
    return first <= size_bytes && bytes <= size_bytes - first;
}

static table find_table(const char *data, size_t size_bytes) {
    Elf64_Ehdr head;
    if (size_bytes < sizeof head) return (table){0};
    memcpy(&head, data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shoff % 8 != 0 || head.e_shentsize != sizeof(Elf64_Shdr) ||
        !is_inside(size_bytes, head.e_shoff, (uint64_t)head.e_shnum * sizeof(Elf64_Shdr)))
        return (table){0};
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(data + head.e_shoff);
    for (uint32_t i = 0; i < head.e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        if (s->sh_type != SHT_SYMTAB || s->sh_link >= head.e_shnum) continue;
        const Elf64_Shdr *names = &sections[s->sh_link];
        if (s->sh_offset % 8 != 0 || !is_inside(size_bytes, s->sh_offset, s->sh_size) ||
            !is_inside(size_bytes, names->sh_offset, names->sh_size))
            continue;
        return (table){(const Elf64_Sym *)(const void *)(data + s->sh_offset),
                       s->sh_size / sizeof(Elf64_Sym), data + names->sh_offset, names->sh_size};
    }
    return (table){0};
}

/* The function that contains `offset`; NULL: none. */
static const Elf64_Sym *find_function(const table *t, uint64_t offset) {
    for (size_t i = 0; i < t->count; i++) {
        const Elf64_Sym *s = &t->symbols[i];
        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_name >= t->names_bytes) continue;
        if (offset >= s->st_value && offset - s->st_value < s->st_size) return s;
    }
    return NULL;
}

/* "_Z4fooPi" -> "foo". */
static char *plain_name(const char *name) {
    char *full = wpi_cxx_demangle(name);
    const char *shown = full != NULL ? full : name;
    const size_t length = strcspn(shown, "(");
    char *text = wpi_format("%.*s", (int)(length != 0 ? length : strlen(shown)), shown);
    wpi_free(full);
    return text;
}

static char *describe_function(const char *name, uint64_t offset, const char *file) {
    char *plain = plain_name(name);
    char *text = wpi_format("%s+0x%llx in %s", plain, (unsigned long long)offset, file);
    wpi_free(plain);
    return text;
}

/* Of a file that is loaded with its first byte at `base` (as position-independent ones are). */
static char *describe_in_file(const char *path, const char *file, uint64_t offset) {
    char *data = NULL, *text = NULL;
    size_t size_bytes = 0;
    if (wpi_file_read(path, &data, &size_bytes, NULL) != WP_STATUS_OK) return NULL;
    const table t = find_table(data, size_bytes);
    const Elf64_Sym *s = find_function(&t, offset);
    if (s != NULL) text = describe_function(t.names + s->st_name, offset - s->st_value, file);
    wpi_free(data);
    return text;
}

static char *(*namer)(const void *return_address);

void wpi_symbol_set_namer(char *(*who)(const void *return_address)) {
    namer = who;
}

char *wpi_symbol_describe(const void *return_address) {
    char *known = namer != NULL ? namer(return_address) : NULL;
    if (known != NULL) return known;
    Dl_info info;
    /* The call lies before the address to which it returns. */
    const uintptr_t address = (uintptr_t)return_address - 1;
    if (return_address == NULL || dladdr((const void *)address, &info) == 0) return NULL;
    char *file = wpi_path_base(info.dli_fname);
    const uint64_t offset = address - (uintptr_t)info.dli_fbase;
    /* A program that the shell found by PATH has its bare name there. */
    const bool has_path = strchr(info.dli_fname, '/') != NULL;
    char *text = describe_in_file(has_path ? info.dli_fname : "/proc/self/exe", file, offset);
    if (text == NULL && info.dli_sname != NULL)
        text = describe_function(info.dli_sname, address - (uintptr_t)info.dli_saddr, file);
    if (text == NULL) text = wpi_format("%s+0x%llx", file, (unsigned long long)offset);
    wpi_free(file);
    return text;
}
