/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the original source, which nvcc -lineinfo and other compilers leave in PTX, as debug
 * information:
 *
 *     .file 1 "/home/me/saxpy.cu"                       often behind the functions
 *     .loc  1 12 5                                      the instructions that follow: file, line,
 * column .loc  2 40 9, function_name $L__info_string0, inlined_at 1 12 5
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ptx/module.h"

enum { FILES_MAX = 65536 };
#define LINES_ONLY LLVMDWARFEmissionLineTablesOnly

struct wpi_ptx_lines {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef *files;   /* by number; NULL: none */
    LLVMMetadataRef *inlined; /* functions that stand for what was inlined from that file */
    unsigned count;
    LLVMMetadataRef function; /* the one that is read */
};

/* A place as .loc has it; false: there is none here. `*at` is behind it. */
static bool read_place(const char **at, unsigned place[3]) {
    for (int i = 0; i < 3; i++) {
        char *end;
        while (**at == ' ' || **at == '\t')
            ++*at;
        if (!isdigit((unsigned char)**at)) return false;
        const unsigned long value = strtoul(*at, &end, 10);
        place[i] = value > UINT32_MAX / 2 ? 0 : (unsigned)value;
        *at = end;
    }
    return true;
}

/* "…" here: its first byte and its length, and `*at` behind it. */
static const char *read_quoted(const char **at, size_t *length) {
    while (**at == ' ' || **at == '\t')
        ++*at;
    if (**at != '"') return NULL;
    const char *first = *at + 1;
    *length = strcspn(first, "\"\n");
    *at = first + *length + (first[*length] == '"');
    return first;
}

static LLVMMetadataRef function_of(const wpi_ptx_lines *l, LLVMMetadataRef file, const char *name,
                                   unsigned line) {
    const size_t length = strlen(name);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(l->builder, file, NULL, 0, LLVMDIFlagZero);
    return LLVMDIBuilderCreateFunction(l->builder, file, name, length, name, length, file, line,
                                       type, 0, 1, line, LLVMDIFlagZero, 1);
}

/* .file number "name", or "folder" "name" */
static void add_file(wpi_ptx_lines *l, const char *at) {
    char *end;
    const unsigned long number = strtoul(at, &end, 10);
    size_t length, more;
    at = end;
    const char *name = read_quoted(&at, &length);
    if (!name || number >= FILES_MAX) return;
    const char *second = read_quoted(&at, &more), *folder = "";
    size_t folder_length = 0;
    if (second) {
        folder = name;
        folder_length = length;
        name = second;
        length = more;
    }
    if (number >= l->count) {
        const unsigned count = (unsigned)number + 1;
        l->files = wpi_must_realloc(l->files, count * sizeof *l->files);
        l->inlined = wpi_must_realloc(l->inlined, count * sizeof *l->inlined);
        memset(l->files + l->count, 0, (count - l->count) * sizeof *l->files);
        memset(l->inlined + l->count, 0, (count - l->count) * sizeof *l->inlined);
        l->count = count;
    }
    l->files[number] = LLVMDIBuilderCreateFile(l->builder, name, length, folder, folder_length);
}

void wpi_ptx_lines_open(wpi_ptx_module *m) {
    static const char producer[] = "PTX";
    const char *text = m->p.at;
    wpi_compile *c = m->t.c;
    if (!strstr(text, ".loc")) return;
    wpi_ptx_lines *l = wpi_must_calloc(1, sizeof *l);
    l->builder = LLVMCreateDIBuilder(c->module);
    for (const char *at = text; (at = strstr(at, ".file")) != NULL;) {
        at += strlen(".file");
        if (*at == ' ' || *at == '\t') add_file(l, at);
    }
    LLVMMetadataRef main_file = NULL;
    for (unsigned i = 0; i < l->count && !main_file; i++)
        main_file = l->files[i];
    if (!main_file) main_file = LLVMDIBuilderCreateFile(l->builder, "ptx", strlen("ptx"), "", 0);
    LLVMDIBuilderCreateCompileUnit(l->builder, LLVMDWARFSourceLanguageC_plus_plus, main_file,
                                   producer, sizeof producer - 1, 1, "", 0, 0, "", 0, LINES_ONLY, 0,
                                   0, 0, "", 0, "", 0);
    static const char version[] = "Debug Info Version";
    LLVMAddModuleFlag(c->module, LLVMModuleFlagBehaviorWarning, version, sizeof version - 1,
                      LLVMValueAsMetadata(wpi_const32(c, LLVMDebugMetadataVersion())));
    m->lines = l;
}

static LLVMMetadataRef file_of(const wpi_ptx_lines *l, unsigned number) {
    return number < l->count ? l->files[number] : NULL;
}

/* Its place is that of its first line in a known file. */
void wpi_ptx_lines_function(wpi_ptx_module *m, const char *name) {
    wpi_ptx_lines *l = m->lines;
    unsigned place[3] = {UINT32_MAX};
    if (!l) return;
    l->function = NULL;
    for (const char *at = m->p.at; !file_of(l, place[0]) && (at = strstr(at, ".loc")) != NULL;) {
        at += strlen(".loc");
        if (!read_place(&at, place)) place[0] = UINT32_MAX;
    }
    if (!file_of(l, place[0])) return;
    l->function = function_of(l, l->files[place[0]], name, place[1]);
    LLVMSetSubprogram(m->t.function, l->function);
    LLVMSetCurrentDebugLocation2(
        m->t.b, LLVMDIBuilderCreateDebugLocation(m->t.c->context, 0, 0, l->function, NULL));
}

void wpi_ptx_lines_end(wpi_ptx_module *m) {
    if (!m->lines) return;
    m->lines->function = NULL;
    LLVMSetCurrentDebugLocation2(m->t.b, NULL);
}

static LLVMMetadataRef scope_in(const wpi_ptx_lines *l, LLVMMetadataRef function, unsigned file) {
    LLVMMetadataRef own = LLVMDIScopeGetFile(function);
    return own == l->files[file]
               ? function
               : LLVMDIBuilderCreateLexicalBlockFile(l->builder, function, l->files[file], 0);
}

void wpi_ptx_lines_read(wpi_ptx_module *m) {
    static const char mark[] = "inlined_at";
    wpi_ptx_lines *l = m->lines;
    LLVMContextRef context = m->t.c->context;
    const char *at = m->p.at, *end = at + strcspn(at, "\n");
    unsigned place[3], call[3];
    if (!l || !l->function || !read_place(&at, place) || !file_of(l, place[0])) return;
    const char *inlined = strstr(at, mark);
    LLVMMetadataRef where;
    if (inlined && inlined < end && (inlined += sizeof mark - 1, read_place(&inlined, call)) &&
        file_of(l, call[0])) {
        LLVMMetadataRef outer = LLVMDIBuilderCreateDebugLocation(
            context, call[1], call[2], scope_in(l, l->function, call[0]), NULL);
        LLVMMetadataRef *function = &l->inlined[place[0]];
        if (!*function) *function = function_of(l, l->files[place[0]], "inlined", 0);
        where = LLVMDIBuilderCreateDebugLocation(context, place[1], place[2], *function, outer);
    } else {
        where = LLVMDIBuilderCreateDebugLocation(context, place[1], place[2],
                                                 scope_in(l, l->function, place[0]), NULL);
    }
    LLVMSetCurrentDebugLocation2(m->t.b, where);
    LLVMInstructionSetDebugLoc(m->t.anchor, where); /* what a builder takes that returns to it */
}

void wpi_ptx_lines_close(wpi_ptx_module *m) {
    wpi_ptx_lines *l = m->lines;
    if (!l) return;
    LLVMSetCurrentDebugLocation2(m->t.b, NULL);
    LLVMDIBuilderFinalize(l->builder);
    LLVMDisposeDIBuilder(l->builder);
    wpi_free(l->files);
    wpi_free(l->inlined);
    wpi_free(l);
    m->lines = NULL;
}
