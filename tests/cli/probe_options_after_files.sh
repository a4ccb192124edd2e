# SPDX-License-Identifier: Apache-2.0
warpage probe --from curves.csv more.csv --format xml
