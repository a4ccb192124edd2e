# SPDX-License-Identifier: Apache-2.0
# Without a program: wrong usage.
warpage run --workers 1
