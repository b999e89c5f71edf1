// SPDX-License-Identifier: Apache-2.0
package io.penstock.collate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.dataset.Dataset;
import io.penstock.dataset.Documents;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.TokenWindows;
import io.penstock.format.megatron.MegatronPart;
import io.penstock.format.megatron.MegatronWriter;
import io.penstock.json.Json;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.LittleEndian;
import io.penstock.memory.Tensor;
import io.penstock.sampling.Sampler;
import io.penstock.sampling.TokenBudget;
import io.penstock.store.IfExists;
import io.penstock.store.TokenContent;
import io.penstock.store.TokenStore;
import io.penstock.testing.Thorough;
import io.penstock.transform.PackedTokens;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tokens that are read and not trained on: from a store through packing and windows to ids, labels and loss mask. */
class MaskedTokensTest {

    private static final long SEED = 20261126;
    private static final int CAPACITY = 64;

    @TempDir
    private Path folder;

    /** Documents of ids from 0 on; a negative one is the complement of one that is not trained on. */
    private static List<int[]> documents(int count, SplittableRandom random) {
        List<int[]> documents = new ArrayList<>();
        for (int d = 0; d < count; d++) {
            int[] tokens = new int[random.nextInt(1, 3 * CAPACITY / 2)];
            boolean isContext = true;
            for (int t = 0; t < tokens.length; t++) {
                isContext ^= random.nextInt(7) == 0;
                tokens[t] = isContext ? ~random.nextInt(200_000) : random.nextInt(200_000);
            }
            documents.add(tokens);
        }
        return documents;
    }

    private TokenStore store(List<int[]> documents) throws IOException {
        Path path = folder.resolve("chats");
        try (MegatronWriter writer = MegatronWriter.create(path, DType.I32, IfExists.FAIL)
                .content(TokenContent.MASKED_TOKENS)) {
            try (MegatronPart part = writer.part()) {
                for (int[] tokens : documents) {
                    part.append(tokens, 0, tokens.length);
                    part.endDocument();
                }
            }
            writer.commit();
        }
        return TokenStore.open(path);
    }

    private static long id(long token) {
        return token < 0 ? ~token : token;
    }

    @ParameterizedTest
    @EnumSource(TokenWidth.class)
    void packedBatchesHaveLabelsOnlyWhereTheNextTokenIsTrainedOn(TokenWidth width) throws IOException {
        List<int[]> documents = documents(700, new SplittableRandom(SEED));
        try (TokenStore store = store(documents);
                PackedSequences packed = Packing.of(Documents.of(store), CAPACITY).pack();
                DataLoader loader = DataLoader.builder(packed).collator(width.packed()).batchSize(3).workers(2)
                        .shuffle(SEED).endEpoch(1).open()) {
            assertEquals(TokenContent.MASKED_TOKENS, store.content());
            long trained = 0;
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (int row = 0; row < batch.count(); row++) {
                        trained += check(packed, documents, batch, row);
                    }
                }
            }
            long expected = documents.stream().mapToLong(tokens -> Arrays.stream(tokens).skip(1)
                    .filter(token -> token >= 0).count()).sum();
            assertEquals(expected, trained, "each trained token is a label once");
        }
    }

    private static long check(PackedSequences packed, List<int[]> documents, Batch batch, int row) {
        Tensor ids = batch.tensor("input_ids").row(row);
        Optional<Tensor> labels = batch.tensors().containsKey("labels") ? Optional.of(batch.tensor("labels").row(row))
                : Optional.empty();
        Tensor mask = batch.tensor("loss_mask").row(row);
        long sample = batch.sample(row);
        int column = 0;
        long trained = 0;
        for (int part = 0; part < packed.parts(sample); part++) {
            int[] tokens = documents.get((int) packed.document(sample, part));
            int first = (int) packed.firstToken(sample, part);
            for (int t = first; t < Math.min(tokens.length, first + CAPACITY); t++, column++) {
                boolean isTrained = t + 1 < tokens.length && tokens[t + 1] >= 0;
                assertEquals(id(tokens[t]), ids.getLong(column));
                if (labels.isPresent()) {
                    assertEquals(isTrained ? tokens[t + 1] : PackedLm.IGNORED, labels.get().getLong(column));
                }
                assertEquals(isTrained ? 1 : 0, mask.getLong(column));
                trained += isTrained ? 1 : 0;
            }
        }
        for (; column < CAPACITY; column++) {
            assertEquals(0, mask.getLong(column));
        }
        return trained;
    }

    /** A batch that travels narrow, with a bit a token, becomes on the device what the workers would have made. */
    @Test
    void theStageOfPackedTokensMakesTheSameLabelsOfLossBits() throws IOException {
        List<int[]> documents = documents(300, new SplittableRandom(SEED + 3)).stream()
                .map(tokens -> Arrays.copyOf(tokens, Math.min(tokens.length, CAPACITY))).toList();
        Set<PackedLm.Field> narrow = EnumSet.of(PackedLm.Field.CU_SEQLENS, PackedLm.Field.LENGTHS,
                PackedLm.Field.LOSS_BITS);
        try (TokenStore store = store(documents);
                PackedSequences packed = Packing.of(Documents.of(store), CAPACITY).pack();
                DataLoader onHost = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(3)
                        .shuffle(SEED).endEpoch(1).open();
                DataLoader onDevice = DataLoader.builder(packed).collator(PackedLm.narrow(narrow))
                        .onDevice(PackedTokens.of(DType.I64)).batchSize(3).shuffle(SEED).endEpoch(1).open()) {
            while (onHost.hasNext()) {
                try (Batch expected = onHost.next(); Batch found = onDevice.next()) {
                    for (String field : List.of("labels", "position_ids", "document_ids")) {
                        Tensor one = expected.tensor(field);
                        for (int row = 0; row < expected.count(); row++) {
                            for (int t = 0; t < CAPACITY; t++) {
                                boolean isPadding = expected.tensor("document_ids").row(row).getLong(t) == 0;
                                if (!isPadding || field.equals("labels")) {
                                    assertEquals(one.row(row).getLong(t), found.tensor(field).row(row).getLong(t),
                                            field);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = TokenWidth.class, names = {"I32", "I64"})
    void windowsHaveThemToo(TokenWidth width) throws IOException {
        List<int[]> documents = documents(50, new SplittableRandom(SEED + 1));
        int[] all = documents.stream().flatMapToInt(Arrays::stream).toArray();
        try (TokenStore store = store(documents);
                DataLoader loader = DataLoader.builder(TokenWindows.of(store, 16))
                        .collator(width.windows()).batchSize(4).endEpoch(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    for (int row = 0; row < batch.count(); row++) {
                        int first = (int) batch.sample(row) * 16;
                        for (int t = 0; t < 16; t++) {
                            assertEquals(id(all[first + t]), batch.tensor("input_ids").row(row).getLong(t));
                            assertEquals(all[first + t + 1] < 0 ? PackedLm.IGNORED : all[first + t + 1],
                                    batch.tensor("labels").row(row).getLong(t));
                        }
                    }
                }
            }
        }
    }

    /** {@code src/test/python/spec_conversations.py} printed them, from the page alone. */
    @Test
    void theVectorsOfTheSpecificationHold() throws IOException {
        List<Map<String, Object>> cases = vectors();
        List<int[]> documents = cases.stream().map(one -> numbers(one, "masked_tokens")).toList();
        try (TokenStore store = store(documents);
                PackedSequences packed = new Packing(Documents.of(store), CAPACITY, Packing.Method.FIRST_FIT, 1).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I32)).batchSize(1)
                        .endEpoch(1).open()) {
            assertEquals(cases.size(), packed.size());
            for (Map<String, Object> one : cases) {
                try (Batch batch = loader.next()) {
                    for (String field : List.of("input_ids", "labels", "loss_mask")) {
                        int[] expected = numbers(one, field);
                        for (int t = 0; t < expected.length; t++) {
                            assertEquals(expected[t], batch.tensor(field).row(0).getLong(t), field + " of " + one);
                        }
                    }
                }
            }
        }
    }

    /** Each token's id is its conversation's number, so that whatever is in reach of a token tells where it is from. */
    @Test
    @Tag("slow")
    void noTokenOfAPackedBatchHasOneOfAnotherConversationInReach() throws IOException {
        SplittableRandom random = new SplittableRandom(SEED + 4);
        List<int[]> documents = new ArrayList<>();
        for (int d = 0; d < Thorough.times(25_000, 100_000); d++) {
            int[] tokens = new int[1 + (int) Math.min(CAPACITY - 1, random.nextExponential() * 12)];
            Arrays.fill(tokens, d);
            for (int t = 0; t < random.nextInt(tokens.length + 1); t++) {
                tokens[t] = ~d;
            }
            documents.add(tokens);
        }
        int[] found = new int[documents.size()];
        try (TokenStore store = store(documents);
                PackedSequences packed = Packing.of(Documents.of(store), CAPACITY).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I32,
                        EnumSet.allOf(PackedLm.Field.class))).batchSize(16).shuffle(SEED).endEpoch(1).open()) {
            for (Batch batch : loader.epoch()) {
                try (batch) {
                    checkReach(batch, found);
                }
            }
        }
        for (int d = 0; d < found.length; d++) {
            assertEquals(documents.get(d).length, found[d], "tokens of conversation " + d);
        }
    }

    private static void checkReach(Batch batch, int[] found) {
        MemorySegment ids = batch.tensor("input_ids").segment();
        MemorySegment labels = batch.tensor("labels").segment();
        MemorySegment positions = batch.tensor("position_ids").segment();
        MemorySegment mask = batch.tensor("attention_mask").segment();
        MemorySegment starts = batch.tensor("cu_seqlens").segment();
        int sequence = 0;
        for (int row = 0; row < batch.count(); row++) {
            long length = batch.tensor("lengths").getLong(row);
            for (int t = 0; t < CAPACITY; t++) {
                int at = row * CAPACITY + t;
                while (starts.getAtIndex(LittleEndian.I32, sequence + 1) <= at) {
                    sequence++;
                }
                int start = starts.getAtIndex(LittleEndian.I32, sequence);
                assertEquals(at - start, positions.getAtIndex(LittleEndian.I32, at), "position");
                int id = ids.getAtIndex(LittleEndian.I32, at);
                int label = labels.getAtIndex(LittleEndian.I32, at);
                assertTrue(label == PackedLm.IGNORED || label == id && t < length, "label");
                for (int k = 0; k < CAPACITY; k++) {
                    int other = row * CAPACITY + k;
                    boolean isInReach = mask.get(ValueLayout.JAVA_BYTE, (long) at * CAPACITY + k) == 1;
                    boolean isOwn = t < length && k <= t && ids.getAtIndex(LittleEndian.I32, other) == id;
                    if (isInReach != isOwn || isOwn != (t < length && other >= start && other <= at)) {
                        throw new AssertionError("token " + t + " and " + k + " of row " + row + ": mask " + isInReach
                                + ", conversation " + isOwn + ", cu_seqlens from " + start);
                    }
                }
                if (t < length) {
                    found[id]++;
                }
            }
        }
    }

    private static List<Map<String, Object>> vectors() throws IOException {
        return Json.array(Json.object(Json.parse(Files.readAllBytes(
                Path.of("docs/spec/vectors/conversations.json")))).get("conversations")).stream().map(Json::object)
                .toList();
    }

    /** One conversation a row, in buckets by length and up to a token budget. */
    @ParameterizedTest
    @EnumSource(TokenWidth.class)
    void paddedBatchesHaveThemBesideLengthsAndMask(TokenWidth width) throws IOException {
        List<Map<String, Object>> cases = vectors();
        try (TokenStore store = store(cases.stream().map(one -> numbers(one, "masked_tokens")).toList())) {
            Documents documents = Documents.of(store);
            try (DataLoader loader = DataLoader.builder(documents).collator(width.padded(9).toMultipleOf(4))
                    .sampler(Sampler.lengthBucketed(Sampler.shuffled(documents.size(), 3), documents::length, 16, 4, 3))
                    .tokenBudget(TokenBudget.padded(128).toMultipleOf(4), documents::length).endEpoch(1).open()) {
                int seen = 0;
                for (Batch batch : loader.epoch()) {
                    try (batch) {
                        long columns = batch.tensor("labels").dim(1);
                        assertTrue(columns * batch.count() <= 128 && columns % 4 == 0);
                        for (int row = 0; row < batch.count(); row++, seen++) {
                            int[] ids = numbers(cases.get((int) batch.sample(row)), "input_ids");
                            int[] labels = numbers(cases.get((int) batch.sample(row)), "labels");
                            assertEquals(ids.length, batch.tensor("lengths").getLong(row));
                            for (int t = 0; t < columns; t++) {
                                boolean isToken = t < ids.length;
                                assertEquals(isToken ? ids[t] : 9, batch.tensor("input_ids").row(row).getLong(t));
                                assertEquals(isToken ? labels[t] : PackedLm.IGNORED,
                                        batch.tensor("labels").row(row).getLong(t));
                                assertEquals(isToken ? 1 : 0, batch.tensor("attention_mask").row(row).getLong(t));
                            }
                        }
                    }
                }
                assertEquals(cases.size(), seen);
            }
        }
    }

    private static int[] numbers(Map<String, Object> members, String name) {
        return Json.array(members.get(name)).stream().mapToInt(number -> ((Long) number).intValue()).toArray();
    }

    /** Who does not know of them gets a field of another name, and ids that no model has. */
    @Test
    void theFieldHasANameOfItsOwnThroughAllThatKeepsTokens() throws IOException {
        try (TokenStore store = store(documents(20, new SplittableRandom(SEED + 2)))) {
            Dataset documents = Documents.of(store);
            assertEquals(TokenWindows.MASKED_TOKENS, documents.fields().getFirst().name());
            assertEquals(TokenWindows.MASKED_TOKENS, TokenWindows.of(store, 8).fields().getFirst().name());
            try (PackedSequences packed = Packing.of(documents.select(0, 1, 2), CAPACITY).pack()) {
                assertEquals(TokenWindows.MASKED_TOKENS, packed.fields().getFirst().name());
            }
        }
    }

    @Test
    void onlyTokensOfFourSignedBytesCanBeMasked() throws IOException {
        try (MegatronWriter writer = MegatronWriter.create(folder.resolve("x"), DType.U16, IfExists.FAIL)) {
            assertEquals("masked_tokens are stored as i32, found u16", assertThrows(IllegalArgumentException.class,
                    () -> writer.content(TokenContent.MASKED_TOKENS)).getMessage());
        }
    }
}
