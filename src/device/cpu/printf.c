/* SPDX-License-Identifier: Apache-2.0 */
/**
 * printf of kernels. The compiler packs the arguments as CUDA does: each at the next multiple of
 * its own size, 4 bytes for int and what promotes to it, 8 for long, pointers and double (a long
 * double is a double on the device). The text is buffered until the host waits for the device, or
 * until the buffer is full; unlike on a GPU none of it is lost.
 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "device/cpu/cpu.h"

struct wpi_output {
    pthread_mutex_t lock;
    wpi_text text;
    size_t capacity_bytes;
};

wp_status wpi_output_create(wpi_output **out, wp_error *err) {
    wpi_output *output = wpi_calloc(1, sizeof *output);
    if (output == NULL) return WP_FAIL(err, NOMEM, "cpu device: output buffer");
    pthread_mutex_init(&output->lock, NULL);
    output->capacity_bytes = WPI_PRINTF_BYTES_DEFAULT;
    *out = output;
    return WP_STATUS_OK;
}

void wpi_output_destroy(wpi_output *output) {
    if (output == NULL) return;
    wpi_text_deinit(&output->text);
    pthread_mutex_destroy(&output->lock);
    wpi_free(output);
}

void wpi_output_set_capacity(wpi_output *output, size_t capacity_bytes) {
    pthread_mutex_lock(&output->lock);
    output->capacity_bytes = capacity_bytes;
    pthread_mutex_unlock(&output->lock);
}

size_t wpi_output_capacity(wpi_output *output) {
    pthread_mutex_lock(&output->lock);
    const size_t capacity_bytes = output->capacity_bytes;
    pthread_mutex_unlock(&output->lock);
    return capacity_bytes;
}

/* Called with the lock held, which keeps the order. */
static void write_out(wpi_output *output) {
    if (output->text.length == 0) return;
    fwrite(output->text.data, 1, output->text.length, stdout);
    output->text.length = 0;
}

void wpi_output_append(wpi_output *output, const char *data, size_t size_bytes) {
    pthread_mutex_lock(&output->lock);
    wpi_text_append_n(&output->text, data, size_bytes);
    if (output->text.length >= output->capacity_bytes) write_out(output);
    pthread_mutex_unlock(&output->lock);
}

void wpi_output_flush(wpi_output *output) {
    pthread_mutex_lock(&output->lock);
    write_out(output);
    pthread_mutex_unlock(&output->lock);
}

/* ---- formatting ---- */

/* The packed arguments, read in order. */
typedef struct reader {
    const char *base;
    size_t offset_bytes;
    int count;
} reader;

static void take(reader *r, void *value, size_t size_bytes) {
    r->offset_bytes = (r->offset_bytes + size_bytes - 1) / size_bytes * size_bytes;
    memcpy(value, r->base + r->offset_bytes, size_bytes);
    r->offset_bytes += size_bytes;
    r->count++;
}

/* One conversion, "%…x", rebuilt for the host's printf. */
typedef struct conversion {
    char spec[64];
    size_t length;
    bool is_long; /* l, ll, j, z, t, or L: 8 bytes */
    char letter;
} conversion;

static void put(conversion *c, char character) {
    if (c->length + 4 < sizeof c->spec) c->spec[c->length++] = character;
}

/* Reads a number; '*' is replaced by its argument, so that the host's printf needs a single
 * argument. */
static const char *read_number(conversion *c, const char *p, reader *args) {
    if (*p != '*') {
        while (*p >= '0' && *p <= '9')
            put(c, *p++);
        return p;
    }
    int32_t value;
    char digits[16];
    take(args, &value, sizeof value);
    snprintf(digits, sizeof digits, "%d", (int)value);
    for (const char *d = digits; *d != '\0'; d++)
        put(c, *d);
    return p + 1;
}

/* Reads the conversion after '%'. Returns the text that follows; letter 0: none. */
static const char *read_conversion(const char *p, conversion *c, reader *args) {
    *c = (conversion){.spec = "%", .length = 1};
    while (*p != '\0' && strchr("-+ #0", *p) != NULL)
        put(c, *p++);
    p = read_number(c, p, args);
    if (*p == '.') {
        put(c, *p++);
        p = read_number(c, p, args);
    }
    char size[3] = "";
    size_t size_length = 0;
    while (*p != '\0' && strchr("hljztL", *p) != NULL) {
        if (*p != 'h') c->is_long = true;
        if (size_length < 2) size[size_length++] = *p;
        p++;
    }
    c->letter = *p;
    if (size[0] == 'h') { /* the value was promoted to int; the host's printf narrows it again */
        put(c, 'h');
        if (size[1] == 'h') put(c, 'h');
    } else if (c->is_long && *p != '\0' && strchr("dioxXu", *p) != NULL) {
        put(c, 'l');
        put(c, 'l');
    }
    put(c, *p);
    c->spec[c->length] = '\0';
    return *p != '\0' ? p + 1 : p;
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the formats are the user's */
#endif
static void convert(wpi_text *out, const conversion *c, reader *args) {
    switch (c->letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        if (c->is_long) {
            long long value;
            take(args, &value, sizeof value);
            wpi_text_appendf(out, c->spec, value);
            break;
        } /* fall through */
    case 'c': {
        int value;
        take(args, &value, sizeof value);
        wpi_text_appendf(out, c->spec, value);
        break;
    }
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        double value;
        take(args, &value, sizeof value);
        wpi_text_appendf(out, c->spec, value);
        break;
    }
    case 's': {
        const char *value;
        take(args, &value, sizeof value);
        wpi_text_appendf(out, c->spec, value != NULL ? value : "(null)");
        break;
    }
    case 'p': {
        void *value;
        take(args, &value, sizeof value);
        wpi_text_appendf(out, c->spec, value);
        break;
    }
    default: wpi_text_append_n(out, c->spec, c->length); break; /* unknown: as written */
    }
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

int wpi_printf_format(wpi_text *out, const char *format, const void *packed) {
    if (format == NULL) return -1;
    reader args = {.base = packed};
    for (const char *p = format; *p != '\0';) {
        const char *percent = strchr(p, '%');
        const size_t plain = percent != NULL ? (size_t)(percent - p) : strlen(p);
        wpi_text_append_n(out, p, plain);
        if (percent == NULL) break;
        p = percent + 1;
        if (*p == '%') {
            wpi_text_append_n(out, "%", 1);
            p++;
            continue;
        }
        conversion c;
        p = read_conversion(p, &c, &args);
        convert(out, &c, &args);
    }
    return args.count;
}
