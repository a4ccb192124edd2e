# SPDX-License-Identifier: Apache-2.0
# Help for a mistyped command names the nearest.
warpage help devcies
