# SPDX-License-Identifier: Apache-2.0
# An unknown ending is refused before the program starts.
warpage run --report r.xml "$CASES/programs/records"
