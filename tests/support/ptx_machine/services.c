/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that the driver provides: vprintf, __assertfail, malloc, free. */
#include <stdarg.h>

#include "parser.h"

/* ---- arguments and results, in the caller's local frame ---- */

static uint64_t argument(pm_warp *w, const pm_insn *in, unsigned lane, unsigned number,
                         size_t bytes) {
    uint64_t value = 0;
    const uint8_t *local = w->local + lane * w->grid->local_bytes + w->local_frames[lane];
    memcpy(&value, local + in->u.call->arg_offsets[number], bytes);
    return value;
}

static void give_result(pm_warp *w, const pm_insn *in, unsigned lane, uint64_t value,
                        size_t bytes) {
    uint8_t *local = w->local + lane * w->grid->local_bytes + w->local_frames[lane];
    memcpy(local + in->u.call->result_offset, &value, bytes);
}

/* The text at a generic address, up to its end; NULL: it has none, the launch has ended. */
static const char *text_at(pm_warp *w, const pm_insn *in, unsigned lane, uint64_t address) {
    for (uint64_t at = address;; at++) {
        const char *c = pm_memory(w, in, lane, PM_GENERIC, at, 1);
        if (c == NULL) return NULL;
        if (*c == '\0') return c - (at - address);
    }
}

/* ---- vprintf ---- */

typedef struct output {
    char text[4096];
    size_t bytes;
} output;

__attribute__((format(printf, 2, 3))) static void append(output *o, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(o->text + o->bytes, sizeof o->text - o->bytes, format, args);
    va_end(args);
    if (length > 0) o->bytes += (size_t)length;
    if (o->bytes >= sizeof o->text) o->bytes = sizeof o->text - 1;
}

typedef struct conversion {
    char spec[40]; /* "%-5.3l" and then the letter */
    size_t length; /* in the format */
    int stars[2];
    unsigned star_count;
    bool is_long;
    char letter;
} conversion;

/* %[flags][width][.precision][size]letter */
static conversion parse_conversion(const char *at) {
    conversion c = {.length = 1};
    char kept[32];
    size_t count = 0;
    for (const char *p = at + 1; *p != '\0'; p++) {
        c.length++;
        if (strchr("hlLqjzt", *p) != NULL) {
            if (strchr("lLqjzt", *p) != NULL) c.is_long = true;
            continue;
        }
        if (*p == '*' && c.star_count < 2) c.star_count++;
        if (strchr("-+ #0123456789.*", *p) == NULL) {
            c.letter = *p;
            break;
        }
        if (count + 1 < sizeof kept) kept[count++] = *p;
    }
    (void)snprintf(c.spec, sizeof c.spec, "%%%.*s", (int)count, kept);
    return c;
}

/* The next of the packed arguments: each at a multiple of its size. */
static bool next_argument(pm_warp *w, const pm_insn *in, unsigned lane, uint64_t *at, size_t bytes,
                          uint64_t *out) {
    *at = (*at + bytes - 1) / bytes * bytes;
    const void *from = pm_memory(w, in, lane, PM_GENERIC, *at, bytes);
    *out = 0;
    if (from == NULL) return false;
    memcpy(out, from, bytes);
    *at += bytes;
    return true;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#define APPEND_AS(value)                                                                           \
    (c->star_count == 0   ? append(o, spec, value)                                                 \
     : c->star_count == 1 ? append(o, spec, c->stars[0], value)                                    \
                          : append(o, spec, c->stars[0], c->stars[1], value))
static void append_number(output *o, conversion *c, uint64_t bits) {
    char spec[48];
    double real;
    memcpy(&real, &bits, sizeof real);
    const bool is_real = strchr("aAeEfFgG", c->letter) != NULL;
    (void)snprintf(spec, sizeof spec, "%s%s%c", c->spec, !is_real && c->is_long ? "ll" : "",
                   c->letter);
    if (is_real)
        APPEND_AS(real);
    else if (c->is_long)
        APPEND_AS((long long)bits);
    else
        APPEND_AS((int)bits);
}
static void append_text(output *o, conversion *c, const char *text) {
    char spec[48];
    (void)snprintf(spec, sizeof spec, "%ss", c->spec);
    APPEND_AS(text);
}
static void append_pointer(output *o, conversion *c, uint64_t bits) {
    char spec[48];
    (void)snprintf(spec, sizeof spec, "%sp", c->spec);
    APPEND_AS((void *)(uintptr_t)bits);
}
#pragma GCC diagnostic pop

static bool convert(pm_warp *w, const pm_insn *in, unsigned lane, conversion *c, uint64_t *args,
                    output *o) {
    uint64_t value;
    for (unsigned i = 0; i < c->star_count; i++) {
        if (!next_argument(w, in, lane, args, 4, &value)) return false;
        c->stars[i] = (int)value;
    }
    if (c->letter == '%') {
        append(o, "%%");
        return true;
    }
    const bool is_wide = c->is_long || strchr("aAeEfFgGsp", c->letter) != NULL;
    if (!next_argument(w, in, lane, args, is_wide ? 8 : 4, &value)) return false;
    if (c->letter == 's') {
        const char *text = text_at(w, in, lane, value);
        if (text == NULL) return false;
        append_text(o, c, text);
    } else if (c->letter == 'p') {
        append_pointer(o, c, value);
    } else if (strchr("diouxXcaAeEfFgG", c->letter) != NULL) {
        append_number(o, c, value);
    } else {
        append(o, "%.*s", (int)c->length, "?");
    }
    return true;
}

static void print_lane(pm_warp *w, const pm_insn *in, unsigned lane) {
    const char *format = text_at(w, in, lane, argument(w, in, lane, 0, 8));
    uint64_t args = argument(w, in, lane, 1, 8);
    static output o;
    o.bytes = 0;
    int count = 0;
    while (format != NULL && *format != '\0') {
        if (*format != '%') {
            const size_t plain = strcspn(format, "%");
            append(&o, "%.*s", (int)plain, format);
            format += plain;
            continue;
        }
        conversion c = parse_conversion(format);
        if (!convert(w, in, lane, &c, &args, &o)) return;
        count += c.letter != '%';
        format += c.length;
    }
    w->grid->launch->services->print(w->grid->launch->context, o.text, o.bytes);
    give_result(w, in, lane, (uint64_t)count, 4);
}

static void run_vprintf(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        print_lane(w, in, l);
        if (w->grid->result != PM_OK) return;
    }
}

/* ---- __assertfail(message, file, line, function, size of a character) ---- */

static void run_assertfail(pm_warp *w, const pm_insn *in) {
    const uint32_t *block = w->block->ctaid;
    const unsigned *shape = w->grid->launch->block;
    PM_EACH_LANE(w, l) {
        const char *texts[3];
        const unsigned numbers[] = {0, 1, 3};
        for (unsigned i = 0; i < 3; i++) {
            texts[i] = text_at(w, in, l, argument(w, in, l, numbers[i], 8));
            if (texts[i] == NULL) return;
        }
        const unsigned thread = w->number * PM_LANES + l;
        (void)fprintf(stderr,
                      "%s:%d: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                      texts[1], (int)argument(w, in, l, 2, 4), texts[2], block[0], block[1],
                      block[2], thread % shape[0], thread / shape[0] % shape[1],
                      thread / shape[0] / shape[1], texts[0]);
    }
    pm_fault(w, in, (unsigned)__builtin_ctz(w->mask), PM_ASSERT, "an assertion failed");
}

/* ---- malloc, free ---- */

static void run_malloc(pm_warp *w, const pm_insn *in) {
    const pm_launch *launch = w->grid->launch;
    PM_EACH_LANE(w, l) {
        void *memory = launch->services->heap_alloc(launch->context, argument(w, in, l, 0, 8));
        give_result(w, in, l, (uint64_t)(uintptr_t)memory, 8);
    }
}

static void run_free(pm_warp *w, const pm_insn *in) {
    const pm_launch *launch = w->grid->launch;
    PM_EACH_LANE(w, l) {
        launch->services->heap_free(launch->context, (void *)(uintptr_t)argument(w, in, l, 0, 8));
    }
}

pm_handler pm_native_find(const char *name) {
    static const struct {
        const char *name;
        pm_handler run;
    } rows[] = {{"vprintf", run_vprintf},
                {"__assertfail", run_assertfail},
                {"malloc", run_malloc},
                {"free", run_free}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, name) == 0) return rows[i].run;
    return NULL;
}
