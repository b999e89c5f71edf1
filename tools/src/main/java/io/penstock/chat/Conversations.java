// SPDX-License-Identifier: Apache-2.0
package io.penstock.chat;

import io.penstock.chat.ConversationDecoder.Output;
import io.penstock.dataset.Cached;
import io.penstock.dataset.Dataset;
import io.penstock.dataset.RecordFields;
import io.penstock.dataset.source.BadSampleException;
import io.penstock.dataset.source.FieldSource;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.RecordStore;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The conversations of a table, or the answers in it, as samples of tokens without a store of them: Parquet, Arrow, a
 * WebDataset, whatever {@link RecordStore} reads. The numbers are those that {@code penstock tokenize --chat} writes of
 * the same records as JSON lines, and so are the samples: records that are left out are none.
 *
 * {@snippet :
 * Tokenizer tokenizer = Tokenizer.of(Path.of("model/tokenizer.json"));
 * ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.of(Path.of("model")), tokenizer);
 * try (RecordStore table = RecordStore.open(Path.of("chats.parquet"));
 *         Conversations conversations = Conversations.of(table, chats);
 *         PackedSequences packed = Packing.of(conversations, 4096).pack()) {
 *     System.out.println(conversations.leftOut() + " left out, " + packed.paddingShare() + " padding");
 * }
 * }
 *
 * <p>Opening it encodes every record on all processors, to know its length. Workers encode a record again when they
 * first read it, and keep its tokens in the cache that {@link Cached} describes: 4 bytes a token. The sample's field,
 * {@code i32[*]}, has the name of the encoder's content.
 */
public final class Conversations implements Dataset, AutoCloseable {

    private final Cached cached;
    private final Dataset samples;

    private Conversations(Cached cached, String field) {
        this.cached = cached;
        this.samples = cached.filter("not left out", sample -> sample.length(field) > 0);
    }

    /**
     * Opens the conversations of a store whose columns are the members of its records, such as {@code messages}, or
     * {@code prompt}, {@code chosen} and {@code rejected}. A column of texts or of nested lists is read as it is; those
     * that no form of conversations has are not read. A store with no such column must have one column of JSON, which
     * holds whole records.
     *
     * @param records the records; must stay open
     * @param encoder makes their numbers
     * @return the samples
     * @throws IllegalArgumentException if the store has no such column, or all records are left out
     * @throws BadSampleException if a record has no conversation, or one that cannot be encoded; names it
     * @throws IOException if the cache folder, named in the message, lacks space
     */
    public static Conversations of(RecordStore records, ConversationEncoder encoder) throws IOException {
        return of(records, encoder, List.of(Output.NUMBERS));
    }

    /**
     * Opens the same conversations with three fields: {@code masked_tokens}, and where the {@linkplain
     * ChatTokenizer#media images, sounds and videos} in them are and what they are called, {@code media_spans} and
     * {@code media_names}, as {@link ChatTokenizer#mediaSpans} and {@link ChatTokenizer#mediaNames} make them. Workers
     * encode a record again for each of these two.
     *
     * @param records the records; must stay open
     * @param encoder makes their numbers
     * @return the samples
     * @throws IllegalArgumentException if the store has no such column, or all records are left out
     * @throws BadSampleException if a record has no conversation, or one that cannot be encoded; names it
     * @throws IOException if the cache folder, named in the message, lacks space
     */
    public static Conversations withMedia(RecordStore records, ChatTokenizer encoder) throws IOException {
        return of(records, encoder, List.of(Output.values()));
    }

    private static Conversations of(RecordStore records, ConversationEncoder encoder, List<Output> outputs)
            throws IOException {
        Set<String> members = encoder.members();
        List<String> columns = records.columns().stream().map(Column::name).filter(members::contains).toList();
        if (columns.isEmpty()) {
            List<Column> json = records.columns().stream().filter(column -> column.encoding().equals("json")).toList();
            if (json.size() != 1) {
                throw new IllegalArgumentException("found columns " + records.columns() + ", expected some of "
                        + members + ", or one column of JSON");
            }
            return open(records, List.of(json.getFirst().name()), false, encoder, outputs);
        }
        return open(records, columns, true, encoder, outputs);
    }

    private static Conversations open(RecordStore records, List<String> columns, boolean areMembers,
            ConversationEncoder encoder, List<Output> outputs) throws IOException {
        RecordFields fields = RecordFields.of(records);
        for (Output output : outputs) {
            fields = fields.and(columns, of -> new ConversationDecoder(encoder,
                    areMembers ? of : ConversationDecoder.WHOLE, true, true, output));
        }
        String field = encoder.content().fieldName();
        Cached cached = fields.cache(field);
        try {
            return new Conversations(cached, field);
        } catch (Throwable t) {
            cached.close();
            throw t;
        }
    }

    /**
     * Opens the conversations in one column of JSON, which holds a record's object or its list of messages.
     *
     * @param records the records; must stay open
     * @param column the column's name
     * @param encoder makes their numbers
     * @return the samples
     * @throws IllegalArgumentException if there is no such column, or all records are left out
     * @throws BadSampleException if a record has no conversation, or one that cannot be encoded; names it
     * @throws IOException if the cache folder, named in the message, lacks space
     */
    public static Conversations of(RecordStore records, String column, ConversationEncoder encoder)
            throws IOException {
        return open(records, List.of(column), false, encoder, List.of(Output.NUMBERS));
    }

    /** {@return the number of records that are no sample: they are too long, or none of their tokens is trained on} */
    public long leftOut() {
        return cached.size() - samples.size();
    }

    @Override
    public long size() {
        return samples.size();
    }

    @Override
    public List<TensorSpec> fields() {
        return samples.fields();
    }

    @Override
    public FieldSource source(int field) {
        return samples.source(field);
    }

    @Override
    public String name(long sample) {
        return samples.name(sample);
    }

    @Override
    public String key(long sample) {
        return samples.key(sample);
    }

    @Override
    public long maxLength(int field) {
        return samples.maxLength(field);
    }

    @Override
    public String fingerprint() {
        return samples.fingerprint();
    }

    @Override
    public String toString() {
        return samples.toString();
    }

    /** Frees the cached tokens. Calling it again does nothing. */
    @Override
    public void close() {
        cached.close();
    }
}
