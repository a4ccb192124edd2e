# SPDX-License-Identifier: Apache-2.0
# A command that is nearly right.
warpage trace replya x.wpt
