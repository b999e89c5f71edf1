// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.image.reading.JpegLibrary;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** JPEG by every library that is there. */
final class JpegFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new JpegFuzz();

    private JpegFuzz() {
    }

    @Override
    public int maxBytes() {
        return 4 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>(PixelOracle.images(".jpg"));
        for (Fixtures.Entry entry : Fixtures.entries("images").filter(e -> e.toString().endsWith(".jpg")).toList()) {
            seeds.add(Files.readAllBytes(entry.path()));
        }
        return seeds;
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        for (JpegLibrary library : JpegLibrary.values()) {
            if (library.isPresent()) {
                PixelOracle.check(input, library);
            }
        }
    }
}
