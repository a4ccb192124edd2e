/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to profile: the keys as text, with the place where each is written. */
#ifndef WP_SIM_PROFILE_TEXT_H
#define WP_SIM_PROFILE_TEXT_H

#include "sim/profile/profile_keys.h"

/** A key as it was written. */
typedef struct wpi_written {
    const wpi_key *key;
    uint32_t repeat;
    char *text;   /* NULL: the default applies */
    char *source; /* or NULL */
    char *file;   /* NULL: by a setting */
    uint32_t line;
    char name[WPI_KEY_NAME_MAX];
} wpi_written;

typedef struct wpi_profile_text {
    wpi_written *written; /* in the order of the table */
    size_t count;
} wpi_profile_text;

/** All keys of the table, none written yet. NOMEM. */
WP_NODISCARD wp_status wpi_profile_text_create(wpi_profile *profile, wp_error *err);
void wpi_profile_text_destroy(wpi_profile_text *text); /* NULL allowed */

/** Reads a file; `is_overlay`: it has no base. NOT_FOUND, IO, PARSE, INVALID. */
WP_NODISCARD wp_status wpi_profile_read_file(wpi_profile *profile, const char *path,
                                             bool is_overlay, wp_error *err);
/** Reads the text of a file; `where` names it in messages. */
WP_NODISCARD wp_status wpi_profile_read_ini(wpi_profile *profile, const char *ini,
                                            const char *where, wp_error *err);
/** Applies "key=value". NOT_FOUND, PARSE. */
WP_NODISCARD wp_status wpi_profile_apply_setting(wpi_profile *profile, const char *setting,
                                                 wp_error *err);

/** The key, by its full name; NULL: there is none. */
wpi_written *wpi_profile_find_written(const wpi_profile *profile, const char *name);
/** Fails, with the nearest key. `place` is "k80.ini:12: "; empty for a setting. */
wp_status wpi_profile_unknown_key(const wpi_profile *profile, const char *place, const char *name,
                                  wp_error *err);
/** Replaces a string that the profile owns by a copy of `text`; NULL: by none. */
void wpi_profile_replace(char **field, const char *text);

/** Fails with a message that begins with the place of the key's value: "file:line: key: "; "key: "
 * for a setting, which may come from --set, an option of its own, --vary or WARPAGE_SET. */
wp_status wpi_profile_complain(const wpi_profile *profile, const char *name, wp_status status,
                               wp_error *err, const char *format, ...) WP_PRINTF(5, 6);

/** Whether the key was set for this run (--set and similar), not by a profile. */
bool wpi_profile_is_set(const wpi_profile *profile, const char *name);

#endif
