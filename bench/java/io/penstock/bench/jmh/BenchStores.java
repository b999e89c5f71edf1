// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.store.OpenOptions;
import io.penstock.store.RecordStore;
import io.penstock.store.TensorStore;
import io.penstock.store.TokenStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The stores that {@code bench/prepare.sh} writes; {@code -Dpenstock.bench.dir} names another folder. */
final class BenchStores {

    private static final Path FOLDER = Path.of(System.getProperty("penstock.bench.dir", "target/bench"));

    private BenchStores() {
    }

    /** A file of the folder. */
    static Path file(String name) {
        Path file = FOLDER.resolve(name).toAbsolutePath();
        if (!Files.isReadable(file)) {
            throw new IllegalStateException(file + " is not there: bench/README.md says what makes it");
        }
        return file;
    }

    /** 200 million {@code u16} tokens without documents. */
    static TokenStore tokens() throws IOException {
        return TokenStore.open(file("tokens.bin"), OpenOptions.DEFAULT.withFormat("nanogpt"));
    }

    /** 200,000 documents of 16 to 2048 {@code u16} tokens. */
    static TokenStore documents() throws IOException {
        return TokenStore.open(file("documents.idx"));
    }

    /** Images {@code u8[N, 3, side, side]}: 20,000 of side 64, 2,000 of side 224. */
    static TensorStore images(int side) throws IOException {
        return TensorStore.open(file("images-" + side + ".npy"));
    }

    /** 16,000 records of 20,000 bytes and a label, in 8 tars. */
    static RecordStore records() throws IOException {
        return RecordStore.open(file("webdataset"));
    }
}
