// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.format.npy.NpyWriter;
import io.penstock.json.Json;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.state.Checkpoint;
import io.penstock.state.LoaderState;
import io.penstock.store.Fixtures;
import io.penstock.store.IfExists;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the command line gives of stores of every format. */
class AnyStoreCommandTest {

    private static final String[] KINDS = {"npz", "safetensors", "hdf5", "arrow", "parquet", "lmdb", "mds",
        "webdataset", "images"};

    @TempDir
    Path folder;

    @TestFactory
    Stream<DynamicTest> everyStoreStreamsOrSaysInOneLineWhatItIsToBeAskedFor() throws Exception {
        return Fixtures.entries(KINDS).map(entry -> DynamicTest.dynamicTest(entry.toString(), () -> {
            CommandRun run = CommandRun.of("batches", entry.path(), "--batch", 4, "--limit", 2, "--json", "--digest",
                    "--skip-incomplete");
            if (run.exitCode() == ExitCode.WRONG_USAGE && run.err().contains("holds tensors")) {
                run = CommandRun.of("batches", entry.path(), "--batch", 4, "--limit", 2, "--json", "--digest");
            }
            if (entry.expect().equals("reject")) {
                // What is damaged behind the part that is looked at may be met later.
                assertTrue(run.exitCode() == ExitCode.BAD_INPUT || run.exitCode() == ExitCode.WRONG_USAGE,
                        run.exitCode() + " " + run.err());
            } else {
                assertTrue(run.exitCode() == 0 || run.err().contains("expected") && run.err().lines().count() == 1,
                        run.exitCode() + " " + run.err());
            }
        }));
    }

    @Test
    void aPathOfHdf5MayBeGivenWithoutItsLeadingSlash() throws Exception {
        Path file = Fixtures.path("hdf5/nested_groups.h5");
        String path;
        try (TensorStore store = TensorStore.open(file)) {
            path = store.tensors().stream().filter(spec -> spec.rank() > 0).findFirst().orElseThrow().name();
        }
        assertTrue(path.startsWith("/"), path);
        CommandRun with = CommandRun.of("batches", file, "--fields", path, "--batch", 2, "--json", "--digest");
        CommandRun without = CommandRun.of("batches", file, "--fields", path.substring(1), "--batch", 2, "--json",
                "--digest");
        assertEquals(0, with.exitCode(), with.err());
        assertEquals(with.out(), without.out());
        CommandRun missing = CommandRun.of("batches", file, "--fields", "none", "--batch", 2);
        assertTrue(missing.err().contains("--fields: found '/none', ") && missing.err().contains(path), missing.err());
    }

    private static List<Map<String, Object>> batches(Object... args) {
        List<Object> all = new ArrayList<>(List.of("batches", "--json"));
        all.addAll(List.of(args));
        CommandRun run = CommandRun.of(all.toArray());
        assertEquals(0, run.exitCode(), run.err());
        return run.out().lines().map(line -> Json.object(Json.parse(line))).toList();
    }

    private static Map<String, String> fields(Map<String, Object> batch) {
        return Json.array(batch.get("fields")).stream().map(Json::object).collect(Collectors.toMap(
                field -> (String) field.get("name"), field -> field.get("dtype") + field.get("shape").toString()));
    }

    @Test
    void fieldsOfRecordsAreChosenByNameAndDecodedByWhatTheyEncodeOrAsTold() {
        Path tar = Fixtures.path("webdataset/compressed.tar.zst");
        Map<String, Object> batch = batches(tar, "--batch", 3, "--limit", 1, "--fields", "jpg,cls", "--image", "24x32")
                .getFirst();
        assertEquals(Map.of("jpg", "u8[3, 24, 32, 3]", "cls", "i64[3]"), fields(batch));
        batch = batches(tar, "--batch", 3, "--limit", 1, "--fields", "jpg", "--decode", "jpg=gray:8x9").getFirst();
        assertEquals(Map.of("jpg", "u8[3, 8, 9, 1]"), fields(batch));
        CommandRun wrong = CommandRun.of("batches", tar, "--fields", "jpg,nothing");
        assertEquals(ExitCode.WRONG_USAGE, wrong.exitCode());
        assertTrue(wrong.err().contains("nothing") && wrong.err().contains("jpg"), wrong.err());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", tar, "--decode", "jpg=nonsense").exitCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "stream", "explain"})
    void aPatternOfTarsIsOneStore(String command) {
        Path pattern = Fixtures.path("webdataset/shard-000000.tar").resolveSibling("shard-{000000..000002}.tar");
        CommandRun run = CommandRun.of(command, pattern, "--fields", "cls", "--batch", 4);
        assertEquals(ExitCode.SUCCESS, run.exitCode(), run.err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"224", "224x", "224x224:exact"})
    void aSizeOfImagesThatIsNoneIsNamed(String size) {
        CommandRun run = CommandRun.of("batches", Fixtures.path("webdataset/compressed.tar.zst"), "--fields", "jpg",
                "--image", size);
        assertEquals(ExitCode.WRONG_USAGE, run.exitCode());
        assertTrue(run.err().contains("--image: found '" + size + "', expected HxW, such as 224x224"), run.err());
    }

    @Test
    void aMissingMemberNamesItsRecordOrIsLeftOut() {
        Path tar = Fixtures.path("webdataset/missing_member.tar");
        CommandRun run = CommandRun.of("batches", tar, "--fields", "txt", "--no-shuffle", "--batch", 5);
        assertEquals(ExitCode.BAD_INPUT, run.exitCode());
        assertTrue(run.err().contains("m02") && run.err().contains("missing_member.tar"), run.err());
        assertTrue(run.err().contains("--skip-incomplete leaves out such records, --fields such columns"), run.err());
        assertEquals(List.of(4L), batches(tar, "--fields", "txt", "--batch", 5, "--skip-incomplete").stream()
                .map(batch -> batch.get("count")).toList());
    }

    @Test
    void listsOfIntegersArePaddedOrTakenAsWindows() {
        Path table = Fixtures.path("arrow/hf_dataset");
        assertEquals(Set.of("input_ids", "attention_mask", "lengths"), fields(batches(table, "--fields", "ids",
                "--tokens-as", "i64", "--limit", 1).getFirst()).keySet());
        assertEquals(Map.of("input_ids", "i32[32, 128]", "labels", "i32[32, 128]"), fields(batches(table, "--fields",
                "tokens", "--tokens-as", "i32", "--limit", 1).getFirst()));
    }

    @Test
    void severalStoresAreTakenOneBehindTheOtherOrMixed() {
        Path a = Fixtures.path("parquet/tokens_none.parquet");
        Path b = Fixtures.path("parquet/tokens_snappy.parquet");
        List<Long> all = samples(batches(a, b, "--fields", "doc_id", "--no-shuffle", "--batch", 50));
        assertEquals(180, all.size());
        assertEquals(179L, all.getLast());
        List<Long> mixed = samples(batches(a, b, "--fields", "doc_id", "--weights", "0.75,0.25", "--draws", 80,
                "--no-shuffle", "--batch", 8));
        assertEquals(80, mixed.size());
        assertEquals(60, mixed.stream().filter(sample -> sample < 90).count());
        assertEquals(List.of(0L, 90L, 1L, 2L), mixed.subList(0, 4));
        assertEquals(135, samples(batches(a, b, "--fields", "doc_id", "--store-epochs", "1,0.5")).size());
        assertEquals(new HashSet<>(mixed), new HashSet<>(samples(batches(a, b, "--fields", "doc_id", "--weights",
                "0.75,0.25", "--draws", 80, "--no-shuffle", "--by-chance"))));
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", a, b, "--weights", "1").exitCode());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", a, "--draws", "1").exitCode());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", a, Fixtures.path("arrow/hf_dataset")).exitCode());
    }

    private static List<Long> samples(List<Map<String, Object>> batches) {
        return batches.stream().flatMap(batch -> Json.array(batch.get("samples")).stream()).map(Long.class::cast)
                .toList();
    }

    @Test
    void ordersFollowFromANumberASampleInAFile() throws Exception {
        Path store = Fixtures.path("parquet/tokens_none.parquet");
        byte[] numbers = new byte[90];
        for (int i = 0; i < 90; i++) {
            numbers[i] = (byte) (i % 3);
        }
        Path classes = folder.resolve("classes.npy");
        NpyWriter.write(classes, Tensor.of(MemorySegment.ofArray(numbers), DType.U8, 90), IfExists.FAIL);
        List<Long> weighted = samples(batches(store, "--fields", "doc_id", "--order", "weighted=" + classes, "--draws",
                200));
        assertEquals(200, weighted.size());
        assertTrue(weighted.stream().noneMatch(sample -> sample % 3 == 0));
        assertEquals(60, new HashSet<>(samples(batches(store, "--fields", "doc_id", "--order", "weighted-once="
                + classes))).size());
        List<Long> stratified = samples(batches(store, "--fields", "doc_id", "--order", "stratified=" + classes));
        assertEquals(90, new HashSet<>(stratified).size());
        assertEquals(Set.of(0L, 1L, 2L), stratified.subList(0, 3).stream().map(sample -> sample % 3)
                .collect(Collectors.toSet()));
        assertEquals(30, samples(batches(store, "--fields", "doc_id", "--order", "balanced=" + classes, "--draws", 30))
                .size());
        assertEquals(List.of(0L, 1L, 2L, 0L), samples(batches(store, "--fields", "doc_id", "--order", "subset="
                + classes, "--no-shuffle")).subList(0, 4));
        for (String kind : List.of("stratified", "subset")) {
            CommandRun drawn = CommandRun.of("batches", store, "--fields", "doc_id", "--order", kind + "=" + classes,
                    "--draws", 30);
            assertEquals(ExitCode.WRONG_USAGE, drawn.exitCode(), drawn.out());
            assertTrue(drawn.err().contains("--draws: found with --order " + kind), drawn.err());
        }
        for (String kind : List.of("weighted", "weighted-once", "balanced", "stratified")) {
            CommandRun unseeded = CommandRun.of("batches", store, "--fields", "doc_id", "--order", kind + "=" + classes,
                    "--no-shuffle");
            assertEquals(ExitCode.WRONG_USAGE, unseeded.exitCode(), unseeded.out());
            assertTrue(unseeded.err().contains("--no-shuffle: found with --order " + kind), unseeded.err());
        }
        for (List<String> both : List.of(List.of("--weights", "1"), List.of("--store-epochs", "1"),
                List.of("--then", "5=1"))) {
            CommandRun two = CommandRun.of("batches", store, "--fields", "doc_id", "--order", "weighted=" + classes,
                    both.get(0), both.get(1));
            assertEquals(ExitCode.WRONG_USAGE, two.exitCode(), two.out());
            assertTrue(two.err().contains("--order") && two.err().contains("expected one of them"), two.err());
        }
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", store, "--fields", "doc_id", "--store-epochs", "2",
                "--draws", 7).exitCode());
        for (String wrong : new String[] {"nonsense=" + classes, "weighted=" + Fixtures.path("npy/tokens_u16.npy")}) {
            assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", store, "--fields", "doc_id", "--order", wrong)
                    .exitCode(), wrong);
        }
        assertEquals(ExitCode.BAD_INPUT, CommandRun.of("batches", store, "--fields", "doc_id", "--order",
                "weighted=" + folder.resolve("absent.npy")).exitCode());
        List<Long> curriculum = samples(batches(store, Fixtures.path("parquet/tokens_snappy.parquet"), "--fields",
                "doc_id", "--weights", "1,0", "--draws", 20, "--then", "10=0:1", "--no-shuffle"));
        assertEquals(List.of(9L, 90L), curriculum.subList(9, 11));
    }

    @Test
    void aShuffleWindowKeepsNeighboursNear() {
        Path store = Fixtures.path("parquet/tokens_none.parquet");
        List<Long> samples = samples(batches(store, "--fields", "doc_id", "--shuffle-window", 16));
        assertEquals(90, new HashSet<>(samples).size());
        assertNotEquals(samples.stream().sorted().toList(), samples);
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", store, "--shuffle-window", 0).exitCode());
    }

    @Test
    void documentsArePackedIntoSequences() {
        Path store = Fixtures.path("megatron/u16_docs.idx");
        Map<String, String> fields = fields(batches(store, "--pack", 256, "--tokens-as", "i64", "--limit", 1,
                "--batch", 4).getFirst());
        assertEquals("i64[4, 256]", fields.get("input_ids"));
        assertEquals("i64[4, 256]", fields.get("labels"));
        assertEquals("i32[4, 256]", fields.get("position_ids"));
        assertEquals("i32[]", fields.get("max_seqlen"));
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", store, "--pack", 256, "--window", 8).exitCode());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", store, "--pack", 0).exitCode());
        CommandRun stream = CommandRun.of("stream", store, "--pack", 256, "--steps", 3, "--json");
        assertTrue(((Number) stream.json().get("padding_share")).doubleValue() < 0.1, stream.out());
    }

    @Test
    void listsOfIntegersArePackedToo() {
        Path table = Fixtures.path("parquet/tokens_none.parquet");
        Map<String, String> fields = fields(batches(table, "--fields", "input_ids", "--pack", 256, "--tokens-as", "i64",
                "--limit", 1, "--batch", 4).getFirst());
        assertEquals("i64[4, 256]", fields.get("labels"));
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", table, "--fields", "doc_id", "--pack", 9)
                .exitCode());
        assertEquals(ExitCode.WRONG_USAGE, CommandRun.of("batches", table, "--fields", "input_ids", "--pack", 9,
                "--window", 3).exitCode());
    }

    @Test
    void statesAreShownAndCompared() throws IOException {
        Path store = Fixtures.path("parquet/tokens_none.parquet");
        Path first = folder.resolve("first.json");
        Path second = folder.resolve("second.json");
        Path other = folder.resolve("other.json");
        for (Object[] run : new Object[][] {{first, 1, 42}, {second, 2, 42}, {other, 1, 43}}) {
            assertEquals(0, CommandRun.of("stream", store, "--batch", 10, "--steps", run[1], "--seed", run[2],
                    "--state", run[0]).exitCode());
        }
        assertEquals(10L, CommandRun.of("state", "show", first, "--json").json().get("position"));
        assertTrue(CommandRun.of("state", "show", first).out().contains("position: 10"));
        Path checkpoint = Files.createDirectory(folder.resolve("checkpoint"));
        Checkpoint.save(checkpoint, 10, LoaderState.read(first));
        CommandRun shown = CommandRun.of("state", "show", checkpoint.resolve(Checkpoint.FILE_NAME));
        assertEquals(CommandRun.of("state", "show", first), shown, "the file in the folder of a checkpoint");
        CommandRun places = CommandRun.of("state", "diff", first, second);
        assertEquals(1, places.exitCode());
        assertTrue(places.out().contains("position: 10 -> 20") && places.out().contains("The same plan"), places.out());
        CommandRun plans = CommandRun.of("state", "diff", first, other, "--json");
        assertEquals(false, plans.json().get("one_plan"));
        assertEquals(0, CommandRun.of("state", "diff", first, first).exitCode());
        assertEquals(ExitCode.BAD_INPUT, CommandRun.of("state", "show", store).exitCode());
        assertTrue(Files.exists(other));
    }
}
