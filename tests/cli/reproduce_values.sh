# SPDX-License-Identifier: Apache-2.0
# Every claim of `reproduce` has a published value or order; what has none is a study's.
warpage reproduce --list --format csv | grep -c 'no published value'
