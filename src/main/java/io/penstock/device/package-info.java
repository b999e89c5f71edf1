// SPDX-License-Identifier: Apache-2.0
/**
 * Devices behind one interface: streams, events, device memory and pinned memory.
 *
 * <p>{@link io.penstock.device.Device} opens everything and documents threads, errors and ownership. A copy that
 * overlaps with other work:
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
 *     copied.synchronize();                             // and from here on the host buffer can be refilled
 * }
 * }
 *
 * <p>The implementations are not exported: each is a {@link io.penstock.device.DeviceProvider}. {@code device.host}
 * runs everywhere, {@code device.cuda} on the CUDA runtime library, which it loads when a CUDA device is first opened.
 *
 * <p>A {@link io.penstock.device.DeviceStage} transforms batches on the device before the trainer gets them.
 */
@NullMarked
package io.penstock.device;

import org.jspecify.annotations.NullMarked;
