// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.collate.PackedLm;
import io.penstock.collate.StackAndPad;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.PackedSequences;
import io.penstock.dataset.Packing;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.TokenWindows;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.loader.Batch;
import io.penstock.loader.BatchException;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.RecordStore;
import io.penstock.tokenize.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Conversations in a column of a table, tokenized by workers. The file is pyarrow's; its row 5 has no answer. */
class ConversationDecoderTest {

    private static final Path TABLE = Path.of("tools/src/test/resources/io/penstock/chat/messages.parquet");
    private static final Path TOKENIZER = Path.of("tools/src/test/resources/io/penstock/tokenize/qwen2.tokenizer.json");

    private static ChatTokenizer chats() throws IOException {
        return ChatTokenizer.of(ChatTemplate.named("chatml"), Tokenizer.of(TOKENIZER));
    }

    private static int[] expected(ChatTokenizer chats, long row) {
        Map<String, Object> question = new LinkedHashMap<>(Map.of("role", "user", "content",
                "question " + row + " why"));
        Map<String, Object> answer = new LinkedHashMap<>(Map.of("role", "assistant", "content",
                "answer " + row + " because"));
        return chats.encode(new Conversation(List.of(question, answer), Map.of())).orElseThrow();
    }

    private static int[] ints(Tensor tokens) {
        int[] values = new int[(int) tokens.dim(0)];
        for (int i = 0; i < values.length; i++) {
            values[i] = (int) tokens.getLong(i);
        }
        return values;
    }

    @Test
    void aColumnOfMessagesBecomesMaskedTokens() throws IOException {
        ChatTokenizer chats = chats();
        try (RecordStore store = RecordStore.open(TABLE)) {
            Dataset tokens = RecordFields.of(store).and("messages", chats.decoder());
            assertEquals(TokenWindows.MASKED_TOKENS, tokens.fields().getFirst().name());
            for (long row : new long[] {0, 3, 11}) {
                try (Tensors of = new Tensors(tokens, row)) {
                    assertArrayEquals(expected(chats, row), of.first());
                }
            }
            String message = assertThrows(BadSampleException.class, () -> {
                try (Tensors bad = new Tensors(tokens, 5)) {
                    bad.first();
                }
            }).getMessage();
            assertTrue(message.contains("none of its tokens is trained on"), message);
        }
    }

    /** The first field of a sample, through a loader that reads it alone. */
    private record Tensors(DataLoader loader, Batch batch) implements AutoCloseable {

        Tensors(Dataset dataset, long sample) {
            this(open(dataset, sample));
        }

        private Tensors(DataLoader loader) {
            this(loader, next(loader));
        }

        private static DataLoader open(Dataset dataset, long sample) {
            return DataLoader.builder(dataset.select(sample)).batchSize(1).endEpoch(1).workers(0)
                    .collator(StackAndPad.fields()).open();
        }

        private static Batch next(DataLoader loader) {
            try {
                return loader.next();
            } catch (BatchException e) {
                loader.close();
                throw (BadSampleException) e.getCause();
            }
        }

        int[] first() {
            return ints(batch.tensors().values().iterator().next().row(0));
        }

        @Override
        public void close() {
            batch.close();
            loader.close();
        }
    }

    @Test
    void cachedTheyArePacked() throws IOException {
        ChatTokenizer chats = chats();
        try (RecordStore store = RecordStore.open(TABLE);
                Cached tokens = RecordFields.of(store).and("messages", chats.decoder())
                        .select(0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11).cache(TokenWindows.MASKED_TOKENS);
                PackedSequences packed = Packing.of(tokens, 512).pack();
                DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(2)
                        .endEpoch(1).open()) {
            long labels = 0;
            while (loader.hasNext()) {
                try (Batch batch = loader.next()) {
                    Tensor mask = batch.tensor("loss_mask");
                    for (int row = 0; row < batch.count(); row++) {
                        for (int t = 0; t < 512; t++) {
                            labels += mask.row(row).getLong(t);
                        }
                    }
                }
            }
            long trained = 0;
            for (long row = 0; row < 12; row++) {
                for (int token : row == 5 ? new int[0] : expected(chats, row)) {
                    trained += token >= 0 ? 1 : 0;
                }
            }
            assertEquals(trained, labels);
        }
    }
}
