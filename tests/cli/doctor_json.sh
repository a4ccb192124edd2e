# SPDX-License-Identifier: Apache-2.0
# The findings as JSON: the same as in the text, each with its state, and whether programs need it.
WARPAGE_LIBCUDA=/nowhere/libcuda.so.1
export WARPAGE_LIBCUDA
warpage doctor --format json >doctor.json
echo "status $?"
warpage doctor >doctor.txt
python3 - <<'END'
import json
doctor = json.load(open("doctor.json"))
text = [line.split(None, 1) for line in open("doctor.txt")]
print(doctor["schema"], doctor["is_ready"])
assert [finding["state"] for finding in doctor["findings"]] == [state.lower() for state, _ in text]
assert all(rest.startswith(f["finding"]) and rest.endswith(f["note"] + "\n")
           for (_, rest), f in zip(text, doctor["findings"]))
gpu = doctor["findings"][-1]
print(gpu["finding"], gpu["state"], gpu["is_required"])
END
warpage doctor --format csv
