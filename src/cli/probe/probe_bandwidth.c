/* SPDX-License-Identifier: Apache-2.0 */
/* warpage probe bandwidth: a measurement for each combination of lists. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/probe/probe.h"
#include "probe/bandwidth/bandwidth.h"

#define LIST_MAX 16
#define REPEATS_DEFAULT 5u
#define REPEATS_MAX 1000u
#define THREADS_MAX 1024u
#define BLOCKS_MAX (1u << 20)
#define GB 1e9

enum option_index { DEVICE, SET, LEVEL, BLOCKS, THREADS, COALESCED, REPEATS, FORMAT };

static const wpi_cli_option options[] = {
    [DEVICE] = {"device", "SPEC", "measure this device: cpu (default), cuda:0, sim:k80 …"},
    [SET] = {"set", "KEY=VALUE", "set a parameter of the simulated GPU; may be repeated"},
    [LEVEL] = {"level", "LIST", "of dram, l2, l1, shared (default: all)"},
    [BLOCKS] = {"blocks", "LIST", "numbers of blocks (default: 1, half of the SMs, all)"},
    [THREADS] = {"threads", "LIST", "threads of a block (default: 128,256,512,1024)"},
    [COALESCED] = {"coalesced", "LIST", "lanes that read neighbouring words (default: 4)"},
    [REPEATS] = {"repeats", "N", "repeat each measurement N times (default: 5)"},
    [FORMAT] = {"format", "FORM", "print text (default), csv or values"},
    {0}};

typedef enum form { FORM_TEXT, FORM_CSV, FORM_VALUES, FORM_COUNT } form;

typedef struct list {
    uint32_t items[LIST_MAX], count;
} list;

typedef struct request {
    const char *spec;
    list levels, blocks, threads, coalesced;
    uint32_t repeats;
    form form;
} request;

static const char *const level_names[WPI_LEVEL_COUNT] = {[WPI_LEVEL_DRAM] = "dram",
                                                         [WPI_LEVEL_L2] = "l2",
                                                         [WPI_LEVEL_L1] = "l1",
                                                         [WPI_LEVEL_SHARED] = "shared"};

/* ---- options ---- */

static bool read_level(const char *word, uint32_t *out) {
    for (uint32_t l = 0; l < WPI_LEVEL_COUNT; l++) {
        if (strcmp(word, level_names[l]) != 0) continue;
        *out = l;
        return true;
    }
    return false;
}

static bool read_number(const char *word, uint32_t most, uint32_t *out) {
    uint64_t value = 0;
    if (wpi_parse_count(word, &value, NULL) != WP_STATUS_OK || value == 0 || value > most)
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_blocks(const char *word, uint32_t *out) {
    return read_number(word, BLOCKS_MAX, out);
}

static bool read_threads(const char *word, uint32_t *out) {
    return read_number(word, THREADS_MAX, out) && *out % 32 == 0;
}

static bool read_coalesced(const char *word, uint32_t *out) {
    return read_number(word, 32, out) && (*out & (*out - 1)) == 0;
}

static wp_status read_list(const char *option, const char *text, const char *expected,
                           bool (*read)(const char *, uint32_t *), list *out, wp_error *err) {
    while (text != NULL) {
        char word[32] = {0};
        const size_t length = strcspn(text, ",");
        if (length < sizeof word) memcpy(word, text, length);
        if (out->count == LIST_MAX)
            return WP_FAIL(err, INVALID, "--%s: at most %d of them", option, LIST_MAX);
        if (!read(word, &out->items[out->count++]))
            return WP_FAIL(err, INVALID, "--%s: '%.*s' is not %s", option, (int)length, text,
                           expected);
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return WP_STATUS_OK;
}

static wp_status parse_form(const char *name, form *out, wp_error *err) {
    static const char *const names[FORM_COUNT] = {"text", "csv", "values"};
    for (int f = 0; f < FORM_COUNT; f++) {
        if (name != NULL && strcmp(names[f], name) != 0) continue;
        *out = (form)f;
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, INVALID, "format '%s' is none of text, csv, values", name);
}

static wp_status parse_request(const wpi_arguments *arguments, request *out, wp_error *err) {
    const char *const *values = arguments->values;
    const char *device = values[DEVICE] != NULL ? values[DEVICE] : getenv("WARPAGE_DEVICE");
    *out = (request){.spec = device != NULL && device[0] != '\0' ? device : "cpu",
                     .repeats = REPEATS_DEFAULT};
    WP_TRY(parse_form(values[FORMAT], &out->form, err));
    WP_TRY(read_list("level", values[LEVEL] != NULL ? values[LEVEL] : "dram,l2,l1,shared",
                     "one of dram, l2, l1, shared", read_level, &out->levels, err));
    WP_TRY(read_list("blocks", values[BLOCKS], "a number of blocks, from 1 on", read_blocks,
                     &out->blocks, err));
    WP_TRY(read_list("threads", values[THREADS] != NULL ? values[THREADS] : "128,256,512,1024",
                     "a multiple of 32 up to 1024", read_threads, &out->threads, err));
    WP_TRY(read_list("coalesced", values[COALESCED] != NULL ? values[COALESCED] : "4",
                     "one of 1, 2, 4, 8, 16, 32", read_coalesced, &out->coalesced, err));
    if (values[REPEATS] != NULL && !read_number(values[REPEATS], REPEATS_MAX, &out->repeats))
        return WP_FAIL(err, INVALID, "--repeats: '%s' is not a number from 1 to %u",
                       values[REPEATS], REPEATS_MAX);
    return wpi_set_keys(arguments, out->spec, NULL, err);
}

static void add_blocks(list *blocks, uint32_t count) {
    if (count != 0 && (blocks->count == 0 || blocks->items[blocks->count - 1] < count))
        blocks->items[blocks->count++] = count;
}

static void default_blocks(list *blocks, uint32_t sms) {
    if (blocks->count != 0) return;
    add_blocks(blocks, 1);
    add_blocks(blocks, sms / 2);
    add_blocks(blocks, sms);
}

/* ---- output ---- */

static void print_head(const request *r, const wp_device_info *info) {
    if (r->form == FORM_CSV)
        printf("level,blocks,threads,coalesced,moved_bytes_per_s,used_bytes_per_s\n");
    if (r->form != FORM_TEXT) return;
    printf("%s (%s)\n", info->name, info->spec);
    printf("%-8s%8s%10s%12s%16s%16s%16s\n", "level", "blocks", "threads", "coalesced", "moved GB/s",
           "used GB/s", "moved a block");
}

static void print_row(const request *r, const wpi_bandwidth_point *p,
                      const wpi_bandwidth_rate *rate) {
    const char *level = level_names[p->level];
    const double moved = rate->moved_bytes_per_s, used = rate->used_bytes_per_s;
    if (r->form == FORM_CSV)
        printf("%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%.0f,%.0f\n", level, p->blocks, p->threads,
               p->coalesced, moved, used);
    else if (r->form == FORM_VALUES)
        printf("%s_%" PRIu32 "x%" PRIu32 "_%" PRIu32 " %.3f\n", level, p->blocks, p->threads,
               p->coalesced, moved / GB);
    else
        printf("%-8s%8" PRIu32 "%10" PRIu32 "%12" PRIu32 "%16.1f%16.1f%16.2f\n", level, p->blocks,
               p->threads, p->coalesced, moved / GB, used / GB, moved / GB / p->blocks);
    (void)fflush(stdout);
}

/* ---- measuring ---- */

static wp_status measure_point(const request *r, wpi_bandwidth *b, const wpi_bandwidth_point *p,
                               wp_error *err) {
    wpi_bandwidth_rate rate;
    WP_TRY(wpi_bandwidth_measure(b, p, &rate, err));
    print_row(r, p, &rate);
    return WP_STATUS_OK;
}

/* In shared memory all lanes of a warp read neighbouring words. */
static wp_status measure_level(const request *r, wpi_bandwidth *b, wpi_memory_level level,
                               wp_error *err) {
    static const list all_lanes = {{32}, 1};
    const list *coalesced = level == WPI_LEVEL_SHARED ? &all_lanes : &r->coalesced;
    for (uint32_t c = 0; c < coalesced->count; c++)
        for (uint32_t k = 0; k < r->blocks.count; k++)
            for (uint32_t t = 0; t < r->threads.count; t++) {
                const wpi_bandwidth_point point = {.level = level,
                                                   .blocks = r->blocks.items[k],
                                                   .threads = r->threads.items[t],
                                                   .coalesced = coalesced->items[c]};
                WP_TRY(measure_point(r, b, &point, err));
            }
    return WP_STATUS_OK;
}

static wp_status measure(request *r, wp_error *err) {
    wp_device *device = NULL;
    wpi_bandwidth *b = NULL;
    WP_TRY(wp_device_open(r->spec, &device, err));
    const wp_device_info *info = wp_device_get_info(device);
    default_blocks(&r->blocks, info->sm_count);
    wp_status status = wpi_bandwidth_create(device, r->repeats, &b, err);
    if (status == WP_STATUS_OK) print_head(r, info);
    for (uint32_t l = 0; l < r->levels.count && status == WP_STATUS_OK; l++)
        status = measure_level(r, b, (wpi_memory_level)r->levels.items[l], err);
    wpi_bandwidth_destroy(b);
    wp_device_close(device);
    return status;
}

int wpi_probe_bandwidth_main(int argc, char **argv) {
    wpi_arguments arguments;
    request r;
    wp_error err = {0};
    if (wpi_arguments_parse(options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        parse_request(&arguments, &r, &err) != WP_STATUS_OK)
        return wpi_usage_error("probe", "%s", err.message);
    if (arguments.operand_count != 0)
        return wpi_usage_error("probe", "no operand is expected, got '%s'", arguments.operands[0]);
    const wp_status status = measure(&r, &err);
    const int code = wpi_finish("probe");
    return status == WP_STATUS_OK ? code : wpi_failure("probe", "%s", err.message);
}
