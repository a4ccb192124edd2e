# SPDX-License-Identifier: Apache-2.0
warpage probe diff a.json
