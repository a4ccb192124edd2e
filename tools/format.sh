#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Formats C sources of this tree:    tools/format.sh [--check] [files...]
# Without files: those that differ from the last commit. --check only says which would change.
set -eu
cd "$(dirname "$0")/.."
format=
for name in clang-format-19 clang-format clang-format-14; do
    if command -v "$name" >/dev/null 2>&1; then format=$name && break; fi
done
[ -n "$format" ] || { echo "format: install the package clang-format-19" >&2; exit 1; }
check=
if [ "${1:-}" = --check ]; then
    check="--dry-run --Werror"
    shift
fi
if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046  # our file names have no spaces
    set -- $(git diff --name-only --diff-filter=d HEAD -- 'src/*.[ch]' 'include/warpage/*.h' 'tests/*.[ch]')
fi
[ $# -gt 0 ] || exit 0
# shellcheck disable=SC2086
"$format" ${check:--i} "$@"
