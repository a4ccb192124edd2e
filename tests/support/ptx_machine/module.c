/* SPDX-License-Identifier: Apache-2.0 */
/* What a loaded module holds, and its end. */
#include "parser.h"

typedef struct pm_chunk {
    struct pm_chunk *next;
    _Alignas(16) unsigned char bytes[];
} pm_chunk;

void *pm_module_alloc(pm_module *module, size_t bytes) {
    pm_chunk *chunk = calloc(1, sizeof *chunk + bytes);
    if (chunk == NULL) abort();
    chunk->next = module->chunks;
    module->chunks = chunk;
    return chunk->bytes;
}

char *pm_module_text(pm_module *module, const char *text, size_t length) {
    char *copy = pm_module_alloc(module, length + 1);
    memcpy(copy, text, length);
    return copy;
}

pm_module *pm_module_load(const char *text, char *log, size_t log_bytes) {
    pm_parser *p = calloc(1, sizeof *p);
    if (p == NULL || (p->module = calloc(1, sizeof *p->module)) == NULL) abort();
    p->log = log;
    p->log_bytes = log_bytes;
    pm_lexer_start(&p->lexer, text);
    const bool is_loaded = setjmp(p->failed) == 0;
    if (is_loaded) pm_parse(p);
    pm_module *m = p->module;
    free(p->constant_links);
    free(p);
    if (is_loaded) return m;
    pm_module_free(m);
    return NULL;
}

void pm_module_free(pm_module *m) {
    if (m == NULL) return;
    for (unsigned i = 0; i < m->variable_count; i++)
        free(m->variables[i].memory);
    while (m->chunks != NULL) {
        pm_chunk *next = m->chunks->next;
        free(m->chunks);
        m->chunks = next;
    }
    free(m->code);
    free(m->constants);
    free(m->functions);
    free(m->kernels);
    free(m->variables);
    free(m);
}

const pm_kernel *pm_module_kernel(const pm_module *m, unsigned number) {
    return number < m->kernel_count ? &m->kernels[number] : NULL;
}

const pm_variable *pm_module_variable(const pm_module *m, unsigned number) {
    return number < m->variable_count ? &m->variables[number] : NULL;
}
