/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/launch_syntax.h"

#include <string.h>

#include "compiler/source/source_text.h"

/* At `c` twice, blanks, `c`: moves the third next to the others. */
static bool join(char *p, char c) {
    if (p[0] != c || p[1] != c) return false;
    size_t blanks = strspn(p + 2, " \t");
    if (blanks == 0 || p[2 + blanks] != c) return false;
    p[2 + blanks] = ' ';
    p[2] = c;
    return true;
}

bool wpi_launch_syntax_join(char *text) {
    bool is_open = false, any = false;
    for (char *p = text; *p;) {
        char *next = p + wpi_source_skip(p);
        if (next != p) {
            p = next;
            continue;
        }
        /* `<< <` has no other meaning in C++; `>> >` may close templates, so it counts only after
         * an opening one.
         */
        if (join(p, '<')) {
            is_open = any = true;
            p += 3;
        } else if (is_open && (strncmp(p, ">>>", 3) == 0 || join(p, '>'))) {
            is_open = false;
            p += 3;
        } else {
            p++;
        }
    }
    return any;
}
