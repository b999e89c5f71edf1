// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import io.penstock.error.PenstockException;
import io.penstock.internal.Sha256;
import io.penstock.io.Location;
import io.penstock.io.ReadMode;
import io.penstock.io.Rows;
import io.penstock.io.Span;
import io.penstock.io.SpanReader;
import io.penstock.memory.Tensor;
import io.penstock.store.Inspection.Depth;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.HexFormat;

/** Reads a store in all ways, to compare one with another. */
public final class StoreContent {

    private StoreContent() {
    }

    /** All that a store says and holds, or why it is refused. */
    public static String read(Location path) throws IOException {
        StringBuilder all = new StringBuilder();
        try (Store store = Store.open(path, OpenOptions.DEFAULT)) {
            for (ReadMode mode : new ReadMode[] {ReadMode.MMAP, ReadMode.PREAD}) {
                try (SpanReader reader = new SpanReader(mode)) {
                    Content content = new Content(reader);
                    switch (store) {
                        case TokenStore tokens -> content.add(tokens);
                        case TensorStore tensors -> content.add(tensors);
                        case RecordStore records -> content.add(records);
                    }
                    all.append(content.hex()).append('\n');
                }
            }
            all.append(Inspection.of(path, store, Depth.CONTENT,
                    Progress.NONE).toMap());
        } catch (IOException | IllegalArgumentException | PenstockException e) {
            all.append(e);
        } catch (UncheckedIOException e) {
            all.append(e.getCause());
        }
        return all.toString();
    }

    /** Digests what a reader copies. */
    private static final class Content {

        private final SpanReader reader;
        private final MessageDigest sha256 = Sha256.digest();
        private final Span span = new Span();

        Content(SpanReader reader) {
            this.reader = reader;
        }

        void add(TokenStore store) {
            for (long document = 0; document <= store.documentCount(); document++) {
                add(store.documentStart(document));
            }
            for (long token = 0; token < store.tokenCount(); token += 7) {
                long count = Math.min(7, store.tokenCount() - token);
                for (int part = 0; part < store.parts(token, count); part++) {
                    store.locatePart(token, count, part, span);
                    addSpan();
                }
            }
        }

        void add(TensorStore store) {
            for (int i = 0; i < store.tensors().size(); i++) {
                long rows = store.tensors().get(i).rank() == 0 ? 1 : store.tensors().get(i).dim(0);
                for (long row = 0; row < rows; row++) {
                    store.locate(i, row, 1, span);
                    addSpan();
                }
                Rows all = store.tensors().get(i).rank() == 0 ? null : store.rows(i);
                if (all != null && rows > 0 && rows < 10_000) {
                    addRows(all, (int) rows);
                }
                Tensor tensor = store.tensor(i);
                Sha256.update(sha256, tensor.segment());
            }
        }

        void add(RecordStore store) {
            for (long record = 0; record < store.size(); record++) {
                for (int column = 0; column < store.columns().size(); column++) {
                    if (store.isPresent(record, column)) {
                        store.locate(record, column, span);
                        addSpan();
                    }
                }
            }
        }

        private void add(long number) {
            sha256.update(Long.toString(number).getBytes());
        }

        private void addRows(Rows all, int count) {
            long[] indices = new long[count];
            for (int i = 0; i < count; i++) {
                indices[i] = count - 1 - i;
            }
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment copy = arena.allocate(all.rowBytes() * count, Long.BYTES);
                reader.copyRows(all, indices, count, copy, 0);
                Sha256.update(sha256, copy);
            }
        }

        private void addSpan() {
            add(span.byteSize());
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment copy = arena.allocate(span.byteSize(), Long.BYTES);
                reader.copy(span, copy, 0);
                Sha256.update(sha256, copy);
            }
        }

        String hex() {
            return HexFormat.of().formatHex(sha256.digest());
        }
    }
}
