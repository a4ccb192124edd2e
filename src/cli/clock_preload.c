/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"

/* The library is libraries/program_clock. LD_PRELOAD's names end at spaces and colons. */
wp_status wpi_program_clock_use(wpi_strings *environment, wp_error *err) {
    char *self = NULL;
    WP_TRY(wpi_self_path(&self, err));
    char *bin = wpi_path_dir(self), *path = wpi_path_join(bin, "../lib/warpage/program_clock.so");
    const char *old = getenv("LD_PRELOAD");
    const bool is_there = wpi_file_exists(path) && strpbrk(path, " :") == NULL;
    if (is_there)
        wpi_strings_addf(environment, "LD_PRELOAD=%s%s%s", path, old != NULL ? ":" : "",
                         old != NULL ? old : "");
    wpi_free(path);
    wpi_free(bin);
    wpi_free(self);
    if (is_there) return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED,
                   "--simulated-clock: this build has no library for it (sanitizers), or lies in a "
                   "folder whose name has a space or a colon");
}
