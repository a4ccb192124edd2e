/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/wpcc_manual.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/must.h"
#include "base/roff.h"
#include "compiler/driver/options.h"
#include "warpage/version.h"

/* Cuts the value's name off the start of `*doc`; NULL: none. */
static char *take_value(const char **doc) {
    const char *end = strstr(*doc, "  ");
    if (!end) return NULL;
    char *value = wpi_must_strndup(*doc, (size_t)(end - *doc));
    *doc = end + 2;
    return value;
}

static void add_item(void *page, const char *name, const char *alias, const char *doc) {
    char *value = take_value(&doc);
    char *term = alias ? wpi_format("%s, %s", name, alias) : wpi_must_strdup(name);
    wpi_roff_item(page, term, value, doc);
    wpi_free(term);
    wpi_free(value);
}

static void write_page(wpi_text *page) {
    wpi_roff_begin(page, "wpcc", "compile CUDA C and C++ for Warpage devices", WP_VERSION_STRING);
    wpi_roff_section(page, "SYNOPSIS");
    wpi_roff_verbatim(page, "wpcc [options] file...\n"
                            "wpcc --policy [options] file.c... -o file.so");
    wpi_roff_section(page, "DESCRIPTION");
    wpi_roff_line(page,
                  "Compiles CUDA C and C++ to programs that run on this processor, on simulated "
                  "GPUs and on NVIDIA GPUs. It takes the options of nvcc; those not listed here "
                  "are accepted and have no effect.");
    wpi_roff_section(page, "OPTIONS");
    wpi_options_visit(add_item, page);
    wpi_roff_section(page, "EXIT STATUS");
    wpi_roff_line(page, "0 on success, 1 on failure, 2 when the command line is wrong.");
    wpi_roff_section(page, "SEE ALSO");
    wpi_roff_line(page, "warpage(1), warpage-run(1)");
}

/* Adds a word for completion, without an attached value: "-rdc" for "-rdc=true". */
static void add_word(void *words, const char *name, const char *alias, const char *doc) {
    (void)doc;
    wpi_text_appendf(words, " %s", name);
    if (alias) wpi_text_appendf(words, " %s", alias);
}

static void write_bash(wpi_text *out) {
    wpi_text_append(out, "# bash completion for wpcc -*- shell-script -*-\n"
                         "# Generated from wpcc's table of options.\n"
                         "# shellcheck shell=bash disable=SC2207\n\n"
                         "_wpcc() {\n"
                         "    COMPREPLY=()\n"
                         "    [[ ${COMP_WORDS[COMP_CWORD]} == -* ]] || return\n"
                         "    COMPREPLY=($(compgen -W '--help --version");
    wpi_options_visit(add_word, out);
    wpi_text_append(out, "' -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
                         "}\n\n"
                         "complete -o default -o bashdefault -F _wpcc wpcc\n");
}

/* Escapes text for single quotes and brackets. */
static void add_quoted(const char *text, wpi_text *out) {
    for (; *text; text++) {
        if (*text == '\'') {
            wpi_text_append(out, "'\\''");
            continue;
        }
        if (strchr("[]\\:", *text)) wpi_text_append(out, "\\");
        wpi_text_append_n(out, text, 1);
    }
}

static void add_line(void *out, const char *name, const char *alias, const char *doc) {
    const char *names[] = {name, alias};
    wpi_free(take_value(&doc));
    for (int i = 0; i < 2 && names[i]; i++) {
        wpi_text_append(out, "        '");
        add_quoted(names[i], out);
        wpi_text_append(out, ":");
        add_quoted(doc, out);
        wpi_text_append(out, "'\n");
    }
}

static void write_zsh(wpi_text *out) {
    wpi_text_append(out, "#compdef wpcc\n# Generated from wpcc's table of options.\n\n"
                         "_wpcc() {\n"
                         "    local -a options\n"
                         "    options=(\n"
                         "        '--help:list the options'\n"
                         "        '--version:print the version'\n");
    wpi_options_visit(add_line, out);
    wpi_text_append(out, "    )\n"
                         "    if [[ $PREFIX == -* ]]; then\n"
                         "        _describe -o option options\n"
                         "    else\n"
                         "        _files\n"
                         "    fi\n"
                         "}\n\n"
                         "_wpcc \"$@\"\n");
}

void wpi_manual_print(const char *what) {
    wpi_text text = {0};
    if (strcmp(what, "--manual") == 0)
        write_page(&text);
    else if (strcmp(what, "--completion=bash") == 0)
        write_bash(&text);
    else
        write_zsh(&text);
    (void)fputs(wpi_text_string(&text), stdout);
    wpi_text_deinit(&text);
}
