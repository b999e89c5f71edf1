/**
 * Transforms that run on the device, behind the copy: batches go over the bus as narrow as the store has them and are
 * widened, cut up and normalized where the memory is fast.
 *
 * <p>A transform is made once, with the dtypes and shapes that do not change, and enqueued for each batch on a stream,
 * over addresses of device memory ({@link io.penstock.device.DeviceBuffer#address}, {@code Batch.address}, or memory of
 * the trainer's). On a CUDA stream it is one kernel, or two; on a host stream the kernel's twin in Java runs on the
 * stream's thread. Results do not differ: integers and casts are the same bit for bit, and so are images, whose
 * arithmetic is that of IEEE 754 in a fixed order.
 *
 * <p>A loader runs them by itself as {@linkplain io.penstock.device.DeviceStage stages}:
 * {@link io.penstock.transform.TokenStage}, {@link io.penstock.transform.ImageTransform#stage(String)} and
 * {@link io.penstock.transform.CastTransform#stage}.
 *
 * <p><b>Memory.</b> Enqueueing allocates nothing, neither on the heap nor on the device. All tensors are row-major and
 * packed; addresses are multiples of the element size. Inputs and outputs do not overlap. What is known when a
 * transform is enqueued is checked then; that an address has the memory behind it that the shapes ask for is not, on
 * either device: as in C, a wrong one is undefined behaviour. The addresses of a batch are good until it is closed,
 * which may be right after enqueueing if the batch was taken for that stream.
 *
 * <p><b>Threads.</b> A transform may be enqueued by any thread, one after another.
 */
package io.penstock.transform;
