# SPDX-License-Identifier: Apache-2.0
# A plan's reports need a folder.
warpage compare --vary l2.bytes=1MiB,2MiB --plan -- true
