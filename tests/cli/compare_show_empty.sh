# SPDX-License-Identifier: Apache-2.0
# A name is missing.
warpage compare --vary l2.mshrs=1,2 --show dram_read_bytes,, -- true
