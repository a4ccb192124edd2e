/* SPDX-License-Identifier: Apache-2.0 */
/* Finds profile files: Warpage's own are in lib/warpage/configs, beside the library, with hosts and
 * overlays in subfolders. */
#define _GNU_SOURCE /* dladdr */
#include "sim/profile/profile_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "sim/profile/profile_keys.h"

#define ENDING ".ini"

char *wpi_profile_dir(void) {
    Dl_info self;
    if (dladdr((const void *)wpi_keys, &self) == 0) return NULL;
    char *real = realpath(self.dli_fname, NULL);
    if (real == NULL) return NULL;
    char *lib = wpi_path_dir(real), *prefix = wpi_path_dir(lib);
    char *dir = wpi_path_join(prefix, "lib/warpage/configs");
    wpi_free(prefix);
    wpi_free(lib);
    free(real); /* realpath's own allocation */
    if (wpi_dir_exists(dir)) return dir;
    wpi_free(dir);
    return NULL;
}

static int is_profile(const struct dirent *entry) {
    const size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

/* Lists the profiles in the subfolder `below` of the profiles' folder; "": in the folder itself. */
static void list_names(const char *below, wpi_strings *names) {
    char *own = wpi_profile_dir();
    char *dir = own != NULL ? wpi_path_join(own, below) : NULL;
    struct dirent **entries = NULL;
    const int count = dir != NULL ? scandir(dir, &entries, is_profile, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        const size_t length = strlen(entries[i]->d_name) - strlen(ENDING);
        wpi_strings_addf(names, "%.*s", (int)length, entries[i]->d_name);
        free(entries[i]); /* scandir's own allocations */
    }
    free(entries);
    wpi_free(dir);
    wpi_free(own);
}

void wpi_profile_names(wpi_strings *names) {
    list_names("", names);
}

/* A kind of file that is looked up by name: its subfolder, and its name in messages. */
typedef struct shelf {
    const char *folder, *noun, *listing;
} shelf;

static const shelf shelves[] = {
    [WPI_PROFILE_GPU] = {"", "simulated GPU", "`warpage devices` lists them"},
    [WPI_PROFILE_OVERLAY] = {"as", "overlay of simulated GPUs", "they are in configs/as"},
    [WPI_PROFILE_HOST] = {"hosts", "host", "they are in configs/hosts"},
};

static wp_status fail_unknown(const shelf *of, const char *spec, wp_error *err) {
    wpi_strings names = {0};
    wpi_nearest nearest = {.wanted = spec};
    list_names(of->folder, &names);
    for (size_t i = 0; i < names.count; i++)
        wpi_nearest_offer(&nearest, names.items[i]);
    const char *found = wpi_nearest_result(&nearest);
    const wp_status status =
        found != NULL
            ? WP_FAIL(err, NOT_FOUND, "there is no %s '%s'; did you mean '%s'?", of->noun, spec,
                      found)
            : WP_FAIL(err, NOT_FOUND,
                      "there is no %s '%s'; %s; the name of a file must contain '/' or end in .ini",
                      of->noun, spec, of->listing);
    wpi_strings_deinit(&names);
    return status;
}

wp_status wpi_profile_find_file(wpi_profile_kind kind, const char *spec, char **path,
                                wp_error *err) {
    const shelf *of = &shelves[kind];
    *path = NULL;
    char *extension = wpi_path_extension(spec);
    const bool is_path = strchr(spec, '/') != NULL || strcmp(extension, ".ini") == 0;
    wpi_free(extension);
    if (is_path) {
        *path = wpi_format("%s", spec);
        return WP_STATUS_OK;
    }
    char *dir = wpi_profile_dir();
    if (dir == NULL)
        return WP_FAIL(
            err, NOT_FOUND,
            "profile '%s': the folder lib/warpage/configs is not installed next to the library",
            spec);
    char *name = wpi_format("%s%s%s.ini", of->folder, of->folder[0] != '\0' ? "/" : "", spec);
    *path = wpi_path_join(dir, name);
    wp_status status = WP_STATUS_OK;
    if (!wpi_file_exists(*path)) {
        status = fail_unknown(of, spec, err);
        wpi_free(*path);
        *path = NULL;
    }
    wpi_free(name);
    wpi_free(dir);
    return status;
}

char *wpi_profile_base_path(const char *from, const char *name) {
    char *dir = wpi_path_dir(from);
    char *extension = wpi_path_extension(name);
    char *file = wpi_format("%s%s", name, strcmp(extension, ENDING) == 0 ? "" : ENDING);
    wpi_free(extension);
    char *path = wpi_path_join(dir, file);
    char *own_dir = wpi_file_exists(path) ? NULL : wpi_profile_dir();
    char *own = own_dir != NULL ? wpi_path_join(own_dir, file) : NULL;
    const bool is_own = own != NULL && wpi_file_exists(own);
    wpi_free(dir);
    wpi_free(file);
    wpi_free(own_dir);
    wpi_free(is_own ? path : own);
    return is_own ? own : path;
}
