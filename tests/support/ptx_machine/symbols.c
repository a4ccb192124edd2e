/* SPDX-License-Identifier: Apache-2.0 */
#include "symbols.h"

static unsigned bucket_of(const char *name, size_t length) {
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash % PM_SYMBOL_BUCKETS;
}

pm_symbol *pm_symbol_find(const pm_symbols *symbols, const char *name, size_t length) {
    for (pm_symbol *s = symbols->buckets[bucket_of(name, length)]; s != NULL; s = s->next)
        if (strlen(s->name) == length && memcmp(s->name, name, length) == 0) return s;
    return NULL;
}

pm_symbol *pm_symbol_find_here(const pm_symbols *symbols, const char *name, size_t length) {
    pm_symbol *s = pm_symbol_find(symbols, name, length);
    return s != NULL && s->depth == symbols->depth ? s : NULL;
}

pm_symbol *pm_symbol_add(pm_symbols *symbols, pm_module *module, const char *name, size_t length,
                         pm_symbol_kind kind) {
    pm_symbol **bucket = &symbols->buckets[bucket_of(name, length)];
    pm_symbol *s = pm_module_alloc(module, sizeof *s);
    s->name = pm_module_text(module, name, length);
    s->kind = kind;
    s->depth = symbols->depth;
    s->next = *bucket;
    *bucket = s;
    return s;
}

void pm_scope_open(pm_symbols *symbols) {
    symbols->depth++;
}

void pm_scope_close(pm_symbols *symbols) {
    for (unsigned i = 0; i < PM_SYMBOL_BUCKETS; i++) {
        for (pm_symbol **link = &symbols->buckets[i]; *link != NULL;) {
            if ((*link)->depth == symbols->depth)
                *link = (*link)->next;
            else
                link = &(*link)->next;
        }
    }
    symbols->depth--;
}
