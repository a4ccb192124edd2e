/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variant.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"

#define ARCH_SIGN '@'
#define REWRITE_SIGN '+' /* in no mangled name, so in no argument of a rewrite */

static const struct {
    const char *word;
    wpi_variant_kind kind;
    bool is_in_step, finds_races;
} words[] = {{.word = "copy", .kind = WP_VARIANT_COPY},
             {.word = "check", .kind = WP_VARIANT_CHECK},
             {.word = "races", .kind = WP_VARIANT_CHECK, .finds_races = true},
             {.word = "trace", .kind = WP_VARIANT_TRACE},
             {.word = "instep", .kind = WP_VARIANT_TRACE, .is_in_step = true}};
enum { WORD_COUNT = sizeof words / sizeof *words };

/* "@60" behind the kind. */
static bool parse_arch(const char *text, size_t length, wpi_variant *out) {
    char *end;
    const unsigned long arch = strtoul(text + 1, &end, 10);
    if (out->kind != WP_VARIANT_TRACE || text[1] < '1' || text[1] > '9' || end != text + length ||
        arch > 999)
        return false;
    out->machine_arch = (uint32_t)arch;
    return true;
}

static bool parse_word(const char *text, size_t whole_length, wpi_variant *out) {
    const char *sign = memchr(text, ARCH_SIGN, whole_length);
    const size_t length = sign != NULL ? (size_t)(sign - text) : whole_length;
    for (size_t i = 0; i < WORD_COUNT; i++) {
        if (strlen(words[i].word) != length || strncmp(words[i].word, text, length) != 0) continue;
        out->kind = words[i].kind;
        out->is_in_step = words[i].is_in_step;
        out->finds_races = words[i].finds_races;
        return sign == NULL || parse_arch(sign, whole_length - length, out);
    }
    return false;
}

static wp_status refuse_word(const char *text, size_t length, wp_error *err) {
    wpi_text known = {0};
    for (size_t i = 0; i < WORD_COUNT; i++)
        wpi_text_appendf(&known, "%s%s", i == 0 ? "" : ", ", words[i].word);
    const wp_status status =
        WP_FAIL(err, INVALID, "variant '%.*s': unknown; the variants are: %s",
                (int)(length < 100 ? length : 100), text, wpi_text_string(&known));
    wpi_text_deinit(&known);
    return status;
}

wp_status wpi_variant_parse(const char *text, wpi_variant *out, wp_error *err) {
    static const char sign[] = {REWRITE_SIGN, '\0'};
    size_t length = strcspn(text, sign);
    *out = (wpi_variant){0};
    if (!parse_word(text, length, out)) return refuse_word(text, length, err);
    for (const char *at = text + length; *at != '\0'; at += length) {
        at++;
        length = strcspn(at, sign);
        if (length == 0) {
            wpi_variant_deinit(out);
            return WP_FAIL(err, INVALID, "variant '%.200s': a rewrite after '%s' has no name", text,
                           sign);
        }
        wpi_strings_addf(&out->rewrites, "%.*s", (int)length, at);
    }
    return WP_STATUS_OK;
}

const char *wpi_variant_word(const wpi_variant *variant) {
    for (size_t i = 0; i < WORD_COUNT; i++)
        if (words[i].kind == variant->kind && words[i].is_in_step == variant->is_in_step &&
            words[i].finds_races == variant->finds_races)
            return words[i].word;
    return "";
}

char *wpi_variant_text(const wpi_variant *variant) {
    wpi_text text = {0};
    wpi_text_append(&text, wpi_variant_word(variant));
    if (variant->machine_arch != 0)
        wpi_text_appendf(&text, "%c%u", ARCH_SIGN, variant->machine_arch);
    for (size_t i = 0; i < variant->rewrites.count; i++)
        wpi_text_appendf(&text, "%c%s", REWRITE_SIGN, variant->rewrites.items[i]);
    return wpi_text_take(&text);
}

bool wpi_variant_equals(const wpi_variant *a, const wpi_variant *b) {
    if (a->kind != b->kind || a->is_in_step != b->is_in_step || a->finds_races != b->finds_races ||
        a->machine_arch != b->machine_arch || a->rewrites.count != b->rewrites.count)
        return false;
    for (size_t i = 0; i < a->rewrites.count; i++)
        if (strcmp(a->rewrites.items[i], b->rewrites.items[i]) != 0) return false;
    return true;
}

void wpi_variant_deinit(wpi_variant *variant) {
    wpi_strings_deinit(&variant->rewrites);
    *variant = (wpi_variant){0};
}
