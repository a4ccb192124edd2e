# SPDX-License-Identifier: Apache-2.0
# A trace that is not there.
warpage trace info nowhere.wpt
