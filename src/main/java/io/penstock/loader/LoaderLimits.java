// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.dataset.source.Arrivals;
import io.penstock.device.Device;
import io.penstock.os.Machine;
import io.penstock.sampling.Sampler;

/** The limits of a loader's settings, and the combinations that are refused. */
final class LoaderLimits {

    /** Each worker costs a thread, its stack, its decoders and a slot. More workers than processors do not help. */
    static final int MOST_WORKERS = 1024;
    /** Each batch costs a slot. A batch that is made this far ahead reaches the trainer no sooner. */
    static final int MOST_PREFETCH = 1 << 16;
    static final int LEAST_DEVICE_SLOTS = 2;
    /** Each slot costs memory on the device, and five events. */
    static final int MOST_DEVICE_SLOTS = 1024;
    /** Every machine has this much memory, so smaller needs are not compared with it. */
    private static final long ANY_MACHINE_BYTES = 64 << 20;

    /** Fails if settings are out of bounds or contradict each other. */
    static void check(DataLoaderBuilder settings) {
        settings.dataset.arrivals().ifPresent(arrivals -> checkArrivals(settings, arrivals));
        check(settings.workers >= 0 && settings.workers <= MOST_WORKERS, "workers", settings.workers, "0 to "
                + MOST_WORKERS
                + " (each is a thread with its own memory; more workers than processors do not help)");
        check(settings.prefetch == DataLoaderBuilder.AUTO
                || settings.prefetch >= 1 && settings.prefetch <= MOST_PREFETCH, "prefetch", settings.prefetch,
                "1 to " + MOST_PREFETCH + " (each prefetched batch is a slot in memory)");
        check(settings.deviceSlots >= LEAST_DEVICE_SLOTS && settings.deviceSlots <= MOST_DEVICE_SLOTS, "device slots",
                settings.deviceSlots, LEAST_DEVICE_SLOTS + " to " + MOST_DEVICE_SLOTS
                        + " (one to compute on, one to copy to; each is a batch of device memory)");
        check(settings.badSamples == BadSamplePolicy.FAIL || fits(settings),
                "bad samples with a token budget", settings.badSamples,
                "FAIL (another sample may not fit), or SKIP in a stream or without padding");
        check(settings.state == null || settings.startEpoch == null, "startEpoch and resume", "both",
                "one of them (a state names its epoch)");
        check(settings.transfer != TransferMode.IN_PLACE || settings.stages.isEmpty(), "transfer with stages",
                "in place", "copy, as stages run behind the copy");
        check(settings.transfer != TransferMode.IN_PLACE
                || settings.devices.stream().allMatch(Device::hostAccessible), "transfer", "in place",
                "copy, as the CPU cannot read this device's memory");
    }

    /**
     * Returns whether what takes the place of a bad sample fits the budget: without padding nothing does, and in a
     * stream it is another sample of the batch, no longer than the longest one.
     */
    private static boolean fits(DataLoaderBuilder settings) {
        return settings.budget == null && settings.work == null || settings.badSamples == BadSamplePolicy.SKIP
                && (LoaderParts.isWithoutPadding(settings) || settings.dataset.arrivals().isPresent());
    }

    private static void checkArrivals(DataLoaderBuilder settings, Arrivals arrivals) {
        Sampler order = arrivals.order();
        check(settings.sampler == order, "order of a stream", settings.sampler.fingerprint(),
                "its own, " + order.fingerprint() + " (shuffle a stream when you open it)");
        check(settings.work == null, "work budget", "a stream",
                "a dataset with an index (the work of records to come is not known)");
        check(settings.stepTokens == null, "totals of a step", "a stream",
                "a dataset with an index (the records of other ranks are not known)");
        check(settings.devices.size() <= 1, "devices of a stream", settings.devices.size(),
                "one (its records arrive for one rank: open a stream per device)");
        check(settings.budget == null || order.epochs() == 1, "records in an epoch of a stream with a token budget",
                order.size(), "one epoch without end");
        check(settings.budget == null || arrivals.areShared(settings.shard), "lanes of a stream with a token budget",
                "several, divided among " + settings.shard.worldSize() + " ranks",
                "one (every rank needs the lengths of all)");
        check(settings.badSamples != BadSamplePolicy.REPLACE, "bad samples of a stream", settings.badSamples,
                "FAIL or SKIP (there are no other samples to draw)");
        check(order.epochs() == 1 || order.size() % settings.shard.worldSize() == 0,
                "records in an epoch of a stream", order.size(),
                "a multiple of the " + settings.shard.worldSize() + " ranks");
    }

    static void check(boolean condition, String what, Object found, String expected) {
        if (!condition) {
            throw new IllegalArgumentException(what + ": " + found + ", expected " + expected);
        }
    }

    /** Throws an {@link IllegalArgumentException} if so many slots need more memory than this machine has. */
    static void checkMemory(long slabBytes, long slots) {
        if (slots <= ANY_MACHINE_BYTES / Math.max(1, slabBytes)) {
            return;
        }
        long machineBytes = Machine.totalMemoryBytes();
        if (slots > machineBytes / slabBytes) {
            throw new IllegalArgumentException(slots + " slots of " + slabBytes + " bytes, one batch each: found "
                    + (Math.multiplyHigh(slots, slabBytes) == 0 ? slots * slabBytes + " bytes" : "2^63 bytes or more")
                    + ", expected at most the " + machineBytes
                    + " bytes of memory of this machine: use smaller batches, less prefetch or fewer workers");
        }
    }
}
