# SPDX-License-Identifier: Apache-2.0
# What the library cannot do is refused, not passed over.
warpage run --check "$CASES/programs/records"
