# SPDX-License-Identifier: Apache-2.0
# A program that wpcc did not build runs, and is told apart.
warpage run -- echo hello
