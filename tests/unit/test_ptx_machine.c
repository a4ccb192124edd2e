/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that executes PTX, against what the PTX ISA manual says of each class of instruction:
 * values by hand, never the compiler's. */
#include "ptx_machine/ptx_machine.h"

#include <math.h>

#include "wp_test.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

static pm_module *load(const char *text) {
    char log[512] = "";
    pm_module *m = pm_module_load(text, log, sizeof log);
    if (m == NULL) fail_msg("%s", log);
    return m;
}

static char printed[4096];
static size_t printed_bytes;
static void print(void *context, const char *text, size_t bytes) {
    (void)context;
    assert_true(printed_bytes + bytes < sizeof printed);
    memcpy(printed + printed_bytes, text, bytes);
    printed_bytes += bytes;
    printed[printed_bytes] = '\0';
}
static uint64_t heap[64];
static void *heap_alloc(void *context, size_t bytes) {
    (void)context;
    return bytes <= sizeof heap ? heap : NULL;
}
static void heap_free(void *context, void *memory) {
    (void)context;
    assert_ptr_equal(memory, heap);
}
static bool texture(void *context, uint64_t handle, const pm_texture_read *read, uint32_t out[4]) {
    (void)context;
    for (unsigned i = 0; i < 4; i++)
        out[i] =
            (uint32_t)handle + i + (read->is_integer ? (uint32_t)read->i[0] : (uint32_t)read->x[1]);
    return handle != 0;
}
static uint32_t surface_word;
static bool surface(void *context, uint64_t handle, const pm_surface_place *place, void **out) {
    (void)context;
    (void)handle;
    *out = place->x_bytes == 8 && place->y == 2 ? &surface_word : NULL;
    return *out != NULL || place->outside == PM_SURF_ZERO;
}
static const pm_services services = {print, heap_alloc, heap_free, texture, surface};

/* One launch of the module's first kernel, whose parameter is the memory. */
static pm_result run(const char *text, unsigned blocks, unsigned threads, void *memory,
                     size_t bytes, char report[512]) {
    pm_module *m = load(text);
    const pm_range ranges[] = {{(uintptr_t)memory, (uintptr_t)memory + bytes},
                               {(uintptr_t)heap, (uintptr_t)heap + sizeof heap}};
    const bool in_order = ranges[0].first < ranges[1].first;
    const pm_range sorted[] = {ranges[in_order ? 0 : 1], ranges[in_order ? 1 : 0]};
    const uint64_t params[2] = {(uint64_t)(uintptr_t)memory, 0};
    const pm_launch launch = {.kernel = pm_module_kernel(m, 0),
                              .grid = {blocks, 1, 1},
                              .block = {threads, 1, 1},
                              .shared_dynamic_bytes = 64,
                              .params = params,
                              .ranges = sorted,
                              .range_count = 2,
                              .stack_bytes = 1024,
                              .resident_max = 8,
                              .sm_count = 2,
                              .services = &services};
    printed_bytes = 0;
    const pm_result result = pm_run(m, &launch, report, 512);
    pm_module_free(m);
    return result;
}

static void run_ok(const char *text, unsigned blocks, unsigned threads, void *memory,
                   size_t bytes) {
    char report[512];
    const pm_result result = run(text, blocks, threads, memory, bytes, report);
    if (result != PM_OK) fail_msg("%d: %s", (int)result, report);
}

/* ---- one instruction, one lane ---- */

/* Sources %a %b %c (64 bits), %ra… (32), %ha… (16); the result in %d, %rd, %hd or %pd. */
typedef struct row {
    const char *instruction;
    uint64_t a, b, c, result;
} row;

static uint64_t execute(const row *r) {
    char text[6000];
    uint64_t memory[4] = {r->a, r->b, r->c, 0};
    const char *to = strchr(r->instruction, '%');
    const char *move = strncmp(to, "%rd", 3) == 0   ? "cvt.u64.u32 %d, %rd;"
                       : strncmp(to, "%hd", 3) == 0 ? "cvt.u64.u16 %d, %hd;"
                       : strncmp(to, "%pd", 3) == 0 ? "selp.u64 %d, 1, 0, %pd;"
                                                    : "";
    (void)snprintf(text, sizeof text,
                   HEAD ".visible .entry k(.param .u64 p) {\n"
                        ".reg .b64 %%a, %%b, %%c, %%d, %%at; .reg .b32 %%ra, %%rb, %%rc, %%rd;\n"
                        ".reg .b16 %%ha, %%hb, %%hc, %%hd; .reg .pred %%pa, %%pd;\n"
                        "ld.param.u64 %%at, [p]; ld.global.u64 %%a, [%%at];\n"
                        "ld.global.u64 %%b, [%%at+8]; ld.global.u64 %%c, [%%at+16];\n"
                        "cvt.u32.u64 %%ra, %%a; cvt.u32.u64 %%rb, %%b; cvt.u32.u64 %%rc, %%c;\n"
                        "cvt.u16.u64 %%ha, %%a; cvt.u16.u64 %%hb, %%b; cvt.u16.u64 %%hc, %%c;\n"
                        "setp.ne.u64 %%pa, %%c, 0;\n"
                        "%s;\n%s\nst.global.u64 [%%at+24], %%d;\nret;\n}\n",
                   r->instruction, move);
    run_ok(text, 1, 1, memory, sizeof memory);
    return memory[3];
}

static void check(const row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t got = execute(&rows[i]);
        if (got != rows[i].result)
            fail_msg("%s of %#llx, %#llx, %#llx is %#llx, expected %#llx", rows[i].instruction,
                     (unsigned long long)rows[i].a, (unsigned long long)rows[i].b,
                     (unsigned long long)rows[i].c, (unsigned long long)got,
                     (unsigned long long)rows[i].result);
    }
}
#define CHECK(rows) check(rows, sizeof(rows) / sizeof((rows)[0]))
#define M1 0xffffffffffffffffu

static void integers_wrap_saturate_and_widen(void **state) {
    (void)state;
    static const row rows[] = {
        {"add.s32 %rd, %ra, %rb", 0xffffffff, 2, 0, 1},
        {"add.sat.s32 %rd, %ra, %rb", 0x7fffffff, 1, 0, 0x7fffffff},
        {"sub.sat.s32 %rd, %ra, %rb", 0x80000000, 1, 0, 0x80000000},
        {"sub.u16 %hd, %ha, %hb", 1, 2, 0, 0xffff},
        {"mul.lo.s64 %d, %a, %b", M1, 5, 0, (uint64_t)-5},
        {"mul.hi.s32 %rd, %ra, %rb", 0xfffffffe, 3, 0, 0xffffffff},
        {"mul.hi.u32 %rd, %ra, %rb", 0xfffffffe, 3, 0, 2},
        {"mul.hi.u64 %d, %a, %b", M1, M1, 0, M1 - 1},
        {"mul.hi.s64 %d, %a, %b", M1, M1, 0, 0},
        {"mul.wide.s16 %rd, %ha, %hb", 0x8000, 2, 0, 0xffff0000},
        {"mul.wide.u32 %d, %ra, %rb", 0xffffffff, 0xffffffff, 0, 0xfffffffe00000001},
        {"mad.wide.s32 %d, %ra, %rb, %c", 0xffffffff, 5, 3, (uint64_t)-2},
        {"mad.lo.u32 %rd, %ra, %rb, %rc", 7, 6, 5, 47},
        {"mul24.lo.s32 %rd, %ra, %rb", 0x01ffffff, 3, 0, (uint32_t)-3},
        {"div.s32 %rd, %ra, %rb", (uint32_t)-7, 2, 0, (uint32_t)-3},
        {"rem.s32 %rd, %ra, %rb", (uint32_t)-7, 2, 0, (uint32_t)-1},
        {"div.u64 %d, %a, %b", M1, 16, 0, M1 >> 4},
        {"min.s32 %rd, %ra, %rb", 0xffffffff, 1, 0, 0xffffffff},
        {"min.u32 %rd, %ra, %rb", 0xffffffff, 1, 0, 1},
        {"sad.s32 %rd, %ra, %rb, %rc", (uint32_t)-3, 4, 10, 17},
        {"abs.s32 %rd, %ra", (uint32_t)-9, 0, 0, 9},
        {"neg.s64 %d, %a", 1, 0, 0, M1},
        {"dp4a.s32.u32 %rd, %ra, %rb, %rc", 0xff010203, 0x02010101, 10, 14},
        {"dp2a.lo.u32.u32 %rd, %ra, %rb, %rc", 0x00020003, 0x04030201, 1, 8},
    };
    CHECK(rows);
}

static void bits_are_moved_as_the_manual_says(void **state) {
    (void)state;
    static const row rows[] = {
        {"shl.b32 %rd, %ra, %rb", 1, 32, 0, 0}, /* clamped */
        {"shl.b64 %d, %a, %rb", 1, 63, 0, (uint64_t)1 << 63},
        {"shr.s32 %rd, %ra, %rb", 0x80000000, 99, 0, 0xffffffff},
        {"shr.u32 %rd, %ra, %rb", 0x80000000, 31, 0, 1},
        {"shf.l.wrap.b32 %rd, %ra, %rb, %rc", 0x80000001, 0x12345678, 36, 0x23456788},
        {"shf.r.clamp.b32 %rd, %ra, %rb, %rc", 0x80000001, 0x12345678, 36, 0x12345678},
        {"shf.r.wrap.b32 %rd, %ra, %rb, %rc", 0x80000001, 0x12345678, 4, 0x88000000},
        {"popc.b64 %rd, %a", 0xf0f0, 0, 0, 8},
        {"clz.b32 %rd, %ra", 0, 0, 0, 32},
        {"clz.b64 %rd, %a", 1, 0, 0, 63},
        {"brev.b32 %rd, %ra", 0x80000002, 0, 0, 0x40000001},
        {"bfind.s32 %rd, %ra", 0xfffffff0, 0, 0, 3},
        {"bfind.shiftamt.u32 %rd, %ra", 0x10, 0, 0, 27},
        {"bfind.u32 %rd, %ra", 0, 0, 0, 0xffffffff},
        {"bfe.u32 %rd, %ra, %rb, %rc", 0xabcd1234, 8, 8, 0x12},
        {"bfe.s32 %rd, %ra, %rb, %rc", 0x00008000, 8, 8, 0xffffff80},
        {"bfe.s32 %rd, %ra, %rb, %rc", 0x80000000, 28, 8, 0xfffffff8},
        {"bfe.u64 %d, %a, %rb, %rc", 0x123456789abcdef0, 60, 200, 1},
        {"bfe.s32 %rd, %ra, %rb, %rc", M1, 3, 0, 0},
        {"bfi.b32 %rd, %ra, %rb, 4, 8", 0xff, 0, 0, 0xff0},
        {"bfi.b32 %rd, %ra, %rb, 28, 8", 0xff, 0, 0, 0xf0000000},
        {"prmt.b32 %rd, %ra, %rb, %rc", 0x33221180, 0x77665544, 0x8574, 0xff557744},
        {"prmt.b32.f4e %rd, %ra, %rb, %rc", 0x33221100, 0x77665544, 1, 0x44332211},
        {"prmt.b32.ecr %rd, %ra, %rb, %rc", 0x33221100, 0, 2, 0x22221100},
        {"lop3.b32 %rd, %ra, %rb, %rc, 0xe8", 0xf0f0, 0xff00, 0x0ff0, 0xfff0},
        {"lop3.b32 %rd, %ra, %rb, %rc, 0x1e", 0xf0, 0xcc, 0xaa, 0x1e},
        {"cnot.b32 %rd, %ra", 0, 0, 0, 1},
    };
    CHECK(rows);
}

static void carries_go_from_one_word_to_the_next(void **state) {
    (void)state;
    static const row rows[] = {
        {"add.cc.u32 %rd, %ra, %rb; addc.u32 %rd, 7, 0", 0xffffffff, 1, 0, 8},
        {"sub.cc.u32 %rd, %ra, %rb; subc.u32 %rd, 7, 0", 0, 1, 0, 6},
        {"sub.cc.u32 %rd, %ra, %rb; addc.u32 %rd, 7, 0", 0, 1, 0, 7},
        {"sub.cc.u32 %rd, %ra, %rb; addc.u32 %rd, 7, 0", 1, 1, 0, 8},
        {"mad.lo.cc.u32 %rd, %ra, %rb, %rc; madc.hi.u32 %rd, %ra, %rb, 0", 0xffffffff, 2, 2, 2},
        {"add.cc.u64 %d, %a, %b; addc.u64 %d, 0, 0", M1, 1, 0, 1},
    };
    CHECK(rows);
}

#define F(x)                                                                                       \
    ((union {                                                                                      \
         float f;                                                                                  \
         uint32_t bits;                                                                            \
     }){.f = (x)}                                                                                  \
         .bits)
#define D(x)                                                                                       \
    ((union {                                                                                      \
         double f;                                                                                 \
         uint64_t bits;                                                                            \
     }){.f = (x)}                                                                                  \
         .bits)

static void floats_round_flush_and_saturate(void **state) {
    (void)state;
    const row rows[] = {
        {"add.rn.f32 %rd, %ra, %rb", F(1), F(0x1p-24f), 0, F(1)},
        {"add.rp.f32 %rd, %ra, %rb", F(1), F(0x1p-24f), 0, F(0x1.000002p0f)},
        {"add.rm.f32 %rd, %ra, %rb", F(-1), F(-0x1p-24f), 0, F(-0x1.000002p0f)},
        {"add.rz.f64 %d, %a, %b", D(1), D(0x1.8p-53), 0, D(1)},
        {"mul.rp.f64 %d, %a, %b", D(0x1.0000000000001p0), D(0x1.0000000000001p0), 0,
         D(0x1.0000000000003p0)},
        {"mul.ftz.f32 %rd, %ra, %rb", F(0x1p-120f), F(-0x1p-10f), 0, F(-0.0f)},
        {"mul.f32 %rd, %ra, %rb", F(0x1p-120f), F(0x1p-10f), 0, F(0x1p-130f)},
        {"add.sat.f32 %rd, %ra, %rb", F(2), F(-0.5f), 0, F(1)},
        {"add.sat.f32 %rd, %ra, %rb", F(NAN), F(1), 0, F(0)},
        {"add.f32 %rd, %ra, %rb", 0xff800000, 0x7f800000, 0, 0x7fffffff},
        {"fma.rn.f32 %rd, %ra, %rb, %rc", F(0x1.000002p0f), F(0x1.000002p0f), F(-0x1.000004p0f),
         F(0x1p-46f)},
        {"fma.rz.f64 %d, %a, %b, %c", D(3), D(5), D(-1), D(14)},
        {"div.rn.f32 %rd, %ra, %rb", F(1), F(3), 0, 0x3eaaaaab},
        {"div.rz.f32 %rd, %ra, %rb", F(1), F(3), 0, 0x3eaaaaaa},
        {"div.approx.f32 %rd, %ra, %rb", F(1), F(0x1p127f), 0, 0},
        {"rcp.rn.f64 %d, %a", D(4), 0, 0, D(0.25)},
        {"sqrt.rn.f32 %rd, %ra", F(2), 0, 0, 0x3fb504f3},
        {"sqrt.rp.f32 %rd, %ra", F(2), 0, 0, 0x3fb504f4},
        {"ex2.approx.f32 %rd, %ra", F(-3), 0, 0, F(0.125f)},
        {"min.f32 %rd, %ra, %rb", F(NAN), F(1), 0, F(1)},
        {"max.NaN.f32 %rd, %ra, %rb", F(NAN), F(1), 0, 0x7fffffff},
        {"min.f32 %rd, %ra, %rb", F(0.0f), F(-0.0f), 0, F(-0.0f)},
        {"neg.f32 %rd, %ra", F(0.0f), 0, 0, F(-0.0f)},
        {"abs.f64 %d, %a", D(-2), 0, 0, D(2)},
        {"copysign.f32 %rd, %ra, %rb", F(-1), F(5), 0, F(-5)},
        {"testp.subnormal.f32 %pd, %ra", F(0x1p-130f), 0, 0, 1},
        {"testp.normal.f32 %pd, %ra", 0, 0, 0, 0},
    };
    CHECK(rows);
}

static void halves_round_once(void **state) {
    (void)state;
    static const row rows[] = {
        {"add.rn.f16 %hd, %ha, %hb", 0x3c00, 0x1000, 0, 0x3c00}, /* 1 + 2^-11: to even */
        {"add.rn.f16 %hd, %ha, %hb", 0x3c01, 0x1000, 0, 0x3c02},
        {"fma.rn.f16 %hd, %ha, %hb, %hc", 0x3c01, 0x3c01, 0x8000 | 0x3c02, 0x0010},
        {"mul.f16 %hd, %ha, %hb", 0x7bff, 0x4000, 0, 0x7c00}, /* too large */
        {"mul.f16 %hd, %ha, %hb", 0x0001, 0x3800, 0, 0x0000}, /* half of the least */
        {"mul.f16x2 %rd, %ra, %rb", 0x40003c00, 0x44004200, 0, 0x48004200},
        {"fma.rn.bf16 %hd, %ha, %hb, %hc", 0x3f80, 0x4000, 0x3f80, 0x4040},
        {"setp.lt.f16 %pd, %ha, %hb", 0x8000, 0x0000, 0, 0},
        {"neg.f16 %hd, %ha", 0x3c00, 0, 0, 0xbc00},
        {"cvt.rn.f16.f32 %hd, %ra", 0x477ff000, 0, 0, 0x7c00}, /* 65520 */
        {"cvt.rz.f16.f32 %hd, %ra", 0x477ff000, 0, 0, 0x7bff},
        {"cvt.f32.f16 %rd, %ha", 0x0001, 0, 0, 0x33800000}, /* 2^-24 */
        {"cvt.rn.bf16.f32 %hd, %ra", 0x3f808000, 0, 0, 0x3f80},
        {"cvt.rn.f16x2.f32 %rd, %ra, %rb", 0x3f800000, 0x40000000, 0, 0x3c004000},
    };
    CHECK(rows);
}

static void conversions_clamp_and_extend(void **state) {
    (void)state;
    const row rows[] = {
        {"cvt.s32.s8 %rd, %ra", 0x80, 0, 0, 0xffffff80},
        {"cvt.u32.u8 %rd, %ra", 0x180, 0, 0, 0x80},
        {"cvt.s64.s32 %d, %ra", 0x80000000, 0, 0, 0xffffffff80000000},
        {"cvt.u64.u32 %d, %ra", 0x80000000, 0, 0, 0x80000000},
        {"cvt.sat.u8.s32 %rd, %ra", (uint32_t)-5, 0, 0, 0},
        {"cvt.sat.s8.s32 %rd, %ra", 1000, 0, 0, 127},
        {"cvt.rzi.s32.f32 %rd, %ra", F(-2.9f), 0, 0, (uint32_t)-2},
        {"cvt.rni.s32.f32 %rd, %ra", F(2.5f), 0, 0, 2},
        {"cvt.rmi.s32.f32 %rd, %ra", F(-2.1f), 0, 0, (uint32_t)-3},
        {"cvt.rpi.s64.f64 %d, %a", D(2.1), 0, 0, 3},
        {"cvt.rzi.s32.f32 %rd, %ra", F(1e20f), 0, 0, 0x7fffffff},
        {"cvt.rzi.u32.f32 %rd, %ra", F(-1), 0, 0, 0},
        {"cvt.rzi.s32.f32 %rd, %ra", F(NAN), 0, 0, 0},
        {"cvt.rzi.s64.f64 %d, %a", D(NAN), 0, 0, 0x8000000000000000},
        {"cvt.rn.f32.s32 %rd, %ra", 16777217, 0, 0, F(16777216)},
        {"cvt.rp.f32.s32 %rd, %ra", 16777217, 0, 0, F(16777218)},
        {"cvt.rz.f32.u64 %rd, %a", M1, 0, 0, F(0x1.fffffep63f)},
        {"cvt.rn.f64.s64 %d, %a", M1, 0, 0, D(-1)},
        {"cvt.rm.f32.f64 %rd, %a", D(-1.00000001), 0, 0, 0xbf800001},
        {"cvt.rni.f32.f32 %rd, %ra", F(-0.3f), 0, 0, F(-0.0f)},
        {"cvt.sat.f32.f32 %rd, %ra", F(-3), 0, 0, 0},
        {"mov.b64 %d, {%ra, %rb}", 1, 2, 0, 0x200000001},
        {"mov.b32 {%hd, %hc}, %ra", 0x00050006, 0, 0, 6},
        {"selp.b64 %d, %a, %b, %pa", 1, 2, 0, 2},
        {"slct.u32.s32 %rd, %ra, %rb, %rc", 1, 2, (uint32_t)-1, 2},
    };
    CHECK(rows);
}

static void comparisons_know_signs_and_nan(void **state) {
    (void)state;
    const row rows[] = {
        {"setp.lt.s32 %pd, %ra, %rb", 0xffffffff, 0, 0, 1},
        {"setp.lo.u32 %pd, %ra, %rb", 0xffffffff, 0, 0, 0},
        {"setp.eq.f32 %pd, %ra, %rb", F(NAN), F(NAN), 0, 0},
        {"setp.ne.f32 %pd, %ra, %rb", F(NAN), F(1), 0, 0},
        {"setp.neu.f32 %pd, %ra, %rb", F(NAN), F(1), 0, 1},
        {"setp.geu.f64 %pd, %a, %b", D(NAN), D(1), 0, 1},
        {"setp.num.f64 %pd, %a, %b", D(NAN), D(1), 0, 0},
        {"setp.lt.ftz.f32 %pd, %ra, %rb", 0, F(0x1p-140f), 0, 0},
        {"setp.lt.and.s32 %pd, %ra, %rb, !%pa", 1, 2, 1, 0},
        {"setp.lt.or.s32 %pd|%pa, %ra, %rb, %pa", 1, 2, 0, 1},
        {"setp.ge.or.s32 %pd|%pa, %ra, %rb, %pa; mov.pred %pd, %pa", 1, 2, 0, 1},
        {"set.gt.u32.f32 %rd, %ra, %rb", F(2), F(1), 0, 0xffffffff},
    };
    CHECK(rows);
}

static void what_does_not_exist_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "frob.u32 %r, %r",        "add.u33 %r, %r, %r",       "add.u32 %r, %r",
        "add.ftz.u32 %r, %r, %r", "setp.lo.s32 %p, %r, %r",   "cvt.f32.f64 %r, %d",
        "fma.f32 %r, %r, %r, %r", "mov.u32 %q, %r",           "bra nowhere",
        "st.const.u32 [%d], %r",  "ld.shared.u32 %r, [g]",    "call none",
        "add.u32 %r, %p, %r",     "ld.global.v2.u32 %r, [%d]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[512], log[512];
        (void)snprintf(text, sizeof text,
                       HEAD ".global .u32 g;\n.entry k() {\n.reg .b32 %%r; .reg .b64 %%d; "
                            ".reg .pred %%p;\n%s;\n}\n",
                       bad[i]);
        pm_module *m = pm_module_load(text, log, sizeof log);
        if (m != NULL) fail_msg("'%s' was taken", bad[i]);
        assert_contains(log, "line 7");
    }
}

/* ---- memory ---- */

#define KERNEL(registers, body)                                                                    \
    ".visible .entry k(.param .u64 p) {\n.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b16 %h<9>;\n"     \
    ".reg .f32 %f<9>; .reg .pred %p<9>; " registers "\nld.param.u64 %d0, [p];\n"                   \
    "mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1;\n" body "\nret;\n}\n"

static void variables_and_addresses(void **state) {
    (void)state;
    uint64_t memory[8] = {0};
    run_ok(HEAD ".global .align 4 .b8 word[8] = {1, 2, 3, 4, 0x7f};\n"
                ".const .align 8 .u64 table[2] = {generic(word)+4, 7};\n"
                ".global .b8 split[2] = {0xff(word), 0xff00(word)};\n"
                ".global .f64 real = 0d4000000000000000;\n"
                ".extern .shared .align 4 .b8 dynamic[];\n" KERNEL(
                    ".shared .align 4 .u32 fixed[3]; .local .align 4 .b8 own[8];",
                    "ld.const.u64 %d2, [table]; ld.u8 %r1, [%d2]; st.global.u32 [%d0], %r1;\n"
                    "ld.const.u64 %d2, [table+8]; st.global.u64 [%d0+8], %d2;\n"
                    "ld.global.f64 %d3, [real]; st.global.u64 [%d0+16], %d3;\n"
                    "mov.u64 %d4, fixed; cvta.shared.u64 %d5, %d4; isspacep.shared %p1, %d5;\n"
                    "isspacep.global %p2, %d5; selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2;\n"
                    "add.u32 %r2, %r2, %r3; st.global.u32 [%d0+24], %r2;\n"
                    "st.u32 [%d5+8], 99; ld.shared.u32 %r4, [%d4+8]; st.global.u32 [%d0+28], %r4;\n"
                    "mov.u64 %d6, dynamic; mov.u64 %d7, fixed; sub.u64 %d6, %d6, %d7;\n"
                    "st.global.u64 [%d0+32], %d6;\n"
                    "mov.u64 %d6, own; cvta.local.u64 %d7, %d6; st.local.v2.u32 [%d6], {5, 6};\n"
                    "ld.u32 %r5, [%d7+4]; st.global.u32 [%d0+40], %r5;\n"
                    "mov.u64 %d6, word; cvt.u32.u64 %r6, %d6; ld.global.u16 %h1, [split];\n"
                    "cvt.u16.u32 %h2, %r6; setp.eq.u16 %p3, %h1, %h2; selp.u32 %r7, 1, 0, %p3;\n"
                    "st.global.u32 [%d0+48], %r7;"),
           1, 1, memory, sizeof memory);
    assert_u64((uint32_t)memory[0], 0x7f);
    assert_u64(memory[1], 7);
    assert_u64(memory[2], D(2));
    assert_u64((uint32_t)memory[3], 1);
    assert_u64(memory[3] >> 32, 99);
    assert_u64(memory[4], 16); /* behind the static variables */
    assert_u64((uint32_t)memory[5], 6);
    assert_u64((uint32_t)memory[6], 1);
}

static void atomics_return_what_was_there(void **state) {
    (void)state;
    uint32_t memory[16] = {[0] = 5, [1] = 5, [2] = 0, [3] = F(1), [4] = 0x3c003c00, [5] = 9};
    run_ok(HEAD KERNEL(".reg .b16 %x;",
                       "atom.global.inc.u32 %r1, [%d0], 5; atom.global.dec.u32 %r2, [%d0+8], 7;\n"
                       "atom.global.add.f32 %r3, [%d0+12], 0f3F800000;\n"
                       "atom.global.add.noftz.f16x2 %r4, [%d0+16], %r3;\n"
                       "atom.global.cas.b32 %r5, [%d0+20], 9, 11; red.global.max.s32 [%d0+4], 6;\n"
                       "atom.global.cas.b32 %r6, [%d0+20], 9, 12;\n"
                       "st.global.v2.u32 [%d0+24], {%r5, %r6};"),
           1, 1, memory, sizeof memory);
    /* %r3 is 1.0f; as two halves, 1.875 and 0 */
    const uint32_t wanted[] = {0, 6, 7, F(2), 0x41c03c00, 11, 9, 11};
    assert_memory_equal(memory, wanted, sizeof wanted);
}

static void expect_fault(const char *body, pm_result wanted, const char *part) {
    char text[6000], report[512];
    uint32_t memory[8] = {0};
    (void)snprintf(text, sizeof text, HEAD "%s", body);
    const pm_result result = run(text, 1, 32, memory, sizeof memory, report);
    if (result != wanted) fail_msg("%d: %s", (int)result, report);
    assert_contains(report, part);
}

static void faults_end_the_launch(void **state) {
    (void)state;
    expect_fault(KERNEL("", "st.global.u32 [%d1], %r0;"), PM_ILLEGAL_ADDRESS, "thread (8, 0, 0)");
    expect_fault(KERNEL("", "ld.global.u64 %d2, [%d0+4];"), PM_MISALIGNED_ADDRESS, "ld.global.u64");
    expect_fault(KERNEL("", "ld.shared.u32 %r1, [64];"), PM_ILLEGAL_ADDRESS, "shared address 0x40");
    expect_fault(KERNEL(".local .b8 own[16];", "ld.local.u32 %r1, [own+16];"), PM_ILLEGAL_ADDRESS,
                 "local address");
    expect_fault(KERNEL("", "setp.eq.u32 %p1, %r0, 3; @%p1 trap;"), PM_TRAP, "thread (3, 0, 0)");
    expect_fault(KERNEL("", "shfl.sync.idx.b32 %r1, %r0, 0, 31, 2;"), PM_ILLEGAL_INSTRUCTION,
                 "not in its own mask");
    expect_fault(KERNEL("", "setp.eq.u32 %p1, %r0, 3; @!%p1 bar.sync 0, 64;"), PM_TIMEOUT,
                 "nothing can wake it");
    expect_fault(KERNEL("", "bar.sync 1, 33;"), PM_ILLEGAL_INSTRUCTION, "33 threads");
}

/* ---- lanes together ---- */

static void run_warp(const char *body, uint32_t out[32]) {
    char text[8000];
    (void)snprintf(text, sizeof text, HEAD "%s", body);
    memset(out, 0, 32 * sizeof *out);
    run_ok(text, 1, 32, out, 32 * sizeof *out);
}

static void shuffles_stay_in_their_segments(void **state) {
    (void)state;
    uint32_t out[32];
    /* c: the segment mask above the clamp; 0x181f: segments of 8 */
    run_warp(KERNEL("",
                    "shfl.sync.down.b32 %r1|%p1, %r0, 3, 0x181f, -1; selp.u32 %r2, 100, 0, %p1;\n"
                    "add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;"),
             out);
    assert_u64(out[4], 107);
    assert_u64(out[5], 5);
    run_warp(KERNEL("", "shfl.sync.up.b32 %r1|%p1, %r0, 1, 0x1800, -1; selp.u32 %r2, 100, 0, %p1;\n"
                        "add.u32 %r1, %r1, %r2; st.global.u32 [%d1], %r1;"),
             out);
    assert_u64(out[8], 8);
    assert_u64(out[9], 108);
    run_warp(KERNEL("", "shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1; st.global.u32 [%d1], %r1;"), out);
    assert_u64(out[2], 7);
    run_warp(KERNEL("", "shfl.sync.idx.b32 %r1, %r0, 35, 0x181f, -1; st.global.u32 [%d1], %r1;"),
             out);
    assert_u64(out[20], 19);
}

static void lanes_at_different_places_meet(void **state) {
    (void)state;
    uint32_t out[32];
    run_warp(
        KERNEL("",
               "setp.lt.u32 %p1, %r0, 3; vote.sync.ballot.b32 %r1, %p1, -1;\n"
               "and.b32 %r4, %r0, 1; match.any.sync.b32 %r2, %r4, -1;\n"
               "redux.sync.max.s32 %r3, %r0, -1; xor.b32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;\n"
               "st.global.u32 [%d1], %r1;"),
        out);
    assert_u64(out[0], (7u ^ 0x55555555u) + 31);
    assert_u64(out[1], (7u ^ 0xaaaaaaaau) + 31);
    /* the same operation at two places, for lanes of one mask; the others are elsewhere */
    run_warp(KERNEL("", "setp.ge.u32 %p1, %r0, 16; mov.u32 %r1, 77; @%p1 bra END;\n"
                        "and.b32 %r2, %r0, 1; setp.eq.u32 %p2, %r2, 0; @%p2 bra EVEN;\n"
                        "shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff; bra END;\n"
                        "EVEN: shfl.sync.bfly.b32 %r1, %r0, 1, 31, 0xffff;\n"
                        "END: st.global.u32 [%d1], %r1;"),
             out);
    assert_u64(out[6], 7);
    assert_u64(out[7], 6);
    assert_u64(out[20], 77);
    /* lanes that have exited are not waited for */
    run_warp(KERNEL("", "setp.ge.u32 %p1, %r0, 30; @%p1 exit; bar.warp.sync -1;\n"
                        "activemask.b32 %r1; st.global.u32 [%d1], %r1;"),
             out);
    assert_u64(out[0], 0x3fffffff);
    assert_u64(out[31], 0);
}

/* Lane 31 sets what the others wait for; they come first in the code. */
static void no_lane_waits_for_ever(void **state) {
    (void)state;
    uint32_t out[32];
    run_warp(KERNEL("", "setp.eq.u32 %p1, %r0, 31; @%p1 bra LAST;\n"
                        "AGAIN: ld.volatile.global.u32 %r1, [%d0+124]; setp.eq.u32 %p2, %r1, 0;\n"
                        "@%p2 bra AGAIN; st.global.u32 [%d1], %r1; bra END;\n"
                        "LAST: st.volatile.global.u32 [%d1], 5;\nEND:"),
             out);
    assert_u64(out[0], 5);
    /* and block 0 for block 1 */
    uint32_t words[2] = {0};
    run_ok(HEAD KERNEL("", "mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 1; @%p1 bra SECOND;\n"
                           "AGAIN: ld.volatile.global.u32 %r2, [%d0]; setp.eq.u32 %p2, %r2, 0;\n"
                           "@%p2 bra AGAIN; st.global.u32 [%d0+4], 8; bra END;\n"
                           "SECOND: st.volatile.global.u32 [%d0], 1;\nEND:"),
           2, 1, words, sizeof words);
    assert_u64(words[1], 8);
}

static void barriers_count_and_reduce(void **state) {
    (void)state;
    uint32_t out[96] = {0};
    run_ok(HEAD KERNEL("",
                       "setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1;\n"
                       "bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;\n"
                       "selp.u32 %r2, 1000, 0, %p2; selp.u32 %r3, 100, 0, %p3;\n"
                       "add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.global.u32 [%d1], %r1;\n"
                       /* the first warp waits for the second, which does not */
                       "setp.ge.u32 %p4, %r0, 64; @%p4 bra END; setp.ge.u32 %p4, %r0, 32;\n"
                       "@%p4 bra SECOND; bar.sync 3, 64; ld.global.u32 %r4, [%d0+128];\n"
                       "st.global.u32 [%d1], %r4; bra END;\n"
                       "SECOND: st.global.u32 [%d1], 9; bar.arrive 3, 64;\nEND:"),
           1, 96, out, sizeof out);
    assert_u64(out[95], 140);
    assert_u64(out[40], 9);
    assert_u64(out[7], 9);
}

/* ---- calls ---- */

static void calls_recur_and_go_by_register(void **state) {
    (void)state;
    uint32_t out[32];
    static const char functions[] =
        ".func (.param .b32 r) twice(.param .b32 x) {\n.reg .b32 %a;\n"
        "ld.param.u32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [r], %a; ret;\n}\n"
        ".func (.param .b32 r) sum(.param .b32 x) {\n.reg .b32 %a<3>; .reg .pred %p;\n"
        "ld.param.u32 %a0, [x]; mov.u32 %a1, 0; setp.eq.u32 %p, %a0, 0; @%p bra END;\n"
        "{ .param .b32 q; .param .b32 s; sub.u32 %a2, %a0, 1; st.param.b32 [q], %a2;\n"
        "call (s), sum, (q); ld.param.b32 %a1, [s]; add.u32 %a1, %a1, %a0; }\n"
        "END: st.param.b32 [r], %a1; ret;\n}\n"
        ".global .u64 table[2] = {twice, sum};\n";
    char text[6000];
    (void)snprintf(text, sizeof text, "%s%s", functions,
                   KERNEL("", "and.b32 %r1, %r0, 1; mul.wide.u32 %d2, %r1, 8; mov.u64 %d3, table;\n"
                              "add.u64 %d3, %d3, %d2; ld.global.u64 %d4, [%d3];\n"
                              "{ .param .b32 q; .param .b32 s; st.param.b32 [q], %r0;\n"
                              "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                              "call (s), %d4, (q), proto; ld.param.b32 %r2, [s]; }\n"
                              "st.global.u32 [%d1], %r2;"));
    run_warp(text, out);
    assert_u64(out[6], 12);
    assert_u64(out[7], 28);
    assert_u64(out[31], 496);
    run_warp(
        KERNEL("",
               "and.b32 %r1, %r0, 3;\nto: .branchtargets L0, L1, L2, L0;\n"
               "brx.idx %r1, to;\nL0: mov.u32 %r2, 10; bra END;\nL1: mov.u32 %r2, 11; bra END;\n"
               "L2: mov.u32 %r2, 12;\nEND: st.global.u32 [%d1], %r2;"),
        out);
    assert_true(out[0] == 10 && out[1] == 11 && out[2] == 12 && out[3] == 10);
}

static void the_drivers_functions(void **state) {
    (void)state;
    uint32_t out[32] = {0};
    run_ok(HEAD
           ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
           ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
           ".global .b8 format[20] = {37, 53, 100, 124, 37, 46, 49, 102, 124, 37, 108, 120, "
           "10};\n" KERNEL(
               ".local .align 8 .b8 args[24];",
               "st.local.u32 [args], -42; mov.b64 %d2, 0d3FF8000000000000; st.local.u64 [args+8], "
               "%d2;\n"
               "mov.u64 %d3, 0xabcdef0123; st.local.u64 [args+16], %d3; mov.u64 %d4, args;\n"
               "cvta.local.u64 %d4, %d4; mov.u64 %d5, format; cvta.global.u64 %d5, %d5;\n"
               "{ .param .b64 f; .param .b64 a; .param .b32 s; st.param.b64 [f], %d5;\n"
               "st.param.b64 [a], %d4; call.uni (s), vprintf, (f, a); ld.param.b32 %r1, [s]; }\n"
               "{ .param .b64 n; .param .b64 s; mov.u64 %d6, 16; st.param.b64 [n], %d6;\n"
               "call.uni (s), malloc, (n); ld.param.b64 %d7, [s]; }\n"
               "st.u32 [%d7+4], 3; ld.u32 %r2, [%d7+4]; st.global.v2.u32 [%d0], {%r1, %r2};"),
           1, 1, out, sizeof out);
    assert_string_equal(printed, "  -42|1.5|abcdef0123\n");
    assert_u64(out[0], 3);
    assert_u64(out[1], 3);
}

static void textures_and_surfaces_are_the_drivers(void **state) {
    (void)state;
    uint32_t out[32] = {0};
    run_ok(HEAD KERNEL("", "mov.u64 %d2, 1000; mov.u32 %r1, 7; mov.f32 %f1, 0f40400000;\n"
                           "tex.1d.v4.u32.s32 {%r2, %r3, %r4, %r5}, [%d2, {%r1}];\n"
                           "st.global.v2.u32 [%d0], {%r2, %r5};\n"
                           "tex.2d.v4.u32.f32 {%r2, %r3, %r4, %r5}, [%d2, {%f1, %f1}];\n"
                           "st.global.u32 [%d0+8], %r3; mov.u32 %r6, 8; mov.u32 %r7, 2;\n"
                           "sust.b.2d.b32.trap [%d2, {%r6, %r7}], {%r1};\n"
                           "suld.b.2d.b32.zero {%r2}, [%d2, {%r7, %r7}];\n"
                           "suld.b.2d.b32.trap {%r3}, [%d2, {%r6, %r7}];\n"
                           "st.global.v2.u32 [%d0+16], {%r2, %r3};"),
           1, 1, out, sizeof out);
    assert_u64(out[0], 1007);
    assert_u64(out[1], 1010);
    assert_u64(out[2], 1004);
    assert_u64(out[4], 0);
    assert_u64(out[5], 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_saturate_and_widen),
        cmocka_unit_test(bits_are_moved_as_the_manual_says),
        cmocka_unit_test(carries_go_from_one_word_to_the_next),
        cmocka_unit_test(floats_round_flush_and_saturate),
        cmocka_unit_test(halves_round_once),
        cmocka_unit_test(conversions_clamp_and_extend),
        cmocka_unit_test(comparisons_know_signs_and_nan),
        cmocka_unit_test(what_does_not_exist_is_refused),
        cmocka_unit_test(variables_and_addresses),
        cmocka_unit_test(atomics_return_what_was_there),
        cmocka_unit_test(faults_end_the_launch),
        cmocka_unit_test(shuffles_stay_in_their_segments),
        cmocka_unit_test(lanes_at_different_places_meet),
        cmocka_unit_test(no_lane_waits_for_ever),
        cmocka_unit_test(barriers_count_and_reduce),
        cmocka_unit_test(calls_recur_and_go_by_register),
        cmocka_unit_test(the_drivers_functions),
        cmocka_unit_test(textures_and_surfaces_are_the_drivers),
    };
    return wp_test_main(tests);
}
