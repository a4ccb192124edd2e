# SPDX-License-Identifier: Apache-2.0
# A record that cannot be read is said so; the program's status wins.
warpage run -- sh -c 'echo nonsense >"$WARPAGE_RUN_RECORD"; exit 3'
