# SPDX-License-Identifier: Apache-2.0
# The CPU is always there; what is not says why.
warpage devices
