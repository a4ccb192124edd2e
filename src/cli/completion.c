/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts for bash and zsh, from the table of commands. The kind of an option's value
 * follows from its name and its value's name in the table. The scripts run `warpage` to list
 * devices, policies and keys, so that profiles and policies added later are completed, too.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/in_step_choice.h"
#include "base/text.h"
#include "cli/cli.h"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* "words:A B": one of these. */
static char *kind_of_words(const char *const *words) {
    wpi_text kind = {0};
    wpi_text_append(&kind, "words:");
    for (size_t i = 0; words[i] != NULL; i++)
        wpi_text_appendf(&kind, "%s%s", i == 0 ? "" : " ", words[i]);
    return wpi_text_take(&kind);
}

/* The kind of the option's value: a word that both scripts know. "words:A B": one of these. */
static char *kind_of_value(const wpi_cli_option *o) {
    const char *value = o->value_name;
    if (strcmp(value, "POLICY") == 0) return wpi_format("policies:%s", o->name);
    if (strcmp(o->name, "device") == 0) return wpi_strdup("devices");
    if (strcmp(o->name, "in-step") == 0) return kind_of_words(wpi_in_step_words);
    if (begins(value, "KEY=")) return wpi_strdup("keys");
    if (begins(value, "FILE")) return wpi_strdup("files");
    if (strcmp(value, "DIR") == 0) return wpi_strdup("dirs");
    if (strchr(value, '|') == NULL) return wpi_strdup("none");
    char *words = wpi_format("words:%s", value);
    for (char *c = words; *c != '\0'; c++)
        if (*c == '|') *c = ' ';
    return words;
}

/* The kind of the operands. */
static const char *kind_of_operands(const wpi_cli_command *command) {
    static const struct {
        const char *word, *kind;
    } rows[] = {{"PROGRAM", "program"},  {"TABLE", "files"},       {"POINT", "files"},
                {"[KIND]", "kinds"},     {"[NAME]", "params"},     {"[PAPER", "figures"},
                {"[SUBJECT", "studies"}, {"[COMMAND]", "commands"}};
    if (command->usage == NULL) /* of `warpage trace` */
        return strcmp(command->name, "record") == 0 ? "program" : "files";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strstr(command->usage, rows[i].word) != NULL) return rows[i].kind;
    return "none";
}

typedef void (*command_visit)(const char *name, const wpi_cli_command *command, wpi_text *out);

/* All commands, and after each its subcommands: "trace", "trace record". */
static void visit_all(command_visit visit, wpi_text *out) {
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++) {
        visit(c->name, c, out);
        for (const wpi_cli_command *s = c->commands; s != NULL && s->name != NULL; s++) {
            char *name = wpi_format("%s %s", c->name, s->name);
            visit(name, s, out);
            wpi_free(name);
        }
    }
}

/* ---- bash ----------------------------------------------------------------------------------- */

static void bash_options(const char *name, const wpi_cli_command *command, wpi_text *out) {
    wpi_text_appendf(out, "    '%s') printf '%%s\\n' --help", name);
    for (const wpi_cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        wpi_text_appendf(out, " --%s", o->name);
    wpi_text_append(out, " ;;\n");
}

static void bash_values(const char *name, const wpi_cli_command *command, wpi_text *out) {
    for (const wpi_cli_option *o = command->options; o != NULL && o->name != NULL; o++) {
        if (o->value_name == NULL) continue;
        char *kind = kind_of_value(o);
        wpi_text_appendf(out, "    '%s --%s') echo '%s' ;;\n", name, o->name, kind);
        wpi_free(kind);
    }
}

static void bash_operands(const char *name, const wpi_cli_command *command, wpi_text *out) {
    wpi_text_appendf(out, "    '%s') echo '%s' ;;\n", name, kind_of_operands(command));
}

/* Commands, each followed by its subcommands. */
static void add_names(const wpi_cli_command *commands, wpi_text *out) {
    for (const wpi_cli_command *c = commands; c->name != NULL; c++)
        wpi_text_appendf(out, "%s%s", c == commands ? "" : " ", c->name);
}

/* Lists that both shells print the same way, a value a line. */
static const char lists[] =
    "_warpage_column() { # number, command...: of its CSV, without the header\n"
    "    local column=$1\n"
    "    shift\n"
    "    command \"$@\" --format csv 2>/dev/null | tail -n +2 | cut -d, -f\"$column\"\n"
    "}\n"
    "\n"
    "_warpage_list() { # what, the device on the command line\n"
    "    case $1 in\n"
    "    devices) _warpage_column 1 warpage devices ;;\n"
    "    policies:*) _warpage_column 2 warpage policies \"${1#policies:}\" ;;\n"
    "    kinds) _warpage_column 1 warpage policies | sort -u ;;\n"
    "    keys) _warpage_column 1 warpage params --device \"${2:-sim:gtx1080ti}\" ;;\n"
    "    params) _warpage_column 1 warpage params ;;\n"
    "    figures) _warpage_column 1,2 warpage reproduce --list | tr , / | sort -u ;;\n"
    "    studies) _warpage_column 1,2 warpage study --list | tr , / | sort -u ;;\n"
    "    values:device) _warpage_column 1 warpage devices ;;\n"
    "    values:*) _warpage_column 2,3 warpage policies |\n"
    "        awk -F, -v key=\"${1#values:}\" '$2 == key || $2 == \"paging.\" key { print $1 }' ;;\n"
    "    words:*) printf '%s\\n' \"${1#words:}\" | tr ' ' '\\n' ;;\n"
    "    esac\n"
    "}\n"
    "\n";

/* bash splits words at ':' and '=', which values contain: the words are taken from the line itself,
 * and completions lose the part up to the last of these characters. */
static const char bash_main[] =
    "_warpage() {\n"
    "    local words cur='' previous='' name='' device='' kind='' i word list cut\n"
    "    local has_operand='' takes=''\n"
    "    COMPREPLY=()\n"
    "    read -ra words <<<\"${COMP_LINE:0:COMP_POINT}\"\n"
    "    case ${COMP_LINE:0:COMP_POINT} in *[[:space:]]) words+=('') ;; esac\n"
    "    cur=${words[${#words[@]} - 1]}\n"
    "    if [ ${#words[@]} -le 2 ]; then\n"
    "        COMPREPLY=($(compgen -W \"$_warpage_commands --help --version\" -- \"$cur\"))\n"
    "        return\n"
    "    fi\n"
    "    name=${words[1]} i=2\n"
    "    local own=_warpage_${name}_commands\n"
    "    if [ \"$name\" = trace ]; then\n"
    "        if [ ${#words[@]} -eq 3 ]; then\n"
    "            COMPREPLY=($(compgen -W \"${!own}\" -- \"$cur\"))\n"
    "            return\n"
    "        fi\n"
    "        name=\"trace ${words[2]}\" i=3\n"
    "    fi\n"
    "    for (( ; i < ${#words[@]} - 1; i++)); do\n"
    "        word=${words[i]}\n"
    "        if [ -n \"$takes\" ]; then\n"
    "            [ \"$takes\" = --device ] && device=$word\n"
    "            takes=''\n"
    "            continue\n"
    "        fi\n"
    "        case $word in\n"
    "        --) has_operand=1 && break ;;\n"
    "        --device=*) device=${word#*=} ;;\n"
    "        -o) takes=--output ;;\n"
    "        -j) takes=--jobs ;;\n"
    "        --*=*) ;;\n"
    "        --*) [ -n \"$(_warpage_value \"$name $word\")\" ] && takes=$word ;;\n"
    "        *) has_operand=1 && break ;;\n"
    "        esac\n"
    "    done\n"
    "    kind=$(_warpage_operand \"$name\")\n"
    "    if [ -n \"$has_operand\" ] && [ \"$kind\" = program ]; then\n"
    "        return # the program's own arguments: files\n"
    "    fi\n"
    "    if [ -n \"$takes\" ]; then\n"
    "        kind=$(_warpage_value \"$name $takes\")\n"
    "    else\n"
    "        case $cur in\n"
    "        --*=*)\n"
    "            kind=$(_warpage_value \"$name ${cur%%=*}\")\n"
    "            cur=${cur#*=}\n"
    "            ;;\n"
    "        -*)\n"
    "            COMPREPLY=($(compgen -W \"$(_warpage_options \"$name\")\" -- \"$cur\"))\n"
    "            return\n"
    "            ;;\n"
    "        esac\n"
    "    fi\n"
    "    case $kind in\n"
    "    '' | none | files) return ;;\n"
    "    program)\n"
    "        COMPREPLY=($(compgen -c -- \"$cur\"))\n"
    "        return\n"
    "        ;;\n"
    "    dirs)\n"
    "        compopt -o nospace 2>/dev/null\n"
    "        COMPREPLY=($(compgen -d -S / -- \"$cur\"))\n"
    "        return\n"
    "        ;;\n"
    "    commands) list=$_warpage_commands ;;\n"
    "    keys)\n"
    "        case $cur in\n"
    "        *=*)\n"
    "            cut=${cur%\"${cur##*[=,]}\"}\n"
    "            list=$(_warpage_list \"values:${cur%%=*}\" | sed \"s|^|$cut|\")\n"
    "            ;;\n"
    "        *)\n"
    "            compopt -o nospace 2>/dev/null\n"
    "            list=$(_warpage_list keys \"$device\" | sed 's/$/=/')\n"
    "            ;;\n"
    "        esac\n"
    "        ;;\n"
    "    *) list=$(_warpage_list \"$kind\" \"$device\") ;;\n"
    "    esac\n"
    "    COMPREPLY=($(compgen -W \"$list\" -- \"$cur\"))\n"
    "    cut=${cur%\"${cur##*[:=]}\"}\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$cut\"}\")\n"
    "}\n"
    "\n"
    "complete -o default -o bashdefault -F _warpage warpage\n";

static void write_bash(wpi_text *out) {
    wpi_text_append(out, "# bash completion for warpage -*- shell-script -*-\n");
    wpi_text_append(out, "# Generated from warpage's table of commands.\n");
    wpi_text_append(out, "# shellcheck shell=bash disable=SC2207\n\n_warpage_commands='");
    add_names(wpi_commands, out);
    wpi_text_append(out, "'\n");
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++) {
        if (c->commands == NULL) continue;
        wpi_text_appendf(out, "_warpage_%s_commands='", c->name);
        add_names(c->commands, out);
        wpi_text_append(out, "'\n");
    }
    wpi_text_append(out, "\n");
    wpi_text_append(out, lists);
    wpi_text_append(out, "_warpage_options() { # command\n    case $1 in\n");
    visit_all(bash_options, out);
    wpi_text_append(out,
                    "    esac\n}\n\n_warpage_value() { # command and option\n    case $1 in\n");
    visit_all(bash_values, out);
    wpi_text_append(out, "    esac\n}\n\n_warpage_operand() { # command\n    case $1 in\n");
    visit_all(bash_operands, out);
    wpi_text_append(out, "    esac\n}\n\n");
    wpi_text_append(out, bash_main);
}

/* ---- zsh ------------------------------------------------------------------------------------ */

/* Within single quotes; `special` characters get a backslash. */
static void add_quoted(const char *text, const char *special, wpi_text *out) {
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            wpi_text_append(out, "'\\''");
            continue;
        }
        if (strchr(special, *text) != NULL) wpi_text_append(out, "\\");
        wpi_text_append_n(out, text, 1);
    }
}

static void zsh_action(const char *kind, wpi_text *out) {
    if (strcmp(kind, "files") == 0)
        wpi_text_append(out, "_files");
    else if (strcmp(kind, "dirs") == 0)
        wpi_text_append(out, "_files -/");
    else if (begins(kind, "words:"))
        wpi_text_appendf(out, "(%s)", kind + strlen("words:"));
    else if (strcmp(kind, "keys") == 0)
        wpi_text_append(out, "_warpage_keys");
    else if (strcmp(kind, "none") == 0)
        wpi_text_append(out, " ");
    else {
        wpi_text_append(out, "_warpage_offer ");
        add_quoted(kind, ":", out);
    }
}

static void zsh_option(const wpi_cli_option *o, wpi_text *out) {
    wpi_text_appendf(out, " \\\n            '*--%s%s[", o->name, o->value_name != NULL ? "=" : "");
    add_quoted(o->doc, "[]\\", out);
    wpi_text_append(out, "]");
    if (o->value_name != NULL) {
        char *kind = kind_of_value(o);
        wpi_text_append(out, ":");
        add_quoted(o->value_name, ":\\", out);
        wpi_text_append(out, ":");
        zsh_action(kind, out);
        wpi_free(kind);
    }
    wpi_text_append(out, "'");
}

static void zsh_operands(const wpi_cli_command *command, wpi_text *out) {
    const char *kind = kind_of_operands(command);
    if (strcmp(kind, "program") == 0)
        wpi_text_append(out, " \\\n            '(-):program: _command_names -e' "
                             "'*::argument: _normal'");
    else if (strcmp(kind, "files") == 0)
        wpi_text_append(out, " \\\n            '*:file:_files'");
    else if (strcmp(kind, "commands") == 0)
        wpi_text_append(out, " \\\n            ':command:_warpage_commands'");
    else if (strcmp(kind, "none") != 0)
        wpi_text_appendf(out, " \\\n            ':value:_warpage_offer %s'", kind);
}

static void zsh_command(const char *name, const wpi_cli_command *command, wpi_text *out) {
    if (command->commands != NULL) return; /* a subcommand follows */
    wpi_text_appendf(out, "        '%s')\n            _arguments '--help[explain the command]'",
                     name);
    for (const wpi_cli_option *o = command->options; o != NULL && o->name != NULL; o++)
        zsh_option(o, out);
    zsh_operands(command, out);
    wpi_text_append(out, " && ret=0\n            ;;\n");
}

static const char zsh_helpers[] =
    "_warpage_offer() { # what\n"
    "    local -a values\n"
    "    values=(${(f)\"$(_warpage_list \"$argv[-1]\")\"})\n"
    "    compadd \"${@[1,-2]}\" -a values\n"
    "}\n"
    "\n"
    "_warpage_keys() { # KEY=VALUE,VALUE\n"
    "    local -a values\n"
    "    if [[ $PREFIX == *=* ]]; then\n"
    "        local key=${PREFIX%%=*}\n"
    "        compset -P '*[=,]'\n"
    "        values=(${(f)\"$(_warpage_list values:$key)\"})\n"
    "        compadd -a values\n"
    "    else\n"
    "        values=(${(f)\"$(_warpage_list keys ${opt_args[--device]:-})\"})\n"
    "        compadd -S = -a values\n"
    "    fi\n"
    "}\n"
    "\n";

static const char zsh_main[] =
    "_warpage() {\n"
    "    local curcontext=$curcontext state line name ret=1\n"
    "    typeset -A opt_args\n"
    "    _arguments -C '--help[list the commands]' '--version[print the version]' \\\n"
    "        '1:command:_warpage_commands' '*::argument:->arguments' && ret=0\n"
    "    [[ $state == arguments ]] || return ret\n"
    "    name=$words[1]\n"
    "    if [[ $name == trace ]]; then\n"
    "        if (( CURRENT == 2 )); then\n"
    "            compadd $=_warpage_trace_commands && ret=0\n"
    "            return ret\n"
    "        fi\n"
    "        name=\"trace $words[2]\"\n"
    "        shift words\n"
    "        (( CURRENT-- ))\n"
    "    fi\n"
    "    case $name in\n";

static void write_zsh(wpi_text *out) {
    wpi_text_append(out, "#compdef warpage\n# Generated from warpage's table of commands.\n\n");
    wpi_text_append(out, lists);
    wpi_text_append(out, zsh_helpers);
    wpi_text_append(out, "_warpage_commands() {\n    local -a commands\n    commands=(\n");
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++) {
        wpi_text_appendf(out, "        '%s:", c->name);
        add_quoted(c->summary, ":\\", out);
        wpi_text_append(out, "'\n");
    }
    wpi_text_append(out, "    )\n    _describe command commands\n}\n\n");
    wpi_text_append(out, "typeset -g _warpage_trace_commands='");
    add_names(wpi_trace_commands, out);
    wpi_text_append(out, "'\n\n");
    wpi_text_append(out, zsh_main);
    visit_all(zsh_command, out);
    wpi_text_append(out, "    esac\n    return ret\n}\n\n_warpage \"$@\"\n");
}

wp_status wpi_completion_write(const char *shell, wpi_text *out, wp_error *err) {
    if (strcmp(shell, "bash") == 0)
        write_bash(out);
    else if (strcmp(shell, "zsh") == 0)
        write_zsh(out);
    else
        return WP_FAIL(err, INVALID, "--completion %s: the shells are bash and zsh", shell);
    return WP_STATUS_OK;
}
