/* SPDX-License-Identifier: Apache-2.0 */
#include "common/letters.h"

#include <stdlib.h>
#include <string.h>

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

static char *load(const app_common *common, size_t *bytes) {
    if (common->input != NULL) {
        char *text = app_text_read_all(common->input, bytes);
        if (*bytes == 0) {
            app_fail("%s is empty", common->input);
        }
        return text;
    }
    *bytes = (size_t)app_size_items(common->size, 1.0, (uint64_t)4 << 20, 1, UINT64_C(1) << 38);
    return generate(*bytes, common->seed);
}

static size_t up(size_t bytes) {
    return (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES * VECTOR_BYTES;
}

void app_letters_open(app_letters *l, int argc, char **argv, const app_program *program,
                      app_common *common, const app_letters_options *how,
                      const app_option *options) {
    app_options_parse(argc, argv, program, common, options);
    memset(l, 0, sizeof *l);
    l->loaded = load(common, &l->bytes);
    app_device_open(&l->device, common->memory);
    cudaDeviceProp properties;
    app_cuda_check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "", 0);
    l->blocks = (unsigned)how->blocks_per_sm * (unsigned)properties.multiProcessorCount;
    l->threads = (unsigned)how->threads;
    const size_t threads = (size_t)l->blocks * l->threads;
    l->share = up((l->bytes + threads - 1) / threads);
    app_array_create(&l->device, &l->text, up(l->bytes), 1, "text", APP_ROLE_INPUT);
    memset(l->text.host, ' ', up(l->bytes));
    memcpy(l->text.host, l->loaded, l->bytes);
    app_array_to_device(&l->device, &l->text);
}

void app_letters_close(app_letters *l) {
    app_array_free(&l->device, &l->text);
    app_device_close(&l->device);
    free(l->loaded);
}
