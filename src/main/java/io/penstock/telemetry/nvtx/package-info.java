// SPDX-License-Identifier: Apache-2.0
/**
 * Ranges for NVIDIA's tools (Nsight Systems, CUPTI): named periods of a thread's time, shown beside kernels and copies.
 *
 * <p>NVTX is a protocol rather than a library. A profiling tool names its library in the environment variable
 * {@code NVTX_INJECTION64_PATH}; the program loads it, calls {@code InitializeInjectionNvtx2}, and receives the tool's
 * functions. C programs get that code from a header; {@link io.penstock.telemetry.nvtx.NvtxTool} is its Java version.
 * So no part of CUDA need be installed, and without a tool no ranges are made.
 */
@NullMarked
package io.penstock.telemetry.nvtx;

import org.jspecify.annotations.NullMarked;
