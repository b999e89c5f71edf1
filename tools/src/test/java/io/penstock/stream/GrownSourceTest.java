// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Packing;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.DataLoaderBuilder;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.LoaderState;
import io.penstock.stream.MixtureSource.Part;
import io.penstock.tokenize.TokenDocumentSource;
import io.penstock.tokenize.Tokenizer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs over sources that had ended, and have more when they resume: each record is given once, or the run refuses. */
class GrownSourceTest {

    @TempDir
    private Path folder;

    /** A state, and what was given before it. */
    private record Stop<T>(LoaderState state, List<T> given) { }

    private static DataLoaderBuilder loader(StreamDataset stream) {
        return DataLoader.builder(stream).batchSize(3).workers(1);
    }

    /** Reads to the end, and stops before each batch and behind the last one. */
    private static <T> List<Stop<T>> stops(StreamDataset.Builder settings, Function<DataLoaderBuilder,
            DataLoaderBuilder> more, Function<Batch, List<T>> rows) {
        List<Stop<T>> stops = new ArrayList<>();
        List<T> given = new ArrayList<>();
        try (StreamDataset stream = settings.open(); DataLoader loader = more.apply(loader(stream)).open()) {
            while (true) {
                stops.add(new Stop<>(LoaderState.fromJson(loader.state().toJson()), List.copyOf(given)));
                if (!loader.hasNext()) {
                    return stops;
                }
                try (Batch batch = loader.next()) {
                    given.addAll(rows.apply(batch));
                }
            }
        }
    }

    private static List<Long> ids(Batch batch) {
        Tensor ids = batch.tensor("id");
        return IntStream.range(0, batch.valid())
                .mapToObj(row -> NumberSource.id(ids.getLong(2L * row), ids.getLong(2L * row + 1))).toList();
    }

    private static List<String> texts(Batch batch) {
        byte[] bytes = batch.tensor("json").segment().toArray(JAVA_BYTE);
        int width = bytes.length / batch.count();
        return IntStream.range(0, batch.count())
                .mapToObj(row -> new String(bytes, row * width, width, UTF_8).replace("\0", "")).toList();
    }

    /** What a run gives that resumes, behind what was given before. */
    private static <T> List<T> resumed(StreamDataset.Builder settings, Stop<T> stop, Function<DataLoaderBuilder,
            DataLoaderBuilder> more, Function<Batch, List<T>> rows) {
        List<Stop<T>> stops = stops(settings, builder -> more.apply(builder).resume(stop.state), rows);
        List<T> all = new ArrayList<>(stop.given);
        all.addAll(stops.getLast().given);
        return all;
    }

    private static <T> void assertOnce(List<T> expected, List<T> found, Stop<T> stop) {
        assertEquals(new HashSet<>(expected), new HashSet<>(found), () -> stop.state.toJson());
        assertEquals(expected.size(), found.size(), () -> stop.state.toJson());
    }

    @ParameterizedTest
    @CsvSource({"0, false, 1", "0, true, 1", "8, false, 1", "8, true, 1", "100, false, 1", "8, false, 2",
            "1, false, 2"})
    void eachRecordIsGivenOnceFromWhereverTheRunResumes(int window, boolean isLive, int lanes) {
        Function<NumberSource, StreamDataset.Builder> dataset = source -> {
            StreamDataset.Builder settings = source.dataset().lanes(lanes);
            if (isLive) {
                settings.live(Duration.ofSeconds(1)).clock(() -> 0);
            }
            return window == 0 ? settings : settings.shuffle(1, window);
        };
        int[] sizes = {10, 25, 4, 18};
        List<Stop<Long>> stops = stops(dataset.apply(new NumberSource(sizes)), builder -> builder,
                GrownSourceTest::ids);
        assertTrue(lanes > 1 || stops.stream().flatMap(stop -> stop.state.lanes().stream()).anyMatch(lane ->
                lane.log().matches(".*\\dx2 .*=[0-9a-f]{8}")), "no state knows that partition 2 had ended");
        for (Stop<Long> stop : stops) {
            var grown = new NumberSource(30, 30, 30, 30);
            List<Long> all = resumed(dataset.apply(grown), stop, builder -> builder, GrownSourceTest::ids);
            assertOnce(grown.merged(), all, stop);
            assertEquals(stops.getLast().given, resumed(dataset.apply(new NumberSource(sizes)), stop, builder ->
                    builder, GrownSourceTest::ids), "the source is as it was");
        }
    }

    @Test
    void aFileThatWasCompleteMayGrow() throws IOException {
        Path one = Files.writeString(folder.resolve("one.jsonl"), "1a\n1b\n1c\n");
        Path two = Files.writeString(folder.resolve("two.jsonl"), "2a\n2b\n2c\n2d\n2e\n2f\n2g\n");
        Supplier<StreamDataset.Builder> dataset = () -> StreamDataset.builder(LineSource.of(one, two)).field("json")
                .shuffle(5, 100);
        Function<DataLoaderBuilder, DataLoaderBuilder> padded = builder -> builder.collator(StackAndPad.cutTo(8));
        List<Stop<String>> stops = stops(dataset.get(), padded, GrownSourceTest::texts);
        Files.writeString(one, "1d\n1e\n", StandardOpenOption.APPEND);
        for (Stop<String> stop : stops.subList(1, stops.size())) {
            assertOnce(List.of("1a", "1b", "1c", "2a", "2b", "2c", "2d", "2e", "2f", "2g", "1d", "1e"),
                    resumed(dataset.get(), stop, padded, GrownSourceTest::texts), stop);
        }
    }

    @Test
    void aLastLineThatWasGivenAndIsLongerNowIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("one.jsonl"), "a\nb\nc\nd\ne");
        Supplier<StreamDataset.Builder> dataset = () -> StreamDataset.builder(LineSource.of(file)).field("json")
                .shuffle(5, 5);
        Function<DataLoaderBuilder, DataLoaderBuilder> padded = builder -> builder.collator(StackAndPad.cutTo(8));
        List<Stop<String>> stops = stops(dataset.get(), padded, GrownSourceTest::texts);
        Files.writeString(file, "ver\n", StandardOpenOption.APPEND);
        refused(() -> resumed(dataset.get(), stops.get(1), padded, GrownSourceTest::texts));
    }

    private static void refused(Supplier<?> run) {
        var refused = assertThrows(UncheckedIOException.class, run::get);
        assertTrue(refused.getMessage().contains("lane 0, from record ")
                && refused.getMessage().contains("found other records than those that the saved state has read"),
                refused.getMessage());
    }

    @Test
    void aPipeThatHadEndedGoesOnBehindItsSpool() {
        Function<String, StreamDataset.Builder> dataset = text -> StreamDataset.builder(new SpoolSource(
                LineSource.once("pipe", new ByteArrayInputStream(text.getBytes(UTF_8))), folder.resolve("spool"),
                1 << 20)).field("json").shuffle(5, 100);
        Function<DataLoaderBuilder, DataLoaderBuilder> padded = builder -> builder.collator(StackAndPad.cutTo(8));
        List<Stop<String>> stops = stops(dataset.apply("a\nb\nc\nd\ne\nf\ng\nh\n"), padded, GrownSourceTest::texts);
        Stop<String> stop = stops.get(1);
        assertOnce(List.of("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"),
                resumed(dataset.apply("i\nj\n"), stop, padded, GrownSourceTest::texts), stop);
    }

    @Test
    void aMixtureOfASourceThatHadEndedInPartIsRefusedWhereThatMatters() {
        Function<NumberSource, StreamDataset.Builder> dataset = source -> StreamDataset.builder(MixtureSource.of(
                new Part(source, 0.5), new Part(NumberSource.of(1, 500), 0.5))).field("id", DType.I64, 2)
                .shuffle(1, 40);
        List<Stop<Long>> stops = stops(dataset.apply(new NumberSource(60, 5)), builder -> builder,
                GrownSourceTest::ids);
        for (int i = 1; i < stops.size(); i++) {
            Stop<Long> stop = stops.get(i);
            assertEquals(stops.getLast().given, resumed(dataset.apply(new NumberSource(60, 5)), stop, builder ->
                    builder, GrownSourceTest::ids), "the source is as it was");
        }
        refused(() -> resumed(dataset.apply(new NumberSource(60, 50)), stops.get(4), builder -> builder,
                GrownSourceTest::ids));
    }

    @Test
    void sequencesThatWereToldAreNotPackedAnew() throws IOException {
        Path file = folder.resolve("feed.txt");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 60; i++) {
            text.append(i).append(" water".repeat(1 + i % 11)).append('\n');
        }
        Files.writeString(file, text);
        Supplier<StreamDataset.Builder> dataset = () -> StreamDataset.builder(new PackedSource(TokenDocumentSource.of(
                LineSource.of(file), RecordText.WHOLE, Tokenizer.of("gpt2")), 16, Packing.Method.BEST_FIT, 1000))
                .shuffle(3, 8);
        List<LoaderState> states = new ArrayList<>();
        try (PackedStream packed = dataset.get().openPacked(); DataLoader loader = packed(packed).open()) {
            for (int i = 0; i < 3; i++) {
                loader.next().close();
                states.add(loader.state());
            }
        }
        Files.writeString(file, "the longest" + " water".repeat(12) + "\n", StandardOpenOption.APPEND);
        refused(() -> first(dataset.get(), states.get(0)));         // in the first window of sequences
        assertEquals(3, first(dataset.get(), states.get(2)));       // in the second one, which says what it is made of
    }

    private static DataLoaderBuilder packed(PackedStream packed) {
        return DataLoader.builder(packed).batchSize(3).workers(0)
                .collator(PackedLm.of(DType.I64));
    }

    private static int first(StreamDataset.Builder dataset, LoaderState state) {
        try (PackedStream packed = dataset.openPacked(); DataLoader loader = packed(packed).resume(state).open();
                Batch batch = loader.next()) {
            return batch.count();
        }
    }
}
