# SPDX-License-Identifier: Apache-2.0
# The claims, with what came out in the recorded run.
warpage reproduce --list --format csv tlb-damon17/table2
