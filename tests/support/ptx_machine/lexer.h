/* SPDX-License-Identifier: Apache-2.0 */
/** PTX text as tokens. A word keeps its dots: `ld.global.u32`, `%tid.x`, `.reg`. */
#ifndef PM_LEXER_H
#define PM_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum pm_token_kind {
    PM_TOKEN_END,
    PM_TOKEN_WORD,
    PM_TOKEN_INTEGER,
    PM_TOKEN_FLOAT,  /* value: bits of a float */
    PM_TOKEN_DOUBLE, /* value: bits of a double */
    PM_TOKEN_STRING,
    PM_TOKEN_SIGN, /* one character */
    PM_TOKEN_BAD
} pm_token_kind;

typedef struct pm_token {
    pm_token_kind kind;
    const char *text;
    size_t length;
    uint64_t value;
    unsigned line;
} pm_token;

typedef struct pm_lexer {
    const char *at;
    unsigned line;
    pm_token token; /* the one that is looked at */
} pm_lexer;

void pm_lexer_start(pm_lexer *lexer, const char *text);
void pm_lexer_next(pm_lexer *lexer);
bool pm_token_is(const pm_token *token, const char *text);

#endif
