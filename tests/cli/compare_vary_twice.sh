# SPDX-License-Identifier: Apache-2.0
# A key has its values in one --vary.
warpage compare --vary l2.bytes=1MiB --vary l2.bytes=2MiB -- true
