/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/overlay_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"

wp_status wpi_overlay_write(const char *path, json_t *roots, bool keeps_names, wp_error *err) {
    json_t *root = json_pack("{s:i,s:b,s:O}", "version", 0, "use-external-names", !keeps_names,
                             "roots", roots);
    char *text = json_dumps(root, JSON_INDENT(1));
    const wp_status status = wpi_file_write(path, text, strlen(text), err);
    free(text);
    json_decref(root);
    return status;
}
