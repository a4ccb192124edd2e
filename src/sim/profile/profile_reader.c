/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profile files: sections, keys and their sources, as texts (profile_text.h). A base is read
 * where it is named, so that later keys override it. */
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/profile/profile_files.h"
#include "sim/profile/profile_text.h"

#define BASES_MAX 4u

/* A file being read. */
typedef struct reading {
    wpi_profile *profile;
    const char *file;
    const char *rest; /* of its text */
    uint32_t line;
    uint32_t depth; /* of files that are based on this one */
    uint32_t keys;  /* read so far */
    bool is_overlay;
    char section[WPI_KEY_NAME_MAX];
    char *section_source;
    wp_status status;
    wp_error *err;
} reading;

/* A file to be read, and its kind. */
typedef struct wanted_file {
    const char *path;
    uint32_t depth;
    bool is_overlay;
} wanted_file;

static wp_status read_wanted(wpi_profile *profile, wanted_file wanted, wp_error *err);

static wp_status fail_at(reading *r, wp_status status, const char *format, ...) WP_PRINTF(3, 4);

/* Records the file's first error. */
static wp_status fail_at(reading *r, wp_status status, const char *format, ...) {
    if (r->status != WP_STATUS_OK) return r->status;
    wpi_text text = {0};
    va_list args;
    va_start(args, format);
    wpi_text_vappendf(&text, format, args);
    va_end(args);
    r->status = wpi_fail(r->err, status, __FILE__, __LINE__, "%s:%u: %s", r->file, r->line,
                         wpi_text_string(&text));
    wpi_text_deinit(&text);
    return r->status;
}

static wp_status read_base(reading *r, const char *name) {
    if (r->is_overlay) return fail_at(r, WP_STATUS_INVALID, "an overlay has no base");
    if (r->keys > 0) return fail_at(r, WP_STATUS_INVALID, "base must be the first key of the file");
    if (r->depth >= BASES_MAX)
        return fail_at(r, WP_STATUS_INVALID, "more than %u profiles are based on each other",
                       BASES_MAX);
    char *path = wpi_profile_base_path(r->file, name);
    if (wpi_file_exists(path))
        r->status = read_wanted(r->profile, (wanted_file){path, r->depth + 1, false}, r->err);
    else
        (void)fail_at(r, WP_STATUS_NOT_FOUND,
                      "base '%s': there is no %s, and no GPU of that name comes with Warpage", name,
                      path);
    wpi_free(path);
    return r->status;
}

/* Sets a key's source; that of a base profile's key begins with "as BASE: ". */
static void set_source(const reading *r, wpi_written *w, const char *source) {
    if (source == NULL || r->depth == 0) {
        wpi_profile_replace(&w->source, source);
        return;
    }
    char *stem = wpi_path_stem(r->file);
    char *text = wpi_format("as %s: %s", stem, source);
    wpi_profile_replace(&w->source, text);
    wpi_free(text);
    wpi_free(stem);
}

static wp_status read_key(reading *r, const char *name, const char *text) {
    wpi_written *w = wpi_profile_find_written(r->profile, name);
    if (w == NULL) {
        char *place = wpi_format("%s:%u: ", r->file, r->line);
        r->status = wpi_profile_unknown_key(r->profile, place, name, r->err);
        wpi_free(place);
        return r->status;
    }
    if (w->text != NULL && w->file != NULL && strcmp(w->file, r->file) == 0)
        return fail_at(r, WP_STATUS_INVALID, "%s is given twice, first in line %u", name, w->line);
    wpi_profile_replace(&w->text, text);
    set_source(r, w, r->section_source);
    wpi_profile_replace(&w->file, r->file);
    w->line = r->line;
    return WP_STATUS_OK;
}

/* Reads "entries.source", which must follow its key. */
static wp_status read_source(reading *r, const char *name, const char *text) {
    wpi_written *w = wpi_profile_find_written(r->profile, name);
    if (w == NULL || w->file == NULL || strcmp(w->file, r->file) != 0)
        return fail_at(r, WP_STATUS_INVALID, "%s.source stands before %s itself", name, name);
    set_source(r, w, text);
    return WP_STATUS_OK;
}

static int on_pair(void *user, const char *section, const char *name, const char *text) {
    reading *r = user;
    if (r->status != WP_STATUS_OK) return 0;
    if (strcmp(section, r->section) != 0) {
        (void)snprintf(r->section, sizeof r->section, "%s", section);
        wpi_profile_replace(&r->section_source, NULL);
    }
    if (strcmp(name, "source") == 0) {
        wpi_profile_replace(&r->section_source, text);
        return 1;
    }
    char *full = wpi_format("%s%s%s", section, section[0] == '\0' ? "" : ".", name);
    const size_t length = strlen(full);
    if (strcmp(full, "gpu.base") == 0) {
        (void)read_base(r, text);
    } else if (length > 7 && strcmp(full + length - 7, ".source") == 0) {
        full[length - 7] = '\0';
        (void)read_source(r, full, text);
    } else {
        (void)read_key(r, full, text);
        r->keys++;
    }
    wpi_free(full);
    return r->status == WP_STATUS_OK;
}

/* Passes the parser one line at a time, to know its line number. */
static char *next_line(char *out, int size, void *stream) {
    reading *r = stream;
    if (r->rest[0] == '\0' || r->status != WP_STATUS_OK) return NULL;
    size_t length = strcspn(r->rest, "\n");
    r->line++;
    if (length + 2 > (size_t)size) {
        (void)fail_at(r, WP_STATUS_PARSE, "the line has more than %d characters", size - 2);
        return NULL;
    }
    memcpy(out, r->rest, length);
    out[length] = '\0';
    r->rest += length;
    if (r->rest[0] == '\n') r->rest++;
    return out;
}

static wp_status read_ini(wpi_profile *profile, const char *ini, wanted_file wanted,
                          wp_error *err) {
    reading r = {.profile = profile,
                 .file = wanted.path,
                 .rest = ini,
                 .depth = wanted.depth,
                 .is_overlay = wanted.is_overlay,
                 .err = err};
    const int line = ini_parse_stream(next_line, &r, on_pair, &r);
    if (line > 0 && (r.status == WP_STATUS_OK || (uint32_t)line < r.line)) {
        r.status = WP_STATUS_OK; /* later errors may follow from this one */
        r.line = (uint32_t)line;
        (void)fail_at(&r, WP_STATUS_PARSE, "neither [section] nor key = value");
    }
    wpi_free(r.section_source);
    return r.status;
}

static wp_status read_wanted(wpi_profile *profile, wanted_file wanted, wp_error *err) {
    char *ini = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(wanted.path, &ini, &size_bytes, err));
    wp_status status = WP_STATUS_OK;
    if (strlen(ini) != size_bytes)
        status =
            WP_FAIL(err, PARSE, "%s: not a text file: byte %zu is 0", wanted.path, strlen(ini));
    else
        status = read_ini(profile, ini, wanted, err);
    wpi_free(ini);
    return status;
}

wp_status wpi_profile_read_file(wpi_profile *profile, const char *path, bool is_overlay,
                                wp_error *err) {
    return read_wanted(profile, (wanted_file){path, 0, is_overlay}, err);
}

wp_status wpi_profile_read_ini(wpi_profile *profile, const char *ini, const char *where,
                               wp_error *err) {
    return read_ini(profile, ini, (wanted_file){.path = where}, err);
}
