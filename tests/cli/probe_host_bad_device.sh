# SPDX-License-Identifier: Apache-2.0
# Calls of a simulated GPU.
warpage probe host --device sim:k80
