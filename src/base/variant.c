/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variant.h"

#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"

#define REWRITE_SIGN '+' /* in no mangled name, so in no argument of a rewrite */

static const struct {
    const char *word;
    wp_variant_kind kind;
    bool is_in_step;
} words[] = {{"check", WP_VARIANT_CHECK, false},
             {"trace", WP_VARIANT_TRACE, false},
             {"instep", WP_VARIANT_TRACE, true}};
enum { WORD_COUNT = sizeof words / sizeof *words };

static bool parse_word(const char *text, size_t length, wp_variant *out) {
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strlen(words[i].word) != length || strncmp(words[i].word, text, length) != 0) continue;
        out->kind = words[i].kind;
        out->is_in_step = words[i].is_in_step;
        return true;
    }
    return false;
}

static wp_status refuse_word(const char *text, size_t length, wp_error *err) {
    wp_text known = {0};
    for (size_t i = 0; i < WORD_COUNT; i++)
        wp_text_appendf(&known, "%s%s", i == 0 ? "" : ", ", words[i].word);
    const wp_status status =
        WP_FAIL(err, INVALID, "variant '%.*s': unknown; the variants are: %s",
                (int)(length < 100 ? length : 100), text, wp_text_string(&known));
    wp_text_deinit(&known);
    return status;
}

wp_status wp_variant_parse(const char *text, wp_variant *out, wp_error *err) {
    static const char sign[] = {REWRITE_SIGN, '\0'};
    size_t length = strcspn(text, sign);
    *out = (wp_variant){0};
    if (!parse_word(text, length, out)) return refuse_word(text, length, err);
    for (const char *at = text + length; *at != '\0'; at += length) {
        at++;
        length = strcspn(at, sign);
        if (length == 0) {
            wp_variant_deinit(out);
            return WP_FAIL(err, INVALID, "variant '%.200s': a rewrite after '%s' has no name", text,
                           sign);
        }
        wp_strings_addf(&out->rewrites, "%.*s", (int)length, at);
    }
    return WP_STATUS_OK;
}

const char *wp_variant_word(const wp_variant *variant) {
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].kind == variant->kind && words[i].is_in_step == variant->is_in_step)
            return words[i].word;
    return "";
}

char *wp_variant_text(const wp_variant *variant) {
    wp_text text = {0};
    wp_text_append(&text, wp_variant_word(variant));
    for (size_t i = 0; i < variant->rewrites.count; i++)
        wp_text_appendf(&text, "%c%s", REWRITE_SIGN, variant->rewrites.items[i]);
    return wp_text_take(&text);
}

bool wp_variant_equals(const wp_variant *a, const wp_variant *b) {
    if (a->kind != b->kind || a->is_in_step != b->is_in_step ||
        a->rewrites.count != b->rewrites.count)
        return false;
    for (size_t i = 0; i < a->rewrites.count; i++)
        if (strcmp(a->rewrites.items[i], b->rewrites.items[i]) != 0) return false;
    return true;
}

void wp_variant_deinit(wp_variant *variant) {
    wp_strings_deinit(&variant->rewrites);
    *variant = (wp_variant){0};
}
