# SPDX-License-Identifier: Apache-2.0
# The same as JSON.
warpage devices --format json
