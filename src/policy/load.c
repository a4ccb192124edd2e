/* SPDX-License-Identifier: Apache-2.0 */
/* A file is checked as a whole before any of its policies is added: first the interface, because
 * nothing else can be read safely if it differs, then each policy. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "policy/load.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "base/strings.h"
#include "policy/policy_file.h"
#include "warpage/version.h"

#define HOW "build it with `wpcc --policy`"

typedef struct loaded_file {
    struct loaded_file *next;
    char *path;
    uint64_t hash;
    const wpi_policy_file *table;
} loaded_file;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static loaded_file *files; /* in order of loading */

/* ---- kinds ---------------------------------------------------------------------------------- */

/* The name of a mandatory operation that a policy of the kind lacks; NULL: none. */
static const char *lack_of_scheduler(const void *ops) {
    return ((const wpi_scheduler_ops *)ops)->pick == NULL ? "pick" : NULL;
}

static const char *lack_of_nothing(const void *ops) {
    (void)ops;
    return NULL;
}

static const char *lack_of_tlb_sharing(const void *ops) {
    const wpi_tlb_sharing_ops *o = ops;
    return o->next != NULL && o->stores == NULL ? "stores" : NULL;
}

static const char *lack_of_prefetch(const void *ops) {
    return ((const wpi_prefetch_ops *)ops)->choose == NULL ? "choose" : NULL;
}

static const char *lack_of_evict(const void *ops) {
    return ((const wpi_evict_ops *)ops)->choose == NULL ? "choose" : NULL;
}

static const char *lack_of_migrate(const void *ops) {
    return ((const wpi_migrate_ops *)ops)->threshold == NULL ? "threshold" : NULL;
}

static const char *lack_of_thrash(const void *ops) {
    const wpi_thrash_ops *o = ops;
    if (o->moved == NULL) return "moved";
    return o->ask == NULL ? "ask" : NULL;
}

static const struct {
    const char *name;
    const char *(*lack)(const void *ops);
} kinds[] = {{"scheduler", lack_of_scheduler},     {"replacement", lack_of_nothing},
             {"tlb_sharing", lack_of_tlb_sharing}, {"tlb_prefetch", lack_of_nothing},
             {"prefetch", lack_of_prefetch},       {"evict", lack_of_evict},
             {"migrate", lack_of_migrate},         {"thrash", lack_of_thrash}};

#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static size_t kind_number(const char *name, wpi_nearest *nearest) {
    *nearest = (wpi_nearest){.wanted = name};
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (strcmp(kinds[i].name, name) == 0) return i;
        wpi_nearest_offer(nearest, kinds[i].name);
    }
    return KIND_COUNT;
}

/* ---- one policy ----------------------------------------------------------------------------- */

/* Names must not contain the separators of lists: commas, colons, semicolons. */
static bool is_name(const char *name) {
    return name[0] != '\0' && name[strspn(name, "abcdefghijklmnopqrstuvwxyz"
                                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")] == '\0';
}

/* The file that has a policy of this kind and name already; NULL: none. Called under the lock. */
static const char *owner_of(const wpi_policy *policy) {
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++)
        if (strcmp((*p)->kind, policy->kind) == 0 && strcmp((*p)->name, policy->name) == 0)
            return "Warpage";
    for (const loaded_file *f = files; f != NULL; f = f->next)
        for (const wpi_policy *const *p = f->table->policies; *p != NULL; p++)
            if (strcmp((*p)->kind, policy->kind) == 0 && strcmp((*p)->name, policy->name) == 0)
                return f->path;
    return NULL;
}

static wp_status check_policy(const char *path, const wpi_policy *policy, wp_error *err) {
    wpi_nearest nearest;
    const char *texts[] = {policy->name, policy->kind, policy->keys, policy->doc, policy->source};
    static const char *const members[] = {"name", "kind", "keys", "doc", "source"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i] == NULL)
            return WP_FAIL(err, INVALID, "%s: policy '%s' has no .%s; write \"\" for none", path,
                           policy->name != NULL ? policy->name : "", members[i]);
    if (!is_name(policy->name))
        return WP_FAIL(err, INVALID,
                       "%s: policy name '%s': use letters, digits, '-', '_' and '.' only", path,
                       policy->name);
    const size_t kind = kind_number(policy->kind, &nearest);
    const char *meant = kind == KIND_COUNT ? wpi_nearest_result(&nearest) : NULL;
    if (meant != NULL)
        return WP_FAIL(err, INVALID, "%s: policy '%s': there is no kind '%s'; did you mean '%s'?",
                       path, policy->name, policy->kind, meant);
    if (kind == KIND_COUNT)
        return WP_FAIL(err, INVALID,
                       "%s: policy '%s': there is no kind '%s'; `warpage policies` lists them",
                       path, policy->name, policy->kind);
    if (policy->ops == NULL)
        return WP_FAIL(err, INVALID, "%s: policy '%s' has no operations; set .ops", path,
                       policy->name);
    const char *lack = kinds[kind].lack(policy->ops);
    if (lack != NULL)
        return WP_FAIL(err, INVALID, "%s: %s policy '%s' has no operation '%s'", path, policy->kind,
                       policy->name, lack);
    const char *owner = owner_of(policy);
    if (owner != NULL)
        return WP_FAIL(err, INVALID,
                       "%s: %s already has a %s policy '%s'; give this one another name", path,
                       owner, policy->kind, policy->name);
    return WP_STATUS_OK;
}

/* ---- one file ------------------------------------------------------------------------------- */

static wp_status check_interface(const char *path, const wpi_policy_file *table, wp_error *err) {
    static const uint32_t sizes[] = WPI_POLICY_SIZES;
    const size_t count = sizeof sizes / sizeof sizes[0];
    if (table->abi == WPI_POLICY_ABI && table->size_count == count &&
        memcmp(table->sizes, sizes, sizeof sizes) == 0)
        return WP_STATUS_OK;
    return WP_FAIL(err, INVALID,
                   "%s was built for another policy interface (version %u, of Warpage %s; this is "
                   "version %u, of Warpage %s); " HOW " of this Warpage",
                   path, table->abi, table->version != NULL ? table->version : "?", WPI_POLICY_ABI,
                   WP_VERSION_STRING);
}

static wp_status check_table(const char *path, const wpi_policy_file *table, wp_error *err) {
    const wpi_policy *const *policies = table->policies;
    for (size_t i = 0; policies[i] != NULL; i++) {
        WP_TRY(check_policy(path, policies[i], err));
        for (size_t before = 0; before < i; before++)
            if (strcmp(policies[before]->kind, policies[i]->kind) == 0 &&
                strcmp(policies[before]->name, policies[i]->name) == 0)
                return WP_FAIL(err, INVALID, "%s has two %s policies named '%s'", path,
                               policies[i]->kind, policies[i]->name);
    }
    return WP_STATUS_OK;
}

static wp_status open_table(const char *path, void **library, const wpi_policy_file **table,
                            wp_error *err) {
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*library == NULL) {
        const char *why = dlerror();
        const size_t length = strlen(path);
        if (why != NULL && strncmp(why, path, length) == 0 && strncmp(why + length, ": ", 2) == 0)
            why += length + 2;
        return WP_FAIL(err, INVALID, "%s cannot be loaded as a policy file (%s); " HOW, path,
                       why != NULL ? why : "unknown reason");
    }
    *table = dlsym(*library, WPI_POLICY_FILE_SYMBOL);
    if (*table == NULL)
        return WP_FAIL(err, INVALID, "%s is not a policy file: it has no symbol %s; " HOW, path,
                       WPI_POLICY_FILE_SYMBOL);
    return WP_STATUS_OK;
}

static bool is_loaded(const char *path) {
    for (const loaded_file *f = files; f != NULL; f = f->next)
        if (strcmp(f->path, path) == 0) return true;
    return false;
}

static void append(loaded_file *file) {
    loaded_file **end = &files;
    while (*end != NULL)
        end = &(*end)->next;
    *end = file;
}

static wp_status hash_file(const char *path, uint64_t *hash, wp_error *err) {
    char *data = NULL;
    size_t bytes = 0;
    WP_TRY(wpi_file_read(path, &data, &bytes, err));
    *hash = wpi_hash64(data, bytes, 1);
    wpi_free(data);
    return WP_STATUS_OK;
}

/* Under the lock; `path` is absolute. */
static wp_status load(const char *path, wp_error *err) {
    void *library = NULL;
    wp_status status = WP_STATUS_OK;
    if (is_loaded(path)) return WP_STATUS_OK;
    loaded_file *file = wpi_calloc(1, sizeof *file);
    if (file != NULL) file->path = wpi_strdup(path);
    if (file == NULL || file->path == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "policy file %s", path), done);
    WP_TRY_GOTO(hash_file(path, &file->hash, err), done);
    WP_TRY_GOTO(open_table(path, &library, &file->table, err), done);
    WP_TRY_GOTO(check_interface(path, file->table, err), done);
    WP_TRY_GOTO(check_table(path, file->table, err), done);
    append(file);
    return WP_STATUS_OK;
done:
    if (library != NULL) (void)dlclose(library);
    if (file != NULL) wpi_free(file->path);
    wpi_free(file);
    return status;
}

wp_status wpi_policy_file_load(const char *path, wp_error *err) {
    if (wpi_dir_exists(path)) return WP_FAIL(err, IO, "%s is a folder, not a policy file", path);
    char *real = realpath(path, NULL);
    if (real == NULL) return WP_FAIL(err, NOT_FOUND, "%s: no such policy file", path);
    pthread_mutex_lock(&lock);
    const wp_status status = load(real, err);
    pthread_mutex_unlock(&lock);
    free(real); /* realpath's own allocation */
    return status;
}

wp_status wpi_policy_files_load(const char *paths, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    while (*paths != '\0' && status == WP_STATUS_OK) {
        const size_t length = strcspn(paths, ":");
        char *path = wpi_strndup(paths, length);
        if (path == NULL) return WP_FAIL(err, NOMEM, "policy files");
        if (length != 0) status = wpi_policy_file_load(path, err);
        wpi_free(path);
        paths += length + (paths[length] == ':');
    }
    return status;
}

bool wpi_policy_file_at(size_t i, const char **path, uint64_t *hash) {
    pthread_mutex_lock(&lock);
    const loaded_file *file = files;
    for (; file != NULL && i != 0; i--)
        file = file->next;
    pthread_mutex_unlock(&lock);
    if (file == NULL) return false;
    *path = file->path;
    *hash = file->hash;
    return true;
}

const wpi_policy *wpi_policy_loaded_at(size_t i) {
    const wpi_policy *found = NULL;
    pthread_mutex_lock(&lock);
    for (const loaded_file *f = files; f != NULL && found == NULL; f = f->next)
        for (const wpi_policy *const *p = f->table->policies; *p != NULL && found == NULL; p++)
            if (i-- == 0) found = *p;
    pthread_mutex_unlock(&lock);
    return found;
}
