/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of one asm block, a statement at a time:
 *
 *     text      = { "{" | "}" | ".reg" names ";" | [ "@" [ "!" ] name ] opcode operands ";" }
 *     operand   = [ "!" ] name [ "." selector ] [ "|" operand ] | number | "_"
 *               | "{" operand, … "}" | "[" name [ "+" offset ] "]"
 *
 * First the text is cleaned: comments become blanks, an asm operand ($0, ${0:x}) becomes ARG digits
 * END, so that the statement parser meets neither LLVM's escapes nor comments. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

#define ARG '\x01'
#define ARG_END '\x02'

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

static void clean(wpi_text *out, const char *text, size_t length, unsigned uid) {
    const char *at = text, *end = text + length;
    wpi_text_append(out, "");
    while (at < end) {
        if (at + 1 < end && at[0] == '/' && at[1] == '/') {
            while (at < end && *at != '\n')
                at++;
        } else if (at + 1 < end && at[0] == '/' && at[1] == '*') {
            at += 2;
            while (at < end && !(at[0] == '*' && at + 1 < end && at[1] == '/'))
                at++;
            at = at + 2 <= end ? at + 2 : end;
            wpi_text_append(out, " ");
        } else if (*at == '$') {
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
    clean(&parser->clean, text, length, uid);
    parser->at = wpi_text_string(&parser->clean);
}

void wpi_ptx_parser_deinit(wpi_ptx_parser *parser) {
    wpi_text_deinit(&parser->clean);
}

wpi_ptx_type_of wpi_ptx_type_parse(const char *name) {
    static const struct {
        const char *name;
        wpi_ptx_type_of type;
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
        return (wpi_ptx_type_of){kind, widths[i].bits, 1};
    }
    return (wpi_ptx_type_of){WP_PTX_NONE, 0, 1};
}

static void blanks(wpi_ptx_parser *p) {
    while (isspace((unsigned char)*p->at))
        p->at++;
}

static bool accept(wpi_ptx_parser *p, char c) {
    blanks(p);
    if (*p->at != c) return false;
    p->at++;
    return true;
}

static bool is_name_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

/* An asm operand is called "%0", as the user wrote it. */
static bool read_name(wpi_ptx_parser *p, char name[WP_PTX_NAME_CHARS]) {
    blanks(p);
    size_t length = 0;
    if (*p->at == ARG) {
        name[length++] = '%';
        for (p->at++; *p->at != ARG_END; p->at++)
            if (length + 1 < WP_PTX_NAME_CHARS) name[length++] = *p->at;
        p->at++;
    } else {
        if (isdigit((unsigned char)*p->at)) return false;
        while (is_name_char(*p->at)) {
            if (length + 1 >= WP_PTX_NAME_CHARS) return false;
            name[length++] = *p->at++;
        }
    }
    name[length] = '\0';
    return length > 0;
}

static bool read_number(wpi_ptx_parser *p, wpi_ptx_operand_at *o) {
    blanks(p);
    bool is_negative = false;
    while (*p->at == '-' || *p->at == '+')
        is_negative ^= *p->at++ == '-';
    blanks(p);
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

static bool read_address(wpi_ptx_parser *p, wpi_ptx_operand_at *o) {
    o->kind = WP_PTX_OPERAND_ADDRESS;
    wpi_ptx_operand_at number = {0};
    blanks(p);
    if (!read_name(p, o->name)) {
        if (!read_number(p, &number)) return false;
        o->value = number.value;
        return accept(p, ']');
    }
    blanks(p);
    if (*p->at == '-') {
        if (!read_number(p, &number)) return false;
    } else if (accept(p, '+')) {
        blanks(p);
        bool is_name = *p->at == ARG || (is_name_char(*p->at) && !isdigit((unsigned char)*p->at));
        if (is_name ? !read_name(p, o->offset_name) : !read_number(p, &number)) return false;
    }
    o->value = number.value;
    return accept(p, ']');
}

static unsigned read_operand(wpi_ptx_parser *p, unsigned nesting);

static bool read_list(wpi_ptx_parser *p, unsigned index, unsigned nesting) {
    wpi_ptx_statement *s = &p->statement;
    wpi_ptx_operand_at elements[WP_PTX_OPERANDS];
    unsigned count = 0;
    do {
        unsigned element = count < WP_PTX_OPERANDS ? read_operand(p, nesting + 1) : 0;
        if (element == 0) return false;
        elements[count++] = s->pool[element];
    } while (accept(p, ','));
    if (!accept(p, '}') || s->pool_count + count > WP_PTX_POOL) return false;
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
    wpi_ptx_operand_at *o = &s->pool[index];
    memset(o, 0, sizeof *o);
    o->is_negated = accept(p, '!');
    blanks(p);
    if (accept(p, '[')) return read_address(p, o) ? index : 0;
    if (accept(p, '{')) return read_list(p, index, nesting) ? index : 0;
    if (*p->at == '-' || *p->at == '+' || isdigit((unsigned char)*p->at))
        return read_number(p, o) ? index : 0;
    if (!read_name(p, o->name)) return 0;
    o->kind = strcmp(o->name, "_") == 0 ? WP_PTX_OPERAND_SINK : WP_PTX_OPERAND_NAME;
    if (*p->at == '.') {
        /* "%tid.x" is one name; anything else selects a part of a register */
        size_t length = strspn(++p->at, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (o->name[0] == '%' && length == 1) {
            size_t end = strlen(o->name);
            if (end + 3 > WP_PTX_NAME_CHARS) return 0;
            o->name[end] = '.';
            o->name[end + 1] = p->at[0];
            o->name[end + 2] = '\0';
        } else {
            if (length == 0 || length >= sizeof o->selector) return 0;
            memcpy(o->selector, p->at, length);
        }
        p->at += length;
    }
    if (nesting == 0 && accept(p, '|')) {
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
    blanks(p);
    return length > 0 && *p->at != ':'; /* a label ends in ':' */
}

static bool read_operands(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    blanks(p);
    if (*p->at == ';' || *p->at == '}' || *p->at == '\0') return true;
    do {
        if (s->operand_count == WP_PTX_OPERANDS) return false;
        unsigned operand = read_operand(p, 0);
        if (operand == 0) return false;
        s->operands[s->operand_count++] = operand;
    } while (accept(p, ','));
    return true;
}

/* .reg .b32 a, b, r<10>; the counts end up in `value` (0: a single register). */
static bool read_declaration(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    char name[WP_PTX_NAME_CHARS];
    blanks(p);
    if (!accept(p, '.') || !read_name(p, name)) return false;
    p->type = wpi_ptx_type_parse(name);
    if (p->type.kind == WP_PTX_NONE) return false;
    do {
        if (s->pool_count == WP_PTX_POOL) return false;
        wpi_ptx_operand_at *o = &s->pool[s->pool_count++];
        memset(o, 0, sizeof *o);
        if (!read_name(p, o->name)) return false;
        if (accept(p, '<')) {
            if (!read_number(p, o) || !accept(p, '>') || o->value == 0 || o->value > 4096)
                return false;
        }
    } while (accept(p, ','));
    return accept(p, ';');
}

static void note_text(wpi_ptx_statement *s, const char *from) {
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

wpi_ptx_item wpi_ptx_parse(wpi_ptx_parser *p) {
    wpi_ptx_statement *s = &p->statement;
    do
        blanks(p);
    while (accept(p, ';'));
    s->part_count = s->operand_count = 0;
    s->taken = 0;
    s->has_guard = false;
    s->pool_count = 1;
    memset(s->parts, 0, sizeof s->parts);
    if (*p->at == '\0') return WP_PTX_ITEM_END;
    if (accept(p, '{')) return WP_PTX_ITEM_OPEN;
    if (accept(p, '}')) return WP_PTX_ITEM_CLOSE;
    note_text(s, p->at);
    if (strncmp(p->at, ".reg", 4) == 0) {
        p->at += 4;
        return read_declaration(p) ? WP_PTX_ITEM_NAMES : WP_PTX_ITEM_BAD;
    }
    if (accept(p, '@')) {
        memset(&s->guard, 0, sizeof s->guard);
        s->has_guard = true;
        s->guard.is_negated = accept(p, '!');
        if (!read_name(p, s->guard.name)) return WP_PTX_ITEM_BAD;
        blanks(p);
    }
    if (!read_opcode(p) || !read_operands(p)) return WP_PTX_ITEM_BAD;
    blanks(p);
    bool is_end = accept(p, ';') || *p->at == '}' || *p->at == '\0';
    return is_end ? WP_PTX_ITEM_STATEMENT : WP_PTX_ITEM_BAD;
}
