// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Archives of arrays: the zip directory, zip64 as well, deflated members, the headers in them. */
final class NpzFuzz {

    private static final StoreFuzz FILE = StoreFuzz.of("npz", "npz", "x.npz");

    static final FuzzTarget TARGET = new FuzzTarget() {

        @Override
        public List<byte[]> seeds() throws IOException {
            List<byte[]> seeds = new ArrayList<>(FILE.seeds());
            try (Stream<Path> more = Files.list(Fixtures.path("..").resolve("npz"))) {
                for (Path file : more.filter(path -> path.toString().endsWith(".npz")).sorted().toList()) {
                    seeds.add(Files.readAllBytes(file));
                }
            }
            return seeds;
        }

        @Override
        public void run(byte[] input, Path folder) throws IOException {
            FILE.run(input, folder);
        }
    };

    private NpzFuzz() {
    }
}
