// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** An index and the safetensors files that it names. */
final class SafetensorsShardsFuzz {

    private static final String[] NAMES = {"model.safetensors.index.json", "model-00001-of-00003.safetensors",
        "model-00002-of-00003.safetensors", "model-00003-of-00003.safetensors"};

    private static final StoreFuzz FILES = StoreFuzz.of("safetensors", "safetensors", NAMES);

    static final FuzzTarget TARGET = new FuzzTarget() {

        @Override
        public List<byte[]> seeds() throws IOException {
            Path fixture = Fixtures.path("safetensors/sharded");
            byte[][] files = new byte[NAMES.length][];
            for (int i = 0; i < files.length; i++) {
                files[i] = Files.readAllBytes(fixture.resolve(NAMES[i]));
            }
            return Stream.of(files, new byte[][] {files[0]}).map(List::of).map(Parts::join).toList();
        }

        @Override
        public void run(byte[] input, Path folder) throws IOException {
            FILES.run(input, folder);
        }
    };

    private SafetensorsShardsFuzz() {
    }
}
