# SPDX-License-Identifier: Apache-2.0
# --set needs a simulated GPU.
warpage run --set tlb.l2.entries=4 "$CASES/programs/records"
