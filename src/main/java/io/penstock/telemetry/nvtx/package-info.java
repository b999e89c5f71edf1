/**
 * Ranges for NVIDIA's tools (Nsight Systems, CUPTI): named stretches of a thread's time, which these show beside
 * kernels and copies.
 *
 * <p>NVTX is a protocol more than a library: a tool that profiles a process names its library in the environment
 * variable {@code NVTX_INJECTION64_PATH}; whoever has ranges loads it, calls {@code InitializeInjectionNvtx2}, and is
 * given the tool's functions. C programs get the code for that from a header; {@link
 * io.penstock.telemetry.nvtx.NvtxTool} is the same in Java. So nothing of CUDA has to be installed for it, and where no
 * tool is there, no range is.
 */
package io.penstock.telemetry.nvtx;
