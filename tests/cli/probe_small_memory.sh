# SPDX-License-Identifier: Apache-2.0
# Less memory than the reach of a first TLB.
warpage probe --device sim:k80 --max-memory 16MiB
