// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.Device;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.TransferMode;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Map;

/** Batches of a loader without an end, one at a time, and all that it needs. */
final class LoaderFeed implements AutoCloseable {

    private final Runnable close;
    private final Device device;
    private final DataLoader loader;
    private Batch batch;

    private LoaderFeed(Runnable close, Device device, DataLoader loader) {
        this.close = close;
        this.device = device;
        this.loader = loader;
    }

    /** Opens a workload with the settings that options give: workers, device, read mode, leases, prefetch, transfer. */
    static LoaderFeed open(Workload workload, Map<String, String> options) {
        Device device = Device.open(options.getOrDefault("device", "host"));
        DataLoaderBuilder settings = workload.settings().device(device)
                .workers(Integer.parseInt(options.getOrDefault("workers", "1")))
                .readMode(ReadMode.of(options.getOrDefault("read-mode", "mmap")))
                .leases(LeaseMode.valueOf(options.getOrDefault("leases", "confined").toUpperCase(Locale.ROOT)))
                .transfer(options.containsKey("copy") ? TransferMode.COPY : TransferMode.AUTO);
        if (options.containsKey("prefetch")) {
            settings.prefetch(Integer.parseInt(options.get("prefetch")));
        }
        return new LoaderFeed(workload.close(), device, settings.open());
    }

    DataLoader loader() {
        return loader;
    }

    /** Takes the next batch, and returns its samples. */
    int take() {
        batch = loader.next();
        return batch.count();
    }

    /** All bytes of the batch that was taken. */
    MemorySegment bytes() {
        return batch.segment();
    }

    /** Gives the batch back. */
    void release() {
        batch.close();
    }

    /** Batches that may be in memory at a time. */
    int slots() {
        return loader.memory().hostSlots();
    }

    @Override
    public void close() {
        loader.close();
        device.close();
        close.run();
    }
}
