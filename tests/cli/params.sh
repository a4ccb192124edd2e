# SPDX-License-Identifier: Apache-2.0
# Every parameter with its variable.
warpage params
