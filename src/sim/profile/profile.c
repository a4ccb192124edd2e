/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a profile in two steps. First, all keys are collected as text (profile_text.h): a file
 * after the one it is based on, then overlays, then settings. Second, the effective texts are read,
 * the core clock first, because times may be written in its cycles. So each key is checked once.
 */
#include "sim/profile/profile.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "sim/profile/profile_files.h"
#include "sim/profile/profile_text.h"

#define CORE_CLOCK "gpu.core_clock"

/* ---- numbers ---- */

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
        WP_TRY(wpi_profile_apply_setting(profile, settings[i], err));
    WP_TRY(read_value(profile, wpi_profile_find_written(profile, CORE_CLOCK), err));
    profile->cycle_ps = (WP_PS_PER_S + profile->core_hz / 2) / profile->core_hz;
    for (size_t i = 0; i < profile->text->count; i++)
        WP_TRY(read_value(profile, &profile->text->written[i], err));
    return wpi_profile_check(profile, err);
}

/* ---- profiles ---- */

static wp_status create(const char *where, wpi_profile **out, wp_error *err) {
    *out = wpi_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "profile %s", where);
    (*out)->name = wpi_path_stem(where);
    return wpi_profile_text_create(*out, err);
}

static bool is_whole(const char *spec, size_t length) {
    static const char ending[] = ".ini";
    const size_t ending_length = sizeof ending - 1;
    if (memchr(spec, '/', length) == NULL) return true;
    return length > ending_length &&
           memcmp(spec + length - ending_length, ending, ending_length) == 0;
}

/* The length up to the first '+' or '@' of "k80+uvmsmart@xeon-e5-quad" that follows a name or
 * "path/file.ini"; in a path without an extension, to the first one after its folders. A path may
 * contain these characters. */
static size_t part_length(const char *spec) {
    if (wpi_file_exists(spec)) return strlen(spec);
    for (size_t at = strcspn(spec, "+@"); spec[at] != '\0'; at += 1 + strcspn(spec + at + 1, "+@"))
        if (is_whole(spec, at)) return at;
    const char *slash = strrchr(spec, '/');
    const char *name = slash != NULL ? slash + 1 : spec;
    return (size_t)(name - spec) + strcspn(name, "+@");
}

/* Reads the profile (`sign` 0), an overlay ('+') or a host ('@'), named by the first `length`
 * characters of `spec`. A host is read like an overlay. */
static wp_status read_part(char sign, const char *spec, size_t length, wpi_profile **profile,
                           wp_error *err) {
    const bool is_overlay = sign != '\0';
    const wpi_profile_kind kind = sign == '+'   ? WPI_PROFILE_OVERLAY
                                  : sign == '@' ? WPI_PROFILE_HOST
                                                : WPI_PROFILE_GPU;
    char *part = wpi_strndup(spec, length), *path = NULL;
    if (part == NULL) return WP_FAIL(err, NOMEM, "profile %s", spec);
    wp_status status = WP_STATUS_OK;
    WP_TRY_GOTO(wpi_profile_find_file(kind, part, &path, err), done);
    if (is_overlay) {
        char *stem = wpi_path_stem(path),
             *name = wpi_format("%s%c%s", (*profile)->name, sign, stem);
        wpi_free((*profile)->name);
        (*profile)->name = name;
        wpi_free(stem);
    } else {
        WP_TRY_GOTO(create(path, profile, err), done);
    }
    WP_TRY_GOTO(wpi_profile_read_file(*profile, path, is_overlay, err), done);
done:
    wpi_free(path);
    wpi_free(part);
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
    WP_TRY_GOTO(wpi_profile_read_ini(profile, ini, where, err), done);
    WP_TRY_GOTO(finish(profile, settings, setting_count, err), done);
    *out = profile;
    profile = NULL;
done:
    wpi_profile_destroy(profile);
    return status;
}

void wpi_profile_destroy(wpi_profile *profile) {
    if (profile == NULL) return;
    wpi_profile_text_destroy(profile->text);
    for (uint32_t level = 0; level < WPI_TLB_LEVELS_MAX; level++) {
        wpi_free(profile->tlb[level].set_ways);
        wpi_free(profile->tlb[level].sets_text);
        wpi_free(profile->tlb[level].groups);
    }
    wpi_free(profile->name);
    wpi_free(profile->title);
    wpi_free(profile->disabled_text);
    wpi_free(profile->carveout_text);
    wpi_free(profile->host.title);
    wpi_free(profile);
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
