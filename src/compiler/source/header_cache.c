/* SPDX-License-Identifier: Apache-2.0 */
/* A precompiled header headers-<key>.pch has a list headers-<key>.txt beside it, which is written
 * last and has its own checksum (base/cache_dir.h):
 *
 *     H hash                              of the precompiled header
 *     F size seconds nanoseconds path     a file it was made of
 *     N name                              what an #include in these files asks for
 *     W word                              an identifier in them
 *
 * The words of the command are sorted into those that the header depends on (`base`), those that it
 * is checked against (macros, folders), and those for the source only. */
#include "compiler/source/header_cache.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_dir.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/leftovers.h"
#include "base/must.h"
#include "base/subprocess.h"
#include "base/text.h"

#define HEADER "cuda_runtime.h"

typedef struct sorted {
    wpi_strings base;    /* words that the header is made with, and its name depends on */
    wpi_strings hidden;  /* the overlay that hides other toolkits: a file of this run */
    wpi_strings macros;  /* names that -D and -U give */
    wpi_strings folders; /* of -I and -isystem */
    size_t at;           /* index of "-include" HEADER in the command */
    bool has_header, is_usable;
} sorted;

/* ---- the command ---- */

static bool takes_value(const char *word) {
    static const char *const words[] = {
        "-I",      "-isystem", "-D",      "-U",       "-include",   "-o",           "-x",
        "-Xclang", "-mllvm",   "-iquote", "-imacros", "-idirafter", "-ivfsoverlay", "-include-pch"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], word) == 0) return true;
    return false;
}

static bool begins(const char *word, const char *with) {
    return strncmp(word, with, strlen(with)) == 0;
}

/* Macros that headers test are part of the name; others are checked to be unused in headers.
 */
static bool add_macro(sorted *s, const char *definition) {
    size_t length = strcspn(definition, "=(");
    char *name = wpi_must_strndup(definition, length);
    bool is_part = name[0] == '_' || strcmp(name, "NDEBUG") == 0 || begins(name, "CUDA_") ||
                   begins(name, "STDC_");
    if (!is_part) wpi_strings_add(&s->macros, name);
    wpi_free(name);
    return is_part;
}

static void sort_pair(sorted *s, const wpi_compile_job *job, const char *word, const char *value,
                      size_t index) {
    bool is_base = true;
    if (strcmp(word, "-o") == 0) {
        is_base = false;
    } else if (strcmp(word, "-D") == 0 || strcmp(word, "-U") == 0) {
        is_base = add_macro(s, value);
    } else if (strcmp(word, "-I") == 0 || strcmp(word, "-isystem") == 0) {
        is_base = strcmp(value, job->tools->include_dir) == 0;
        if (!is_base) wpi_strings_add(&s->folders, value);
    } else if (strcmp(word, "-include") == 0) {
        is_base = false;
        if (strcmp(value, HEADER) == 0 && !s->has_header) {
            s->has_header = true;
            s->at = index;
        } else if (!s->has_header) {
            s->is_usable = false; /* another header comes first */
        }
    } else if (strcmp(word, "-Xclang") == 0) {
        is_base = !begins(value, "-cuid=");
    } else if (strcmp(word, "-ivfsoverlay") == 0) {
        is_base = false;
        if (job->hidden && strcmp(value, job->hidden) == 0) {
            wpi_strings_add(&s->hidden, word);
            wpi_strings_add(&s->hidden, value);
        }
    } else if (strcmp(word, "-imacros") == 0 || strcmp(word, "-include-pch") == 0) {
        s->is_usable = false;
    }
    if (!is_base) return;
    wpi_strings_add(&s->base, word);
    wpi_strings_add(&s->base, value);
}

/* From C++20 on, clang treats precompiled headers as modules and merges host functions with device
 * functions of the same type. */
static bool is_modular(const char *word) {
    const char *standard = begins(word, "-std=") ? strstr(word, "++") : NULL;
    if (!standard) return false;
    standard += 2;
    return strcmp(standard, "11") != 0 && strcmp(standard, "14") != 0 &&
           strcmp(standard, "17") != 0;
}

/* clang omits types of precompiled headers from debug information. */
static bool is_debug(const char *word) {
    return begins(word, "-g") && strcmp(word, "-g0") != 0 &&
           strcmp(word, "-gline-tables-only") != 0;
}

static void sort_word(sorted *s, const wpi_compile_job *job, const char *word) {
    if (is_modular(word) || is_debug(word) || begins(word, "-M") || begins(word, "-nostd") ||
        strcmp(word, "-E") == 0 || strcmp(word, "-S") == 0) {
        s->is_usable = false;
    } else if (begins(word, "-D") || begins(word, "-U")) {
        if (add_macro(s, word + 2)) wpi_strings_add(&s->base, word);
    } else if (begins(word, "-I") && !wpi_toolchain_is_foreign(job->tools, word + 2)) {
        wpi_strings_add(&s->folders, word + 2);
    } else if (!begins(word, "-cuid=")) {
        wpi_strings_add(&s->base, word);
    }
}

static void sort(sorted *s, const wpi_compile_job *job, const wpi_strings *command,
                 const char *source) {
    *s = (sorted){.is_usable = true};
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i],
                   *value = i + 1 < command->count ? command->items[i + 1] : NULL;
        if (value && strcmp(word, "-Xclang") == 0 &&
            strcmp(value, "-fcuda-include-gpubinary") == 0) {
            i += 3; /* -Xclang and the image */
        } else if (value && takes_value(word)) {
            sort_pair(s, job, word, value, i++);
        } else if (strcmp(word, source) != 0) {
            sort_word(s, job, word);
        }
    }
    if (wpi_file_exists(HEADER)) s->is_usable = false; /* clang looks here first */
    if (job->libraries_overlay) s->is_usable = false;  /* it is in the temporary folder */
    static const char *const names[] = {"CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *set = getenv(names[i]);
        if (set && set[0]) s->is_usable = false;
    }
}

static void deinit(sorted *s) {
    wpi_strings_deinit(&s->base);
    wpi_strings_deinit(&s->hidden);
    wpi_strings_deinit(&s->macros);
    wpi_strings_deinit(&s->folders);
}

static uint64_t key_of(const sorted *s, const char *clang) {
    struct stat tool = {0};
    (void)stat(clang, &tool);
    const int64_t words[] = {tool.st_size, tool.st_mtim.tv_sec, tool.st_mtim.tv_nsec};
    uint64_t key = wpi_hash64(words, sizeof words, 1);
    for (size_t i = 0; i < s->base.count; i++)
        key = wpi_hash64(s->base.items[i], strlen(s->base.items[i]) + 1, key);
    return key;
}

/* ---- the list ---- */

static bool has_row(const char *list, char kind, const char *text) {
    char *row = wpi_format("\n%c %s\n", kind, text);
    bool found = strstr(list, row) != NULL;
    wpi_free(row);
    return found;
}

static char *file_row(const char *path) {
    struct stat file;
    if (stat(path, &file) != 0) return NULL;
    return wpi_format("F %jd %jd %ld %s", (intmax_t)file.st_size, (intmax_t)file.st_mtim.tv_sec,
                      file.st_mtim.tv_nsec, path);
}

/* Path of an F row, or NULL. */
static const char *row_path(const char *row) {
    if (row[0] != 'F' || row[1] != ' ') return NULL;
    for (int blanks = 0; *row && *row != '\n'; row++)
        if (*row == ' ' && ++blanks == 4) return row + 1;
    return NULL;
}

static bool is_current(const char *list) {
    for (const char *row = list; row && *row; row = strchr(row, '\n')) {
        row += *row == '\n';
        const char *path = row_path(row);
        if (!path) continue;
        size_t length = strcspn(row, "\n");
        char *name = wpi_must_strndup(path, (size_t)(row + length - path)), *now = file_row(name);
        bool is_same = now && strlen(now) == length && memcmp(now, row, length) == 0;
        wpi_free(name);
        wpi_free(now);
        if (!is_same) return false;
    }
    return true;
}

/* NULL: unreadable. */
static char *hash_row(const char *pch) {
    char *data = NULL;
    size_t size_bytes;
    if (wpi_file_read(pch, &data, &size_bytes, NULL) != WP_STATUS_OK) return NULL;
    char *row = wpi_format("%016" PRIx64, wpi_hash64(data, size_bytes, 0));
    wpi_free(data);
    return row;
}

static bool is_whole(const char *list, const char *pch) {
    char *hash = hash_row(pch);
    bool is_same = hash && has_row(list, 'H', hash);
    wpi_free(hash);
    return is_same;
}

static bool is_shadowed(const char *list, const char *folder) {
    for (const char *row = strstr(list, "\nN "); row; row = strstr(row + 1, "\nN ")) {
        char *name = wpi_must_strndup(row + 3, strcspn(row + 3, "\n"));
        char *path = wpi_path_join(folder, name);
        bool is_there = wpi_file_exists(path);
        wpi_free(path);
        wpi_free(name);
        if (is_there) return true;
    }
    return false;
}

static bool is_safe(const sorted *s, const char *list) {
    for (size_t i = 0; i < s->macros.count; i++)
        if (has_row(list, 'W', s->macros.items[i])) return false;
    for (size_t i = 0; i < s->folders.count; i++)
        if (is_shadowed(list, s->folders.items[i])) return false;
    return true;
}

/* ---- making it ---- */

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Names that the file includes or tests: <name> or "name" on lines with "include". */
static void collect_names(wpi_strings *rows, const char *text) {
    for (const char *at = strstr(text, "include"); at; at = strstr(at + 1, "include")) {
        const char *p = at + strcspn(at, "<\"\n");
        if (*p != '<' && *p != '"') continue;
        size_t length = strcspn(p + 1, *p == '<' ? ">\n" : "\"\n");
        if (length && p[1 + length] != '\n') wpi_strings_addf(rows, "N %.*s", (int)length, p + 1);
    }
}

static void collect_words(wpi_strings *rows, const char *text) {
    for (const char *p = text; *p;) {
        size_t length = 0;
        while (is_word_char(p[length]))
            length++;
        if (length && !isdigit((unsigned char)*p)) wpi_strings_addf(rows, "W %.*s", (int)length, p);
        p += length ? length : 1;
    }
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_file(wpi_strings *rows, const char *path) {
    char *row = file_row(path), *text = NULL;
    size_t size_bytes;
    if (row) wpi_strings_add_take(rows, row);
    if (!row || wpi_file_read(path, &text, &size_bytes, NULL) != WP_STATUS_OK) return false;
    collect_names(rows, text);
    collect_words(rows, text);
    wpi_free(text);
    return true;
}

/* Lists the files of a depfile: after the first colon, separated by unescaped blanks. Adds the
 * precompiled header, so that a damaged one is replaced. NULL: a file is missing. */
static char *list_of(const char *depfile, const char *pch) {
    wpi_strings rows = {0};
    wpi_text name = {0}, list = {0};
    char *own = file_row(pch), *hash = hash_row(pch);
    bool all = own && hash;
    if (own) wpi_strings_add_take(&rows, own);
    if (hash) wpi_strings_addf(&rows, "H %s", hash);
    wpi_free(hash);
    const char *p = strchr(depfile, ':');
    for (p = p ? p + 1 : ""; *p && all; p++) {
        if (p[0] == '\\' && (p[1] == ' ' || p[1] == '#' || p[1] == '\\')) {
            wpi_text_append_n(&name, ++p, 1);
        } else if (!isspace((unsigned char)*p) && !(p[0] == '\\' && p[1] == '\n')) {
            wpi_text_append_n(&name, p, 1);
        } else if (name.length) {
            all = add_file(&rows, wpi_text_string(&name));
            wpi_text_clear(&name);
        }
    }
    if (all && name.length) all = add_file(&rows, wpi_text_string(&name));
    if (rows.count) qsort(rows.items, rows.count, sizeof *rows.items, by_text);
    for (size_t i = 0; i < rows.count; i++)
        if (i == 0 || strcmp(rows.items[i], rows.items[i - 1]) != 0)
            wpi_text_appendf(&list, "\n%s", rows.items[i]);
    wpi_text_append(&list, "\n");
    wpi_strings_deinit(&rows);
    wpi_text_deinit(&name);
    if (all) return wpi_text_take(&list);
    wpi_text_deinit(&list);
    return NULL;
}

/* Writes the header and returns its list; NULL: failed. */
static char *make(wpi_compile_job *job, const sorted *s, const char *pch, const char *list_path) {
    wpi_strings command = {0};
    wpi_text said = {0};
    char *source = wpi_path_join(job->tools->include_dir, "wp/precompiled.h");
    char *temp = wpi_format("%s.XXXXXX", pch), *deps = wpi_job_temp(job, "pch", ".d");
    char *depfile = NULL, *list = NULL;
    size_t size_bytes;
    int exit_code = 1;
    const int fd = wpi_leftover_file(temp); /* clang overwrites it */
    if (fd >= 0) (void)close(fd);
    wpi_strings_add_all(&command, &s->base);
    wpi_strings_add_all(&command, &s->hidden);
    const char *const tail[] = {"-Xclang", "-emit-pch", "-MD", "-MF", deps, "-o", temp, source};
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++)
        wpi_strings_add(&command, tail[i]);
    const wpi_subprocess_options options = {.stdout_text = &said, .stderr_text = &said};
    if (wpi_subprocess_run(wpi_strings_argv(&command), &options, &exit_code, NULL) ==
            WP_STATUS_OK &&
        exit_code == 0 && wpi_file_read(deps, &depfile, &size_bytes, NULL) == WP_STATUS_OK) {
        bool is_private = chmod(temp, 0600) == 0; /* regardless of the umask */
        list = is_private && rename(temp, pch) == 0 ? list_of(depfile, pch) : NULL;
        if (list && wpi_cache_write(list_path, list, strlen(list), NULL) != WP_STATUS_OK) {
            wpi_free(list);
            list = NULL;
        }
    }
    if (!list) (void)unlink(temp);
    wpi_leftover_drop(temp);
    wpi_free(depfile);
    wpi_free(deps);
    wpi_free(temp);
    wpi_free(source);
    wpi_text_deinit(&said);
    wpi_strings_deinit(&command);
    return list;
}

/* ---- using it ---- */

static void put_in(wpi_strings *command, const sorted *s, const char *pch) {
    const char *const words[] = {"-include-pch", pch};
    for (size_t i = 0; i < 2; i++) {
        wpi_free(command->items[s->at + i]);
        command->items[s->at + i] = wpi_must_strdup(words[i]);
    }
}

/* Warns once of a file that another user can change; not of an unwritable cache. */
static void warn(wpi_compile_job *job, const wp_error *error) {
    if (error->status != WP_STATUS_INVALID || job->has_warned_of_cache) return;
    job->has_warned_of_cache = true;
    fprintf(stderr, "wpcc: warning: %s\n", error->message);
}

/* Returns the list if it and the header are intact, the user's own, and made from the present
 * files. clang crashes on a damaged header. */
static char *read_list(wpi_compile_job *job, const char *pch, const char *list_path) {
    wp_error error = {0};
    char *list = NULL;
    size_t size_bytes;
    wp_status status = wpi_cache_check_owner(pch, &error);
    if (status == WP_STATUS_OK) status = wpi_cache_read(list_path, &list, &size_bytes, &error);
    if (status != WP_STATUS_OK) warn(job, &error);
    if (status == WP_STATUS_OK && is_current(list) && is_whole(list, pch)) return list;
    wpi_free(list);
    return NULL;
}

static void use(wpi_compile_job *job, wpi_strings *command, const sorted *s, const char *cache) {
    char *pch = wpi_format("%s/headers-%016" PRIx64 ".pch", cache, key_of(s, job->tools->clang));
    char *list_path = wpi_format("%.*s.txt", (int)strlen(pch) - 4, pch);
    char *list = read_list(job, pch, list_path);
    if (!list) {
        wpi_cache_sweep(cache);
        list = make(job, s, pch, list_path);
    }
    if (list && is_safe(s, list)) put_in(command, s, pch);
    wpi_free(list);
    wpi_free(list_path);
    wpi_free(pch);
}

void wpi_header_cache_use(wpi_compile_job *job, wpi_strings *command, const wpi_input *input) {
    const wpi_options *o = job->options;
    /* A function of a header that was read before and is parsed only at its use would have words
     * such as __is_pointer, which libstdc++ declares, for clang's own. */
    if (o->no_header_cache || o->print_only || job->leaves_templates) return;
    sorted s;
    sort(&s, job, command, input->path);
    if (s.is_usable && s.has_header) {
        char *cache = NULL;
        wp_error error = {0};
        if (wpi_cache_open(&cache, &error) == WP_STATUS_OK)
            use(job, command, &s, cache);
        else
            warn(job, &error);
        wpi_free(cache);
    }
    deinit(&s);
}
