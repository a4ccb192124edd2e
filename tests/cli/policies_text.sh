# SPDX-License-Identifier: Apache-2.0
# For people what a policy does stands beside its name; an option may come behind the kind.
warpage policies scheduler
warpage policies scheduler --format csv | head -n 1
