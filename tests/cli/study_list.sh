# SPDX-License-Identifier: Apache-2.0
# Studies are listed as figures are.
warpage study --list --format csv paged-memory-zheng16/oversubscription | head -n 3
