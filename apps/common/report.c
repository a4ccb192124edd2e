/* SPDX-License-Identifier: Apache-2.0 */
/* Messages, readable numbers and bars. */
#include "common/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *program_name = "app";
static struct timespec start_time;

void app_start(const char *program) {
    program_name = program;
    clock_gettime(CLOCK_MONOTONIC, &start_time);
}

double app_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start_time.tv_sec) +
           1e-9 * (double)(now.tv_nsec - start_time.tv_nsec);
}

void app_fail(const char *format, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void app_fail_usage(const char *format, ...) {
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s: ", program_name);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (see %s --help)\n", program_name);
    exit(2);
}

void app_value(const char *name, double value) {
    const char *path = getenv("WARPAGE_VALUES");
    FILE *file = path != NULL && path[0] != '\0' ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%s %.17g\n", name, value);
    }
    if (path != NULL && path[0] != '\0' && (file == NULL || fclose(file) != 0)) {
        app_fail("cannot write values to %s", path);
    }
}

void *app_reallocate(void *memory, size_t count, size_t item_bytes, const char *what) {
    if (item_bytes != 0 && count > SIZE_MAX / item_bytes) {
        app_fail("%s: %s items of %zu bytes are more than memory can hold; use a smaller --size",
                 what, app_count(count), item_bytes);
    }
    size_t size_bytes = count * item_bytes;
    void *result = realloc(memory, size_bytes != 0 ? size_bytes : 1);
    if (result == NULL) {
        app_fail("%s: no host memory left for %s; use a smaller --size or input", what,
                 app_bytes(size_bytes));
    }
    return result;
}

void *app_allocate(size_t count, size_t item_bytes, const char *what) {
    return app_reallocate(NULL, count, item_bytes, what);
}

static char *next_buffer(void) {
    static char buffers[16][48];
    static unsigned turn;
    return buffers[turn++ % 16u];
}

const char *app_count(uint64_t value) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    char *text = next_buffer();
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

const char *app_bytes(uint64_t bytes) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1024.0;
        unit++;
    }
    char *text = next_buffer();
    snprintf(text, 48, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return text;
}

const char *app_time(double seconds) {
    char *text = next_buffer();
    if (seconds < 1e-3) {
        snprintf(text, 48, "%.1f us", seconds * 1e6);
    } else if (seconds < 1.0) {
        snprintf(text, 48, "%.2f ms", seconds * 1e3);
    } else {
        snprintf(text, 48, "%.2f s", seconds);
    }
    return text;
}

const char *app_rate(double count, double seconds, const char *unit) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    double value = seconds > 0.0 ? count / seconds : 0.0;
    size_t prefix = 0;
    while (value >= 1000.0 && prefix + 1 < sizeof prefixes / sizeof prefixes[0]) {
        value /= 1000.0;
        prefix++;
    }
    char *text = next_buffer();
    const char *space = strcmp(unit, "B") != 0 && prefix != 0 ? " " : ""; /* GB/s, M edges/s */
    snprintf(text, 48, "%.1f %s%s%s/s", value, prefixes[prefix], space, unit);
    return text;
}

void app_bar(FILE *out, double fraction, int width) {
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    if (!(fraction > 0.0)) {
        return;
    }
    int units = (int)(fraction * 8.0 * width + 0.5);
    if (units < 1) {
        units = 1;
    }
    if (units > 8 * width) {
        units = 8 * width;
    }
    for (int i = 0; i < units / 8; i++) {
        fputs("\u2588", out);
    }
    fputs(eighths[units % 8], out);
}
