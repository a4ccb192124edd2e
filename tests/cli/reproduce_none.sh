# SPDX-License-Identifier: Apache-2.0
# Which one?
warpage reproduce
