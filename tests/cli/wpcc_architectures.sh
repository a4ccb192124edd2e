# SPDX-License-Identifier: Apache-2.0
# The architectures, one a line.
wpcc --list-gpu-arch | head -n 2
wpcc --list-gpu-code | tail -n 1
