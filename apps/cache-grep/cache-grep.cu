/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grep: the lines of a text that match a pattern. A thread goes through the lines that begin in its
 * part of the text, a byte at a time. The pattern is in shared memory.
 *
 *     c   that byte          .   any byte          x*  any number of x, also none
 *     ^   the line's start   $   the line's end
 *
 * Matching goes back to the last `*` that can take a byte more. Where those are is on a stack: a
 * kernel that calls itself would not be inlined, and so not be cached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/letters.h"
#include "common/report.h"

typedef unsigned long long count64;

enum { PATTERN_BYTES = 64, STARS = 8 };

typedef struct pattern {
    char text[PATTERN_BYTES];
    unsigned length;
} pattern;

typedef struct star {
    unsigned at; /* in the pattern */
    size_t text;
} star;

static __device__ __forceinline__ bool takes(char of, char c) {
    return of == '.' || of == c;
}

/* Whether the pattern from `p` on matches at text[i], in the line that ends at the next '\n'. */
static __device__ __forceinline__ bool matches_at(const char *text, size_t bytes, size_t i,
                                                  const char *pattern, unsigned length,
                                                  unsigned p) {
    star stars[STARS];
    unsigned depth = 0;
    for (;;) {
        if (p == length) {
            return true;
        }
        const char c = i < bytes ? text[i] : '\n';
        bool goes_on = false;
        if (p + 1 < length && pattern[p + 1] == '*') {
            stars[depth].at = p;
            stars[depth].text = i;
            depth++;
            p += 2;
            goes_on = true;
        } else if (pattern[p] == '$' && p + 1 == length) {
            p += c == '\n';
            goes_on = c == '\n';
        } else if (c != '\n' && takes(pattern[p], c)) {
            p++;
            i++;
            goes_on = true;
        }
        while (!goes_on) { /* the last star takes one more */
            if (depth == 0) {
                return false;
            }
            star *last = &stars[depth - 1];
            const char more = last->text < bytes ? text[last->text] : '\n';
            if (more != '\n' && takes(pattern[last->at], more)) {
                last->text++;
                i = last->text;
                p = last->at + 2;
                goes_on = true;
            } else {
                depth--;
            }
        }
    }
}

__global__ void grep_lines(const char *text, size_t bytes, size_t share, const pattern wanted,
                           count64 *found, count64 *count) {
    __shared__ char pattern[PATTERN_BYTES];
    for (unsigned i = threadIdx.x; i < wanted.length; i += blockDim.x) {
        pattern[i] = wanted.text[i];
    }
    __syncthreads();
    const bool is_anchored = wanted.length != 0 && pattern[0] == '^';
    const size_t first = app_thread() * share;
    const size_t outer = first + share < bytes ? first + share : bytes;
    if (first >= bytes) {
        return;
    }
    size_t line = first;
    bool is_known = first != 0 && text[first - 1] != '\n'; /* the line is another thread's */
    for (size_t i = first; line < outer && i < bytes; i++) {
        if (!is_known && (i == line || !is_anchored) &&
            matches_at(text, bytes, i, pattern, wanted.length, is_anchored)) {
            found[atomicAdd(count, 1ull)] = line;
            is_known = true;
        }
        if (text[i] == '\n') {
            line = i + 1;
            is_known = false;
        }
    }
}

/* ---- the check ---- */

static bool serial_here(const char *text, const char *end, const char *p) {
    if (*p == '\0') {
        return true;
    }
    if (p[1] == '*') {
        for (;; text++) {
            if (serial_here(text, end, p + 2)) {
                return true;
            }
            if (text == end || (*p != '.' && *p != *text)) {
                return false;
            }
        }
    }
    if (*p == '$' && p[1] == '\0') {
        return text == end;
    }
    return text != end && (*p == '.' || *p == *text) && serial_here(text + 1, end, p + 1);
}

static bool serial_line(const char *line, const char *end, const char *p) {
    if (*p == '^') {
        return serial_here(line, end, p + 1);
    }
    for (const char *at = line; at <= end; at++) {
        /* As in the kernel, an empty match at the end is found where the line has a byte. */
        if (serial_here(at, end, p)) {
            return true;
        }
    }
    return false;
}

static bool check(const char *text, size_t bytes, const char *p, const count64 *found,
                  count64 count) {
    count64 expected = 0, different = 0;
    for (size_t line = 0; line < bytes;) {
        const char *newline = (const char *)memchr(text + line, '\n', bytes - line);
        const char *end = newline != NULL ? newline : text + bytes;
        if (serial_line(text + line, end, p)) {
            different += expected >= count || found[expected] != line;
            expected++;
        }
        line = (size_t)(end - text) + 1;
    }
    different += expected < count ? count - expected : 0;
    printf("check      %s lines against a serial search: %s\n", app_count(expected),
           different == 0 ? "equal" : "DIFFERENT");
    return different == 0;
}

static int by_place(const void *a, const void *b) {
    const count64 x = *(const count64 *)a, y = *(const count64 *)b;
    return (x > y) - (x < y);
}

/* Ends the program if the kernel cannot take it. */
static pattern read_pattern(const char *text) {
    pattern made = {};
    unsigned stars = 0;
    for (const char *p = text; *p != '\0'; p++) {
        stars += *p == '*';
    }
    if (strlen(text) > PATTERN_BYTES || stars > STARS || *text == '*' || *text == '\0' ||
        strstr(text, "**") != NULL) {
        app_fail_usage(
            "--pattern takes 1 to %d bytes, and at most %d stars that follow a byte each",
            PATTERN_BYTES, STARS);
    }
    made.length = (unsigned)strlen(text);
    memcpy(made.text, text, made.length);
    return made;
}

int main(int argc, char **argv) {
    const app_program program = {"cache-grep", "the lines of a text that match a pattern",
                                 "bytes of the generated text", "any file (also .zst)",
                                 "cache-grep --size 8MiB --pattern 'the.*sea' --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_letters_options how = APP_LETTERS_OPTIONS_DEFAULT;
    const char *wanted_text = "s.*ing*";
    const app_option options[] = {APP_LETTERS_LAUNCH(how),
                                  {"--pattern", APP_OPTION_TEXT, &wanted_text, "PATTERN", 0, 0,
                                   "bytes, '.', 'x*', and '^' and '$' at the ends"},
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_letters l;
    app_array found, count;
    app_letters_open(&l, argc, argv, &program, &common, &how, options);
    const pattern wanted = read_pattern(wanted_text);
    size_t lines = 1;
    for (size_t i = 0; i < l.bytes; i++) {
        lines += l.loaded[i] == '\n';
    }
    app_array_create(&l.device, &found, lines, sizeof(count64), "lines", APP_ROLE_STATE);
    app_array_create(&l.device, &count, 1, sizeof(count64), "count", APP_ROLE_STATE);
    app_array_fill(&l.device, &count, 0);

    app_kernels_begin(&l.device);
    grep_lines<<<l.blocks, l.threads>>>((const char *)l.text.device, l.bytes, l.share, wanted,
                                        (count64 *)found.device, (count64 *)count.device);
    app_kernels_end(&l.device, "grep", 1);
    app_array_to_host(&l.device, &found);
    app_array_to_host(&l.device, &count);

    const count64 matches = *(const count64 *)count.host;
    count64 *place = (count64 *)found.host;
    qsort(place, matches, sizeof *place, by_place);
    printf("text       %s bytes, %s lines, %s match %s\n", app_count(l.bytes), app_count(lines - 1),
           app_count(matches), wanted_text);
    for (count64 i = 0; i < matches && i < 3; i++) {
        const char *line = l.loaded + place[i];
        printf("%12s  %.*s\n", app_count(place[i]), (int)strcspn(line, "\r\n"), line);
    }
    app_device_report(&l.device, (double)l.bytes, "B");
    const bool is_right = !common.check || check(l.loaded, l.bytes, wanted_text, place, matches);
    app_array_free(&l.device, &found);
    app_array_free(&l.device, &count);
    app_letters_close(&l);
    return is_right ? 0 : 1;
}
