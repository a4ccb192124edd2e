/* SPDX-License-Identifier: Apache-2.0 */
#include "study/foresee.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "warpage/device.h"

/* The defaults need no future. */
static void look(void *object, const wp_device_key *key) {
    if (key->needs_future) wpi_text_appendf(object, ";%s=%s", key->name, key->fallback);
}

char *wpi_foresee_instead(const char *device) {
    wpi_text instead = {0};
    const char *known = getenv("WARPAGE_FUTURE");
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device == NULL || strncmp(device, "sim:", 4) != 0) return NULL;
    if (known != NULL && known[0] != '\0') return NULL;
    if (wp_device_visit_keys(device, look, &instead, NULL) == WP_STATUS_OK && instead.length != 0)
        return wpi_text_take(&instead);
    wpi_text_deinit(&instead);
    return NULL;
}

void wpi_foresee_note(const char *instead, const char *path, wpi_strings *environment) {
    const char *settings = getenv("WARPAGE_SET");
    wpi_strings_addf(environment, "WARPAGE_SET=%s%s", settings != NULL ? settings : "", instead);
    wpi_strings_addf(environment, "WARPAGE_NOTE_FUTURE=%s", path);
}

void wpi_foresee_use(const char *path, wpi_strings *environment) {
    wpi_strings_addf(environment, "WARPAGE_FUTURE=%s", path);
}
