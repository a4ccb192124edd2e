# SPDX-License-Identifier: Apache-2.0
# A command that is not in the path.
warpage run no-such-command-anywhere
