// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.dataset.Dataset;
import io.penstock.io.ReadMode;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.TensorSpec;
import io.penstock.sampling.BatchPlan;
import io.penstock.sampling.BatchSampler;
import io.penstock.state.LoaderState;
import io.penstock.text.NumberText;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "explain",
        sortOptions = false,
        abbreviateSynopsis = true,
        description = "Prints what a step of a run trained on: each row's sample, its place in the order, its name, and"
                + " its text. With --losses, what the worst steps of a trainer's log share.",
        footer = {"", "Example: penstock explain out --window 1024 --batch 32 --seed 42 --step 48210",
            "Example: penstock explain out --window 1024 --batch 32 --losses log.csv",
            "", "Takes the options of the run: those of 'batches' and 'stream'. A step of a store is computed, not"
                + " replayed, however far it is. Token ids are decoded by --encoding or --vocabulary: name the one that"
                + " made them. With --json an object with: step, epoch, rank, world, and rows (row, sample, position,"
                + " name, key, valid, text); of --losses with: worst (step, loss, median, deviations), shared (trait,"
                + " value, worst_rows, other_rows, worst_steps, p), and what was compared.",
            "", "--losses takes the rows of all ranks of --world, or of --rank if it is given. It compares stores,"
                + " files, folders of keys, keys and documents, lengths, and 64 equal ranges of each store. p is how"
                + " often steps chosen at random share any trait as strongly; traits with p up to 0.05 are listed."})
final class ExplainCommand implements Callable<Integer> {

    private static final Set<String> IDS = Set.of("input_ids", "tokens");
    private static final Set<DType> ID_TYPES = EnumSet.of(DType.U16, DType.U32, DType.I32, DType.I64);

    @Mixin
    private Report report;

    @Parameters(arity = "0..*", paramLabel = "STORE", description = PlanOptions.STORES)
    private List<String> names = List.of();

    @Option(names = "--step", paramLabel = "N",
            description = "The step to explain, from 0: counted from the start of --epoch, or with --state from there.")
    private @Nullable Long givenStep;
    private long step;

    @Option(names = "--row", paramLabel = "R", description = "Only this row of the batch, from 0.")
    private @Nullable Integer onlyRow;

    @Mixin
    private WorstSteps worstSteps;

    @Option(names = "--chars", paramLabel = "N", defaultValue = "200",
            description = "Characters of a text to print; default: ${DEFAULT-VALUE}.")
    private int chars;

    @Mixin
    private SourceOptions sources;

    @Mixin
    private SampleOptions samples;

    @Mixin
    private PlanOptions plan;

    @Option(names = "--state", paramLabel = "FILE",
            description = "Count steps from the state in FILE, which is not written; also s3://BUCKET/KEY.")
    private @Nullable String state;

    @Mixin
    private StoreOptions storeOptions;

    @Override
    public Integer call() throws IOException {
        if (worstSteps.isGiven() && (givenStep != null || onlyRow != null)) {
            throw new UsageException("--losses: found with --step or --row, expected one of them");
        }
        step = givenStep == null ? 0 : givenStep;
        UsageException.requireAtLeast(0, "--step", step);
        UsageException.requireAtLeast(0, "--chars", chars);
        try (SampleSource source = sources.open(names, samples, storeOptions, plan)) {
            if (source.dataset().arrivals().isPresent()) {
                throw new UsageException("explain: found a stream, expected stores: the records of a stream that have"
                        + " passed are not kept");
            }
            BatchSampler from = plan.batches(source);
            if (state != null) {
                from = LoaderState.read(storeOptions.remote().locate(state)).resume(from);
            }
            BatchSampler batches = from;
            if (worstSteps.isGiven()) {
                worstSteps.print(source, names, batches, plan.ranks(), report);
                return ExitCode.SUCCESS;
            }
            BatchPlan planned = new BatchPlan(batches.batchSize());
            UsageException.valid(() -> {
                batches.plan(step, planned);
                return planned;
            });
            checkRow(planned.count());
            try (DataLoader loader = UsageException.valid(
                            plan.loader(source, PlanOptions.fromBatch(batches, step)).workers(0).readAhead(0)
                                    .readMode(ReadMode.MMAP)::open);
                    Batch batch = loader.next()) {
                print(source, batches, planned, batch);
            }
        }
        return ExitCode.SUCCESS;
    }

    private void checkRow(int count) {
        if (onlyRow != null && (onlyRow < 0 || onlyRow >= count)) {
            throw new UsageException("--row: found " + onlyRow + ", expected 0 to " + (count - 1));
        }
    }

    private void print(SampleSource source, BatchSampler batches, BatchPlan planned, Batch batch) throws IOException {
        boolean hasIds = batch.fields().stream().anyMatch(ExplainCommand::isIds);
        Tokenizer tokenizer = hasIds ? sources.tokenizer() : null;
        List<Map<String, @Nullable Object>> rows = new ArrayList<>();
        for (int row = 0; row < batch.count(); row++) {
            if (onlyRow == null || onlyRow == row) {
                long sample = batch.sample(row);
                rows.add(Json.members("row", row, "sample", sample, "position", planned.position(row),
                        "name", source.dataset().name(sample), "key", key(source.dataset(), sample),
                        "valid", row < batch.valid(), "text", text(batch, row, tokenizer)));
            }
        }
        if (report.isJson()) {
            report.print(Json.members("step", step, "epoch", batch.epoch(), "rank", batches.shard().rank(),
                    "world", batches.shard().worldSize(), "rows", rows));
            return;
        }
        report.printLine("step " + step + ", epoch " + batch.epoch() + ", rank " + batches.shard().rank() + " of "
                + batches.shard().worldSize() + ": " + NumberText.count(batch.count(), "sample"));
        for (Map<String, @Nullable Object> row : rows) {
            report.printLine(line(row));
        }
    }

    private static String line(Map<String, @Nullable Object> row) {
        String sample = "sample " + row.get("sample");
        StringBuilder line = new StringBuilder("  row " + row.get("row") + ": " + sample + " at position "
                + row.get("position"));
        if (!sample.equals(row.get("name"))) {
            line.append(", ").append(row.get("name"));
        } else if (row.get("key") != null && !String.valueOf(row.get("sample")).equals(row.get("key"))) {
            line.append(", key ").append(row.get("key"));
        }
        if (Boolean.FALSE.equals(row.get("valid"))) {
            line.append(", without weight");
        }
        return line.append(row.get("text") == null ? "" : "\n    " + Json.write(row.get("text"))).toString();
    }

    private static boolean isIds(TensorSpec field) {
        return field.rank() == 2 && IDS.contains(field.name()) && ID_TYPES.contains(field.dtype());
    }

    /** What the sample keeps when data are added; null if it keeps nothing. */
    private static @Nullable String key(Dataset dataset, long sample) {
        try {
            return dataset.key(sample);
        } catch (UnsupportedOperationException _) {
            return null;
        }
    }

    /** The text of a row: of its tokens, or of its first field that is text; null if it has none. */
    private @Nullable String text(Batch batch, int row, @Nullable Tokenizer tokenizer) {
        for (TensorSpec field : batch.fields()) {
            if (tokenizer != null ? isIds(field) : field.rank() == 2 && field.dtype() == DType.U8) {
                String text = tokenizer != null ? decoded(batch, field, row, tokenizer) : text(batch, field, row);
                if (text != null) {
                    return text.substring(0, text.offsetByCodePoints(0,
                            Math.min(chars, text.codePointCount(0, text.length()))));
                }
            }
        }
        return null;
    }

    private static @Nullable String decoded(Batch batch, TensorSpec field, int row, Tokenizer tokenizer) {
        MemorySegment values = batch.tensor(field.name()).segment();
        int length = Math.toIntExact(field.dim(1));
        int[] ids = new int[length];
        for (int i = 0; i < length; i++) {
            long at = (long) row * length + i;
            ids[i] = switch (field.dtype()) {
                case U16 -> Short.toUnsignedInt(values.getAtIndex(LittleEndian.I16, at));
                case U32, I32 -> values.getAtIndex(LittleEndian.I32, at);
                default -> (int) values.getAtIndex(LittleEndian.I64, at);
            };
        }
        try {
            return new String(tokenizer.decode(ids), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            return "(" + e.getMessage() + ")";
        }
    }

    private static @Nullable String text(Batch batch, TensorSpec field, int row) {
        MemorySegment values = batch.tensor(field.name()).segment();
        long length = field.dim(1);
        while (length > 0 && values.get(ValueLayout.JAVA_BYTE, row * field.dim(1) + length - 1) == 0) {
            length--;                                   // padding
        }
        ByteBuffer bytes = values.asSlice(row * field.dim(1), length).asByteBuffer();
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString();
        } catch (CharacterCodingException _) {
            return null;
        }
    }
}
