# SPDX-License-Identifier: Apache-2.0
# Nothing is left in the temporary folder.
mkdir tmp && TMPDIR=$PWD/tmp warpage run "$CASES/programs/records" >/dev/null 2>&1; TMPDIR=$PWD/tmp warpage run ./nowhere 2>/dev/null; ls -A tmp; echo end
