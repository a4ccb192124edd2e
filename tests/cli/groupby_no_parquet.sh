# SPDX-License-Identifier: Apache-2.0
# Without pyarrow no Parquet file is written: one sentence, before the table is read, and no file.
printf '#!/bin/sh\nexec python3 -I -S "$@"\n' >python
chmod +x python
export WARPAGE_PYTHON=./python
warpage groupby --key user --output out.parquet gone.csv
echo "status $?"
WARPAGE_PYTHON=./nowhere warpage groupby --key user --format parquet gone.csv
echo "status $?"
ls
