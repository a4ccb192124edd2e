# SPDX-License-Identifier: Apache-2.0
# The program runs checked, and writes a file if something was found: then its exit status 0 becomes a failure.
warpage run --check -- sh -c 'echo "check=$WARPAGE_CHECK"; printf 1 >"$WARPAGE_CHECK_FOUND"'
