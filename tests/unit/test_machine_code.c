/* SPDX-License-Identifier: Apache-2.0 */
/* machine/: classes of instructions, and the lines of a cubin that is put together here. */
#include <elf.h>
#include <string.h>

#include "compiler/machine/cubin_lines.h"
#include "compiler/machine/opcode.h"
#include "wp_test.h"

/* ---- classes ---- */

static void instructions_have_their_classes(void **state) {
    (void)state;
    /* As ptxas encodes them. */
    static const struct {
        uint32_t arch;
        uint64_t word;
        int class;
    } rows[] = {
        {60, 0x4c98078000870001, WP_TRACE_INT},       /* MOV R1, c[0x0][0x20] */
        {60, 0x5c58000000070000, WP_TRACE_FP32},      /* FADD */
        {60, 0x4c68000000070000, WP_TRACE_FP32},      /* FMUL, of a constant */
        {60, 0x3280000000070000, WP_TRACE_FP32},      /* FFMA, of a number */
        {60, 0x5c48000000070000, WP_TRACE_SHIFT},     /* SHL */
        {60, 0x3829000000070000, WP_TRACE_SHIFT},     /* SHR, of a number */
        {60, 0x4c18000000070000, WP_TRACE_SHIFT},     /* ISCADD, of a constant */
        {60, 0x5bd7000000070000, WP_TRACE_SHIFT},     /* LEA */
        {60, 0x5cf8000000070000, WP_TRACE_SHIFT},     /* SHF.R */
        {60, 0x5c60000000070000, WP_TRACE_SHIFT},     /* FMNMX */
        {60, 0x3661000000070000, WP_TRACE_COMPARE},   /* ISETP, of a number */
        {60, 0x5bb0000000070000, WP_TRACE_COMPARE},   /* FSETP */
        {60, 0x5c10000000070000, WP_TRACE_INT},       /* IADD */
        {60, 0x5c47000000070000, WP_TRACE_INT},       /* LOP */
        {60, 0x5c70000000070000, WP_TRACE_FP64},      /* DADD */
        {60, 0x5c50000000070000, WP_TRACE_FP64},      /* DMNMX */
        {60, 0x5900000000070000, WP_TRACE_FP64},      /* DSET */
        {60, 0x5b00000000070000, WP_TRACE_INT},       /* XMAD */
        {60, 0x5080000000470000, WP_TRACE_SPECIAL},   /* MUFU */
        {60, 0xeed4200000070000, WP_OPCODE_ACCESS},   /* LDG */
        {60, 0xef4c000000070000, WP_OPCODE_ACCESS},   /* LDS */
        {60, 0xef44000000070000, WP_TRACE_LOCAL},     /* LDL */
        {60, 0xebf8000000070000, WP_OPCODE_ACCESS},   /* RED */
        {60, 0xf0a81b8000070000, WP_TRACE_SYNC},      /* BAR */
        {60, 0xe30000000007000f, WP_TRACE_CONTROL},   /* EXIT */
        {60, 0xe2400fffff87000f, WP_OPCODE_NONE},     /* BRA to itself */
        {60, 0x50b0000000070f00, WP_OPCODE_NONE},     /* NOP */
        {35, 0x64c03c00089c0006, WP_TRACE_INT},       /* MOV R1, c[0x0][0x44] */
        {35, 0x86400000109c0026, WP_TRACE_INT},       /* S2R */
        {35, 0x407fffffb01c0405, WP_TRACE_INT},       /* IADD, of a number */
        {35, 0x743fffffffa7c01e, WP_TRACE_INT},       /* MOV32I */
        {35, 0x51082400051c0002, WP_TRACE_IMUL},      /* IMAD */
        {35, 0x2e00000000000002, WP_TRACE_IMUL},      /* IMUL32I */
        {35, 0xa100000000000001, WP_TRACE_IMUL},      /* IMAD, of a number */
        {35, 0xcc001c0006042432, WP_TRACE_FP32},      /* FFMA */
        {35, 0x9403fefc0004181d, WP_TRACE_FP32},      /* FFMA, of a number */
        {35, 0xe340800004041c26, WP_TRACE_FP32},      /* FMUL */
        {35, 0xc34081f800042021, WP_TRACE_FP32},      /* FMUL, of a number */
        {35, 0x2000000000000002, WP_TRACE_FP32},      /* FMUL32I */
        {35, 0x4240000000000002, WP_TRACE_FP32},      /* FSET */
        {35, 0xddf41c007f9c183e, WP_TRACE_FP32},      /* FSETP */
        {35, 0xdb80000000000002, WP_TRACE_FP64},      /* DFMA */
        {35, 0xbb80000000000001, WP_TRACE_FP64},      /* DFMA, of a number */
        {35, 0xe380000000000002, WP_TRACE_FP64},      /* DADD */
        {35, 0xe5c0000000000002, WP_TRACE_CONVERT},   /* I2F */
        {35, 0xe540000000002802, WP_TRACE_CONVERT},   /* F2F, both of 32 bits */
        {35, 0xe540000000002c02, WP_TRACE_CONVERT64}, /* F2F.F64.F32 */
        {35, 0xe540000000003802, WP_TRACE_CONVERT64}, /* F2F.F32.F64 */
        {35, 0xc540000000003801, WP_TRACE_CONVERT64}, /* F2F.F32.F64, of a number */
        {35, 0xe5c0000000003802, WP_TRACE_CONVERT64}, /* I2F.F32.U64 */
        {35, 0xe580000000002c02, WP_TRACE_CONVERT64}, /* F2I.U64.F32 */
        {60, 0x5ca8000000070a00, WP_TRACE_CONVERT},   /* F2F, both of 32 bits */
        {60, 0x5ca8000000070b00, WP_TRACE_CONVERT64}, /* F2F.F64.F32 */
        {60, 0x5ca8000000070e00, WP_TRACE_CONVERT64}, /* F2F.F32.F64 */
        {60, 0x5cb8000000070e00, WP_TRACE_CONVERT64}, /* I2F.F32.U64 */
        {60, 0x4cb0000000070f00, WP_TRACE_CONVERT64}, /* F2I.U64.F64, of constant memory */
        {60, 0x5c08000000070e00, WP_TRACE_CONVERT},   /* POPC, which has no sizes there */
        {35, 0x8400000002841c22, WP_TRACE_SPECIAL},   /* MUFU */
        {35, 0x7880000000000002, WP_TRACE_WARP},      /* SHFL */
        {35, 0x6800000000000002, WP_OPCODE_ACCESS},   /* ATOM */
        {35, 0xc480000000000000, WP_OPCODE_ACCESS},   /* LD */
        {35, 0xe4c03c000324001c, WP_OPCODE_ACCESS},   /* ST */
        {35, 0x7ac0000000000002, WP_OPCODE_ACCESS},   /* STS */
        {35, 0x7a80000000000002, WP_TRACE_LOCAL},     /* STL */
        {35, 0x7c80000000000002, WP_TRACE_CONSTANT},  /* LDC */
        {35, 0x8540000000000002, WP_TRACE_SYNC},      /* BAR */
        {35, 0x19000000001c003c, WP_TRACE_CONTROL},   /* RET */
        {35, 0x12007ffffc1c003c, WP_OPCODE_NONE},     /* BRA to itself */
        {35, 0x85800000001c3c02, WP_OPCODE_NONE},     /* NOP */
        {70, 0x0000000000007919, WP_TRACE_INT},       /* S2R */
        {70, 0x0000000000007223, WP_TRACE_FP32},      /* FFMA */
        {70, 0x0000000000007a24, WP_TRACE_IMUL},      /* IMAD */
        {80, 0x000000000000723c, WP_TRACE_TENSOR},    /* HMMA */
        {70, 0x0000000000007381, WP_OPCODE_ACCESS},   /* LDG */
        {70, 0x0000000000007983, WP_TRACE_LOCAL},     /* LDL */
        {70, 0x0000000000007387, WP_TRACE_LOCAL},     /* STL */
        {70, 0x0000000000007b82, WP_TRACE_CONSTANT},  /* LDC */
        {70, 0x0000000000007308, WP_TRACE_SPECIAL},   /* MUFU */
        {70, 0x0000000000007305, WP_TRACE_CONVERT},   /* F2I */
        {70, 0x0000000000007310, WP_TRACE_CONVERT64}, /* F2F.F64.F32 */
        {70, 0x0000000000007b1d, WP_TRACE_SYNC},      /* BAR */
        {70, 0x000000000000794d, WP_TRACE_CONTROL},   /* EXIT */
        {70, 0xfffffff000007947, WP_OPCODE_NONE},     /* BRA to itself */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char code[48] = {0};
        memcpy(code + 8, &rows[i].word, sizeof rows[i].word);
        memcpy(code + 16, &rows[i].word, sizeof rows[i].word);
        if (wpi_opcode_class(rows[i].arch, code, rows[i].arch < 70 ? 8 : 16) != rows[i].class)
            fail_msg("row %zu: class %d", i, wpi_opcode_class(rows[i].arch, code, 16));
    }
    const unsigned char control[8] = {0x0f};
    assert_int_equal(wpi_opcode_class(60, control, 0), WP_OPCODE_NONE);
    assert_int_equal(wpi_opcode_class(35, control, 0), WP_OPCODE_NONE);
    assert_true(wpi_opcode_is_known(37));
    assert_false(wpi_opcode_is_known(30));
}

static void pairs_follow_from_control_bits(void **state) {
    (void)state;
    /* Next instructions 1, 0 and 6 cycles later; the other bits are barriers and reuse. */
    const uint64_t control = UINT64_C(0x7e1) | UINT64_C(0x7e0) << 21 | UINT64_C(0x7e6) << 42;
    unsigned char code[64] = {0};
    memcpy(code + 32, &control, sizeof control);
    assert_false(wpi_opcode_is_paired(60, code, 32));
    assert_false(wpi_opcode_is_paired(60, code, 40));
    assert_true(wpi_opcode_is_paired(60, code, 48));
    assert_false(wpi_opcode_is_paired(60, code, 56));
    assert_false(wpi_opcode_is_paired(70, code, 48)); /* Volta has one issue a cycle */
    /* Kepler: the second, fourth and sixth of seven. */
    const uint64_t kepler = UINT64_C(0x08a0109c108010ac);
    unsigned char group[128] = {0};
    memcpy(group + 64, &kepler, sizeof kepler);
    for (size_t word = 0; word < 8; word++)
        assert_int_equal(wpi_opcode_is_paired(35, group, 64 + 8 * word),
                         word == 2 || word == 4 || word == 6);
}

static void predicates_are_part_of_every_instruction(void **state) {
    (void)state;
    static const struct {
        uint32_t arch;
        uint64_t word;
        bool is_guarded;
    } rows[] = {
        {70, 0x0000000000007b82, false}, /* LDC */
        {70, 0x0000000000001b82, true},  /* @P1 LDC */
        {70, 0x000000000000984d, true},  /* @!P1 EXIT */
        {60, 0x5c58000000070000, false}, /* FADD */
        {60, 0x5c58000000000000, true},  /* @P0 FADD */
        {60, 0x5c58000000080000, true},  /* @!P0 FADD */
        {35, 0xcc001c0006042432, true},  /* @P1 FFMA */
        {35, 0x64c03c00089c0006, false}, /* MOV R1, c[0x0][0x44] */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char code[16] = {0};
        memcpy(code, &rows[i].word, sizeof rows[i].word);
        if (wpi_opcode_is_guarded(rows[i].arch, code, 0) != rows[i].is_guarded)
            fail_msg("row %zu", i);
    }
}

/* ---- a cubin ---- */

enum { CODE_BYTES = 96, NAMES_MAX = 256 };

typedef struct cubin {
    Elf64_Ehdr head;
    Elf64_Shdr sections[6]; /* none, code, lines, relocations, symbols, names */
    Elf64_Sym symbols[3];   /* none, the code, a function of ptxas' own */
    Elf64_Rel relocation;
    unsigned char code[CODE_BYTES];
    unsigned char lines[64];
    char names[NAMES_MAX];
} cubin;

static uint32_t add_name(cubin *c, size_t *used, const char *name) {
    const size_t at = *used;
    memcpy(c->names + at, name, strlen(name) + 1);
    *used += strlen(name) + 1;
    return (uint32_t)at;
}

static void place(cubin *c, int section, uint32_t name, const void *start, size_t size_bytes) {
    c->sections[section].sh_name = name;
    c->sections[section].sh_offset =
        (uint64_t)((const unsigned char *)start - (const unsigned char *)c);
    c->sections[section].sh_size = size_bytes;
}

/* Line 3 for the first 32 bytes of the code, 5 up to 96, of which the last 32 are ptxas' own. */
static cubin make_cubin(const char *own_function) {
    static const unsigned char header[] = {2, 0, 16, 0, 0, 0, 1, 1, 251, 14, 10,
                                           0, 1, 1,  1, 1, 0, 0, 0, 1,   0,  0};
    static const unsigned char body[] = {0, 9,  2, 0, 0, 0,
                                         0, 0,  0, 0, 0,  /* an address, relocated */
                                         3, 2,  1,        /* line 3, a row */
                                         2, 32, 3, 2, 1,  /* 32 bytes on, line 5, a row */
                                         2, 64, 0, 1, 1}; /* 64 bytes on, the end */
    cubin c = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
                        .e_shoff = offsetof(cubin, sections),
                        .e_shentsize = sizeof(Elf64_Shdr),
                        .e_shnum = 6,
                        .e_shstrndx = 5}};
    const uint32_t length = sizeof header + sizeof body;
    size_t used = 1;
    memcpy(c.lines, &length, sizeof length);
    memcpy(c.lines + 4, header, sizeof header);
    memcpy(c.lines + 4 + sizeof header, body, sizeof body);
    for (size_t i = 0; i < CODE_BYTES; i++)
        c.code[i] = (unsigned char)i;
    place(&c, 1, add_name(&c, &used, ".text.kernel"), c.code, CODE_BYTES);
    place(&c, 2, add_name(&c, &used, ".debug_line"), c.lines, 4 + length);
    place(&c, 3, add_name(&c, &used, ".rel.debug_line"), &c.relocation, sizeof c.relocation);
    place(&c, 4, add_name(&c, &used, ".symtab"), c.symbols, sizeof c.symbols);
    c.sections[4].sh_link = 5;
    c.symbols[1].st_shndx = 1;
    c.symbols[2] =
        (Elf64_Sym){.st_name = add_name(&c, &used, own_function), .st_shndx = 1, .st_value = 64};
    place(&c, 5, 0, c.names, sizeof c.names);
    c.relocation = (Elf64_Rel){.r_offset = 4 + sizeof header + 3, .r_info = ELF64_R_INFO(1, 2)};
    return c;
}

typedef struct runs {
    uint32_t count, bytes;
    uint32_t line[8], size_bytes[8];
} runs;

static void note(void *context, const char *name, const unsigned char *code, size_t offset,
                 size_t size_bytes, uint32_t line) {
    runs *r = context;
    for (size_t i = 0; i < size_bytes; i++) /* reads all of it, for sanitizers */
        r->bytes += code[offset + i] != 255;
    if (r->count == 8) return;
    assert_true(strlen(name) < NAMES_MAX);
    r->line[r->count] = line;
    r->size_bytes[r->count++] = (uint32_t)size_bytes;
}

static void lines_of_a_cubin_are_found(void **state) {
    (void)state;
    static const char *const own[] = {"$__internal_0_$slowpath", "$kernel$__cuda_sm20_slowpath"};
    for (int i = 0; i < 2; i++) {
        const cubin c = make_cubin(own[i]);
        wp_error err = {0};
        runs r = {0};
        assert_status_ok(wpi_cubin_lines((const unsigned char *)&c, sizeof c, note, &r, &err),
                         &err);
        assert_u64(r.count, 2);
        assert_u64(r.line[0], 3);
        assert_u64(r.size_bytes[0], 32);
        assert_u64(r.line[1], 5);
        assert_u64(r.size_bytes[1], 32);
    }
}

static void damaged_cubins_are_refused_or_read(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20000; i++) {
        cubin c = make_cubin("$__internal_0_$slowpath");
        wp_error err = {0};
        runs r = {0};
        for (int flips = 0; flips < 3; flips++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            ((unsigned char *)&c)[(seed >> 33) % sizeof c] = (unsigned char)(seed >> 25);
        }
        const wp_status status =
            wpi_cubin_lines((const unsigned char *)&c, sizeof c - (seed >> 60) * 8, note, &r, &err);
        assert_true(status == WP_STATUS_OK ||
                    (status == WP_STATUS_PARSE && err.message[0] != '\0'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_have_their_classes),
        cmocka_unit_test(pairs_follow_from_control_bits),
        cmocka_unit_test(predicates_are_part_of_every_instruction),
        cmocka_unit_test(lines_of_a_cubin_are_found),
        cmocka_unit_test(damaged_cubins_are_refused_or_read),
    };
    return wp_test_main(tests);
}
