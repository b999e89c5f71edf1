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
import io.penstock.loader.DataLoader.Role;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBudget;
import io.penstock.state.LoaderState;
import io.penstock.telemetry.recording.Telemetry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a {@link DataLoader}, all with defaults. The dataset, sampler, batch size, shard, collator, stages
 * and the policy on bad samples decide the bytes of the batches; all other settings change only speed and memory.
 */
public final class DataLoaderBuilder {

    /** Stands for a number that is computed at open. */
    static final int AUTO = -1;

    final Dataset dataset;
    Sampler sampler;
    /** Of augmentations; null: the seed of the order. */
    @Nullable Long seed;
    Collator collator = Stack.fields();
    int batchSize = LoaderDefaults.BATCH_SIZE;
    /** Null: the batch size counts. */
    @Nullable TokenBudget budget;
    @Nullable LongUnaryOperator lengths;
    /** Null: the batch size or the token budget counts. */
    @Nullable WorkBudget work;
    /** The tokens of each sample, whose totals batches have; null if they do not. */
    @Nullable LongUnaryOperator stepTokens;
    int batchesOfStep = 1;
    Shard shard = new Shard(0, 1, TailPolicy.PAD);
    boolean dropLast;
    @Nullable LoaderState state;
    @Nullable Path ledger;
    boolean ledgerSumsBytes;
    @Nullable Long startEpoch;
    long endEpoch = Long.MAX_VALUE;
    /** Empty: a host device that the loader owns. */
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
    /** The clock of the accounts. */
    LongSupplier nanoTime = Telemetry.MACHINE_TIME;

    DataLoaderBuilder(Dataset dataset) {
        this.dataset = Objects.requireNonNull(dataset, "dataset");
        this.sampler = dataset.arrivals().map(Arrivals::order).orElseGet(() -> sequential(dataset));
    }

    private static Sampler sequential(Dataset dataset) {
        if (dataset.size() == 0) {
            throw new IllegalArgumentException("no samples: " + dataset);
        }
        return Sampler.sequential(dataset.size());
    }

    // ---- what decides the bytes of the batches

    /**
     * The samples in a batch of this rank. Default 1.
     *
     * @param samples at least 1
     * @return this
     */
    public DataLoaderBuilder batchSize(int samples) {
        this.batchSize = samples;
        this.budget = null;
        this.work = null;
        return this;
    }

    /**
     * Fills each batch of this rank with as many samples as fit a budget of tokens, instead of a fixed number. Slots
     * have the size of the budget.
     *
     * @param budget the budget; one with padding is for {@link io.penstock.collate.Pad}, or
     *     {@link io.penstock.collate.StackAndPad} with one variable-length field
     * @param lengths the length of each sample as the collator keeps it: {@link io.penstock.dataset.Lengths}, or
     *     {@code documents::length}; any thread calls it
     * @return this
     */
    public DataLoaderBuilder tokenBudget(TokenBudget budget, LongUnaryOperator lengths) {
        this.budget = Objects.requireNonNull(budget, "budget");
        this.lengths = Objects.requireNonNull(lengths, "lengths");
        this.work = null;
        return this;
    }

    /**
     * Fills each batch of this rank with about the same work as those of the other ranks, within limits, instead of a
     * fixed number of samples. The sampler's order is dealt anew. The tail policy is {@code PAD} or {@code EXACT}.
     *
     * @param budget the work and the limits of a batch; with a padded limit, slots have its size, as with a
     *     {@link #tokenBudget}
     * @return this
     */
    public DataLoaderBuilder workBudget(WorkBudget budget) {
        this.work = Objects.requireNonNull(budget, "budget");
        this.budget = null;
        return this;
    }

    /**
     * Adds two fields to each batch, of {@code i64[1]}: {@code global_samples} and {@code global_tokens}, those with
     * weight of all ranks in the step. A loss that each rank sums over its tokens, times the number of ranks, divided
     * by {@code global_tokens}, has the right mean over ranks whose tokens differ. They are known from the plan,
     * without communication; samples that are bad on some rank count.
     *
     * @param tokens the tokens of each sample; called by any thread
     * @return this
     */
    public DataLoaderBuilder stepTotals(LongUnaryOperator tokens) {
        return stepTotals(tokens, 1);
    }

    /**
     * As {@link #stepTotals(LongUnaryOperator)}, of steps of several batches of each rank, whose gradients are
     * accumulated: the totals are those of all of them, in each. Steps are counted from the run's first batch; the last
     * one of a run that {@link #endEpoch(long)} ends within it has the totals of a whole one, and of a run that an edit
     * ends there, those of the batches that it has.
     *
     * @param tokens the tokens of each sample; called by any thread
     * @param batches the batches of a rank in a step, at least 1
     * @return this
     * @throws IllegalArgumentException if the number is below 1
     */
    public DataLoaderBuilder stepTotals(LongUnaryOperator tokens, int batches) {
        if (batches < 1) {
            throw new IllegalArgumentException("totals of steps of " + batches + " batches, expected at least 1");
        }
        this.stepTokens = Objects.requireNonNull(tokens, "tokens");
        this.batchesOfStep = batches;
        return this;
    }

    /**
     * Shuffles each epoch by a permutation that depends on the seed and the epoch. Default: the dataset's order.
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
     * @param sampler a sampler of the dataset's size
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
     * The seed of augmentations and of the substitutes of bad samples. A random number depends on it, the epoch, the
     * sample's position in its order, and the name of the step. A state does not contain it: give a resumed run the
     * same one. Default: the seed of the order, {@link Sampler#augmentationSeed}.
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
     * What to do about a sample that is damaged or cannot be decoded. This changes the batches: give a resumed run the
     * same policy. Default {@link BadSamplePolicy#FAIL}.
     *
     * @param policy the policy
     * @return this
     */
    public DataLoaderBuilder onBadSample(BadSamplePolicy policy) {
        this.badSamples = Objects.requireNonNull(policy, "policy");
        return this;
    }

    /**
     * This process's share of every epoch. Default: all of it. Several {@linkplain #devices devices} divide this share.
     *
     * @param shard rank, world size and tail policy; ranks are processes
     * @return this
     */
    public DataLoaderBuilder shard(Shard shard) {
        this.shard = Objects.requireNonNull(shard, "shard");
        return this;
    }

    /**
     * Drops an epoch's last batch if it is not full. Default: it is delivered, smaller.
     *
     * @return this
     */
    public DataLoaderBuilder dropLast() {
        this.dropLast = true;
        return this;
    }

    /**
     * Continues at a state, which may come from a loader with other workers, ranks or batch size. Not with
     * {@link #startEpoch}: {@link #open} refuses both.
     *
     * @param state the result of {@link DataLoader#state}
     * @return this
     */
    public DataLoaderBuilder resume(LoaderState state) {
        this.state = Objects.requireNonNull(state, "state");
        return this;
    }

    /**
     * Continues at the state in a file, or starts afresh if there is no such file: one line for a run's first start and
     * for all that follow.
     *
     * {@snippet :
     * Path file = Path.of("checkpoint/data.json");
     * try (DataLoader loader = DataLoader.builder(dataset).batchSize(32).shuffle(42).resumeIfPresent(file).open()) {
     *     for (Batch batch : loader.epoch()) {
     *         try (batch) {
     *             step(batch.tensor("tokens"));
     *         }
     *     }
     *     loader.state().write(file);
     * }
     * }
     *
     * @param file what {@link LoaderState#write} writes
     * @return this
     * @throws io.penstock.error.MalformedStoreException if the file holds no state
     * @throws IOException if the file exists and cannot be read
     */
    public DataLoaderBuilder resumeIfPresent(Path file) throws IOException {
        return Files.notExists(file) ? this : resume(LoaderState.read(file));
    }

    /**
     * Writes down each delivered batch, 64 bytes a step, in a file of this rank: {@link io.penstock.state.Ledger}.
     * {@code penstock audit} proves from the files of all ranks that each sample was given once. States then have a
     * digest of all that was delivered. Default: nothing is written.
     *
     * @param folder the folder of the files, the same for all ranks and for all runs that continue one another
     * @return this
     */
    public DataLoaderBuilder ledger(Path folder) {
        this.ledger = Objects.requireNonNull(folder, "folder");
        return this;
    }

    /**
     * Also writes into the {@linkplain #ledger ledger} how many bytes each batch has, and their CRC-32C, in another 64
     * bytes a step. {@code penstock audit} then finds steps whose bytes differed when they were given again after a
     * restart. The workers compute it, after collating and before {@linkplain #onDevice stages}. Default: no.
     *
     * @return this
     */
    public DataLoaderBuilder ledgerOfBytes() {
        this.ledgerSumsBytes = true;
        return this;
    }

    /**
     * The first epoch. Default 0. Not with {@link #resume}, whose state names the epoch: {@link #open} refuses both.
     *
     * @param epoch from 0
     * @return this
     */
    public DataLoaderBuilder startEpoch(long epoch) {
        this.startEpoch = epoch;
        return this;
    }

    /**
     * The epoch to stop before. Default: none.
     *
     * @param epoch the epoch after the last one
     * @return this
     */
    public DataLoaderBuilder endEpoch(long epoch) {
        this.endEpoch = epoch;
        return this;
    }

    // ---- where they go

    /**
     * The device for the batches. The caller closes it after the loader. Default: a host device that the loader owns.
     *
     * @param device the device
     * @return this
     */
    public DataLoaderBuilder device(Device device) {
        return devices(device);
    }

    /**
     * The devices of a process that trains on several; each gets the batches of its own rank. {@link #openAll()} opens
     * the loaders; {@link DeviceLoaders} says what they share. The caller closes the devices after the loaders.
     *
     * @param devices the devices, in the order of their ranks; at least one
     * @return this
     */
    public DataLoaderBuilder devices(Device... devices) {
        LoaderLimits.check(devices.length > 0, "devices", "none", "at least one");
        this.devices = List.of(devices);
        return this;
    }

    // ---- what decides speed and memory alone, and what is reported

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
     * How to read files. Default {@link ReadMode#AUTO}.
     *
     * @param mode the mode
     * @return this
     */
    public DataLoaderBuilder readMode(ReadMode mode) {
        this.readMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /**
     * How many bytes of upcoming batches to prefetch into the page cache, for a file that is not in it: exactly the
     * pages that the workers will read. 0 prefetches nothing. Default: enough reads to keep any device busy, at most 8
     * MiB; for large batches, one per worker. Unless this is 0, remote files are fetched by a plan of the whole epoch:
     * opening the loader locates a sample to see whether there are any.
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
     * The threads that collate, for all {@linkplain #devices devices} together. With 0, {@link DataLoader#next()}
     * collates on the trainer's thread. Default: one less than the processors, from 1 to 4.
     *
     * @param threads 0 to 1024
     * @return this
     */
    public DataLoaderBuilder workers(int threads) {
        this.workers = threads;
        return this;
    }

    /**
     * The batches that may wait ahead of each device's trainer. Default: two per worker, at least two. For small
     * batches, which take less time to make than a thread to wake up: 16, or as many as 2 MiB hold if that is fewer; 8
     * MiB if they are copied to the device.
     *
     * @param batches 1 to 65,536
     * @return this
     */
    public DataLoaderBuilder prefetch(int batches) {
        this.prefetch = batches;
        return this;
    }

    /**
     * The slots on the device if batches are copied. Default 3: one in use, one arriving, one waiting. A trainer that
     * holds {@code k} batches at a time needs {@code k + 2}.
     *
     * @param slots 2 to 1024
     * @return this
     */
    public DataLoaderBuilder deviceSlots(int slots) {
        this.deviceSlots = slots;
        return this;
    }

    /**
     * Which uses of a batch are checked: by other threads, and after it is closed. Default {@link LeaseMode#CONFINED}.
     *
     * @param mode the mode
     * @return this
     */
    public DataLoaderBuilder leases(LeaseMode mode) {
        this.leaseMode = Objects.requireNonNull(mode, "mode");
        return this;
    }

    /**
     * Verifies each block on first read, for files with {@linkplain io.penstock.store.integrity.BlockChecksums block
     * checksums}. Other files are not checked, nor are values that a store decodes or converts.
     *
     * @return this
     */
    public DataLoaderBuilder verify() {
        this.verify = true;
        return this;
    }

    /**
     * Sets workers, prefetch, read mode and device slots together, for example from a file of {@code penstock tune}.
     * Settings that are empty change nothing; later calls override these.
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
     * The purpose of the batches. Default {@link Role#TRAIN}.
     *
     * @param role the role
     * @return this
     */
    public DataLoaderBuilder role(Role role) {
        this.role = Objects.requireNonNull(role, "role");
        return this;
    }

    /**
     * Keeps no accounts of the latest batches; a diagnosis needs them. They cost about 0.1 microseconds per batch, and
     * 2 MiB.
     *
     * @return this
     */
    public DataLoaderBuilder withoutAccounts() {
        this.accounts = false;
        return this;
    }

    /**
     * Measures with the device's clock, if batches are copied: copies and stages, and for batches
     * {@linkplain DataLoader#next(DeviceStream) taken with a stream}, how long the stream waited for them and then
     * worked, and on which {@linkplain io.penstock.telemetry.Accounts#began phases}. Accounts contain these times some
     * batches later, and a diagnosis uses them. Nothing waits for them. They cost two more events per batch, one of
     * them on the trainer's thread; so they are off by default. Without accounts nothing is measured.
     *
     * @return this
     */
    public DataLoaderBuilder withDeviceClock() {
        this.deviceClock = true;
        return this;
    }

    /**
     * How long a call waits for user code in a worker before it acts: {@link DataLoader#next()} logs the worker and
     * where its code is, and waits on; a move interrupts the worker; {@link DataLoader#close()}, which has interrupted
     * it, logs it and stops waiting. Default 10 seconds.
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
     * The loader's name in thread names and log messages. Default {@code penstock}.
     *
     * @param name any text
     * @return this
     */
    public DataLoaderBuilder name(String name) {
        this.name = Objects.requireNonNull(name, "name");
        return this;
    }

    // ---- opening

    /**
     * Allocates all memory and starts the threads, which begin to fill slots at once.
     *
     * @return the loader, to be closed by the caller
     * @throws IllegalArgumentException if settings contradict each other or are out of range, the slots exceed this
     *     machine's memory, the collator cannot collate the dataset, a stage does not take the fields of a batch, or
     *     the cache of remote files is too small for the order
     * @throws io.penstock.error.LimitException if the OS refuses more threads
     * @throws io.penstock.state.StateMismatchException if the state to resume belongs to another dataset or order
     */
    public DataLoader open() {
        LoaderLimits.check(devices.size() <= 1, "devices", devices.size(), "one; openAll() opens a loader for each");
        LoaderLimits.check(this);
        return DataLoader.open(this);
    }

    /**
     * Opens a loader for each of the {@linkplain #devices devices}, as {@link #open()} does. They share the workers.
     *
     * @return the loaders, to be closed by the caller
     * @throws RuntimeException as {@link #open()}
     */
    public DeviceLoaders openAll() {
        LoaderLimits.check(this);
        return new DeviceLoaders(DeviceLoader.open(this, DeviceLoader::new));
    }
}
