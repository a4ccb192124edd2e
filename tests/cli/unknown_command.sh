# SPDX-License-Identifier: Apache-2.0
# A mistyped command gets the nearest name.
warpage rnu ./app
