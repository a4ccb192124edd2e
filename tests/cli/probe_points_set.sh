# SPDX-License-Identifier: Apache-2.0
# The simulated GPU's numbers can be changed.
warpage probe points --device sim:k80 --set tlb.l1.entries=32 within=128KiB*32 beyond=128KiB*33
