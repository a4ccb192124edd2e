/* SPDX-License-Identifier: Apache-2.0 */
/* The five functions of libzstd's stable streaming interface that unpacking takes. */
#include "common/unzstd.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"

/* As libzstd's interface has them: in and out buffers with a position. */
typedef struct zstd_in {
    const void *bytes;
    size_t size_bytes;
    size_t position;
} zstd_in;

typedef struct zstd_out {
    void *bytes;
    size_t size_bytes;
    size_t position;
} zstd_out;

struct app_unzstd {
    void *library;
    void *stream;
    size_t wants; /* last answer: 0 between frames */
    void *(*create)(void);
    size_t (*destroy)(void *stream);
    size_t (*decompress)(void *stream, zstd_out *out, zstd_in *in);
    unsigned (*is_error)(size_t result);
    const char *(*error_name)(size_t result);
};

/* ISO C has no cast from dlsym's object pointer to a function pointer; POSIX promises that the
 * bytes are the same. */
static bool find(void *library, const char *name, void *function) {
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

app_unzstd *app_unzstd_create(const char **reason) {
    app_unzstd *z = app_allocate(1, sizeof *z, "the zstd decompressor");
    memset(z, 0, sizeof *z);
    z->library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    if (z->library == NULL) {
        *reason = "libzstd.so.1 is not installed (package libzstd1)";
    } else if (!find(z->library, "ZSTD_createDStream", &z->create) ||
               !find(z->library, "ZSTD_freeDStream", &z->destroy) ||
               !find(z->library, "ZSTD_decompressStream", &z->decompress) ||
               !find(z->library, "ZSTD_isError", &z->is_error) ||
               !find(z->library, "ZSTD_getErrorName", &z->error_name)) {
        *reason = "libzstd.so.1 lacks a function";
    } else if ((z->stream = z->create()) == NULL) {
        *reason = "libzstd could not make a stream";
    } else {
        return z;
    }
    app_unzstd_destroy(z);
    return NULL;
}

void app_unzstd_destroy(app_unzstd *stream) {
    if (stream == NULL) {
        return;
    }
    if (stream->stream != NULL) {
        stream->destroy(stream->stream);
    }
    if (stream->library != NULL) {
        dlclose(stream->library);
    }
    free(stream);
}

const char *app_unzstd_some(app_unzstd *stream, const char *in, size_t in_bytes, size_t *in_used,
                            char *out, size_t out_bytes, size_t *out_used) {
    zstd_in from = {in, in_bytes, *in_used};
    zstd_out to = {out, out_bytes, *out_used};
    stream->wants = stream->decompress(stream->stream, &to, &from);
    if (stream->is_error(stream->wants)) {
        return stream->error_name(stream->wants);
    }
    *in_used = from.position;
    *out_used = to.position;
    return NULL;
}

bool app_unzstd_is_complete(const app_unzstd *stream) {
    return stream->wants == 0;
}
