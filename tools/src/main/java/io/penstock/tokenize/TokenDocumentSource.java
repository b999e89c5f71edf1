// SPDX-License-Identifier: Apache-2.0
package io.penstock.tokenize;

import io.penstock.error.PenstockException;
import io.penstock.memory.DType;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import io.penstock.stream.RecordText;
import io.penstock.stream.StreamSource;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

/**
 * The tokens of a stream of documents, which are never stored. A record is a document: its text encoded, and the
 * tokenizer's end-of-text token; {@code u16} if the vocabulary has at most 65,536 tokens, else {@code u32}. Encoding
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
    /** Whether records without text are left out. */
    private final boolean skipsBad;

    private TokenDocumentSource(StreamSource documents, RecordText text, Tokenizer tokenizer, boolean skipsBad) {
        this.documents = Objects.requireNonNull(documents, "documents");
        this.text = Objects.requireNonNull(text, "text");
        this.tokenizer = Objects.requireNonNull(tokenizer, "tokenizer");
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
        return new TokenDocumentSource(documents, text, tokenizer, false);
    }

    /**
     * The same without the records that have no text, which are counted, and of which the first ones are named in the
     * log. Leaving them out is part of the order: a run resumes only with it.
     *
     * @return the source
     */
    public TokenDocumentSource skippingBad() {
        return new TokenDocumentSource(documents, text, tokenizer, true);
    }

    @Override
    public DType dtype() {
        return tokenizer.vocabularySize() <= 1 << 16 ? DType.U16 : DType.U32;
    }

    /** {@return the tokenizer, where the text is, and the documents} */
    @Override
    public String fingerprint() {
        String where = text.fingerprint();
        return tokenizer.name() + ":" + (where.isEmpty() ? "" : where + ":") + (skipsBad ? "skip-bad:" : "")
                + documents.fingerprint();
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
                    tokenizer.encode(texts.of(document.record(0)), SpecialText.ORDINARY, encoded);
                } catch (IOException | PenstockException e) {
                    String message = name + ", record before cursor '" + source.cursor() + "': " + e.getMessage();
                    if (!skipsBad) {
                        throw new IOException(message, e);
                    }
                    if (skipped++ < NAMED) {
                        LOG.log(System.Logger.Level.WARNING, "bad record skipped: {0}", message);
                    }
                    continue;
                }
                encoded.append(tokenizer.endOfText());
                int bytes = Math.multiplyExact(encoded.size(), dtype().byteSize());
                if (bytes > tokens.length) {
                    tokens = new byte[Math.max(bytes, Math.multiplyExact(encoded.size(), 6))];
                }
                encoded.copyTo(MemorySegment.ofArray(tokens), dtype());
                into.add(tokens, 0, bytes);
                return Found.RECORD;
            }
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
