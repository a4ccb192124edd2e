# SPDX-License-Identifier: Apache-2.0
# The help lists the options, and values that configure scripts look for.
wpcc --help
