# SPDX-License-Identifier: Apache-2.0
# No arguments.
warpage doctor now
