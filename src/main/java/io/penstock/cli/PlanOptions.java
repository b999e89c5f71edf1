package io.penstock.cli;

import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.ReadMode;
import io.penstock.sampling.BatchSampler;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.Shard;
import io.penstock.sampling.TailPolicy;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which batches of samples: their order, this rank's part, and who makes them. */
final class PlanOptions {

    private static final long DEFAULT_SEED = 42;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--batch", defaultValue = "32", paramLabel = "SAMPLES",
            description = "Samples in a batch; default: ${DEFAULT-VALUE}.")
    private int batch;

    @ArgGroup
    private OrderOption order = new OrderOption();

    /** Either a seed, or no shuffling. */
    static final class OrderOption {
        @Option(names = "--seed", paramLabel = "NUMBER",
                description = "What each epoch's order is drawn from; default: " + DEFAULT_SEED + ".")
        private long seed = DEFAULT_SEED;

        @Option(names = "--no-shuffle", description = "Take samples in the order of the store.")
        private boolean sequential;
    }

    @Option(names = "--epoch", defaultValue = "0", paramLabel = "N", description = "The epoch to begin with, from 0.")
    private long epoch;

    @Option(names = "--skip", defaultValue = "0", paramLabel = "BATCHES",
            description = "Begin so many batches in, without reading them.")
    private long skip;

    @Option(names = "--rank", defaultValue = "0", paramLabel = "R", description = "This rank's part, from 0.")
    private int rank;

    @Option(names = "--world", defaultValue = "1", paramLabel = "W", description = "How many ranks share an epoch.")
    private int world;

    @Option(names = "--tail", defaultValue = "pad", paramLabel = "POLICY",
            description = "Where the ranks do not divide an epoch: pad (default) repeats samples, drop leaves some out,"
                    + " exact repeats them without weight.")
    private TailPolicy tail;

    @Option(names = "--drop-last", description = "Leave out a last batch of an epoch that is not full.")
    private boolean dropLast;

    @Option(names = "--workers", paramLabel = "N",
            description = "Threads that make batches; 0: the one that takes them. Default: one less than processors,"
                    + " 1 to 4.")
    private Integer workers;

    @Option(names = "--prefetch", paramLabel = "BATCHES",
            description = "Batches that may wait ahead of the one that is taken; default: two a worker, more if they"
                    + " are small.")
    private Integer prefetch;

    @Option(names = "--read", defaultValue = "auto", paramLabel = "MODE",
            description = "mmap, pread or auto (default): how bytes of files are brought in.")
    private ReadMode readMode;

    /** The batches that were asked for, from the place on that they were asked from. */
    BatchSampler batches(SampleSource source) {
        check("--batch", batch, 1);
        check("--epoch", epoch, 0);
        check("--skip", skip, 0);
        long size = source.dataset().size();
        Sampler sampler = order.sequential ? Sampler.sequential(size) : Sampler.shuffled(size, order.seed);
        return valid(() -> {
            BatchSampler all = BatchSampler.of(sampler, batch, new Shard(rank, world, tail), dropLast)
                    .withDataset(source.dataset().fingerprint()).startingAt(epoch, 0);
            return skip == 0 ? all : all.resume(all.stateAfter(skip - 1));
        });
    }

    /** The settings of a loader of those batches, without a device. */
    DataLoaderBuilder loader(SampleSource source, BatchSampler batches) {
        DataLoaderBuilder builder = DataLoader.of(source.dataset()).sampler(batches.sampler())
                .collator(source.collator()).batchSize(batches.batchSize()).shard(batches.shard())
                .dropLast(batches.dropLast())
                .resume(batches.startState()).readMode(readMode).workers(workers());
        if (prefetch != null) {
            check("--prefetch", prefetch, 1);
            builder.prefetch(prefetch);
        }
        return builder;
    }

    /** Opens what the options describe; that they contradict each other or the store is wrong usage. */
    <T> T valid(Supplier<T> opener) {
        try {
            return opener.get();
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    void check(String option, long found, long least) {
        if (found < least) {
            throw wrong(option + ": found " + found + ", expected at least " + least);
        }
    }

    ParameterException wrong(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    int workers() {
        if (workers == null) {
            return Math.clamp(Runtime.getRuntime().availableProcessors() - 1, 1, 4);
        }
        check("--workers", workers, 0);
        return workers;
    }

    long skip() {
        return skip;
    }

    /** The batches from here to the end of the epoch, or a whole one where nothing is left of it. */
    static long restOfEpoch(BatchSampler batches) {
        long start = batches.startState().epoch();
        long rest = batches.batchesInEpoch(start);
        return rest > 0 ? rest : batches.batchesInEpoch(start + 1);
    }

    /** What is given and in which order, as JSON writers take it. */
    Map<String, Object> fields(SampleSource source, BatchSampler batches) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("store", source.path().toString());
        fields.put("kind", source.kind());
        fields.put("samples_in_epoch", source.dataset().size());
        fields.putAll(source.cut());
        fields.put("batch", batch);
        fields.put("batches_in_epoch", batches.batchesInEpoch(batches.startState().epoch() + 1));
        fields.put("shuffled", !order.sequential);
        fields.put("seed", order.sequential ? null : order.seed);
        fields.put("rank", rank);
        fields.put("world", world);
        fields.put("read", readMode.toString());
        return fields;
    }

    /** The same for people. */
    String text(SampleSource source, BatchSampler batches) {
        return "store    " + source.path() + " (" + source.kind() + "): " + source.text() + ", "
                + (order.sequential ? "in order" : "shuffled with seed " + order.seed) + "\n"
                + "batch    " + Quantity.count(batch, "sample") + ", "
                + Quantity.count(batches.batchesInEpoch(batches.startState().epoch() + 1), "batch", "batches")
                + " an epoch" + (world == 1 ? "" : ", rank " + rank + " of " + world) + "\n";
    }
}
