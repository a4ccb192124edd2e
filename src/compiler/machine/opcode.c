/* SPDX-License-Identifier: Apache-2.0 */
/* Opcodes as CuAssembler and maxas publish them.
 *
 * Since Volta an instruction has 128 bits, of which the lowest 9 are its operation. Maxwell's and
 * Pascal's have 64 bits, three behind a word of control bits; the operation is in the highest 16,
 * with forms for an operand in a register, in constant memory, or in the instruction. */
#include "compiler/machine/opcode.h"

#include <string.h>

typedef struct opcode_row {
    uint16_t mask, value; /* of the operation; the first row that fits counts */
    uint16_t class;
} opcode_row;

/* What is in no row is WP_TRACE_INT: additions, logic, shifts, moves, comparisons. */
static const opcode_row volta[] = {
    {0x1ff, 0x118, WP_OPCODE_NONE},    /* NOP */
    {0x1fc, 0x008, WP_TRACE_FP32},     /* FSEL, FMNMX, FSET, FSETP */
    {0x1fc, 0x020, WP_TRACE_FP32},     /* FMUL, FADD, FSWZADD, FFMA */
    {0x1fc, 0x024, WP_TRACE_IMUL},     /* IMAD, IDP */
    {0x1fc, 0x028, WP_TRACE_FP64},     /* DMUL, DADD, DSETP, DFMA */
    {0x1fe, 0x036, WP_TRACE_TENSOR},   /* HMMA, IMMA */
    {0x1fe, 0x03c, WP_TRACE_TENSOR},   /* HMMA, BMMA */
    {0x1ff, 0x03f, WP_TRACE_TENSOR},   /* DMMA */
    {0x1f8, 0x030, WP_TRACE_FP16},     /* HADD2, HFMA2, HMUL2, HSET2, HSETP2 */
    {0x1ff, 0x040, WP_TRACE_FP16},     /* HMNMX2 */
    {0x1fe, 0x038, WP_TRACE_CONVERT},  /* I2I, I2IP */
    {0x1ff, 0x03e, WP_TRACE_CONVERT},  /* F2FP */
    {0x1ff, 0x043, WP_TRACE_CONVERT},  /* F2IP */
    {0x1ff, 0x045, WP_TRACE_CONVERT},  /* I2FP */
    {0x1ff, 0x03a, WP_TRACE_WARP},     /* MOVM */
    {0x1ff, 0x03b, WP_OPCODE_ACCESS},  /* LDSM */
    {0x17f, 0x006, WP_TRACE_WARP},     /* VOTE, VOTEU */
    {0x1ff, 0x108, WP_TRACE_SPECIAL},  /* MUFU */
    {0x1f0, 0x100, WP_TRACE_CONVERT},  /* FLO, BREV, FCHK, F2F, F2I, I2F, FRND, POPC */
    {0x1fc, 0x110, WP_TRACE_CONVERT},  /* F2F, F2I, I2F, FRND of 64 bits */
    {0x1ff, 0x11d, WP_TRACE_SYNC},     /* BAR */
    {0x1ff, 0x11a, WP_TRACE_CONTROL},  /* DEPBAR */
    {0x1f0, 0x140, WP_TRACE_CONTROL},  /* BSYNC, BREAK, CALL, BSSY, YIELD, BRA, WARPSYNC, EXIT */
    {0x1f0, 0x150, WP_TRACE_CONTROL},  /* RET, BMOV, BRXU, NANOSLEEP */
    {0x1e0, 0x160, WP_TRACE_TEXTURE},  /* TEX, TLD, TLD4, TXD, TXQ */
    {0x1ff, 0x182, WP_TRACE_CONSTANT}, /* LDC */
    {0x1fb, 0x183, WP_TRACE_LOCAL},    /* LDL, STL */
    {0x1ff, 0x189, WP_TRACE_WARP},     /* SHFL */
    {0x1ff, 0x18f, WP_TRACE_CONTROL},  /* CCTL */
    {0x1f0, 0x180, WP_OPCODE_ACCESS},  /* LD, LDG, LDS, ST, STG, STS, ATOM, ATOMS, RED */
    {0x1ff, 0x192, WP_TRACE_SYNC},     /* MEMBAR */
    {0x1f0, 0x190, WP_TRACE_TEXTURE},  /* SULD, SUST */
    {0x1ff, 0x1a1, WP_TRACE_WARP},     /* MATCH */
    {0x1fe, 0x1a8, WP_OPCODE_ACCESS},  /* ATOMG */
    {0x1ff, 0x1ae, WP_OPCODE_ACCESS},  /* LDGSTS */
    {0x1e0, 0x1a0, WP_TRACE_CONTROL},  /* QSPC, ERRBAR, LDGDEPBAR, ARRIVES */
    {0x1ff, 0x1c4, WP_TRACE_WARP},     /* REDUX */
};

static const opcode_row maxwell[] = {
    {0xfff8, 0x50b0, WP_OPCODE_NONE},   /* NOP */
    {0xfff8, 0x5080, WP_TRACE_SPECIAL}, /* MUFU */
    {0xfff8, 0x50d8, WP_TRACE_WARP},    /* VOTE */
    {0xfff8, 0x50f8, WP_TRACE_FP32},    /* FSWZADD */
    {0xfff0, 0x5c50, WP_TRACE_FP32},    /* DMNMX below, FADD */
    {0xfff8, 0x5c60, WP_TRACE_FP32},    /* FMNMX */
    {0xfff8, 0x5c68, WP_TRACE_FP32},    /* FMUL */
    {0xfff8, 0x5c70, WP_TRACE_FP64},    /* DADD */
    {0xfff8, 0x5c80, WP_TRACE_FP64},    /* DMUL */
    {0xfff8, 0x5c88, WP_TRACE_FP32},    /* FCHK */
    {0xfff8, 0x5c90, WP_TRACE_FP32},    /* RRO */
    {0xfff8, 0x5ca8, WP_TRACE_CONVERT}, /* F2F */
    {0xfff0, 0x5cb0, WP_TRACE_CONVERT}, /* F2I, I2F */
    {0xfff8, 0x5ce0, WP_TRACE_CONVERT}, /* I2I */
    {0xfff8, 0x5c08, WP_TRACE_CONVERT}, /* POPC */
    {0xfff8, 0x5c30, WP_TRACE_CONVERT}, /* FLO */
    {0xfff8, 0x5c38, WP_TRACE_IMUL},    /* IMUL */
    {0xff00, 0x1f00, WP_TRACE_IMUL},    /* IMUL32I */
    {0xfff0, 0x5ba0, WP_TRACE_FP32},    /* FCMP */
    {0xfff0, 0x5bb0, WP_TRACE_FP32},    /* FSETP */
    {0xfff0, 0x5b70, WP_TRACE_FP64},    /* DFMA */
    {0xfff0, 0x5370, WP_TRACE_FP64},    /* DFMA */
    {0xfff0, 0x5b80, WP_TRACE_FP64},    /* DSETP */
    {0xff80, 0x5980, WP_TRACE_FP32},    /* FFMA */
    {0xff80, 0x5180, WP_TRACE_FP32},    /* FFMA */
    {0xff80, 0x5900, WP_TRACE_FP64},    /* DSET */
    {0xff00, 0x5800, WP_TRACE_FP32},    /* FSET */
    {0xff00, 0x0800, WP_TRACE_FP32},    /* FADD32I */
    {0xff00, 0x0900, WP_TRACE_FP32},    /* FADD32I */
    {0xff00, 0x0c00, WP_TRACE_FP32},    /* FFMA32I */
    {0xff00, 0x1e00, WP_TRACE_FP32},    /* FMUL32I */
    {0xff00, 0x5d00, WP_TRACE_FP16},    /* HFMA2, HMUL2, HADD2, HSET2, HSETP2 */
    {0xf000, 0x7000, WP_TRACE_FP16},    /* … with constants */
    {0xf000, 0x6000, WP_TRACE_FP16},    {0xe000, 0x8000, WP_OPCODE_ACCESS}, /* LD */
    {0xe000, 0xa000, WP_OPCODE_ACCESS},                                     /* ST */
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
#define MAXWELL_FILL UINT64_C(0xe2400fffff87000f)
#define VOLTA_FILL UINT64_C(0xfffffff000007947)

/* A word of control bits has 21 for each of the next three instructions; the lowest four say how
 * many cycles later the next one issues. */
bool wpi_opcode_is_paired(uint32_t arch, const unsigned char *code, size_t offset) {
    const size_t place = offset % 32 / 8;
    uint64_t control;
    if (arch >= 70 || place == 0) return false;
    memcpy(&control, code + offset - place * 8, sizeof control);
    return (control >> (21 * (place - 1)) & 15) == 0;
}

int wpi_opcode_class(uint32_t arch, const unsigned char *code, size_t offset) {
    uint64_t word;
    memcpy(&word, code + offset, sizeof word);
    if (word == (arch >= 70 ? VOLTA_FILL : MAXWELL_FILL)) return WP_OPCODE_NONE;
    if (arch >= 70) return FIND(volta, (uint16_t)(word & 0x1ff), WP_TRACE_INT);
    if (offset % 32 == 0) return WP_OPCODE_NONE; /* control bits */
    const uint16_t operation = as_registers((uint16_t)(word >> 48));
    const int class = FIND(maxwell_first, operation, -1);
    return class >= 0 ? class : FIND(maxwell, operation, WP_TRACE_INT);
}
