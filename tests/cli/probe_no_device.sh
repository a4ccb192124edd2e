# SPDX-License-Identifier: Apache-2.0
# No such device.
warpage probe --device sim:k81
