/**
 * Devices behind one interface: streams, events, device memory and the pinned memory that copies to it start from.
 *
 * <p>{@link io.penstock.device.Device} opens everything and documents threads, errors and ownership once for all. A
 * copy that overlaps with other work reads:
 *
 * {@snippet :
 * try (Device device = Device.best();
 *         DeviceStream copies = device.openStream("copies");
 *         DeviceEvent copied = device.openEvent(EventWait.BLOCK);
 *         PinnedBuffer host = device.allocatePinned(bytes);
 *         DeviceBuffer batch = device.allocate(bytes)) {
 *     device.makeCurrent();
 *     fill(host.segment());
 *     copies.copyToDevice(batch, 0, host, 0, bytes);
 *     copies.record(copied);
 *     device.stream(trainerStream).waitFor(copied);     // the trainer's kernels may use the batch from here on
 *     copied.synchronize();                             // and from here on the host buffer may be filled again
 * }
 * }
 *
 * <p>The devices themselves are not exported: each is a {@link io.penstock.device.DeviceProvider}. {@code device.host}
 * runs everywhere, {@code device.cuda} over CUDA's runtime library, which it finds and loads when a CUDA device is
 * first asked for.
 *
 * <p>A {@link io.penstock.device.DeviceStage} is what happens to batches on their device before the trainer has them.
 */
package io.penstock.device;
