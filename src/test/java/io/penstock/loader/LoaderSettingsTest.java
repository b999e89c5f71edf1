// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.error.MalformedStoreException;
import io.penstock.io.ReadMode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LoaderSettingsTest {

    @TempDir
    Path folder;

    @Test
    void comeBackFromTheirFileAsTheyWere() throws IOException {
        SplittableRandom random = new SplittableRandom(8);
        Path file = folder.resolve("settings.json");
        for (int i = 0; i < 64; i++) {
            LoaderSettings settings = new LoaderSettings(
                    (i & 1) == 0 ? OptionalInt.empty() : OptionalInt.of(random.nextInt(100)),
                    (i & 2) == 0 ? OptionalInt.empty() : OptionalInt.of(1 + random.nextInt(100)),
                    (i & 4) == 0 ? Optional.empty()
                            : Optional.of(ReadMode.values()[random.nextInt(ReadMode.values().length)]),
                    (i & 8) == 0 ? OptionalInt.empty() : OptionalInt.of(2 + random.nextInt(9)),
                    (i & 16) == 0 ? "" : "\"made\" by\nhand");
            settings.write(file);
            assertEquals(settings, LoaderSettings.read(file));
        }
    }

    @Test
    void theDocumentedFormIsRead() {
        LoaderSettings settings = LoaderSettings.fromJson("""
                {"loader_settings": 1, "workers": 2, "prefetch": 16, "read": "pread", "device_slots": 4, "note": "x"}
                """);
        assertEquals("workers 2, prefetch 16, read pread, device slots 4", settings.toString());
    }

    /** What is written to the same memory again and again stays in the cache; what a GPU takes away need not. */
    @ParameterizedTest
    @CsvSource({"1, 65536, 16, 16", "1, 262144, 8, 16", "1, 524288, 4, 16", "1, 1048576, 2, 8", "1, 20000000, 2, 2",
        "8, 524288, 16, 16", "0, 4194304, 2, 2"})
    void smallBatchesAreMadeAheadByTheirBytes(int workers, long slabBytes, int inPlace, int copied) {
        assertEquals(inPlace, LoaderSettings.defaults(workers, slabBytes, TransferMode.IN_PLACE).prefetch()
                .orElseThrow());
        assertEquals(inPlace, LoaderSettings.defaults(workers, slabBytes, TransferMode.AUTO).prefetch().orElseThrow());
        assertEquals(copied, LoaderSettings.defaults(workers, slabBytes, TransferMode.COPY).prefetch().orElseThrow());
    }

    @ParameterizedTest
    @CsvSource(quoteCharacter = '^', delimiter = '|', value = {
        "{^ | ^at offset",
        "[]^ | ^found an array, expected an object",
        "{}^ | ^loader_settings: found nothing, expected 1",
        "{\"loader_settings\": 2}^ | ^loader_settings: found 2, expected 1",
        "{\"loader_settings\": 1, \"worker\": 2}^ | ^found 'worker', expected loader_settings, workers, prefetch, read",
        "{\"loader_settings\": 1, \"workers\": -1}^ | ^workers: found -1, expected 0 to 1024",
        "{\"loader_settings\": 1, \"workers\": 1.5}^ | ^workers: found 1.5, expected a 32-bit integer",
        "{\"loader_settings\": 1, \"workers\": null}^ | ^workers: found null, expected a 32-bit integer",
        "{\"loader_settings\": 1, \"workers\": 4294967297}^ | ^workers: found 4294967297, expected a 32-bit",
        "{\"loader_settings\": 1, \"prefetch\": 0}^ | ^prefetch: found 0, expected 1 to 65536",
        "{\"loader_settings\": 1, \"device_slots\": 1}^ | ^device_slots: found 1, expected 2 to 1024",
        "{\"loader_settings\": 1, \"read\": \"fast\"}^ | ^unknown read mode 'fast'",
        "{\"loader_settings\": 1, \"note\": 7}^ | ^note: found 7, expected a string"})
    void nonsenseIsRefusedByName(String json, String expected) throws IOException {
        String text = json.replace("^", "").strip();
        Path file = Files.writeString(folder.resolve("s.json"), text);
        String message = assertThrows(MalformedStoreException.class, () -> LoaderSettings.read(file)).getMessage();
        assertTrue(message.startsWith(file + ": ") && message.contains(expected.replace("^", "").strip()), message);
    }

    @Test
    void bytesThatAreNoTextAndAFileThatIsTooLargeAreRefused() throws IOException {
        Path file = Files.write(folder.resolve("s.json"), new byte[] {'{', (byte) 0xFF});
        assertTrue(assertThrows(MalformedStoreException.class, () -> LoaderSettings.read(file)).getMessage()
                .startsWith(file + ": not loader settings: "));
        Files.write(file, new byte[100_000]);
        assertThrows(MalformedStoreException.class, () -> LoaderSettings.read(file));
    }
}
