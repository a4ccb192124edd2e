/* SPDX-License-Identifier: Apache-2.0 */
/* The head is a Python literal: {'descr': '<i8', 'fortran_order': False, 'shape': (3,), } where
 * descr may also be a list of fields: [('user', '<i4'), ('fare', '<f8')]. */
#include "table_io/npy.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define HEAD_BYTES_MAX ((size_t)1 << 20)
#define FIELDS_MAX 4096
#define ROW_BYTES_MAX ((uint32_t)1 << 24)

typedef struct literal {
    const char *at, *name;
    wp_error *err;
} literal;

static wp_status fail_literal(const literal *l) {
    return WP_FAIL(l->err, PARSE, "%s: the .npy header is invalid at '%.20s'", l->name, l->at);
}

static void skip_space(literal *l) {
    l->at += strspn(l->at, " \t\r\n");
}

/* Steps over `c` if it is next. */
static bool take(literal *l, char c) {
    skip_space(l);
    if (*l->at != c) return false;
    l->at++;
    skip_space(l);
    return true;
}

static bool take_word(literal *l, const char *word) {
    skip_space(l);
    if (strncmp(l->at, word, strlen(word)) != 0) return false;
    l->at += strlen(word);
    return true;
}

/* A string without escapes. */
static wp_status take_string(literal *l, const char **text, size_t *length) {
    skip_space(l);
    *text = l->at;
    *length = 0;
    const char quote = *l->at;
    const char *end = quote == '\'' || quote == '"' ? strchr(l->at + 1, quote) : NULL;
    if (end == NULL) return fail_literal(l);
    *text = l->at + 1;
    *length = (size_t)(end - *text);
    l->at = end + 1;
    return WP_STATUS_OK;
}

static wp_status take_number(literal *l, uint64_t *out) {
    char *end;
    skip_space(l);
    *out = 0;
    if (*l->at < '0' || *l->at > '9') return fail_literal(l);
    *out = strtoull(l->at, &end, 10);
    l->at = end;
    (void)take_word(l, "L"); /* as Python 2 wrote it */
    return WP_STATUS_OK;
}

/* ---- types ---- */

static wp_status type_of(const literal *l, const char *text, size_t length, wp_type *type) {
    static const struct {
        const char *code;
        wp_type type;
    } known[] = {{"i1", WP_TYPE_INT8},    {"i2", WP_TYPE_INT16},  {"i4", WP_TYPE_INT32},
                 {"i8", WP_TYPE_INT64},   {"u1", WP_TYPE_UINT8},  {"u2", WP_TYPE_UINT16},
                 {"u4", WP_TYPE_UINT32},  {"u8", WP_TYPE_UINT64}, {"f4", WP_TYPE_FLOAT32},
                 {"f8", WP_TYPE_FLOAT64}, {"b1", WP_TYPE_UINT8}};
    for (size_t i = 0; length == 3 && i < sizeof known / sizeof known[0]; i++) {
        const bool is_byte = known[i].code[1] == '1';
        if (strncmp(text + 1, known[i].code, 2) != 0) continue;
        if (text[0] != '<' && text[0] != '=' && !(is_byte && (text[0] == '|' || text[0] == '>')))
            break;
        *type = known[i].type;
        return WP_STATUS_OK;
    }
    return WP_FAIL(l->err, UNSUPPORTED,
                   "%s: type '%.*s' is not supported; integers and floats must be little-endian",
                   l->name, (int)(length < 40 ? length : 40), text);
}

static wp_status add_field(const literal *l, wpi_npy_head *head, const char *name,
                           size_t name_length, wp_type type) {
    if (head->field_count == FIELDS_MAX)
        return WP_FAIL(l->err, UNSUPPORTED, "%s has more than %d columns", l->name, FIELDS_MAX);
    wpi_npy_field *fields =
        wpi_realloc(head->fields, (head->field_count + (size_t)1) * sizeof *fields);
    if (fields == NULL) return WP_FAIL(l->err, NOMEM, "columns of %s", l->name);
    head->fields = fields;
    wpi_npy_field *field = &fields[head->field_count];
    *field = (wpi_npy_field){.type = type, .offset_bytes = head->row_bytes};
    head->row_bytes += wp_type_bytes(type);
    head->field_count++;
    if (name != NULL) field->name = wpi_strndup(name, name_length);
    return name == NULL || field->name != NULL ? WP_STATUS_OK
                                               : WP_FAIL(l->err, NOMEM, "columns of %s", l->name);
}

static wp_status take_fields(literal *l, wpi_npy_head *head) {
    while (!take(l, ']')) {
        const char *name, *code;
        size_t name_length, code_length;
        wp_type type;
        if (!take(l, '(')) return fail_literal(l);
        WP_TRY(take_string(l, &name, &name_length));
        if (!take(l, ',')) return fail_literal(l);
        WP_TRY(take_string(l, &code, &code_length));
        WP_TRY(type_of(l, code, code_length, &type));
        if (take(l, ',') && *l->at != ')')
            return WP_FAIL(l->err, UNSUPPORTED,
                           "%s: field '%.*s' is an array; only fields with one value are supported",
                           l->name, (int)(name_length < 40 ? name_length : 40), name);
        if (!take(l, ')')) return fail_literal(l);
        WP_TRY(add_field(l, head, name, name_length, type));
        (void)take(l, ',');
    }
    return head->field_count != 0 ? WP_STATUS_OK : fail_literal(l);
}

static wp_status take_descr(literal *l, wpi_npy_head *head) {
    const char *code;
    size_t length;
    wp_type type;
    if (take(l, '[')) return take_fields(l, head);
    WP_TRY(take_string(l, &code, &length));
    WP_TRY(type_of(l, code, length, &type));
    return add_field(l, head, NULL, 0, type);
}

/* ---- shape ---- */

typedef struct shape {
    uint64_t sizes[2];
    uint32_t count;
    bool is_by_columns;
} shape;

static wp_status take_shape(literal *l, shape *out) {
    if (!take(l, '(')) return fail_literal(l);
    while (!take(l, ')')) {
        uint64_t size;
        WP_TRY(take_number(l, &size));
        if (out->count == 2)
            return WP_FAIL(l->err, UNSUPPORTED, "%s has more than two dimensions", l->name);
        out->sizes[out->count++] = size;
        if (!take(l, ',') && *l->at != ')') return fail_literal(l);
    }
    return WP_STATUS_OK;
}

static wp_status apply_shape(const literal *l, const shape *s, wpi_npy_head *head) {
    head->row_count = s->count > 0 ? s->sizes[0] : 1;
    if (s->count == 2) {
        if (head->fields[0].name != NULL)
            return WP_FAIL(l->err, UNSUPPORTED,
                           "%s has two dimensions of records; one is supported", l->name);
        if (s->is_by_columns && s->sizes[0] > 1 && s->sizes[1] > 1)
            return WP_FAIL(l->err, UNSUPPORTED,
                           "%s is stored in Fortran order; save it in C order, or each column in "
                           "a file of its own",
                           l->name);
        if (s->sizes[1] == 0 || s->sizes[1] > FIELDS_MAX)
            return WP_FAIL(l->err, UNSUPPORTED, "%s has %llu columns", l->name,
                           (unsigned long long)s->sizes[1]);
        for (uint64_t i = 1; i < s->sizes[1]; i++)
            WP_TRY(add_field(l, head, NULL, 0, head->fields[0].type));
    }
    return head->row_bytes <= ROW_BYTES_MAX ? WP_STATUS_OK : fail_literal(l);
}

/* ---- head ---- */

static wp_status take_head(literal *l, wpi_npy_head *head) {
    bool has_descr = false, has_shape = false;
    shape s = {0};
    if (!take(l, '{')) return fail_literal(l);
    while (!take(l, '}')) {
        const char *key;
        size_t length;
        WP_TRY(take_string(l, &key, &length));
        if (!take(l, ':')) return fail_literal(l);
        if (length == 5 && strncmp(key, "descr", 5) == 0 && !has_descr) {
            WP_TRY(take_descr(l, head));
            has_descr = true;
        } else if (length == 5 && strncmp(key, "shape", 5) == 0 && !has_shape) {
            WP_TRY(take_shape(l, &s));
            has_shape = true;
        } else if (length == 13 && strncmp(key, "fortran_order", 13) == 0) {
            s.is_by_columns = take_word(l, "True");
            if (!s.is_by_columns && !take_word(l, "False")) return fail_literal(l);
        } else {
            return fail_literal(l);
        }
        (void)take(l, ',');
    }
    if (!has_descr || !has_shape) return fail_literal(l);
    return apply_shape(l, &s, head);
}

static wp_status read_text(wpi_bytes *bytes, const char *name, char **text, wp_error *err) {
    unsigned char fixed[12];
    size_t got, size_bytes;
    WP_TRY(wpi_bytes_read(bytes, fixed, 10, &got, err));
    if (got < 10 || memcmp(fixed, WPI_NPY_MAGIC, 6) != 0)
        return WP_FAIL(err, PARSE, "%s is not a .npy file: its signature is missing", name);
    size_bytes = fixed[8] | (size_t)fixed[9] << 8;
    if (fixed[6] == 0 || fixed[6] > 3)
        return WP_FAIL(err, UNSUPPORTED, "%s has .npy version %d; versions 1 to 3 are supported",
                       name, fixed[6]);
    if (fixed[6] > 1) {
        WP_TRY(wpi_bytes_read(bytes, fixed + 10, 2, &got, err));
        if (got == 2) size_bytes |= (size_t)fixed[10] << 16 | (size_t)fixed[11] << 24;
    }
    if (size_bytes > HEAD_BYTES_MAX)
        return WP_FAIL(err, PARSE, "%s: the .npy header is invalid", name);
    *text = wpi_calloc(1, size_bytes + 1);
    if (*text == NULL) return WP_FAIL(err, NOMEM, "reading %s", name);
    WP_TRY(wpi_bytes_read(bytes, *text, size_bytes, &got, err));
    return got == size_bytes ? WP_STATUS_OK
                             : WP_FAIL(err, PARSE, "%s is truncated within its header", name);
}

wp_status wpi_npy_head_read(wpi_bytes *bytes, const char *name, wpi_npy_head *out, wp_error *err) {
    char *text = NULL;
    *out = (wpi_npy_head){0};
    wp_status status = read_text(bytes, name, &text, err);
    if (status == WP_STATUS_OK) {
        literal l = {.at = text, .name = name, .err = err};
        status = take_head(&l, out);
    }
    wpi_free(text);
    if (status != WP_STATUS_OK) wpi_npy_head_deinit(out);
    return status;
}

void wpi_npy_head_deinit(wpi_npy_head *head) {
    for (uint32_t i = 0; i < head->field_count; i++)
        wpi_free(head->fields[i].name);
    wpi_free(head->fields);
    *head = (wpi_npy_head){0};
}
