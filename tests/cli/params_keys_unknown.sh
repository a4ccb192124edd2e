# SPDX-License-Identifier: Apache-2.0
# A key that does not exist: the nearest one is named.
warpage params --device sim:k80 tlb.l2.entrie
