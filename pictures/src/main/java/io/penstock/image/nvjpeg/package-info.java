// SPDX-License-Identifier: Apache-2.0
/** JPEG files of a batch decoded on a CUDA device by NVIDIA's nvJPEG, if it is installed. Not exported. */
@NullMarked
package io.penstock.image.nvjpeg;

import org.jspecify.annotations.NullMarked;
