# SPDX-License-Identifier: Apache-2.0
# A missing folder is refused before the program starts.
warpage run --report nowhere/r.json "$CASES/programs/records"
