# SPDX-License-Identifier: Apache-2.0
# The probe: what it infers, how it measures, and its kernels, compiled by the wpcc just built. A static
# library for the command.
file(GLOB_RECURSE probe_sources CONFIGURE_DEPENDS src/probe/*.c)
wp_kernels(probe_kernels probe)
add_library(wpprobe STATIC ${probe_sources} ${probe_kernels})
# Who measures links libwarpage, too; inference alone needs none.
target_link_libraries(wpprobe PUBLIC wpbase PkgConfig::JANSSON Threads::Threads ${CMAKE_DL_LIBS} m)
