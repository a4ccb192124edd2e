// Mathematics by clang's builtins, which become LLVM intrinsics or calls of C functions.
__global__ void builtins(float *f, double *d, int n) {
    f[0] = __builtin_sinf(f[0]) + __builtin_powf(f[1], f[2]) + __builtin_expf(f[3]);
    f[1] = __builtin_log2f(f[0]) + __builtin_tanf(f[2]) + __builtin_ldexpf(f[4], n);
    d[0] = __builtin_cos(d[0]) + __builtin_exp2(d[1]) + __builtin_log10(d[2]);
    d[1] = __builtin_cbrt(d[0]) + __builtin_erf(d[1]) + __builtin_tgamma(d[2]);
    d[2] = __builtin_fma(d[0], d[1], __builtin_floor(d[3])) + __builtin_fmax(d[0], d[4]);
}

int main() {
    return 0;
}
