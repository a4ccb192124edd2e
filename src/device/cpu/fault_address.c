/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The address of a general-protection fault. For a non-canonical address, and for a misaligned
 * access by an instruction that requires alignment, the processor raises the same signal without an
 * address. It is decoded from the instruction: prefixes, opcode, ModRM, SIB, displacement. Other
 * forms (EVEX, gathers, segment-relative accesses) are reported as unknown.
 */
#define _GNU_SOURCE /* REG_… */
#include <string.h>
#include <ucontext.h>

#include "device/cpu/cpu.h"

static uint64_t register_value(const ucontext_t *context, unsigned number) {
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                   REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                   REG_R12, REG_R13, REG_R14, REG_R15};
    return (uint64_t)context->uc_mcontext.gregs[places[number & 15u]];
}

static int64_t displacement(const uint8_t *p, unsigned bytes) {
    int8_t small;
    int32_t wide;
    memcpy(&small, p, sizeof small);
    if (bytes == 1) return small;
    memcpy(&wide, p, sizeof wide);
    return wide;
}

/* `p` is at the ModRM byte; `x` and `b` extend the index and the base. False: no memory operand. */
static bool operand_address(const ucontext_t *context, const uint8_t *p, unsigned x, unsigned b,
                            uint64_t *address) {
    const unsigned mod = *p >> 6, rm = *p & 7u;
    unsigned base = rm;
    bool has_base = true;
    uint64_t sum = 0;
    p++;
    if (mod == 3 || (mod == 0 && rm == 5)) return false; /* a register; relative to the code */
    if (rm == 4) {
        const unsigned index = (*p >> 3 & 7u) | x << 3;
        if (index != 4) sum += register_value(context, index) << (*p >> 6);
        base = *p & 7u;
        has_base = mod != 0 || base != 5;
        p++;
    }
    if (has_base) sum += register_value(context, base | b << 3);
    if (mod == 1) sum += (uint64_t)displacement(p, 1);
    if (mod == 2 || !has_base) sum += (uint64_t)displacement(p, 4);
    *address = sum;
    return true;
}

bool wpi_fault_decode(const void *signal_context, uint64_t *address) {
    const ucontext_t *context = signal_context;
    const uint8_t *p = (const uint8_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    unsigned x = 0, b = 0, map = 0;
    for (; strchr("\x66\x67\xf0\xf2\xf3\x2e\x36\x3e\x26\x64\x65", *p) != NULL && *p != 0; p++) {
        if (*p == 0x64 || *p == 0x65) return false;
    }
    if ((*p & 0xf0u) == 0x40u) { /* REX */
        x = *p >> 1 & 1u;
        b = *p & 1u;
        p++;
    }
    if (*p == 0x62) return false;
    if (*p == 0xc5) { /* VEX, two bytes */
        p += 2;
        map = 1;
    } else if (*p == 0xc4) { /* VEX, three bytes: the extensions are inverted */
        x = (p[1] >> 6 & 1u) ^ 1u;
        b = (p[1] >> 5 & 1u) ^ 1u;
        map = p[1] & 31u;
        p += 3;
    } else if (*p == 0x0f) {
        p++;
        map = 1;
        if (*p == 0x38 || *p == 0x3a) map = *p++ == 0x38 ? 2 : 3;
    }
    const uint8_t opcode = *p++;
    if (map == 2 && opcode >= 0x90 && opcode <= 0x93) return false; /* gathers */
    if (map == 0 && (opcode | 1) == 0xab) {                         /* stos */
        *address = register_value(context, 7);
        return true;
    }
    if (map == 0 && (opcode | 1) == 0xa5) { /* movs: the operand that is not canonical */
        *address = register_value(context, 7);
        if (wpi_fault_is_canonical(*address)) *address = register_value(context, 6);
        return true;
    }
    return operand_address(context, p, x, b, address);
}

bool wpi_fault_is_canonical(uint64_t address) {
    const int64_t top = (int64_t)address >> 47;
    return top == 0 || top == -1;
}
