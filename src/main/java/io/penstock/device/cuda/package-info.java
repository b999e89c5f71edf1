// SPDX-License-Identifier: Apache-2.0
/**
 * The CUDA device, on jextract's bindings of the CUDA 13 runtime library; no other package uses those. Not exported;
 * {@link io.penstock.device.cuda.CudaProvider} opens it.
 */
@NullMarked
package io.penstock.device.cuda;

import org.jspecify.annotations.NullMarked;
