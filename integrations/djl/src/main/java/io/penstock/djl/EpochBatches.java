// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.training.dataset.Batch;
import io.penstock.device.DeviceStream;
import io.penstock.loader.DataLoader;
import java.util.ArrayList;
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
    private final int aliases;
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
        this.aliases = (int) (data.stream().filter(ArrayMaker::isAlias).count()
                + labels.stream().filter(ArrayMaker::isAlias).count());
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
        int rows = isTrimmed ? batch.valid() : batch.count();
        PtNDManager own = manager.newSubManager(device);
        try {
            List<SlotArray> inSlot = new ArrayList<>(aliases);
            NDList inputs = arrays(data, batch, rows, own, inSlot);
            NDList targets = arrays(labels, batch, rows, own, inSlot);
            long[] samples = new long[rows];
            for (int row = 0; row < rows; row++) {
                samples[row] = batch.sample(row);
            }
            if (inSlot.isEmpty()) {
                batch.close();
                return new PenstockBatch(own, inputs, targets, given, total, samples, null);
            }
            return new PenstockBatch(own, inputs, targets, given, total, samples, new SlotLease(batch, inSlot));
        } catch (Throwable t) {
            own.close();
            throw t;
        }
    }

    private static NDList arrays(List<ArrayMaker> makers, io.penstock.loader.Batch batch, int rows, PtNDManager own,
            List<SlotArray> inSlot) {
        NDList arrays = new NDList(makers.size());
        for (int i = 0; i < makers.size(); i++) {
            NDArray array = makers.get(i).make(batch, rows, own);
            arrays.add(array);
            if (array instanceof SlotArray slot) {
                inSlot.add(slot);
            }
        }
        return arrays;
    }
}
