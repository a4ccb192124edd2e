/* SPDX-License-Identifier: Apache-2.0 */
/* Reading goes in two steps. First all keys are collected as text, a file after the one it is based
 * on, then overlays, settings last; then the texts in force are read, the core clock before all
 * others, because times may be written in its cycles. So each key is checked once, and a message
 * can always say where it stood. */
#define _GNU_SOURCE /* dladdr */
#include "sim/profile/profile.h"

#include <dirent.h>
#include <dlfcn.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "sim/profile/profile_keys.h"

#define ENDING ".ini" /* of a profile's file */

#define BASES_MAX 4u
#define CORE_CLOCK "gpu.core_clock"

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

/* A file to be read, and as what. */
typedef struct wanted_file {
    const char *path;
    uint32_t depth;
    bool is_overlay;
} wanted_file;

static wp_status read_file(wpi_profile *profile, wanted_file wanted, wp_error *err);

/* ---- the keys as text -------------------------------------------------------------------------
 */

static wp_status create_written(wpi_profile *profile, wp_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < wpi_key_count; i++)
        count += wpi_key_repeats(&wpi_keys[i]);
    wpi_profile_text *text = wp_calloc(1, sizeof *text);
    profile->text = text;
    if (text != NULL) text->written = wp_calloc(count, sizeof *text->written);
    if (text == NULL || text->written == NULL)
        return WP_FAIL(err, NOMEM, "profile: %zu keys", count);
    for (size_t i = 0; i < wpi_key_count; i++) {
        for (uint32_t repeat = 0; repeat < wpi_key_repeats(&wpi_keys[i]); repeat++) {
            wpi_written *w = &text->written[text->count++];
            w->key = &wpi_keys[i];
            w->repeat = repeat;
            wpi_key_name(w->key, repeat, w->name);
        }
    }
    return WP_STATUS_OK;
}

static wpi_written *find_written(const wpi_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->text->count; i++)
        if (strcmp(profile->text->written[i].name, name) == 0) return &profile->text->written[i];
    return NULL;
}

/* `place` is "k80.ini:12" or "--set". */
static wp_status unknown_key(const wpi_profile *profile, const char *place, const char *name,
                             wp_error *err) {
    wp_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < profile->text->count; i++)
        wp_nearest_offer(&nearest, profile->text->written[i].name);
    const char *meant = wp_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, NOT_FOUND, "%s: no key '%s'; did you mean '%s'?", place, name, meant);
    return WP_FAIL(err, NOT_FOUND, "%s: no key '%s'; docs/guide/describe-a-gpu.md lists them",
                   place, name);
}

static void replace(char **field, const char *text) {
    char *copy = text == NULL ? NULL : wp_format("%s", text);
    wp_free(*field);
    *field = copy;
}

wp_status wpi_profile_complain(const wpi_profile *profile, const char *name, wp_status status,
                               wp_error *err, const char *format, ...) {
    wp_text text = {0};
    const wpi_written *w = find_written(profile, name);
    if (w != NULL && w->text != NULL && w->file != NULL)
        wp_text_appendf(&text, "%s:%u: ", w->file, w->line);
    else if (w != NULL && w->text != NULL)
        wp_text_append(&text, "--set ");
    else
        wp_text_appendf(&text, "%s: default of ", profile->name);
    wp_text_appendf(&text, "%s: ", name);
    va_list args;
    va_start(args, format);
    wp_text_vappendf(&text, format, args);
    va_end(args);
    (void)wpi_fail(err, status, __FILE__, __LINE__, "%s", wp_text_string(&text));
    wp_text_deinit(&text);
    return status;
}

bool wpi_profile_is_set(const wpi_profile *profile, const char *name) {
    const wpi_written *w = find_written(profile, name);
    return w != NULL && w->text != NULL && w->file == NULL;
}

/* ---- files ------------------------------------------------------------------------------------
 */

static wp_status fail_at(reading *r, wp_status status, const char *format, ...) WP_PRINTF(3, 4);

/* Keeps the first mistake of the file. */
static wp_status fail_at(reading *r, wp_status status, const char *format, ...) {
    if (r->status != WP_STATUS_OK) return r->status;
    wp_text text = {0};
    va_list args;
    va_start(args, format);
    wp_text_vappendf(&text, format, args);
    va_end(args);
    r->status = wpi_fail(r->err, status, __FILE__, __LINE__, "%s:%u: %s", r->file, r->line,
                         wp_text_string(&text));
    wp_text_deinit(&text);
    return r->status;
}

/* Beside the file that names it, else among those that came with Warpage. */
static char *base_path(const char *from, const char *name) {
    char *dir = wp_path_dir(from);
    char *file = wp_format("%s.ini", name);
    char *path = wp_path_join(dir, file);
    char *own_dir = wp_file_exists(path) ? NULL : wpi_profile_dir();
    char *own = own_dir != NULL ? wp_path_join(own_dir, file) : NULL;
    const bool is_own = own != NULL && wp_file_exists(own);
    wp_free(dir);
    wp_free(file);
    wp_free(own_dir);
    wp_free(is_own ? path : own);
    return is_own ? own : path;
}

/* A base is read when it is named, so what follows overrides it. */
static wp_status read_base(reading *r, const char *name) {
    if (r->is_overlay) return fail_at(r, WP_STATUS_INVALID, "an overlay has no base");
    if (r->keys > 0) return fail_at(r, WP_STATUS_INVALID, "base must be the first key of the file");
    if (r->depth >= BASES_MAX)
        return fail_at(r, WP_STATUS_INVALID, "more than %u profiles are based on each other",
                       BASES_MAX);
    char *path = base_path(r->file, name);
    if (wp_file_exists(path))
        r->status = read_file(r->profile, (wanted_file){path, r->depth + 1, false}, r->err);
    else
        (void)fail_at(r, WP_STATUS_NOT_FOUND, "base '%s': there is no %s", name, path);
    wp_free(path);
    return r->status;
}

/* A number of another part says so. */
static void set_source(const reading *r, wpi_written *w, const char *source) {
    if (source == NULL || r->depth == 0) {
        replace(&w->source, source);
        return;
    }
    char *stem = wp_path_stem(r->file);
    char *text = wp_format("as %s: %s", stem, source);
    replace(&w->source, text);
    wp_free(text);
    wp_free(stem);
}

static wp_status read_key(reading *r, const char *name, const char *text) {
    wpi_written *w = find_written(r->profile, name);
    if (w == NULL) {
        char *place = wp_format("%s:%u", r->file, r->line);
        r->status = unknown_key(r->profile, place, name, r->err);
        wp_free(place);
        return r->status;
    }
    if (w->text != NULL && w->file != NULL && strcmp(w->file, r->file) == 0)
        return fail_at(r, WP_STATUS_INVALID, "%s is given twice, first in line %u", name, w->line);
    replace(&w->text, text);
    set_source(r, w, r->section_source);
    replace(&w->file, r->file);
    w->line = r->line;
    return WP_STATUS_OK;
}

/* "entries.source": of a key that stands before it. */
static wp_status read_source(reading *r, const char *name, const char *text) {
    wpi_written *w = find_written(r->profile, name);
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
        replace(&r->section_source, NULL);
    }
    if (strcmp(name, "source") == 0) {
        replace(&r->section_source, text);
        return 1;
    }
    char *full = wp_format("%s%s%s", section, section[0] == '\0' ? "" : ".", name);
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
    wp_free(full);
    return r->status == WP_STATUS_OK;
}

/* Hands the parser a line at a time, so that we know which one it is at. */
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

static wp_status read_text_of(wpi_profile *profile, const char *ini, wanted_file wanted,
                              wp_error *err) {
    reading r = {.profile = profile,
                 .file = wanted.path,
                 .rest = ini,
                 .depth = wanted.depth,
                 .is_overlay = wanted.is_overlay,
                 .err = err};
    const int line = ini_parse_stream(next_line, &r, on_pair, &r);
    if (line > 0 && (r.status == WP_STATUS_OK || (uint32_t)line < r.line)) {
        r.status = WP_STATUS_OK; /* what failed later may follow from this */
        r.line = (uint32_t)line;
        (void)fail_at(&r, WP_STATUS_PARSE, "neither [section] nor key = value");
    }
    wp_free(r.section_source);
    return r.status;
}

static wp_status read_file(wpi_profile *profile, wanted_file wanted, wp_error *err) {
    char *ini = NULL;
    size_t size_bytes = 0;
    WP_TRY(wp_file_read(wanted.path, &ini, &size_bytes, err));
    wp_status status = WP_STATUS_OK;
    if (strlen(ini) != size_bytes)
        status =
            WP_FAIL(err, PARSE, "%s: not a text file: byte %zu is 0", wanted.path, strlen(ini));
    else
        status = read_text_of(profile, ini, wanted, err);
    wp_free(ini);
    return status;
}

/* ---- settings ---------------------------------------------------------------------------------
 */

/* Of the keys of [paging] the last part is enough: oversubscribe=125%, migrate=adaptive. */
static wpi_written *find_setting(const wpi_profile *profile, const char *name) {
    char full[WPI_KEY_NAME_MAX];
    wpi_written *w = find_written(profile, name);
    if (w != NULL || strchr(name, '.') != NULL) return w;
    (void)snprintf(full, sizeof full, "paging.%s", name);
    return find_written(profile, full);
}

static wp_status apply_setting(wpi_profile *profile, const char *setting, wp_error *err) {
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting)
        return WP_FAIL(err, PARSE, "--set '%s': write it as tlb.l2.entries=128", setting);
    char *name = wp_strndup(setting, (size_t)(equals - setting));
    if (name == NULL) return WP_FAIL(err, NOMEM, "--set '%s'", setting);
    for (size_t length = strlen(name); length > 0 && name[length - 1] == ' ';)
        name[--length] = '\0';
    wp_status status = WP_STATUS_OK;
    wpi_written *w = find_setting(profile, name);
    if (w == NULL) {
        status = unknown_key(profile, "--set", name, err);
    } else {
        replace(&w->text, equals + 1 + strspn(equals + 1, " "));
        replace(&w->source, "--set");
        replace(&w->file, NULL);
        w->line = 0;
    }
    wp_free(name);
    return status;
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static wp_status read_value(wpi_profile *profile, const wpi_written *w, wp_error *err) {
    wp_error detail = {0};
    const char *text = w->text != NULL ? w->text : w->key->default_text;
    const wp_status status = wpi_key_read(w->key, w->repeat, text, profile, &detail);
    if (status == WP_STATUS_OK) return status;
    return wpi_profile_complain(profile, w->name, status, err, "%s", detail.message);
}

static wp_status finish(wpi_profile *profile, const char *const *settings, size_t setting_count,
                        wp_error *err) {
    for (size_t i = 0; i < setting_count; i++)
        WP_TRY(apply_setting(profile, settings[i], err));
    WP_TRY(read_value(profile, find_written(profile, CORE_CLOCK), err));
    profile->cycle_ps = (WP_PS_PER_S + profile->core_hz / 2) / profile->core_hz;
    for (size_t i = 0; i < profile->text->count; i++)
        WP_TRY(read_value(profile, &profile->text->written[i], err));
    return wpi_profile_check(profile, err);
}

/* ---- profiles ---------------------------------------------------------------------------------
 */

char *wpi_profile_dir(void) {
    Dl_info self;
    if (dladdr((const void *)wpi_keys, &self) == 0) return NULL;
    char *real = realpath(self.dli_fname, NULL);
    if (real == NULL) return NULL;
    char *lib = wp_path_dir(real), *prefix = wp_path_dir(lib);
    char *dir = wp_path_join(prefix, "lib/warpage/configs");
    wp_free(prefix);
    wp_free(lib);
    free(real); /* realpath's own allocation */
    if (wp_dir_exists(dir)) return dir;
    wp_free(dir);
    return NULL;
}

static int is_profile(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

/* Of the folder `below` that of the profiles; "": that one itself. */
static void list_names(const char *below, wp_strings *names) {
    char *own = wpi_profile_dir();
    char *dir = own != NULL ? wp_path_join(own, below) : NULL;
    struct dirent **entries = NULL;
    const int count = dir != NULL ? scandir(dir, &entries, is_profile, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(entries[i]->d_name) - strlen(ENDING);
        wp_strings_addf(names, "%.*s", (int)length, entries[i]->d_name);
        free(entries[i]); /* scandir's own allocations */
    }
    free(entries);
    wp_free(dir);
    wp_free(own);
}

void wpi_profile_names(wp_strings *names) {
    list_names("", names);
}

/* What is looked up by name: a folder below that of the profiles, and what is said of its files. */
typedef struct shelf {
    const char *folder, *noun, *listing;
} shelf;

static const shelf profiles = {"", "simulated GPU", "`warpage devices` lists them"};
static const shelf overlays = {"as", "overlay of simulated GPUs", "they are in configs/as"};
static const shelf hosts = {"hosts", "host", "they are in configs/hosts"};

static wp_status fail_unknown(const shelf *of, const char *spec, wp_error *err) {
    wp_strings names = {0};
    wp_nearest nearest = {.wanted = spec};
    list_names(of->folder, &names);
    for (size_t i = 0; i < names.count; i++)
        wp_nearest_offer(&nearest, names.items[i]);
    const char *found = wp_nearest_result(&nearest);
    const wp_status status =
        found != NULL
            ? WP_FAIL(err, NOT_FOUND, "there is no %s '%s'; did you mean '%s'?", of->noun, spec,
                      found)
            : WP_FAIL(err, NOT_FOUND,
                      "there is no %s '%s'; %s; the name of a file must contain '/' or end in .ini",
                      of->noun, spec, of->listing);
    wp_strings_deinit(&names);
    return status;
}

static wp_status find_file(const shelf *of, const char *spec, char **path, wp_error *err) {
    *path = NULL;
    char *extension = wp_path_extension(spec);
    const bool is_path = strchr(spec, '/') != NULL || strcmp(extension, ".ini") == 0;
    wp_free(extension);
    if (is_path) {
        *path = wp_format("%s", spec);
        return WP_STATUS_OK;
    }
    char *dir = wpi_profile_dir();
    if (dir == NULL)
        return WP_FAIL(
            err, NOT_FOUND,
            "profile '%s': the folder lib/warpage/configs is not installed next to the library",
            spec);
    char *name = wp_format("%s%s%s.ini", of->folder, of->folder[0] != '\0' ? "/" : "", spec);
    *path = wp_path_join(dir, name);
    wp_status status = WP_STATUS_OK;
    if (!wp_file_exists(*path)) {
        status = fail_unknown(of, spec, err);
        wp_free(*path);
        *path = NULL;
    }
    wp_free(name);
    wp_free(dir);
    return status;
}

static wp_status create(const char *where, wpi_profile **out, wp_error *err) {
    *out = wp_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "profile %s", where);
    (*out)->name = wp_path_stem(where);
    return create_written(*out, err);
}

/* To the first '+' or '@' of "k80+uvmsmart@xeon-e5-quad" behind the folders of a path. */
static size_t part_length(const char *spec) {
    const char *slash = strrchr(spec, '/');
    const char *name = slash != NULL ? slash + 1 : spec;
    return (size_t)(name - spec) + strcspn(name, "+@");
}

/* The profile (`sign` 0), an overlay ('+') or a host ('@'), named by the first `length` characters
 * of `spec`. A host is an overlay, too. */
static wp_status read_part(char sign, const char *spec, size_t length, wpi_profile **profile,
                           wp_error *err) {
    const bool is_overlay = sign != '\0';
    const shelf *of = sign == '+' ? &overlays : sign == '@' ? &hosts : &profiles;
    char *part = wp_strndup(spec, length), *path = NULL;
    if (part == NULL) return WP_FAIL(err, NOMEM, "profile %s", spec);
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(find_file(of, part, &path, err), done);
    if (is_overlay) {
        char *stem = wp_path_stem(path), *name = wp_format("%s%c%s", (*profile)->name, sign, stem);
        wp_free((*profile)->name);
        (*profile)->name = name;
        wp_free(stem);
    } else {
        WP_TRY_GOTO(create(path, profile, err), done);
    }
    WP_TRY_GOTO(read_file(*profile, (wanted_file){path, 0, is_overlay}, err), done);
done:
    wp_free(path);
    wp_free(part);
    return status;
}

wp_status wpi_profile_load(const char *spec, const char *const *settings, size_t setting_count,
                           wpi_profile **out, wp_error *err) {
    *out = NULL;
    wpi_profile *profile = NULL;
    wp_status status = WP_STATUS_OK;
    for (const char *at = spec, *sign = ""; at != NULL;) {
        const size_t length = part_length(at);
        WP_TRY_GOTO(read_part(*sign, at, length, &profile, err), done);
        sign = at + length;
        at = *sign != '\0' ? sign + 1 : NULL;
    }
    WP_TRY_GOTO(finish(profile, settings, setting_count, err), done);
    *out = profile;
    profile = NULL;
done:
    wpi_profile_destroy(profile);
    return status;
}

wp_status wpi_profile_parse(const char *ini, const char *where, const char *const *settings,
                            size_t setting_count, wpi_profile **out, wp_error *err) {
    *out = NULL;
    wpi_profile *profile = NULL;
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(create(where, &profile, err), done);
    WP_TRY_GOTO(read_text_of(profile, ini, (wanted_file){.path = where}, err), done);
    WP_TRY_GOTO(finish(profile, settings, setting_count, err), done);
    *out = profile;
    profile = NULL;
done:
    wpi_profile_destroy(profile);
    return status;
}

static void destroy_text(wpi_profile_text *text) {
    if (text == NULL) return;
    for (size_t i = 0; i < text->count; i++) {
        wp_free(text->written[i].text);
        wp_free(text->written[i].source);
        wp_free(text->written[i].file);
    }
    wp_free(text->written);
    wp_free(text);
}

void wpi_profile_destroy(wpi_profile *profile) {
    if (profile == NULL) return;
    destroy_text(profile->text);
    for (uint32_t level = 0; level < WPI_TLB_LEVELS_MAX; level++) {
        wp_free(profile->tlb[level].set_ways);
        wp_free(profile->tlb[level].sets_text);
        wp_free(profile->tlb[level].groups);
    }
    wp_free(profile->name);
    wp_free(profile->title);
    wp_free(profile->disabled_text);
    wp_free(profile->host.title);
    wp_free(profile);
}

bool wpi_profile_value_at(const wpi_profile *profile, size_t i, wpi_profile_value *out) {
    if (i >= profile->text->count) return false;
    const wpi_written *w = &profile->text->written[i];
    *out = (wpi_profile_value){.name = w->name,
                               .unit = wpi_key_unit_name(w->key->unit),
                               .text = w->text != NULL ? w->text : w->key->default_text,
                               .source = w->text != NULL ? w->source : "default",
                               .file = w->text != NULL ? w->file : NULL,
                               .line = w->line,
                               .doc = w->key->doc};
    return true;
}

const char *wpi_profile_policy_key(const char *kind) {
    for (size_t i = 0; i < wpi_key_count; i++)
        if (wpi_keys[i].unit == WPI_KEY_POLICY && strcmp(wpi_keys[i].words, kind) == 0)
            return wpi_keys[i].name;
    return "";
}

bool wpi_profile_key_at(size_t i, wpi_profile_value *out) {
    if (i >= wpi_key_count) return false;
    const wpi_key *key = &wpi_keys[i];
    *out = (wpi_profile_value){.name = key->name,
                               .unit = wpi_key_unit_name(key->unit),
                               .text = key->default_text,
                               .source = "default",
                               .doc = key->doc};
    return true;
}
