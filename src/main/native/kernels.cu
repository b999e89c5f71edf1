// SPDX-License-Identifier: Apache-2.0
/* All kernels as one unit: build.sh makes one fatbin of it. */
#include "tokens.cu"
#include "images.cu"
#include "augment.cu"
#include "framed.cu"
#include "sound.cu"
#include "tensors.cu"
