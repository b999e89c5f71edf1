// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench;

import io.penstock.device.Device;
import io.penstock.io.ReadMode;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LeaseMode;
import io.penstock.loader.TransferMode;
import io.penstock.store.Store;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.Map;

/** Batches of a loader, and all that it needs. */
final class LoaderFeed implements Feed {

    private final Store store;
    private final Device device;
    private final DataLoader loader;
    private Batch batch;

    private LoaderFeed(Store store, Device device, DataLoader loader) {
        this.store = store;
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
        return new LoaderFeed(workload.store(), device, settings.open());
    }

    DataLoader loader() {
        return loader;
    }

    @Override
    public int take() {
        batch = loader.next();
        return batch.count();
    }

    @Override
    public MemorySegment bytes() {
        return batch.segment();
    }

    @Override
    public void release() {
        batch.close();
    }

    @Override
    public int slots() {
        return loader.memory().hostSlots();
    }

    @Override
    public void close() {
        loader.close();
        device.close();
        store.close();
    }
}
