# SPDX-License-Identifier: Apache-2.0
# On which GPU?
warpage trace replay x.wpt
