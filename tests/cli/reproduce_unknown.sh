# SPDX-License-Identifier: Apache-2.0
# A figure that is not there.
warpage reproduce tlb-damon17/table9
