// SPDX-License-Identifier: Apache-2.0
package io.penstock.sampling;

import static io.penstock.json.Json.members;

import io.penstock.collate.BatchVectors;
import io.penstock.collate.PackingVectors;
import io.penstock.internal.SplitMix64;
import io.penstock.json.Json;
import io.penstock.state.EditVectors;
import io.penstock.state.LoaderState;
import io.penstock.stream.StreamVectors;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;

/** Makes the vectors of the port specification; {@code main} writes them to a folder. */
final class SpecVectors {

    private static final long[] SIZES = {1, 2, 3, 7, 31, 32, 33, 100, 1000, 1023, 1024, 1025, 1056, 1057, 65_536,
        1_000_003, 4_294_967_296L, 1_000_000_000_000L, (1L << 53) - 1, 94906267L * 94906267, 94906267L * 94906267 + 1,
        (1L << 62) - 1, 1L << 62};

    /** The first three have published hashes. */
    private static final List<String> STEPS = List.of("", "a", "foobar", "penstock.crop", "penstock.substitute",
            "Gr\u00F6\u00DFe", "\uD83D\uDE00 \u0000", "color jitter");

    private SpecVectors() {
    }

    public static void main(String[] arguments) throws IOException {
        Path folder = Path.of(arguments[0]);
        Files.writeString(folder.resolve("permutation.json"), lines(permutation()));
        Files.writeString(folder.resolve("sharding.json"), lines(sharding()));
        Files.writeString(folder.resolve("state.json"), lines(state()));
        Files.writeString(folder.resolve("edits.json"), lines(EditVectors.edits()));
        Files.writeString(folder.resolve("ledger.json"), lines(EditVectors.ledger(
                Files.createTempDirectory("penstock-ledger"))));
        Files.writeString(folder.resolve("samplers.json"), lines(SamplerVectors.samplers()));
        Files.writeString(folder.resolve("mixtures.json"), lines(SamplerVectors.mixtures()));
        Files.writeString(folder.resolve("batching.json"), lines(BatchingVectors.batching()));
        Files.writeString(folder.resolve("packing.json"), lines(PackingVectors.packing()));
        Files.writeString(folder.resolve("streams.json"), lines(StreamVectors.streams()));
        Files.writeString(folder.resolve("windows.json"), lines(BatchVectors.windows()));
        Files.writeString(folder.resolve("slab.json"), lines(BatchVectors.slab()));
        Files.writeString(folder.resolve("randomness.json"), lines(randomness()));
    }

    /** Each case on a line of its own: compact, and still fit for a diff. */
    private static String lines(Map<String, Object> sections) {
        StringBuilder text = new StringBuilder("{");
        String separator = "\n";
        for (Map.Entry<String, Object> section : sections.entrySet()) {
            text.append(separator).append(Json.write(section.getKey())).append(": [");
            String next = "\n";
            for (Object item : (List<?>) section.getValue()) {
                text.append(next).append("  ").append(Json.write(item));
                next = ",\n";
            }
            text.append("\n]");
            separator = ",\n";
        }
        return text.append("\n}\n").toString();
    }

    static Map<String, Object> permutation() {
        List<Object> generators = new ArrayList<>();
        List<Object> orders = new ArrayList<>();
        List<Object> digests = new ArrayList<>();
        for (long seed : new long[] {0, 1, 42, -1, Long.MIN_VALUE, 0x0123456789ABCDEFL}) {
            SplitMix64 generator = new SplitMix64(seed);
            List<String> outputs = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                outputs.add(hex(generator.next()));
            }
            generators.add(members("seed", hex(seed), "outputs", outputs));
        }
        SplittableRandom random = new SplittableRandom(1);
        for (long size : SIZES) {
            for (int variant = 0; variant < 2; variant++) {
                long seed = variant == 0 ? 0 : random.nextLong();
                long epoch = variant == 0 ? 0 : random.nextLong(1000);
                Permutation order = new Permutation(size, seed, epoch);
                List<Long> positions = positions(size, random);
                orders.add(members("size", size, "seed", hex(seed), "epoch", epoch,
                        "a", order.a(), "b", order.b(),
                        "keys", order.keys().stream().map(SpecVectors::hex).toList(),
                        "positions", positions, "samples", positions.stream().map(order::at).toList()));
                if (size <= 65_536) {
                    digests.add(members("size", size, "seed", hex(seed), "epoch", epoch, "sha256", digest(order)));
                }
            }
        }
        return members("splitmix64", generators, "permutations", orders, "all_samples", digests);
    }

    private static List<Long> positions(long size, SplittableRandom random) {
        List<Long> positions = new ArrayList<>();
        for (long p = 0; p < Math.min(size, 33); p++) {
            positions.add(p);
        }
        if (size > 33) {
            for (int i = 0; i < 20; i++) {
                positions.add(random.nextLong(size));
            }
            positions.add(size / 2);
            positions.add(size - 2);
            positions.add(size - 1);
        }
        return positions;
    }

    private static String digest(Permutation order) {
        ByteBuffer bytes = ByteBuffer.allocate((int) order.size() * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long p = 0; p < order.size(); p++) {
            bytes.putLong(order.at(p));
        }
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    static Map<String, Object> sharding() {
        List<Object> cases = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(2);
        while (cases.size() < 150) {
            long size = random.nextInt(1, 60);
            BatchSampler run = randomRun(random, size, random.nextBoolean() ? 0 : random.nextLong(size));
            if (run != null) {
                long first = run.startEpoch();
                long end = run.firstBatchOf(first + 2);
                cases.add(describe(run, numbers(0, Math.min(end + 1, 40))));
            }
        }
        long trillion = 1_000_000_000_000L;
        for (int i = 0; i < 20; i++) {
            BatchSampler run = null;
            while (run == null) {
                run = randomRun(random, trillion, random.nextLong(trillion));
            }
            long epoch = run.startEpoch();
            long next = run.firstBatchOf(epoch + 1);
            cases.add(describe(run, List.of(0L, 1L, next - 1, next, next + 1, random.nextLong(1L << 40))));
        }
        return members("runs", cases);
    }

    private static List<Long> numbers(long from, long to) {
        List<Long> numbers = new ArrayList<>();
        for (long n = from; n < to; n++) {
            numbers.add(n);
        }
        return numbers;
    }

    private static BatchSampler randomRun(SplittableRandom random, long size, long position) {
        Sampler sampler = random.nextInt(3) == 0
                ? Sampler.sequential(size)
                : Sampler.shuffled(size, random.nextLong());
        int world = random.nextInt(1, 9);
        Shard shard = new Shard(random.nextInt(world), world, TailPolicy.values()[random.nextInt(3)]);
        try {
            int batchSize = random.nextInt(1, 9);
            boolean dropLast = random.nextInt(3) == 0;
            BatchSampler batches = BatchSampler.of(sampler, batchSize, shard);
            return (dropLast ? batches.droppingLast() : batches).startingAt(random.nextInt(4), position);
        } catch (IllegalArgumentException noBatch) {
            return null;
        }
    }

    private static Map<String, Object> describe(BatchSampler run, List<Long> numbers) {
        Map<String, Object> description = describe(run);
        long epoch = run.startEpoch();
        description.put("batches_in_first_epochs", List.of(run.batchesInEpoch(epoch), run.batchesInEpoch(epoch + 1)));
        BatchPlan plan = new BatchPlan(run.batchSize());
        List<Object> batches = new ArrayList<>();
        for (long n : numbers) {
            run.plan(n, plan);
            List<Long> samples = new ArrayList<>();
            for (int i = 0; i < plan.count(); i++) {
                samples.add(plan.sample(i));
            }
            batches.add(members("number", n, "epoch", plan.epoch(), "index", plan.indexInEpoch(),
                    "first_position", plan.firstPosition(), "valid", plan.valid(), "samples", samples));
        }
        description.put("batches", batches);
        return description;
    }

    private static Map<String, Object> describe(BatchSampler run) {
        LoaderState start = LoaderState.before(run);
        boolean shuffled = start.sampler().startsWith("feistel-8");
        return members("sampler", shuffled ? "shuffled" : "sequential", "size", run.sampler().size(),
                "seed", start.seed(), "world", run.shard().worldSize(), "rank", run.shard().rank(),
                "tail", run.shard().tail().name().toLowerCase(Locale.ROOT),
                "batch_size", run.batchSize(), "drop_last", run.dropsLast(),
                "start_epoch", start.epoch(), "start_position", start.position());
    }

    static Map<String, Object> state() {
        List<Object> texts = new ArrayList<>();
        Sampler mixture = Mixture.of(100, new Mixture.Source(Sampler.sequential(10), 0.7),
                new Mixture.Source(Sampler.shuffled(200, 3), 0.3)).byChance(-2);
        Sampler subset = Sampler.subset(new long[] {4, 4, 0, 9, 7}, 10, Sampler.withReplacement(5, 1000, 3));
        for (LoaderState state : List.of(
                new LoaderState(0, 0, 0, "sequential size=1", ""),
                new LoaderState(0, 96, -7, "feistel-8 size=1000 seed=-7", "corpus"),
                new LoaderState(1L << 62, (1L << 62) - 1, Long.MIN_VALUE, "feistel-8 size=4611686018427387904 seed="
                        + Long.MIN_VALUE, "quote \" backslash \\ slash / tab \t feed \n bell \u0007 delete \u007f é €"),
                new LoaderState(3, 17, Long.MAX_VALUE, "s", "\uD83D\uDE00"),
                new LoaderState(2, 48, mixture.seed(), mixture.fingerprint(), "concatenated:[a][b]"),
                new LoaderState(0, 999, subset.seed(), subset.fingerprint(), ""))) {
            texts.add(members("epoch", state.epoch(), "position", state.position(), "seed", state.seed(),
                    "sampler", state.sampler(), "dataset", state.dataset(), "text", state.toJson()));
        }
        List<Object> refused = new ArrayList<>();
        String good = new LoaderState(1, 2, 3, "s", "d").toJson();
        for (String bad : List.of("", "[]", "{}", "null", good + "}", good.substring(1), good.replace(":1,", ":2,"),
                good.replace("\"epoch\":1,", ""), good.replace("\"epoch\":1", "\"epoch\":1.0"),
                good.replace("\"epoch\":1", "\"epoch\":\"1\""), good.replace("\"epoch\":1", "\"epoch\":-1"),
                good.replace("\"epoch\":1", "\"epoch\":4611686018427387905"),
                good.replace("\"epoch\":1", "\"epoch\":true"), good.replace("\"epoch\":1", "\"epoch\":01"),
                good.replace("\"seed\":3", "\"seed\":9223372036854775808"),
                good.replace("\"seed\":3", "\"seed\":3,\"seed\":3"), good.replace("\"s\"", "null"),
                good.replace("\"seed\"", "\"ranks\":8,\"seed\""), "\uFEFF" + good,
                good.replace("\"position\":2", "\"position\":4611686018427387904"),
                good.replace("\"epoch\":1", "\"epoch\":1e0"), good.replace("\"epoch\":1", "\"epoch\":+1"),
                good.replace("\"s\"", "\"\\ud83d\""), good.replace("\"s\"", "\"\\ude00\\ud83d\""),
                good.replace("\"s\"", "\"a\tb\""), good.replace("\"s\"", "\"\\x41\""),
                good.replace("\"seed\":3", "\"seed\":3,\"\\u0073eed\":3"), good + "\u00A0", "[" + good + "]")) {
            refused.add(bad);
        }
        List<Object> read = new ArrayList<>();
        for (String other : List.of(good + "\n", "\t\r\n " + good.replace(",", " ,\n").replace(":", ": "),
                "{\"dataset\":\"d\",\"sampler\":\"s\",\"seed\":3,\"position\":2,\"epoch\":1,"
                        + "\"penstock_state\":1}",
                good.replace("\"epoch\":1,\"position\":2", "\"epoch\":-0,\"position\":0"),
                good.replace("\"seed\":3", "\"seed\":-0"),
                good.replace("\"seed\"", "\"\\u0073eed\""),
                good.replace("\"s\"", "\"\\ud83d\\uDE00 \\/ \\u002F / \\u000A\\u007f\\u0000\\u00e9\""))) {
            read.add(members("text", other, "written", LoaderState.fromJson(other).toJson()));
        }
        List<String> refusedBytes = new ArrayList<>();
        int text = good.indexOf("\"s\"") + 1;
        for (String wrong : List.of("ff", "c0af", "eda0bdedb880", "f4908080", "e282", "80")) {
            refusedBytes.add(bytes(good.substring(0, text)) + wrong + bytes(good.substring(text + 1)));
        }
        refusedBytes.add("efbbbf" + bytes(good));
        refusedBytes.add(bytes(good.substring(0, text)) + "e282");
        List<Object> after = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(3);
        while (after.size() < 150) {
            long size = random.nextInt(5) == 0 ? random.nextLong(1, 1L << 50) : random.nextInt(1, 60);
            BatchSampler run = randomRun(random, size, random.nextBoolean() ? 0 : random.nextLong(size));
            if (run != null) {
                long epoch = run.startEpoch();
                List<Object> states = new ArrayList<>();
                for (long n : List.of(0L, 1L, run.firstBatchOf(epoch + 1), run.firstBatchOf(epoch + 2) - 1,
                        run.firstBatchOf(epoch + 2), random.nextLong(run.firstBatchOf(epoch + 4)))) {
                    LoaderState state = LoaderState.after(run, n);
                    states.add(List.of(n, state.epoch(), state.position()));
                }
                Map<String, Object> description = describe(run);
                description.put("number_epoch_position", states);
                after.add(description);
            }
        }
        return members("texts", texts, "read", read, "refused", refused, "refused_bytes", refusedBytes,
                "after", after);
    }

    private static String bytes(String text) {
        return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    static Map<String, Object> randomness() {
        List<Object> steps = new ArrayList<>();
        for (String name : STEPS) {
            steps.add(members("name", name, "step", hex(KeyedRandom.step(name))));
        }
        List<Object> words = new ArrayList<>();
        List<Object> draws = new ArrayList<>();
        SplittableRandom random = new SplittableRandom(4);
        for (int i = 0; i < 40; i++) {
            long seed = i == 0 ? 0 : random.nextLong();
            long epoch = i == 0 ? 0 : random.nextLong(1000);
            long position = i == 0 ? 0 : i == 1 ? (1L << 62) - 1 : random.nextLong(1L << random.nextInt(1, 62));
            String name = STEPS.get(i % STEPS.size());
            long step = KeyedRandom.step(name);
            KeyedRandom keyed = new KeyedRandom(seed, epoch);
            keyed.select(position, step);
            List<String> outputs = new ArrayList<>();
            for (int k = 0; k < 4; k++) {
                outputs.add(hex(keyed.nextLong()));
            }
            words.add(members("seed", hex(seed), "epoch", epoch, "position", position, "step", name,
                    "words", outputs));
            keyed.select(position, step);
            long bound = i == 0 ? 1 : i == 1 ? Long.MAX_VALUE : random.nextLong(1L << random.nextInt(1, 63)) + 1;
            draws.add(members("seed", hex(seed), "epoch", epoch, "position", position, "step", name,
                    "bound", bound, "below_bound", keyed.nextLong(bound),
                    "double_times_2_53", (long) (keyed.nextDouble() * 0x1p53),
                    "float_times_2_24", (long) (keyed.nextFloat() * 0x1p24),
                    "bit", keyed.nextBoolean() ? 1 : 0));
            for (int k = 0; k < 5; k++) {
                random.nextInt();            // vectors that were removed took these; the others keep their values
            }
        }
        return members("steps", steps, "words", words, "draws", draws, "runs", drawn(random));
    }

    /** What each sample of a batch draws first: surplus ones, and those of runs that start within an epoch. */
    private static List<Object> drawn(SplittableRandom random) {
        List<Object> runs = new ArrayList<>();
        while (runs.size() < 30) {
            long size = random.nextInt(1, 20);
            BatchSampler run = randomRun(random, size, random.nextBoolean() ? 0 : random.nextLong(size));
            if (run == null) {
                continue;
            }
            long seed = random.nextLong();
            String name = STEPS.get(runs.size() % STEPS.size());
            Map<String, Object> description = describe(run);
            description.put("loader_seed", seed);
            description.put("step", name);
            BatchPlan plan = new BatchPlan(run.batchSize());
            List<Object> batches = new ArrayList<>();
            for (long n = 0; n < run.firstBatchOf(run.startEpoch() + 2); n++) {
                run.plan(n, plan);
                List<Long> positions = new ArrayList<>();
                List<String> words = new ArrayList<>();
                KeyedRandom keyed = new KeyedRandom(seed, plan.epoch());
                for (int row = 0; row < plan.count(); row++) {
                    positions.add(plan.position(row));
                    keyed.select(plan.position(row), KeyedRandom.step(name));
                    words.add(hex(keyed.nextLong()));
                }
                batches.add(members("number", n, "epoch", plan.epoch(), "positions", positions, "first_words", words));
            }
            description.put("batches", batches);
            runs.add(description);
        }
        return runs;
    }

    private static String hex(long bits) {
        return "0x" + HexFormat.of().toHexDigits(bits);
    }
}
