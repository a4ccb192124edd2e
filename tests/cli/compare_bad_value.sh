# SPDX-License-Identifier: Apache-2.0
# So is an impossible value.
warpage compare --device sim:k80 --vary tlb.l2.entries=65,none -- true
