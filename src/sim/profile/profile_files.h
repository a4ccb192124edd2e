/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to profile: finds its files. */
#ifndef WP_SIM_PROFILE_FILES_H
#define WP_SIM_PROFILE_FILES_H

#include "sim/profile/profile.h"

/** The kind of a file, which determines the folder in which its name is looked up. */
typedef enum wpi_profile_kind {
    WPI_PROFILE_GPU = 0,
    WPI_PROFILE_OVERLAY, /* after a '+' */
    WPI_PROFILE_HOST     /* after a '@' */
} wpi_profile_kind;

/** Finds the file of `spec`: a path (has a '/' or ends in .ini), or a name in the kind's folder.
 * wpi_free *path. NOT_FOUND: the message has the nearest name. */
WP_NODISCARD wp_status wpi_profile_find_file(wpi_profile_kind kind, const char *spec, char **path,
                                             wp_error *err);
/** Returns the path of a profile's base: beside the profile, or else one of Warpage's own. wpi_free
 * it. */
char *wpi_profile_base_path(const char *from, const char *name);

#endif
