# SPDX-License-Identifier: Apache-2.0
# As text the meaning stands beside the name; an option may follow the kind.
warpage policies scheduler
warpage policies scheduler --format csv | head -n 1 | tr -d '\r'
