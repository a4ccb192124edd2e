# SPDX-License-Identifier: Apache-2.0
# A file that is no trace: which, and where.
cd "$CASES" && warpage trace info help.sh
