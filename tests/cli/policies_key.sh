# SPDX-License-Identifier: Apache-2.0
# A policy that is not there is refused where it is chosen.
warpage params --device sim:k80 --set sm.scheduler=gt sm.scheduler
