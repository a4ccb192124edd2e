# SPDX-License-Identifier: Apache-2.0
# A figure run again gives what is recorded.
warpage reproduce --list --format csv tlb-damon17/table2 >recorded && warpage reproduce --format csv tlb-damon17/table2 2>/dev/null | diff recorded - && echo same
