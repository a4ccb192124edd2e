# SPDX-License-Identifier: Apache-2.0
# NVIDIA's libraries that a program opens by their paths, as Python packages have them, are ours; all other libraries are
# those that the path names, or that the caller's own search path has.
set -e
cd "$TMP"
mkdir -p packages/cublas packages/own
library() { # file, what who() returns
    printf 'const char *who(void) { return "%s"; }\n' "$2" >part.c
    cc -shared -fPIC part.c -o "$1"
}
library packages/cublas/libcublas.so.12 "the package's"
library packages/cublas/libcuda.so.1 "a driver's"
library packages/own/libown.so.1 "libown's"
cat >inner.c <<'END'
#include <dlfcn.h>
void *open_own(void) { return dlopen("libown.so.1", RTLD_NOW); }
END
cc -shared -fPIC inner.c -o packages/libinner.so -Wl,-rpath,"\$ORIGIN/own:\$ORIGIN/cublas",--disable-new-dtags
cat >open.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static void tell(const char *path, void *library)
{
    const char *(*who)(void) = NULL;
    void *create = NULL;
    Dl_info info;
    if (library == NULL) {
        printf("%s: not there: %d\n", path, strstr(dlerror(), path) != NULL);
    } else if ((create = dlsym(library, "cublasCreate_v2")) != NULL && dladdr(create, &info) != 0) {
        printf("%s: %s\n", path, info.dli_fname);
    } else {
        *(void **)&who = dlsym(library, "who");
        printf("%s: %s\n", path, who != NULL ? who() : "?");
    }
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) tell(argv[i], dlopen(argv[i], RTLD_NOW));
    void *inner = dlopen("packages/libinner.so", RTLD_NOW), *(*open_own)(void);
    if (inner == NULL) return 1;
    *(void **)&open_own = dlsym(inner, "open_own");
    tell("by RUNPATH", open_own());
    printf("the program: %d\n", dlsym(dlopen(NULL, RTLD_NOW), "main") != NULL);
}
END
cc open.c -o open -rdynamic
names="packages/cublas/libcublas.so.12 packages/cublas/libcublas.so.12 missing/libcublas.so.12 packages/cublas/libcuda.so.1 \
packages/own/libown.so.1 missing/libnone.so.1"
"$WARPAGE" run -- ./open $names >out
sed 's|: .*lib/warpage/nvidia/libcublas.so.12$|: ours|' out >got
cat >expected <<'END'
packages/cublas/libcublas.so.12: ours
packages/cublas/libcublas.so.12: ours
missing/libcublas.so.12: ours
packages/cublas/libcuda.so.1: a driver's
packages/own/libown.so.1: libown's
missing/libnone.so.1: not there: 1
by RUNPATH: libown's
the program: 1
END
diff got expected
