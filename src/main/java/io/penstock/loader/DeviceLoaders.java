// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.device.Device;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The loaders of several devices of one process, one for each device. They share workers, stores, page cache and the
 * order; each delivers the batches of its own rank.
 *
 * <pre>{@code
 * try (Device gpu0 = Device.cuda(0);
 *      Device gpu1 = Device.cuda(1);
 *      DeviceLoaders loaders = DataLoader.builder(dataset).batchSize(32).shuffle(42)
 *              .shard(Shard.fromEnvironment(TailPolicy.EXACT)).devices(gpu0, gpu1).openAll()) {
 *     Thread second = Thread.ofPlatform().start(() -> train(loaders.get(1)));    // each on a thread of its own
 *     train(loaders.get(0));
 *     second.join();
 * }
 * }</pre>
 *
 * <p><b>Order.</b> With {@code k} devices, the process with rank {@code p} of {@code P} gives its device {@code i} the
 * batches of rank {@code p·k + i} of {@code P·k}, as if every device had its own process.
 *
 * <p><b>Memory.</b> Each loader has its own ring of host slots, device slots, stream and copy thread. Workers fill the
 * ring that is furthest behind, of those with a free slot. So a slow or idle device holds up only its own slots.
 *
 * <p><b>Errors.</b> A device error ends the loader of that device; the others go on. A worker that dies ends all.
 *
 * <p><b>Threads.</b> One thread at a time uses a loader. Any thread may call the methods here; {@link #state} and
 * {@link #seek} only while no other thread takes batches, as between two steps.
 *
 * <p><b>Moving.</b> All loaders share one state, so {@link #seek} moves all of them, and {@link #close} closes all.
 */
public final class DeviceLoaders implements Iterable<DeviceLoader>, AutoCloseable {

    private final List<DeviceLoader> loaders;
    private final SharedWorkers sharedWorkers;

    DeviceLoaders(List<DeviceLoader> loaders) {
        this.loaders = List.copyOf(loaders);
        this.sharedWorkers = loaders.getFirst().sharedWorkers;
    }

    /**
     * Returns the loader of a device.
     *
     * @param index the device's position in the list given to the builder, from 0
     * @return its loader
     * @throws IndexOutOfBoundsException if there are fewer
     */
    public DeviceLoader get(int index) {
        return loaders.get(index);
    }

    /**
     * Returns the loader of a device.
     *
     * @param device one of the devices; if it was given twice, the first one counts
     * @return its loader
     * @throws IllegalArgumentException if it is none of them
     */
    public DeviceLoader of(Device device) {
        return loaders.stream().filter(loader -> loader.device() == device).findFirst().orElseThrow(
                () -> new IllegalArgumentException("device: found " + device.name() + ", expected one of "
                        + loaders.stream().map(loader -> loader.device().name()).toList()));
    }

    /** {@return the number of devices, at least 1} */
    public int size() {
        return loaders.size();
    }

    /** Iterates over the loaders in the order of the devices. */
    @Override
    public Iterator<DeviceLoader> iterator() {
        return loaders.iterator();
    }

    /**
     * {@return the state after the batches that all trainers have taken, for {@link DataLoaderBuilder#resume} on any
     * number of devices} If some trainers have taken more batches than others, those batches are repeated. A single
     * loader's {@linkplain DeviceLoader#state() state} after as many batches is the same.
     */
    public LoaderState state() {
        return loaders.stream().min(Comparator.comparingLong(DeviceLoader::given)).orElseThrow().state();
    }

    /**
     * Moves all loaders to the start of an epoch, as {@link DataLoader#seek(long)} does.
     *
     * @param epoch the epoch, from 0
     * @throws RuntimeException as {@link DataLoader#seek(long)}; also if another thread takes a batch
     */
    public void seek(long epoch) {
        move(batches -> batches.startingAt(epoch, 0));
    }

    /**
     * Moves all loaders to the position of a state.
     *
     * @param state a state of this dataset and order
     * @throws io.penstock.state.StateMismatchException if it belongs to another
     */
    public void seek(LoaderState state) {
        move(batches -> state.resume(batches));
    }

    private void move(UnaryOperator<BatchSampler> to) {
        int entered = 0;
        try {
            for (DeviceLoader loader : loaders) {
                loader.enter();
                entered++;
            }
            EpochCursor.move(sharedWorkers, loaders.stream().map(DeviceLoader::cursor).toList(), to);
        } finally {
            loaders.subList(0, entered).forEach(DeviceLoader::leave);
        }
    }

    /**
     * Closes all loaders, as {@link DataLoader#close()} does. Calling it again does nothing.
     *
     * @throws RuntimeException if a device reports an error, or a loader has failed and no call has thrown that error
     *     yet; everything else is still freed
     */
    @Override
    public void close() {
        loaders.forEach(DeviceLoader::end);
        sharedWorkers.close();
    }
}
