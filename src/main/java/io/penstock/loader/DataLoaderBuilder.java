// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import io.penstock.collate.Collator;
import io.penstock.collate.Stack;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.source.Arrivals;
import io.penstock.device.Device;
import io.penstock.device.DeviceStage;
import io.penstock.device.DeviceStream;
import io.penstock.io.ReadMode;
import io.penstock.sampling.LoaderState;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.telemetry.recording.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link DataLoader}, each with a default that works. What the batches are is set by dataset,
 * sampler, batch size, shard, collator, stages and the policy on bad samples; everything else changes speed and memory,
 * never a byte.
 */
public final class DataLoaderBuilder {

    /** Stands for a number that is worked out at open. */
    static final int AUTO = -1;

    final Dataset dataset;
    Sampler sampler;
    /** Of augmentations; null for that of the order. */
    @Nullable Long seed;
    Collator collator = new Stack();
    int batchSize = LoaderDefaults.BATCH_SIZE;
    /** What fits in a batch; null if it is the batch size. */
    @Nullable TokenBudget budget;
    @Nullable LongUnaryOperator lengths;
    Shard shard = new Shard(0, 1, TailPolicy.PAD);
    boolean dropLast;
    @Nullable LoaderState state;
    long startEpoch;
    long endEpoch = Long.MAX_VALUE;
    /** Empty for a host device of the loader's own. */
    List<Device> devices = List.of();
    final List<DeviceStage> stages = new ArrayList<>();
    TransferMode transfer = TransferMode.AUTO;
    ReadMode readMode = LoaderDefaults.READ_MODE;
    long readAheadBytes = LoaderDefaults.READ_AHEAD_BYTES;
    int workers = LoaderDefaults.WORKERS;
    int prefetch = AUTO;
    int deviceSlots = LoaderDefaults.DEVICE_SLOTS;
    LeaseMode leaseMode = LeaseMode.CONFINED;
    boolean verify;
    BadSamplePolicy badSamples = BadSamplePolicy.FAIL;
    String name = LoaderDefaults.NAME;
    Role role = Role.TRAIN;
    boolean accounts = true;
    boolean deviceClock;
    Duration patience = LoaderDefaults.PATIENCE;
    /** What accounts tell the time by. */
    LongSupplier nanoTime = Telemetry.MACHINE_TIME;

    DataLoaderBuilder(Dataset dataset) {
        this.dataset = Objects.requireNonNull(dataset, "dataset");
        this.sampler = dataset.arrivals().map(Arrivals::order).orElseGet(() -> Sampler.sequential(dataset.size()));
    }

    /**
     * Samples in a batch of this rank. Default 1.
     *
     * @param samples at least 1
     * @return this
     */
    public DataLoaderBuilder batchSize(int samples) {
        this.batchSize = samples;
        this.budget = null;
        return this;
    }

    /**
     * As many samples in a batch of this rank as fit in a budget of tokens, instead of a number of samples. The slots
     * are as large as the budget, not as so many of the longest samples.
     *
     * @param budget the budget; one with padding is for {@link io.penstock.collate.Pad}, or
     *     {@link io.penstock.collate.StackAndPad} with one field of varying length
     * @param lengths the length of each sample as the collator keeps it: {@link io.penstock.dataset.Lengths}, or
     *     {@code documents::length}; asked by any thread
     * @return this
     */
    public DataLoaderBuilder tokenBudget(TokenBudget budget, LongUnaryOperator lengths) {
        this.budget = Objects.requireNonNull(budget, "budget");
        this.lengths = Objects.requireNonNull(lengths, "lengths");
        return this;
    }

    /**
     * Shuffles each epoch anew, by a permutation that the seed and the epoch decide. Default: in the dataset's order.
     *
     * @param seed any number
     * @return this
     */
    public DataLoaderBuilder shuffle(long seed) {
        return sampler(Sampler.shuffled(dataset.size(), seed));
    }

    /**
     * The order of samples.
     *
     * @param sampler a sampler of so many samples as the dataset has
     * @return this
     * @throws IllegalArgumentException if the sizes differ
     */
    public DataLoaderBuilder sampler(Sampler sampler) {
        if (sampler.datasetSize() != dataset.size()) {
            throw new IllegalArgumentException("sampler: found one for " + sampler.datasetSize()
                    + " samples, expected " + dataset.size() + ", the size of the dataset");
        }
        this.sampler = sampler;
        return this;
    }

    /**
     * What augmentations and the substitutes of bad samples are drawn by, together with the epoch, the sample's
     * position in its order, and the name of the step. No part of a state: a resumed run wants the same. Default: the
     * seed of the order, {@link Sampler#augmentationSeed}.
     *
     * @param seed any number
     * @return this
     */
    public DataLoaderBuilder seed(long seed) {
        this.seed = seed;
        return this;
    }

    /**
     * How samples become a batch. Default {@link Stack}.
     *
     * @param collator the collator
     * @return this
     */
    public DataLoaderBuilder collator(Collator collator) {
        this.collator = Objects.requireNonNull(collator, "collator");
        return this;
    }

    /**
     * This process's part of every epoch. Default: all of it. With several {@linkplain #devices devices}, each has its
     * part of this part.
     *
     * @param shard rank, world size and tail policy; ranks are processes
     * @return this
     */
    public DataLoaderBuilder shard(Shard shard) {
        this.shard = Objects.requireNonNull(shard, "shard");
        return this;
    }

    /**
     * Leaves out a last batch of an epoch that is not full. Default: it is given, smaller.
     *
     * @return this
     */
    public DataLoaderBuilder dropLast() {
        this.dropLast = true;
        return this;
    }

    /**
     * Goes on where a state says, which may come from a loader with other workers, ranks or batch size.
     *
     * @param state what {@link DataLoader#state} gave
     * @return this
     */
    public DataLoaderBuilder resume(LoaderState state) {
        this.state = Objects.requireNonNull(state, "state");
        return this;
    }

    /**
     * The epoch to begin with. Default 0.
     *
     * @param epoch from 0
     * @return this
     */
    public DataLoaderBuilder startEpoch(long epoch) {
        this.startEpoch = epoch;
        return this;
    }

    /**
     * The epoch to end before: with {@code n}, epochs up to {@code n - 1} are given. Default: no end.
     *
     * @param epoch the first epoch that is not given
     * @return this
     */
    public DataLoaderBuilder endEpoch(long epoch) {
        this.endEpoch = epoch;
        return this;
    }

    /**
     * Where batches go. The caller closes the device after the loader. Default: a host device of the loader's own.
     *
     * @param device the device
     * @return this
     */
    public DataLoaderBuilder device(Device device) {
        return devices(device);
    }

    /**
     * Where batches go, if this process trains on several devices: each has its rank's batches. They are opened with
     * {@link #openAll()}; {@link DeviceLoaders} says what is shared. The caller closes the devices after the loaders.
     *
     * @param devices the devices, in the order of their ranks; at least one
     * @return this
     */
    public DataLoaderBuilder devices(Device... devices) {
        LoaderLimits.check(devices.length > 0, "devices", "none", "at least one");
        this.devices = List.of(devices);
        return this;
    }

    /**
     * Lets a stage run on each batch on the device, behind the copy and behind the stages that were named before. Its
     * outputs are fields of the batch, in memory of the loader; an output with the name of a field replaces it.
     *
     * {@snippet :
     * DataLoader.builder(TokenWindows.of(store, 1024)).collator(CausalLm.narrow())
     *         .onDevice(TokenStage.of(DType.I64))                 // u16 over the bus, i64 for the trainer
     *         .device(device).batchSize(32).open();
     * }
     *
     * <p>Batches of a loader with stages are copied on every device, also where the CPU can read its memory.
     *
     * @param more for example {@code TokenStage} or {@code CastTransform.stage} of
     *     {@code io.penstock.transform}; may be none
     * @return this
     */
    public DataLoaderBuilder onDevice(DeviceStage... more) {
        stages.addAll(List.of(more));
        return this;
    }

    /**
     * Whether batches are copied to the device. Default {@link TransferMode#AUTO}.
     *
     * @param mode the mode
     * @return this
     */
    public DataLoaderBuilder transfer(TransferMode mode) {
        this.transfer = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /**
     * How bytes of files are brought in. Default {@link ReadMode#AUTO}.
     *
     * @param mode the mode
     * @return this
     */
    public DataLoaderBuilder readMode(ReadMode mode) {
        this.readMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /**
     * Bytes of files that are asked for ahead of the workers while they are not in the page cache: of the batches to
     * come, exactly the pages that they will read. 0 reads nothing ahead. Default: as many reads as keep any device
     * busy, at most 8 MiB, and of large batches as many as there are workers. Remote files are fetched ahead by a plan
     * of the whole epoch, unless this is 0: opening the loader locates a sample to see whether there are any.
     *
     * @param bytes at least 0
     * @return this
     */
    public DataLoaderBuilder readAhead(long bytes) {
        LoaderLimits.check(bytes >= 0, "read-ahead", bytes, "at least 0 bytes");
        this.readAheadBytes = bytes;
        return this;
    }

    /**
     * Threads that collate, for all {@linkplain #devices devices} together. 0 collates on the trainer's thread in
     * {@link DataLoader#next()}. Default: one less than there are processors, 1 to 4.
     *
     * @param threads 0 to 1024
     * @return this
     */
    public DataLoaderBuilder workers(int threads) {
        this.workers = threads;
        return this;
    }

    /**
     * Batches that may wait, filled, ahead of each device's trainer. Default: two a worker, at least two; of small
     * batches more, up to 16 or a MiB, since they are made sooner than a thread wakes up.
     *
     * @param batches 1 to 65,536
     * @return this
     */
    public DataLoaderBuilder prefetch(int batches) {
        this.prefetch = batches;
        return this;
    }

    /**
     * Device slots, when batches are copied: one that computes, one that arrives, one that waits. Default 3. A trainer
     * that holds {@code k} batches at a time wants {@code k + 2}.
     *
     * @param slots 2 to 1024
     * @return this
     */
    public DataLoaderBuilder deviceSlots(int slots) {
        this.deviceSlots = slots;
        return this;
    }

    /**
     * What a batch checks: who uses it, and that nobody reads it once it is closed. Default {@link LeaseMode#CONFINED}.
     *
     * @param mode the mode
     * @return this
     */
    public DataLoaderBuilder leases(LeaseMode mode) {
        this.leaseMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /**
     * Checks the bytes of files that have {@linkplain io.penstock.store.integrity.BlockChecksums block checksums}, each
     * block when it is first read. Files without them, and what a store decodes or converts, are not checked.
     *
     * @return this
     */
    public DataLoaderBuilder verify() {
        this.verify = true;
        return this;
    }

    /**
     * What becomes of a sample that is damaged or cannot be decoded. Part of what the batches are: a resumed run wants
     * the same. Default {@link BadSamplePolicy#FAIL}.
     *
     * @param policy the policy
     * @return this
     */
    public DataLoaderBuilder onBadSample(BadSamplePolicy policy) {
        this.badSamples = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * Workers, prefetch, read mode and device slots at once, such as {@code penstock tune} wrote to a file. What they
     * leave empty stays as it is; what is set after them counts.
     *
     * @param settings for example {@link LoaderSettings#read}
     * @return this
     */
    public DataLoaderBuilder settings(LoaderSettings settings) {
        settings.workers().ifPresent(this::workers);
        settings.prefetch().ifPresent(this::prefetch);
        settings.readMode().ifPresent(this::readMode);
        settings.deviceSlots().ifPresent(this::deviceSlots);
        return this;
    }

    /**
     * What the batches are for. Default {@link Role#TRAIN}.
     *
     * @param role the role
     * @return this
     */
    public DataLoaderBuilder role(Role role) {
        this.role = Objects.requireNonNull(role, "role");
        return this;
    }

    /**
     * Keeps no accounts of the latest batches, without which there is no diagnosis. They cost about a tenth of a
     * microsecond a batch, and 2 MiB.
     *
     * @return this
     */
    public DataLoaderBuilder withoutAccounts() {
        this.accounts = false;
        return this;
    }

    /**
     * Times by the device's clock, where batches are copied: the copies and the stages, and of batches that are
     * {@linkplain DataLoader#next(DeviceStream) taken with a stream}, how long the stream stalled for them and then
     * worked. The accounts then have these times, some batches later, and a diagnosis judges by them. Nothing waits for
     * them. They cost two more events a batch, one of them on the trainer's thread, which is why they are off by
     * default; without accounts nothing is timed.
     *
     * @return this
     */
    public DataLoaderBuilder withDeviceClock() {
        this.deviceClock = true;
        return this;
    }

    /**
     * How long a call waits for code of users in a worker before something is done about it: {@link DataLoader#next()}
     * names the worker and the place in the log, and waits on; a move interrupts it; {@link DataLoader#close()}, which
     * has interrupted it, names it and leaves it to itself. Default 10 seconds.
     *
     * @param time zero or more
     * @return this
     */
    public DataLoaderBuilder patience(Duration time) {
        LoaderLimits.check(!time.isNegative(), "patience", time, "zero or more");
        this.patience = time;
        return this;
    }

    /**
     * What threads and log messages call the loader. Default {@code penstock}.
     *
     * @param name any text
     * @return this
     */
    public DataLoaderBuilder name(String name) {
        this.name = Objects.requireNonNull(name, "name");
        return this;
    }

    /**
     * Allocates all memory and starts the threads, which begin to fill slots at once.
     *
     * @return the loader, to be closed by the caller
     * @throws IllegalArgumentException if settings contradict each other or are out of bounds, the slots are more than
     *     the memory of this machine, the collator cannot collate the dataset, the fields of a batch are not those that
     *     a stage works on, or the cache of remote files is too small for the order
     * @throws io.penstock.os.ThreadLimitException if the OS has no more threads
     * @throws io.penstock.sampling.StateMismatchException if the state to resume is of another dataset or order
     */
    public DataLoader open() {
        LoaderLimits.check(devices.size() <= 1, "devices", devices.size(), "one; openAll() opens a loader for each");
        return openAll().get(0);
    }

    /**
     * Opens a loader for each of the {@linkplain #devices devices}, as {@link #open()} does. They share the workers.
     *
     * @return the loaders, to be closed by the caller
     * @throws RuntimeException as {@link #open()}
     */
    public DeviceLoaders openAll() {
        LoaderLimits.check(this);
        return DataLoader.open(this);
    }
}
