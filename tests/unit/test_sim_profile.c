/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/profile/profile.h"

#include <ctype.h>
#include <glob.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/memory/link.h"
#include "sim/profile/floorplan.h"
#include "wp_test.h"

static wpi_profile *parse(const char *ini, const char *setting) {
    wp_error err = {0};
    wpi_profile *profile = NULL;
    assert_status_ok(
        wpi_profile_parse(ini, "test.ini", &setting, setting == NULL ? 0 : 1, &profile, &err),
        &err);
    return profile;
}

static void units_become_numbers(void **state) {
    (void)state;
    wpi_profile *p =
        parse("[gpu]\ncore_clock = 1481MHz\n[l2]\nlatency = 100cycles\nbytes = 2MiB\n"
              "bandwidth = 64B/cycle\n[dram]\nlatency = 45us\nbandwidth = 484GB/s\n"
              "[class.fp32]\nlatency = 6cycles\nlanes = 128\n[tlb.l2]\nsharing = gpc\n",
              NULL);
    assert_u64(p->cycle_ps, 675);
    assert_u64(p->l2.latency_ps, 67500);
    assert_u64(p->l2.bytes, 2 << 20);
    assert_u64(p->l2.bytes_per_s, 64 * (uint64_t)1481000000);
    assert_u64(p->dram.latency_ps, 45000000);
    assert_u64(p->dram.bytes_per_s, 484000000000);
    assert_u64(p->classes[WP_TRACE_FP32].lanes, 128);
    assert_u64(p->classes[WP_TRACE_FP32].latency_cycles, 6);
    assert_u64(p->tlb[1].sharing, WPI_SHARING_GPC);
    wpi_profile_destroy(p);
}

static const char *source_of(const wpi_profile *p, const char *name) {
    wpi_profile_value value;
    for (size_t i = 0; wpi_profile_value_at(p, i, &value); i++)
        if (strcmp(value.name, name) == 0) return value.source;
    fail_msg("no key %s", name);
    return NULL;
}

static void a_source_is_the_keys_or_its_sections(void **state) {
    (void)state;
    wpi_profile *p = parse("[dram]\nsource = a paper\nchannels = 4\nbanks = 8\n"
                           "banks.source = another\n[link]\nlatency = 1us\n",
                           "dram.queue = 7");
    assert_string_equal(source_of(p, "dram.channels"), "a paper");
    assert_string_equal(source_of(p, "dram.banks"), "another");
    assert_null(source_of(p, "link.latency"));
    assert_string_equal(source_of(p, "dram.row"), "default");
    assert_string_equal(source_of(p, "dram.queue"), "--set");
    assert_u64(p->dram.queue, 7);
    wpi_profile_destroy(p);
}

static void settings_win_and_cycles_follow_the_clock(void **state) {
    (void)state;
    wpi_profile *p =
        parse("[l1]\nlatency = 10cycles\n[gpu]\ncore_clock = 1GHz\n", "gpu.core_clock=2GHz");
    assert_u64(p->l1.latency_ps, 5000);
    wpi_profile_destroy(p);
}

/* Whatever is wrong: one sentence with the place, nothing half made. */
static void mistakes_are_named_with_their_place(void **state) {
    (void)state;
    const struct {
        const char *ini, *setting;
        wp_status status;
        const char *part;
    } cases[] = {
        {"[tlb.l2]\nentires = 5\n", NULL, WP_STATUS_NOT_FOUND,
         "test.ini:2: no key 'tlb.l2.entires'; did you mean 'tlb.l2.entries'?"},
        {"", "tlb.l2.entrees=5", WP_STATUS_NOT_FOUND,
         "no key 'tlb.l2.entrees'; did you mean"},
        {"", "tlb.l2.entries", WP_STATUS_PARSE, "write it as tlb.l2.entries=128"},
        {"", "=5", WP_STATUS_PARSE, "write it as"},
        {"", "l1.ways=0", WP_STATUS_INVALID, "l1.ways: 0 is out of range (1 to 1024)"},
        {"[l2]\n\nbytes = 4\n", NULL, WP_STATUS_PARSE, "test.ini:3: l2.bytes: '4' lacks a unit"},
        {"[l2]\nbytes = 3MiB\nways = 7\n", NULL, WP_STATUS_INVALID,
         "test.ini:2: l2.bytes: 3145728 bytes do not divide"},
        {"[l2]\nlatency = 100\n", NULL, WP_STATUS_PARSE, "l2.latency: '100' is not a time"},
        {"[l2]\nlatency = 1.5cycles\n", NULL, WP_STATUS_PARSE, "l2.latency: '1.5' is not a whole"},
        {"[dram]\nbandwidth = 12GB\n", NULL, WP_STATUS_PARSE, "'12GB' is not a rate"},
        {"[l1]\non = maybe\n", NULL, WP_STATUS_PARSE, "l1.on: 'maybe' is neither on nor off"},
        {"[l1]\nwrite = never\n", NULL, WP_STATUS_PARSE, "is not one of: through evict back"},
        {"[l1]\nsector = 33B\n", NULL, WP_STATUS_INVALID,
         "test.ini:2: l1.sector: 33 is not 32, 64 or 128"},
        {"[gpu]\ncore_clock = 3\n", NULL, WP_STATUS_PARSE, "gpu.core_clock"},
        {"[page]\nbytes = 5000B\n", NULL, WP_STATUS_INVALID, "test.ini:2: page.bytes"},
        {"[page]\nbytes = 64MiB\n", NULL, WP_STATUS_INVALID, "out of range"},
        {"[tlb.l1]\nentries = 10\nways = 4\n", NULL, WP_STATUS_INVALID,
         "test.ini:3: tlb.l1.ways: 10 entries do not divide into sets of 4"},
        {"[tlb.l1]\nentries = 12\nways = 4\nhash = xor\n", NULL, WP_STATUS_INVALID,
         "the XOR hash needs a power of two of sets, not 3"},
        {"[tlb.l1]\nentries = 64\nsets = 6x8,1x17\n", NULL, WP_STATUS_INVALID,
         "holds 65 entries, but tlb.l1.entries is 64"},
        {"[tlb.l1]\nsets = 6*8\n", NULL, WP_STATUS_INVALID, "'6*8' is not a list"},
        {"[tlb.l1]\nsets = 6x8,\n", NULL, WP_STATUS_INVALID, "is not a list"},
        {"[tlb.l1]\ncoverage = 3MiB\n", NULL, WP_STATUS_INVALID, "tlb.l1.coverage"},
        {"[tlb.l1]\ncoverage = 32MiB\nfill = 3\n", NULL, WP_STATUS_INVALID, "tlb.l1.fill"},
        {"[tlb.l1]\ncoverage = 32MiB\n", NULL, WP_STATUS_INVALID,
         "default of tlb.l2.fill: a miss fills 2097152 bytes, fewer than in the level before"},
        {"[page]\nbytes = 4KiB\n[tlb.l2]\ncoverage = 2MiB\nfill = 1\n", NULL, WP_STATUS_INVALID,
         "512 parts"},
        {"[floorplan]\ngpcs = 2\ndisabled = 0,1\n", NULL, WP_STATUS_INVALID, "no SM is left"},
        {"[floorplan]\ngpcs = 2\ndisabled = 2\n", NULL, WP_STATUS_INVALID, "there is no SM 2"},
        {"[floorplan]\ngpcs = 4\ndisabled = 2,2\n", NULL, WP_STATUS_INVALID, "listed twice"},
        {"[floorplan]\ngpcs = 4\ndisabled = 2;3\n", NULL, WP_STATUS_PARSE, "floorplan.disabled"},
        {"[floorplan]\ngpcs = 500\nsms = 2\n", NULL, WP_STATUS_INVALID,
         "1000 SMs exceed the limit of 512"},
        {"[floorplan]\ngpcs = 3\n[tlb.l1]\nsharing = groups\ngroups = 0,1\n", NULL,
         WP_STATUS_INVALID, "tlb.l1.groups: SM 2 is in no group"},
        {"[floorplan]\ngpcs = 3\n[tlb.l1]\nsharing = groups\ngroups = 0 | 1,x\n", NULL,
         WP_STATUS_PARSE, "tlb.l1.groups"},
        {"[floorplan]\ngpcs = 3\n[tlb.l1]\nsharing = groups\ngroups = 0,1 | | 2\n", NULL,
         WP_STATUS_INVALID, "tlb.l1.groups: '0,1 | | 2': group 1 has no SM"},
        {"[floorplan]\ngpcs = 3\n[tlb.l1]\nsharing = groups\ngroups = 0,1,2 |\n", NULL,
         WP_STATUS_INVALID, "group 1 has no SM"},
        {"[tlb.l1]\nsharing = groups\n", NULL, WP_STATUS_INVALID, "group 0 has no SM"},
        {"[l1]\nways = 0\n", NULL, WP_STATUS_INVALID, "test.ini:2: l1.ways: 0 is out of range"},
        {"[l2]\nways = 0\n", NULL, WP_STATUS_INVALID, "test.ini:2: l2.ways: 0 is out of range"},
        {"[tlb.l1]\nentries = 0\n", NULL, WP_STATUS_INVALID, "tlb.l1.entries: 0 is out of range"},
        {"[shared]\nbytes = 64KiB\ncarveouts = 0B, x\n", NULL, WP_STATUS_PARSE,
         "shared.carveouts: 'x'"},
        {"[shared]\nbytes = 64KiB\ncarveouts = 16KiB, 8KiB, 64KiB\n", NULL, WP_STATUS_INVALID,
         "sizes must ascend"},
        {"[shared]\nbytes = 64KiB\ncarveouts = 0B, 32KiB\n", NULL, WP_STATUS_INVALID,
         "the last size is not shared.bytes"},
        {"[shared]\nbytes = 64KiB\ncarveouts = 100B, 64KiB\n", NULL, WP_STATUS_INVALID,
         "is no number of sets"},
        {"[shared]\nbytes = 64KiB\ncarveouts = 0B, 64KiB\n[l1]\npreferred = 64KiB\n", NULL,
         WP_STATUS_INVALID, "launches choose by shared.carveouts"},
        {"[tlb.l1]\nentries = 16\nsets = 2x8,2x0\n", NULL, WP_STATUS_INVALID, "is not a list"},
        {"[page]\nbytes = 3KiB\n", NULL, WP_STATUS_INVALID,
         "page.bytes: 3KiB is out of range (4.00 KiB to"},
        {"[page]\nbytes = 12KiB\n", NULL, WP_STATUS_INVALID,
         "page.bytes: 12288 is not a power of two"},
        {"[tlb.l1]\nentires = 4\n", NULL, WP_STATUS_NOT_FOUND, "did you mean 'tlb.l1.entries'?"},
        {"[sm]\nthreads = 100\n", NULL, WP_STATUS_INVALID, "not a multiple of the warp size of 32"},
        {"[shared]\nbytes = 1KiB\n", NULL, WP_STATUS_INVALID, "shared.cta_bytes"},
        {"[l1]\nways = 4\nways = 4\n", NULL, WP_STATUS_INVALID,
         "test.ini:3: l1.ways is given twice, first in line 2"},
        {"[l1]\nways.source = x\nways = 4\n", NULL, WP_STATUS_INVALID, "stands before"},
        {"[l1\nways = 4\n", NULL, WP_STATUS_PARSE, "test.ini:1: neither [section] nor key = value"},
        {"[l1]\nways\n", NULL, WP_STATUS_PARSE, "test.ini:2: neither"},
        {"ways = 4\n", NULL, WP_STATUS_NOT_FOUND, "no key 'ways'"},
        {"[gpu]\nmemory = 1GiB\nbase = k80\n", NULL, WP_STATUS_INVALID,
         "base must be the first key"},
        {"[gpu]\nbase = nonesuch\n", NULL, WP_STATUS_NOT_FOUND, "test.ini:2: base 'nonesuch'"},
        {"[walker]\nlevels = 6\nlevel_bits = 20\n", NULL, WP_STATUS_INVALID, "walker.level_bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wp_error err = {0};
        wpi_profile *profile = NULL;
        print_message("%s%s\n", cases[i].ini, cases[i].setting == NULL ? "" : cases[i].setting);
        assert_status_fails(wpi_profile_parse(cases[i].ini, "test.ini", &cases[i].setting,
                                              cases[i].setting != NULL, &profile, &err),
                            cases[i].status, &err, cases[i].part);
        assert_null(profile);
        assert_null(strchr(err.message, '\n'));
    }
}

static void a_line_that_is_too_long_is_refused(void **state) {
    (void)state;
    char ini[400];
    wp_error err = {0};
    wpi_profile *profile = NULL;
    (void)snprintf(ini, sizeof ini, "[gpu]\ntitle = %0300d\n", 0);
    assert_status_fails(wpi_profile_parse(ini, "test.ini", NULL, 0, &profile, &err),
                        WP_STATUS_PARSE, &err, "test.ini:2: the line has more than");
}

/* What a profile need not say: what is of the simulation, and what is 0 or empty, hence not there.
 */
static bool may_be_default(const wpi_profile_value *value) {
    return strncmp(value->name, "gpu.", 4) == 0 || value->text[0] == '\0' ||
           strtoull(value->text, NULL, 10) == 0;
}

static bool is_of_missing_level(const wpi_profile *p, const char *name) {
    return strncmp(name, "tlb.l", 5) == 0 && isdigit(name[5]) &&
           (uint32_t)(name[5] - '0') > p->tlb_levels;
}

/* What only batches, or a policy against thrashing, look at. */
static bool is_of_missing_driver(const wpi_profile *p, const char *name) {
    static const char *const of_batches[] = {
        "paging.batch",         "paging.fault_buffer",     "paging.coalesce",
        "paging.replay",        "paging.flush_update",     "paging.service_batches",
        "paging.interrupt",     "paging.batch_latency",    "paging.fault_latency",
        "paging.block_latency", "paging.service_throttles"};
    if (strncmp(name, "paging.thrash_", 14) == 0)
        return strcmp(p->paging.thrash->name, "none") == 0;
    for (size_t i = 0; i < sizeof of_batches / sizeof of_batches[0]; i++)
        if (strcmp(name, of_batches[i]) == 0) return p->paging.service != WPI_FAULT_BATCH;
    return false;
}

/* What is unknown says so, and what the number is instead: "unknown; the P100's". */
static void check_source(const char *path, const wpi_profile_value *value) {
    if (strcmp(value->name, "sm.code") == 0) return; /* how to count, nothing of a GPU */
    if (value->source == NULL) {
        if (strcmp(value->name, "gpu.title") != 0)
            fail_msg("%s: %s has no source", path, value->name);
        return;
    }
    if (strcmp(value->source, "default") == 0 &&
        (!may_be_default(value) || isalpha(value->text[0])))
        fail_msg("%s: %s is the default, which has no source", path, value->name);
    if (strcmp(value->source, "unknown") == 0 || strstr(value->source, "assumed") != NULL)
        fail_msg("%s: %s: the source does not say whose number it is", path, value->name);
}

/* What only first levels that ask each other, or a last level that fetches ahead, look at. */
static bool is_of_plain_tlbs(const wpi_profile *p, const char *name) {
    if (strncmp(name, "tlb_sharing.", 12) == 0)
        return strcmp(p->tlb_sharing.policy->name, "private") == 0;
    return strncmp(name, "tlb_prefetch.", 13) == 0 &&
           strcmp(p->tlb_prefetch.policy->name, "none") == 0;
}

static void check_sources(const char *spec) {
    wp_error err = {0};
    wpi_profile *p = NULL;
    assert_status_ok(wpi_profile_load(spec, NULL, 0, &p, &err), &err);
    wpi_profile_value value;
    for (size_t k = 0; wpi_profile_value_at(p, k, &value); k++) {
        const bool is_absent = is_of_missing_level(p, value.name) ||
                               is_of_missing_driver(p, value.name) ||
                               is_of_plain_tlbs(p, value.name) ||
                               (!p->itlb.is_on && strncmp(value.name, "itlb.", 5) == 0) ||
                               (!p->host.is_on && strncmp(value.name, "host.", 5) == 0) ||
                               (!p->paging.is_on && strncmp(value.name, "paging.", 7) == 0);
        if (!is_absent) check_source(spec, &value);
    }
    assert_true(p->title[0] != '\0');
    wpi_profile_destroy(p);
}

static void every_profile_loads_and_every_number_has_a_source(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob(WP_TEST_SOURCE_DIR "/configs/*.ini", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 12);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_sources(found.gl_pathv[i]);
    globfree(&found);
}

/* `joined`: the profile and the sign behind which the part is named. */
static void check_parts(const char *pattern, const char *joined) {
    glob_t found;
    char spec[300];
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 1);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *stem = wpi_path_stem(found.gl_pathv[i]);
        (void)snprintf(spec, sizeof spec, "%s%s", joined, stem);
        check_sources(spec);
        wpi_free(stem);
    }
    globfree(&found);
}

static void so_has_every_number_of_an_overlay(void **state) {
    (void)state;
    check_parts(WP_TEST_SOURCE_DIR "/configs/as/*.ini",
                WP_TEST_SOURCE_DIR "/configs/gtx1080ti.ini+");
}

static void so_has_every_number_of_a_host(void **state) {
    (void)state;
    check_parts(WP_TEST_SOURCE_DIR "/configs/hosts/*.ini",
                WP_TEST_SOURCE_DIR "/configs/gtx680.ini@");
}

static void a_host_is_named_behind_its_sign(void **state) {
    (void)state;
    static const char *const settings[] = {"host.cores=12"};
    wp_error err = {0};
    wpi_profile *p = NULL;
    assert_status_ok(wpi_profile_load("gtx1080ti+uvmsmart@xeon-e5-quad", settings, 1, &p, &err),
                     &err);
    assert_string_equal(p->name, "gtx1080ti+uvmsmart@xeon-e5-quad");
    assert_true(p->host.is_on);
    assert_int_equal(p->host.cores, 12);
    assert_u64(p->host.bytes_per_s, UINT64_C(57600000000));
    wpi_profile_destroy(p);
    assert_status_fails(wpi_profile_load("gtx680@xeon-e5-quat", NULL, 0, &p, &err),
                        WP_STATUS_NOT_FOUND, &err,
                        "no host 'xeon-e5-quat'; did you mean 'xeon-e5-quad'?");
    assert_status_ok(wpi_profile_load("gtx680", NULL, 0, &p, &err), &err);
    assert_false(p->host.is_on);
    wpi_profile_destroy(p);
}

static void a_host_may_be_a_file_of_the_users(void **state) {
    (void)state;
    static const char *const specs[] = {
        "gtx680@" WP_TEST_SOURCE_DIR "/configs/hosts/xeon-e5-quad.ini",
        "k80+uvmsmart@" WP_TEST_SOURCE_DIR "/configs/hosts/xeon-e5-quad.ini",
        WP_TEST_SOURCE_DIR "/configs/gtx680.ini@" WP_TEST_SOURCE_DIR
                           "/configs/hosts/xeon-e5-quad.ini",
        WP_TEST_SOURCE_DIR "/configs/gtx680.ini@xeon-e5-quad"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        wp_error err = {0};
        wpi_profile *p = NULL;
        assert_status_ok(wpi_profile_load(specs[i], NULL, 0, &p, &err), &err);
        assert_true(p->host.is_on);
        wpi_profile_destroy(p);
    }
}

static void an_overlay_lies_between_profile_and_settings(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_profile *p = NULL;
    const char *const settings[] = {"l2.mshrs=7"};
    assert_status_ok(wpi_profile_load("gtx1080ti+uvmsmart", settings, 1, &p, &err), &err);
    assert_string_equal(p->name, "gtx1080ti+uvmsmart");
    assert_u64(p->paging.service, WPI_FAULT_ADDED);
    assert_u64(p->l2.mshrs, 7);
    assert_u64(p->sm_count, 28); /* of the profile */
    assert_contains(source_of(p, "paging.round_up"), "UVMSmart");
    wpi_profile_destroy(p);
    assert_status_fails(wpi_profile_load("gtx1080ti+uvmsmarx", NULL, 0, &p, &err),
                        WP_STATUS_NOT_FOUND, &err, "did you mean 'uvmsmart'?");
    assert_status_fails(wpi_profile_load("gtx1080to+uvmsmart", NULL, 0, &p, &err),
                        WP_STATUS_NOT_FOUND, &err, "did you mean 'gtx1080ti'?");
    assert_status_fails(wpi_profile_load("gtx1080ti+", NULL, 0, &p, &err), WP_STATUS_NOT_FOUND,
                        &err, "there is no overlay of simulated GPUs ''");
}

/* A file of one's own; it would bring all numbers of its base. */
static void an_overlay_has_no_base(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_profile *p = NULL;
    const char *const path = "overlay-with-base.ini", *const ini = "[gpu]\nbase = k80\n";
    assert_status_ok(wpi_file_write(path, ini, strlen(ini), &err), &err);
    assert_status_fails(wpi_profile_load("k80+overlay-with-base.ini", NULL, 0, &p, &err),
                        WP_STATUS_INVALID, &err, "overlay-with-base.ini:2: an overlay has no base");
    assert_int_equal(remove(path), 0);
}

/* A name, as of Warpage's own, or that of a file beside the profile. */
static void a_base_may_be_named_as_a_file(void **state) {
    (void)state;
    wp_error err = {0};
    const char *const base = "base-of-another.ini", *const path = "based-on-a-file.ini";
    static const char *const names[] = {"base-of-another", "base-of-another.ini",
                                        "./base-of-another.ini"};
    static const char numbers[] = "[gpu]\nbase = k80\nmemory = 3GiB\n";
    assert_status_ok(wpi_file_write(base, numbers, strlen(numbers), &err), &err);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *ini = wpi_format("[gpu]\nbase = %s\n", names[i]);
        wpi_profile *p = NULL;
        assert_status_ok(wpi_file_write(path, ini, strlen(ini), &err), &err);
        assert_status_ok(wpi_profile_load("./based-on-a-file.ini", NULL, 0, &p, &err), &err);
        assert_u64(p->memory_bytes, (uint64_t)3 << 30);
        wpi_profile_destroy(p);
        wpi_free(ini);
    }
    assert_int_equal(remove(path), 0);
    assert_int_equal(remove(base), 0);
}

static void names_are_looked_up_beside_the_library(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_profile *p = NULL;
    char *dir = wpi_profile_dir();
    assert_non_null(dir);
    wpi_free(dir);
    assert_status_ok(wpi_profile_load("k80", NULL, 0, &p, &err), &err);
    assert_string_equal(p->name, "k80");
    assert_u64(p->sm_count, 13);
    wpi_profile_destroy(p);
    assert_status_fails(wpi_profile_load("k81", NULL, 0, &p, &err), WP_STATUS_NOT_FOUND, &err,
                        "did you mean 'k80'?");
    assert_status_fails(wpi_profile_load("./k81.ini", NULL, 0, &p, &err), WP_STATUS_NOT_FOUND, &err,
                        "k81.ini");
}

static void a_number_of_the_base_says_so(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_profile *p = NULL;
    assert_status_ok(wpi_profile_load("titan-black", NULL, 0, &p, &err), &err);
    assert_u64(p->sm_count, 15);
    assert_u64(p->tlb[1].entries, 65);
    assert_string_equal(source_of(p, "tlb.l2.entries"),
                        "as k80: Karnagel et al., DaMoN'17, Table 2");
    wpi_profile_destroy(p);
}

/* Which SMs share the second TLB, as text. */
static void groups_of(const char *name, char *out, size_t size) {
    wp_error err = {0};
    wpi_profile *p = NULL;
    wpi_floorplan plan;
    uint32_t group_of[WPI_SMS_MAX], count = 0;
    size_t length = 0;
    assert_status_ok(wpi_profile_load(name, NULL, 0, &p, &err), &err);
    wpi_floorplan_init(&plan, p);
    assert_status_ok(
        wpi_floorplan_groups(&plan, p->tlb[1].sharing, p->tlb[1].groups, group_of, &count, &err),
        &err);
    for (uint32_t group = 0; group < count; group++) {
        length += (size_t)snprintf(out + length, size - length, "{");
        for (uint32_t sm = 0; sm < plan.sm_count; sm++)
            if (group_of[sm] == group)
                length += (size_t)snprintf(out + length, size - length, "%s%u",
                                           out[length - 1] == '{' ? "" : ",", sm);
        length += (size_t)snprintf(out + length, size - length, "}");
    }
    wpi_profile_destroy(p);
}

static void disabled_sms_give_the_measured_groups(void **state) {
    (void)state;
    char text[1024];
    groups_of("k80", text, sizeof text);
    assert_string_equal(text, "{0,5}{1,6}{2,7,10}{3,8,11}{4,9,12}");
    groups_of("p100", text, sizeof text);
    assert_string_equal(text, "{0,1,12,13,24,25,36,37,44,45}{2,3,14,15,26,27,38,39,46,47}"
                              "{4,5,16,17,28,29,40,41,48,49}{6,7,18,19,30,31,42,43,50,51}"
                              "{8,9,20,21,32,33,52,53}{10,11,22,23,34,35,54,55}");
}

static void listed_groups_are_taken_as_they_are(void **state) {
    (void)state;
    wpi_profile *p = parse("[floorplan]\ngpcs = 4\n[tlb.l2]\nsharing = groups\n"
                           "groups = 1,3 | 0 | 2\n",
                           NULL);
    wp_error err = {0};
    wpi_floorplan plan;
    uint32_t group_of[WPI_SMS_MAX], count = 0;
    wpi_floorplan_init(&plan, p);
    assert_status_ok(
        wpi_floorplan_groups(&plan, p->tlb[1].sharing, p->tlb[1].groups, group_of, &count, &err),
        &err);
    assert_u64(count, 3);
    assert_u64(group_of[1], group_of[3]);
    assert_true(group_of[0] != group_of[1] && group_of[0] != group_of[2]);
    wpi_profile_destroy(p);
}

/* UVMSmart's published cycles of a transfer, at 1481 MHz. */
static void the_links_curve_is_that_of_uvmsmart(void **state) {
    (void)state;
    const struct {
        uint64_t kib;
        double cycles;
    } points[] = {{4, 2605},    {8, 2800},    {16, 3430},     {32, 5074},    {64, 8702},
                  {128, 16163}, {256, 31193}, {1024, 121560}, {2048, 242080}};
    wp_error err = {0};
    wpi_profile *p = NULL;
    assert_status_ok(wpi_profile_load("gtx1080ti", NULL, 0, &p, &err), &err);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        assert_near((double)wpi_link_transfer_ps(p, points[i].kib * 1024) * 1481e6 / 1e12,
                    points[i].cycles, 0.002);
    wpi_profile_destroy(p);
}

static void the_guide_lists_every_key(void **state) {
    (void)state;
    wp_error err = {0};
    char *guide = NULL, row[256];
    size_t size_bytes = 0;
    assert_status_ok(wpi_file_read(WP_TEST_SOURCE_DIR "/docs/guide/describe-a-gpu.md", &guide,
                                   &size_bytes, &err),
                     &err);
    wpi_profile_value key;
    for (size_t i = 0; wpi_profile_key_at(i, &key); i++) {
        (void)snprintf(row, sizeof row, "| `%s` | %s |", key.name, key.unit);
        assert_contains(guide, row);
        assert_contains(guide, key.doc);
    }
    wpi_free(guide);
}

static void memory_that_runs_out_ends_in_an_error(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_profile *p = NULL;
    wpi_alloc_fail_at(1);
    const wp_status status = wpi_profile_parse("[gpu]\n", "x.ini", NULL, 0, &p, &err);
    wpi_alloc_fail_at(0);
    assert_int_equal(status, WP_STATUS_NOMEM);
    assert_null(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_become_numbers),
        cmocka_unit_test(a_source_is_the_keys_or_its_sections),
        cmocka_unit_test(settings_win_and_cycles_follow_the_clock),
        cmocka_unit_test(mistakes_are_named_with_their_place),
        cmocka_unit_test(a_line_that_is_too_long_is_refused),
        cmocka_unit_test(every_profile_loads_and_every_number_has_a_source),
        cmocka_unit_test(so_has_every_number_of_an_overlay),
        cmocka_unit_test(so_has_every_number_of_a_host),
        cmocka_unit_test(a_host_is_named_behind_its_sign),
        cmocka_unit_test(a_host_may_be_a_file_of_the_users),
        cmocka_unit_test(an_overlay_lies_between_profile_and_settings),
        cmocka_unit_test(an_overlay_has_no_base),
        cmocka_unit_test(a_base_may_be_named_as_a_file),
        cmocka_unit_test(names_are_looked_up_beside_the_library),
        cmocka_unit_test(a_number_of_the_base_says_so),
        cmocka_unit_test(disabled_sms_give_the_measured_groups),
        cmocka_unit_test(listed_groups_are_taken_as_they_are),
        cmocka_unit_test(the_links_curve_is_that_of_uvmsmart),
        cmocka_unit_test(the_guide_lists_every_key),
        cmocka_unit_test(memory_that_runs_out_ends_in_an_error),
    };
    return wp_test_main(tests);
}
