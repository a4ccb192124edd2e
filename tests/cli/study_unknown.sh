# SPDX-License-Identifier: Apache-2.0
# A figure of a paper is no study.
warpage study tlb-damon17/table2
