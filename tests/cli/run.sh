# SPDX-License-Identifier: Apache-2.0
# Output passes through; the report goes to stderr.
warpage run -- "$CASES/programs/records" 0 --flag
