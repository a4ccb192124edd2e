/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a profile as text, with the place of each. Files and settings only replace texts;
 * values are read from the effective ones at the end (profile.c), so that messages can name the
 * place of a wrong one. */
#include "sim/profile/profile_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"

wp_status wpi_profile_text_create(wpi_profile *profile, wp_error *err) {
    size_t count = 0;
    for (size_t i = 0; i < wpi_key_count; i++)
        count += wpi_key_repeats(&wpi_keys[i]);
    wpi_profile_text *text = wpi_calloc(1, sizeof *text);
    profile->text = text;
    if (text != NULL) text->written = wpi_calloc(count, sizeof *text->written);
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

wpi_written *wpi_profile_find_written(const wpi_profile *profile, const char *name) {
    for (size_t i = 0; i < profile->text->count; i++)
        if (strcmp(profile->text->written[i].name, name) == 0) return &profile->text->written[i];
    return NULL;
}

wp_status wpi_profile_unknown_key(const wpi_profile *profile, const char *place, const char *name,
                                  wp_error *err) {
    wpi_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < profile->text->count; i++)
        wpi_nearest_offer(&nearest, profile->text->written[i].name);
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return WP_FAIL(err, NOT_FOUND, "%sno key '%s'; did you mean '%s'?", place, name, meant);
    return WP_FAIL(err, NOT_FOUND, "%sno key '%s'; `warpage params` lists them", place, name);
}

void wpi_profile_replace(char **field, const char *text) {
    char *copy = text == NULL ? NULL : wpi_format("%s", text);
    wpi_free(*field);
    *field = copy;
}

wp_status wpi_profile_complain(const wpi_profile *profile, const char *name, wp_status status,
                               wp_error *err, const char *format, ...) {
    wpi_text text = {0};
    const wpi_written *w = wpi_profile_find_written(profile, name);
    if (w != NULL && w->text != NULL && w->file != NULL)
        wpi_text_appendf(&text, "%s:%u: ", w->file, w->line);
    else if (w == NULL || w->text == NULL)
        wpi_text_appendf(&text, "%s: default of ", profile->name);
    wpi_text_appendf(&text, "%s: ", name);
    va_list args;
    va_start(args, format);
    wpi_text_vappendf(&text, format, args);
    va_end(args);
    (void)wpi_fail(err, status, __FILE__, __LINE__, "%s", wpi_text_string(&text));
    wpi_text_deinit(&text);
    return status;
}

bool wpi_profile_is_set(const wpi_profile *profile, const char *name) {
    const wpi_written *w = wpi_profile_find_written(profile, name);
    return w != NULL && w->text != NULL && w->file == NULL;
}

/* ---- settings ------------------------------------------------------------------------------ */

/* Finds the key of a setting. Keys of [paging] may omit the section: oversubscribe=125%,
 * migrate=adaptive. */
static wpi_written *find_setting(const wpi_profile *profile, const char *name) {
    char full[WPI_KEY_NAME_MAX];
    wpi_written *w = wpi_profile_find_written(profile, name);
    if (w != NULL || strchr(name, '.') != NULL) return w;
    (void)snprintf(full, sizeof full, "paging.%s", name);
    return wpi_profile_find_written(profile, full);
}

wp_status wpi_profile_apply_setting(wpi_profile *profile, const char *setting, wp_error *err) {
    const char *equals = strchr(setting, '=');
    if (equals == NULL || equals == setting)
        return WP_FAIL(err, PARSE, "--set '%s': write it as tlb.l2.entries=128", setting);
    char *name = wpi_strndup(setting, (size_t)(equals - setting));
    if (name == NULL) return WP_FAIL(err, NOMEM, "--set '%s'", setting);
    for (size_t length = strlen(name); length > 0 && name[length - 1] == ' ';)
        name[--length] = '\0';
    wp_status status = WP_STATUS_OK;
    wpi_written *w = find_setting(profile, name);
    if (w == NULL) {
        status = wpi_profile_unknown_key(profile, "", name, err);
    } else {
        wpi_profile_replace(&w->text, equals + 1 + strspn(equals + 1, " "));
        wpi_profile_replace(&w->source, "--set");
        wpi_profile_replace(&w->file, NULL);
        w->line = 0;
    }
    wpi_free(name);
    return status;
}

/* ---- life and values ------------------------------------------------------------------------ */

void wpi_profile_text_destroy(wpi_profile_text *text) {
    if (text == NULL) return;
    for (size_t i = 0; i < text->count; i++) {
        wpi_free(text->written[i].text);
        wpi_free(text->written[i].source);
        wpi_free(text->written[i].file);
    }
    wpi_free(text->written);
    wpi_free(text);
}

static bool needs_future(const wpi_key *key, const char *text) {
    const wpi_policy *policy;
    return key->unit == WPI_KEY_POLICY &&
           wpi_policy_find(key->words, text, &policy, NULL) == WP_STATUS_OK &&
           wpi_policy_needs_future(policy);
}

bool wpi_profile_value_at(const wpi_profile *profile, size_t i, wpi_profile_value *out) {
    if (i >= profile->text->count) return false;
    const wpi_written *w = &profile->text->written[i];
    const char *text = w->text != NULL ? w->text : w->key->default_text;
    *out = (wpi_profile_value){.name = w->name,
                               .unit = wpi_key_unit_name(w->key->unit),
                               .text = text,
                               .fallback = w->key->default_text,
                               .needs_future = needs_future(w->key, text),
                               .source = w->text != NULL ? w->source : "default",
                               .file = w->text != NULL ? w->file : NULL,
                               .line = w->line,
                               .doc = w->key->doc};
    return true;
}
