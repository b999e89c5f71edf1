// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.training.dataset.Batch;
import io.penstock.device.DeviceStream;
import io.penstock.loader.DataLoader;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The batches of an epoch from where the loader is, as DJL's. */
final class EpochBatches implements Iterator<Batch> {

    /** CUDA's legacy default stream, which DJL's PyTorch works on. */
    private static final long DEFAULT_STREAM = 0;

    private final DataLoader loader;
    private final Iterator<io.penstock.loader.Batch> batches;
    private final @Nullable DeviceStream stream;
    private final PtNDManager manager;
    private final Device device;
    private final List<ArrayMaker> data;
    private final List<ArrayMaker> labels;
    private final boolean isTrimmed;
    /** What is lent again with a later batch in the slot, if leases are reused. */
    private final @Nullable BatchArrays[] slots;
    private final long total;
    private long given;
    /** Looked at already, because one without valid rows is left out. */
    private io.penstock.loader.@Nullable Batch ahead;

    EpochBatches(DataLoader loader, PtNDManager manager, Device device, List<ArrayMaker> data, List<ArrayMaker> labels,
            boolean isTrimmed) {
        this.loader = loader;
        this.batches = loader.epoch().iterator();
        this.stream = device.isGpu() ? loader.device().stream(DEFAULT_STREAM) : null;
        this.manager = manager;
        this.device = device;
        this.data = data;
        this.labels = labels;
        this.isTrimmed = isTrimmed;
        this.slots = new BatchArrays[Math.max(loader.memory().hostSlots(), loader.memory().deviceSlots())];
        this.total = loader.batchesPerEpoch();
        var info = loader.info();
        this.given = loader.state().position() / ((long) info.batchSize() * info.worldSize());
    }

    @Override
    public boolean hasNext() {
        while (isTrimmed && ahead == null && batches.hasNext()) {
            io.penstock.loader.Batch batch = take();
            if (batch.valid() > 0) {
                ahead = batch;
            } else {
                batch.close();
            }
        }
        return ahead != null || batches.hasNext();
    }

    @Override
    public Batch next() {
        if (!hasNext()) {
            throw new NoSuchElementException("no batch is left in this epoch");
        }
        io.penstock.loader.Batch batch = ahead != null ? ahead : take();
        ahead = null;
        try {
            return wrap(batch);
        } catch (Throwable t) {
            batch.close();
            throw t;
        }
    }

    private io.penstock.loader.Batch take() {
        given = Math.min(given + 1, total);
        return stream == null ? batches.next() : loader.next(stream);
    }

    private Batch wrap(io.penstock.loader.Batch batch) {
        BatchArrays arrays = slots[batch.slot()];
        if (arrays == null || !arrays.canBeLentAgain()) {
            arrays = new BatchArrays(manager, device, data, labels);
        }
        slots[batch.slot()] = batch.isReused() ? arrays : null;
        arrays.lend(batch, isTrimmed ? batch.valid() : batch.count());
        return new PenstockBatch(arrays, given, total);
    }
}
