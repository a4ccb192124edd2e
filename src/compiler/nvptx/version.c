/* SPDX-License-Identifier: Apache-2.0 */
/* Determines the GPU and the PTX version that a module needs. A driver rejects versions later than
 * its own, so every file gets the lowest. The front end has checked intrinsics against -arch;
 * inline PTX is searched as text. */
#include <string.h>

#include "compiler/nvptx/nvptx.h"

#define VERSION_LOWEST 63 /* CUDA 10.0 */

/* The first version that supports the architecture. */
static const struct {
    uint32_t arch, version;
} architectures[] = {{80, 70}, {86, 71}, {87, 74}, {89, 78}, {90, 78}};

/* Words that must occur in an instruction, in this order, and its requirements. */
static const struct {
    const char *words[3];
    uint32_t arch, version;
} instructions[] = {
    {{"redux.sync"}, 80, 70},
    {{"cp.async"}, 80, 70},
    {{"mbarrier."}, 80, 70},
    {{"cp.", "async.bulk"}, 90, 80},
    {{"st.async"}, 90, 81},
    {{"fence.proxy"}, 90, 80},
    {{"mapa"}, 90, 78},
    {{"getctarank"}, 90, 78},
    {{"mbarrier.", "expect_tx"}, 90, 80},
    {{"mbarrier.", "complete_tx"}, 90, 80},
    {{"mbarrier.", "try_wait"}, 90, 78},
    {{"mbarrier.", ".parity"}, 80, 71},
    {{"createpolicy"}, 80, 74},
    {{"applypriority"}, 80, 74},
    {{"discard."}, 80, 74},
    {{".L2::cache_hint"}, 80, 74},
    {{".L2::evict"}, 80, 74},
    {{".L1::"}, 70, 74},
    {{".L2::"}, 75, 74},
    {{"bmsk."}, 70, 76},
    {{"szext."}, 70, 76},
    {{"set.", ".u32.f16"}, 70, 65},
    {{"set.", ".s32.f16"}, 70, 65},
    {{"set.", ".u16.f16"}, 70, 65},
    {{"tanh.approx"}, 75, 70},
    {{"ex2.approx", "f16"}, 75, 70},
    {{"ex2.approx", "bf16"}, 90, 78},
    {{"elect.sync"}, 90, 80},
    {{"griddepcontrol"}, 90, 78},
    {{"setmaxnreg"}, 90, 80},
    {{"wgmma."}, 90, 80},
    {{".mmio"}, 70, 82},
    {{"cvt", ".tf32"}, 80, 70},
    {{"cvt", ".e4m3x2"}, 89, 81},
    {{"cvt", ".e5m2x2"}, 89, 81},
    {{"cvt", ".rn", "16x2"}, 80, 70},
    {{"cvt", ".rn.bf16."}, 80, 70},
    {{"cvt", ".bf16"}, 90, 78},
    {{"fma", ".bf16"}, 80, 70},
    {{"min", ".bf16"}, 80, 70},
    {{"max", ".bf16"}, 80, 70},
    {{"neg", ".bf16"}, 80, 70},
    {{"abs", ".bf16"}, 80, 70},
    {{"add", ".bf16"}, 90, 78},
    {{"sub", ".bf16"}, 90, 78},
    {{"mul", ".bf16"}, 90, 78},
    {{"atom", ".bf16"}, 90, 78},
    {{"red", ".bf16"}, 90, 78},
    {{"atom", ".v2"}, 90, 81},
    {{"atom", ".v4"}, 90, 81},
    {{"red", ".v2"}, 90, 81},
    {{"red", ".v4"}, 90, 81},
    {{"min", ".f16"}, 80, 70},
    {{"max", ".f16"}, 80, 70},
    {{"min", ".NaN"}, 80, 70},
    {{"max", ".NaN"}, 80, 70},
    {{"min", ".u16x2"}, 90, 80},
    {{"min", ".s16x2"}, 90, 80},
    {{"max", ".u16x2"}, 90, 80},
    {{"max", ".s16x2"}, 90, 80},
    {{"add", ".u16x2"}, 90, 80},
    {{"add", ".s16x2"}, 90, 80},
    {{".relu"}, 80, 70},
    {{"mma.", "m8n8k4", ".f16"}, 70, 64},
    {{"mma.", "m16n8k8", ".f16"}, 75, 65},
    {{"mma.", "m8n8k16"}, 75, 65},
    {{"mma.", "m8n8k32"}, 75, 65},
    {{"mma.", "m8n8k128"}, 75, 70},
    {{"mma.", "m16n8k4"}, 80, 70},
    {{"mma.", "m16n8k16"}, 80, 70},
    {{"mma.", "m16n8k32"}, 80, 70},
    {{"mma.", "m16n8k64"}, 80, 70},
    {{"mma.", "m16n8k128"}, 80, 70},
    {{"mma.", "m16n8k256"}, 80, 70},
    {{"mma.", ".bf16"}, 80, 70},
    {{"mma.", ".tf32"}, 80, 70},
    {{"mma.", ".f64"}, 80, 70},
    {{"mma.", "m16n8", ".f64"}, 90, 78},
    {{"mma.", ".and.popc"}, 80, 71},
    {{"mma.sp"}, 80, 71},
    {{"mma.sp::ordered_metadata"}, 80, 85},
    {{"mma.", ".e4m3"}, 89, 84},
    {{"mma.", ".e5m2"}, 89, 84},
    {{"wmma.", ".s8"}, 72, 63},
    {{"wmma.", ".u8"}, 72, 63},
    {{"ldmatrix."}, 75, 65},
    {{"movmatrix."}, 75, 78},
    {{"stmatrix."}, 90, 78},
};

static bool has_words(const char *text, const char *const *words) {
    for (int i = 0; i < 3 && words[i]; i++) {
        text = strstr(text, words[i]);
        if (!text) return false;
        text += strlen(words[i]);
    }
    return true;
}

/* One instruction: up to its operands. */
static void scan_instruction(const char *opcode, uint32_t *arch, uint32_t *version) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        if (!has_words(opcode, instructions[i].words)) continue;
        if (instructions[i].arch > *arch) *arch = instructions[i].arch;
        if (instructions[i].version > *version) *version = instructions[i].version;
    }
}

static bool names(const char *text, size_t length, const char *word) {
    const size_t word_length = strlen(word);
    for (size_t at = 0; at + word_length <= length; at++)
        if (memcmp(text + at, word, word_length) == 0) return true;
    return false;
}

/* Clusters: in instructions, spaces, scopes and special registers alike. */
static bool names_clusters(const char *text, size_t length) {
    return names(text, length, "cluster");
}

static void scan_asm(const char *text, size_t length, uint32_t *arch, uint32_t *version) {
    for (size_t at = 0; at < length;) {
        while (at < length && strchr(" \t\n;{}", text[at]))
            at++;
        size_t end = at;
        while (end < length && !strchr(";\n{}", text[end]))
            end++;
        char opcode[128];
        size_t count = end - at < sizeof opcode - 1 ? end - at : sizeof opcode - 1;
        memcpy(opcode, text + at, count);
        opcode[count] = '\0';
        char *operands = opcode[0] == '@' ? strpbrk(opcode, " \t") : opcode; /* after the guard */
        if (operands) {
            operands += strspn(operands, " \t");
            operands[strcspn(operands, " \t")] = '\0';
            scan_instruction(operands, arch, version);
        }
        at = end;
    }
}

void wpi_ptx_version(wpi_compile *c, uint32_t *arch, uint32_t *version, bool *is_specific) {
    *version = VERSION_LOWEST;
    *is_specific = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (!LLVMIsACallInst(i) || !LLVMIsAInlineAsm(LLVMGetCalledValue(i))) continue;
                size_t length;
                const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &length);
                scan_asm(text, length, arch, version);
                if (names_clusters(text, length) && *arch < 90) *arch = 90;
                *is_specific |= names(text, length, "wgmma.") || names(text, length, "setmaxnreg");
            }
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++)
        if (*arch >= architectures[i].arch && architectures[i].version > *version)
            *version = architectures[i].version;
}
