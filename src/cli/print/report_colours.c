/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/report_colours.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLD "1"
#define HOT "1;31"
#define WARM "33"
#define PLACE "36"

bool wpi_colours_are_on(int descriptor) {
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(descriptor) != 0 && (no == NULL || no[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0;
}

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* "       gather.cu:12  sum += …", beneath a finding */
static bool is_place(const char *line, size_t length) {
    const char *colon = memchr(line, ':', length);
    return begins_with(line, "       ") && length > 7 && line[7] != ' ' && colon != NULL &&
           isdigit((unsigned char)colon[1]) != 0;
}

/* "     12 #  99.6% TLB …", a row of --source: the character after the number of the line */
static char heat_of(const char *line, size_t length) {
    size_t i = strspn(line, " ");
    const size_t digits = strspn(line + i, "0123456789");
    i += digits;
    return digits != 0 && i + 1 < length && line[i] == ' ' ? line[i + 1] : ' ';
}

/* NULL: none. `in_verdict` lasts from the verdict's heading to the next blank line. */
static const char *colour_of(const char *line, size_t length, bool *in_verdict) {
    if (length == 0) *in_verdict = false;
    if (begins_with(line, "  what holds it back")) {
        *in_verdict = true;
        return BOLD;
    }
    if (begins_with(line, "  run of ") || begins_with(line, "  kernel ") ||
        begins_with(line, "  copy ") || begins_with(line, "  simulated  "))
        return BOLD;
    if (*in_verdict) return is_place(line, length) ? PLACE : NULL;
    switch (heat_of(line, length)) {
    case '#': return HOT;
    case '*': return WARM;
    default: return NULL;
    }
}

void wpi_report_colours(const char *report, wpi_text *out) {
    bool in_verdict = false;
    while (*report != '\0') {
        const size_t length = strcspn(report, "\n");
        const char *colour = colour_of(report, length, &in_verdict);
        const bool is_finding = in_verdict && colour == NULL && length > 5 &&
                                begins_with(report, "  ") && isdigit((unsigned char)report[2]) != 0;
        if (colour != NULL)
            wpi_text_appendf(out, "\033[%sm%.*s\033[0m", colour, (int)length, report);
        else if (is_finding) /* "  1." */
            wpi_text_appendf(out, "\033[" HOT "m%.4s\033[0m%.*s", report, (int)length - 4,
                             report + 4);
        else
            wpi_text_append_n(out, report, length);
        report += length;
        if (*report == '\n') {
            wpi_text_append(out, "\n");
            report++;
        }
    }
}
