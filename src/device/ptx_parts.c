/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text is a sequence of items: directives, variables, functions, kernels. A part is the closure
 * of a kernel: the items whose names occur in it, and in those. Kernels whose closures have a
 * variable in common are united (union-find over items), as a variable has one storage. Constants
 * that compilers name themselves, such as texts of messages, are copied to all parts instead.
 *
 *     .version …       in all parts
 *     .global v        kernel a: f, v ─┐
 *     .func f          kernel b: v    ─┴─ one part: f, v, a, b
 *     .entry a, b, c   kernel c: f    ─── another part: f, c
 */
#include "device/ptx_parts.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/text.h"

#define NONE SIZE_MAX

typedef enum item_kind {
    ITEM_DIRECTIVE, /* in all parts */
    ITEM_KERNEL,
    ITEM_FUNCTION,
    ITEM_VARIABLE,
    ITEM_CONSTANT, /* a variable that is copied */
} item_kind;

typedef struct item {
    const char *first, *outer;
    const char *name; /* in the text, not terminated */
    size_t name_bytes;
    size_t same;   /* the next item of that name, a declaration say; NONE: none */
    size_t united; /* union-find */
    item_kind kind;
    size_t *uses; /* items */
    size_t use_count, use_room;
} item;

struct wpi_ptx_parts {
    char *text;
    item *items;
    size_t count, room;
    size_t *slots; /* by name: item + 1 */
    size_t slot_count;
};

typedef struct token {
    const char *first;
    size_t bytes;
} token;

/* ---- tokens ---- */

static bool is_word_byte(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Past a comment or a string that begins at `at`; `at` where there is none. */
static const char *skip_opaque(const char *at) {
    const char *end;
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    if (at[0] != '"') return at;
    end = at + 1;
    while (*end != '\0' && *end != '"')
        end += end[0] == '\\' && end[1] != '\0' ? 2 : 1;
    return *end == '"' ? end + 1 : end;
}

static const char *skip_space(const char *at) {
    for (;;) {
        const char *next = at;
        while (isspace((unsigned char)*next))
            next++;
        if (*next == '/') next = skip_opaque(next);
        if (next == at) return at;
        at = next;
    }
}

/* The next word between `at` and `outer`; directives begin with '.', registers with '%'. */
static bool next_word(const char **at, const char *outer, token *out) {
    for (const char *p = *at; p < outer;) {
        const char *after = skip_opaque(p);
        if (after != p) {
            p = after;
            continue;
        }
        if (!is_word_byte(*p) && *p != '.' && *p != '%') {
            p++;
            continue;
        }
        out->first = p++;
        while (p < outer && is_word_byte(*p))
            p++;
        out->bytes = (size_t)(p - out->first);
        *at = p;
        return true;
    }
    return false;
}

static bool is(const token *t, const char *word) {
    return t->bytes == strlen(word) && memcmp(t->first, word, t->bytes) == 0;
}

/* ---- items ---- */

static bool begins_with_any(const char *at, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(at, words[i], length) == 0 && !is_word_byte(at[length])) return true;
    }
    return false;
}

bool wpi_ptx_is_header(const char *at) {
    static const char *const words[] = {".version", ".target", ".address_size"};
    return begins_with_any(at, words, sizeof words / sizeof *words);
}

/* What is between the parts: debug information names lines of functions, an alias two functions. */
static bool is_for_whole(const char *at) {
    static const char *const words[] = {".section", ".file", ".loc", ".alias"};
    return begins_with_any(at, words, sizeof words / sizeof *words);
}

/* The end of the variable or function that begins at `at`; NULL: it is another thing. */
static const char *find_end(const char *at, bool *is_function) {
    int depth = 0;
    *is_function = false;
    for (const char *p = at; *p != '\0';) {
        const char *after = skip_opaque(p);
        if (after != p) {
            p = after;
            continue;
        }
        if (p[0] == '.' && (strncmp(p, ".func", 5) == 0 || strncmp(p, ".entry", 6) == 0) &&
            depth == 0)
            *is_function = true;
        if (*p == '{' || *p == '(' || *p == '[') depth++;
        if (*p == '}' || *p == ')' || *p == ']') depth--;
        if (depth < 0 || (*p == ',' && depth == 0 && !*is_function)) return NULL;
        if (*p == ';' && depth == 0) return p + 1;
        if (*p == '}' && depth == 0 && *is_function) return p + 1;
        p++;
    }
    return NULL;
}

/* The name of a function: after .entry, or after .func and the result's parentheses. */
static bool find_function_name(item *it) {
    const char *at = it->first;
    token t;
    while (next_word(&at, it->outer, &t)) {
        if (is(&t, ".entry")) it->kind = ITEM_KERNEL;
        if (!is(&t, ".entry") && !is(&t, ".func")) continue;
        at = skip_space(at);
        if (*at == '(') at += strcspn(at, ")");
        if (!next_word(&at, it->outer, &t)) return false;
        it->name = t.first;
        it->name_bytes = t.bytes;
        return is_word_byte(*t.first);
    }
    return false;
}

/* Texts of messages and names of functions, by nvcc and clang. */
static bool is_compilers_name(const item *it) {
    static const char *const prefixes[] = {"$str", "_$_str", "__unnamed_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t length = strlen(prefixes[i]);
        if (it->name_bytes >= length && memcmp(it->name, prefixes[i], length) == 0) return true;
    }
    return false;
}

/* The name of a variable: the last word before its extent, value or end. */
static bool find_variable_name(item *it) {
    static const char *const shared[] = {".shared"};
    const char *at = it->first, *end = at + strcspn(at, "[=;");
    token t;
    it->kind = ITEM_VARIABLE;
    while (next_word(&at, end, &t)) {
        if (is(&t, ".attribute")) return false; /* managed: bound by its registration */
        if (begins_with_any(t.first, shared, 1)) it->kind = ITEM_CONSTANT; /* a block's own */
        it->name = is_word_byte(*t.first) ? t.first : NULL;
        it->name_bytes = t.bytes;
    }
    if (it->name != NULL && is_compilers_name(it)) it->kind = ITEM_CONSTANT;
    return it->name != NULL;
}

static item *add_item(wpi_ptx_parts *p) {
    if (p->count == p->room) {
        const size_t room = p->room != 0 ? 2 * p->room : 256;
        item *items = wpi_realloc(p->items, room * sizeof *items);
        if (items == NULL) return NULL;
        p->items = items;
        p->room = room;
    }
    p->items[p->count] = (item){.same = NONE, .united = p->count};
    return &p->items[p->count++];
}

static wp_status read_items(wpi_ptx_parts *p, wp_error *err) {
    for (const char *at = skip_space(p->text); *at != '\0'; at = skip_space(at)) {
        bool is_function = false;
        item *it = add_item(p);
        if (it == NULL) return WP_FAIL(err, NOMEM, "out of memory");
        it->first = at;
        it->outer = wpi_ptx_is_header(at) ? at + strcspn(at, "\n") : find_end(at, &is_function);
        if (is_for_whole(at) || it->outer == NULL)
            return WP_FAIL(err, UNSUPPORTED, "the PTX cannot be divided");
        at = it->outer;
        if (wpi_ptx_is_header(it->first) || strncmp(it->first, ".pragma", 7) == 0) continue;
        it->kind = ITEM_FUNCTION;
        if (is_function ? !find_function_name(it) : !find_variable_name(it))
            return WP_FAIL(err, UNSUPPORTED, "the PTX cannot be divided");
    }
    return WP_STATUS_OK;
}

/* ---- names ---- */

static size_t *find_slot(const wpi_ptx_parts *p, const char *name, size_t bytes) {
    size_t at = (size_t)wpi_hash64(name, bytes, 0) & (p->slot_count - 1);
    for (;; at = (at + 1) & (p->slot_count - 1)) {
        if (p->slots[at] == 0) return &p->slots[at];
        const item *it = &p->items[p->slots[at] - 1];
        if (it->name_bytes == bytes && memcmp(it->name, name, bytes) == 0) return &p->slots[at];
    }
}

static wp_status index_names(wpi_ptx_parts *p, wp_error *err) {
    p->slot_count = 64;
    while (p->slot_count < 4 * p->count)
        p->slot_count *= 2;
    p->slots = wpi_calloc(p->slot_count, sizeof *p->slots);
    if (p->slots == NULL) return WP_FAIL(err, NOMEM, "out of memory");
    for (size_t i = 0; i < p->count; i++) {
        if (p->items[i].name == NULL) continue;
        size_t *slot = find_slot(p, p->items[i].name, p->items[i].name_bytes);
        if (*slot != 0) p->items[i].same = *slot - 1;
        *slot = i + 1;
    }
    return WP_STATUS_OK;
}

static bool add_use(item *it, size_t used) {
    for (size_t i = 0; i < it->use_count; i++)
        if (it->uses[i] == used) return true;
    if (it->use_count == it->use_room) {
        const size_t room = it->use_room != 0 ? 2 * it->use_room : 4;
        size_t *uses = wpi_realloc(it->uses, room * sizeof *uses);
        if (uses == NULL) return false;
        it->uses = uses;
        it->use_room = room;
    }
    it->uses[it->use_count++] = used;
    return true;
}

static wp_status read_uses(wpi_ptx_parts *p, wp_error *err) {
    for (size_t i = 0; i < p->count; i++) {
        item *it = &p->items[i];
        const char *at = it->first;
        token t;
        if (it->name == NULL) continue;
        while (next_word(&at, it->outer, &t)) {
            if (!is_word_byte(*t.first) || isdigit((unsigned char)*t.first)) continue;
            for (size_t used = *find_slot(p, t.first, t.bytes); used != 0;
                 used = p->items[used - 1].same + 1)
                if (!add_use(it, used - 1)) return WP_FAIL(err, NOMEM, "out of memory");
        }
    }
    return WP_STATUS_OK;
}

/* ---- parts ---- */

/* Marks what `from` needs; `stack` has room for all items. */
static void mark(const wpi_ptx_parts *p, size_t from, bool *marked, size_t *stack) {
    size_t depth = 0;
    if (marked[from]) return;
    marked[from] = true;
    stack[depth++] = from;
    while (depth > 0) {
        const item *it = &p->items[stack[--depth]];
        for (size_t i = 0; i < it->use_count; i++) {
            if (marked[it->uses[i]]) continue;
            marked[it->uses[i]] = true;
            stack[depth++] = it->uses[i];
        }
    }
}

static size_t root_of(const wpi_ptx_parts *p, size_t i) {
    while (p->items[i].united != i)
        i = p->items[i].united;
    return i;
}

static bool is_part(const item *it) {
    return it->kind == ITEM_KERNEL || it->kind == ITEM_VARIABLE;
}

static wp_status unite(wpi_ptx_parts *p, wp_error *err) {
    bool *marked = wpi_malloc((p->count + 1) * sizeof *marked);
    size_t *stack = wpi_malloc((p->count + 1) * sizeof *stack);
    for (size_t i = 0; i < p->count && marked != NULL && stack != NULL; i++) {
        if (!is_part(&p->items[i])) continue;
        memset(marked, 0, p->count * sizeof *marked);
        mark(p, i, marked, stack);
        for (size_t k = 0; k < p->count; k++)
            if (marked[k] && is_part(&p->items[k])) p->items[root_of(p, k)].united = root_of(p, i);
    }
    const bool is_done = marked != NULL && stack != NULL;
    wpi_free(marked);
    wpi_free(stack);
    return is_done ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "out of memory");
}

wp_status wpi_ptx_parts_create(char *text, wpi_ptx_parts **out, wp_error *err) {
    wpi_ptx_parts *p = wpi_calloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL) return WP_FAIL(err, NOMEM, "out of memory");
    p->text = text;
    wp_status status = read_items(p, err);
    if (status == WP_STATUS_OK) status = index_names(p, err);
    if (status == WP_STATUS_OK) status = read_uses(p, err);
    if (status == WP_STATUS_OK) status = unite(p, err);
    if (status != WP_STATUS_OK) {
        p->text = NULL;
        wpi_ptx_parts_destroy(p);
        return status;
    }
    *out = p;
    return WP_STATUS_OK;
}

void wpi_ptx_parts_destroy(wpi_ptx_parts *p) {
    if (p == NULL) return;
    for (size_t i = 0; i < p->count; i++)
        wpi_free(p->items[i].uses);
    wpi_free(p->items);
    wpi_free(p->slots);
    wpi_free(p->text);
    wpi_free(p);
}

size_t wpi_ptx_parts_outer(const wpi_ptx_parts *p) {
    return p->count;
}

bool wpi_ptx_parts_find(const wpi_ptx_parts *p, const char *name, size_t *part) {
    const size_t slot = *find_slot(p, name, strlen(name));
    for (size_t i = slot != 0 ? slot - 1 : NONE; i != NONE; i = p->items[i].same) {
        if (!is_part(&p->items[i])) continue;
        *part = root_of(p, i);
        return true;
    }
    return false;
}

char *wpi_ptx_parts_text(const wpi_ptx_parts *p, size_t part) {
    bool *marked = wpi_calloc(p->count + 1, sizeof *marked);
    size_t *stack = wpi_malloc((p->count + 1) * sizeof *stack);
    wpi_text text = {0};
    for (size_t i = 0; i < p->count && marked != NULL && stack != NULL; i++) {
        if (p->items[i].name == NULL) marked[i] = true;
        if (is_part(&p->items[i]) && root_of(p, i) == part) mark(p, i, marked, stack);
    }
    for (size_t i = 0; i < p->count && marked != NULL && stack != NULL; i++) {
        if (!marked[i]) continue;
        wpi_text_append_n(&text, p->items[i].first,
                          (size_t)(p->items[i].outer - p->items[i].first));
        wpi_text_append(&text, "\n");
    }
    wpi_free(marked);
    wpi_free(stack);
    return wpi_text_take(&text);
}
