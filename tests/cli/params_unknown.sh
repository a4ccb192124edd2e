# SPDX-License-Identifier: Apache-2.0
# A mistyped name gets the nearest.
warpage params run-recrod
