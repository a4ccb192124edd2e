/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reads the few directives needed, in text written by our compiler: directives begin a line; lines
 * of strings and comments are skipped.
 *
 *     .visible .entry name(                     .visible .global .align 8 .u64 name;
 *         .param .u64 name_param_0,             .visible .const .align 4 .b8 name[64] = {…};
 *         .param .align 8 .b8 name_param_1[32]
 *     )
 */
#include "device/cuda/ptx_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *next_line(const char *at) {
    const char *end = strchr(at, '\n');
    return end != NULL ? end + 1 : at + strlen(at);
}

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Skips `word` and the blanks after it. */
static bool take(const char **at, const char *word) {
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0) return false;
    *at = skip_blanks(*at + length);
    return true;
}

static bool is_name_character(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void take_linkage(const char **at) {
    while (take(at, ".visible ") || take(at, ".weak ") || take(at, ".common "))
        continue;
}

bool wpi_ptx_next_kernel(const char **at, wpi_ptx_name *name, uint32_t *param_count,
                         uint64_t *address_params) {
    for (const char *line = *at; *line != '\0'; line = next_line(line)) {
        const char *p = skip_blanks(line);
        take_linkage(&p);
        if (!take(&p, ".entry ")) continue;
        name->first = p;
        while (is_name_character(*p))
            p++;
        name->length = (size_t)(p - name->first);
        p = skip_blanks(p);
        *param_count = 0;
        *address_params = 0;
        if (*p == '(') { /* a kernel without parameters may have no list */
            const char *end = strchr(p, ')');
            if (end == NULL) return false;
            while ((p = strstr(p, ".param")) != NULL && p < end) {
                p += strlen(".param");
                if (*param_count < 64 && strncmp(p, " .u64", 5) == 0)
                    *address_params |= UINT64_C(1) << *param_count;
                *param_count += 1;
            }
            p = end;
        }
        *at = p;
        return name->length != 0;
    }
    return false;
}

/* Bytes of a type: ".u64", ".b8". */
static uint32_t type_bytes(const char *type) {
    while (*type != '\0' && !isdigit((unsigned char)*type) && *type != ' ')
        type++;
    return (uint32_t)strtoul(type, NULL, 10) / 8;
}

void wpi_ptx_param(const char *after_name, uint32_t i, uint32_t *offset_bytes,
                   uint32_t *size_bytes) {
    const char *p = skip_blanks(after_name);
    const char *end = *p == '(' ? strchr(p, ')') : NULL;
    uint32_t at = 0;
    *offset_bytes = *size_bytes = 0;
    for (uint32_t n = 0; end != NULL && (p = strstr(p, ".param")) != NULL && p < end; n++) {
        p = skip_blanks(p + strlen(".param"));
        uint32_t align = 0, size = 0;
        while (*p == '.') {
            if (take(&p, ".align ")) {
                align = (uint32_t)strtoul(p, NULL, 10);
                p += strspn(p, "0123456789");
            } else if (strncmp(p, ".ptr", 4) == 0) { /* a pointer and where it points to */
                p += strcspn(p, " \t");
                align = 0;
            } else {
                size = type_bytes(p);
                p += strcspn(p, " \t");
            }
            p = skip_blanks(p);
        }
        if (align == 0) align = size;
        const char *bracket = p + strcspn(p, "[,)\n");
        if (*bracket == '[') size *= (uint32_t)strtoul(bracket + 1, NULL, 10);
        if (align != 0) at = (at + align - 1) / align * align;
        if (n == i) {
            *offset_bytes = at;
            *size_bytes = size;
            return;
        }
        at += size;
    }
}

bool wpi_ptx_next_variable(const char **at, const char *prefix, wpi_ptx_name *name) {
    const size_t prefix_length = strlen(prefix);
    for (const char *line = *at; *line != '\0'; line = next_line(line)) {
        const char *p = skip_blanks(line);
        take_linkage(&p);
        if (!take(&p, ".global ") && !take(&p, ".const ")) continue;
        /* .align 8, then the type: the name is the first word that is neither. */
        while (*p == '.') {
            const bool is_align = strncmp(p, ".align", 6) == 0;
            while (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\0')
                p++;
            p = skip_blanks(p);
            while (is_align && isdigit((unsigned char)*p))
                p++;
            p = skip_blanks(p);
        }
        name->first = p;
        while (is_name_character(*p))
            p++;
        name->length = (size_t)(p - name->first);
        if (name->length < prefix_length || strncmp(name->first, prefix, prefix_length) != 0)
            continue;
        *at = next_line(line);
        return true;
    }
    return false;
}

uint32_t wpi_ptx_version(const char *text) {
    const char *at = strstr(text, ".version ");
    if (at == NULL) return 0;
    char *end;
    const unsigned long major = strtoul(at + strlen(".version "), &end, 10);
    const unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;
    return (uint32_t)(major * 10 + minor);
}
