# SPDX-License-Identifier: Apache-2.0
# The overview names every command.
warpage help
