/* SPDX-License-Identifier: Apache-2.0 */
/* --set KEY=VALUE: what becomes WARPAGE_SET, here and in the program that is run. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"

wp_status wpi_set_keys(const wp_arguments *arguments, size_t option, const char *device,
                       wp_strings *environment, wp_error *err) {
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device == NULL || strncmp(device, "sim:", 4) != 0)
        return WP_FAIL(err, INVALID,
                       "--set changes numbers of a simulated GPU: name one, as in "
                       "--device sim:k80");
    wp_text joined = {0};
    const char *before = getenv("WARPAGE_SET"); /* the later ones win */
    if (before != NULL) wp_text_append(&joined, before);
    int cursor = 0;
    for (const char *value = wpi_arguments_next(arguments, option, &cursor); value != NULL;
         value = wpi_arguments_next(arguments, option, &cursor)) {
        wp_text_appendf(&joined, "%s%s", joined.length != 0 ? ";" : "", value);
    }
    (void)setenv("WARPAGE_SET", wp_text_string(&joined), 1);
    if (environment != NULL)
        wp_strings_addf(environment, "WARPAGE_SET=%s", wp_text_string(&joined));
    wp_text_deinit(&joined);
    return WP_STATUS_OK;
}
