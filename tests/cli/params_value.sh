# SPDX-License-Identifier: Apache-2.0
# The environment is in force, and named as the source.
WARPAGE_LOG=device:info warpage params --format csv log
