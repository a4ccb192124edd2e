# SPDX-License-Identifier: Apache-2.0
# No file at all.
wpcc -o program
