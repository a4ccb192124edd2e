# SPDX-License-Identifier: Apache-2.0
# --output writes the full set.
warpage run --output deep/er "$CASES/programs/records" 0 >/dev/null && ls deep/er
