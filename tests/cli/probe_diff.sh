# SPDX-License-Identifier: Apache-2.0
# What two results do not have in common.
level() { echo "{\"entries\": $1, \"page_bytes\": 2097152, \"miss_cycles\": $2, \"sharing_groups\": $3}"; }
result() { echo "{\"schema\": \"warpage.probe/1\", \"levels\": [$*]}"; }
result "$(level 16 9 '[[0],[1]]')" >a.json
result "$(level 16 9.3 '[[0],[1]]')" >same.json
result "$(level 32 9 '[[0,1]]'), $(level 512 80 null)" >b.json
warpage probe diff a.json same.json
echo $?
warpage probe diff a.json b.json
