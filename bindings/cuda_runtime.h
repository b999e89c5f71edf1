/* What the bindings are made from: the C API of CUDA's runtime, without the C++ that cuda_runtime.h of CUDA adds. */
#include <cuda_runtime_api.h>
