// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.AnswerLengths;
import io.penstock.dataset.Documents;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.TokenBudget;
import io.penstock.state.LoaderState;
import io.penstock.store.IfExists;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several answers to one question: from a store to padded batches. */
class PadAnswersTest {

    private static final long SEED = 20261127;
    private static final List<String> FIELDS = List.of("input_ids", "labels", "attention_mask", "lengths",
            "prefix_lengths");

    @TempDir
    private Path folder;

    private TokenStore store(String name, List<int[]> values) throws IOException {
        Path path = folder.resolve(name);
        try (MegatronWriter writer = MegatronWriter.create(path, DType.I32, IfExists.FAIL)
                .content(TokenContent.ANSWERS)) {
            try (MegatronPart part = writer.part()) {
                for (int[] numbers : values) {
                    part.append(numbers, 0, numbers.length);
                    part.endDocument();
                }
            }
            writer.commit();
        }
        return TokenStore.open(path);
    }

    private static List<Long> longs(Tensor tensor) {
        List<Long> values = new ArrayList<>();
        add(tensor, values);
        return values;
    }

    private static void add(Tensor tensor, List<Long> values) {
        for (int i = 0; i < tensor.dim(0); i++) {
            if (tensor.shape().length == 1) {
                values.add(tensor.getLong(i));
            } else {
                add(tensor.row(i), values);
            }
        }
    }

    private static int[] ints(Object list) {
        return Json.array(list).stream().mapToInt(number -> ((Long) number).intValue()).toArray();
    }

    /** {@code src/test/python/spec_conversations.py} printed them, from the page alone. */
    @ParameterizedTest
    @EnumSource(value = DType.class, names = {"I32", "I64"})
    void theVectorsOfTheSpecificationHold(DType width) throws IOException {
        List<Map<String, Object>> cases = Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/conversations.json")))).get("answers")).stream().map(Json::object).toList();
        assertEquals(24, cases.size());
        for (int number = 0; number < cases.size(); number++) {
            Map<String, Object> one = cases.get(number);
            List<int[]> values = Json.array(one.get("answers")).stream().map(PadAnswersTest::ints).toList();
            try (TokenStore store = store(width + "-" + number, values)) {
                Documents documents = Documents.of(store);
                AnswerLengths lengths = AnswerLengths.of(documents, ((Long) one.get("multiple_of")).intValue());
                try (DataLoader loader = DataLoader.builder(documents)
                        .collator(PadAnswers.of(width, (Long) one.get("pad"), lengths)).batchSize(values.size())
                        .endEpoch(1).open(); Batch batch = loader.next()) {
                    assertEquals(one.get("shape"), Arrays.stream(batch.tensor("input_ids").shape()).boxed().toList());
                    for (String field : FIELDS) {
                        assertEquals(one.get(field), longs(batch.tensor(field)), field + " of " + one);
                    }
                    float[] scores = batch.tensor("scores").segment().toArray(ValueLayout.JAVA_FLOAT);
                    List<Object> expected = Json.array(one.get("scores"));
                    for (int i = 0; i < scores.length; i++) {
                        assertEquals(((Number) expected.get(i)).floatValue(), scores[i]);
                    }
                }
            }
        }
    }

    private static List<int[]> pairs(int count, SplittableRandom random) {
        List<int[]> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            int[] lengths = {random.nextInt(1, 90), random.nextInt(1, 90)};
            int[] numbers = new int[5 + lengths[0] + lengths[1]];
            numbers[0] = 2;
            for (int answer = 0; answer < 2; answer++) {
                numbers[1 + 2 * answer] = lengths[answer];
                numbers[2 + 2 * answer] = Float.floatToRawIntBits(random.nextInt(5));
            }
            for (int t = 5; t < numbers.length; t++) {
                numbers[t] = random.nextBoolean() ? random.nextInt(1000) : ~random.nextInt(1000);
            }
            values.add(numbers);
        }
        return values;
    }

    @Test
    void batchesByTokenBudgetHoldThePaddedRowsAndResumeWithAnyWorkers() throws IOException {
        List<int[]> values = pairs(300, new SplittableRandom(SEED));
        try (TokenStore store = store("pairs", values)) {
            List<String> whole = new ArrayList<>();
            batches(store, Optional.empty(), Integer.MAX_VALUE, 1, whole);
            List<String> resumed = new ArrayList<>();
            LoaderState state = batches(store, Optional.empty(), 7, 3, resumed);
            batches(store, Optional.of(state), Integer.MAX_VALUE, 2, resumed);
            assertEquals(whole, resumed);
            assertTrue(whole.size() > 20, whole.size() + " batches");
        }
    }

    private static LoaderState batches(TokenStore store, Optional<LoaderState> state, int count, int workers,
            List<String> digests) {
        Documents documents = Documents.of(store);
        AnswerLengths lengths = AnswerLengths.of(documents, 8);
        try (DataLoader loader = DataLoader.builder(documents).collator(PadAnswers.of(DType.I64, 0, lengths))
                .sampler(Sampler.lengthBucketed(Sampler.shuffled(documents.size(), 5), lengths, 64, 8, 5))
                .tokenBudget(TokenBudget.padded(2048), lengths).endEpoch(1).workers(workers).open()) {
            state.ifPresent(loader::seek);
            for (int i = 0; i < count && loader.hasNext(); i++) {
                try (Batch batch = loader.next()) {
                    long[] shape = batch.tensor("input_ids").shape();
                    assertTrue(shape[0] * shape[1] * shape[2] <= 2048, Arrays.toString(shape));
                    StringBuilder text = new StringBuilder();
                    for (String field : FIELDS) {
                        text.append(longs(batch.tensor(field)).hashCode()).append(' ');
                    }
                    digests.add(text.toString());
                }
            }
            return loader.state();
        }
    }

    @Test
    void damagedValuesAreBadSamplesThatSayWhatIsWrong() throws IOException {
        int[][] damaged = {{}, {0}, {-1, 3}, {2, 1, 0, 5}, {1, 2, 0, 5}, {1, -1, 0}, {2, 2, 0, -2, 0},
            {Integer.MAX_VALUE, 1, 1}, {1, Integer.MAX_VALUE, 0, 4}, {Integer.MIN_VALUE, 0, 0}, {1, 1, 0, 5, 6}};
        for (int i = 0; i < damaged.length; i++) {
            try (TokenStore store = store("damaged" + i, List.of(new int[] {1, 1, 0, 5}, damaged[i]))) {
                String message = assertThrows(BadSampleException.class,
                        () -> AnswerLengths.of(Documents.of(store), 1)).getMessage();
                assertTrue(message.contains("sample 1: found "), message);
            }
        }
    }

    @Test
    void answersAreNotTakenForTokens() throws IOException {
        try (TokenStore store = store("answers", List.of(new int[] {1, 1, 0, 5}))) {
            Documents documents = Documents.of(store);
            assertThrows(IllegalArgumentException.class, () -> TokenWindows.of(store, 2));
            assertThrows(IllegalArgumentException.class, () -> Packing.of(documents, 8));
            assertThrows(IllegalArgumentException.class,
                    () -> Pad.toLongest(DType.I32, 0).layout(documents, 1));
            AnswerLengths lengths = AnswerLengths.of(documents, 1);
            assertThrows(IllegalArgumentException.class,
                    () -> PadAnswers.of(DType.I32, 0, lengths).layout(documents.select(0, 0), 1));
            assertThrows(IllegalArgumentException.class, () -> AnswerLengths.of(documents, 0));
        }
    }
}
