# SPDX-License-Identifier: Apache-2.0
# A wrong key is found before anything runs.
warpage compare --device sim:k80 --vary tlb.l2.entrie=1,2 -- true
