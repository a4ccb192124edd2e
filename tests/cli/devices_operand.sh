# SPDX-License-Identifier: Apache-2.0
# No operands.
warpage devices cpu
