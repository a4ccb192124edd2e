# SPDX-License-Identifier: Apache-2.0
# A flag with a value.
warpage run --check=yes ./app
