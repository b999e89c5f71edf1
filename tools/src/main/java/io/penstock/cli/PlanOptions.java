// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.collate.PadAnswers;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Lengths;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.source.FieldSource;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.io.ReadMode;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.loader.BadSamplePolicy;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.loader.LoaderSettings;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import io.penstock.sampling.TokenBudget;
import io.penstock.sampling.WorkBalance;
import io.penstock.sampling.WorkBudget;
import io.penstock.state.LoaderState;
import io.penstock.stream.StreamDataset;
import io.penstock.text.NumberText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The batches: their samples and order, this rank's share, and the threads that build them. */
final class PlanOptions {

    /** The help text of a command's stores. */
    static final String STORES = "One or more stores, each given by its folder or by one of its files, local or"
            + " remote (s3://, https://, http://). Several are concatenated, or mixed with --weights.";

    @Option(names = "--batch", defaultValue = "32", paramLabel = "SAMPLES",
            description = "Samples per batch; default: ${DEFAULT-VALUE}.")
    private int batch;

    @Option(names = "--token-budget", paramLabel = "TOKENS",
            description = "Instead of --batch: fill each batch up to TOKENS tokens, padding included.")
    private @Nullable Long tokenBudget;

    @Option(names = "--max-samples", paramLabel = "N",
            description = "With --token-budget: at most N samples per batch; default: the budget, up to 65536.")
    private @Nullable Integer maxSamples;

    @Option(names = "--bucket-window", paramLabel = "SAMPLES",
            description = "Reduce padding: group samples of similar length within windows of SAMPLES samples.")
    private @Nullable Long bucketWindow;

    @Option(names = "--bucket-group", defaultValue = "256", paramLabel = "SAMPLES",
            description = "With --bucket-window: samples per group; default: ${DEFAULT-VALUE}.")
    private long bucketGroup;

    @Option(names = "--balance-window", paramLabel = "STEPS",
            description = "Give all ranks about the same work a step: deal out the samples of STEPS steps together, by"
                    + " their lengths.")
    private @Nullable Integer balanceWindow;

    @Option(names = "--balance-square", defaultValue = "4096", paramLabel = "TOKENS",
            description = "With --balance-window: a sample of L tokens costs L + L*L/TOKENS; default:"
                    + " ${DEFAULT-VALUE}.")
    private long balanceSquare;

    @Option(names = "--balance-alike",
            description = "With --balance-window: each step has samples of about the same length.")
    private boolean balanceAlike;

    @Option(names = "--balance-cost", paramLabel = "FILE",
            description = "With --balance-window: the cost of each sample, whole numbers in FILE (.npy or any tensor"
                    + " store), such as 'penstock stats --cost' writes.")
    private @Nullable Path balanceCost;

    @Option(names = "--balance-tokens", paramLabel = "TOKENS",
            description = "With --balance-window: each rank takes as many samples as even work needs, --batch on"
                    + " average, and at most TOKENS tokens.")
    private @Nullable Long balanceTokens;

    @Option(names = "--balance-padded", paramLabel = "TOKENS",
            description = "The same, at most TOKENS tokens with padding.")
    private @Nullable Long balancePadded;

    @Option(names = "--balance-samples", paramLabel = "N",
            description = "The same, at most N samples; default: 4 times --batch.")
    private @Nullable Integer balanceSamples;

    @Option(names = "--balance-group", paramLabel = "RANKS",
            description = "With --balance-tokens, --balance-padded or --balance-samples: the ranks to be even for,"
                    + " which a resumed run of other ranks keeps; default: --world.")
    private @Nullable Integer balanceGroup;

    @Option(names = "--length-field", paramLabel = "NAME",
            description = "Field whose length --token-budget, --bucket-window and --balance-window use; default: the"
                    + " only variable-length field.")
    private @Nullable String lengthField;

    /** The order before ranks are balanced, once batches were made. */
    private @Nullable Sampler unbalanced;

    /** The length of each sample, once it was needed, of the source that it was needed for. */
    private @Nullable LongUnaryOperator lengths;
    private @Nullable SampleSource lengthsOf;
    private @Nullable LongUnaryOperator fileCosts;

    @ArgGroup(exclusive = false)
    private OrderOptions order = new OrderOptions();

    @Option(names = "--epoch", defaultValue = "0", paramLabel = "N", description = "Start with epoch N, from 0.")
    private long epoch;

    @Option(names = "--skip", defaultValue = "0", paramLabel = "BATCHES",
            description = "Skip the first BATCHES batches of the epoch without reading them.")
    private long skip;

    @Option(names = "--rank", paramLabel = "R", description = "This process's rank, from 0. Default: 0.")
    private @Nullable Integer givenRank;

    @Option(names = "--world", paramLabel = "W", description = "Number of ranks. Default: 1.")
    private @Nullable Integer givenWorld;

    private int rank;
    private int world = 1;

    @Option(names = "--ranks-from-environment",
            description = "Take --rank and --world from RANK and WORLD_SIZE, or from what Open MPI, MPICH, LSF, Flux or"
                    + " Slurm sets. Incomplete variables are an error.")
    private boolean ranksFromEnvironment;

    @Option(names = "--tail", paramLabel = "POLICY",
            description = "If the ranks do not divide an epoch, or a source, evenly: pad (default) repeats samples,"
                    + " drop omits some, exact repeats some with weight 0.")
    private TailPolicy tail = TailPolicy.PAD;

    @Option(names = "--drop-last", description = "Drop the last batch of an epoch if it is not full.")
    private boolean dropLast;

    @Option(names = "--workers", paramLabel = "N",
            description = "Worker threads that build batches; 0: the trainer's thread builds them. Default: one less"
                    + " than the processors, from 1 to 4.")
    private @Nullable Integer workers;

    @Option(names = "--prefetch", paramLabel = "BATCHES",
            description = "Batches to build ahead of the trainer; default: two per worker, more for small batches.")
    private @Nullable Integer prefetch;

    @Option(names = "--read", paramLabel = "MODE",
            description = "How to read files: ${COMPLETION-CANDIDATES}; default: auto.")
    private @Nullable ReadMode readMode;

    @Option(names = "--settings", paramLabel = "FILE",
            description = "Load workers, prefetch, read mode and device slots from FILE, written by 'penstock tune';"
                    + " options on the command line override it.")
    private @Nullable Path settingsFile;

    /** The file's settings, once it was read. */
    private @Nullable LoaderSettings settings;

    @Option(names = "--read-ahead", paramLabel = "BYTES",
            description = "Bytes of upcoming batches to prefetch into the page cache for a file that is not in it;"
                    + " 0: none. Default: enough to keep the device busy, up to 8 MiB.")
    private @Nullable Long readAhead;

    @Option(names = "--verify",
            description = "Verify each block on first read, for files with checksums (FILE.crc32c).")
    private boolean verify;

    @Option(names = "--bad-samples", paramLabel = "POLICY",
            description = "On a damaged sample: fail (default), replace it by another sample, or skip it (weight 0).")
    private BadSamplePolicy badSamples = BadSamplePolicy.FAIL;

    /** The batches that the options describe, from {@code --epoch} and {@code --skip} on. */
    BatchSampler batches(SampleSource source) {
        UsageException.requireAtLeast(1, "--batch", batch);
        UsageException.requireAtLeast(0, "--epoch", epoch);
        UsageException.requireAtLeast(0, "--skip", skip);
        if (maxSamples != null && tokenBudget == null) {
            throw new UsageException("--max-samples needs --token-budget");
        }
        if (lengthField != null && tokenBudget == null && bucketWindow == null && balanceWindow == null) {
            throw new UsageException("--length-field needs --token-budget, --bucket-window or --balance-window");
        }
        if (balanceWindow == null && (balanceAlike || balanceCost != null || isByWork() || balanceGroup != null)) {
            throw new UsageException("--balance-alike, --balance-cost, --balance-tokens, --balance-padded,"
                    + " --balance-samples and --balance-group need --balance-window");
        }
        if (isByWork() ? balanceAlike : balanceGroup != null) {
            throw new UsageException(balanceAlike ? "--balance-alike: found with --balance-tokens, --balance-padded or"
                    + " --balance-samples, expected it without them: steps are of even work with them"
                    : "--balance-group needs --balance-tokens, --balance-padded or --balance-samples");
        }
        if (balanceWindow != null && tokenBudget != null) {
            throw new UsageException("--balance-window: found with --token-budget, expected --batch: ranks take the"
                    + " same number of samples a step");
        }
        UsageException.requireAtLeast(1, "--balance-square", balanceSquare);
        if (ranksFromEnvironment && (givenRank != null || givenWorld != null)) {
            throw new UsageException("--ranks-from-environment takes the place of --rank and --world: omit these");
        }
        return UsageException.valid(() -> {
            Shard shard = ranksFromEnvironment ? Shard.fromEnvironment(tail)
                    : new Shard(Objects.requireNonNullElse(givenRank, 0), Objects.requireNonNullElse(givenWorld, 1),
                            tail);
            rank = shard.rank();
            world = shard.worldSize();
            Sampler base = bucketed(source, order.sampler(source));
            unbalanced = base;
            Sampler sampler = isByWork() ? base : balanced(source, base);
            BatchSampler whole = isByWork() ? BatchSampler.of(sampler, workBudget(source), shard)
                    : tokenBudget == null ? BatchSampler.of(sampler, batch, shard)
                    : isStream(source) ? BatchSampler.arriving(sampler, budget(tokenBudget), lengths(source), shard)
                    : BatchSampler.of(sampler, budget(tokenBudget), lengths(source), shard);
            BatchSampler all = (dropLast ? whole.droppingLast() : whole)
                    .withDataset(source.dataset().fingerprint()).startingAt(epoch, 0);
            all.requireBatch(Long.MAX_VALUE);
            return fromBatch(all, skip);
        });
    }

    /** The batches from a batch of a run on. */
    static BatchSampler fromBatch(BatchSampler batches, long number) {
        return number == 0 ? batches : LoaderState.after(batches, number - 1).resume(batches);
    }

    private static boolean isStream(SampleSource source) {
        return source.dataset().arrivals().isPresent();
    }

    StreamDataset.Builder shuffled(StreamDataset.Builder stream) {
        return order.shuffled(stream);
    }

    /** The tars of a stream, in their order. */
    WebDatasetSource shuffled(WebDatasetSource tars) {
        return order.shuffled(tars);
    }

    /** The order of a store that is mixed with streams. */
    Sampler orderOf(long size) {
        return order.ofStore(size);
    }

    /** The weights of a mixture; empty if there is none. */
    List<Double> weights() {
        return order.weights();
    }

    boolean skipsBadSamples() {
        return badSamples == BadSamplePolicy.SKIP;
    }

    private Sampler bucketed(SampleSource source, Sampler base) {
        if (bucketWindow != null && isStream(source)) {
            throw new IllegalArgumentException("--bucket-window: found with --source, expected a store");
        }
        return bucketWindow == null ? base
                : Sampler.lengthBucketed(base, lengths(source), bucketWindow, bucketGroup, order.seed());
    }

    /** Whether ranks take as many samples as even work needs, instead of equal numbers. */
    private boolean isByWork() {
        return balanceTokens != null || balancePadded != null || balanceSamples != null;
    }

    private WorkBudget workBudget(SampleSource source) {
        checkBalanced(source);
        WorkBudget budget = WorkBudget.of(Objects.requireNonNullElse(balanceGroup, world), batch, costs(source))
                .over(Objects.requireNonNull(balanceWindow));
        if (balanceSamples != null) {
            budget = budget.maxSamples(balanceSamples);
        }
        if (balanceTokens != null) {
            budget = budget.limit(WorkBudget.Limit.sum("tokens", balanceTokens, lengths(source)));
        }
        return balancePadded == null ? budget
                : budget.limit(WorkBudget.Limit.padded("tokens", balancePadded, lengths(source)));
    }

    private static void checkBalanced(SampleSource source) {
        if (isStream(source)) {
            throw new IllegalArgumentException("--balance-window: found with --source, expected a store");
        }
    }

    private Sampler balanced(SampleSource source, Sampler base) {
        if (balanceWindow == null) {
            return base;
        }
        checkBalanced(source);
        WorkBalance balance = WorkBalance.of(world, batch).over(balanceWindow);
        return Sampler.workBalanced(base, costs(source), balanceAlike ? balance.alike() : balance, order.seed());
    }

    /** The cost of each sample: as a file says, or by its length. */
    LongUnaryOperator costs(SampleSource source) {
        if (balanceCost != null) {
            LongUnaryOperator known = fileCosts;
            if (known == null) {
                long[] costs = ListedOrder.longs("--balance-cost", balanceCost, source.dataset().size());
                known = sample -> costs[(int) sample];
                fileCosts = known;
            }
            return known;
        }
        if (source.dataset() instanceof PackedSequences packed) {
            return sample -> packedCost(packed, sample);
        }
        LongUnaryOperator of = lengths(source);
        return sample -> cost(of.applyAsLong(sample));
    }

    private long cost(long length) {
        return length * (balanceSquare + length);
    }

    /** The cost of the documents in a sequence: none attends to another. */
    private long packedCost(PackedSequences packed, long sample) {
        Span piece = new Span();
        FieldSource.InParts pieces = packed.source(0).bytes();
        long tokenBytes = packed.fields().getFirst().dtype().byteSize();
        long cost = 0;
        for (int part = 0; part < packed.parts(sample); part++) {
            pieces.place().locate(sample, part, piece);
            cost += cost(piece.byteSize() / tokenBytes);
        }
        return cost;
    }

    /**
     * How even the ranks' work is in the first steps of the epoch, without the balance and with it.
     *
     * @param mostSteps looks at no more steps
     */
    List<WorkBalance.Evenness> evenness(SampleSource source, long mostSteps) {
        BatchSampler batches = batches(source);
        if (balanceWindow == null) {
            throw new UsageException("--explain-balance needs --balance-window");
        }
        LongUnaryOperator costs = costs(source);
        WorkBalance balance = WorkBalance.of(world, batch);
        WorkBalance.Evenness before = balance.measure(Objects.requireNonNull(unbalanced).epoch(epoch), costs,
                mostSteps);
        return List.of(before, isByWork() ? workBudget(source).measure(batches, mostSteps)
                : balance.measure(batches.sampler().epoch(epoch), costs, mostSteps));
    }

    private TokenBudget budget(long tokens) {
        TokenBudget budget = TokenBudget.padded(tokens);
        return maxSamples == null ? budget : budget.maxSamples(maxSamples);
    }

    private LongUnaryOperator lengths(SampleSource source) {
        LongUnaryOperator known = lengths;
        if (known != null && lengthsOf == source) {
            return known;
        }
        Dataset dataset = source.dataset();
        List<TensorSpec> fields = dataset.fields().stream()
                .filter(field -> lengthField == null ? field.isVariable() : field.name().equals(lengthField)).toList();
        if (fields.size() != 1 || !fields.getFirst().isVariable()) {
            throw new UsageException((lengthField != null ? "--length-field: found " + lengthField
                    : "--token-budget, --bucket-window and --balance-window: found "
                    + NumberText.count(fields.size(), "variable-length field"))
                    + ", expected exactly one variable-length field of " + dataset.fields()
                    + (fields.size() > 1 ? " (choose one with --length-field)" : ""));
        }
        if (dataset instanceof StreamDataset && source.collator() instanceof PadAnswers) {
            throw new UsageException("--token-budget and --bucket-window: found with a stream of answers, expected"
                    + " --batch, or a store of them (penstock tokenize --chat --preferences)");
        }
        LongUnaryOperator found = dataset instanceof StreamDataset stream
                ? stream.lengths(fields.getFirst().name())
                : source.collator() instanceof PadAnswers answers ? answers.lengths().orElseThrow()
                : dataset instanceof Documents documents ? documents::length
                : Lengths.of(dataset, dataset.fields().indexOf(fields.getFirst()), source.maxLength());
        lengthsOf = source;
        lengths = found;
        return found;
    }

    /** The settings of a loader of those batches, without a device. */
    DataLoaderBuilder loader(SampleSource source, BatchSampler batches) {
        DataLoaderBuilder builder = DataLoader.builder(source.dataset());
        if (!isStream(source)) {                        // a stream has its own, which the state edits
            builder.sampler(batches.sampler());
        }
        builder.collator(source.collator()).batchSize(batches.batchSize()).shard(batches.shard())
                .resume(LoaderState.before(batches)).settings(settings()).workers(workers()).onBadSample(badSamples);
        if (batches.dropsLast()) {
            builder.dropLast();
        }
        if (verify) {
            builder.verify();
        }
        if (readMode != null) {
            builder.readMode(readMode);
        }
        if (tokenBudget != null) {
            builder.tokenBudget(budget(tokenBudget), lengths(source));
        }
        if (isByWork()) {
            builder.sampler(Objects.requireNonNull(unbalanced)).workBudget(workBudget(source));
        }
        prefetch().ifPresent(builder::prefetch);
        if (readAhead != null) {
            UsageException.requireAtLeast(0, "--read-ahead", readAhead);
            builder.readAhead(readAhead);
        }
        return builder;
    }

    /** The most samples that a batch can have: no more than an epoch has. */
    private int samplesOfBatch(SampleSource source, BatchSampler batches) {
        long size = batches.sampler().size();
        return tokenBudget != null || isByWork() || isStream(source) ? batches.batchSize()
                : (int) Math.min(batches.batchSize(), tail == TailPolicy.DROP ? size / world
                        : Math.ceilDiv(size, (long) world));
    }

    int workers() {
        if (workers == null) {
            return settings().workers().orElseGet(LoaderSettings::defaultWorkers);
        }
        UsageException.requireAtLeast(0, "--workers", workers);
        return workers;
    }

    Optional<Integer> prefetch() {
        if (prefetch != null) {
            UsageException.requireAtLeast(1, "--prefetch", prefetch);
        }
        return Optional.ofNullable(prefetch);
    }

    /** The read mode of {@code --read}, if given. */
    Optional<ReadMode> readMode() {
        return Optional.ofNullable(readMode);
    }

    /** The settings of {@code --settings}, or none. */
    LoaderSettings settings() {
        LoaderSettings known = settings;
        if (known == null) {
            try {
                known = settingsFile == null ? LoaderSettings.NONE : LoaderSettings.read(settingsFile);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            settings = known;
        }
        return known;
    }

    long skip() {
        return skip;
    }

    /** The rank that was given, or all ranks of the world if none was. */
    List<Integer> ranks() {
        return givenRank != null || ranksFromEnvironment ? List.of(rank)
                : IntStream.range(0, world).boxed().toList();
    }

    /** The number of batches left in the epoch or, if none is left, in the next epoch that has any. */
    static long restOfEpoch(BatchSampler batches) {
        return batches.batchesInEpoch(batches.epochOf(0));
    }

    /** Fails if a run gave no batch; one that resumed may have been at the end, which is a note. */
    void reportNoBatch(SampleSource source, BatchSampler batches, Report report) {
        String none = source.path() + ": no batch: ";
        String why = dropLast ? "the source ended before a batch was full, and --drop-last drops one that is not (use a"
                + " smaller batch, or leave out --drop-last)" : "the source ended before its first record";
        LoaderState start = LoaderState.before(batches);
        if (start.epoch() == 0 && start.position() == 0) {
            throw new BadInputException(none + why);
        }
        report.note(none + (dropLast ? why : "the source ended where this run began"));
    }

    /** The store, batches and order, for JSON. */
    Map<String, @Nullable Object> fields(SampleSource source, BatchSampler batches) {
        Map<String, @Nullable Object> fields = Json.members("store", source.path(), "kind", source.kind(),
                "samples_in_epoch", isStream(source) ? null : batches.sampler().size());
        fields.putAll(source.cut());
        fields.putAll(Json.members("batch", tokenBudget == null ? batch : null, "token_budget", tokenBudget,
                "max_samples", tokenBudget == null && !isByWork() ? null : batches.batchSize(),
                "batches_in_epoch", isStream(source) ? null
                        : batches.batchesInEpoch(batches.startEpoch() + 1),
                "shuffled", !order.isSequential(), "seed", order.isSequential() ? null : order.seed(),
                "order", batches.sampler().fingerprint(), "rank", rank, "world", world,
                "read", (readMode != null ? readMode : settings().readMode().orElse(ReadMode.AUTO)).toString()));
        return fields;
    }

    /** The same as text. */
    String text(SampleSource source, BatchSampler batches) {
        return (isStream(source) ? "source   " : "store    ") + source.path() + " (" + source.kind() + "): "
                + source.text() + ", " + order.text() + "\n"
                + "batch    " + (tokenBudget != null ? budget(tokenBudget)
                        : NumberText.count(batch, "sample") + (isByWork() ? " on average, of even work" : ""))
                + (samplesOfBatch(source, batches) < batches.batchSize() ? " (there are " + samplesOfBatch(source,
                        batches) + " per epoch" + (world == 1 ? "" : " and rank") + ")" : "")
                + (isStream(source) ? "" : ", "
                        + NumberText.count(batches.batchesInEpoch(batches.startEpoch() + 1), "batch", "batches")
                        + " per epoch") + (world == 1 ? "" : ", rank " + rank + " of " + world) + "\n";
    }
}
