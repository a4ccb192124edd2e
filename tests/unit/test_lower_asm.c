/* SPDX-License-Identifier: Apache-2.0 */
/* lower_asm by value: one asm block in a function i64 f(i64, i64, i64, i64), lowered, compiled for
 * this processor and called; results are compared with C. What cannot run here (barriers, special
 * registers) is compared as text, what must be refused by its message. */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <math.h>

#include "base/text.h"
#include "compiler/passes.h"
#include "device/cpu/devicelib/devicelib_ptx.c"
#include "wp_test.h"

typedef struct lowered {
    wpi_compile *c;
    LLVMExecutionEngineRef engine;
    uint64_t (*run)(uint64_t, uint64_t, uint64_t, uint64_t);
} lowered;

static const char *letter_type(char letter) {
    switch (letter) {
    case 'h': return "i16";
    case 'r':
    case 'n': return "i32";
    case 'f': return "float";
    case 'd': return "double";
    default: return "i64";
    }
}

/* %<to> = the value of %<from>, i64 bits, as the constraint letter wants it; or back to i64. */
static void append_from_i64(wpi_text *ir, char letter, const char *to, const char *from) {
    if (letter == 'f')
        wpi_text_appendf(ir,
                         "  %%%s.w = trunc i64 %%%s to i32\n  %%%s = bitcast i32 %%%s.w to float\n",
                         to, from, to, to);
    else if (letter == 'd')
        wpi_text_appendf(ir, "  %%%s = bitcast i64 %%%s to double\n", to, from);
    else if (letter == 'l')
        wpi_text_appendf(ir, "  %%%s = add i64 %%%s, 0\n", to, from);
    else
        wpi_text_appendf(ir, "  %%%s = trunc i64 %%%s to %s\n", to, from, letter_type(letter));
}

static void append_to_i64(wpi_text *ir, char letter, const char *to, const char *from) {
    if (letter == 'f')
        wpi_text_appendf(ir,
                         "  %%%s.w = bitcast float %%%s to i32\n  %%%s = zext i32 %%%s.w to i64\n",
                         to, from, to, to);
    else if (letter == 'd')
        wpi_text_appendf(ir, "  %%%s = bitcast double %%%s to i64\n", to, from);
    else if (letter == 'l')
        wpi_text_appendf(ir, "  %%%s = add i64 %%%s, 0\n", to, from);
    else
        wpi_text_appendf(ir, "  %%%s = zext %s %%%s to i64\n", to, letter_type(letter), from);
}

/* `operands`: "=r,r,l" without clobbers; up to two outputs (the second in the high half of the
 * result) and four inputs. A digit is an input tied to that output. */
static char *function_text(const char *code, const char *operands, const char *clobbers) {
    char outputs[4] = "", inputs[8] = "";
    for (const char *at = operands; *at; at += strcspn(at, ","), at += *at == ',') {
        bool is_output = *at == '=';
        char letter = is_output                  ? at[1 + (at[1] == '&')]
                      : *at >= '0' && *at <= '9' ? outputs[*at - '0']
                                                 : *at;
        char *list = is_output ? outputs : inputs;
        size_t length = strlen(list);
        list[length] = letter;
        list[length + 1] = '\0';
    }
    wpi_text ir = {0};
    wpi_text_append(&ir, "target triple = \"nvptx64-nvidia-cuda\"\n"
                         "define i64 @f(i64 %a0, i64 %a1, i64 %a2, i64 %a3) {\n");
    size_t output_count = strlen(outputs);
    for (size_t i = 0; inputs[i]; i++) {
        char to[8], from[8];
        snprintf(to, sizeof to, "i%zu", i);
        snprintf(from, sizeof from, "a%zu", i);
        append_from_i64(&ir, inputs[i], to, from);
    }
    if (output_count == 0)
        wpi_text_append(&ir, "  call void asm sideeffect ");
    else if (output_count == 1)
        wpi_text_appendf(&ir, "  %%o0 = call %s asm sideeffect ", letter_type(outputs[0]));
    else
        wpi_text_appendf(&ir, "  %%o = call { %s, %s } asm sideeffect ", letter_type(outputs[0]),
                         letter_type(outputs[1]));
    wpi_text_append(&ir, "\"");
    for (const char *c = code; *c; c++)
        *c == '\n' ? wpi_text_append(&ir, "\\0A") : wpi_text_append_n(&ir, c, 1);
    wpi_text_appendf(&ir, "\", \"%s%s%s\"(", operands, *operands && *clobbers ? "," : "", clobbers);
    for (size_t i = 0; inputs[i]; i++)
        wpi_text_appendf(&ir, "%s%s %%i%zu", i ? ", " : "", letter_type(inputs[i]), i);
    wpi_text_append(&ir, ")\n");
    for (size_t i = 0; output_count == 2 && i < 2; i++)
        wpi_text_appendf(&ir, "  %%o%zu = extractvalue { %s, %s } %%o, %zu\n", i,
                         letter_type(outputs[0]), letter_type(outputs[1]), i);
    if (output_count > 0) append_to_i64(&ir, outputs[0], "r0", "o0");
    if (output_count == 2) {
        append_to_i64(&ir, outputs[1], "r1", "o1");
        wpi_text_append(&ir,
                        "  %r1h = shl i64 %r1, 32\n  %r = or i64 %r0, %r1h\n  ret i64 %r\n}\n");
    } else {
        wpi_text_appendf(&ir, "  ret i64 %s\n}\n", output_count ? "%r0" : "0");
    }
    return wpi_text_take(&ir);
}

static wpi_compile *compile_text(const char *ir) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef text = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, strlen(ir), "test");
    LLVMModuleRef module;
    char *message = NULL;
    if (LLVMParseIRInContext(context, text, &module, &message)) fail_msg("%s\n%s", message, ir);
    LLVMMemoryBufferRef bits = LLVMWriteBitcodeToMemoryBuffer(module);
    wpi_compile *c;
    wp_error err = {0};
    assert_status_ok(
        wpi_compile_create(LLVMGetBufferStart(bits), LLVMGetBufferSize(bits), &c, &err), &err);
    LLVMDisposeMemoryBuffer(bits);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return c;
}

static wpi_compile *lower_block(const char *code, const char *operands) {
    char *ir = function_text(code, operands, "~{memory}");
    wpi_compile *c = compile_text(ir);
    wp_error err = {0};
    wp_status status = wpi_pass_lower_asm(c, &err);
    if (status != WP_STATUS_OK) fail_msg("%s: %s", code, err.message);
    assert_status_ok(wpi_compile_verify(c, "lower-asm", &err), &err);
    free(ir);
    return c;
}

static void map(lowered *l, const char *name, void *function) {
    LLVMValueRef declared = LLVMGetNamedFunction(l->c->module, name);
    if (declared) LLVMAddGlobalMapping(l->engine, declared, function);
}

static lowered build(const char *code, const char *operands) {
    lowered l = {.c = lower_block(code, operands)};
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMLinkInMCJIT();
    LLVMSetTarget(l.c->module, "x86_64-pc-linux-gnu");
    char *message = NULL;
    struct LLVMMCJITCompilerOptions options;
    LLVMInitializeMCJITCompilerOptions(&options, sizeof options);
    if (LLVMCreateMCJITCompilerForModule(&l.engine, l.c->module, &options, sizeof options,
                                         &message))
        fail_msg("%s", message);
    map(&l, "__wp_ptx_prmt_b32", (void *)(uintptr_t)__wp_ptx_prmt_b32);
    map(&l, "__wp_ptx_prmt_b32_f4e", (void *)(uintptr_t)__wp_ptx_prmt_b32_f4e);
    map(&l, "__wp_ptx_prmt_b32_b4e", (void *)(uintptr_t)__wp_ptx_prmt_b32_b4e);
    map(&l, "__wp_ptx_prmt_b32_rc8", (void *)(uintptr_t)__wp_ptx_prmt_b32_rc8);
    map(&l, "__wp_ptx_prmt_b32_ecl", (void *)(uintptr_t)__wp_ptx_prmt_b32_ecl);
    map(&l, "__wp_ptx_prmt_b32_ecr", (void *)(uintptr_t)__wp_ptx_prmt_b32_ecr);
    map(&l, "__wp_ptx_prmt_b32_rc16", (void *)(uintptr_t)__wp_ptx_prmt_b32_rc16);
    map(&l, "__wp_ptx_fns_b32", (void *)(uintptr_t)__wp_ptx_fns_b32);
    map(&l, "__wp_ptx_atom_add_f16x2", (void *)(uintptr_t)__wp_ptx_atom_add_f16x2);
    map(&l, "__nv_exp2f", (void *)(uintptr_t)exp2f);
    map(&l, "__nv_fast_sinf", (void *)(uintptr_t)sinf);
    uint64_t address = LLVMGetFunctionAddress(l.engine, "f");
    if (!address) fail_msg("%s: no code", code);
    memcpy(&l.run, &address, sizeof address);
    return l;
}

static void drop(lowered *l) {
    LLVMDisposeExecutionEngine(l->engine); /* and with it the module */
    l->c->module = NULL;
    wpi_compile_destroy(l->c);
}

typedef struct sample {
    const char *code, *operands;
    uint64_t in[4], expected;
} sample;

static void check(const sample *samples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const sample *s = &samples[i];
        lowered l = build(s->code, s->operands);
        uint64_t got = l.run(s->in[0], s->in[1], s->in[2], s->in[3]);
        if (got != s->expected)
            fail_msg("%s (%llx, %llx, %llx, %llx) is %llx, expected %llx", s->code,
                     (unsigned long long)s->in[0], (unsigned long long)s->in[1],
                     (unsigned long long)s->in[2], (unsigned long long)s->in[3],
                     (unsigned long long)got, (unsigned long long)s->expected);
        drop(&l);
    }
}
#define CHECK(...)                                                                                 \
    do {                                                                                           \
        const sample samples[] = {__VA_ARGS__};                                                    \
        check(samples, sizeof samples / sizeof *samples);                                          \
    } while (0)

static uint32_t f(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t d(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t pair(uint32_t low, uint32_t high) {
    return (uint64_t)high << 32 | low;
}

/* A few numbers that find edges, then random ones; the seed is fixed, so is the sequence. */
static uint32_t number(unsigned i) {
    static const uint32_t edges[] = {0,  1,          2,          31,         32,
                                     33, 0x7fffffff, 0x80000000, 0xffffffff, 0x80ff7f01};
    uint64_t x = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 32;
    return x & 1 ? edges[x / 2 % 10] : (uint32_t)(x >> 16);
}

static void sweep(const char *code, const char *operands,
                  uint64_t (*reference)(uint32_t, uint32_t, uint32_t, uint32_t)) {
    lowered l = build(code, operands);
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t x[4];
        for (unsigned k = 0; k < 4; k++)
            x[k] = number(4 * i + k);
        uint64_t got = l.run(x[0], x[1], x[2], x[3]), expected = reference(x[0], x[1], x[2], x[3]);
        if (got != expected)
            fail_msg("%s (%x, %x, %x, %x) is %llx, expected %llx", code, x[0], x[1], x[2], x[3],
                     (unsigned long long)got, (unsigned long long)expected);
    }
    drop(&l);
}

/* ---- values ---- */

static void integers_add_multiply_and_divide(void **state) {
    (void)state;
    CHECK({"add.s32 $0, $1, $2;", "=r,r,r", {7, 5}, 12},
          {"add.u64 $0, $1, 0x100000000;", "=l,l", {1}, UINT64_C(0x100000001)},
          {"add.sat.s32 $0, $1, $2;", "=r,r,r", {0x7fffffff, 1}, 0x7fffffff},
          {"sub.u16 $0, $1, $2;", "=h,h,h", {1, 2}, 0xffff},
          {"mul.lo.s32 $0, $1, $2;", "=r,r,r", {0xffffffff, 7}, 0xfffffff9},
          {"mul.hi.s32 $0, $1, $2;", "=r,r,r", {0xffffffff, 7}, 0xffffffff},
          {"mul.hi.u32 $0, $1, $2;", "=r,r,r", {0xffffffff, 7}, 6},
          {"mul.hi.u64 $0, $1, $2;", "=l,l,l", {UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1},
          {"mul.wide.s32 $0, $1, $2;", "=l,r,r", {0xffffffff, 7}, (uint64_t)-7},
          {"mul.wide.u16 $0, $1, $2;", "=r,h,h", {0xffff, 0xffff}, 0xfffe0001},
          {"mad.lo.s32 $0, $1, $2, $3;", "=r,r,r,r", {3, 4, 5}, 17},
          {"mad.wide.u32 $0, $1, $2, $3;", "=l,r,r,l", {0xffffffff, 2, 1}, UINT64_C(0x1ffffffff)},
          {"mad.hi.sat.s32 $0, $1, $2, $3;",
           "=r,r,r,r",
           {0x7fffffff, 0x7fffffff, 0x7fffffff},
           0x7fffffff},
          {"mul24.lo.u32 $0, $1, $2;", "=r,r,r", {0xff000003, 5}, 15},
          {"mul24.hi.s32 $0, $1, $2;", "=r,r,r", {0x00800000, 0x00800000}, 0x40000000},
          {"div.s32 $0, $1, $2;", "=r,r,r", {(uint32_t)-7, 2}, (uint32_t)-3},
          {"div.u32 $0, $1, $2;", "=r,r,r", {7, 0}, 0xffffffff},
          {"div.s32 $0, $1, $2;", "=r,r,r", {0x80000000, 0xffffffff}, 0x80000000},
          {"rem.s32 $0, $1, $2;", "=r,r,r", {(uint32_t)-7, 2}, (uint32_t)-1},
          {"rem.u64 $0, $1, $2;", "=l,l,l", {10, 0}, 10},
          {"neg.s32 $0, $1;", "=r,r", {5}, (uint32_t)-5},
          {"abs.s32 $0, $1;", "=r,r", {(uint32_t)-5}, 5},
          {"min.s32 $0, $1, $2;", "=r,r,r", {(uint32_t)-5, 3}, (uint32_t)-5},
          {"max.u32 $0, $1, $2;", "=r,r,r", {(uint32_t)-5, 3}, (uint32_t)-5},
          {"sad.s32 $0, $1, $2, $3;", "=r,r,r,r", {(uint32_t)-5, 3, 100}, 108},
          {"dp4a.s32.u32 $0, $1, $2, $3;", "=r,r,r,r", {0xff010203, 0x02030405, 1}, 25},
          {"dp2a.hi.u32.u32 $0, $1, $2, $3;", "=r,r,r,r", {0x00030002, 0x04050607, 1}, 23});
}

static void carries_run_through_a_block(void **state) {
    (void)state;
    CHECK({"add.cc.u32 $0, $2, $4;\n addc.u32 $1, $3, $5;",
           "=r,=&r,r,r,r,r",
           {0xffffffff, 1, 1, 2},
           pair(0, 4)},
          {"sub.cc.u32 $0, $2, $4; subc.u32 $1, $3, $5;",
           "=r,=&r,r,r,r,r",
           {0, 5, 1, 2},
           pair(0xffffffff, 2)},
          /* An addition sees the flag of a + ~b + 1: set if there was no borrow. */
          {"sub.cc.u32 $0, $2, $3; addc.u32 $1, 0, 0;", "=r,=&r,r,r", {5, 1}, pair(4, 1)},
          {"sub.cc.u32 $0, $2, $3; addc.u32 $1, 0, 0;", "=r,=&r,r,r", {0, 1}, pair(0xffffffff, 0)},
          {"{ .reg .u32 t; mad.lo.cc.u32 t, $1, $2, $3; madc.hi.u32 $0, $1, $2, 0; }",
           "=r,r,r,r",
           {0xffffffff, 0xffffffff, 0xffffffff},
           0xffffffff},
          {"{ .reg .pred p; setp.eq.u32 p, $1, 0; @p add.cc.u32 $0, 0xffffffff, 1; @!p add.cc.u32 "
           "$0, 1, 1; "
           "addc.u32 $0, 0, 0; }",
           "=r,r",
           {0},
           1});
}

static void bits_are_shifted_and_moved(void **state) {
    (void)state;
    CHECK({"shl.b32 $0, $1, $2;", "=r,r,r", {1, 32}, 0},
          {"shl.b32 $0, $1, $2;", "=r,r,r", {1, 0x100}, 0},
          {"shr.s32 $0, $1, $2;", "=r,r,r", {0x80000000, 40}, 0xffffffff},
          {"shr.u64 $0, $1, $2;", "=l,l,r", {UINT64_C(1) << 40, 8}, UINT64_C(1) << 32},
          {"not.b16 $0, $1;", "=h,h", {0x00ff}, 0xff00}, {"cnot.b32 $0, $1;", "=r,r", {0}, 1},
          {"brev.b32 $0, $1;", "=r,r", {1}, 0x80000000}, {"clz.b32 $0, $1;", "=r,r", {0}, 32},
          {"clz.b64 $0, $1;", "=r,l", {1}, 63}, {"popc.b64 $0, $1;", "=r,l", {UINT64_MAX}, 64},
          {"bfind.u32 $0, $1;", "=r,r", {0x100}, 8}, {"bfind.s32 $0, $1;", "=r,r", {0xffffff00}, 7},
          {"bfind.u32 $0, $1;", "=r,r", {0}, 0xffffffff},
          {"bfind.shiftamt.u64 $0, $1;", "=r,l", {0x100}, 55},
          {"bmsk.clamp.b32 $0, $1, $2;", "=r,r,r", {4, 8}, 0xff0},
          {"szext.clamp.s32 $0, $1, $2;", "=r,r,r", {0xf8, 8}, 0xfffffff8},
          {"fns.b32 $0, $1, $2, $3;", "=r,r,r,r", {0x2c, 0, 2}, 3},
          {"lop3.b32 $0, $1, $2, $3, 0x96;", "=r,r,r,r", {0xf0, 0xcc, 0xaa}, 0xf0 ^ 0xcc ^ 0xaa},
          {"lop3.b32 $0, $1, $2, $3, 0xca;",
           "=r,r,r,r",
           {0xf0, 0xcc, 0xaa},
           (0xf0 & 0xcc) | (0x0f & 0xaa)},
          {"mov.b64 $0, {$1, $2};", "=l,r,r", {1, 2}, pair(1, 2)},
          {"mov.b64 {$0, $1}, $2;", "=r,=r,l", {pair(3, 4)}, pair(3, 4)},
          {"mov.b64 {_, $0}, $1;", "=r,l", {pair(3, 4)}, 4},
          {"mov.b32 $0, {$1, $2};", "=r,h,h", {1, 2}, 0x20001},
          {"mov.f32 $0, 0f3F800000;", "=f", {0}, f(1.0f)}, {"mov.f32 $0, 1.5;", "=f", {0}, f(1.5f)},
          {"mov.b32 $0, $1;", "=r,f", {f(2.0f)}, f(2.0f)},
          {"mov.f64 $0, 0dBFF0000000000000;", "=d", {0}, d(-1.0)},
          {"prmt.b32.ecl $0, $1, $2, $3;", "=r,r,r,r", {0x44332211, 0, 1}, 0x44332222},
          {"prmt.b32.b4e $0, $1, $2, $3;", "=r,r,r,r", {0x44332211, 0x88776655, 1}, 0x77881122});
}

static uint64_t bfe(uint32_t a, uint32_t b, uint32_t c, bool is_signed) {
    uint32_t at = b & 255, length = c & 255, top = at + length - 1 > 31 ? 31 : at + length - 1,
             result = 0;
    uint32_t fill = is_signed && length ? a >> top & 1 : 0;
    for (uint32_t i = 0; i < 32; i++)
        result |= (i < length && at + i <= 31 ? a >> (at + i) & 1 : fill) << i;
    return result;
}
static uint64_t bfe_u(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    (void)e;
    return bfe(a, b, c, false);
}
static uint64_t bfe_s(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    (void)e;
    return bfe(a, b, c, true);
}
static uint64_t bfi(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    uint32_t at = c & 255, length = e & 255;
    for (uint32_t i = 0; i < length && at + i <= 31; i++)
        b = (b & ~(1u << (at + i))) | (i < 32 ? a >> i & 1 : 0) << (at + i);
    return b;
}
static uint64_t shf_l_wrap(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    (void)e;
    return c & 31 ? b << (c & 31) | a >> (32 - (c & 31)) : b;
}
static uint64_t shf_r_clamp(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    (void)e;
    return c >= 32 ? b : c ? b << (32 - c) | a >> c : a;
}
static uint64_t prmt(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {
    (void)e;
    uint8_t bytes[8];
    memcpy(bytes, &a, 4);
    memcpy(bytes + 4, &b, 4);
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t byte = bytes[c >> 4 * i & 7];
        if (c >> 4 * i & 8) byte = byte >> 7 ? 255 : 0;
        result |= (uint32_t)byte << 8 * i;
    }
    return result;
}

static void bit_fields_match_their_definition(void **state) {
    (void)state;
    sweep("bfe.u32 $0, $1, $2, $3;", "=r,r,r,r", bfe_u);
    sweep("bfe.s32 $0, $1, $2, $3;", "=r,r,r,r", bfe_s);
    sweep("bfi.b32 $0, $1, $2, $3, $4;", "=r,r,r,r,r", bfi);
    sweep("shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r", shf_l_wrap);
    sweep("shf.r.clamp.b32 $0, $1, $2, $3;", "=r,r,r,r", shf_r_clamp);
    sweep("prmt.b32 $0, $1, $2, $3;", "=r,r,r,r", prmt);
}

/* Lanes of `bits` bits by the text of PTX's definition. */
static int64_t lane(uint32_t word, unsigned i, unsigned bits, bool is_signed) {
    int64_t value = word >> i * bits & ((1u << bits) - 1);
    return is_signed && value >> (bits - 1) ? value - (INT64_C(1) << bits) : value;
}
static uint64_t lanes(uint32_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed,
                      bool is_sat, bool is_add, int64_t (*one)(int64_t, int64_t)) {
    int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0,
            high = low + (INT64_C(1) << bits) - 1;
    uint32_t result = is_add ? c : 0;
    for (unsigned i = 0; i < 32 / bits; i++) {
        int64_t value = one(lane(a, i, bits, is_signed), lane(b, i, bits, is_signed));
        if (is_sat) value = value < low ? low : value > high ? high : value;
        if (is_add)
            result += (uint32_t)value;
        else
            result |= ((uint32_t)value & ((1u << bits) - 1)) << i * bits;
    }
    return result;
}
static int64_t plus(int64_t a, int64_t b) {
    return a + b;
}
static int64_t minus(int64_t a, int64_t b) {
    return a - b;
}
static int64_t difference(int64_t a, int64_t b) {
    return a > b ? a - b : b - a;
}
static int64_t average(int64_t a, int64_t b) {
    int64_t sum = a + b + (a + b >= 0);
    return sum >= 0 ? sum / 2 : -((-sum + 1) / 2);
}
static int64_t greater(int64_t a, int64_t b) {
    return a > b;
}
#define LANES(name, ...)                                                                           \
    static uint64_t name(uint32_t a, uint32_t b, uint32_t c, uint32_t e) {                         \
        (void)e;                                                                                   \
        return lanes(a, b, c, __VA_ARGS__);                                                        \
    }
LANES(add4_s_sat, 8, true, true, false, plus)
LANES(sub2_u_sat, 16, false, true, false, minus)
LANES(diff4_u_add, 8, false, false, true, difference)
LANES(diff2_s_sat, 16, true, true, false, difference)
LANES(average4_s, 8, true, false, false, average)
LANES(average2_u, 16, false, false, false, average)
LANES(set4_s_gt, 8, true, false, false, greater)

static void video_instructions_work_on_lanes(void **state) {
    (void)state;
    sweep("vadd4.s32.s32.s32.sat $0,$1,$2,$3;", "=r,r,r,r", add4_s_sat);
    sweep("vsub2.u32.u32.u32.sat $0,$1,$2,$3;", "=r,r,r,r", sub2_u_sat);
    sweep("vabsdiff4.u32.u32.u32.add $0,$1,$2,$3;", "=r,r,r,r", diff4_u_add);
    sweep("vabsdiff2.s32.s32.s32.sat $0,$1,$2,$3;", "=r,r,r,r", diff2_s_sat);
    sweep("vavrg4.s32.s32.s32 $0,$1,$2,$3;", "=r,r,r,r", average4_s);
    sweep("vavrg2.u32.u32.u32 $0,$1,$2,$3;", "=r,r,r,r", average2_u);
    sweep("vset4.s32.s32.gt $0,$1,$2,$3;", "=r,r,r,r", set4_s_gt);
    CHECK({"vadd4.u32.u32.u32 $0.b10, $1, $2, $3;",
           "=r,r,r,r",
           {0x01010101, 0x01010101, 0xaabbccdd},
           0xaabb0202},
          {"vadd.s32.u32.u32.add $0, $1.b1, $2.h1, $3;",
           "=r,r,r,r",
           {0x00000500, 0x00070000, 100},
           112},
          {"vmax.u32.u32.u32 $0.b2, $1, $2, $3;", "=r,r,r,r", {3, 9, 0xffffffff}, 0xff09ffff});
}

static void floats_follow_ptx_at_the_edges(void **state) {
    (void)state;
    const uint32_t nan = 0x7fc00000, tiny = 1;
    CHECK({"add.f32 $0, $1, $2;", "=f,f,f", {f(1.0f), f(2.5f)}, f(3.5f)},
          {"fma.rn.f32 $0, $1, $2, $3;",
           "=f,f,f,f",
           {f(0x1.000002p0f), f(0x1.000002p0f), f(-1.0f)},
           f(fmaf(0x1.000002p0f, 0x1.000002p0f, -1.0f))},
          {"add.ftz.f32 $0, $1, $2;", "=f,f,f", {tiny, tiny}, 0},
          {"mul.sat.f32 $0, $1, $2;", "=f,f,f", {f(3.0f), f(2.0f)}, f(1.0f)},
          {"add.sat.f32 $0, $1, $2;", "=f,f,f", {nan, f(2.0f)}, 0},
          {"min.f32 $0, $1, $2;", "=f,f,f", {nan, f(2.0f)}, f(2.0f)},
          {"min.f32 $0, $1, $2;", "=f,f,f", {0, 0x80000000}, 0x80000000},
          {"max.f64 $0, $1, $2;", "=d,d,d", {d(-0.0), d(0.0)}, d(0.0)},
          {"abs.f32 $0, $1;", "=f,f", {f(-2.0f)}, f(2.0f)},
          {"neg.f64 $0, $1;", "=d,d", {d(2.0)}, d(-2.0)},
          {"copysign.f32 $0, $1, $2;", "=f,f,f", {f(-1.0f), f(3.0f)}, f(-3.0f)},
          {"rcp.approx.ftz.f32 $0, $1;", "=f,f", {f(4.0f)}, f(0.25f)},
          {"rsqrt.approx.f32 $0, $1;", "=f,f", {f(4.0f)}, f(0.5f)},
          {"sqrt.rn.f64 $0, $1;", "=d,d", {d(2.0)}, d(sqrt(2.0))},
          {"div.full.f32 $0, $1, $2;", "=f,f,f", {f(1.0f), f(3.0f)}, f(1.0f / 3.0f)},
          {"ex2.approx.f32 $0, $1;", "=f,f", {f(3.0f)}, f(8.0f)},
          {"sin.approx.f32 $0, $1;", "=f,f", {f(0.5f)}, f(sinf(0.5f))},
          {"add.f16 $0, $1, $2;", "=h,h,h", {0x3c00, 0x4000}, 0x4200},
          {"fma.rn.f16x2 $0, $1, $2, $3;",
           "=r,r,r,r",
           {0x3c004000, 0x40004000, 0x3c003c00},
           0x42004500},
          {"fma.rn.bf16x2 $0, $1, $2, $3;",
           "=r,r,r,r",
           {0x3f804000, 0x40004000, 0x3f803f80},
           0x404040a0},
          {"{ .reg .pred p; testp.subnormal.f32 p, $1; selp.u32 $0, 1, 2, p; }", "=r,f", {tiny}, 1},
          {"{ .reg .pred p; testp.finite.f32 p, $1; selp.u32 $0, 1, 2, p; }", "=r,f", {nan}, 2});
}

static void conversions_round_clamp_and_extend(void **state) {
    (void)state;
    const uint32_t nan = 0x7fc00000;
    CHECK({"cvt.s32.s8 $0, $1;", "=r,r", {0x80}, 0xffffff80},
          {"cvt.u32.u8 $0, $1;", "=r,r", {0x180}, 0x80},
          {"cvt.sat.u8.s32 $0, $1;", "=r,r", {(uint32_t)-3}, 0},
          {"cvt.sat.s8.s32 $0, $1;", "=r,r", {300}, 127},
          {"cvt.sat.s32.u64 $0, $1;", "=r,l", {UINT64_MAX}, 0x7fffffff},
          {"cvt.u64.s32 $0, $1;", "=l,r", {0xffffffff}, UINT64_MAX},
          {"cvt.rzi.s32.f32 $0, $1;", "=r,f", {f(-2.7f)}, (uint32_t)-2},
          {"cvt.rni.s32.f32 $0, $1;", "=r,f", {f(2.5f)}, 2},
          {"cvt.rmi.s32.f64 $0, $1;", "=r,d", {d(-2.5)}, (uint32_t)-3},
          {"cvt.rpi.u32.f32 $0, $1;", "=r,f", {f(2.1f)}, 3},
          {"cvt.rzi.s32.f32 $0, $1;", "=r,f", {f(1e20f)}, 0x7fffffff},
          {"cvt.rzi.u32.f32 $0, $1;", "=r,f", {f(-5.0f)}, 0},
          {"cvt.rzi.u8.f32 $0, $1;", "=r,f", {f(300.0f)}, 255},
          {"cvt.rzi.s32.f32 $0, $1;", "=r,f", {nan}, 0},
          {"cvt.rzi.s32.f64 $0, $1;", "=r,d", {UINT64_C(0x7ff8000000000000)}, 0x80000000},
          {"cvt.rn.f32.s32 $0, $1;", "=f,r", {0x7fffffff}, f(2147483648.0f)},
          {"cvt.rn.f64.u64 $0, $1;", "=d,l", {UINT64_MAX}, d(18446744073709551616.0)},
          {"cvt.rn.f32.f64 $0, $1;", "=f,d", {d(0.1)}, f(0.1f)},
          {"cvt.f64.f32 $0, $1;", "=d,f", {f(0.1f)}, d((double)0.1f)},
          {"cvt.rni.f32.f32 $0, $1;", "=f,f", {f(1.5f)}, f(2.0f)},
          {"cvt.sat.f32.f32 $0, $1;", "=f,f", {f(1.5f)}, f(1.0f)},
          {"cvt.rn.f16.f32 $0, $1;", "=h,f", {f(1.0f)}, 0x3c00},
          {"cvt.f32.f16 $0, $1;", "=f,h", {0xc000}, f(-2.0f)},
          {"cvt.rn.bf16.f32 $0, $1;", "=h,f", {0x3f808000}, 0x3f80},
          {"cvt.rn.bf16.f32 $0, $1;", "=h,f", {0x3f818000}, 0x3f82},
          {"cvt.rn.f16x2.f32 $0, $1, $2;", "=r,f,f", {f(1.0f), f(2.0f)}, 0x3c004000},
          {"cvt.rna.tf32.f32 $0, $1;", "=r,f", {0x3f801000}, 0x3f802000});
}

static void comparisons_set_and_select(void **state) {
    (void)state;
    const uint32_t nan = 0x7fc00000;
    CHECK({"set.lt.u32.s32 $0, $1, $2;", "=r,r,r", {(uint32_t)-1, 1}, 0xffffffff},
          {"set.lo.u32.u32 $0, $1, $2;", "=r,r,r", {(uint32_t)-1, 1}, 0},
          {"set.gt.f32.f32 $0, $1, $2;", "=f,f,f", {f(2.0f), f(1.0f)}, f(1.0f)},
          {"set.ne.u32.f32 $0, $1, $2;", "=r,f,f", {nan, f(1.0f)}, 0},
          {"set.neu.u32.f32 $0, $1, $2;", "=r,f,f", {nan, f(1.0f)}, 0xffffffff},
          {"{ .reg .pred p, q; setp.lt.s32 p|q, $1, $2; selp.s32 $0, 1, 0, q; }",
           "=r,r,r",
           {5, 3},
           1},
          {"{ .reg .pred p, q; setp.eq.s32 p, $1, 5; setp.ge.and.s32 q, $2, 3, !p; selp.s32 $0, 7, "
           "8, q; }",
           "=r,r,r",
           {4, 3},
           7},
          {"{ .reg .pred p, q; setp.eq.s32 p, $1, 5; xor.pred q, p, 1; not.pred q, q; selp.s32 $0, "
           "7, 8, q; }",
           "=r,r",
           {5},
           7},
          {"slct.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", {1, 2, (uint32_t)-1}, 2},
          {"slct.f32.f32 $0, $1, $2, $3;", "=f,f,f,f", {f(1.0f), f(2.0f), nan}, f(2.0f)});
}

/* ---- form ---- */

static void guards_scopes_comments_and_tied_operands_are_read(void **state) {
    (void)state;
    CHECK({"{ .reg .pred %p<2>; .reg .b32 r<3>; // choose\n setp.gt.s32 %p1, $1, 10; /* both */\n"
           "mov.u32 $0, 1; @%p1 mov.u32 $0, 2; @!%p1 add.u32 $0, $0, 2; }",
           "=&r,r",
           {11},
           2},
          {"{ .reg .pred %p<2>; setp.gt.s32 %p1, $1, 10; mov.u32 $0, 1; @%p1 mov.u32 $0, 2;"
           "@!%p1 add.u32 $0, $0, 2; }",
           "=&r,r",
           {10},
           3},
          {"{ .reg .u32 x; mov.u32 x, 1; { .reg .u32 x; mov.u32 x, 2; } mov.u32 $0, x; }",
           "=r",
           {0},
           1},
          {"add.u32 $0, $0, $1;", "=r,r,0", {3, 4}, 7},
          {"add.u32 $0, $2, $1;", "=r,r,0", {3, 4}, 7},
          {"{ .reg .u32 t${:uid}; mov.u32 t${:uid}, $1; mov.u32 $0, t${:uid}; }", "=r,r", {9}, 9},
          {"", "=r,0", {9}, 9});
}

static void loads_and_stores_extend_and_pack(void **state) {
    (void)state;
    uint32_t memory[8] = {1, 2, 3, 4, 0x800000ff, 6, 7, 8};
    uint64_t at = (uintptr_t)memory;
    CHECK({"ld.global.s8 $0, [$1+16];", "=r,l", {at}, 0xffffffff},
          {"ld.global.u8 $0, [$1+19];", "=r,l", {at}, 0x80}, {"ld.u32 $0, [$1];", "=r,l", {at}, 1},
          {"ld.global.ca.L2::128B.v2.u32 {$0, $1}, [$2+8];", "=r,=r,l", {at}, pair(3, 4)},
          {"ld.global.nc.v4.u32 {_, $0, _, $1}, [$2];", "=r,=r,l", {at}, pair(2, 4)},
          {"ld.acquire.gpu.global.u32 $0, [$1+-4];", "=r,l", {at + 8}, 2},
          {"ld.volatile.shared.v2.b32 {$0, $1}, [$2];", "=r,=r,l", {at}, pair(1, 2)},
          {"st.global.cs.v2.u32 [$1+24], {$2, 9}; ld.global.u64 $0, [$1+24];",
           "=l,l,r",
           {at, 5},
           pair(5, 9)},
          {"st.release.sys.global.f32 [$1], 0f40000000; ld.f32 $0, [$1];", "=f,l", {at}, f(2.0f)},
          {"st.u16 [$1+2], $2; ld.u32 $0, [$1];", "=r,l,r", {at, 0x12345678}, 0x56780000});
}

static void atomics_return_what_was_there(void **state) {
    (void)state;
    uint32_t memory[4] = {10, f(1.0f), 0x3c003c00, 7};
    uint64_t at = (uintptr_t)memory;
    CHECK({"atom.global.add.u32 $0, [$1], $2;", "=r,l,r", {at, 5}, 10},
          {"atom.acq_rel.gpu.global.cas.b32 $0, [$1], 15, $2;", "=r,l,r", {at, 100}, 15},
          {"atom.max.s32 $0, [$1], $2;", "=r,l,r", {at, (uint32_t)-1}, 100},
          {"atom.inc.u32 $0, [$1], $2;", "=r,l,r", {at, 99}, 100},
          {"atom.dec.u32 $0, [$1], $2;", "=r,l,r", {at, 3}, 0},
          {"atom.exch.b32 $0, [$1], $2;", "=r,l,r", {at, 8}, 3},
          {"atom.add.f32 $0, [$1+4], $2;", "=f,l,f", {at, f(2.0f)}, f(1.0f)},
          {"atom.add.noftz.f16x2 $0, [$1+8], $2;", "=r,l,r", {at, 0x3c004000}, 0x3c003c00},
          {"red.global.xor.b32 [$0+12], $1;", "l,r", {at, 2}, 0});
    assert_u64(memory[0], 8);
    assert_u64(memory[1], f(3.0f));
    assert_u64(memory[2], 0x40004200);
    assert_u64(memory[3], 5);
    float vector[2] __attribute__((aligned(8))) = {1.0f, 2.0f};
    CHECK({"atom.add.v2.f32 {$0, $1}, [$2], {$3, $3};",
           "=f,=f,l,f",
           {(uintptr_t)vector, f(1.0f)},
           pair(f(1.0f), f(2.0f))});
    assert_true(vector[0] == 2.0f && vector[1] == 3.0f);
}

static void asynchronous_copies_are_copies(void **state) {
    (void)state;
    uint32_t from[4] __attribute__((aligned(16))) = {1, 2, 3, 4},
                     to[4] __attribute__((aligned(16))) = {0};
    CHECK(
        {"cp.async.cg.shared.global [$0], [$1], 16; cp.async.commit_group; cp.async.wait_group 0;",
         "l,l",
         {(uintptr_t)to, (uintptr_t)from},
         0});
    assert_memory_equal(to, from, sizeof to);
    CHECK({"cp.async.ca.shared.global.L2::128B [$0], [$1], 16, $2;",
           "l,l,r",
           {(uintptr_t)to, (uintptr_t)from, 4},
           0});
    const uint32_t expected[4] = {1, 0, 0, 0};
    assert_memory_equal(to, expected, sizeof to);
}

/* ---- as text ---- */

static void expect_text(const char *code, const char *operands, const char *part) {
    wpi_compile *c = lower_block(code, operands);
    char *ir = LLVMPrintModuleToString(c->module);
    assert_contains(ir, part);
    assert_null(strstr(ir, " asm "));
    LLVMDisposeMessage(ir);
    wpi_compile_destroy(c);
}

static void thread_operations_become_calls(void **state) {
    (void)state;
    expect_text("mov.u32 $0, %tid.x;", "=r", "call i32 @llvm.nvvm.read.ptx.sreg.tid.x()");
    expect_text("mov.u64 $0, %clock64;", "=l", "call i64 @llvm.nvvm.read.ptx.sreg.clock64()");
    expect_text("mov.u32 $0, %lanemask_lt;", "=r", "sreg.lanemask.lt()");
    expect_text("bar.sync 0;", "", "call void @llvm.nvvm.barrier0()");
    expect_text("bar.sync $0;", "r", "call void @llvm.nvvm.bar.sync(i32 ");
    expect_text("bar.sync $0, $1;", "r,r", "call void @llvm.nvvm.barrier.sync.cnt(i32 ");
    expect_text("barrier.cta.sync.aligned 1, 64;", "",
                "@llvm.nvvm.barrier.sync.cnt(i32 1, i32 64)");
    expect_text("bar.arrive 2, 64;", "", "call void @__wp_bar_arrive(i32 2, i32 64)");
    expect_text("{ .reg .pred p; setp.ne.u32 p, $1, 0; bar.red.popc.u32 $0, 0, p; }", "=r,r",
                "call i32 @__wp_bar_red_popc(i32 0, i32 0, i32 ");
    expect_text("shfl.sync.up.b32 $0, $1, 1, 0, 0xffffffff;", "=r,r",
                "@llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %i0, i32 1, i32 0)");
    expect_text("{ .reg .pred p; shfl.sync.bfly.b32 $0|p, $1, 1, 31, -1; @p add.u32 $0, $0, 1; }",
                "=r,r", "call { i32, i1 } @llvm.nvvm.shfl.sync.bfly.i32p");
    expect_text("shfl.idx.b32 $0, $1, 3, 0x1f;", "=r,r",
                "@__wp_shfl_idx_active(i32 %i0, i32 3, i32 31)");
    expect_text("{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.ballot.b32 $0, p; }", "=r,r",
                "call i32 @__wp_vote_ballot_active(i32 ");
    expect_text(
        "{ .reg .pred p; setp.ne.u32 p, $1, 0; vote.sync.any.pred p, !p, -1; selp.u32 $0,1,0,p; }",
        "=r,r", "call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 ");
    expect_text("match.any.sync.b64 $0, $1, -1;", "=r,l",
                "@llvm.nvvm.match.any.sync.i64(i32 -1, i64");
    expect_text("redux.sync.min.u32 $0, $1, -1;", "=r,r",
                "@llvm.nvvm.redux.sync.umin(i32 %i0, i32 -1)");
    expect_text("activemask.b32 $0;", "=r", "call i32 @llvm.nvvm.activemask()");
    expect_text("membar.gl;", "", "call void @llvm.nvvm.membar.gl()");
    expect_text("fence.acq_rel.sys;", "", "call void @llvm.nvvm.membar.sys()");
    expect_text("nanosleep.u32 20;", "", "call void @llvm.nvvm.nanosleep(i32 20)");
    expect_text("trap;", "", "call void @llvm.trap()");
    expect_text("{ .reg .pred p; isspacep.shared p, $1; selp.u32 $0, 1, 0, p; }", "=r,l",
                "call i1 @llvm.nvvm.isspacep.shared(ptr ");
    expect_text("prefetch.global.L1 [$0]; pmevent 3; discard.global.L2 [$0], 128;", "l",
                "ret i64 0");
    expect_text("add.rz.f32 $0, $1, $2;", "=f,f,f", "call float @__nv_fadd_rz(float ");
    expect_text("cvt.rp.f32.s64 $0, $1;", "=f,l", "call float @__nv_ll2float_ru(i64 ");
    expect_text("ld.global.cg.u32 $0, [$1];", "=r,l", "load volatile i32");
}

/* The asm of clang 19's CUDA headers, so far as other tests do not have it. */
static void the_video_asm_of_clangs_headers_is_understood(void **state) {
    (void)state;
    static const char *const opcodes[] = {
        "vabsdiff2.s32.s32.s32",     "vabsdiff4.s32.s32.s32",     "vabsdiff2.u32.u32.u32",
        "vabsdiff4.u32.u32.u32",     "vabsdiff2.s32.s32.s32.sat", "vabsdiff4.s32.s32.s32.sat",
        "vadd2.u32.u32.u32",         "vadd4.u32.u32.u32",         "vadd2.s32.s32.s32.sat",
        "vadd4.s32.s32.s32.sat",     "vadd2.u32.u32.u32.sat",     "vadd4.u32.u32.u32.sat",
        "vavrg2.s32.s32.s32",        "vavrg4.s32.s32.s32",        "vavrg2.u32.u32.u32",
        "vavrg4.u32.u32.u32",        "vset2.u32.u32.eq",          "vset4.u32.u32.eq",
        "vset2.s32.s32.ge",          "vset4.s32.s32.ge",          "vset2.u32.u32.ge",
        "vset4.u32.u32.ge",          "vset2.s32.s32.gt",          "vset4.s32.s32.gt",
        "vset2.u32.u32.gt",          "vset4.u32.u32.gt",          "vset2.s32.s32.le",
        "vset4.s32.s32.le",          "vset2.u32.u32.le",          "vset4.u32.u32.le",
        "vset2.s32.s32.lt",          "vset4.s32.s32.lt",          "vset2.u32.u32.lt",
        "vset4.u32.u32.lt",          "vset2.u32.u32.ne",          "vset4.u32.u32.ne",
        "vmax2.s32.s32.s32",         "vmax4.s32.s32.s32",         "vmax2.u32.u32.u32",
        "vmax4.u32.u32.u32",         "vmin2.s32.s32.s32",         "vmin4.s32.s32.s32",
        "vmin2.u32.u32.u32",         "vmin4.u32.u32.u32",         "vabsdiff2.s32.s32.s32.add",
        "vabsdiff4.s32.s32.s32.add", "vabsdiff2.u32.u32.u32.add", "vabsdiff4.u32.u32.u32.add",
        "vsub2.u32.u32.u32",         "vsub4.u32.u32.u32",         "vsub2.s32.s32.s32.sat",
        "vsub4.s32.s32.s32.sat",     "vsub2.u32.u32.u32.sat",     "vsub4.u32.u32.u32.sat",
    };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        char code[80];
        snprintf(code, sizeof code, "%s $0,$1,$2,$3;", opcodes[i]);
        wpi_compile_destroy(lower_block(code, "=r,r,r,r"));
    }
}

static void check_module(const char *ir, const char *part) {
    wpi_compile *c = compile_text(ir);
    wp_error err = {0};
    assert_status_ok(wpi_pass_lower_asm(c, &err), &err);
    assert_status_ok(wpi_compile_verify(c, "lower-asm", &err), &err);
    char *text = LLVMPrintModuleToString(c->module);
    assert_contains(text, part);
    LLVMDisposeMessage(text);
    wpi_compile_destroy(c);
}

static void a_shared_address_is_followed_through_a_loop(void **state) {
    (void)state;
    check_module("target triple = \"nvptx64-nvidia-cuda\"\n"
                 "@tile = internal addrspace(3) global [64 x i32] undef\n"
                 "define void @k(i32 %n) {\n"
                 "entry:\n  %start = add i32 ptrtoint (ptr addrspace(3) @tile to i32), %n\n  br "
                 "label %loop\n"
                 "loop:\n  %at = phi i32 [ %start, %entry ], [ %next, %loop ]\n"
                 "  call void asm sideeffect \"st.shared.u32 [$0], 1;\", \"r\"(i32 %at)\n"
                 "  %next = add i32 %at, 16\n  %more = icmp ult i32 %next, 4096\n"
                 "  br i1 %more, label %loop, label %out\nout:\n  ret void\n}\n",
                 "phi ptr ");
}

/* Without the clobber the front end took such a function for one that reads no memory. */
static void a_load_without_clobber_still_counts_as_reading(void **state) {
    (void)state;
    wpi_compile *c = compile_text(
        "target triple = \"nvptx64-nvidia-cuda\"\n"
        "define i32 @f(ptr readnone nocapture %p) memory(none) {\n"
        "  %x = call i32 asm \"ld.global.u32 $0, [$1];\", \"=r,l\"(ptr %p) memory(none)\n"
        "  ret i32 %x\n}\n"
        "define i32 @g(ptr %p) {\n  %x = call i32 @f(ptr readnone %p) memory(none)\n  ret i32 "
        "%x\n}\n");
    wp_error err = {0};
    assert_status_ok(wpi_pass_lower_asm(c, &err), &err);
    char *text = LLVMPrintModuleToString(c->module);
    assert_contains(text, "load i32, ptr %p");
    assert_null(strstr(text, "memory("));
    assert_null(strstr(text, "readnone"));
    LLVMDisposeMessage(text);
    wpi_compile_destroy(c);
}

static void exit_returns_from_the_kernel(void **state) {
    (void)state;
    check_module("target triple = \"nvptx64-nvidia-cuda\"\n"
                 "define void @k(i32 %n, ptr %p) {\n"
                 "  call void asm sideeffect \"{ .reg .pred q; setp.eq.u32 q, $0, 0; @q exit; }\", "
                 "\"r\"(i32 %n)\n"
                 "  store i32 1, ptr %p\n  ret void\n}\n"
                 "!nvvm.annotations = !{!0}\n!0 = !{ptr @k, !\"kernel\", i32 1}\n",
                 "  ret void\n\nthen:");
}

/* ---- refusals ---- */

static void refuse(const char *code, const char *operands, const char *part) {
    char *ir = function_text(code, operands, "");
    wpi_compile *c = compile_text(ir);
    wp_error err = {0};
    assert_status_fails(wpi_pass_lower_asm(c, &err), WP_STATUS_UNSUPPORTED, &err, part);
    wpi_compile_destroy(c);
    free(ir);
}

static void what_is_not_understood_is_named(void **state) {
    (void)state;
    refuse(
        "mma.sync.aligned.m8n8k4 $0, $1;", "=r,r",
        "inline PTX: the instruction \"mma.sync.aligned.m8n8k4 %0, %1\" is not understood (in f)");
    refuse("L1: add.u32 $0, $1, 1; L1: bra L1;", "=r,r", "defined twice");
    refuse("add.u32 $0, $1, 1; bra L1;", "=r,r", "there is no such label");
    refuse("L1: add.u32 $0, $1, 1; bra 5;", "=r,r", "there is no such label");
    refuse("add.rubbish.u32 $0, $1, 1;", "=r,r", "\"add.rubbish.u32 %0, %1, 1\"");
    refuse("add.u32 $0, $1;", "=r,r", "not understood");
    refuse("add.u32 $0, $1, nowhere;", "=r,r", "\"nowhere\" is not a register");
    refuse("addc.u32 $0, $1, 1;", "=r,r", "carry flag");
    refuse("createpolicy.fractional.L2::evict_last.b32 $0, 1.0;", "=r", "createpolicy");
    refuse("createpolicy.cvt.L2.b64 $0;", "=l", "createpolicy");
    refuse("ld.global.L2::cache_hint.u32 $0, [$1], policy;", "=r,l",
           "\"policy\" is not a register");
    refuse("ld.global.L2::cache_hint.u32 $0;", "=r", "not understood");
    refuse("ld.param.u32 $0, [$1];", "=r,l", "ld.param.u32");
    refuse("exit;", "", "only in the kernel");
    refuse("{ .shared .align 4 .b32 x; }", "", "\".shared .align 4 .b32 x\"");
    refuse("call (t), other, ($1);", "=r,r", "call (t), other");
    refuse("setp.eq.u32 $0, $1, 1;", "=r,r", "another kind");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_add_multiply_and_divide),
        cmocka_unit_test(carries_run_through_a_block),
        cmocka_unit_test(bits_are_shifted_and_moved),
        cmocka_unit_test(bit_fields_match_their_definition),
        cmocka_unit_test(video_instructions_work_on_lanes),
        cmocka_unit_test(floats_follow_ptx_at_the_edges),
        cmocka_unit_test(conversions_round_clamp_and_extend),
        cmocka_unit_test(comparisons_set_and_select),
        cmocka_unit_test(guards_scopes_comments_and_tied_operands_are_read),
        cmocka_unit_test(loads_and_stores_extend_and_pack),
        cmocka_unit_test(atomics_return_what_was_there),
        cmocka_unit_test(asynchronous_copies_are_copies),
        cmocka_unit_test(thread_operations_become_calls),
        cmocka_unit_test(the_video_asm_of_clangs_headers_is_understood),
        cmocka_unit_test(a_shared_address_is_followed_through_a_loop),
        cmocka_unit_test(a_load_without_clobber_still_counts_as_reading),
        cmocka_unit_test(exit_returns_from_the_kernel),
        cmocka_unit_test(what_is_not_understood_is_named),
    };
    return wp_test_main(tests);
}
