/* SPDX-License-Identifier: Apache-2.0 */
#include "device/foreign_ptx.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/abi.h"
#include "base/alloc.h"
#include "base/cache_dir.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/leftovers.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "device/made_library.h"
#include "warpage/version.h"

/* The name in the cache of what this wpcc makes of the text; NULL: there is no cache. */
static char *cached_path(const char *text, size_t length, const char *wpcc) {
    char *dir = NULL;
    struct stat tool = {0};
    if (wpi_cache_open(&dir, NULL) != WP_STATUS_OK) return NULL;
    (void)stat(wpcc, &tool);
    const uint64_t words[] = {WP_ABI_VERSION, (uint64_t)tool.st_size, (uint64_t)tool.st_mtim.tv_sec,
                              (uint64_t)tool.st_mtim.tv_nsec};
    uint64_t key = wpi_hash64(WP_VERSION_STRING, sizeof WP_VERSION_STRING, 0);
    key = wpi_hash64(words, sizeof words, key);
    key = wpi_hash64(text, length, key);
    char *file = wpi_format("ptx-%016" PRIx64 ".image", key), *path = wpi_path_join(dir, file);
    wpi_free(file);
    wpi_free(dir);
    return path;
}

static wp_status refuse(wpi_text *said, wp_error *err) {
    static const char prefix[] = "wpcc: error: ";
    char *message = said->data != NULL ? strstr(said->data, prefix) : NULL;
    if (message == NULL)
        return WP_FAIL(err, TOOLCHAIN, "wpcc could not translate the PTX of a module: %.300s",
                       said->data != NULL ? said->data : "it printed no message");
    message += sizeof prefix - 1;
    message[strcspn(message, "\n")] = '\0';
    return WP_FAIL(err, UNSUPPORTED, "%s", message);
}

static wp_status make(const char *wpcc, const char *text, size_t length, char **image,
                      size_t *size_bytes, wp_error *err) {
    char *dir = NULL, *source = NULL, *made = NULL;
    int exit_code = 0;
    wpi_text said = {0};
    wp_status status;
    WP_TRY_GOTO(wpi_temp_dir_create(&dir, err), done);
    source = wpi_path_join(dir, "module.ptx");
    made = wpi_path_join(dir, "module.image");
    WP_TRY_GOTO(wpi_file_write(source, text, length, err), done);
    const char *const command[] = {wpcc, "-fatbin", source, "-o", made, NULL};
    const wpi_subprocess_options options = {.stdout_text = &said, .stderr_text = &said};
    WP_TRY_GOTO(wpi_subprocess_run(command, &options, &exit_code, err), done);
    status = exit_code == 0 ? wpi_file_read(made, image, size_bytes, err) : refuse(&said, err);
done:
    wpi_temp_dir_remove(dir);
    wpi_text_deinit(&said);
    wpi_free(source);
    wpi_free(made);
    wpi_free(dir);
    return status;
}

wp_status wpi_foreign_ptx_image(const char *text, size_t length, char **image, size_t *size_bytes,
                                wp_error *err) {
    char *wpcc;
    *image = NULL;
    WP_TRY(wpi_wpcc_find("modules of PTX text", NULL, &wpcc, err));
    char *kept = cached_path(text, length, wpcc);
    wp_status status =
        kept != NULL ? wpi_cache_read(kept, image, size_bytes, NULL) : WP_STATUS_NOT_FOUND;
    if (status != WP_STATUS_OK) {
        wpi_leftovers_remove_on_signals();
        status = make(wpcc, text, length, image, size_bytes, err);
        wpi_leftovers_ignore_signals();
        if (status == WP_STATUS_OK && kept != NULL) {
            const wp_status ignored = wpi_cache_write(kept, *image, *size_bytes, NULL);
            (void)ignored;
        }
    }
    wpi_free(kept);
    wpi_free(wpcc);
    return status;
}
