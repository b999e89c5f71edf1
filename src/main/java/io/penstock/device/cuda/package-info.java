/**
 * The CUDA device, over jextract's bindings of CUDA 13's runtime library; no other package touches those. Not exported;
 * {@link io.penstock.device.cuda.CudaProvider} opens it.
 */
package io.penstock.device.cuda;
