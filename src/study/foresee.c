/* SPDX-License-Identifier: Apache-2.0 */
#include "study/foresee.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "warpage/device.h"

/* Those that need no future, in the place of those that do. */
static void look(void *object, const wp_device_key *key) {
    static const char *const keys[][2] = {
        {"paging.prefetch", "tree"}, {"paging.prefetch_full", "same"}, {"paging.evict", "lru-2m"}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(key->name, keys[i][0]) == 0 && strcmp(key->value, "oracle") == 0)
            wp_text_appendf(object, ";%s=%s", keys[i][0], keys[i][1]);
}

char *wpi_foresee_instead(const char *device) {
    wp_text instead = {0};
    const char *known = getenv("WARPAGE_FUTURE");
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device == NULL || strncmp(device, "sim:", 4) != 0) return NULL;
    if (known != NULL && known[0] != '\0') return NULL;
    if (wp_device_visit_keys(device, look, &instead, NULL) == WP_STATUS_OK && instead.length != 0)
        return wp_text_take(&instead);
    wp_text_deinit(&instead);
    return NULL;
}

void wpi_foresee_note(const char *instead, const char *path, wp_strings *environment) {
    const char *settings = getenv("WARPAGE_SET");
    wp_strings_addf(environment, "WARPAGE_SET=%s%s", settings != NULL ? settings : "", instead);
    wp_strings_addf(environment, "WARPAGE_NOTE_FUTURE=%s", path);
}

void wpi_foresee_use(const char *path, wp_strings *environment) {
    wp_strings_addf(environment, "WARPAGE_FUTURE=%s", path);
}
