// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.json.Json;
import io.penstock.store.Fixtures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code penstock checksum} and {@code penstock verify}. */
class VerifyCommandTest {

    @TempDir
    private Path folder;

    private Path bin;
    private Path idx;

    @BeforeEach
    void copyStore() throws IOException {
        bin = Files.copy(Fixtures.path("megatron/u16_docs.bin"), folder.resolve("docs.bin"));
        idx = Files.copy(Fixtures.path("megatron/u16_docs.idx"), folder.resolve("docs.idx"));
    }

    @Test
    void aStoreThatWasChecksummedIsGoodUntilABitFlips() throws IOException {
        CommandRun written = CommandRun.of("checksum", bin, idx, "--json");
        assertEquals(0, written.exitCode(), written.err());
        List<Object> files = Json.array(Json.parse(written.out()));
        assertEquals(bin + ".crc32c", Json.object(files.getFirst()).get("checksums"));
        assertEquals(1L, Json.object(files.getFirst()).get("blocks"));
        CommandRun good = CommandRun.of("verify", folder.resolve("docs"), "--threads", 1);
        assertEquals(0, good.exitCode(), good.err());
        assertEquals(folder.resolve("docs") + ": good, 23.2 kB\n  " + idx + ": structure, crc32c\n  " + bin
                + ": structure, crc32c\n", good.out());
        byte[] bytes = Files.readAllBytes(bin);
        bytes[20_000] ^= 1;
        Files.write(bin, bytes);
        CommandRun bad = CommandRun.of("verify", folder.resolve("docs"), "--json");
        assertEquals(3, bad.exitCode());
        Map<String, Object> result = bad.json();
        assertEquals(false, result.get("good"));
        Map<String, Object> fault = Json.object(Json.array(result.get("faults")).getFirst());
        assertEquals(List.of(bin.toString(), "crc32c", 0L, 0L, 21_904L), List.of(fault.get("file"), fault.get("check"),
                fault.get("first_block"), fault.get("first_byte"), fault.get("end_byte")));
        assertEquals("", bad.err());
    }

    @Test
    void imagesAreReadButNotDecodedAndTheTextSaysSo() throws IOException {
        Path images = Files.createDirectories(folder.resolve("images/cat"));
        Files.writeString(images.resolve("1.jpg"), "no picture");
        CommandRun run = CommandRun.of("verify", images.getParent());
        assertEquals(0, run.exitCode(), run.err());
        assertTrue(run.out().endsWith("  content: all files were read; images, sound and video in them were not"
                + " decoded\n"), run.out());
    }

    @Test
    void aStoreWithoutChecksumsIsSaidToHaveNoneAndABrokenOneIsBad() throws IOException {
        CommandRun run = CommandRun.of("verify", bin);
        assertEquals(0, run.exitCode());
        assertTrue(run.out().contains(": structure only (no checksums)\n"), run.out());
        CommandRun several = CommandRun.of("verify", "--json", bin, Fixtures.path("npy/reject_bad_magic.npy"));
        assertEquals(3, several.exitCode());
        assertEquals(List.of(true, false), Json.array(Json.parse(several.out())).stream()
                .map(each -> Json.object(each).get("good")).toList());
        CommandRun text = CommandRun.of("verify", Fixtures.path("npy/reject_bad_magic.npy"));
        assertTrue(text.out().contains(": BAD, ") && text.out().contains("\n  structure: "), text.out());
    }

    @Test
    void checksumsAreNotReplacedUnlessForced() throws IOException {
        assertEquals(0, CommandRun.of("checksum", bin).exitCode());
        Files.write(bin, new byte[65_537]);
        CommandRun refused = CommandRun.of("checksum", bin);
        assertEquals(1, refused.exitCode());
        assertEquals("penstock: " + bin + ".crc32c: exists already; --force replaces it\n", refused.err());
        CommandRun forced = CommandRun.of("checksum", bin, "--force");
        assertEquals(bin + ".crc32c: 2 blocks of 65536 bytes\n", forced.out());
        assertEquals(3, CommandRun.of("checksum", folder.resolve("absent")).exitCode());
        assertEquals(3, CommandRun.of("verify", folder.resolve("absent")).exitCode());
        assertEquals(2, CommandRun.of("verify", bin, "--threads", 0).exitCode());
    }
}
