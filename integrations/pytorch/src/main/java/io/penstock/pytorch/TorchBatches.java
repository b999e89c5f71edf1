// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.device.Device;
import io.penstock.device.DeviceStream;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.TensorSpec;
import java.util.Iterator;
import java.util.List;
import org.bytedeco.pytorch.StringOptional;
import org.jspecify.annotations.Nullable;

/**
 * A loader's batches as torch's tensors, without a copy.
 *
 * {@snippet :
 * TorchBatches batches = TorchBatches.of(loader);
 * try (PointerScope scope = new PointerScope(); TorchBatch batch = batches.next()) {
 *     Tensor loss = model.loss(batch.indices("input_ids"), batch.indices("labels"));
 *     loss.backward();
 *     optimizer.step();
 * }
 * }
 *
 * <p><b>Memory.</b> A tensor has the address of the loader's slot. Closing the batch returns the slot, and then:
 *
 * <ul>
 *   <li>the tensor throws {@link NullPointerException}: JavaCPP finds that it has no address;
 *   <li>a view of it (a slice, a reshape, a transpose, {@code detach()}) and what autograd has saved of it throw
 *       {@link RuntimeException}: torch finds that the storage has no memory, and the message names the loader. So a
 *       {@code backward()} behind the batch is an error, and never a gradient of other samples;
 *   <li>an address that native code has kept is not known here. {@code -Dpenstock.leases=paranoid} finds it.
 * </ul>
 *
 * <p>What is computed from a tensor has memory of its own: keep it as long as you like, or {@code clone()} the tensor.
 *
 * <p><b>GPUs.</b> If the loader puts batches on a GPU, tensors are on torch's device of the same number. Torch works on
 * CUDA's legacy default stream unless told otherwise: it waits for the batch's bytes, and the slot is taken again only
 * behind what was enqueued there before {@code close()}. {@link #of(DataLoader, DeviceStream)} is for another stream.
 *
 * <p><b>Heap.</b> Under {@link io.penstock.loader.LeaseMode#REUSED} a batch takes some 50 bytes of heap for each field,
 * in other modes some 400 and as much again for each field.
 *
 * <p>Of one thread at a time.
 */
public final class TorchBatches {

    /** CUDA's legacy default stream, which torch works on. */
    private static final long DEFAULT_STREAM = 0;

    private final DataLoader loader;
    private final String name;
    private final StringOptional closed;
    private final TensorMaker[] makers;
    private final @Nullable DeviceStream stream;
    /** What is lent again with a later batch in the slot, if leases are reused. */
    private final @Nullable TorchBatch[] slots;

    private TorchBatches(DataLoader loader, @Nullable DeviceStream stream, int gpu) {
        this.loader = loader;
        this.name = loader.info().name();
        this.closed = SlotTensor.closed(name);
        this.stream = stream;
        boolean isOnHost = loader.device().hostAccessible();
        List<TensorSpec> fields = loader.layout().fields();
        this.makers = fields.stream().map(field -> new TensorMaker(field, isOnHost, gpu)).toArray(TensorMaker[]::new);
        this.slots = new TorchBatch[Math.max(loader.memory().hostSlots(), loader.memory().deviceSlots())];
    }

    /**
     * The batches of a loader. On a GPU they are ordered with CUDA's legacy default stream.
     *
     * @param loader the loader, which the caller closes when no batch is in use
     * @return its batches
     */
    public static TorchBatches of(DataLoader loader) {
        Device device = loader.device();
        return device.hostAccessible() ? new TorchBatches(loader, null, -1)
                : of(loader, device.stream(DEFAULT_STREAM));
    }

    /**
     * The batches of a loader on a GPU, ordered with the stream that torch works on: see {@link CudaStreams}.
     *
     * @param loader the loader, which the caller closes when no batch is in use
     * @param stream a stream of the loader's device, which the caller closes behind the batches
     * @return its batches
     */
    public static TorchBatches of(DataLoader loader, DeviceStream stream) {
        return new TorchBatches(loader, stream, loader.device().hostAccessible() ? -1 : loader.device().ordinal());
    }

    /**
     * The same with tensors that torch takes for the CPU's and that nobody may read: for tests over a simulated GPU,
     * with a torch that is built without CUDA.
     */
    static TorchBatches unreadable(DataLoader loader, DeviceStream stream) {
        return new TorchBatches(loader, stream, -1);
    }

    /** {@return whether another batch follows} */
    public boolean hasNext() {
        return loader.hasNext();
    }

    /**
     * The next batch, as {@link DataLoader#next()}.
     *
     * @return the batch, to be closed by the caller
     * @throws RuntimeException as {@link DataLoader#next()}
     */
    public TorchBatch next() {
        return wrap(stream == null ? loader.next() : loader.next(stream));
    }

    /**
     * The rest of the loader's epoch, as {@link DataLoader#epoch()}.
     *
     * @return the batches, each to be closed by the caller; may be iterated once
     */
    public Iterable<TorchBatch> epoch() {
        return () -> wrapped(loader.epoch().iterator());
    }

    /**
     * An epoch from its start, as {@link DataLoader#epoch(long)}.
     *
     * @param epoch from 0
     * @return the batches, each to be closed by the caller; may be iterated once
     */
    public Iterable<TorchBatch> epoch(long epoch) {
        return () -> wrapped(loader.epoch(epoch).iterator());
    }

    private Iterator<TorchBatch> wrapped(Iterator<Batch> batches) {
        return new Iterator<>() {
            @Override
            public boolean hasNext() {
                return batches.hasNext();
            }

            @Override
            public TorchBatch next() {
                Batch batch = batches.next();
                if (stream != null) {
                    batch.usedOn(stream);
                }
                return wrap(batch);
            }
        };
    }

    private TorchBatch wrap(Batch batch) {
        try {
            TorchBatch torch = batch.isReused() ? slots[batch.slot()] : null;
            if (torch == null || torch.isOpen()) {
                torch = new TorchBatch(name, closed, makers);
                slots[batch.slot()] = torch;
            }
            torch.lend(batch);
            return torch;
        } catch (Throwable t) {
            batch.close();
            throw t;
        }
    }

    /** {@return the loader} */
    public DataLoader loader() {
        return loader;
    }
}
