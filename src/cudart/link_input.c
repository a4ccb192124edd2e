/* SPDX-License-Identifier: Apache-2.0 */
/* PTX of several texts is one text: a function that one declares (.extern) and another defines has
 * both in it. Names that are not exported must differ, as the translation says otherwise. */
#include "cudart/link_input.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/ptx_carrier.h"
#include "device/fat_binary.h"
#include "device/ptx_module.h"
#include "device/ptx_parts.h"

static void append_text(wpi_link_input *link, const char *text) {
    for (const char *at = text; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        const char *first = at + strspn(at, " \t");
        if (link->count == 0 || !wpi_ptx_is_header(first)) {
            wpi_text_append_n(&link->ptx, at, length);
            wpi_text_append(&link->ptx, "\n");
        }
        at += length + (at[length] == '\n');
    }
}

static bool is_foreign_ptx(const char *text) {
    void *image;
    size_t size_bytes, length;
    if (strstr(text, ".version") == NULL) return false;
    if (wpi_ptx_carrier_read(text, &image, &size_bytes, &length, NULL) == WP_STATUS_NOT_FOUND)
        return true;
    wpi_free(image);
    return false;
}

/* The input's text (wpi_free); NULL: it is none. */
static char *text_of(const void *data, size_t size_bytes) {
    char *text = NULL;
    if (size_bytes >= 4 && wpi_fat_binary_is(data)) {
        if (wpi_fat_binary_ptx(data, size_bytes, &text, NULL) != WP_STATUS_OK) return NULL;
    } else {
        const size_t length = strnlen(data, size_bytes);
        if (length + 1 < size_bytes) return NULL; /* bytes after a NUL */
        text = wpi_strndup(data, length);
    }
    if (text != NULL && is_foreign_ptx(text)) return text;
    wpi_free(text);
    return NULL;
}

static wp_status refuse(wp_error *err) {
    return WP_FAIL(err, UNSUPPORTED,
                   "Warpage links texts of PTX, or one image: compile the sources to PTX by "
                   "another compiler, together, or with wpcc -rdc=true -dlink");
}

wp_status wpi_link_input_add(wpi_link_input *link, const void *data, size_t size_bytes,
                             wp_error *err) {
    if (link->image != NULL) return refuse(err);
    char *text = text_of(data, size_bytes);
    if (text == NULL && link->count != 0) return refuse(err);
    if (text == NULL) WP_TRY(wpi_module_image_copy(data, size_bytes, &link->image, err));
    if (text != NULL) append_text(link, text);
    link->count++;
    wpi_free(text);
    return WP_STATUS_OK;
}

wp_status wpi_link_input_complete(wpi_link_input *link, wp_error *err) {
    if (link->image != NULL) return WP_STATUS_OK;
    if (link->count == 0) return WP_FAIL(err, INVALID, "there is nothing to link");
    return wpi_module_image_copy(wpi_text_string(&link->ptx), 0, &link->image, err);
}

void wpi_link_input_deinit(wpi_link_input *link) {
    wpi_text_deinit(&link->ptx);
    wpi_free(link->image);
    *link = (wpi_link_input){0};
}
