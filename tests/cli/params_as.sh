# SPDX-License-Identifier: Apache-2.0
# A simulated GPU with the numbers of another simulator; --set is on top of them.
warpage params --device sim:gtx1080ti --as uvmsmart --set sm.schedulers=3 --format csv sm.schedulers
warpage params --device sim:gtx1080ti+uvmsmart --format csv l2.mshrs
