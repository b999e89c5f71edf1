// SPDX-License-Identifier: Apache-2.0
/**
 * Transforms that run on the device after the copy: batches are copied in the store's narrow dtypes, and widened, split
 * and normalized in the faster device memory.
 *
 * <p>A transform is created once, with the dtypes and shapes that do not change, and enqueued on a stream for each
 * batch with addresses of device memory ({@link io.penstock.device.DeviceBuffer#address}, {@code Batch.address}, or the
 * trainer's memory). On a CUDA stream it launches one or two kernels; on a host stream the Java twin runs on the
 * stream's thread. Results are bit-identical: image arithmetic is IEEE 754 in a fixed order.
 *
 * <p>A loader runs transforms as {@linkplain io.penstock.device.DeviceStage stages}:
 * {@link io.penstock.transform.TokenStage}, {@link io.penstock.transform.PackedTokens},
 * {@link io.penstock.transform.ImageTransform#stage(String)} and {@link io.penstock.transform.CastTransform#stage}.
 *
 * <p><b>Memory.</b> Enqueueing allocates nothing on the heap or the device. All tensors are row-major and packed;
 * addresses are multiples of the element size. Inputs and outputs must not overlap. Arguments are checked at enqueue
 * time; whether an address has enough memory for the shapes is not, on either device: as in C, a wrong address is
 * undefined behavior. A batch's addresses are valid until it is closed, which may be right after enqueueing if the
 * batch was taken for that stream.
 *
 * <p><b>Threads.</b> Any thread may enqueue a transform, one at a time.
 */
@NullMarked
package io.penstock.transform;

import org.jspecify.annotations.NullMarked;
