/* SPDX-License-Identifier: Apache-2.0 */
#include "common/letters.h"

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"

enum { VECTOR_BYTES = 16, LINE_BYTES = 70 };

/* Words of 1 to 9 letters, a quarter of them capitalised, in lines of about 70 bytes. */
static char *generate(size_t bytes, uint64_t seed) {
    app_random random = {seed, 0};
    char *text = (char *)app_allocate(bytes + 1, 1, "the text");
    size_t line = 0, left = 0;
    for (size_t i = 0; i < bytes; i++, line++) {
        const uint64_t draw = app_random_next(&random);
        if (left == 0 && i != 0) {
            text[i] = line >= LINE_BYTES ? '\n' : ' ';
            line = text[i] == '\n' ? 0 : line;
            left = 1 + draw % 9;
            continue;
        }
        left = left == 0 ? 1 + draw % 9 : left;
        text[i] = (char)((draw >> 40) % 16 == 0 ? 'A' + draw % 26 : 'a' + draw % 26);
        left--;
    }
    text[bytes] = '\0';
    return text;
}

char *app_letters_load(const app_common *common, size_t default_bytes, size_t *bytes) {
    if (common->input != NULL) {
        char *text = app_text_read_all(common->input, bytes);
        if (*bytes == 0) {
            app_fail("%s is empty", common->input);
        }
        return text;
    }
    *bytes = (size_t)app_size_items(common->size, 1.0, default_bytes, 1, UINT64_C(1) << 38);
    return generate(*bytes, common->seed);
}

size_t app_letters_share(size_t bytes, size_t threads) {
    const size_t share = (bytes + threads - 1) / threads;
    return (share + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
}
