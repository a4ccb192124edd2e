# SPDX-License-Identifier: Apache-2.0
# As JSON quantities are numbers in base units, which their names carry; what is unknown is null.
warpage devices --format json >devices.json
python3 - <<'END'
import json
devices = {device["device"]: device for device in json.load(open("devices.json"))}
k80 = devices["sim:k80"]
print(k80["available"], k80["sms"], k80["memory_bytes"], k80["clock_hz"], k80["copy_in_bytes_per_s"])
wanted = {"available": bool, "sms": int, "memory_bytes": int, "clock_hz": int}
for name, device in devices.items():
    for key, kind in wanted.items():
        if device["available"] and type(device[key]) is not kind:
            print(name, key, device[key])
print(*k80)
END
