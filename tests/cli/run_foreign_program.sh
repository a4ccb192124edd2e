# SPDX-License-Identifier: Apache-2.0
# A program that wpcc did not build runs, with a note that it was not.
warpage run -- echo hello
