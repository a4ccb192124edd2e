// STAGE: compile
// EXIT: 1
// STDERR: the address of the __managed__ variable level is not a constant: it cannot be in the initial value of where
__managed__ int level = 5;
__device__ int *where = &level;

__global__ void raise() {
    *where += 1;
}

int main() {
    raise<<<1, 1>>>();
}
