/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cache is a folder of shared libraries, one for each (options, image, wpcc), named by a hash
 * of these. Files are written atomically. Before one is loaded, its owner, length and hash are
 * checked (base/cache_dir.h): a page that a truncated file lacks would be a SIGBUS. A damaged one
 * is compiled again. Without a writable folder of the user's own, the library is compiled in a
 * private temporary folder and opened there.
 */
#define _GNU_SOURCE /* dladdr, RTLD_NODELETE */
#include "device/made_library.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/cache_dir.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/leftovers.h"
#include "base/log.h"
#include "base/param.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "warpage/version.h"

const wpi_param wpi_variant_params[] = {
    {"wpcc", WP_UNIT_TEXT, "", 0, 0,
     "compiler for variants of kernels; empty: the one installed with this library"},
    {"cache", WP_UNIT_TEXT, "", 0, 0,
     "directory of compiled variants; empty: $XDG_CACHE_HOME/warpage or ~/.cache/warpage"},
    {0}};

/* ---- where things are ---- */

static wp_status refuse_setting(const char *setting, const char *instead, wp_error *err) {
    return instead != NULL
               ? WP_FAIL(err, TOOLCHAIN,
                         "WARPAGE_WPCC is '%s', which is not a program: set it to wpcc, or %s",
                         setting, instead)
               : WP_FAIL(err, TOOLCHAIN, "WARPAGE_WPCC is '%s', which is not a program", setting);
}

wp_status wpi_wpcc_find(const char *who, const char *instead, char **out, wp_error *err) {
    wpi_param_value setting;
    *out = NULL;
    WP_TRY(wpi_param_load(&wpi_variant_params[0], &setting, err));
    if (setting.text[0] != '\0') {
        *out = wpi_program_find(setting.text);
        return *out != NULL ? WP_STATUS_OK : refuse_setting(setting.text, instead, err);
    }
    Dl_info self;
    char *real = dladdr((const void *)wpi_variant_params, &self) != 0
                     ? realpath(self.dli_fname, NULL)
                     : NULL;
    if (real != NULL) {
        char *lib = wpi_path_dir(real), *prefix = wpi_path_dir(lib);
        *out = wpi_path_join(prefix, "bin/wpcc");
        wpi_free(prefix);
        wpi_free(lib);
        free(real); /* realpath's own allocation */
        if (wpi_file_is_executable(*out)) return WP_STATUS_OK;
    }
    const wp_status status =
        WP_FAIL(err, TOOLCHAIN,
                "%s need wpcc to compile kernels, but it is not at %s; %s%sinstall it there or set "
                "WARPAGE_WPCC",
                who, *out != NULL ? *out : "its usual place next to libwarpage",
                instead != NULL ? instead : "", instead != NULL ? ", " : "");
    wpi_free(*out);
    *out = NULL;
    return status;
}

/* NULL: no writable folder, or not the user's own, which is logged. Caller frees. */
static char *find_cache(void) {
    wp_error error = {0};
    char *dir = NULL;
    if (wpi_cache_open(&dir, &error) == WP_STATUS_INVALID)
        wpi_log(WP_LOG_WARN, "device.variant", "%s", error.message);
    return dir;
}

/* The key includes the version, size and time of wpcc, so that a new build makes new libraries. */
static uint64_t key_of(const wpi_made_library *wanted, const char *wpcc) {
    struct stat tool = {0};
    (void)stat(wpcc, &tool);
    const uint64_t words[] = {WP_ABI_VERSION, (uint64_t)tool.st_size, (uint64_t)tool.st_mtim.tv_sec,
                              (uint64_t)tool.st_mtim.tv_nsec};
    uint64_t key = wpi_hash64(WP_VERSION_STRING, sizeof WP_VERSION_STRING, 0);
    key = wpi_hash64(words, sizeof words, key);
    for (const char *const *option = wanted->options; *option != NULL; option++)
        key = wpi_hash64(*option, strlen(*option) + 1, key);
    return wpi_hash64(wanted->image, wanted->image->size_bytes, key);
}

/* ---- making and opening ---- */

/* The last message of an output, alone; NULL: none. */
static char *take_message(wpi_text *said) {
    static const char prefix[] = "wpcc: error: ";
    char *found = NULL;
    for (char *at = said->data; at != NULL && (at = strstr(at, prefix)) != NULL;)
        found = at += sizeof prefix - 1;
    if (found != NULL) found[strcspn(found, "\n")] = '\0';
    return found;
}

static wp_status refuse(const wpi_made_library *wanted, const char *wpcc, int exit_code,
                        wpi_text *said, wp_error *err) {
    const bool is_refused = wanted->may_be_refused && exit_code == WP_LIBRARY_REFUSED;
    const char *message = is_refused ? take_message(said) : NULL;
    if (message != NULL) return WP_FAIL(err, UNSUPPORTED, "%s", message);
    return WP_FAIL(err, TOOLCHAIN, "%s could not compile %s: %.300s", wpcc, wanted->what,
                   said->length != 0 ? said->data : "it printed no message");
}

static wp_status run_wpcc(const wpi_made_library *wanted, const char *wpcc, const char *dir,
                          const char *library, wp_error *err) {
    int exit_code = 0;
    wpi_text said = {0};
    wpi_strings command = {0};
    char *file = wpi_path_join(dir, "image");
    wpi_strings_add(&command, wpcc);
    for (const char *const *option = wanted->options; *option != NULL; option++)
        wpi_strings_add(&command, *option);
    wpi_strings_add(&command, file);
    wpi_strings_add(&command, "-o");
    wpi_strings_add(&command, library);
    const wpi_subprocess_options options = {.stdout_text = &said, .stderr_text = &said};
    wp_status status;
    WP_TRY_GOTO(wpi_file_write(file, wanted->image, wanted->image->size_bytes, err), done);
    WP_TRY_GOTO(wpi_subprocess_run(wpi_strings_argv(&command), &options, &exit_code, err), done);
    if (exit_code != 0) status = refuse(wanted, wpcc, exit_code, &said, err);
done:
    wpi_text_deinit(&said);
    wpi_strings_deinit(&command);
    wpi_free(file);
    return status;
}

/* A library that is open is not opened again, unless it is another file: a copy. */
static void *open_copy(const char *path) {
    char *dir = NULL, *copy = NULL, *data = NULL;
    size_t size_bytes;
    void *library = NULL;
    if (wpi_file_read(path, &data, &size_bytes, NULL) == WP_STATUS_OK &&
        wpi_temp_dir_create(&dir, NULL) == WP_STATUS_OK) {
        copy = wpi_path_join(dir, "copy.so");
        if (wpi_file_write(copy, data, size_bytes, NULL) == WP_STATUS_OK)
            library = dlopen(copy, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    wpi_temp_dir_remove(dir);
    wpi_free(copy);
    wpi_free(data);
    return library;
}

/* A wrong library stays loaded, because its constructors may have stored pointers to it. */
static wp_status open_library(const wpi_made_library *wanted, const char *path, void **out,
                              wp_error *err) {
    void *library = wanted->instance != 0 ? open_copy(path)
                                          : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library == NULL) {
        const char *why = dlerror();
        return WP_FAIL(err, TOOLCHAIN, "%s cannot be loaded: %s", path,
                       why != NULL ? why : "it could not be copied");
    }
    if (!wanted->is_right(library, wanted->image)) {
        dlclose(library);
        return WP_FAIL(err, TOOLCHAIN, "%s does not hold %s", path, wanted->what);
    }
    *out = library;
    return WP_STATUS_OK;
}

/* Opens a library of the cache if it is complete and belongs to the user. Another owner is logged
 * as a warning; a damaged file, or one of an older version, is compiled again. */
static wp_status open_kept(const wpi_made_library *wanted, const char *path, void **out) {
    wp_error error = {0};
    char *data = NULL;
    size_t size_bytes = 0;
    wp_status status = wpi_cache_read(path, &data, &size_bytes, &error);
    wpi_free(data);
    if (status == WP_STATUS_INVALID) wpi_log(WP_LOG_WARN, "device.variant", "%s", error.message);
    if (status == WP_STATUS_PARSE)
        wpi_log(WP_LOG_INFO, "device.variant", "%s and is made again", error.message);
    return status == WP_STATUS_OK ? open_library(wanted, path, out, NULL) : status;
}

static wp_status make(const wpi_made_library *wanted, const char *wpcc, const char *kept,
                      void **out, wp_error *err) {
    char *dir = NULL, *library = NULL, *data = NULL;
    size_t size_bytes = 0;
    wp_status status;
    WP_TRY_GOTO(wpi_temp_dir_create(&dir, err), done);
    library = wpi_path_join(dir, "made.so");
    WP_TRY_GOTO(run_wpcc(wanted, wpcc, dir, library, err), done);
    const bool is_kept = kept != NULL &&
                         wpi_file_read(library, &data, &size_bytes, NULL) == WP_STATUS_OK &&
                         wpi_cache_write(kept, data, size_bytes, NULL) == WP_STATUS_OK;
    status = open_library(wanted, is_kept ? kept : library, out, err);
done:
    wpi_temp_dir_remove(dir);
    wpi_free(data);
    wpi_free(library);
    wpi_free(dir);
    return status;
}

static atomic_uint makers;

bool wpi_made_library_is_being_made(void) {
    return atomic_load(&makers) != 0;
}

wp_status wpi_made_library_open(const wpi_made_library *wanted, void **out, wp_error *err) {
    char *wpcc = NULL;
    *out = NULL;
    WP_TRY(wpi_wpcc_find(wanted->who, wanted->instead, &wpcc, err));
    char *cache = find_cache(), *kept = NULL;
    if (cache != NULL) {
        char *file = wpi_format("%s-%016" PRIx64 ".so", wanted->name, key_of(wanted, wpcc));
        kept = wpi_path_join(cache, file);
        wpi_free(file);
    }
    wp_status status = kept != NULL ? open_kept(wanted, kept, out) : WP_STATUS_NOT_FOUND;
    if (status == WP_STATUS_OK) {
        wpi_log(WP_LOG_INFO, "device.variant", "%s from the cache", kept);
    } else {
        if (cache != NULL) wpi_cache_sweep(cache);
        wpi_leftovers_remove_on_signals(); /* so that an interrupted program removes the temporary
                                            * folder
                                            */
        atomic_fetch_add(&makers, 1);
        status = make(wanted, wpcc, kept, out, err);
        atomic_fetch_sub(&makers, 1);
        wpi_leftovers_ignore_signals();
        if (status == WP_STATUS_OK)
            wpi_log(WP_LOG_INFO, "device.variant", "made '%s' with %s", wanted->name, wpcc);
    }
    wpi_free(kept);
    wpi_free(cache);
    wpi_free(wpcc);
    return status;
}
