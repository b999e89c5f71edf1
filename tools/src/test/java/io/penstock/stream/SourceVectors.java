// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.collate.StackAndPad;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.format.webdataset.WebDatasetWriter;
import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.state.LoaderState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The vectors of sources in {@code docs/spec/streams.md}. */
final class SourceVectors {

    /** Uses a folder for files. */
    private interface Work {

        void run(Path folder) throws IOException;
    }

    private SourceVectors() {
    }

    private static void inFolder(Work work) {
        try {
            Path folder = Files.createTempDirectory("vectors");
            try {
                work.run(folder);
            } finally {
                Folder.delete(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a partition gives, one record after the other: {@code each} runs behind each. */
    private static void readAll(StreamSource source, int partition, RecordTaker each) throws IOException {
        try (PartitionReader reader = source.open(partition, ""); RecordBuffer into = new RecordBuffer()) {
            while (reader.poll(into) == PartitionReader.Found.RECORD) {
                each.take(into.record(into.count() - 1), reader.cursor());
            }
        }
    }

    private interface RecordTaker {

        void take(MemorySegment record, String cursor);
    }

    static List<Object> mixtures() {
        var random = new SplittableRandom(12);
        List<Object> cases = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                int count = random.nextInt(1, 5);
                int partitions = i % 4 == 3 ? 2 : 1;
                int partition = random.nextInt(partitions);
                List<int[]> sizes = Stream.generate(() -> IntStream.range(0, random.nextInt(partitions, 4))
                        .map(_ -> random.nextInt(30)).toArray()).limit(count).toList();
                int[] weights = IntStream.range(0, count).map(s -> s == 0 ? 1 : random.nextInt(8)).toArray();
                MixtureSource.Part[] parts = IntStream.range(0, count).mapToObj(s -> new MixtureSource.Part(
                        new NumberSource(sizes.get(s)), weights[s])).toArray(MixtureSource.Part[]::new);
                List<String> cursors = new ArrayList<>();
                readAll(MixtureSource.of(parts).partitioned(partitions), partition, (_, cursor) -> cursors.add(cursor));
                cases.add(Json.members("sources", sizes.stream().map(of -> IntStream.of(of).boxed().toList()).toList(),
                        "weights", IntStream.of(weights).boxed().toList(), "partitions", partitions, "partition",
                        partition, "cursors", cursors));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return cases;
    }

    static List<Object> tars() {
        var random = new SplittableRandom(13);
        List<Object> cases = new ArrayList<>();
        inFolder(folder -> {
            List<Location> all = new ArrayList<>();
            try (WebDatasetWriter writer = WebDatasetWriter.create(folder.resolve("t-%d.tar"), 1, Long.MAX_VALUE)) {
                for (int shard = 0; shard < 9; shard++) {
                    writer.write("k" + shard, Map.of("n", MemorySegment.ofArray(new byte[] {(byte) shard})));
                }
                writer.commit().forEach(path -> all.add(Location.of(path)));
            }
            for (int i = 0; i < 12; i++) {
                int shards = random.nextInt(1, 10);
                int partitions = random.nextInt(1, shards + 1);
                int passes = random.nextInt(1, 4);
                long seed = random.nextLong();
                WebDatasetSource source = WebDatasetSource.of(all.subList(0, shards), "n").passes(passes)
                        .partitioned(partitions);
                List<Object> order = new ArrayList<>();
                for (int partition = 0; partition < partitions; partition++) {
                    List<Integer> of = new ArrayList<>();
                    readAll(i % 3 == 0 ? source : source.shuffled(seed), partition,
                            (record, _) -> of.add((int) record.get(JAVA_BYTE, 0)));
                    order.add(of);
                }
                Map<String, @Nullable Object> members = Json.members("shards", shards, "partitions", partitions,
                        "passes", passes);
                if (i % 3 != 0) {
                    members.put("seed", seed);
                }
                members.put("order", order);
                cases.add(members);
            }
        });
        return cases;
    }

    private static DataLoaderBuilder loader(StreamDataset lines, int batchSize) {
        return DataLoader.builder(lines).collator(StackAndPad.cutTo(64)).workers(0).batchSize(batchSize);
    }

    /** The states of runs over files of lines, of which some end in empty lines, and some without a line feed. */
    static List<Object> lines() {
        var random = new SplittableRandom(15);
        List<Object> cases = new ArrayList<>();
        inFolder(folder -> {
            for (int i = 0; i < 16; i++) {
                List<String> texts = new ArrayList<>();
                List<Path> files = new ArrayList<>();
                for (int file = 0; file < 1 + i % 3; file++) {
                    texts.add(lines(file, random) + List.of("", "\n\n\r\n").get(random.nextInt(2)));
                    files.add(Files.writeString(folder.resolve(i + "-" + file + ".jsonl"), texts.getLast()));
                }
                long seed = random.nextLong();
                int window = random.nextInt(1, 9);
                int batchSize = random.nextInt(1, 6);
                List<Object> states = new ArrayList<>();
                try (StreamDataset stream = StreamDataset.builder(LineSource.of(files.toArray(Path[]::new)))
                        .field("json").shuffle(seed, window).open();
                        DataLoader loader = loader(stream, batchSize).open()) {
                    while (loader.hasNext()) {
                        loader.next().close();
                        states.add(StreamVectors.members(loader.state().lanes().getFirst()));
                    }
                }
                cases.add(Json.members("files", texts, "window", window, "seed", seed, "batch_size", batchSize,
                        "states", states));
            }
        });
        return cases;
    }

    /**
     * States of runs over files of lines, and what follows them; half of the files have grown since, and those of the
     * last cases within their last line.
     */
    static List<Object> resumes() {
        var random = new SplittableRandom(14);
        List<Object> cases = new ArrayList<>();
        inFolder(folder -> {
            for (int i = 0; i < 40; i++) {
                int lanes = i % 3 == 2 ? random.nextInt(2, 4) : 1;
                List<String> texts = new ArrayList<>();
                List<Path> files = new ArrayList<>();
                for (int file = 0; file < lanes + random.nextInt(3); file++) {
                    String text = lines(file, random);
                    texts.add(i < 24 ? text : text.strip());
                    files.add(Files.writeString(folder.resolve(i + "-" + file + ".jsonl"), texts.getLast()));
                }
                StreamDataset.Builder settings = StreamDataset.builder(LineSource.of(files.toArray(Path[]::new)))
                        .field("json").lanes(lanes);
                if (i % 4 > 0) {
                    settings.shuffle(random.nextLong(), random.nextInt(1, 20));
                }
                int batchSize = random.nextInt(1, 6);
                LoaderState state;
                try (StreamDataset stream = settings.open(); DataLoader loader = loader(stream, batchSize).open()) {
                    int most = i < 12 ? 6 : i < 24 ? 25 : i % 2 == 0 ? 60 : 12;
                    for (int batches = random.nextInt(most); batches > 0 && loader.hasNext(); batches--) {
                        loader.next().close();
                    }
                    state = loader.state();
                }
                for (int file = 0; i >= 12 && file < files.size(); file++) {
                    String more = (i < 24 ? texts.get(file).endsWith("\n") ? "" : "\n" : List.of("\n", "more\n")
                            .get(random.nextInt(2))) + lines(file, random);
                    texts.set(file, texts.get(file) + more);
                    Files.writeString(files.get(file), more, StandardOpenOption.APPEND);
                }
                try (StreamDataset stream = settings.open();
                        DataLoader loader = loader(stream, batchSize).resume(state).open()) {
                    List<String> records = new ArrayList<>();
                    while (loader.hasNext()) {
                        try (Batch batch = loader.next()) {
                            MemorySegment rows = batch.tensor("json").segment();
                            long width = rows.byteSize() / batch.count();
                            for (int row = 0; row < batch.count(); row++) {
                                records.add(new String(rows.asSlice(row * width, width).toArray(JAVA_BYTE),
                                        StandardCharsets.UTF_8).replace("\0", ""));
                            }
                        }
                    }
                    cases.add(Json.members("files", texts, "state", state.toJson(), "records", records));
                } catch (UncheckedIOException refused) {
                    cases.add(Json.members("files", texts, "state", state.toJson(), "records", null));
                }
            }
        });
        return cases;
    }

    private static String lines(int file, SplittableRandom random) {
        StringBuilder text = new StringBuilder();
        int count = random.nextInt(5, 25);
        for (int line = 0; line < count; line++) {
            text.append("{\"zwölf\":[").append(file).append(',').append(line).append("]}")
                    .append(line == count - 1 && random.nextBoolean() ? ""
                            : List.of("\n", "\r\n", "\n\n", "\n\r\n").get(random.nextInt(4)));
        }
        return text.toString();
    }

    static List<Object> spools() {
        List<Object> cases = new ArrayList<>();
        for (List<String> records : List.of(List.<String>of(), List.of(""),
                List.of("water", "", "falls", "x".repeat(70)))) {
            inFolder(folder -> {
                StreamSource once = StreamSource.once("texts", records.stream()
                        .map(text -> MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8))).iterator());
                List<String> cursors = new ArrayList<>();
                readAll(new SpoolSource(once, folder, 1 << 20), 0, (_, cursor) -> cursors.add(cursor));
                byte[] bytes = Files.readAllBytes(folder.resolve("0/00000000000000000000.spool"));
                cases.add(Json.members("records", records.stream()
                        .map(text -> HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8))).toList(),
                        "bytes", HexFormat.of().formatHex(bytes), "cursors", cursors));
            });
        }
        return cases;
    }
}
