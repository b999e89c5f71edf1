// SPDX-License-Identifier: Apache-2.0
package io.penstock.format.mds;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.store.Fixtures;
import io.penstock.store.OpenOptions;
import io.penstock.store.Progress;
import io.penstock.store.integrity.Verification;
import io.penstock.store.integrity.Verification.CheckedFile;
import io.penstock.store.integrity.Verification.Fault;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The digests that an index has of its shards are checked. */
class MdsVerificationTest {

    @TempDir
    private Path folder;

    private static Verification verify(Path path) throws IOException, InterruptedException {
        return Verification.run(Location.of(path), OpenOptions.DEFAULT, 2, Progress.NONE);
    }

    @Test
    void digestsInAnIndexOfMdsAreChecked() throws Exception {
        Path source = Fixtures.entries("mds").filter(e -> e.expect().equals("read") && e.fields().toString()
                .contains("xxh64")).findFirst().orElseThrow().path();
        Path home = Files.isDirectory(source) ? source : source.getParent();
        Path copy = Files.createDirectories(folder.resolve("mds-hashes"));
        List<Path> shards = new ArrayList<>();
        try (Stream<Path> files = Files.list(home)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target = Files.copy(file, copy.resolve(file.getFileName()));
                if (!target.endsWith("index.json")) {
                    shards.add(target);
                }
            }
        }
        Verification good = verify(copy);
        assertEquals(List.of(), good.faults());
        for (CheckedFile file : good.files()) {
            assertEquals(!file.file().name().equals("index.json"), file.checks().contains("index hashes"),
                    file.toString());
        }
        byte[] bytes = Files.readAllBytes(shards.getFirst());
        bytes[bytes.length - 1] ^= 1;
        Files.write(shards.getFirst(), bytes);
        List<Fault> faults = verify(copy).faults();
        assertEquals(Location.of(shards.getFirst()), faults.getFirst().file());
        assertEquals("index hashes", faults.getFirst().check());
    }

    @Test
    void aShardWithoutADigestIsNotSaidToBeChecked() throws Exception {
        Path home = Files.createDirectories(folder.resolve("mds-without"));
        List<String> shards = new ArrayList<>();
        for (String name : List.of("a.mds", "b.mds")) {
            try (MdsShardWriter shard = MdsShardWriter.create(home.resolve(name), new TreeMap<>(Map.of("x", "str")))) {
                shard.write(List.of(MemorySegment.ofArray(name.getBytes(StandardCharsets.UTF_8))));
                shards.add(shard.commit(name));
            }
        }
        shards.set(1, shards.get(1).replaceFirst("\\{\"sha256\":\"[0-9a-f]{64}\"}", "{}"));
        Files.writeString(home.resolve("index.json"), MdsShardWriter.index(shards));
        Verification found = verify(home);
        assertTrue(found.isGood(), found.toString());
        assertEquals(List.of(List.of("structure", "content"), List.of("structure", "index hashes", "content"),
                List.of("structure", "content")), found.files().stream().map(CheckedFile::checks).toList());
    }
}
