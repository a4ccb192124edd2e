#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler's allocations: base/must.h, or base/alloc.h where the failure is reported in the next
# lines. Prints each call in src/compiler that is neither; exit 1 then.
cd "$(dirname "$0")/.." || exit 2
found=$(find src/compiler -name '*.[ch]' | sort | xargs awk '
    FNR == 1 { pending = "" }
    pending != "" && /NOMEM/ { pending = "" }
    pending != "" && FNR > line + 3 { print pending; pending = "" }
    /(^|[^a-z_])(wp_)?(malloc|calloc|realloc|strdup|strndup|malloc_aligned)\([^)]/ {
        if (pending != "") print pending
        pending = FILENAME ":" FNR ": " $0
        line = FNR
    }
    END { if (pending != "") print pending }')
[ -z "$found" ] && exit 0
echo "$found"
echo "unchecked allocations: use base/must.h" >&2
exit 1
