# SPDX-License-Identifier: Apache-2.0
# One command's page has its options.
warpage help run
