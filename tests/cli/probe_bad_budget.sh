# SPDX-License-Identifier: Apache-2.0
# A time without a unit.
warpage probe --device sim:k80 --budget 5
