# SPDX-License-Identifier: Apache-2.0
# Launches count from 1.
warpage trace cut --launches 0-3 -o y.wpt x.wpt
