// SPDX-License-Identifier: Apache-2.0
package io.penstock.stream;

import io.penstock.dataset.Packing;
import io.penstock.dataset.Packing.PackedWindow;
import io.penstock.memory.DType;
import io.penstock.store.TokenContent;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sequences packed from a stream of documents while it arrives, as {@link Packing} packs those of a store: so many
 * documents of a partition at a time, without cutting a document that fits one sequence. The rest at the partition's
 * end is packed too.
 *
 * {@snippet id=Streams :
 * PackedSource sequences = new PackedSource(documents, 2048, Packing.Method.BEST_FIT, 1000);
 * try (PackedStream packed = StreamDataset.builder(sequences).shuffle(42, 64).openPacked();
 *         DataLoader loader = DataLoader.builder(packed).collator(PackedLm.of(DType.I64)).batchSize(8).open()) {
 *     train(loader);
 * }
 * }
 *
 * <p>A record is a sequence. The window of documents is in memory, and a run that resumes reads at most one of them
 * again. {@code docs/spec/streams.md} specifies the cursor.
 *
 * @param documents the documents
 * @param capacity tokens per sequence, at least 1
 * @param method how to choose the sequence of a document
 * @param window documents packed together, at least 1
 */
public record PackedSource(StreamSource.OfTokens documents, int capacity, Packing.Method method, int window)
        implements StreamSource {

    /**
     * Checks.
     *
     * @throws IllegalArgumentException if a number is below 1, or the documents are answers
     */
    public PackedSource {
        Objects.requireNonNull(documents, "documents");
        Objects.requireNonNull(method, "method");
        if (documents.content() == TokenContent.ANSWERS) {
            throw new IllegalArgumentException("found answers, which are not packed, expected tokens");
        }
        if (capacity < 1 || window < 1) {
            throw new IllegalArgumentException("sequences of " + capacity + " tokens, packed from " + window
                    + " documents at a time: both must be at least 1");
        }
    }

    /** A bound: each piece has a token, and only the rest of a document shares a sequence. */
    int maxParts() {
        return Math.min(capacity, window);
    }

    DType dtype() {
        return documents.dtype();
    }

    @Override
    public String fingerprint() {
        return "packed:" + method + ":capacity=" + capacity + ":window=" + window + ":" + documents.fingerprint();
    }

    @Override
    public List<String> partitions() {
        return documents.partitions();
    }

    /**
     * {@inheritDoc}
     *
     * <p>The cursor is the number of sequences given of a window, the number of its documents, or 0 if none was given,
     * and the cursor before it: {@code 3,1000:CURSOR}.
     */
    @Override
    public PartitionReader open(int partition, String cursor) throws IOException {
        String name = partitions().get(partition);
        if (cursor.isEmpty()) {
            return new Packer(name, documents.open(partition, ""), 0, 0);
        }
        int comma = cursor.indexOf(',');
        int colon = cursor.indexOf(':', comma);
        try {
            int given = Integer.parseInt(cursor, 0, Math.max(0, comma), 10);
            int count = Integer.parseInt(cursor, comma + 1, Math.max(0, colon), 10);
            return new Packer(name, documents.open(partition, cursor.substring(colon + 1)), given, count);
        } catch (NumberFormatException | IndexOutOfBoundsException e) {
            throw new IOException(name + ": found cursor '" + cursor + "', expected a number of sequences, a comma, a"
                    + " number of documents, a colon and the cursor of a document", e);
        }
    }

    /** Packs one partition. */
    private final class Packer implements PartitionReader {

        private final String name;
        private final PartitionReader source;
        private final int tokenBytes = dtype().byteSize();
        private final RecordBuffer collected = new RecordBuffer();
        /** A sequence being written. */
        private final MemorySegment record = MemorySegment.ofArray(
                new byte[Math.toIntExact(PackedRecord.maxBytes(capacity, maxParts(), tokenBytes))]);
        /** The sequences of the documents that were collected; null while there are too few. */
        private @Nullable PackedWindow packed;
        private int next;
        /** Before the first document of the window. */
        private String windowCursor;
        private boolean isOver;
        /** Sequences that an earlier run has given, and of how many documents they were packed. */
        private int skip;
        private int documentsOfState;

        Packer(String name, PartitionReader source, int skip, int documentsOfState) throws IOException {
            this.name = name;
            this.source = source;
            this.windowCursor = source.cursor();
            this.skip = skip;
            this.documentsOfState = documentsOfState;
        }

        @Override
        public Found poll(RecordBuffer into) throws IOException {
            PackedWindow sequences = packed;
            if (sequences == null) {
                int wanted = skip > 0 ? documentsOfState : window;
                while (collected.count() < wanted && !isOver) {
                    switch (source.poll(collected)) {
                        case RECORD -> { }
                        case NOTHING_YET -> {
                            return Found.NOTHING_YET;
                        }
                        case END -> isOver = true;
                    }
                }
                if (collected.count() == 0 && skip == 0) {
                    return Found.END;
                }
                sequences = pack();
            }
            long bytes = PackedRecord.write(record, sequences, next++, collected, tokenBytes);
            into.add(record, 0, bytes);
            if (next == sequences.sequences()) {
                packed = null;
                next = 0;
                collected.clear();
                windowCursor = source.cursor();
            }
            return Found.RECORD;
        }

        private PackedWindow pack() throws IOException {
            PackedWindow sequences = PackedWindow.of(collected.count(),
                    document -> (collected.end(document) - collected.begin(document)) / tokenBytes, capacity, method);
            if (skip > 0 && (collected.count() != documentsOfState || skip >= sequences.sequences())) {
                throw new IOException(name + ", behind cursor '" + windowCursor + "': found " + collected.count()
                        + " documents in " + sequences.sequences() + " sequences, expected " + documentsOfState
                        + " in more than " + skip + ", as the saved state has read");
            }
            packed = sequences;
            next = skip;
            skip = 0;
            return sequences;
        }

        @Override
        public String cursor() throws IOException {
            return (packed == null ? skip : next) + "," + (packed == null ? skip > 0 ? documentsOfState : 0
                    : collected.count()) + ":" + windowCursor;
        }

        @Override
        public void keep() throws IOException {
            source.keep();
        }

        /** The last documents of a partition are packed, though they may be fewer than a window. */
        @Override
        public boolean hasMetEnd() {
            return isOver || source.hasMetEnd();
        }

        @Override
        public Lag lag() {
            return source.lag();
        }

        @Override
        public void close() throws IOException {
            collected.close();
            source.close();
        }
    }
}
