# SPDX-License-Identifier: Apache-2.0
# A format that is not there.
warpage devices --format yaml
