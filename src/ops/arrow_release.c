/* SPDX-License-Identifier: Apache-2.0 */
#include "warpage/arrow_release.h"

#include <stdatomic.h>

/* As Arrow's C data interface lays them out; `release` is NULL in what has been released. */
typedef struct schema {
    const char *format, *name, *metadata;
    int64_t flags, child_count;
    void *children, *dictionary;
    wp_releaser release;
    void *own;
} schema;

typedef struct array {
    int64_t length, null_count, offset, buffer_count, child_count;
    void *buffers, *children, *dictionary;
    wp_releaser release;
    void *own;
} array;

typedef struct stream {
    void *get_schema, *get_next, *get_last_error;
    wp_releaser release;
    void *own;
} stream;

static _Atomic(wp_releaser) of_schemas, of_arrays, of_streams;

void wp_release_by(wp_releaser of_schema, wp_releaser of_array, wp_releaser of_stream) {
    atomic_store(&of_schemas, of_schema);
    atomic_store(&of_arrays, of_array);
    atomic_store(&of_streams, of_stream);
}

static void release(wp_releaser by, void *structure, wp_releaser *mark) {
    if (by != NULL)
        by(structure);
    else
        *mark = NULL;
}

void wp_release_schema(void *structure) {
    release(atomic_load(&of_schemas), structure, &((schema *)structure)->release);
}

void wp_release_array(void *structure) {
    release(atomic_load(&of_arrays), structure, &((array *)structure)->release);
}

void wp_release_stream(void *structure) {
    release(atomic_load(&of_streams), structure, &((stream *)structure)->release);
}
