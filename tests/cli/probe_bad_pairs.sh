# SPDX-License-Identifier: Apache-2.0
warpage probe --pairs some
