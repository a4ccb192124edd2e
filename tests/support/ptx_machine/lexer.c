/* SPDX-License-Identifier: Apache-2.0 */
#include "lexer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void skip_blanks(pm_lexer *x) {
    for (;;) {
        if (*x->at == '\n') {
            x->line++;
            x->at++;
        } else if (isspace((unsigned char)*x->at)) {
            x->at++;
        } else if (x->at[0] == '/' && x->at[1] == '/') {
            x->at += strcspn(x->at, "\n");
        } else if (x->at[0] == '/' && x->at[1] == '*') {
            for (x->at += 2; *x->at != '\0' && !(x->at[0] == '*' && x->at[1] == '/'); x->at++)
                x->line += *x->at == '\n';
            x->at += *x->at != '\0' ? 2 : 0;
        } else {
            return;
        }
    }
}

static bool begins_word(const char *p) {
    return isalpha((unsigned char)*p) || *p == '_' || *p == '$' ||
           ((*p == '%' || *p == '.') &&
            (isalpha((unsigned char)p[1]) || p[1] == '_' || p[1] == '$'));
}

static size_t word_length(const char *p) {
    size_t n = 1;
    for (;;) {
        if (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '$' || p[n] == '.')
            n++;
        else if (p[n] == ':' && p[n + 1] == ':' && isalnum((unsigned char)p[n + 2]))
            n += 2;
        else
            return n;
    }
}

/* 0f3F800000, 0d3FF0000000000000: the bits. */
static bool read_hex_float(pm_token *t, const char **p) {
    const char kind = (char)tolower((unsigned char)(*p)[1]);
    const size_t digits = kind == 'f' ? 8 : 16;
    if ((*p)[0] != '0' || (kind != 'f' && kind != 'd') ||
        strspn(*p + 2, "0123456789abcdefABCDEF") < digits)
        return false;
    char copy[17] = {0};
    memcpy(copy, *p + 2, digits);
    t->kind = kind == 'f' ? PM_TOKEN_FLOAT : PM_TOKEN_DOUBLE;
    t->value = strtoull(copy, NULL, 16);
    *p += 2 + digits;
    return true;
}

static void read_number(pm_token *t, const char **p) {
    if (read_hex_float(t, p)) return;
    const bool is_hex = (*p)[0] == '0' && ((*p)[1] == 'x' || (*p)[1] == 'X');
    const char *digits_end = *p + strspn(*p, "0123456789");
    if (!is_hex && (*digits_end == '.' || *digits_end == 'e' || *digits_end == 'E')) {
        char *end;
        const double value = strtod(*p, &end);
        memcpy(&t->value, &value, sizeof value);
        t->kind = PM_TOKEN_DOUBLE;
        *p = end;
        return;
    }
    char *end;
    t->kind = PM_TOKEN_INTEGER;
    if ((*p)[0] == '0' && ((*p)[1] == 'b' || (*p)[1] == 'B'))
        t->value = strtoull(*p + 2, &end, 2);
    else
        t->value = strtoull(*p, &end, 0);
    *p = end + (*end == 'U');
}

void pm_lexer_next(pm_lexer *x) {
    skip_blanks(x);
    pm_token *t = &x->token;
    const char *p = x->at;
    *t = (pm_token){.kind = PM_TOKEN_END, .text = p, .line = x->line};
    if (*p == '\0') return;
    if (begins_word(p)) {
        t->kind = PM_TOKEN_WORD;
        p += word_length(p);
    } else if (isdigit((unsigned char)*p)) {
        read_number(t, &p);
    } else if (*p == '"') {
        t->kind = PM_TOKEN_STRING;
        p += 1 + strcspn(p + 1, "\"\n");
        p += *p == '"';
    } else {
        t->kind = isprint((unsigned char)*p) ? PM_TOKEN_SIGN : PM_TOKEN_BAD;
        p++;
    }
    t->length = (size_t)(p - t->text);
    x->at = p;
}

void pm_lexer_start(pm_lexer *x, const char *text) {
    *x = (pm_lexer){.at = text, .line = 1};
    pm_lexer_next(x);
}

bool pm_token_is(const pm_token *t, const char *text) {
    return (t->kind == PM_TOKEN_WORD || t->kind == PM_TOKEN_SIGN) && strlen(text) == t->length &&
           memcmp(t->text, text, t->length) == 0;
}
