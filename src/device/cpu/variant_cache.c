/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cache is a folder of shared libraries, one for each (variant, image, instruction set, wpcc),
 * named by a hash of these. A file appears complete or not at all. Before one is loaded, its owner,
 * length and hash are checked (base/cache_dir.h): the loader maps what a header says, and a page
 * that a truncated file lacks is a SIGBUS. A damaged one is made again. Without a folder of the
 * user's own to write to, the library is made in a private temporary one and opened from there.
 */
#define _GNU_SOURCE /* dladdr */
#include "device/cpu/variant_cache.h"

#include <dlfcn.h>
#include <inttypes.h>
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
#include "base/subprocess.h"
#include "base/text.h"
#include "warpage/version.h"

const wp_param wpi_variant_params[] = {
    {"wpcc", WP_UNIT_TEXT, "", 0, 0,
     "compiler for variants of kernels; empty: the one installed with this library"},
    {"cache", WP_UNIT_TEXT, "", 0, 0,
     "directory of compiled variants; empty: $XDG_CACHE_HOME/warpage or ~/.cache/warpage"},
    {0}};

/* ---- where things are ---------------------------------------------------------------------------
 */

static wp_status find_wpcc(char **out, wp_error *err) {
    wp_param_value wanted;
    *out = NULL;
    WP_TRY(wp_param_load(&wpi_variant_params[0], &wanted, err));
    if (wanted.text[0] != '\0') {
        *out = wp_program_find(wanted.text);
        if (*out != NULL) return WP_STATUS_OK;
        return WP_FAIL(err, TOOLCHAIN, "WARPAGE_WPCC is '%s', which is not a program", wanted.text);
    }
    Dl_info self;
    char *real = dladdr((const void *)wpi_variant_params, &self) != 0
                     ? realpath(self.dli_fname, NULL)
                     : NULL;
    if (real != NULL) {
        char *lib = wp_path_dir(real), *prefix = wp_path_dir(lib);
        *out = wp_path_join(prefix, "bin/wpcc");
        wp_free(prefix);
        wp_free(lib);
        free(real); /* realpath's own allocation */
        if (wp_file_is_executable(*out)) return WP_STATUS_OK;
    }
    const wp_status status = WP_FAIL(err, TOOLCHAIN,
                                     "checks and simulated GPUs need wpcc to compile kernels, but "
                                     "it is not at %s; install it there or set WARPAGE_WPCC",
                                     *out != NULL ? *out : "its usual place next to libwarpage");
    wp_free(*out);
    *out = NULL;
    return status;
}

/* NULL: none that can be written, or that is the user's own: only the latter is worth a word.
 * Caller frees. */
static char *find_cache(void) {
    wp_error error = {0};
    char *dir = NULL;
    if (wp_cache_open(&dir, &error) == WP_STATUS_INVALID)
        wp_log(WP_LOG_WARN, "device.variant", "%s", error.message);
    return dir;
}

/* Whoever compiles anew gets new libraries: version, and size and time of wpcc itself. */
static uint64_t key_of(const wp_image_header *image, wp_cpu_isa isa, const char *wpcc) {
    struct stat tool = {0};
    (void)stat(wpcc, &tool);
    const uint64_t words[] = {WP_ABI_VERSION, (uint64_t)isa, (uint64_t)tool.st_size,
                              (uint64_t)tool.st_mtim.tv_sec, (uint64_t)tool.st_mtim.tv_nsec};
    uint64_t key = wp_hash64(WP_VERSION_STRING, sizeof WP_VERSION_STRING, 0);
    key = wp_hash64(words, sizeof words, key);
    return wp_hash64(image, image->size_bytes, key);
}

/* ---- making and opening -------------------------------------------------------------------------
 */

static wp_status run_wpcc(const wp_image_header *image, const char *name, wp_cpu_isa isa,
                          const char *wpcc, const char *dir, const char *library, wp_error *err) {
    int exit_code = 0;
    wp_text said = {0};
    char *file = wp_path_join(dir, "image");
    char *variant = wp_format("--variant=%s", name);
    const char *const argv[] = {
        wpcc, variant, isa == WP_CPU_ISA_BASELINE ? "--cpu-isa=baseline" : "--cpu-isa=x86-64-v3",
        file, "-o",    library,
        NULL};
    const wp_subprocess_options options = {.stdout_text = &said, .stderr_text = &said};
    wp_status status;
    WP_TRY_GOTO(wp_file_write(file, image, image->size_bytes, err), done);
    WP_TRY_GOTO(wp_subprocess_run(argv, &options, &exit_code, err), done);
    if (exit_code != 0) {
        status =
            WP_FAIL(err, TOOLCHAIN, "%s could not compile the variant '%s' of the kernels: %.300s",
                    wpcc, name, said.length != 0 ? said.data : "it printed no message");
    }
done:
    wp_text_deinit(&said);
    wp_free(variant);
    wp_free(file);
    return status;
}

static wp_status open_library(const char *path, uint64_t image_id, wpi_variant *out,
                              wp_error *err) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return WP_FAIL(err, TOOLCHAIN, "%s cannot be loaded: %s", path, dlerror());
    const wp_cpu_code *code = dlsym(library, WP_VARIANT_CODE_SYMBOL);
    if (code == NULL || code->abi_version != WP_ABI_VERSION || code->image_id != image_id) {
        dlclose(library);
        return WP_FAIL(err, TOOLCHAIN, "%s is not a variant of this program's kernels", path);
    }
    *out = (wpi_variant){.library = library, .code = code};
    return WP_STATUS_OK;
}

/* Opens a library of the cache if it is complete and belongs to the user. Another owner is logged
 * as a warning; a damaged file, or one of an older version, is compiled again. */
static wp_status open_kept(const char *path, uint64_t image_id, wpi_variant *out) {
    wp_error error = {0};
    char *data = NULL;
    size_t size_bytes = 0;
    wp_status status = wp_cache_read(path, &data, &size_bytes, &error);
    wp_free(data);
    if (status == WP_STATUS_INVALID) wp_log(WP_LOG_WARN, "device.variant", "%s", error.message);
    if (status == WP_STATUS_PARSE)
        wp_log(WP_LOG_INFO, "device.variant", "%s and is made again", error.message);
    return status == WP_STATUS_OK ? open_library(path, image_id, out, NULL) : status;
}

static wp_status make(const wp_image_header *image, const char *name, wp_cpu_isa isa,
                      const char *wpcc, const char *kept, wpi_variant *out, wp_error *err) {
    char *dir = NULL, *library = NULL, *data = NULL;
    size_t size_bytes = 0;
    wp_status status;
    WP_TRY_GOTO(wp_temp_dir_create(&dir, err), done);
    library = wp_path_join(dir, "variant.so");
    WP_TRY_GOTO(run_wpcc(image, name, isa, wpcc, dir, library, err), done);
    if (kept != NULL && wp_file_read(library, &data, &size_bytes, NULL) == WP_STATUS_OK &&
        wp_cache_write(kept, data, size_bytes, NULL) == WP_STATUS_OK) {
        status = open_library(kept, image->id, out, err);
    } else {
        status = open_library(library, image->id, out, err);
    }
done:
    wp_temp_dir_remove(dir);
    wp_free(data);
    wp_free(library);
    wp_free(dir);
    return status;
}

wp_status wpi_variant_open(const wp_image_header *image, const char *name, wp_cpu_isa isa,
                           wpi_variant *out, wp_error *err) {
    char *wpcc = NULL;
    *out = (wpi_variant){0};
    WP_TRY(find_wpcc(&wpcc, err));
    char *cache = find_cache(), *kept = NULL;
    if (cache != NULL) {
        char *file = wp_format("%s-%016" PRIx64 ".so", name, key_of(image, isa, wpcc));
        kept = wp_path_join(cache, file);
        wp_free(file);
    }
    wp_status status = kept != NULL ? open_kept(kept, image->id, out) : WP_STATUS_NOT_FOUND;
    if (status == WP_STATUS_OK) {
        wp_log(WP_LOG_INFO, "device.variant", "%s from the cache", kept);
    } else {
        if (cache != NULL) wp_cache_sweep(cache);
        wp_leftovers_remove_on_signals(); /* the temporary folder, if the program is interrupted now
                                           */
        status = make(image, name, isa, wpcc, kept, out, err);
        wp_leftovers_ignore_signals();
        if (status == WP_STATUS_OK)
            wp_log(WP_LOG_INFO, "device.variant", "made '%s' with %s", name, wpcc);
    }
    wp_free(kept);
    wp_free(cache);
    wp_free(wpcc);
    return status;
}

/* ---- variables ----------------------------------------------------------------------------------
 */

static const wp_cpu_variable *find_variable(const wp_cpu_code *code, const char *name) {
    for (uint32_t i = 0; i < code->variable_count; i++) {
        if (strcmp(code->variables[i].name, name) == 0) return &code->variables[i];
    }
    return NULL;
}

wp_status wpi_variant_bind(const wpi_variant *variant, const wp_cpu_code *code, wp_error *err) {
    for (uint32_t i = 0; i < variant->code->variable_count; i++) {
        const wp_cpu_variable *own = &variant->code->variables[i],
                              *theirs = find_variable(code, own->name);
        if (theirs == NULL) {
            return WP_FAIL(err, NOT_FOUND, "the program's CPU code has no variable %s", own->name);
        }
        void **cell = own->address;
        *cell = theirs->kind == WP_VARIABLE_MANAGED ? *(void **)theirs->address : theirs->address;
    }
    void (*fill)(void);
    *(void **)&fill = dlsym(variant->library, WP_VARIANT_FILL_SYMBOL);
    if (fill == NULL) return WP_FAIL(err, TOOLCHAIN, "the variant has no " WP_VARIANT_FILL_SYMBOL);
    fill();
    return WP_STATUS_OK;
}
