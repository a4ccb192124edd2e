# SPDX-License-Identifier: Apache-2.0
# The program is told to check, and leaves a mark when something was found: then a success is none.
warpage run --check -- sh -c 'echo "check=$WARPAGE_CHECK"; printf 1 >"$WARPAGE_CHECK_FOUND"'
