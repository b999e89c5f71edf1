// SPDX-License-Identifier: Apache-2.0
package io.penstock.crash;

import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.memory.TensorSpec;
import io.penstock.store.Column;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.RecordStore;
import io.penstock.store.Store;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.Digests;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/** All that a reader finds in a store, as a digest. */
final class StoreContent {

    private final MessageDigest sha256 = Digests.sha256();

    private StoreContent() {
    }

    /**
     * Reads a store whole, and verifies it.
     *
     * @throws IOException if it does not open, or {@code verify} says that it is not good
     */
    static String digest(Path path, OpenOptions options) throws IOException {
        StoreContent content = new StoreContent();
        try (Store store = Store.open(path, options)) {
            switch (store) {
                case TokenStore tokens -> content.add(tokens);
                case TensorStore tensors -> content.add(tensors);
                case RecordStore records -> content.add(records);
            }
        }
        try {
            Verification verification = Verification.run(Location.of(path), options, 1, Progress.NONE);
            if (!verification.isGood()) {
                throw new IOException(path + " opens, but verify says: " + verification.faults());
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return HexFormat.of().formatHex(content.sha256.digest());
    }

    private void add(TokenStore store) {
        add(store.dtype() + " " + store.tokenCount());
        for (long d = 0; d <= store.documentCount(); d++) {
            add(" " + store.documentStart(d));
        }
        Span span = new Span();
        int parts = store.parts(0, store.tokenCount());
        for (int part = 0; part < parts; part++) {
            store.locatePart(0, store.tokenCount(), part, span);
            add(span);
        }
    }

    private void add(TensorStore store) {
        List<TensorSpec> specs = store.tensors();
        for (int i = 0; i < specs.size(); i++) {
            add(specs.get(i).toString());
            sha256.update(store.tensor(i).segment().asByteBuffer());
        }
    }

    private void add(RecordStore store) {
        List<Column> columns = store.columns();
        Span span = new Span();
        for (long r = 0; r < store.size(); r++) {
            for (int c = 0; c < columns.size(); c++) {
                add(columns.get(c).name());
                if (store.isPresent(r, c)) {
                    store.locate(r, c, span);
                    add(span);
                }
            }
        }
    }

    private void add(String text) {
        sha256.update((text + "\n").getBytes());
    }

    private void add(Span span) {
        ByteBuffer bytes = span.segment().asSlice(span.byteOffset(), span.byteSize()).asByteBuffer();
        sha256.update(bytes);
    }
}
