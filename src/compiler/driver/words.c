/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/words.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"

#define SPACES " \t\r\n"
#define NESTING_MAX 16 /* response files that name response files */

void wpi_words_split(const char *text, const char *separators, wpi_strings *out) {
    wpi_text word = {0};
    bool is_word = false;
    char quote = 0;
    for (const char *c = text; *c; c++) {
        if (!quote && strchr(separators, *c)) {
            if (is_word) wpi_strings_add(out, wpi_text_string(&word));
            wpi_text_clear(&word);
            is_word = false;
            continue;
        }
        is_word = true;
        if (quote ? *c == quote : *c == '"' || *c == '\'') {
            quote = quote ? 0 : *c;
        } else if (*c == '\\' && quote != '\'' && c[1]) {
            wpi_text_append_n(&word, ++c, 1);
        } else {
            wpi_text_append_n(&word, c, 1);
        }
    }
    if (is_word) wpi_strings_add(out, wpi_text_string(&word));
    wpi_text_deinit(&word);
}

static wp_status add_word(const char *word, wpi_strings *out, int nesting, wp_error *err);

static wp_status add_file(const char *path, wpi_strings *out, int nesting, wp_error *err) {
    if (nesting == NESTING_MAX)
        return WP_FAIL(err, INVALID, "@%s: options files name each other in a circle", path);
    char *text = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &text, &size_bytes, err));
    wpi_strings words = {0};
    wpi_words_split(text, SPACES, &words);
    wpi_free(text);
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < words.count && status == WP_STATUS_OK; i++)
        status = add_word(words.items[i], out, nesting + 1, err);
    wpi_strings_deinit(&words);
    return status;
}

static wp_status add_word(const char *word, wpi_strings *out, int nesting, wp_error *err) {
    if (word[0] == '@' && word[1]) return add_file(word + 1, out, nesting, err);
    static const char *const names[] = {"--options-file=", "-options-file=", "-optf=", "--optf="};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(word, names[i], strlen(names[i])) == 0)
            return add_file(word + strlen(names[i]), out, nesting, err);
    wpi_strings_add(out, word);
    return WP_STATUS_OK;
}

static bool takes_file(const char *word) {
    return strcmp(word, "--options-file") == 0 || strcmp(word, "-options-file") == 0 ||
           strcmp(word, "-optf") == 0 || strcmp(word, "--optf") == 0;
}

static wp_status add_environment(const char *name, wpi_strings *out, wp_error *err) {
    const char *value = getenv(name);
    if (!value || !*value) return WP_STATUS_OK;
    wpi_strings words = {0};
    wpi_words_split(value, SPACES, &words);
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < words.count && status == WP_STATUS_OK; i++)
        status = add_word(words.items[i], out, 0, err);
    wpi_strings_deinit(&words);
    return status;
}

wp_status wpi_words_gather(int argc, char **argv, wpi_strings *out, wp_error *err) {
    WP_TRY(add_environment("NVCC_PREPEND_FLAGS", out, err));
    for (int i = 1; i < argc; i++) {
        if (takes_file(argv[i])) {
            if (i + 1 == argc) return WP_FAIL(err, INVALID, "%s needs a file of options", argv[i]);
            WP_TRY(add_file(argv[++i], out, 0, err));
        } else {
            WP_TRY(add_word(argv[i], out, 0, err));
        }
    }
    return add_environment("NVCC_APPEND_FLAGS", out, err);
}
