# SPDX-License-Identifier: Apache-2.0
warpage run --launches 5-3 ./app
