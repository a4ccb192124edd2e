# SPDX-License-Identifier: Apache-2.0
warpage probe sim:k80
