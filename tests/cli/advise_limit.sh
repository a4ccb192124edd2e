# SPDX-License-Identifier: Apache-2.0
# A limit of nothing is none.
warpage advise --limit 0 -- true
