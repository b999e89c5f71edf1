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
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;

/**
 * All that a reader finds in a store.
 *
 * @param size its tokens, tensors or records
 * @param digest of all of them
 */
record StoreContent(long size, String digest) {

    /**
     * Reads a store whole.
     *
     * @throws IOException if it does not open
     */
    static StoreContent of(Path path, OpenOptions options) throws IOException {
        MessageDigest sha256 = Digests.sha256();
        long size;
        try (Store store = Store.open(path, options)) {
            size = switch (store) {
                case TokenStore tokens -> add(sha256, tokens);
                case TensorStore tensors -> add(sha256, tensors);
                case RecordStore records -> add(sha256, records);
            };
        }
        return new StoreContent(size, HexFormat.of().formatHex(sha256.digest()));
    }

    /**
     * Reads a store whole, and verifies it.
     *
     * @throws IOException if it does not open, or {@code verify} says that it is not good
     */
    static StoreContent verified(Path path, OpenOptions options) throws IOException {
        StoreContent content = of(path, options);
        try {
            Verification verification = Verification.run(Location.of(path), options, 1, Progress.NONE);
            if (!verification.isGood()) {
                throw new IOException(path + " opens, but verify says: " + verification.faults());
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return content;
    }

    private static long add(MessageDigest sha256, TokenStore store) {
        add(sha256, store.dtype() + " " + store.tokenCount());
        for (long d = 0; d <= store.documentCount(); d++) {
            add(sha256, " " + store.documentStart(d));
        }
        Span span = new Span();
        int parts = store.parts(0, store.tokenCount());
        for (int part = 0; part < parts; part++) {
            store.locatePart(0, store.tokenCount(), part, span);
            add(sha256, span);
        }
        return store.tokenCount();
    }

    private static long add(MessageDigest sha256, TensorStore store) {
        List<TensorSpec> specs = store.tensors();
        for (int i = 0; i < specs.size(); i++) {
            add(sha256, specs.get(i).toString());
            sha256.update(store.tensor(i).segment().asByteBuffer());
        }
        return specs.size();
    }

    private static long add(MessageDigest sha256, RecordStore store) {
        List<Column> columns = store.columns();
        Span span = new Span();
        for (long r = 0; r < store.size(); r++) {
            for (int c = 0; c < columns.size(); c++) {
                add(sha256, columns.get(c).name());
                if (store.isPresent(r, c)) {
                    store.locate(r, c, span);
                    add(sha256, span);
                }
            }
        }
        return store.size();
    }

    private static void add(MessageDigest sha256, String text) {
        sha256.update((text + "\n").getBytes());
    }

    private static void add(MessageDigest sha256, Span span) {
        sha256.update(span.slice().asByteBuffer());
    }
}
