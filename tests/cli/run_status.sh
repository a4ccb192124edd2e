# SPDX-License-Identifier: Apache-2.0
# The program's exit status is ours; the report is written all the same.
warpage run "$CASES/programs/records" 42
