/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of files and texts survive anything: valid inputs are mangled at random, and each reader
 * must answer or refuse. What would hurt shows under the sanitizers. The seed is printed;
 * WARPAGE_TEST_SEED repeats it, WARPAGE_TEST_ROUNDS makes it longer. */
#include "wp_test.h"

#include <ctype.h>

#include "base/abi.h"
#include "base/alloc.h"
#include "base/units.h"
#include "compiler/ptx/module.h"
#include "compiler/source/asm_syntax.h"
#include "compiler/source/launch_syntax.h"
#include "compiler/source/long_double.h"
#include "device/fat_binary.h"
#include "device/image.h"
#include "device/ptx_parts.h"
#include "report/run_record.h"

static uint64_t state_of_rng;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = state_of_rng += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int rounds(void) {
    const char *wanted = getenv("WARPAGE_TEST_ROUNDS");
    return wanted != NULL ? atoi(wanted) : 4000;
}

static int seed(void **state) {
    (void)state;
    const char *wanted = getenv("WARPAGE_TEST_SEED");
    state_of_rng = wanted != NULL ? strtoull(wanted, NULL, 0) : 20261121u;
    printf("seed %llu, %d rounds\n", (unsigned long long)state_of_rng, rounds());
    return 0;
}

/* A copy of exactly `*size` bytes and a NUL, with some bytes changed, a stretch gone, or the end
 * cut off. */
static char *mangle(const char *valid, size_t *size) {
    size_t length = *size;
    char *bytes = wpi_malloc(length + 1);
    memcpy(bytes, valid, length);
    for (uint64_t changes = next_random() % 6; changes > 0 && length > 0; changes--)
        bytes[next_random() % length] = (char)next_random();
    if (next_random() % 4 == 0 && length > 8) {
        const size_t at = next_random() % length, gone = next_random() % (length - at);
        memmove(bytes + at, bytes + at + gone, length - at - gone);
        length -= gone;
    }
    if (next_random() % 4 == 0) length = next_random() % (length + 1);
    bytes = wpi_realloc(bytes, length + 1);
    bytes[length] = '\0';
    *size = length;
    return bytes;
}

static void images_are_checked_or_refused(void **state) {
    (void)state;
    char valid[256] = {0};
    wp_image_header header = {
        .abi_version = WP_ABI_VERSION, .section_count = 2, .size_bytes = sizeof valid};
    memcpy(header.magic, WP_IMAGE_MAGIC, sizeof header.magic);
    const wp_image_section sections[2] = {
        {.kind = WP_SECTION_BITCODE, .offset = 128, .size_bytes = 64, .raw_size_bytes = 100},
        {.kind = WP_SECTION_PTX,
         .arch = 70,
         .offset = 192,
         .size_bytes = 64,
         .raw_size_bytes = 200}};
    memcpy(valid, &header, sizeof header);
    memcpy(valid + sizeof header, sections, sizeof sections);
    const wp_image_header *found = NULL;
    assert_int_equal(wpi_image_check(valid, &found, NULL), WP_STATUS_OK);
    int accepted = 0;
    for (int i = 0; i < rounds(); i++) {
        char bytes[sizeof valid];
        memcpy(bytes, valid, sizeof valid);
        for (uint64_t changes = next_random() % 5; changes > 0; changes--)
            bytes[next_random() % sizeof valid] = (char)next_random();
        /* What the header says must be readable: that is the linker's part. */
        uint64_t size = sizeof valid;
        memcpy(bytes + offsetof(wp_image_header, size_bytes), &size, sizeof size);
        if (wpi_image_check(bytes, &found, NULL) != WP_STATUS_OK) continue;
        accepted++;
        const wp_image_section *section = wpi_image_find(found, WP_SECTION_BITCODE);
        if (section != NULL) assert_true(section->offset + section->size_bytes <= sizeof valid);
    }
    assert_true(accepted > 0 && accepted < rounds());
}

static void show(const wp_run_record *record) {
    wp_run_text_free(wp_run_record_to_json(record));
    wp_run_text_free(wp_run_record_to_csv(record));
    wp_run_text_free(wp_run_record_to_text(record));
}

static void read_or_refuse_records(const char *valid, size_t length) {
    for (int i = 0; i < rounds(); i++) {
        size_t size = length;
        char *json = mangle(valid, &size);
        wp_run_record record;
        wp_error err = {0};
        if (wpi_run_record_parse(json, size, "mangled", &record, &err) != WP_STATUS_OK)
            assert_true(err.message[0] != '\0');
        else
            show(&record);
        wp_run_record_deinit(&record);
        wpi_free(json);
    }
}

static void records_are_read_or_refused(void **state) {
    (void)state;
    static const char valid[] = "{\"schema\":\"warpage.run/"
                                "1\",\"version\":\"0.1.0\",\"program\":[\"./a\"],\"exit_status\":0,"
                                "\"device\":{\"spec\":\"cpu\",\"name\":\"x\"},\"wall_time_ns\":5,"
                                "\"memory_peak_bytes\":7,\"kernels\":["
                                "{\"name\":\"k\",\"display_name\":\"k()\",\"launches\":1,"
                                "\"threads\":2,\"time_ns\":3,\"time_min_ns\":3,"
                                "\"time_max_ns\":3,\"grid\":[1,1,1],\"block\":[2,1,1]}],\"copies\":"
                                "[{\"kind\":\"h2d\",\"count\":1,"
                                "\"bytes\":2,\"time_ns\":3}]}";
    read_or_refuse_records(valid, sizeof valid - 1);
}

/* What is read is shown, however odd the numbers are. */
static void records_of_simulations_are_read_or_refused(void **state) {
    (void)state;
    static const char valid[] =
        "{\"schema\":\"warpage.run/"
        "1\",\"version\":\"0\",\"program\":[],\"device\":{\"spec\":\"sim:x\","
        "\"name\":\"x\"},\"memory_peak_bytes\":7,\"kernels\":[{\"name\":\"k\",\"display_name\":\"k("
        ")\","
        "\"launches\":1,\"threads\":2,\"time_ns\":3,\"time_min_ns\":3,\"time_max_ns\":3,\"grid\":["
        "1,1,1],"
        "\"block\":[2,1,1],\"overlapped_launches\":1,\"counters\":{\"l1_hits\":3,\"l1_misses\":1},"
        "\"histograms\":{\"walker_latency_ps\":{\"count\":2,\"sum\":9,\"bits\":[0,1,1]}}}],"
        "\"copies\":[],"
        "\"simulation\":{\"time_ps\":5,\"counted_ps\":5,\"machine\":{\"sm_count\":1,\"warps_per_"
        "sm\":1,"
        "\"clock_hz\":1,\"page_bytes\":4096,\"dram_channels\":1,\"dram_bytes_per_s\":1,"
        "\"link_bytes_per_s\":1,\"walker_count\":1},\"counters\":{\"l1_hits\":3,\"l1_misses\":1,"
        "\"l1_merges\":0,\"l1_stalls\":1,\"l1_stall_wait_ps\":9},\"histograms\":{\"walker_latency_"
        "ps\":"
        "{\"count\":2,\"sum\":9,\"bits\":[0,1,1]}},\"units\":{\"l1_hits\":\"sectors\",\"l1_"
        "misses\":"
        "\"sectors\",\"l1_merges\":\"sectors\",\"l1_stalls\":\"lines\",\"l1_stall_wait_ps\":\"ps\","
        "\"walker_latency_ps\":\"ps\"},\"utilisation\":[{\"name\":\"dram\",\"slice_ps\":9,"
        "\"units\":1,"
        "\"busy_ps\":[1,2]}],\"allocations\":[{\"name\":\"a\",\"site\":\"\",\"kind\":\"device\","
        "\"count\":1,\"bytes\":5,\"place_bytes\":0,\"reads\":1,\"writes\":1,\"tlb_misses\":1,"
        "\"walks\":1}],"
        "\"page_bytes\":4096,\"pages\":[{\"allocation\":0,\"offset_bytes\":0,\"reads\":1,"
        "\"writes\":1,"
        "\"tlb_misses\":1,\"walks\":1}],\"access_map\":{\"row_bytes\":4096,\"slice_ps\":9,\"rows\":"
        "[{\"reads\":1,\"writes\":1,\"tlb_misses\":1,\"walks\":1}],\"accesses\":[\"1\",\"2 3\"]}}}";
    wp_run_record record;
    wp_error err = {0};
    assert_status_ok(wpi_run_record_parse(valid, sizeof valid - 1, "valid", &record, &err), &err);
    wp_run_record_deinit(&record);
    read_or_refuse_records(valid, sizeof valid - 1);
}

static void inline_ptx_is_read_or_refused(void **state) {
    (void)state;
    static const char valid[] =
        "{ .reg .pred p, q; .reg .u64 t<4>; setp.lt.s32 p|q, %0, 0x1f; @!p add.s32 %1, %2, "
        "-5; ld.global.cg.v2.f32 {%3, %4}, [%5+16]; mov.b64 t1, {%0, %1}; // end\n }";
    for (int i = 0; i < rounds(); i++) {
        size_t size = sizeof valid - 1;
        char *text = mangle(valid, &size);
        wpi_ptx_parser parser;
        wpi_ptx_parser_init(&parser, text, size, 1);
        wpi_ptx_item item;
        do {
            item = wpi_ptx_parse(&parser);
        } while (item != WP_PTX_ITEM_END && item != WP_PTX_ITEM_BAD);
        wpi_ptx_parser_deinit(&parser);
        wpi_free(text);
    }
}

static bool is_word(char c) {
    return isalnum((unsigned char)c) || c == '%' || c == '_';
}

/* The start of a word of the text. */
static size_t random_word(const char *text, size_t length) {
    size_t at = next_random() % length;
    while (at < length && is_word(text[at]))
        at++;
    while (at < length && !is_word(text[at]))
        at++;
    return at < length ? at : 0;
}

/* A copy in which some words stand where others stood: most instructions are still well formed. */
static char *swap_words(const char *valid, size_t *size) {
    char *text = wpi_strndup(valid, *size);
    for (uint64_t changes = next_random() % 4 + 1; changes > 0; changes--) {
        const size_t length = strlen(text), to = random_word(text, length);
        const size_t from = random_word(text, length);
        size_t old_chars = 0, chars = 0;
        while (is_word(text[to + old_chars]))
            old_chars++;
        while (is_word(text[from + chars]))
            chars++;
        char *next =
            wpi_format("%.*s%.*s%s", (int)to, text, (int)chars, text + from, text + to + old_chars);
        wpi_free(text);
        text = next;
    }
    *size = strlen(text);
    return text;
}

/* Divides it; each part can be written. The text is its own copy. */
static void divide_or_refuse(const char *text, size_t size) {
    char *copy = wpi_malloc(size + 1);
    memcpy(copy, text, size);
    copy[size] = '\0';
    wpi_ptx_parts *parts;
    if (wpi_ptx_parts_create(copy, &parts, NULL) != WP_STATUS_OK) {
        wpi_free(copy);
        return;
    }
    size_t part;
    (void)wpi_ptx_parts_find(parts, "k", &part);
    for (part = 0; part < wpi_ptx_parts_outer(parts); part++)
        wpi_free(wpi_ptx_parts_text(parts, part));
    wpi_ptx_parts_destroy(parts);
}

static void modules_of_ptx_are_read_or_refused(void **state) {
    (void)state;
    static const char valid[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.global .align 4 .u32 g[2] = {1, 2};\n"
        ".const .u64 p = generic(g)+4; .extern .shared .align 4 .b8 s[];\n"
        ".func (.param .b32 r) f(.param .b32 a) { .reg .b32 %r<3>; ld.param.u32 %r1, [a];"
        " st.param.b32 [r+0], %r1; ret; }\n"
        ".visible .entry k(.param .u64 k0, .param .align 8 .b8 k1[16]) .maxntid 32, 1, 1 {\n"
        " .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .local .align 8 .b8 l[16];\n"
        " ld.param.u64 %rd1, [k0]; mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 4; mov.u32 %r2, s;\n"
        " @%p1 bra L; st.shared.v2.u32 [%r2+8], {%r1, %r2}; bar.sync 0; shfl.sync.idx.b32 %r3, "
        "%r1, 0, 31, -1;\n"
        "add.cc.u32 %r6, %r1, %r2; addc.u32 %r7, %r6, 1; cvt.u64.u32 %rd2, %r2; cvta.shared.u64 "
        "%rd3, "
        "%rd2; ld.f16 %r4, [%rd3]; cvt.rn.f32.s32 %r5, %r6; fma.rn.f32 %r5, %r5, %r5, %r6; mov.b64 "
        "{%r4, %r5}, %rd3; min.s16x2 %r1, %r2, %r3; vote.sync.ballot.b32 %r3, %p1, -1; prmt.b32 "
        "%r1, %r2, %r3, 0x3210; bfe.u32 %r1, %r2, 4, 8; dp4a.u32.s32 %r1, %r2, %r3, %r4; "
        "cvt.rn.bf16x2.f32 %r1, %r5, %r6; red.add.f64 [%rd1], %rd2; st.v4.b16 [%rd1], "
        "{%r1, %r2, %r3, %r4}; @!%p1 bar.red.popc.u32 %r1, 0, %p1;\n"
        "L: { .param .b32 x; st.param.b32 [x+0], %r1; .param .b32 y; call.uni (y), f, (x); "
        "ld.param.b32 %r4, [y+0]; }\n"
        "T: .branchtargets A, B; brx.idx %r4, T; A: atom.add.u32 %r5, [%rd1], 1; B: "
        "st.local.u32 [l], %r4; exit; }\n";
    wpi_compile *c = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_ptx_module_read(valid, sizeof valid - 1, &c, &err), &err);
    wpi_compile_destroy(c);
    for (int i = 0; i < rounds() / 8; i++) { /* LLVM's passes take their time */
        size_t size = sizeof valid - 1;
        char *text = i % 2 == 0 ? mangle(valid, &size) : swap_words(valid, &size);
        divide_or_refuse(text, size);
        c = NULL;
        err = (wp_error){0};
        if (wpi_ptx_module_read(text, size, &c, &err) == WP_STATUS_OK) {
            wpi_compile_destroy(c);
        } else {
            assert_null(c);
            assert_int_not_equal(err.message[0], '\0');
            if (strstr(err.message, "broken")) fail_msg("%s\n%s", err.message, text);
        }
        wpi_free(text);
    }
}

static void fat_binaries_are_read_or_refused(void **state) {
    (void)state;
    /* PTX "abcabcabcabc" by LZ4, after machine code */
    static const unsigned char valid[] = {
        0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 144, 0, 0, 0, 0, 0, 0, 0,
        /* machine code, 8 bytes */
        2, 0, 1, 1, 64, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 70, 0,
        0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0x11, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
        /* PTX, 7 bytes and padding */
        1, 0, 1, 1, 64, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 70, 0,
        0, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0x11, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0,
        0, 0, 0, 0, 0, 0, 0x35, 'a', 'b', 'c', 3, 0, 0, 0};
    char *text = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_fat_binary_ptx(valid, sizeof valid, &text, &err), &err);
    assert_string_equal(text, "abcabcabcabc");
    wpi_free(text);
    for (int i = 0; i < rounds(); i++) {
        size_t size = sizeof valid;
        char *data = mangle((const char *)valid, &size);
        if (size > 0 && wpi_fat_binary_ptx(data, size, &text, NULL) == WP_STATUS_OK) wpi_free(text);
        wpi_free(data);
    }
}

static void sources_and_sizes_are_read_or_refused(void **state) {
    (void)state;
    static const char source[] =
        "k << <1, 2>> >(p); /* << < */ \"a\\\"<< <\" 'x' // >> "
        ">\nvector<vector<int> > v; k<<<1,2>> >(); k<<<{1, f({2})}, {3, 4}, {}>>>();";
    static const char assembly[] =
        "asm volatile(\"mov %0, %laneid;\" R\"x(%tid.x \"%%y)x\" /* ( */ "
        "\\\n: \"=r\"(a)); asm(\"%b\"); __asm__ (F(1, \"%ab\") ::);";
    static const char ir[] =
        "!7 = !DIFile(filename: \"a.cu\", directory: \"/\")\n!9 = !DIBasicType(name: \"long "
        "double\", "
        "size: 64)\n!10 = !DILocalVariable(name: \"x\", scope: !1, file: !7, line: 10, type: !9)\n";
    static const char size_text[] = "1.5GiB";
    for (int i = 0; i < rounds(); i++) {
        size_t size = sizeof source - 1;
        char *text = mangle(source, &size);
        const size_t before = strlen(text);
        (void)wpi_launch_syntax_join(text);
        assert_int_equal(strlen(text), before); /* columns stay */
        for (const char *brace = text; (brace = strchr(brace, '{')) != NULL; brace++)
            wpi_free(wpi_launch_syntax_braces(text, brace));
        wpi_free(text);
        size = sizeof assembly - 1;
        text = mangle(assembly, &size);
        wpi_free(wpi_asm_syntax_escape(text));
        wpi_free(text);
        size = sizeof ir - 1;
        text = mangle(ir, &size);
        (void)!wpi_long_double_check(text, "a.cu", NULL);
        wpi_free(text);
        size = sizeof size_text - 1;
        text = mangle(size_text, &size);
        uint64_t bytes = 0;
        (void)!wpi_parse_bytes(text, &bytes, NULL);
        wpi_free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_checked_or_refused),
        cmocka_unit_test(records_are_read_or_refused),
        cmocka_unit_test(records_of_simulations_are_read_or_refused),
        cmocka_unit_test(inline_ptx_is_read_or_refused),
        cmocka_unit_test(modules_of_ptx_are_read_or_refused),
        cmocka_unit_test(fat_binaries_are_read_or_refused),
        cmocka_unit_test(sources_and_sizes_are_read_or_refused),
    };
    return cmocka_run_group_tests(tests, seed, NULL);
}
