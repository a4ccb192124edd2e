# SPDX-License-Identifier: Apache-2.0
# A Python without packages cannot read Parquet.
printf '#!/bin/sh\nexec python3 -I -S "$@"\n' >python
chmod +x python
: >t.parquet
WARPAGE_PYTHON=./python warpage groupby --key user t.parquet
