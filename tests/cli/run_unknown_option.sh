# SPDX-License-Identifier: Apache-2.0
# A mistyped option gets the nearest.
warpage run --devcie cpu ./app
