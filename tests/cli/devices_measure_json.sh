# SPDX-License-Identifier: Apache-2.0
# Measured rates are bytes per second; where there was no memory to copy, the note has the reason.
WARPAGE_LIBCUDA=$(dirname "$(command -v warpage)")/../tests/libfake_cuda.so
export WARPAGE_LIBCUDA
warpage devices --measure --format json >measured.json
FAKE_CUDA_FAIL="cuMemAlloc_v2:1:2" warpage devices --measure --format json >full.json
python3 - <<'END'
import json
for name in "measured.json", "full.json":
    gpu = [device for device in json.load(open(name)) if device["device"] == "cuda:0"][0]
    print([gpu[key] is not None and gpu[key] > 1e6 for key in ("copy_in_bytes_per_s", "copy_out_bytes_per_s")],
          gpu["memory_clock_hz"], "copies were not measured: out of device memory" in gpu["note"])
END
