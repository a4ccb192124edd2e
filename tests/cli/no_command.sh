# SPDX-License-Identifier: Apache-2.0
# Without a command: wrong usage.
warpage
