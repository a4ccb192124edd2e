# SPDX-License-Identifier: Apache-2.0
# The same as CSV.
warpage devices --format=csv
