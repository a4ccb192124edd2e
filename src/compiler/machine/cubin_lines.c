/* SPDX-License-Identifier: Apache-2.0 */
/* A cubin is an ELF file with a section `.text.<kernel>` for each kernel, and a DWARF line program
 * with a sequence for each of them, whose start a relocation ties to the section. */
#include "compiler/machine/cubin_lines.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/fail.h"

#define TEXT ".text."

typedef struct cubin {
    const unsigned char *elf;
    size_t size_bytes;
    const Elf64_Shdr *sections;
    uint32_t section_count;
    const char *names;
    size_t names_bytes;
    const Elf64_Sym *symbols;
    size_t symbol_count;
    const char *symbol_names;
    size_t symbol_names_bytes;
    wpi_cubin_run_fn run;
    void *context;
} cubin;

/* ---- sections ---- */

static bool is_inside(const cubin *c, const Elf64_Shdr *s) {
    return s->sh_offset <= c->size_bytes && s->sh_size <= c->size_bytes - s->sh_offset;
}

static const char *text_at(const char *texts, size_t size_bytes, uint32_t at) {
    return at < size_bytes && memchr(texts + at, '\0', size_bytes - at) ? texts + at : "";
}

static const char *name_of(const cubin *c, const Elf64_Shdr *s) {
    return text_at(c->names, c->names_bytes, s->sh_name);
}

static const Elf64_Shdr *find(const cubin *c, const char *name) {
    for (uint32_t s = 0; s < c->section_count; s++)
        if (strcmp(name_of(c, &c->sections[s]), name) == 0 && is_inside(c, &c->sections[s]))
            return &c->sections[s];
    return NULL;
}

static bool open_elf(cubin *c) {
    const Elf64_Ehdr *head = (const void *)c->elf;
    if (c->size_bytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_shentsize != sizeof(Elf64_Shdr) ||
        head->e_shoff % 8 != 0 || head->e_shoff > c->size_bytes ||
        (c->size_bytes - head->e_shoff) / sizeof(Elf64_Shdr) < head->e_shnum ||
        head->e_shstrndx >= head->e_shnum)
        return false;
    c->sections = (const void *)(c->elf + head->e_shoff);
    c->section_count = head->e_shnum;
    const Elf64_Shdr *names = &c->sections[head->e_shstrndx];
    if (!is_inside(c, names)) return false;
    c->names = (const char *)c->elf + names->sh_offset;
    c->names_bytes = names->sh_size;
    const Elf64_Shdr *symbols = find(c, ".symtab");
    if (symbols == NULL || symbols->sh_offset % 8 != 0 || symbols->sh_link >= c->section_count)
        return false;
    const Elf64_Shdr *strings = &c->sections[symbols->sh_link];
    if (!is_inside(c, strings)) return false;
    c->symbols = (const void *)(c->elf + symbols->sh_offset);
    c->symbol_count = symbols->sh_size / sizeof *c->symbols;
    c->symbol_names = (const char *)c->elf + strings->sh_offset;
    c->symbol_names_bytes = strings->sh_size;
    return true;
}

/* ---- functions ---- */

/* Of ptxas: $__internal_0_$__cuda_sm20_sqrt_rn_f32; that of CUDA 11 writes $kernel$__cuda_sm20_… */
static bool is_own(const char *name) {
    static const char internal[] = "$__internal_";
    return strncmp(name, internal, strlen(internal)) == 0 || strstr(name, "$__cuda_sm") != NULL;
}

/* Where ptxas' own functions begin: behind the kernel. */
static size_t own_functions_at(const cubin *c, uint32_t section) {
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < c->symbol_count; i++) {
        const Elf64_Sym *s = &c->symbols[i];
        const char *name = text_at(c->symbol_names, c->symbol_names_bytes, s->st_name);
        if (s->st_shndx == section && is_own(name) && s->st_value < first) first = s->st_value;
    }
    return first;
}

/* The section that a relocation of the line program's byte `offset` names; 0: none. */
static uint32_t section_of(const cubin *c, uint64_t offset) {
    const Elf64_Shdr *table = find(c, ".rel.debug_line");
    bool has_addend = table == NULL;
    if (table == NULL) table = find(c, ".rela.debug_line");
    if (table == NULL || table->sh_offset % 8 != 0) return 0;
    const size_t row_bytes = has_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    for (size_t at = 0; at + row_bytes <= table->sh_size; at += row_bytes) {
        const Elf64_Rel *row = (const void *)(c->elf + table->sh_offset + at);
        const size_t symbol = ELF64_R_SYM(row->r_info);
        if (row->r_offset == offset && symbol < c->symbol_count) return c->symbols[symbol].st_shndx;
    }
    return 0;
}

static void give(const cubin *c, uint32_t section, uint64_t from, uint64_t to, uint32_t line) {
    if (section >= c->section_count) return;
    const Elf64_Shdr *s = &c->sections[section];
    const char *name = name_of(c, s);
    if (strncmp(name, TEXT, strlen(TEXT)) != 0 || !is_inside(c, s)) return;
    const uint64_t own = own_functions_at(c, section);
    const uint64_t end = own < s->sh_size ? own : s->sh_size;
    if (to > end) to = end;
    if (from < to)
        c->run(c->context, name + strlen(TEXT), c->elf + s->sh_offset, from, to - from, line);
}

/* ---- the line program ---- */

typedef struct reader {
    const unsigned char *at, *end, *start;
    bool is_damaged;
} reader;

static uint64_t number(reader *r, unsigned bytes) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes) {
        r->is_damaged = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, bytes);
    r->at += bytes;
    return value;
}

static uint64_t leb(reader *r, bool is_signed) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = number(r, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128 && !r->is_damaged);
    if (is_signed && shift < 64 && byte & 64) value |= ~UINT64_C(0) << shift;
    return value;
}

static void skip(reader *r, uint64_t bytes) {
    if (bytes > (uint64_t)(r->end - r->at)) {
        r->is_damaged = true;
        bytes = (uint64_t)(r->end - r->at);
    }
    r->at += bytes;
}

typedef struct program {
    unsigned step_bytes, line_range, opcode_base;
    int line_base;
    unsigned char lengths[256];
} program;

typedef struct state {
    uint64_t address, emitted; /* `emitted`: where the run at hand begins */
    uint32_t line, emitted_line, section;
    bool has_row;
} state;

/* A row of the line table: the run before it ends. */
static void add_row(const cubin *c, state *s) {
    if (s->has_row) give(c, s->section, s->emitted, s->address, s->emitted_line);
    s->emitted = s->address;
    s->emitted_line = s->line;
    s->has_row = true;
}

static void run_extended(const cubin *c, reader *r, state *s) {
    const uint64_t length = leb(r, false);
    if (length == 0 || length > (uint64_t)(r->end - r->at)) {
        r->is_damaged = true;
        return;
    }
    const unsigned char *next = r->at + length;
    switch (number(r, 1)) {
    case 1: /* the end of a sequence */
        add_row(c, s);
        *s = (state){.line = 1};
        break;
    case 2: /* an address */
        s->section = section_of(c, (uint64_t)(r->at - r->start));
        s->address = number(r, 8);
        break;
    default: break;
    }
    r->at = next;
}

static void run_standard(const cubin *c, const program *p, reader *r, state *s, unsigned op) {
    switch (op) {
    case 1: add_row(c, s); break;
    case 2: s->address += leb(r, false) * p->step_bytes; break;
    case 3: s->line += (uint32_t)leb(r, true); break;
    case 8: s->address += (255 - p->opcode_base) / p->line_range * p->step_bytes; break;
    case 9: s->address += number(r, 2); break;
    default:
        for (unsigned i = 0; i < p->lengths[op]; i++)
            (void)leb(r, false);
    }
}

static bool run_program(const cubin *c, reader *r) {
    const uint64_t length = number(r, 4);
    program p = {0};
    state s = {.line = 1};
    if (length > (uint64_t)(r->end - r->at)) return false;
    reader unit = {r->at, r->at + length, r->start, false};
    r->at += length;
    const uint64_t version = number(&unit, 2);
    if (version < 2 || version > 4) return false;
    const uint64_t header_bytes = number(&unit, 4);
    reader body = unit;
    skip(&body, header_bytes);
    p.step_bytes = (unsigned)number(&unit, 1);
    if (version == 4) (void)number(&unit, 1);
    (void)number(&unit, 1);
    p.line_base = (signed char)number(&unit, 1);
    p.line_range = (unsigned)number(&unit, 1);
    p.opcode_base = (unsigned)number(&unit, 1);
    if (p.line_range == 0 || p.opcode_base == 0) return false;
    for (unsigned i = 1; i < p.opcode_base; i++)
        p.lengths[i] = (unsigned char)number(&unit, 1);
    while (body.at < body.end && !body.is_damaged && !unit.is_damaged) {
        const unsigned op = (unsigned)number(&body, 1);
        if (op >= p.opcode_base) {
            const unsigned special = op - p.opcode_base;
            s.address += special / p.line_range * p.step_bytes;
            s.line += (uint32_t)(p.line_base + (int)(special % p.line_range));
            add_row(c, &s);
        } else if (op == 0) {
            run_extended(c, &body, &s);
        } else {
            run_standard(c, &p, &body, &s, op);
        }
    }
    return !body.is_damaged && !unit.is_damaged;
}

wp_status wpi_cubin_lines(const unsigned char *elf, size_t size_bytes, wpi_cubin_run_fn run,
                          void *context, wp_error *err) {
    cubin c = {.elf = elf, .size_bytes = size_bytes, .run = run, .context = context};
    if (!open_elf(&c)) return WP_FAIL(err, PARSE, "ptxas' output is not a cubin");
    const Elf64_Shdr *lines = find(&c, ".debug_line");
    if (lines == NULL) return WP_FAIL(err, PARSE, "the cubin has no line table");
    reader r = {elf + lines->sh_offset, elf + lines->sh_offset + lines->sh_size,
                elf + lines->sh_offset, false};
    while (r.at < r.end)
        if (!run_program(&c, &r)) return WP_FAIL(err, PARSE, "the cubin's line table is damaged");
    return WP_STATUS_OK;
}
