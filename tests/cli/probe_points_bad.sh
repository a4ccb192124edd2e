# SPDX-License-Identifier: Apache-2.0
warpage probe points --device sim:k80 l1=128KiB
