# SPDX-License-Identifier: Apache-2.0
# An option before the command.
warpage --fast
