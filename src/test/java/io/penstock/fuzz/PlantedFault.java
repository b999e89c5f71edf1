// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** A parser with a fault that blind mutations do not find: what shows that fuzzing here is guided, and reports. */
final class PlantedFault implements FuzzTarget {

    static final FuzzTarget TARGET = new PlantedFault();

    private PlantedFault() {
    }

    @Override
    public int maxBytes() {
        return 64;
    }

    @Override
    public List<byte[]> seeds() {
        return List.of(new byte[32]);
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        Files.write(folder.resolve("x"), input);
        byte[] read = Files.readAllBytes(folder.resolve("x"));
        if (read.length > 8 && read[1] == 'f' && read[3] == 'a' && read[5] == 'u' && read[7] == 'l') {
            throw new IllegalStateException("the planted fault");
        }
    }
}
