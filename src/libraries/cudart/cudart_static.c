/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that nvcc links by default contain NVIDIA's CUDA runtime (libcudart_static.a), which
 * works with NVIDIA's driver only. This library, which `warpage` preloads (LD_PRELOAD), replaces
 * that runtime before the program's first constructor runs: it overwrites the beginning of each of
 * the runtime's functions by a jump to the function of the same name in libcudart.so.N beside this
 * library. So none of NVIDIA's code runs, and the program is like one that was linked with -cudart
 * shared.
 *
 *     program  cudaMalloc:  push %rbp …   ──►   movabs $cudaMalloc of libwarpage, %r11; jmp *%r11
 *
 * The functions are found in the symbol table of the program, or of a shared library, which is
 * there unless the file was stripped. Objects without a static runtime are left as they are, and
 * cost a look at their section headers. Functions of the runtime that libwarpage lacks jump to a
 * message with their name.
 *
 * A shared library that is loaded later (dlopen), as Python's modules are, is changed before its
 * constructors run, too: the first code of each library, _init of the C library's crti.o, calls
 * __gmon_start__ if there is such a function, which is for profilers. Here it is this library's.
 *
 * Only the C library is used: this runs in any process that `warpage` starts, and before its
 * constructors.
 */
#define _GNU_SOURCE /* dl_iterate_phdr, dladdr */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define OBJECTS_MAX 256
#define PATH_BYTES 4096
#define JUMP_BYTES 13    /* movabs $to, %r11; jmp *%r11 */
#define MESSAGE_BYTES 23 /* movabs $name, %rdi; movabs $to, %r11; jmp *%r11 */
#define CODE_ALIGN 16    /* of functions; what lies between is padding */

typedef struct object {
    const char *path;
    const ElfW(Phdr) * headers;
    uintptr_t base;
    unsigned header_count;
} object;

typedef struct objects {
    object at[OBJECTS_MAX];
    size_t count;
} objects;

/* A file's symbol table, in the mapped file. */
typedef struct symbols {
    const char *file;
    size_t file_bytes;
    const Elf64_Sym *first;
    size_t count;
    const char *names;
    size_t names_bytes;
} symbols;

/* What the table says about a runtime. */
typedef struct runtime {
    bool is_there;
    const char *library;   /* that takes its place */
    uint64_t first, outer; /* addresses of its functions */
} runtime;

static void say(const char *text, const char *detail) {
    (void)fprintf(stderr,
                  "warpage: warn: cuda: the CUDA runtime in the program cannot be replaced: %s%s; "
                  "link it with nvcc "
                  "-cudart shared\n",
                  text, detail);
}

/* ---- the files of the process ---- */

static int add_object(struct dl_phdr_info *info, size_t size, void *arg) {
    objects *all = arg;
    (void)size;
    if (all->count == OBJECTS_MAX) return 1;
    const bool is_program = info->dlpi_name == NULL || info->dlpi_name[0] == '\0';
    if (is_program && all->count != 0) return 0; /* the kernel's vdso */
    all->at[all->count++] = (object){.path = is_program ? "/proc/self/exe" : info->dlpi_name,
                                     .headers = info->dlpi_phdr,
                                     .base = info->dlpi_addr,
                                     .header_count = info->dlpi_phnum};
    return 0;
}

/* Whether `count` elements of `bytes` each, from `offset` on, lie in the file. */
static bool is_inside(const symbols *s, uint64_t offset, uint64_t count, uint64_t bytes) {
    return offset <= s->file_bytes && count <= (s->file_bytes - offset) / bytes;
}

static bool find_symbols(symbols *s) {
    const Elf64_Ehdr *header = (const void *)s->file;
    if (!is_inside(s, 0, 1, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff % sizeof(uint64_t) != 0 ||
        !is_inside(s, header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr)))
        return false;
    const Elf64_Shdr *sections = (const void *)(s->file + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *table = &sections[i];
        if (table->sh_type != SHT_SYMTAB || table->sh_link >= header->e_shnum) continue;
        const Elf64_Shdr *names = &sections[table->sh_link];
        if (table->sh_offset % sizeof(uint64_t) != 0 ||
            !is_inside(s, table->sh_offset, table->sh_size, 1) || names->sh_size == 0 ||
            !is_inside(s, names->sh_offset, names->sh_size, 1) ||
            s->file[names->sh_offset + names->sh_size - 1] != '\0')
            return false;
        s->first = (const void *)(s->file + table->sh_offset);
        s->count = table->sh_size / sizeof *s->first;
        s->names = s->file + names->sh_offset;
        s->names_bytes = names->sh_size;
        return true;
    }
    return false;
}

/* False: there is no symbol table. The file stays mapped only if there is one. */
static bool open_symbols(const char *path, symbols *s) {
    struct stat info;
    *s = (symbols){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    if (fstat(fd, &info) == 0 && info.st_size > 0) {
        void *mapped = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (mapped != MAP_FAILED) {
            s->file = mapped;
            s->file_bytes = (size_t)info.st_size;
        }
    }
    (void)close(fd);
    if (s->file == NULL) return false;
    if (find_symbols(s)) return true;
    (void)munmap((void *)(uintptr_t)s->file, s->file_bytes);
    return false;
}

static const char *name_of(const symbols *s, const Elf64_Sym *symbol) {
    return symbol->st_name < s->names_bytes ? s->names + symbol->st_name : "";
}

static bool is_function(const Elf64_Sym *symbol) {
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF &&
           symbol->st_value != 0;
}

/* A shared library's exported functions are no static runtime: the static one's are hidden. */
static bool is_hidden(const Elf64_Sym *symbol) {
    return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
           ELF64_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN;
}

/* The runtime's version by functions that came or went with it. */
static runtime find_runtime(const symbols *s) {
    bool has_12 = false, has_13 = false;
    runtime found = {0};
    for (size_t i = 0; i < s->count; i++) {
        const Elf64_Sym *symbol = &s->first[i];
        if (!is_function(symbol) || !is_hidden(symbol)) continue;
        const char *name = name_of(s, symbol);
        if (strcmp(name, "__cudaRegisterFatBinary") == 0) found.is_there = true;
        if (strcmp(name, "cudaGetDeviceProperties_v2") == 0) has_12 = true;
        if (strcmp(name, "cudaDeviceGetHostAtomicCapabilities") == 0) has_13 = true;
    }
    found.library = has_13 ? "libcudart.so.13" : has_12 ? "libcudart.so.12" : "libcudart.so.11.0";
    return found;
}

/* ---- code ---- */

/* Whether `bytes` fit between the function's start and the next symbol. */
static bool fits(const symbols *s, const Elf64_Sym *symbol, uint64_t bytes) {
    const uint64_t end = symbol->st_value + symbol->st_size, wanted = symbol->st_value + bytes;
    if (symbol->st_size >= bytes) return true;
    if ((end + CODE_ALIGN - 1) / CODE_ALIGN * CODE_ALIGN < wanted) return false;
    for (size_t i = 0; i < s->count; i++) {
        const Elf64_Sym *other = &s->first[i];
        if (is_function(other) && other->st_value > symbol->st_value && other->st_value < wanted)
            return false;
    }
    return true;
}

static unsigned char *put(unsigned char *at, unsigned char first, unsigned char second,
                          const void *value) {
    const uintptr_t address = (uintptr_t)value;
    *at++ = first;
    *at++ = second;
    memcpy(at, &address, sizeof address);
    return at + sizeof address;
}

static void put_jump(unsigned char *at, const void *to) {
    static const unsigned char jump[] = {0x41, 0xff, 0xe3}; /* jmp *%r11 */
    at = put(at, 0x49, 0xbb, to);                           /* movabs $to, %r11 */
    memcpy(at, jump, sizeof jump);
}

static void put_message(unsigned char *at, const char *name, const void *to) {
    put_jump(put(at, 0x48, 0xbf, name), to); /* movabs $name, %rdi */
}

/* Makes the object's code writable, or as it was. */
static bool protect(const object *o, bool is_writable) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < o->header_count; i++) {
        const ElfW(Phdr) *h = &o->headers[i];
        if (h->p_type != PT_LOAD || (h->p_flags & PF_X) == 0) continue;
        const uintptr_t first = (o->base + h->p_vaddr) & ~(page - 1);
        const uintptr_t outer = o->base + h->p_vaddr + h->p_memsz;
        const int rest = is_writable || (h->p_flags & PF_W) != 0 ? PROT_WRITE : 0;
        if (mprotect((void *)first, outer - first, PROT_READ | PROT_EXEC | rest) != 0) return false;
    }
    return true;
}

static bool is_code(const object *o, const Elf64_Sym *symbol, uint64_t bytes) {
    for (unsigned i = 0; i < o->header_count; i++) {
        const ElfW(Phdr) *h = &o->headers[i];
        if (h->p_type == PT_LOAD && (h->p_flags & PF_X) != 0 && symbol->st_value >= h->p_vaddr &&
            symbol->st_value - h->p_vaddr <= h->p_memsz &&
            bytes <= h->p_memsz - (symbol->st_value - h->p_vaddr))
            return true;
    }
    return false;
}

/* The function of that name which programs call; NULL: it is not one of the runtime's, or it is
 * missing. */
static void *find_replacement(void *library, const char *name) {
    const bool is_cuda = strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
    return is_cuda ? dlsym(library, name) : NULL;
}

static void replace_functions(const object *o, const symbols *s, runtime *r, void *library) {
    r->first = UINT64_MAX;
    for (size_t i = 0; i < s->count; i++) {
        const Elf64_Sym *symbol = &s->first[i];
        if (!is_function(symbol) || !is_hidden(symbol)) continue;
        const void *to = find_replacement(library, name_of(s, symbol));
        if (to == NULL || !fits(s, symbol, JUMP_BYTES) || !is_code(o, symbol, JUMP_BYTES)) continue;
        put_jump((unsigned char *)(o->base + symbol->st_value), to);
        if (symbol->st_value < r->first) r->first = symbol->st_value;
        if (symbol->st_value > r->outer) r->outer = symbol->st_value;
    }
}

/* Functions of the runtime, which lie between those that were replaced. The names stay in memory.
 */
static void refuse_functions(const object *o, const symbols *s, const runtime *r, void *library) {
    const void *to = dlsym(library, "wp_unsupported_call");
    for (size_t i = 0; to != NULL && i < s->count; i++) {
        const Elf64_Sym *symbol = &s->first[i];
        const char *name = name_of(s, symbol);
        if (!is_function(symbol) || !is_hidden(symbol) || symbol->st_value < r->first ||
            symbol->st_value > r->outer || strncmp(name, "cuda", 4) != 0 ||
            dlsym(library, name) != NULL || !fits(s, symbol, MESSAGE_BYTES) ||
            !is_code(o, symbol, MESSAGE_BYTES))
            continue;
        char *kept = strdup(name);
        if (kept != NULL) put_message((unsigned char *)(o->base + symbol->st_value), kept, to);
    }
}

static void *open_library(const char *name) {
    static const char here = 0;
    char path[PATH_BYTES];
    Dl_info self;
    if (dladdr(&here, &self) == 0 || self.dli_fname == NULL) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    const int folder_bytes = slash != NULL ? (int)(slash - self.dli_fname + 1) : 0;
    const int length = snprintf(path, sizeof path, "%.*s%s", folder_bytes, self.dli_fname, name);
    return length > 0 && (size_t)length < sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
}

static void replace(const object *o) {
    symbols s;
    if (!open_symbols(o->path, &s)) return;
    runtime r = find_runtime(&s);
    void *library = r.is_there ? open_library(r.library) : NULL;
    if (r.is_there && library == NULL) say("", dlerror());
    if (library != NULL && !protect(o, true)) {
        say("its code cannot be made writable: ", strerror(errno));
    } else if (library != NULL) {
        replace_functions(o, &s, &r, library);
        refuse_functions(o, &s, &r, library);
        (void)protect(o, false);
    }
    (void)munmap((void *)(uintptr_t)s.file, s.file_bytes);
}

static objects first_objects; /* of the process; they stay loaded */

/* Runs before the constructors of all other libraries (-z initfirst), the C library's included,
 * which sets `environ`; libwarpage's read it. */
__attribute__((constructor)) static void replace_all(int argc, char **argv, char **environment) {
    (void)argc, (void)argv;
    if (environ == NULL) environ = environment;
    (void)dl_iterate_phdr(add_object, &first_objects);
    for (size_t i = 0; i < first_objects.count; i++)
        replace(&first_objects.at[i]);
}

/* ---- libraries that are loaded later ---- */

typedef struct search {
    uintptr_t address;
    object found; /* whose code has the address; without headers: none */
} search;

static int find_object(struct dl_phdr_info *info, size_t size, void *arg) {
    search *s = arg;
    (void)size;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD || s->address < info->dlpi_addr + h->p_vaddr ||
            s->address >= info->dlpi_addr + h->p_vaddr + h->p_memsz)
            continue;
        s->found = (object){.path = info->dlpi_name,
                            .headers = info->dlpi_phdr,
                            .base = info->dlpi_addr,
                            .header_count = info->dlpi_phnum};
        return 1;
    }
    return 0;
}

static bool is_first(const object *o) {
    for (size_t i = 0; i < first_objects.count; i++)
        if (first_objects.at[i].base == o->base) return true;
    return false;
}

void __gmon_start__(void);

/* Called by _init of each object, before the object's constructors. */
__attribute__((visibility("default"))) void __gmon_start__(void) {
    search s = {.address = (uintptr_t)__builtin_return_address(0)};
    (void)dl_iterate_phdr(find_object, &s);
    if (first_objects.count == 0 || s.found.headers == NULL || is_first(&s.found)) return;
    replace(&s.found);
}
