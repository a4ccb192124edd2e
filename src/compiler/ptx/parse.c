/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of one asm block, or of a function in a module, a statement at a time:
 *
 *     text      = { "{" | "}" | ".reg" names ";" | [ "@" [ "!" ] name ] opcode operands ";" }
 *     operand   = [ "!" ] name [ "." selector ] [ "|" operand ] | number | "_"
 *               | "{" operand, … "}" | "[" name [ "+" offset ] "]"
 *
 * Before a statement there may be labels ("name:"). In modules there are lists of parameters ("(a,
 * b)"), and directives, which module_declare.c reads with the words below.
 *
 * First the text is cleaned: comments become blanks, an asm operand ($0, ${0:x}) becomes ARG digits
 * END, so that the statement parser meets neither LLVM's escapes nor comments. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

#define ARG '\x01'
#define ARG_END '\x02'

enum { WP_PTX_LIST = 255, WP_PTX_REGISTERS = 1 << 20 };

static void clean_dollar(wpi_text *out, const char **at, const char *end, unsigned uid) {
    const char *p = *at + 1;
    if (p < end && *p == '$') {
        wpi_text_append(out, "$");
        *at = p + 1;
        return;
    }
    bool is_braced = p < end && *p == '{';
    if (is_braced) p++;
    const char *digits = p;
    while (p < end && isdigit((unsigned char)*p))
        p++;
    if (p > digits)
        wpi_text_appendf(out, "%c%.*s%c", ARG, (int)(p - digits), digits, ARG_END);
    else
        wpi_text_appendf(out, "%u", uid); /* ${:uid} */
    if (is_braced) {
        while (p < end && *p != '}')
            p++;
        if (p < end) p++;
    }
    *at = p;
}

/* Comments leave their newlines, so that lines can be counted. */
static void clean(wpi_text *out, const char *text, size_t length, unsigned uid, bool is_module) {
    const char *at = text, *end = text + length;
    bool is_quoted = false; /* file names in modules */
    wpi_text_append(out, "");
    while (at < end) {
        if (is_module && *at == '"') is_quoted = !is_quoted;
        if (*at == '\n') is_quoted = false;
        if (is_quoted) {
            wpi_text_append_n(out, *at == '\0' ? "?" : at, 1);
            at++;
        } else if (at + 1 < end && at[0] == '/' && at[1] == '/') {
            while (at < end && *at != '\n')
                at++;
        } else if (at + 1 < end && at[0] == '/' && at[1] == '*') {
            at += 2;
            for (; at < end && !(at[0] == '*' && at + 1 < end && at[1] == '/'); at++)
                if (*at == '\n') wpi_text_append(out, "\n");
            at = at + 2 <= end ? at + 2 : end;
            wpi_text_append(out, " ");
        } else if (*at == '$' && !is_module) {
            clean_dollar(out, &at, end, uid);
        } else if (*at == ARG || *at == ARG_END || *at == '\0') {
            wpi_text_append(out, "?"); /* no character of PTX */
            at++;
        } else {
            wpi_text_append_n(out, at++, 1);
        }
    }
}

void wpi_ptx_parser_init(wpi_ptx_parser *parser, const char *text, size_t length, unsigned uid) {
    memset(parser, 0, sizeof *parser);
    clean(&parser->clean, text, length, uid, false);
    parser->at = parser->line_start = wpi_text_string(&parser->clean);
    parser->line = 1;
}

void wpi_ptx_parser_init_module(wpi_ptx_parser *parser, const char *text, size_t length) {
    memset(parser, 0, sizeof *parser);
    parser->is_module = true;
    clean(&parser->clean, text, length, 0, true);
    parser->at = parser->line_start = wpi_text_string(&parser->clean);
    parser->line = 1;
}

void wpi_ptx_parser_deinit(wpi_ptx_parser *parser) {
    wpi_text_deinit(&parser->clean);
    wpi_text_deinit(&parser->word);
    wpi_ptx_names_deinit(&parser->names);
}

unsigned wpi_ptx_line(wpi_ptx_parser *parser) {
    if (parser->at < parser->line_start) { /* read again from an earlier place */
        parser->line_start = wpi_text_string(&parser->clean);
        parser->line = 1;
    }
    for (; parser->line_start < parser->at; parser->line_start++)
        parser->line += *parser->line_start == '\n';
    return parser->line;
}

wpi_ptx_type wpi_ptx_type_parse(const char *name) {
    static const struct {
        const char *name;
        wpi_ptx_type type;
    } odd[] = {
        {"pred", {WP_PTX_PREDICATE, 1, 1}},  {"f16x2", {WP_PTX_FLOAT, 16, 2}},
        {"bf16", {WP_PTX_BFLOAT, 16, 1}},    {"bf16x2", {WP_PTX_BFLOAT, 16, 2}},
        {"u16x2", {WP_PTX_UNSIGNED, 16, 2}}, {"s16x2", {WP_PTX_SIGNED, 16, 2}},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        if (strcmp(name, odd[i].name) == 0) return odd[i].type;
    wpi_ptx_kind kind = name[0] == 'b'   ? WP_PTX_BITS
                        : name[0] == 'u' ? WP_PTX_UNSIGNED
                        : name[0] == 's' ? WP_PTX_SIGNED
                        : name[0] == 'f' ? WP_PTX_FLOAT
                                         : WP_PTX_NONE;
    static const struct {
        const char *digits;
        unsigned bits;
    } widths[] = {{"8", 8}, {"16", 16}, {"32", 32}, {"64", 64}, {"128", 128}};
    for (size_t i = 0; kind != WP_PTX_NONE && i < sizeof widths / sizeof *widths; i++) {
        if (strcmp(name + 1, widths[i].digits) != 0) continue;
        if (kind == WP_PTX_FLOAT && (widths[i].bits == 8 || widths[i].bits == 128)) break;
        return (wpi_ptx_type){kind, widths[i].bits, 1};
    }
    return (wpi_ptx_type){WP_PTX_NONE, 0, 1};
}

void wpi_ptx_skip_blanks(wpi_ptx_parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
}

bool wpi_ptx_accept(wpi_ptx_parser *p, char c) {
    wpi_ptx_skip_blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static const char *intern(wpi_ptx_parser *p) {
    return wpi_ptx_name_text(
        wpi_ptx_name_add(&p->names, wpi_text_string(&p->word), p->word.length));
}

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* An asm operand is called "%0", as the user wrote it. */
const char *wpi_ptx_read_name(wpi_ptx_parser *p) {
    wpi_ptx_skip_blanks(p);
    wpi_text_clear(&p->word);
    if (*p->at == ARG) {
        wpi_text_append(&p->word, "%");
        for (p->at++; *p->at != ARG_END; p->at++)
            wpi_text_append_n(&p->word, p->at, 1);
        p->at++;
    } else {
        size_t length = 0;
        if (isdigit((unsigned char)*p->at)) return NULL;
        while (is_name_char(p->at[length]))
            length++;
        if (length == 0) return NULL;
        wpi_text_append_n(&p->word, p->at, length);
        p->at += length;
    }
    return intern(p);
}

bool wpi_ptx_read_number(wpi_ptx_parser *p, wpi_ptx_operand *o) {
    wpi_ptx_skip_blanks(p);
    bool is_negative = false;
    while (*p->at == '-' || *p->at == '+')
        is_negative ^= *p->at++ == '-';
    wpi_ptx_skip_blanks(p);
    if (!isdigit((unsigned char)*p->at)) return false;
    char *end;
    char kind = p->at[0] == '0' ? (char)tolower((unsigned char)p->at[1]) : '\0';
    if (kind == 'f' || kind == 'd') {
        o->kind = kind == 'f' ? WP_PTX_OPERAND_REAL32 : WP_PTX_OPERAND_REAL64;
        o->value = strtoull(p->at + 2, &end, 16);
        if (is_negative) o->value ^= kind == 'f' ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    } else {
        size_t digits = strspn(p->at, "0123456789");
        if (kind != 'x' && (p->at[digits] == '.' || tolower((unsigned char)p->at[digits]) == 'e')) {
            double value = strtod(p->at, &end);
            if (is_negative) value = -value;
            o->kind = WP_PTX_OPERAND_REAL64;
            memcpy(&o->value, &value, sizeof value);
        } else {
            o->kind = WP_PTX_OPERAND_INTEGER;
            o->value = kind == 'b' ? strtoull(p->at + 2, &end, 2) : strtoull(p->at, &end, 0);
            if (is_negative) o->value = 0 - o->value;
            if (*end == 'U') end++;
        }
    }
    p->at = end;
    return !is_name_char(*end);
}

static unsigned read_operand(wpi_ptx_parser *p, unsigned nesting);

static bool read_address(wpi_ptx_parser *p, wpi_ptx_operand *o) {
    o->kind = WP_PTX_OPERAND_ADDRESS;
    wpi_ptx_operand number = {0};
    wpi_ptx_skip_blanks(p);
    if (!(o->name = wpi_ptx_read_name(p))) {
        o->name = "";
        if (!wpi_ptx_read_number(p, &number)) return false;
        o->value = number.value;
        return wpi_ptx_accept(p, ']');
    }
    wpi_ptx_skip_blanks(p);
    if (wpi_ptx_accept(p, ',')) { /* coordinates of a texel */
        o->first = read_operand(p, 0);
        o->count = 1;
        return o->first != 0 && wpi_ptx_accept(p, ']');
    }
    if (*p->at == '-') {
        if (!wpi_ptx_read_number(p, &number)) return false;
    } else if (wpi_ptx_accept(p, '+')) {
        wpi_ptx_skip_blanks(p);
        bool is_name = *p->at == ARG || (is_name_char(*p->at) && !isdigit((unsigned char)*p->at));
        if (is_name) {
            o->offset_name = wpi_ptx_read_name(p);
            if (!o->offset_name) return false;
        } else if (!wpi_ptx_read_number(p, &number)) {
            return false;
        }
    }
    o->value = number.value;
    return wpi_ptx_accept(p, ']');
}

static bool read_list(wpi_ptx_parser *p, unsigned index, unsigned nesting, char end) {
    wpi_ptx_statement *s = &p->statement;
    wpi_ptx_operand elements[WP_PTX_LIST];
    unsigned count = 0;
    do {
        unsigned element = count < WP_PTX_LIST ? read_operand(p, nesting + 1) : 0;
        if (element == 0) return false;
        elements[count++] = s->pool[element];
    } while (wpi_ptx_accept(p, ','));
    if (!wpi_ptx_accept(p, end) || s->pool_count + count > WP_PTX_POOL) return false;
    s->pool[index].kind = WP_PTX_OPERAND_LIST;
    s->pool[index].first = s->pool_count;
    s->pool[index].count = count;
    for (unsigned i = 0; i < count; i++)
        s->pool[s->pool_count++] = elements[i];
    return true;
}

/* Reads an operand. Returns its pool index; 0: not an operand. */
static unsigned read_operand(wpi_ptx_parser *p, unsigned nesting) {
    wpi_ptx_statement *s = &p->statement;
    if (s->pool_count == WP_PTX_POOL || nesting > 1) return 0;
    unsigned index = s->pool_count++;
    wpi_ptx_operand *o = &s->pool[index];
    memset(o, 0, sizeof *o);
    o->name = o->offset_name = "";
    o->is_negated = wpi_ptx_accept(p, '!');
    wpi_ptx_skip_blanks(p);
    if (wpi_ptx_accept(p, '[')) return read_address(p, o) ? index : 0;
    if (wpi_ptx_accept(p, '{')) return read_list(p, index, nesting, '}') ? index : 0;
    if (p->is_module && wpi_ptx_accept(p, '(')) {
        o->kind = WP_PTX_OPERAND_LIST; /* of a call's parameters; may be empty */
        if (wpi_ptx_accept(p, ')')) return index;
        return read_list(p, index, nesting, ')') ? index : 0;
    }
    if (*p->at == '-' || *p->at == '+' || isdigit((unsigned char)*p->at))
        return wpi_ptx_read_number(p, o) ? index : 0;
    if (!(o->name = wpi_ptx_read_name(p))) {
        o->name = "";
        return 0;
    }
    o->kind = strcmp(o->name, "_") == 0 ? WP_PTX_OPERAND_SINK : WP_PTX_OPERAND_NAME;
    if (*p->at == '.') {
        /* "%tid.x" is one name; anything else selects a part of a register */
        size_t length = strspn(++p->at, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (o->name[0] == '%' && length == 1) {
            wpi_text_append(&p->word, "."); /* which still holds the name */
            wpi_text_append_n(&p->word, p->at, 1);
            o->name = intern(p);
        } else {
            if (length == 0 || length >= sizeof o->selector) return 0;
            memcpy(o->selector, p->at, length);
        }
        p->at += length;
    }
    if (p->is_module && o->kind == WP_PTX_OPERAND_NAME && wpi_ptx_accept(p, '+')) {
        wpi_ptx_operand number = {0}; /* variable+8 */
        if (!wpi_ptx_read_number(p, &number)) return 0;
        o->value = number.value;
    }
    if (nesting == 0 && wpi_ptx_accept(p, '|')) {
        unsigned second = read_operand(p, nesting);
        if (second == 0) return 0;
        s->pool[index].second = second;
    }
    return index;
}

static bool read_opcode(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    if (!isalpha((unsigned char)*p->at)) return false;
    size_t length = 0;
    s->part_count = 1;
    for (;; p->at++) {
        char c = *p->at;
        bool is_scope = c == ':' && (p->at[1] == ':' || p->at[-1] == ':');
        if (c == '.') {
            if (s->part_count == WP_PTX_PARTS || length == 0) return false;
            s->part_count++;
            length = 0;
        } else if (isalnum((unsigned char)c) || c == '_' || is_scope) {
            if (length + 1 >= WP_PTX_PART_CHARS) return false;
            s->parts[s->part_count - 1][length++] = c;
        } else {
            break;
        }
    }
    wpi_ptx_skip_blanks(p);
    return length > 0 && *p->at != ':'; /* a label ends in ':' */
}

static bool read_operands(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    wpi_ptx_skip_blanks(p);
    if (*p->at == ';' || *p->at == '}' || *p->at == '\0') return true;
    do {
        if (s->operand_count == WP_PTX_OPERANDS) return false;
        unsigned operand = read_operand(p, 0);
        if (operand == 0) return false;
        s->operands[s->operand_count++] = operand;
    } while (wpi_ptx_accept(p, ','));
    return true;
}

/* .reg .b32 a, b, r<10>; the counts end up in `value` (0: a single register). */
static bool read_declaration(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    const char *name = wpi_ptx_accept(p, '.') ? wpi_ptx_read_name(p) : NULL;
    if (!name) return false;
    p->type = wpi_ptx_type_parse(name);
    if (p->type.kind == WP_PTX_NONE) return false;
    do {
        if (s->pool_count == WP_PTX_POOL) return false;
        wpi_ptx_operand *o = &s->pool[s->pool_count++];
        memset(o, 0, sizeof *o);
        if (!(o->name = wpi_ptx_read_name(p))) return false;
        if (wpi_ptx_accept(p, '<')) {
            if (!wpi_ptx_read_number(p, o) || !wpi_ptx_accept(p, '>') || o->value == 0 ||
                o->value > WP_PTX_REGISTERS)
                return false;
        }
    } while (wpi_ptx_accept(p, ','));
    return wpi_ptx_accept(p, ';');
}

void wpi_ptx_note_text(wpi_ptx_statement *s, const char *from) {
    size_t length = 0;
    bool is_gap = false;
    for (const char *c = from; *c && *c != ';' && length + 2 < sizeof s->text; c++) {
        if (isspace((unsigned char)*c)) {
            is_gap = length > 0;
            continue;
        }
        if (is_gap) s->text[length++] = ' ';
        is_gap = false;
        if (*c != ARG_END) s->text[length++] = *c == ARG ? '%' : *c;
    }
    s->text[length] = '\0';
}

static bool read_label(wpi_ptx_parser *p) {
    const char *start = p->at;
    p->label = wpi_ptx_read_name(p);
    wpi_ptx_skip_blanks(p);
    if (p->label && *p->at == ':' && p->at[1] != ':') {
        p->at++;
        return true;
    }
    p->at = start;
    return false;
}

wpi_ptx_item wpi_ptx_parse(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    do
        wpi_ptx_skip_blanks(p);
    while (wpi_ptx_accept(p, ';'));
    s->part_count = s->operand_count = 0;
    s->taken = 0;
    s->has_guard = false;
    s->pool_count = 1;
    s->pool[0] = (wpi_ptx_operand){.name = "", .offset_name = ""};
    memset(s->parts, 0, sizeof s->parts);
    if (*p->at == '\0') return WP_PTX_ITEM_END;
    if (wpi_ptx_accept(p, '{')) return WP_PTX_ITEM_OPEN;
    if (wpi_ptx_accept(p, '}')) return WP_PTX_ITEM_CLOSE;
    wpi_ptx_note_text(s, p->at);
    if (*p->at != '@' && *p->at != '.' && read_label(p)) return WP_PTX_ITEM_LABEL;
    if (strncmp(p->at, ".reg", 4) == 0) {
        p->at += 4;
        return read_declaration(p) ? WP_PTX_ITEM_NAMES : WP_PTX_ITEM_BAD;
    }
    if (p->is_module && *p->at == '.') return WP_PTX_ITEM_DOT;
    if (wpi_ptx_accept(p, '@')) {
        memset(&s->guard, 0, sizeof s->guard);
        s->has_guard = true;
        s->guard.is_negated = wpi_ptx_accept(p, '!');
        if (!(s->guard.name = wpi_ptx_read_name(p))) return WP_PTX_ITEM_BAD;
        wpi_ptx_skip_blanks(p);
    }
    if (!read_opcode(p) || !read_operands(p)) return WP_PTX_ITEM_BAD;
    wpi_ptx_skip_blanks(p);
    bool is_end = wpi_ptx_accept(p, ';') || *p->at == '}' || *p->at == '\0';
    return is_end ? WP_PTX_ITEM_STATEMENT : WP_PTX_ITEM_BAD;
}
