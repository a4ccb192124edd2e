# SPDX-License-Identifier: Apache-2.0
# Nothing found: the program's own status. Without --check nothing is asked for.
warpage run --check -- sh -c 'exit 0' || exit 9
warpage run --check -- sh -c 'printf 1 >"$WARPAGE_CHECK_FOUND"; exit 3'
[ $? -eq 3 ] || exit 8
warpage run -- sh -c 'echo "check=$WARPAGE_CHECK$WARPAGE_CHECK_FOUND"'
