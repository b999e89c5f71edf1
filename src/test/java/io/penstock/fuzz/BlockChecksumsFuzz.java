// SPDX-License-Identifier: Apache-2.0
package io.penstock.fuzz;

import io.penstock.io.Location;
import io.penstock.io.publish.Folder;
import io.penstock.store.IfExists;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.integrity.BlockChecksums;
import io.penstock.store.integrity.Verification;
import io.penstock.testing.Folders;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Checksums and listings beside a file that anybody wrote: the check says good or bad, and nothing else. */
final class BlockChecksumsFuzz implements FuzzTarget {

    static final FuzzTarget TARGET = new BlockChecksumsFuzz();

    private static final byte[] CONTENT = new byte[9_000];

    private BlockChecksumsFuzz() {
    }

    @Override
    public int maxBytes() {
        return 1 << 10;
    }

    @Override
    public List<byte[]> seeds() throws IOException {
        Path folder = Folders.inMemory();
        try {
            Path file = Files.write(folder.resolve("x"), CONTENT);
            BlockChecksums.write(file, IfExists.FAIL, _ -> { });
            return List.of(Parts.join(List.of(Files.readAllBytes(BlockChecksums.pathFor(file)),
                    ("0".repeat(64) + "  x\n").getBytes(StandardCharsets.US_ASCII))));
        } finally {
            Folder.delete(folder);
        }
    }

    @Override
    public void run(byte[] input, Path folder) throws IOException {
        List<byte[]> parts = Parts.split(input, 2);
        Path file = Files.write(folder.resolve("x"), CONTENT);
        Files.write(BlockChecksums.pathFor(file), parts.getFirst());
        Files.write(folder.resolve("x.sha256"), parts.size() == 1 ? new byte[0] : parts.get(1));
        try {
            Verification.run(Location.of(file), OpenOptions.DEFAULT, 1, Progress.NONE).faults()
                    .forEach(fault -> StoreOracle.requireOneLine(fault.message()));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
