# SPDX-License-Identifier: Apache-2.0
# A wrong key is found before the program starts.
warpage run --device sim:k80 --set tlb.l2.entrie=4 "$CASES/programs/records"
