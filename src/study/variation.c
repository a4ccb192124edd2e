/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "study/variation.h"

#define COMBINATIONS_MAX 10000u

wp_status wpi_variation_add(wpi_variation *v, const char *text, wp_error *err) {
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return WP_FAIL(err, INVALID, "--vary %s: a key and its values, as in l2.bytes=1MiB,2MiB",
                       text);
    for (size_t k = 0; k < v->key_count; k++)
        if (strlen(v->keys[k].key) == (size_t)(equals - text) &&
            strncmp(v->keys[k].key, text, (size_t)(equals - text)) == 0)
            return WP_FAIL(err, INVALID, "--vary has %s twice; list all its values in one",
                           v->keys[k].key);
    wpi_vary *keys = wpi_realloc(v->keys, (v->key_count + 1) * sizeof *keys);
    if (keys == NULL) return WP_FAIL(err, NOMEM, "--vary");
    v->keys = keys;
    wpi_vary *added = &keys[v->key_count++];
    *added = (wpi_vary){.key = wpi_strndup(text, (size_t)(equals - text))};
    for (const char *at = equals + 1; *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (length == 0) return WP_FAIL(err, INVALID, "--vary %s: a value is empty", text);
        wpi_strings_addf(&added->values, "%.*s", (int)length, at);
        at += length + (at[length] == ',');
    }
    if (v->combination_count == 0) v->combination_count = 1;
    v->combination_count *= added->values.count;
    if (v->combination_count <= COMBINATIONS_MAX) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "--vary %s: that makes more than %u combinations", text,
                   COMBINATIONS_MAX);
}

void wpi_variation_deinit(wpi_variation *v) {
    for (size_t k = 0; k < v->key_count; k++) {
        wpi_free(v->keys[k].key);
        wpi_strings_deinit(&v->keys[k].values);
    }
    wpi_free(v->keys);
    *v = (wpi_variation){0};
}

const char *wpi_variation_value(const wpi_variation *v, size_t number, size_t key) {
    for (size_t k = v->key_count - 1; k > key; k--)
        number /= v->keys[k].values.count;
    return v->keys[key].values.items[number % v->keys[key].values.count];
}

const char *wpi_variation_device(const wpi_variation *v, size_t number, const char *device) {
    for (size_t k = 0; k < v->key_count; k++) {
        if (strcmp(v->keys[k].key, "device") == 0) device = wpi_variation_value(v, number, k);
    }
    return device;
}

void wpi_variation_settings(const wpi_variation *v, size_t number, const char *base,
                            wpi_text *out) {
    if (base != NULL) wpi_text_append(out, base);
    for (size_t k = 0; k < v->key_count; k++) {
        if (strcmp(v->keys[k].key, "device") == 0) continue;
        wpi_text_appendf(out, "%s%s=%s", out->length != 0 ? ";" : "", v->keys[k].key,
                         wpi_variation_value(v, number, k));
    }
}

void wpi_variation_label(const wpi_variation *v, size_t number, wpi_text *out) {
    for (size_t k = 0; k < v->key_count; k++)
        wpi_text_appendf(out, "%s%s=%s", k != 0 ? " " : "", v->keys[k].key,
                         wpi_variation_value(v, number, k));
}
