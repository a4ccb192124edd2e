/* SPDX-License-Identifier: Apache-2.0 */
/* A launch becomes, on its own lines, a call of what include/warpage/cuda/wp/device_runtime.h has:
 *
 *     ns::kernel<T><<<grid, block>>>(x)
 *     wp_kernel_of<decltype(&ns::kernel<T>), &ns::kernel<T> >::with(grid, block)(x)
 *
 * and, if there are several of that name, in a class, where clang lets code name any function,
 *
 *     ({ struct wp_launch { typedef wp_kernel_of<decltype(__wp_kernel_with_1(&kernel)), &kernel>
 * type; }; wp_launch::type::with(grid, block); })(x)
 *
 * and, if it is a template whose arguments follow from those of the call, the same with
 *
 *     decltype(wp_kernel_taking(x))
 *
 * for the kernel's type: parameters of the arguments' types.
 */
#include "compiler/source/device_launches.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text.h"
#include "compiler/source/source_text.h"

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_';
}

/* Before the template arguments that end at `end`. */
static const char *before_arguments(const char *text, const char *end) {
    int depth = 0;
    for (const char *p = end; p > text; p--) {
        depth += (p[-1] == '>') - (p[-1] == '<');
        if (depth == 0) return p - 1;
    }
    return end;
}

/* The begin of the qualified name whose last part begins at `name`. */
static const char *begin_of(const char *text, const char *name) {
    while (name - text >= 2 && name[-1] == ':' && name[-2] == ':') {
        name -= 2;
        if (name > text && name[-1] == '>') name = before_arguments(text, name);
        while (name > text && is_word_char(name[-1]))
            name--;
    }
    return name;
}

/* The `<<<` after the name, its template arguments and parentheses. */
static const char *find_open(const char *p) {
    if (!is_word_char(*p)) return NULL;
    for (; *p; p++) {
        if (strncmp(p, "<<<", 3) == 0) return p;
        if (strchr(";{}\"'", *p)) return NULL;
    }
    return NULL;
}

/* The `>>>` of the configuration that begins at `p`. */
static const char *find_close(const char *p) {
    int depth = 0;
    while (*p) {
        const char *next = p + wpi_source_skip(p);
        if (next != p) {
            p = next;
            continue;
        }
        if (depth == 0 && strncmp(p, ">>>", 3) == 0) return p;
        depth += (strchr("([{", *p) != NULL) - (strchr(")]}", *p) != NULL);
        if (depth < 0 || *p == ';') return NULL;
        p++;
    }
    return NULL;
}

char *wpi_device_launch_change(const char *text, const char *name) {
    const char *open = find_open(name), *close = open ? find_close(open + 3) : NULL;
    if (!close || close[3 + strspn(close + 3, " \t\r\n\\")] != '(') return NULL;
    const char *begin = begin_of(text, name), *end = open;
    while (end > name && isspace((unsigned char)end[-1]))
        end--;
    while (begin > text && begin[-1] == '(' && end[-1] == ')')
        begin--;
    const int length = (int)(end - begin);
    return wpi_format("%.*swp_kernel_of<decltype(&%.*s), &%.*s >::with(%.*s)%s",
                      (int)(begin - text), text, length, begin, length, begin,
                      (int)(close - open - 3), open + 3, close + 3);
}

/* ---- overloaded kernels ---- */

/* The bracket that closes the one at `p`, and the number of arguments between them; NULL: none. */
static const char *closing(const char *p, unsigned *count) {
    int depth = 0;
    bool is_empty = true;
    *count = 0;
    while (*p) {
        const char *next = p + wpi_source_skip(p);
        if (next != p) {
            is_empty = is_empty && (*p == '/');
            p = next;
            continue;
        }
        if (strchr("([{", *p)) {
            is_empty = is_empty && depth == 0;
            depth++;
        } else if (strchr(")]}", *p)) {
            if (--depth == 0) {
                *count += !is_empty;
                return p;
            }
        } else {
            *count += *p == ',' && depth == 1;
            is_empty = is_empty && isspace((unsigned char)*p);
        }
        p++;
    }
    return NULL;
}

char *wpi_device_launch_choose(const char *text, const char *at) {
    static const char before[] = "wp_kernel_of<decltype(", middle[] = "), &", with[] = " >::with";
    const size_t length = sizeof before - 1;
    if (at - text < (ptrdiff_t)length || strncmp(at - length, before, length) != 0 || *at != '&')
        return NULL;
    const char *end = strstr(at, middle), *config = strstr(at, with);
    if (!end || !config || config < end) return NULL;
    config += sizeof with - 1;
    unsigned count;
    const char *config_end = closing(config, &count);
    const char *args = config_end ? config_end + 1 + strspn(config_end + 1, " \t\r\n\\") : NULL;
    if (!args || *args != '(' || !closing(args, &count)) return NULL;
    const int name_length = (int)(end - at);
    return wpi_format(
        "%.*s({ struct wp_launch { typedef wp_kernel_of<decltype(__wp_kernel_with_%u(%.*s)), "
        "%.*s > type; }; wp_launch::type::with%.*s; })%s",
        (int)(at - text - (ptrdiff_t)length), text, count, name_length, at, name_length, at,
        (int)(config_end + 1 - config), config, config_end + 1);
}

/* ---- kernels whose template arguments are deduced ---- */

/* The text from `p` to `end` in one line, without comments; false: it has a directive. */
static bool add_line(wpi_text *out, const char *p, const char *end) {
    while (p < end) {
        const char *next = p + wpi_source_skip(p);
        if (*p == '#') return false;
        if (next == p)
            wpi_text_append_n(out, *p == '\n' ? " " : p, 1), p++;
        else if (*p == '/')
            wpi_text_append(out, " "), p = next;
        else
            wpi_text_append_n(out, p, (size_t)(next - p)), p = next;
    }
    return true;
}

char *wpi_device_launch_deduce(const char *text, const char *at) {
    static const char begin[] = "__wp_kernel_with_", with[] = "wp_launch::type::with";
    if (strncmp(at, begin, sizeof begin - 1) != 0) return NULL;
    unsigned count;
    const char *open = strchr(at, '('), *name_end = open ? closing(open, &count) : NULL;
    const char *config = name_end ? strstr(name_end, with) : NULL;
    const char *config_end = config ? closing(config + sizeof with - 1, &count) : NULL;
    const char *args = config_end ? strchr(config_end + 1, '(') : NULL;
    const char *args_end = args ? closing(args, &count) : NULL;
    if (!args_end) return NULL;
    wpi_text changed = {0};
    wpi_text_append_n(&changed, text, (size_t)(at - text));
    wpi_text_append(&changed, "wp_kernel_taking");
    const bool is_line = add_line(&changed, args, args_end + 1);
    wpi_text_append(&changed, name_end + 1);
    if (is_line) return wpi_text_take(&changed);
    wpi_text_deinit(&changed);
    return NULL;
}
