/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files. All contents are checked: each error is a sentence with file and line. */
#include "probe/curves.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"

#define COLUMNS_MAX 64u
#define LINE_MAX 8192u
#define CYCLES_MAX 1e7
#define BYTES_MAX ((double)((uint64_t)1 << 50))

typedef struct reader {
    const char *path, *at;
    unsigned line;
    char separator;      /* between the columns of a curve; 0: not known yet */
    char text[LINE_MAX]; /* of the line */
} reader;

#define REFUSE(r, err, ...) refuse((r), (err), __VA_ARGS__)

static wp_status refuse(const reader *r, wp_error *err, const char *format, ...) WP_PRINTF(3, 4);
static wp_status refuse(const reader *r, wp_error *err, const char *format, ...) {
    char why[256];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return WP_FAIL(err, PARSE, "%.200s:%u: %s", r->path, r->line, why);
}

/* *is_line false: end of file. */
static wp_status next_line(reader *r, bool *is_line, wp_error *err) {
    *is_line = *r->at != '\0';
    if (!*is_line) return WP_STATUS_OK;
    r->line++;
    size_t length = strcspn(r->at, "\n");
    if (length >= LINE_MAX) return REFUSE(r, err, "the line is too long");
    memcpy(r->text, r->at, length);
    r->at += length + (r->at[length] == '\n');
    while (length > 0 && (r->text[length - 1] == '\r' || r->text[length - 1] == ' '))
        length--;
    r->text[length] = '\0';
    return WP_STATUS_OK;
}

/* A number from 0 on at *at, which advances past it. */
static bool read_number(const char **at, double most, double *out) {
    char *end = NULL;
    if (**at < '0' || **at > '9') return false;
    *out = strtod(*at, &end);
    if (end == *at || !isfinite(*out) || *out < 0 || *out > most) return false;
    *at = end;
    return true;
}

/* ---- curves ---- */

/* The length of the cell that begins at `at`, for messages. */
static int cell_length(const char *at) {
    const size_t length = strcspn(at, ",");
    return length < 40 ? (int)length : 40;
}

static size_t trim(const char **cell, size_t length) {
    static const char blanks[] = " \t";
    while (length > 0 && strchr(blanks, **cell) != NULL)
        (*cell)++, length--;
    while (length > 0 && strchr(blanks, (*cell)[length - 1]) != NULL)
        length--;
    if (length < 2 || (*cell)[0] != '"' || (*cell)[length - 1] != '"') return length;
    (*cell)++;
    return length - 2;
}

/* Cells end at commas afterwards, without blanks and quotes around them. The header has the
 * separator of all lines: it stands behind the cell "#". */
static wp_status tidy(reader *r, wp_error *err) {
    const char *first = r->text + strspn(r->text, "\" ");
    if (r->separator == '\0' && first[0] == '#') {
        const char *behind = first + 1 + strspn(first + 1, "\" ");
        if (*behind != '\0' && strchr(",;\t", *behind) != NULL) r->separator = *behind;
        if (r->separator == '\0') r->text[0] = '#'; /* a comment */
    }
    if (r->separator == '\0' || r->text[0] == '\0') return WP_STATUS_OK;
    if (r->separator != ',' && r->text[0] != '#' && strchr(r->text, ',') != NULL)
        return REFUSE(r, err, "a comma beside the separator '%s': write decimals with a point",
                      r->separator == '\t' ? "tab" : ";");
    char *to = r->text;
    for (const char *at = r->text;;) {
        const char *end = strchr(at, r->separator);
        const bool is_last = end == NULL;
        const char *cell = at;
        const size_t length = trim(&cell, is_last ? strlen(at) : (size_t)(end - at));
        memmove(to, cell, length);
        to += length;
        *to = is_last ? '\0' : ',';
        if (is_last) return WP_STATUS_OK;
        to++;
        at = end + 1;
    }
}

static wpi_curve *curve_of(wpi_curves *c, uint64_t stride) {
    size_t i = 0;
    while (i < c->curve_count && c->curves[i].stride_bytes < stride)
        i++;
    if (i < c->curve_count && c->curves[i].stride_bytes == stride) return &c->curves[i];
    wpi_curve *more = wpi_realloc(c->curves, (c->curve_count + 1) * sizeof *more);
    if (more == NULL) return NULL;
    c->curves = more;
    memmove(&more[i + 1], &more[i], (c->curve_count - i) * sizeof *more);
    more[i] = (wpi_curve){.stride_bytes = stride};
    c->curve_count++;
    return &more[i];
}

static bool add_point(wpi_curve *curve, wpi_curve_point point) {
    if (curve->count == curve->capacity) {
        const size_t capacity = curve->capacity == 0 ? 64 : 2 * curve->capacity;
        wpi_curve_point *more = wpi_realloc(curve->points, capacity * sizeof *more);
        if (more == NULL) return false;
        curve->points = more;
        curve->capacity = capacity;
    }
    curve->points[curve->count++] = point;
    return true;
}

/* "#,64,128,256,": strides in KB, ascending. */
static wp_status read_strides(const reader *r, uint64_t strides[COLUMNS_MAX], uint32_t *columns,
                              wp_error *err) {
    const char *at = r->text + 2;
    *columns = 0;
    while (*at != '\0') {
        const char *cell = at;
        double kb = 0;
        if (*columns == COLUMNS_MAX) return REFUSE(r, err, "more than %u strides", COLUMNS_MAX);
        if (!read_number(&at, BYTES_MAX / 1024, &kb) || kb * 1024 < 256)
            return REFUSE(r, err, "'%.*s' is not a stride in KB", cell_length(cell), cell);
        strides[*columns] = (uint64_t)(kb * 1024);
        if (*columns > 0 && strides[*columns] <= strides[*columns - 1])
            return REFUSE(r, err, "strides do not ascend: are columns swapped?");
        (*columns)++;
        if (*at == ',')
            at++;
        else if (*at != '\0')
            return REFUSE(r, err, "'%.*s' behind a stride: strides are numbers of KB",
                          cell_length(at), at);
    }
    return *columns > 0 ? WP_STATUS_OK : REFUSE(r, err, "no strides in the header");
}

static wp_status read_row(wpi_curves *c, const reader *r, const uint64_t *strides, uint32_t columns,
                          wp_error *err) {
    const char *at = r->text;
    double mb = 0;
    if (!read_number(&at, BYTES_MAX / 1048576, &mb) || *at != ',')
        return REFUSE(r, err, "'%.40s' is not a distance in MB and its cycles%s", r->text,
                      strpbrk(r->text, ";\t") == NULL ? "" : "; the header has commas");
    for (uint32_t i = 0; i < columns; i++) {
        double cycles = 0;
        if (*at++ != ',')
            return REFUSE(r, err, "%u of %u columns: is the file cut short?", i, columns);
        if (*at == ',' || (*at == '\0' && i + 1 == columns)) continue;
        if (*at == '\0')
            return REFUSE(r, err, "%u of %u columns: is the file cut short?", i, columns);
        const char *cell = at;
        if (!read_number(&at, CYCLES_MAX, &cycles) || cycles <= 0)
            return REFUSE(r, err, "'%.*s' is not a number of cycles", cell_length(cell), cell);
        wpi_curve *curve = curve_of(c, strides[i]);
        const wpi_curve_point point = {(uint64_t)(mb * 1048576), cycles};
        if (curve == NULL || !add_point(curve, point)) return WP_FAIL(err, NOMEM, "curves");
    }
    if (*at == ',') at++;
    if (*at != '\0') return REFUSE(r, err, "more than %u columns", columns);
    return WP_STATUS_OK;
}

static wp_status parse_curves(wpi_curves *c, reader *r, wp_error *err) {
    uint64_t strides[COLUMNS_MAX];
    uint32_t columns = 0, rows = 0;
    for (bool is_line = true;;) {
        WP_TRY(next_line(r, &is_line, err));
        if (!is_line) break;
        WP_TRY(tidy(r, err));
        if (strncmp(r->text, "#,", 2) == 0 && columns == 0)
            WP_TRY(read_strides(r, strides, &columns, err));
        else if (r->text[0] == '#' || r->text[0] == '\0')
            continue;
        else if (columns == 0)
            return REFUSE(r, err,
                          "no header of strides in KB such as '#,64,128,256,' before the rows");
        else {
            WP_TRY(read_row(c, r, strides, columns, err));
            rows++;
        }
    }
    if (r->line == 0) return WP_FAIL(err, PARSE, "%.200s: the file is empty", r->path);
    if (rows < 2) return REFUSE(r, err, "%u rows, but a curve needs at least 2", rows);
    return WP_STATUS_OK;
}

/* ---- sharing ---- */

static wp_status read_matrix_row(const reader *r, wpi_matrix *m, uint32_t row, wp_error *err) {
    const char *at = r->text;
    double number = 0;
    if (!read_number(&at, WPI_PROBE_SMS_MAX, &number) || (uint32_t)number != row)
        return REFUSE(r, err, "expected the row of SM %u", row);
    for (uint32_t i = 0; i < m->sm_count; i++) {
        at += strspn(at, " \t");
        if (!read_number(&at, CYCLES_MAX, &m->cycles[(size_t)row * m->sm_count + i]))
            return REFUSE(r, err, "%u of %u cycles: is the file cut short?", i, m->sm_count);
    }
    at += strspn(at, " \t");
    return *at == '\0' ? WP_STATUS_OK : REFUSE(r, err, "more than %u cycles", m->sm_count);
}

/* The number of SMs of a line "#   000 001 002". 0: another line. */
static uint32_t count_sms(const char *text) {
    const char *at = text + 1;
    uint32_t count = 0;
    double number = 0;
    while (at += strspn(at, " \t"), *at != '\0') {
        if (!read_number(&at, WPI_PROBE_SMS_MAX, &number) || (uint32_t)number != count) return 0;
        count++;
    }
    return count;
}

static wp_status parse_matrix(wpi_curves *c, reader *r, wpi_matrix m, wp_error *err) {
    uint32_t row = 0;
    wp_status status = WP_STATUS_OK;
    for (bool is_line = true; m.sm_count == 0 || row < m.sm_count;) {
        WP_TRY_GOTO(next_line(r, &is_line, err), done);
        if (!is_line) break;
        if (m.sm_count > 0) {
            WP_TRY_GOTO(read_matrix_row(r, &m, row, err), done);
            row++;
            continue;
        }
        if (r->text[0] == '#') m.sm_count = count_sms(r->text);
        if (m.sm_count > WPI_PROBE_SMS_MAX)
            WP_TRY_GOTO(REFUSE(r, err, "more than %u SMs", WPI_PROBE_SMS_MAX), done);
        if (m.sm_count == 0) continue;
        m.cycles = wpi_calloc((size_t)m.sm_count * m.sm_count, sizeof *m.cycles);
        if (m.cycles == NULL) return WP_FAIL(err, NOMEM, "sharing of %u SMs", m.sm_count);
    }
    if (m.sm_count == 0 || row < m.sm_count)
        WP_TRY_GOTO(REFUSE(r, err, "%u of %u rows of SMs: is the file cut short?", row, m.sm_count),
                    done);
    wpi_matrix *more = wpi_realloc(c->matrices, (c->matrix_count + 1) * sizeof *more);
    if (more == NULL) WP_TRY_GOTO(WP_FAIL(err, NOMEM, "sharing"), done);
    c->matrices = more;
    more[c->matrix_count++] = m;
    m.cycles = NULL;
done:
    wpi_free(m.cycles);
    return status;
}

/* ---- files ---- */

wp_status wpi_curves_parse(wpi_curves *c, const char *path, const char *text, wp_error *err) {
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) text += 3; /* a byte order mark */
    reader r = {.path = path, .at = text};
    const char *name = strrchr(path, '/');
    name = name == NULL ? path : name + 1;
    unsigned stride_kb = 0, pages = 0;
    int length = 0;
    if (strncmp(name, "TLBsharing", strlen("TLBsharing")) != 0) return parse_curves(c, &r, err);
    if (sscanf(name, "TLBsharing-%7u-%7u%n", &stride_kb, &pages, &length) != 2 || stride_kb == 0 ||
        pages == 0 || (name[length] != '\0' && name[length] != '.'))
        return WP_FAIL(err, PARSE,
                       "%s: the name must give stride and pages: TLBsharing-STRIDE_KB-PAGES.txt",
                       path);
    return parse_matrix(
        c, &r, (wpi_matrix){.stride_bytes = stride_kb * (uint64_t)1024, .pages = pages}, err);
}

static wp_status load(wpi_curves *c, const char *path, wp_error *err) {
    char *text = NULL;
    size_t size = 0;
    WP_TRY(wpi_file_read(path, &text, &size, err));
    const char *packed = strncmp(text, "\x1f\x8b", 2) == 0           ? "gunzip"
                         : strncmp(text, "\x28\xb5\x2f\xfd", 4) == 0 ? "unzstd"
                                                                     : NULL;
    wp_status status = WP_STATUS_OK;
    if (packed != NULL)
        status = WP_FAIL(err, PARSE, "%s: the file is packed; unpack it by %s", path, packed);
    else if (strlen(text) != size)
        status = WP_FAIL(err, PARSE, "%s: not a text file of curves", path);
    else
        status = wpi_curves_parse(c, path, text, err);
    wpi_free(text);
    return status;
}

wp_status wpi_curves_load(const char *const *paths, size_t count, wpi_curves **out, wp_error *err) {
    *out = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_curves *c = wpi_calloc(1, sizeof *c);
    if (c == NULL) return WP_FAIL(err, NOMEM, "curves");
    for (size_t i = 0; i < count; i++)
        WP_TRY_GOTO(load(c, paths[i], err), done);
    if (c->curve_count == 0)
        WP_TRY_GOTO(
            WP_FAIL(err, INVALID,
                    "the files contain no curves: levels cannot be inferred from sharing alone"),
            done);
    *out = c;
    c = NULL;
done:
    wpi_curves_destroy(c);
    return status;
}

void wpi_curves_destroy(wpi_curves *c) {
    if (c == NULL) return;
    for (size_t i = 0; i < c->curve_count; i++)
        wpi_free(c->curves[i].points);
    for (size_t i = 0; i < c->matrix_count; i++)
        wpi_free(c->matrices[i].cycles);
    wpi_free(c->curves);
    wpi_free(c->matrices);
    wpi_free(c);
}
