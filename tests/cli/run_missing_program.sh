# SPDX-License-Identifier: Apache-2.0
# A program that does not exist.
warpage run -- ./nowhere
