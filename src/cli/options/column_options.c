/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options/column_options.h"

#include <string.h>

wp_status wpi_column_options_parse(const char *const *values, wpi_column_options *out,
                                   wp_error *err) {
    const char *delimiter = values[2];
    out->types = values[0];
    out->null_text = values[1];
    out->has_no_header = values[3] != NULL;
    if (delimiter == NULL) return WP_STATUS_OK;
    const bool is_tab = strcmp(delimiter, "\\t") == 0 || strcmp(delimiter, "tab") == 0;
    if (!is_tab && (strlen(delimiter) != 1 || strchr("\"\r\n", *delimiter) != NULL))
        return WP_FAIL(err, INVALID, "--delimiter '%s': give one character, or tab", delimiter);
    out->delimiter = is_tab ? '\t' : *delimiter;
    return WP_STATUS_OK;
}
