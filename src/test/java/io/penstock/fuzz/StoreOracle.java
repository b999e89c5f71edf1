// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.error.PenstockException;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.json.Json;
import io.penstock.memory.Tensor;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.Inspection;
import io.penstock.store.Inspection.Depth;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;

/** What must hold of a store's files, whatever bytes they have: they are refused, or all that a store says agrees. */
final class StoreOracle {

    private static final int RANDOM_PLACES = 16;

    private final Path path;
    private final OpenOptions options;
    private final SplittableRandom random;
    private final Span span = new Span();

    /**
     * A check.
     *
     * @param path what is opened
     * @param options how
     * @param seed of the places that are looked at
     */
    StoreOracle(Path path, OpenOptions options, long seed) {
        this.path = path;
        this.options = options;
        this.random = new SplittableRandom(seed);
    }

    /** Opens, uses every accessor, closes. */
    void check() {
        try (Store store = Store.open(path, options)) {
            switch (store) {
                case TokenStore tokens -> check(tokens);
                case TensorStore tensors -> check(tensors);
                case RecordStore records -> check(records);
            }
            require(!store.toString().isEmpty(), "it has a name");
            String fingerprint = store.fingerprint();
            require(!fingerprint.isEmpty() && fingerprint.equals(store.fingerprint()), "one fingerprint");
            Inspection.of(Location.of(path), store, Depth.STRUCTURE, Progress.NONE);
            String inspection =
                    Json.write(Inspection.of(Location.of(path), store, Depth.CONTENT, Progress.NONE).toMap());
            require(Json.write(Json.parse(inspection)).equals(inspection), "its inspection is JSON");
        } catch (IOException | PenstockException e) {
            requireRefusal(e);
        }
    }

    private void check(TokenStore store) {
        long tokens = store.tokenCount();
        int tokenBytes = store.dtype().byteSize();
        require(tokens >= 0 && store.documentCount() >= 0, "counts");
        require(store.documentStart(store.documentCount()) == tokens, "documents are all tokens");
        long before = 0;
        for (long document = 0; document <= store.documentCount(); document++) {
            long start = store.documentStart(document);
            require(start >= before, "documents are in order");
            before = start;
        }
        for (long count : new long[] {0, Math.min(1, tokens), tokens}) {
            checkTokens(store, 0, count, tokenBytes);
            checkTokens(store, tokens - count, count, tokenBytes);
        }
        for (int i = 0; i < RANDOM_PLACES && tokens > 0; i++) {
            long first = random.nextLong(tokens);
            checkTokens(store, first, random.nextLong(tokens - first + 1), tokenBytes);
        }
        requireOutOfBounds(() -> store.locate(tokens, 1, span));
        requireOutOfBounds(() -> store.locate(-1, 1, span));
        requireOutOfBounds(() -> store.documentStart(store.documentCount() + 1));
    }

    /** A run of tokens is its pieces; it is located whole if it is one. */
    private void checkTokens(TokenStore store, long first, long count, int tokenBytes) {
        int parts = store.parts(first, count);
        require(parts == 1 || !store.isOneRun(), "tokens of one run lie together");
        long bytes = 0;
        for (int part = 0; part < parts; part++) {
            store.locatePart(first, count, part, span);
            requireReadable(span.byteSize());
            bytes += span.byteSize();
        }
        require(bytes == count * tokenBytes, "pieces are all of the tokens");
        if (parts == 1) {
            store.locate(first, count, span);
            requireReadable(count * tokenBytes);
        }
    }

    private void check(TensorStore store) {
        List<TensorSpec> specs = store.tensors();
        require(specs.stream().map(TensorSpec::name).distinct().count() == specs.size(), "names differ");
        for (int i = 0; i < specs.size(); i++) {
            TensorSpec spec = specs.get(i);
            try {
                check(store, i, spec);
            } catch (UncheckedIOException | PenstockException e) {
                requireRefusal(e);
                require(store.isConverted(i), "what is not decoded is not malformed once it is open");
            }
        }
        requireOutOfBounds(() -> store.tensor(specs.size()));
        requireOutOfBounds(() -> store.locate(specs.size(), 0, 1, span));
    }

    private void check(TensorStore store, int index, TensorSpec spec) {
        Tensor tensor = store.tensor(index);
        require(tensor.dtype() == spec.dtype() && Arrays.equals(tensor.shape(), spec.shape()), "a tensor as specified");
        require(tensor.byteSize() == spec.byteSize(), "all its bytes");
        long rows = spec.rank() == 0 ? 1 : spec.dim(0);
        long rowBytes = rows == 0 ? 0 : spec.byteSize() / rows;
        store.locate(index, 0, rows, span);
        requireReadable(spec.byteSize());
        require(span.slice().mismatch(tensor.segment()) == -1, "the same by locate as by tensor");
        store.locate(index, rows, 0, span);
        requireReadable(0);
        for (int i = 0; i < RANDOM_PLACES && rows > 0; i++) {
            long first = random.nextLong(rows);
            long count = random.nextLong(rows - first + 1);
            store.locate(index, first, count, span);
            requireReadable(count * rowBytes);
        }
        requireOutOfBounds(() -> store.locate(index, rows, 1, span));
        requireOutOfBounds(() -> store.locate(index, -1, 1, span));
    }

    private void check(RecordStore store) {
        List<Column> columns = store.columns();
        Set<String> names = new HashSet<>();
        require(!columns.isEmpty() || store.size() == 0, "a column");
        require(columns.stream().allMatch(column -> names.add(column.name())), "names differ");
        try {
            require(store.size() >= 0, "a size");
        } catch (UncheckedIOException | PenstockException e) {
            requireRefusal(e); // several databases, none selected
            return;
        }
        for (int i = 0; i < RANDOM_PLACES + 2 && store.size() > 0; i++) {
            long record = i == 0 ? 0 : i == 1 ? store.size() - 1 : random.nextLong(store.size());
            Objects.requireNonNull(store.name(record));
            for (int c = 0; c < columns.size(); c++) {
                check(store, record, c, columns.get(c).spec());
            }
        }
        requireOutOfBounds(() -> store.locate(store.size(), 0, span));
        requireOutOfBounds(() -> store.locate(-1, 0, span));
    }

    private void check(RecordStore store, long record, int column, TensorSpec spec) {
        boolean present;
        try {
            present = store.isPresent(record, column);
            store.locate(record, column, span);
        } catch (UncheckedIOException | PenstockException e) {
            requireRefusal(e);
            return;
        }
        require(present, "no value that is not present");
        long bytes = span.byteSize();
        requireReadable(bytes);
        if (!spec.isVariable()) {
            require(bytes == spec.byteSize(), "a value of the specified size");
            return;
        }
        require(spec.rowBytes() == 0 ? bytes == 0 : bytes % spec.rowBytes() == 0, "whole rows");
        long max = store.maxLength(column);
        require(max < 0 || bytes <= max * spec.rowBytes(), "no longer than the longest");
    }

    private void requireReadable(long bytes) {
        require(span.byteSize() == bytes, span.byteSize() + " bytes, expected " + bytes);
        if (bytes > 0) {
            span.segment().get(ValueLayout.JAVA_BYTE, span.byteOffset());
            span.segment().get(ValueLayout.JAVA_BYTE, span.byteOffset() + bytes - 1);
        }
    }

    private static void requireOutOfBounds(Runnable access) {
        try {
            access.run();
        } catch (IndexOutOfBoundsException _) {
            return;
        }
        throw new AssertionError("access out of bounds");
    }

    private void requireRefusal(Exception e) {
        requireOneLine(e.getMessage());
        require(e.getMessage().contains(path.getParent().toString()), "a message without the file: " + e.getMessage());
    }

    static void requireOneLine(String message) {
        require(message != null && message.lines().count() == 1 && !message.isBlank(), "one line: " + message);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
