# SPDX-License-Identifier: Apache-2.0
# Memory without a unit.
warpage run --device-memory 100 ./app
