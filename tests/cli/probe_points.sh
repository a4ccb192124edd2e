# SPDX-License-Identifier: Apache-2.0
# Single points, on any SM: within the first TLB, beyond it, and an SM that shares a TLB or not.
warpage probe points --device sim:k80 within=128KiB*16 beyond=128KiB*17 'entries=128KiB<4' alone=0,1:2MiB*65 shared=0,5:2MiB*65
