# SPDX-License-Identifier: Apache-2.0
warpage run --kernels 'a(' ./app
