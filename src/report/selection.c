/* SPDX-License-Identifier: Apache-2.0 */
#include "report/selection.h"

#include <regex.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/param.h"
#include "base/text.h"
#include "base/units.h"

enum { KERNELS, LAUNCHES, WARMUP, REGION };

const wpi_param wpi_selection_params[] = {
    [KERNELS] = {"kernels", WP_UNIT_TEXT, "", 0, 0,
                 "report only kernels whose name matches this regular expression"},
    [LAUNCHES] =
        {"launches", WP_UNIT_TEXT, "", 0, 0,
         "report only these launches, as in 3-5, counted from 1 among those that kernels selects"},
    [WARMUP] =
        {"warmup", WP_UNIT_NUMBER, "0", 0, UINT64_MAX,
         "leave this number of launches out of the report, from the first that kernels selects"},
    [REGION] = {"region", WP_UNIT_FLAG, "off", 0, 1,
                "report only what runs between cudaProfilerStart and cudaProfilerStop"},
    {0}};

static struct {
    bool is_on, has_kernels, has_region;
    regex_t kernels;
    uint64_t first, last; /* numbers of launches, from 1 */
    uint64_t warmup;
    uint64_t count; /* launches that matched */
    _Atomic bool is_inside;
} selection = {.first = 1, .last = UINT64_MAX};

static wp_status compile(const char *text, regex_t *out, wp_error *err) {
    const int failure = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    if (failure == 0) return WP_STATUS_OK;
    char why[128];
    (void)regerror(failure, out, why, sizeof why);
    return WP_FAIL(err, INVALID, "'%s' is not a valid regular expression: %s", text, why);
}

wp_status wpi_selection_check_kernels(const char *text, wp_error *err) {
    regex_t expression;
    WP_TRY(compile(text, &expression, err));
    regfree(&expression);
    return WP_STATUS_OK;
}

/* "3-5", "7", "3-": to the end. */
static wp_status parse_range(const char *text, uint64_t *first, uint64_t *last, wp_error *err) {
    const char *dash = strchr(text, '-');
    char *from =
        wpi_format("%.*s", (int)(dash != NULL ? (size_t)(dash - text) : strlen(text)), text);
    *last = UINT64_MAX;
    wp_status status = wpi_parse_count(from, first, NULL);
    if (status == WP_STATUS_OK && dash == NULL) *last = *first;
    if (status == WP_STATUS_OK && dash != NULL && dash[1] != '\0')
        status = wpi_parse_count(dash + 1, last, NULL);
    wpi_free(from);
    if (status == WP_STATUS_OK && *first >= 1 && *first <= *last) return WP_STATUS_OK;
    return WP_FAIL(err, PARSE,
                   "'%s' is not a range of launches such as 3-5, 7 or 3-, numbered from 1", text);
}

wp_status wpi_selection_check_launches(const char *text, wp_error *err) {
    uint64_t first, last;
    return parse_range(text, &first, &last, err);
}

wp_status wpi_selection_start(wp_error *err) {
    wpi_param_value kernels, launches, warmup, region;
    WP_TRY(wpi_param_load(&wpi_selection_params[KERNELS], &kernels, err));
    WP_TRY(wpi_param_load(&wpi_selection_params[LAUNCHES], &launches, err));
    WP_TRY(wpi_param_load(&wpi_selection_params[WARMUP], &warmup, err));
    WP_TRY(wpi_param_load(&wpi_selection_params[REGION], &region, err));
    if (selection.has_kernels) regfree(&selection.kernels);
    memset(&selection, 0, sizeof selection);
    selection.first = 1;
    selection.last = UINT64_MAX;
    if (kernels.text[0] != '\0') WP_TRY(compile(kernels.text, &selection.kernels, err));
    selection.has_kernels = kernels.text[0] != '\0';
    if (launches.text[0] != '\0')
        WP_TRY(parse_range(launches.text, &selection.first, &selection.last, err));
    selection.warmup = warmup.number;
    selection.has_region = region.number != 0;
    selection.is_on = selection.has_kernels || launches.text[0] != '\0' || warmup.number != 0 ||
                      selection.has_region;
    return WP_STATUS_OK;
}

bool wpi_selection_is_on(void) {
    return selection.is_on;
}

bool wpi_selection_takes(const char *display_name) {
    if (!selection.is_on) return true;
    if (selection.has_region && !atomic_load(&selection.is_inside)) return false;
    if (selection.has_kernels && regexec(&selection.kernels, display_name, 0, NULL, 0) != 0)
        return false;
    const uint64_t number = ++selection.count;
    return number > selection.warmup && number >= selection.first && number <= selection.last;
}

bool wpi_selection_takes_others(void) {
    return !selection.has_region || atomic_load(&selection.is_inside);
}

void wpi_selection_set_region(bool is_inside) {
    atomic_store(&selection.is_inside, is_inside);
}

bool wpi_selection_has_region(void) {
    return selection.has_region;
}
