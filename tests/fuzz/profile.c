/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever text a profile is: it loads, or the reader says what is wrong in one sentence.
 *
 * With -DWP_FUZZ (clang -fsanitize=fuzzer) a libFuzzer target; otherwise a driver that tries the
 * files named, and for each of them cut at every seventh byte and with every line replaced by
 * damaged ones; after --every N with every N-th of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "sim/profile/profile.h"

static void try_text(const char *text) {
    wp_error err = {0};
    wpi_profile *profile = NULL;
    const wp_status status = wpi_profile_parse(text, "fuzz.ini", NULL, 0, &profile, &err);
    const bool is_silent = err.message[0] == '\0' || strchr(err.message, '\n') != NULL;
    if ((status == WP_STATUS_OK) != (profile != NULL) || (status != WP_STATUS_OK && is_silent)) {
        (void)fprintf(stderr, "status %d, message '%s' for:\n%s\n", (int)status, err.message, text);
        abort();
    }
    wpi_profile_destroy(profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = wpi_strndup((const char *)data, size);
    if (text != NULL) try_text(text);
    wpi_free(text);
    return 0;
}

#ifndef WP_FUZZ
#include "every.h"

/* A file's text with the bytes [first, outer) replaced. */
static void try_replaced(const char *text, size_t first, size_t outer, const char *by) {
    const size_t length = strlen(text), by_length = strlen(by);
    char *changed = wpi_malloc(length + by_length + 1);
    if (changed == NULL) return;
    memcpy(changed, text, first);
    memcpy(changed + first, by, by_length);
    memcpy(changed + first + by_length, text + outer, length - outer + 1);
    try_text(changed);
    wpi_free(changed);
}

static void try_file(const char *text) {
    static const char *const damage[] = {"",
                                         "[",
                                         "]",
                                         "=",
                                         "= 1",
                                         "[tlb.l9]",
                                         "a.b.c=",
                                         "\xff\xfe",
                                         "  x",
                                         "bytes = -1",
                                         "latency = 99999999999999999999cycles",
                                         "bytes = 0",
                                         "source",
                                         "core_clock = 0Hz",
                                         "ways = 4294967296",
                                         "sets = 4096x9999999",
                                         "sms = 0",
                                         "base = ../k80"};
    try_text(text);
    for (size_t at = 0; at < strlen(text); at += 7 * every)
        try_replaced(text, at, strlen(text), "");
    size_t number = 0;
    for (const char *line = text; *line != '\0';) {
        const size_t first = (size_t)(line - text), length = strcspn(line, "\n");
        for (size_t i = number; i < sizeof damage / sizeof damage[0]; i += every)
            try_replaced(text, first, first + length, damage[i]);
        const char *equals = memchr(line, '=', length);
        if (equals != NULL)
            for (size_t i = number; i < sizeof damage / sizeof damage[0]; i += every)
                try_replaced(text, (size_t)(equals - text) + 1, first + length, damage[i]);
        number = (number + 1) % every;
        line += length + (line[length] == '\n');
    }
}

int main(int argc, char **argv) {
    for (int i = read_every(argc, argv); i < argc; i++) {
        wp_error err = {0};
        char *text = NULL;
        size_t size_bytes = 0;
        if (wpi_file_read(argv[i], &text, &size_bytes, &err) != WP_STATUS_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        try_file(text);
        wpi_free(text);
    }
    return argc > 1 ? 0 : 2;
}

#endif
