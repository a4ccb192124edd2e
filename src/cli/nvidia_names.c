/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"

void wpi_nvidia_names_use(void) {
    char *self = NULL;
    if (wpi_self_path(&self, NULL) != WP_STATUS_OK) return;
    char *bin = wpi_path_dir(self), *folder = wpi_path_join(bin, "../lib/warpage/nvidia");
    const char *old = getenv("LD_LIBRARY_PATH");
    if (wpi_dir_exists(folder)) {
        char *path = old != NULL && old[0] != '\0' ? wpi_format("%s:%s", folder, old) : NULL;
        (void)setenv("LD_LIBRARY_PATH", path != NULL ? path : folder, 1);
        wpi_free(path);
    }
    wpi_free(folder);
    wpi_free(bin);
    wpi_free(self);
}
