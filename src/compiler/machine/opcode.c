/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes as CuAssembler, maxas and envytools (Kepler) publish them.
 *
 * Since Volta an instruction has 128 bits, of which the lowest 9 are its operation. Maxwell's and
 * Pascal's have 64 bits, three behind a word of control bits; the operation is in the highest 16,
 * with forms for an operand in a register, in constant memory, or in the instruction. Kepler's (of
 * compute capability 3.5 and 3.7) have 64 bits, seven behind a word of control bits; the lowest two
 * say which table the highest 16 are of. */
#include "compiler/machine/opcode.h"

#include <string.h>

typedef struct opcode_row {
    uint16_t mask, value; /* of the operation; the first row that fits counts */
    uint16_t class;
} opcode_row;

/* What is in no row is WP_TRACE_INT: additions, logic, shifts, moves, comparisons. */
static const opcode_row volta[] = {
    {0x1ff, 0x118, WP_OPCODE_NONE},     /* NOP */
    {0x1fc, 0x008, WP_TRACE_FP32},      /* FSEL, FMNMX, FSET, FSETP */
    {0x1fc, 0x020, WP_TRACE_FP32},      /* FMUL, FADD, FSWZADD, FFMA */
    {0x1fc, 0x024, WP_TRACE_IMUL},      /* IMAD, IDP */
    {0x1fc, 0x028, WP_TRACE_FP64},      /* DMUL, DADD, DSETP, DFMA */
    {0x1fe, 0x036, WP_TRACE_TENSOR},    /* HMMA, IMMA */
    {0x1fe, 0x03c, WP_TRACE_TENSOR},    /* HMMA, BMMA */
    {0x1ff, 0x03f, WP_TRACE_TENSOR},    /* DMMA */
    {0x1f8, 0x030, WP_TRACE_FP16},      /* HADD2, HFMA2, HMUL2, HSET2, HSETP2 */
    {0x1ff, 0x040, WP_TRACE_FP16},      /* HMNMX2 */
    {0x1fe, 0x038, WP_TRACE_CONVERT},   /* I2I, I2IP */
    {0x1ff, 0x03e, WP_TRACE_CONVERT},   /* F2FP */
    {0x1ff, 0x043, WP_TRACE_CONVERT},   /* F2IP */
    {0x1ff, 0x045, WP_TRACE_CONVERT},   /* I2FP */
    {0x1ff, 0x03a, WP_TRACE_WARP},      /* MOVM */
    {0x1ff, 0x03b, WP_OPCODE_ACCESS},   /* LDSM */
    {0x17f, 0x006, WP_TRACE_WARP},      /* VOTE, VOTEU */
    {0x1ff, 0x108, WP_TRACE_SPECIAL},   /* MUFU */
    {0x1f0, 0x100, WP_TRACE_CONVERT},   /* FLO, BREV, FCHK, F2F, F2I, I2F, FRND, POPC */
    {0x1fc, 0x110, WP_TRACE_CONVERT64}, /* F2F, F2I, I2F, FRND of 64 bits */
    {0x1ff, 0x11d, WP_TRACE_SYNC},      /* BAR */
    {0x1ff, 0x11a, WP_TRACE_CONTROL},   /* DEPBAR */
    {0x1f0, 0x140, WP_TRACE_CONTROL},   /* BSYNC, BREAK, CALL, BSSY, YIELD, BRA, WARPSYNC, EXIT */
    {0x1f0, 0x150, WP_TRACE_CONTROL},   /* RET, BMOV, BRXU, NANOSLEEP */
    {0x1e0, 0x160, WP_TRACE_TEXTURE},   /* TEX, TLD, TLD4, TXD, TXQ */
    {0x1ff, 0x182, WP_TRACE_CONSTANT},  /* LDC */
    {0x1fb, 0x183, WP_TRACE_LOCAL},     /* LDL, STL */
    {0x1ff, 0x189, WP_TRACE_WARP},      /* SHFL */
    {0x1ff, 0x18f, WP_TRACE_CONTROL},   /* CCTL */
    {0x1f0, 0x180, WP_OPCODE_ACCESS},   /* LD, LDG, LDS, ST, STG, STS, ATOM, ATOMS, RED */
    {0x1ff, 0x192, WP_TRACE_SYNC},      /* MEMBAR */
    {0x1f0, 0x190, WP_TRACE_TEXTURE},   /* SULD, SUST */
    {0x1ff, 0x1a1, WP_TRACE_WARP},      /* MATCH */
    {0x1fe, 0x1a8, WP_OPCODE_ACCESS},   /* ATOMG */
    {0x1ff, 0x1ae, WP_OPCODE_ACCESS},   /* LDGSTS */
    {0x1e0, 0x1a0, WP_TRACE_CONTROL},   /* QSPC, ERRBAR, LDGDEPBAR, ARRIVES */
    {0x1ff, 0x1c4, WP_TRACE_WARP},      /* REDUX */
};

static const opcode_row maxwell[] = {
    {0xfff8, 0x50b0, WP_OPCODE_NONE},     /* NOP */
    {0xfff8, 0x5080, WP_TRACE_SPECIAL},   /* MUFU */
    {0xfff8, 0x50d8, WP_TRACE_WARP},      /* VOTE */
    {0xfff8, 0x50f8, WP_TRACE_FP32},      /* FSWZADD */
    {0xfff0, 0x5c50, WP_TRACE_FP32},      /* DMNMX below, FADD */
    {0xfff8, 0x5c60, WP_TRACE_SHIFT},     /* FMNMX */
    {0xfff8, 0x5c20, WP_TRACE_SHIFT},     /* IMNMX */
    {0xfff8, 0x5c00, WP_TRACE_SHIFT},     /* BFE */
    {0xfff8, 0x5bf0, WP_TRACE_SHIFT},     /* BFI */
    {0xfff8, 0x53f0, WP_TRACE_SHIFT},     /* BFI */
    {0xfff8, 0x5c18, WP_TRACE_SHIFT},     /* ISCADD */
    {0xfc00, 0x1400, WP_TRACE_SHIFT},     /* ISCADD32I */
    {0xfff0, 0x5bd0, WP_TRACE_SHIFT},     /* LEA */
    {0xfff8, 0x5bf8, WP_TRACE_SHIFT},     /* SHF.L */
    {0xfff8, 0x5cf8, WP_TRACE_SHIFT},     /* SHF.R */
    {0xfff8, 0x5c48, WP_TRACE_SHIFT},     /* SHL */
    {0xfff8, 0x5c28, WP_TRACE_SHIFT},     /* SHR */
    {0xfff8, 0x5cf0, WP_TRACE_SHIFT},     /* R2P */
    {0xfff0, 0x5b50, WP_TRACE_SHIFT},     /* ISET */
    {0xfff0, 0x5b40, WP_TRACE_COMPARE},   /* ICMP */
    {0xfff0, 0x5b60, WP_TRACE_COMPARE},   /* ISETP */
    {0xfff8, 0x5088, WP_TRACE_COMPARE},   /* PSET */
    {0xfff8, 0x5090, WP_TRACE_COMPARE},   /* PSETP */
    {0xfff8, 0x5c68, WP_TRACE_FP32},      /* FMUL */
    {0xfff8, 0x5c70, WP_TRACE_FP64},      /* DADD */
    {0xfff8, 0x5c80, WP_TRACE_FP64},      /* DMUL */
    {0xfff8, 0x5c88, WP_TRACE_FP32},      /* FCHK */
    {0xfff8, 0x5c90, WP_TRACE_FP32},      /* RRO */
    {0xfff8, 0x5ca8, WP_TRACE_CONVERT64}, /* F2F */
    {0xfff0, 0x5cb0, WP_TRACE_CONVERT64}, /* F2I, I2F */
    {0xfff8, 0x5ce0, WP_TRACE_CONVERT},   /* I2I */
    {0xfff8, 0x5c08, WP_TRACE_CONVERT},   /* POPC */
    {0xfff8, 0x5c30, WP_TRACE_CONVERT},   /* FLO */
    {0xfff8, 0x5c38, WP_TRACE_IMUL},      /* IMUL */
    {0xff00, 0x1f00, WP_TRACE_IMUL},      /* IMUL32I */
    {0xfff0, 0x5ba0, WP_TRACE_COMPARE},   /* FCMP */
    {0xfff0, 0x5bb0, WP_TRACE_COMPARE},   /* FSETP */
    {0xfff0, 0x5b70, WP_TRACE_FP64},      /* DFMA */
    {0xfff0, 0x5370, WP_TRACE_FP64},      /* DFMA */
    {0xfff0, 0x5b80, WP_TRACE_FP64},      /* DSETP */
    {0xff80, 0x5980, WP_TRACE_FP32},      /* FFMA */
    {0xff80, 0x5180, WP_TRACE_FP32},      /* FFMA */
    {0xff80, 0x5900, WP_TRACE_FP64},      /* DSET */
    {0xff00, 0x5800, WP_TRACE_SHIFT},     /* FSET */
    {0xff00, 0x0800, WP_TRACE_FP32},      /* FADD32I */
    {0xff00, 0x0900, WP_TRACE_FP32},      /* FADD32I */
    {0xff00, 0x0c00, WP_TRACE_FP32},      /* FFMA32I */
    {0xff00, 0x1e00, WP_TRACE_FP32},      /* FMUL32I */
    {0xff00, 0x5d00, WP_TRACE_FP16},      /* HFMA2, HMUL2, HADD2, HSET2, HSETP2 */
    {0xf000, 0x7000, WP_TRACE_FP16},      /* … with constants */
    {0xf000, 0x6000, WP_TRACE_FP16},      {0xe000, 0x8000, WP_OPCODE_ACCESS}, /* LD */
    {0xe000, 0xa000, WP_OPCODE_ACCESS},                                       /* ST */
    {0xe000, 0xc000, WP_TRACE_TEXTURE}, /* TEX, TLD, TXD, TXQ and their short forms */
    {0xff00, 0xe200, WP_TRACE_CONTROL}, /* BRA, BRX, CAL, SSY, PBK, JMP */
    {0xff00, 0xe300, WP_TRACE_CONTROL}, /* EXIT, RET, BRK, CONT */
    {0xff00, 0xeb00, WP_TRACE_TEXTURE}, /* SULD, SUST; RED below */
    {0xff00, 0xec00, WP_OPCODE_ACCESS}, /* ATOMS */
    {0xff00, 0xed00, WP_OPCODE_ACCESS}, /* ATOM */
    {0xfe00, 0xee00, WP_OPCODE_ACCESS}, /* ATOMS.CAS, LDG, STG, ATOM.CAS; the rest of ef below */
    {0xfff8, 0xf0a8, WP_TRACE_SYNC},    /* BAR */
    {0xfff0, 0xf0f0, WP_TRACE_CONTROL}, /* DEPBAR, SYNC */
};

/* Rows that go first: exceptions from a wider one. */
static const opcode_row maxwell_first[] = {
    {0xfff8, 0x5c50, WP_TRACE_FP64},     /* DMNMX */
    {0xfff8, 0xebf8, WP_OPCODE_ACCESS},  /* RED */
    {0xfff8, 0xef10, WP_TRACE_WARP},     /* SHFL */
    {0xfff8, 0xef40, WP_TRACE_LOCAL},    /* LDL */
    {0xfff8, 0xef50, WP_TRACE_LOCAL},    /* STL */
    {0xfff8, 0xef60, WP_TRACE_CONTROL},  /* CCTL */
    {0xfff8, 0xef90, WP_TRACE_CONSTANT}, /* LDC */
    {0xfff8, 0xef98, WP_TRACE_SYNC},     /* MEMBAR */
};

/* Kepler's branches, and operations with 32 bits of a constant. */
static const opcode_row kepler_control[] = {
    {0xe000, 0x0000, WP_TRACE_CONTROL}, /* BRA, CAL, SSY, PBK, EXIT, RET, BRK */
    {0xe000, 0x4000, WP_TRACE_FP32},    /* FADD32I */
    {0xe000, 0x6000, WP_TRACE_FP32},    /* FFMA32I */
    {0xc000, 0xc000, WP_OPCODE_ACCESS}, /* LD, ST */
};

/* With a short constant. */
static const opcode_row kepler_constant[] = {
    {0xf400, 0x4000, WP_TRACE_INT},       /* IADD, of 32 bits */
    {0xf180, 0x8000, WP_TRACE_FP32},      /* FSET */
    {0xb580, 0x9000, WP_TRACE_FP64},      /* DSET */
    {0xb400, 0x9400, WP_TRACE_FP32},      /* FFMA */
    {0xb400, 0xa000, WP_TRACE_IMUL},      /* IMAD */
    {0xb780, 0xb380, WP_TRACE_FP64},      /* DFMA */
    {0xb780, 0xb400, WP_TRACE_FP64},      /* DSETP */
    {0xb700, 0xb500, WP_TRACE_FP32},      /* FCMP, FSETP */
    {0x3fc0, 0x2000, WP_TRACE_TEXTURE},   /* TEX */
    {0x37c0, 0x0040, WP_TRACE_CONVERT},   /* POPC */
    {0x37c0, 0x01c0, WP_TRACE_IMUL},      /* IMUL */
    {0x37c0, 0x0280, WP_TRACE_FP64},      /* DMNMX */
    {0x37c0, 0x02c0, WP_TRACE_FP32},      /* FADD */
    {0x3780, 0x0300, WP_TRACE_FP32},      /* FMNMX, FMUL */
    {0x37c0, 0x0380, WP_TRACE_FP64},      /* DADD */
    {0x37c0, 0x0400, WP_TRACE_FP64},      /* DMUL */
    {0xf740, 0xc540, WP_TRACE_CONVERT64}, /* F2F, I2F */
    {0xf7c0, 0xc580, WP_TRACE_CONVERT64}, /* F2I */
    {0xf7c0, 0xc600, WP_TRACE_CONVERT},   /* I2I */
};

/* With registers or constant memory, which the highest two bits say. */
static const opcode_row kepler[] = {
    {0xf800, 0x2000, WP_TRACE_FP32},      /* FMUL32I */
    {0xf800, 0x2800, WP_TRACE_IMUL},      /* IMUL32I */
    {0xf000, 0x3000, WP_TRACE_TEXTURE},   /* SULD, SUST */
    {0xffc0, 0x8400, WP_TRACE_SPECIAL},   /* MUFU */
    {0xffc0, 0x8540, WP_TRACE_SYNC},      /* BAR */
    {0xffc0, 0x8580, WP_OPCODE_NONE},     /* NOP */
    {0xffc0, 0x86c0, WP_TRACE_WARP},      /* VOTE */
    {0xf800, 0x6800, WP_OPCODE_ACCESS},   /* ATOM, RED */
    {0x7fc0, 0x7480, WP_TRACE_FP32},      /* IPA */
    {0x7fc0, 0x7740, WP_OPCODE_ACCESS},   /* LDS with a lock */
    {0x7fc0, 0x7840, WP_OPCODE_ACCESS},   /* STS that unlocks */
    {0x7f80, 0x7780, WP_OPCODE_ACCESS},   /* ATOM.CAS */
    {0x7fc0, 0x7880, WP_TRACE_WARP},      /* SHFL */
    {0x7fc0, 0x7a00, WP_TRACE_LOCAL},     /* LDL */
    {0x7fc0, 0x7a80, WP_TRACE_LOCAL},     /* STL */
    {0x7f00, 0x7a00, WP_OPCODE_ACCESS},   /* LDS, STS */
    {0x7f00, 0x7b00, WP_TRACE_CONTROL},   /* CCTL */
    {0x7f80, 0x7c00, WP_TRACE_CONTROL},   /* CCTLL */
    {0x7fc0, 0x7c80, WP_TRACE_CONSTANT},  /* LDC */
    {0x7fc0, 0x7cc0, WP_TRACE_SYNC},      /* MEMBAR */
    {0x7f80, 0x7400, WP_TRACE_INT},       /* MOV32I */
    {0x7fc0, 0x7fc0, WP_TRACE_FP32},      /* FSWZADD */
    {0x7000, 0x7000, WP_TRACE_TEXTURE},   /* TEX, TLD, TXD, TXQ, SULD, SUST */
    {0x7880, 0x4000, WP_TRACE_FP32},      /* FSET */
    {0x3cc0, 0x0800, WP_TRACE_FP64},      /* DSET */
    {0x3c00, 0x0c00, WP_TRACE_FP32},      /* FFMA */
    {0x3800, 0x1000, WP_TRACE_IMUL},      /* IMAD, IMADSP */
    {0x3f80, 0x1b80, WP_TRACE_FP64},      /* DFMA */
    {0x3f80, 0x1c00, WP_TRACE_FP64},      /* DSETP */
    {0x3f00, 0x1d00, WP_TRACE_FP32},      /* FCMP, FSETP */
    {0x3fc0, 0x2040, WP_TRACE_CONVERT},   /* POPC */
    {0x3fc0, 0x2180, WP_TRACE_CONVERT},   /* FLO */
    {0x3fc0, 0x21c0, WP_TRACE_IMUL},      /* IMUL */
    {0x3fc0, 0x2280, WP_TRACE_FP64},      /* DMNMX */
    {0x3fc0, 0x22c0, WP_TRACE_FP32},      /* FADD */
    {0x3f80, 0x2300, WP_TRACE_FP32},      /* FMNMX, FMUL */
    {0x3fc0, 0x2380, WP_TRACE_FP64},      /* DADD */
    {0x3fc0, 0x2400, WP_TRACE_FP64},      /* DMUL */
    {0x3fc0, 0x2480, WP_TRACE_FP32},      /* RRO */
    {0x3f40, 0x2540, WP_TRACE_CONVERT64}, /* F2F, I2F */
    {0x3fc0, 0x2580, WP_TRACE_CONVERT64}, /* F2I */
    {0x3fc0, 0x2600, WP_TRACE_CONVERT},   /* I2I */
};

static int find(const opcode_row *rows, size_t count, uint16_t operation, int otherwise) {
    for (size_t i = 0; i < count; i++)
        if ((operation & rows[i].mask) == rows[i].value) return rows[i].class;
    return otherwise;
}

#define FIND(rows, operation, otherwise)                                                           \
    find(rows, sizeof(rows) / sizeof *(rows), operation, otherwise)

/* The form with registers of an operation whose operand is a constant: 4c, 38, 39 are 5c; 4b, 36,
 * 37 are 5b; 49, 32, 33 are 59; 48, 30, 31 are 58. */
static uint16_t as_registers(uint16_t operation) {
    switch (operation >> 8) {
    case 0x4c:
    case 0x38:
    case 0x39: return (uint16_t)(0x5c00 | (operation & 0xff));
    case 0x4b:
    case 0x36:
    case 0x37: return (uint16_t)(0x5b00 | (operation & 0xff));
    case 0x49:
    case 0x32:
    case 0x33: return (uint16_t)(0x5900 | (operation & 0xff));
    case 0x48:
    case 0x30:
    case 0x31: return (uint16_t)(0x5800 | (operation & 0xff));
    default: return operation;
    }
}

/* ptxas fills up a function's end with a branch to itself, and NOPs. */
#define KEPLER_FILL UINT64_C(0x12007ffffc1c003c)
#define MAXWELL_FILL UINT64_C(0xe2400fffff87000f)
#define VOLTA_FILL UINT64_C(0xfffffff000007947)

static bool is_kepler(uint32_t arch) {
    return arch < 50;
}

/* Words in a group that begins with one of control bits. */
static size_t group_words(uint32_t arch) {
    return is_kepler(arch) ? 8 : 4;
}

/* Of a word of control bits each of the next instructions has a part. Maxwell's and Pascal's have
 * 21 bits, whose lowest four say how many cycles later the next one issues; Kepler's have 8 from
 * the third on, of which 4 is the pair's. */
bool wpi_opcode_is_paired(uint32_t arch, const unsigned char *code, size_t offset) {
    const size_t words = group_words(arch), place = offset / 8 % words;
    uint64_t control;
    if (arch >= 70 || place == 0) return false;
    memcpy(&control, code + offset - place * 8, sizeof control);
    if (is_kepler(arch)) return (control >> (2 + 8 * (place - 1)) & 255) == 4;
    return (control >> (21 * (place - 1)) & 15) == 0;
}

/* Three bits of every instruction name its predicate; the last of eight is always true. */
bool wpi_opcode_is_guarded(uint32_t arch, const unsigned char *code, size_t offset) {
    const unsigned first = arch >= 70 ? 12 : is_kepler(arch) ? 18 : 16;
    uint64_t word;
    memcpy(&word, code + offset, sizeof word);
    return (word >> first & 7) != 7;
}

/* Before Volta conversions of all sizes have one opcode; two bits each say of the result and of the
 * operand, from bit `first` on, that it has 8, 16, 32 or 64 bits. */
static int by_sizes(int class, uint64_t word, unsigned first) {
    if (class != WP_TRACE_CONVERT64) return class;
    const bool is_wide = (word >> first & 3) == 3 || (word >> (first + 2) & 3) == 3;
    return is_wide ? WP_TRACE_CONVERT64 : WP_TRACE_CONVERT;
}

static int kepler_class(uint64_t word) {
    const uint16_t operation = (uint16_t)(word >> 48);
    switch (word & 3) {
    case 0: return FIND(kepler_control, operation, WP_TRACE_INT);
    case 1: return by_sizes(FIND(kepler_constant, operation, WP_TRACE_INT), word, 10);
    default: return by_sizes(FIND(kepler, operation, WP_TRACE_INT), word, 10);
    }
}

static int maxwell_class(uint64_t word) {
    const uint16_t operation = as_registers((uint16_t)(word >> 48));
    const int class = FIND(maxwell_first, operation, -1);
    return class >= 0 ? class : by_sizes(FIND(maxwell, operation, WP_TRACE_INT), word, 8);
}

int wpi_opcode_class(uint32_t arch, const unsigned char *code, size_t offset) {
    uint64_t word;
    memcpy(&word, code + offset, sizeof word);
    if (arch >= 70)
        return word == VOLTA_FILL ? WP_OPCODE_NONE
                                  : FIND(volta, (uint16_t)(word & 0x1ff), WP_TRACE_INT);
    if (offset / 8 % group_words(arch) == 0) return WP_OPCODE_NONE; /* control bits */
    if (word == (is_kepler(arch) ? KEPLER_FILL : MAXWELL_FILL)) return WP_OPCODE_NONE;
    return is_kepler(arch) ? kepler_class(word) : maxwell_class(word);
}
