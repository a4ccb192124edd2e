/* SPDX-License-Identifier: Apache-2.0 */
/** Names in scopes: `{` opens one. A name means what the innermost scope says. */
#ifndef PM_SYMBOLS_H
#define PM_SYMBOLS_H

#include "machine.h"

typedef enum pm_symbol_kind {
    PM_SYMBOL_REGISTER,
    PM_SYMBOL_VARIABLE,
    PM_SYMBOL_FUNCTION,
    PM_SYMBOL_LABEL,
    PM_SYMBOL_PROTOTYPE,
    PM_SYMBOL_TARGETS /* of brx.idx */
} pm_symbol_kind;

typedef struct pm_symbol {
    const char *name;
    pm_symbol_kind kind;
    pm_type type;     /* registers */
    int32_t row;      /* registers */
    pm_space space;   /* variables */
    bool is_dynamic;  /* .extern .shared: behind the static variables */
    bool is_defined;  /* labels */
    uint64_t address; /* variables: in their space; labels: pc */
    uint64_t bytes;   /* variables */
    pm_function *function;
    const uint32_t *targets;
    uint32_t target_count;
    unsigned depth; /* of the scope */
    struct pm_symbol *next;
} pm_symbol;

enum { PM_SYMBOL_BUCKETS = 1024 };
typedef struct pm_symbols {
    pm_symbol *buckets[PM_SYMBOL_BUCKETS]; /* innermost first */
    unsigned depth;
} pm_symbols;

pm_symbol *pm_symbol_find(const pm_symbols *symbols, const char *name, size_t length);
/* In the scope at hand only. */
pm_symbol *pm_symbol_find_here(const pm_symbols *symbols, const char *name, size_t length);
pm_symbol *pm_symbol_add(pm_symbols *symbols, pm_module *module, const char *name, size_t length,
                         pm_symbol_kind kind);
void pm_scope_open(pm_symbols *symbols);
void pm_scope_close(pm_symbols *symbols);

#endif
