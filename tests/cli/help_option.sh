# SPDX-License-Identifier: Apache-2.0
# --help and help give the same page.
warpage help >a && warpage --help >b && warpage -h >c && cmp a b && cmp a c && warpage help run >d && warpage run --help >e && cmp d e && echo same
