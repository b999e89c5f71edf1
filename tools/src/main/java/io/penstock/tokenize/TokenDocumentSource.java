// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.PenstockException;
import io.penstock.internal.Sha256;
import io.penstock.memory.DType;
import io.penstock.store.TokenContent;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.RecordText;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The tokens of a stream of documents, which are never stored. A record is a document: its text encoded, and the
 * tokenizer's end-of-text token; {@code u16} if the vocabulary has at most 65,536 tokens, else {@code u32}. Or it is
 * what a {@link LineEncoder} makes of a record in JSON, such as the tokens of a conversation; {@code i32}. Encoding
 * runs on the stream's thread.
 *
 * {@snippet id=Streams :
 * var tokens = TokenDocumentSource.of(texts, RecordText.jsonField("text"), Tokenizer.of("gpt2"));
 * StreamDataset records = StreamDataset.builder(tokens).list("tokens", tokens.dtype(), 2048).open();
 * DataLoader loader = DataLoader.builder(records).collator(Pad.toLongest(DType.I64, 0)).batchSize(8).open();
 * }
 */
public final class TokenDocumentSource implements StreamSource.OfTokens {

    private static final System.Logger LOG = System.getLogger(TokenDocumentSource.class.getName());
    /** Bad records that a reader names in the log. */
    private static final int NAMED = 10;

    private final StreamSource documents;
    private final RecordText text;
    private final Tokenizer tokenizer;
    /** Encodes whole records; null if they are texts. */
    private final @Nullable LineEncoder lines;
    /** Whether records without text are left out. */
    private final boolean skipsBad;

    private TokenDocumentSource(StreamSource documents, RecordText text, Tokenizer tokenizer,
            @Nullable LineEncoder lines, boolean skipsBad) {
        this.documents = Objects.requireNonNull(documents, "documents");
        this.text = Objects.requireNonNull(text, "text");
        this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
        this.lines = lines;
        this.skipsBad = skipsBad;
        if (documents.parts().size() > 1) {
            throw new IllegalArgumentException("found records of the parts " + documents.parts() + ", expected one"
                    + " part, with the text");
        }
    }

    /**
     * The tokens of a stream of documents. A record without text is an error.
     *
     * @param documents the documents, one a record
     * @param text finds the text of a record
     * @param tokenizer encodes the text; special tokens in it are plain text
     * @return the source
     */
    public static TokenDocumentSource of(StreamSource documents, RecordText text, Tokenizer tokenizer) {
        return new TokenDocumentSource(documents, text, tokenizer, null, false);
    }

    /**
     * What an encoder makes of a stream of records in JSON: the numbers that {@link TokenizeJob#lines} writes to a
     * store of them. A record that cannot be encoded is an error; one that the encoder leaves out is left out and
     * counted, in {@link PartitionReader.Lag#skipped}.
     *
     * {@snippet id=Streams :
     * Tokenizer tokenizer = Tokenizer.of(Path.of("model/tokenizer.json"));
     * ChatTokenizer chats = ChatTokenizer.of(ChatTemplate.of(Path.of("model")), tokenizer);
     * var conversations = TokenDocumentSource.of(LineSource.of(Path.of("chats.jsonl")), tokenizer, chats);
     * PackedSource sequences = new PackedSource(conversations, 4096, Packing.Method.BEST_FIT, 1000);
     * PackedStream packed = StreamDataset.builder(sequences).shuffle(42, 64).openPacked();
     * }
     *
     * @param records the records, one JSON object each
     * @param tokenizer the encoder's tokenizer
     * @param lines encodes a record
     * @return the source
     */
    public static TokenDocumentSource of(StreamSource records, Tokenizer tokenizer, LineEncoder lines) {
        return new TokenDocumentSource(records, RecordText.WHOLE, tokenizer, Objects.requireNonNull(lines, "lines"),
                false);
    }

    /**
     * The same without the records that have no text, or that cannot be encoded, which are counted, and of which the
     * first ones are named in the log. Leaving them out is part of the order: a run resumes only with it.
     *
     * @return the source
     */
    public TokenDocumentSource skippingBad() {
        return new TokenDocumentSource(documents, text, tokenizer, lines, true);
    }

    @Override
    public DType dtype() {
        return lines != null ? DType.I32 : tokenizer.vocabularySize() <= 1 << 16 ? DType.U16 : DType.U32;
    }

    @Override
    public TokenContent content() {
        return lines != null ? lines.content() : TokenContent.TOKENS;
    }

    /** {@return the tokenizer, where the text is or how records are encoded, and the documents} */
    @Override
    public String fingerprint() {
        String where = lines == null ? text.fingerprint() : digest(lines, tokenizer);
        return tokenizer.name() + ":" + (where.isEmpty() ? "" : where + ":") + (skipsBad ? "skip-bad:" : "")
                + documents.fingerprint();
    }

    private static String digest(LineEncoder lines, Tokenizer tokenizer) {
        MessageDigest sha256 = Sha256.digest();
        sha256.update((tokenizer.vocabularySha256() + "\n" + lines.fingerprint()).getBytes(StandardCharsets.UTF_8));
        return "lines=" + Sha256.shortHex(sha256);
    }

    @Override
    public List<String> partitions() {
        return documents.partitions();
    }

    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        return new Encoder(partitions().get(partition), documents.open(partition, cursor));
    }

    /** Encodes the documents of one partition. */
    private final class Encoder implements PartitionReader {

        private final String name;
        private final PartitionReader source;
        private final RecordText texts = text.forOneThread();
        private final RecordBuffer document = new RecordBuffer();
        private final TokenBuffer encoded = new TokenBuffer();
        private byte[] tokens = {};
        private long skipped;
        private long bad;

        Encoder(String name, PartitionReader source) {
            this.name = name;
            this.source = source;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            while (true) {
                document.clear();
                Found found = source.poll(document);
                if (found != Found.RECORD) {
                    return found;
                }
                encoded.clear();
                try {
                    MemorySegment utf8 = texts.of(document.record(0));
                    if (lines != null && isBlank(utf8)) {
                        continue;
                    }
                    if (!encode(utf8)) {
                        skipped++;
                        continue;
                    }
                } catch (IOException | PenstockException | IllegalArgumentException e) {
                    String message = name + ", record before cursor '" + source.cursor() + "': " + e.getMessage();
                    if (!skipsBad) {
                        throw new IOException(message, e);
                    }
                    skipped++;
                    if (bad++ < NAMED) {
                        LOG.log(System.Logger.Level.WARNING, "bad record skipped: {0}", message);
                    }
                    continue;
                }
                int bytes = Math.multiplyExact(encoded.size(), dtype().byteSize());
                if (bytes > tokens.length) {
                    tokens = new byte[Math.max(bytes, Math.multiplyExact(encoded.size(), 6))];
                }
                encoded.copyTo(MemorySegment.ofArray(tokens), dtype());
                into.add(tokens, 0, bytes);
                return Found.RECORD;
            }
        }

        private static boolean isBlank(MemorySegment utf8) {
            for (long i = 0; i < utf8.byteSize(); i++) {
                byte at = utf8.get(ValueLayout.JAVA_BYTE, i);
                if (at != ' ' && at != '\t' && at != '\r' && at != '\n') {
                    return false;
                }
            }
            return true;
        }

        /** Returns whether the record is a document. */
        private boolean encode(MemorySegment utf8) {
            if (lines != null) {
                byte[] line = utf8.toArray(ValueLayout.JAVA_BYTE);
                return lines.encode(line, 0, line.length, encoded);
            }
            tokenizer.encode(utf8, SpecialText.ORDINARY, encoded);
            encoded.append(tokenizer.endOfText());
            return true;
        }

        @Override
        public String cursor() throws IOException {
            return source.cursor();
        }

        @Override
        public void keep() throws IOException {
            source.keep();
        }

        @Override
        public boolean hasMetEnd() {
            return source.hasMetEnd();
        }

        @Override
        public Lag lag() {
            Lag lag = source.lag();
            return new Lag(lag.behind(), lag.newestMillis(), lag.skipped() + skipped);
        }

        @Override
        public void close() throws IOException {
            document.close();
            source.close();
        }
    }
}
