# SPDX-License-Identifier: Apache-2.0
# Results that cannot be written are a failure.
warpage help >/dev/full
