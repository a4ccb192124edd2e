/* SPDX-License-Identifier: Apache-2.0 */
/** Inside profile: where its files are. */
#ifndef WP_SIM_PROFILE_FILES_H
#define WP_SIM_PROFILE_FILES_H

#include "sim/profile/profile.h"

/** What a file describes, and so the folder in which its name is looked up. */
typedef enum wpi_profile_kind {
    WPI_PROFILE_GPU = 0,
    WPI_PROFILE_OVERLAY, /* behind a '+' */
    WPI_PROFILE_HOST     /* behind a '@' */
} wpi_profile_kind;

/** The file that `spec` names: a path (has a '/' or ends in .ini), or a name in the kind's folder.
 * wpi_free *path. NOT_FOUND: the message has the nearest name. */
WP_NODISCARD wp_status wpi_profile_find_file(wpi_profile_kind kind, const char *spec, char **path,
                                             wp_error *err);
/** The file that a profile names as its base: beside it, else among those that came with Warpage.
 * wpi_free it. */
char *wpi_profile_base_path(const char *from, const char *name);

#endif
