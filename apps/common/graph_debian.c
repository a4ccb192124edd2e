/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debian's packages as a graph: an edge leads from a package to each package that it needs
 * (Pre-Depends and Depends).
 *
 * A need may list alternatives ("a | b") and may name a virtual package, which others provide. One
 * edge stands for one need: to the first alternative that is a package here, else to the first
 * package (in the order of the lists) that provides one of the alternatives; a need that nothing
 * here meets makes no edge. The first list that describes a package counts.
 */
#include "common/graph.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/names.h"
#include "common/report.h"
#include "common/text.h"

#define STATUS_FILE "/var/lib/dpkg/status"
#define LIST_PATTERN "/var/lib/apt/lists/*_Packages*"
#define NO_PACKAGE UINT32_MAX

/* One name: a package (has a stanza), a virtual package, or only mentioned. */
typedef struct name_info {
    uint32_t package;  /* number of the stanza, or NO_PACKAGE */
    uint32_t provider; /* number of the first stanza that provides it, or NO_PACKAGE */
} name_info;

typedef struct stanza {
    uint32_t name;
    size_t needs; /* offset of the NUL-terminated needs in catalogue.text */
} stanza;

typedef struct catalogue {
    app_names names;
    name_info *info; /* [info_capacity] */
    size_t info_capacity;
    stanza *stanzas;
    size_t stanza_count;
    size_t stanza_capacity;
    char *text;
    size_t text_bytes;
    size_t text_capacity;
} catalogue;

/* The stanza being read; fields grow as lines come. */
typedef struct field {
    char *text;
    size_t length;
    size_t capacity;
} field;

static void field_set(field *f, const char *text, size_t length) {
    f->length = 0;
    if (f->capacity < length + 1) {
        f->capacity = 2 * (length + 1);
        f->text = app_reallocate(f->text, f->capacity, 1, "a package");
    }
    memcpy(f->text, text, length);
    f->text[length] = '\0';
    f->length = length;
}

static void field_append(field *f, const char *text, size_t length) {
    if (f->capacity < f->length + length + 1) {
        f->capacity = 2 * (f->length + length + 1);
        f->text = app_reallocate(f->text, f->capacity, 1, "a package");
    }
    memcpy(f->text + f->length, text, length);
    f->length += length;
    f->text[f->length] = '\0';
}

static uint32_t number_name(catalogue *all, const char *name, size_t length) {
    uint32_t number = app_names_number(&all->names, name, length);
    if (number >= all->info_capacity) {
        size_t old = all->info_capacity;
        all->info_capacity = old != 0 ? 2 * old : 4096;
        all->info = app_reallocate(all->info, all->info_capacity, sizeof *all->info, "packages");
        for (size_t i = old; i < all->info_capacity; i++) {
            all->info[i] = (name_info){NO_PACKAGE, NO_PACKAGE};
        }
    }
    return number;
}

/* The next name of a relation list: moves *cursor past it and past version, architecture and the
 * separator, which is returned (',', '|' or NUL). An empty name has length 0. */
static char next_relation(const char **cursor, const char **name, size_t *length) {
    const char *p = *cursor;
    while (*p == ' ' || *p == '\n' || *p == '\t') {
        p++;
    }
    *name = p;
    *length = strcspn(p, " \t\n,|(:[");
    p += *length;
    p += strcspn(p, ",|");
    char separator = *p;
    *cursor = separator != '\0' ? p + 1 : p;
    return separator;
}

static void add_stanza(catalogue *all, const field *name, const field *needs,
                       const field *provides) {
    uint32_t number = number_name(all, name->text, name->length);
    if (all->info[number].package != NO_PACKAGE) {
        return;
    }
    if (all->stanza_count == all->stanza_capacity) {
        all->stanza_capacity = all->stanza_capacity != 0 ? 2 * all->stanza_capacity : 4096;
        all->stanzas =
            app_reallocate(all->stanzas, all->stanza_capacity, sizeof *all->stanzas, "packages");
    }
    while (all->text_capacity - all->text_bytes < needs->length + 1) {
        all->text_capacity = all->text_capacity != 0 ? 2 * all->text_capacity : 1u << 20;
        all->text = app_reallocate(all->text, all->text_capacity, 1, "packages");
    }
    uint32_t package = (uint32_t)all->stanza_count;
    all->stanzas[all->stanza_count++] = (stanza){number, all->text_bytes};
    memcpy(all->text + all->text_bytes, needs->text, needs->length);
    all->text[all->text_bytes + needs->length] = '\0';
    all->text_bytes += needs->length + 1;
    all->info[number].package = package;

    const char *cursor = provides->text;
    char separator;
    do {
        const char *word;
        size_t length;
        separator = next_relation(&cursor, &word, &length);
        if (length != 0) {
            uint32_t provided = number_name(all, word, length);
            if (all->info[provided].provider == NO_PACKAGE) {
                all->info[provided].provider = package;
            }
        }
    } while (separator != '\0');
}

static bool take_field(const char *line, const char *key, const char **value) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) != 0 || line[length] != ':') {
        return false;
    }
    *value = line + length + 1;
    *value += strspn(*value, " \t");
    return true;
}

static void read_list(catalogue *all, const char *path) {
    app_text *text = app_text_open(path);
    field name = {0};
    field needs = {0};
    field provides = {0};
    field_set(&name, "", 0);
    field_set(&needs, "", 0);
    field_set(&provides, "", 0);
    field *current = NULL; /* where continuation lines go */
    bool is_installed = true;
    bool has_line;
    do {
        char *line = NULL;
        size_t length = 0;
        const char *value;
        has_line = app_text_line(text, &line, &length);
        if (!has_line || length == 0) {
            if (name.length != 0 && is_installed) {
                add_stanza(all, &name, &needs, &provides);
            }
            field_set(&name, "", 0);
            field_set(&needs, "", 0);
            field_set(&provides, "", 0);
            current = NULL;
            is_installed = true;
        } else if (*line == ' ' || *line == '\t') {
            if (current != NULL) {
                field_append(current, line, length);
            }
        } else if (take_field(line, "Package", &value)) {
            field_set(&name, value, strlen(value));
            current = NULL;
        } else if (take_field(line, "Status", &value)) {
            size_t value_length = strlen(value);
            is_installed =
                value_length >= 10 && strcmp(value + value_length - 10, " installed") == 0;
            current = NULL;
        } else if (take_field(line, "Depends", &value) || take_field(line, "Pre-Depends", &value)) {
            if (needs.length != 0) {
                field_append(&needs, ", ", 2);
            }
            field_append(&needs, value, strlen(value));
            current = &needs;
        } else if (take_field(line, "Provides", &value)) {
            field_set(&provides, value, strlen(value));
            current = &provides;
        } else {
            current = NULL;
        }
    } while (has_line);
    free(name.text);
    free(needs.text);
    free(provides.text);
    app_text_close(text);
}

/* Adds the edges of one package; seen[p] == package + 1 where the edge is there already. */
static void add_needs(catalogue *all, uint32_t package, uint32_t *seen, app_edges *edges) {
    const char *cursor = all->text + all->stanzas[package].needs;
    uint32_t real = NO_PACKAGE;     /* first alternative that is a package */
    uint32_t provider = NO_PACKAGE; /* first that provides an alternative */
    char separator;
    do {
        const char *word;
        size_t length;
        separator = next_relation(&cursor, &word, &length);
        if (length != 0) {
            const name_info *info = &all->info[number_name(all, word, length)];
            if (real == NO_PACKAGE) {
                real = info->package;
            }
            if (provider == NO_PACKAGE) {
                provider = info->provider;
            }
        }
        if (separator != '|') {
            uint32_t needed = real != NO_PACKAGE ? real : provider;
            if (needed != NO_PACKAGE && needed != package && seen[needed] != package + 1) {
                seen[needed] = package + 1;
                app_edges_add(edges, package, needed);
            }
            real = NO_PACKAGE;
            provider = NO_PACKAGE;
        }
    } while (separator != '\0');
}

static size_t read_lists(catalogue *all) {
    glob_t found;
    size_t list_count = 0;
    if (glob(LIST_PATTERN, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (access(found.gl_pathv[i], R_OK) == 0 &&
                strstr(found.gl_pathv[i], ".diff") == NULL) {
                read_list(all, found.gl_pathv[i]);
                list_count++;
            }
        }
        globfree(&found);
    }
    return list_count;
}

void app_graph_read_packages(app_graph *graph, const char *which) {
    catalogue all = {0};
    if (strcmp(which, "installed") == 0) {
        read_list(&all, STATUS_FILE);
        snprintf(graph->title, sizeof graph->title, "packages installed here");
    } else if (strcmp(which, "all") == 0) {
        size_t list_count = read_lists(&all);
        if (access(STATUS_FILE, R_OK) == 0) {
            read_list(&all, STATUS_FILE);
        } else if (list_count == 0) {
            app_fail("there are no package lists here; debian:all needs a Debian machine");
        }
        snprintf(graph->title, sizeof graph->title, "%s",
                 list_count != 0 ? "packages that this machine can install"
                                 : "packages installed here (no package lists; apt-get update "
                                   "fetches them)");
    } else if (strchr(which, '/') == NULL && access(which, R_OK) != 0) {
        app_fail_usage("--input debian:%s is unknown; use debian:installed or debian:all", which);
    } else {
        read_list(&all, which);
        snprintf(graph->title, sizeof graph->title, "packages of %.140s", which);
    }

    graph->vertex_count = (uint32_t)all.stanza_count;
    uint32_t *seen = app_allocate(all.stanza_count, sizeof *seen, "packages");
    memset(seen, 0, all.stanza_count * sizeof *seen);
    app_edges edges = {0};
    for (uint32_t package = 0; package < graph->vertex_count; package++) {
        add_needs(&all, package, seen, &edges);
    }
    free(seen);
    app_graph_build(graph, &edges, false);

    graph->name = app_allocate(all.stanza_count, sizeof *graph->name, "packages");
    graph->name_bytes = all.names.bytes;
    for (uint32_t package = 0; package < graph->vertex_count; package++) {
        graph->name[package] = graph->name_bytes + all.names.start[all.stanzas[package].name];
    }
    all.names.bytes = NULL; /* the graph's now */
    app_names_free(&all.names);
    free(all.info);
    free(all.stanzas);
    free(all.text);
}
