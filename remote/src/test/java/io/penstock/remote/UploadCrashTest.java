// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.remote.ObjectHost.Faults;
import io.penstock.remote.ObjectHost.RequestFault;
import io.penstock.store.IfExists;
import io.penstock.testing.Thorough;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Uploads whose requests fail, one after the other, and whose processes die. */
@Tag("slow")
class UploadCrashTest {

    private static final int PART = 1000;
    /** Whole with {@code -Dpenstock.kills=200}. */
    private static final int KILLS = Thorough.times("penstock.kills", 2, 6);

    /** What is written. */
    private enum Kind {
        /** One object, of several parts, and its checksums. */
        ONE("", ".crc32c"),
        /** A pair. */
        SEVERAL(".bin", ".idx", ".bin.crc32c");

        private final List<String> endings;

        Kind(String... endings) {
            this.endings = List.of(endings);
        }

        /** The objects of a version. */
        Map<String, byte[]> objects(int version) {
            Map<String, byte[]> objects = new TreeMap<>();
            for (int i = 0; i < endings.size(); i++) {
                objects.put("store" + endings.get(i), ObjectHost.bytes(i == 0 ? 2 * PART + 7 : 10, 10 * version + i));
            }
            return objects;
        }

        /** The objects without which there is no store. */
        Set<String> needed() {
            return this == ONE ? Set.of("store") : Set.of("store.bin", "store.idx");
        }
    }

    @TempDir
    private Path folder;

    private ObjectHost host;
    private RemoteFiles files;

    @BeforeEach
    void start() throws IOException {
        host = ObjectHost.start().bucket("bucket");
        files = host.files(folder);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private void write(Kind kind, int version, IfExists ifExists) throws IOException {
        try (Upload upload = files.upload("s3://bucket/store", ifExists, PART)) {
            for (Map.Entry<String, byte[]> object : kind.objects(version).entrySet()) {
                Files.write(upload.path().resolveSibling(object.getKey()), object.getValue());
            }
            upload.publish();
        }
    }

    /** The version of the store that a reader finds; 0 for none. A sidecar may be missing, not be another one's. */
    private int found(Kind kind, String when) {
        Map<String, byte[]> objects = host.objects();
        Set<Integer> versions = new TreeSet<>();
        for (int version = 1; version <= 2; version++) {
            for (Map.Entry<String, byte[]> object : kind.objects(version).entrySet()) {
                if (Arrays.equals(objects.get(object.getKey()), object.getValue())) {
                    versions.add(version);
                    objects.remove(object.getKey());
                }
            }
        }
        assertEquals(Map.of(), objects, when + ": damaged objects");
        if (!host.objects().keySet().containsAll(kind.needed())) {
            return 0;
        }
        assertEquals(1, versions.size(), when + ": objects of versions " + versions);
        return versions.iterator().next();
    }

    @ParameterizedTest
    @EnumSource
    void aNewStoreIsThereOrNotWhicheverRequestFails(Kind kind) throws IOException {
        eachRequestFails(kind, IfExists.FAIL);
    }

    @ParameterizedTest
    @EnumSource
    void aReplacedStoreIsTheOldOrTheNewWhicheverRequestFails(Kind kind) throws IOException {
        eachRequestFails(kind, IfExists.REPLACE);
    }

    private void eachRequestFails(Kind kind, IfExists mode) throws IOException {
        int requests = 0;
        for (int request = 0; request == 0 || request < requests; request++) {
            int at = request;
            Map<String, Faults> trials = new TreeMap<>();
            for (RequestFault fault : RequestFault.values()) {
                trials.put(fault + " once", (number, _) -> number == at ? fault : null);
            }
            for (RequestFault fault : List.of(RequestFault.LOST, RequestFault.UNAVAILABLE)) {
                trials.put(fault + ", then no answer any more", (number, _) -> number < at ? null : number == at
                        ? fault : RequestFault.UNAVAILABLE);
            }
            for (Map.Entry<String, Faults> trial : trials.entrySet()) {
                host.objects().keySet().forEach(host::remove);
                host.writes().forget();
                if (mode == IfExists.REPLACE) {
                    write(kind, 1, IfExists.REPLACE);
                }
                host.failRequests(trial.getValue());
                boolean failed = isFailed(kind, mode);
                requests = Math.max(requests, failed ? 0 : host.requestCount());
                host.failRequests((_, _) -> null);
                assertHolds(kind, mode, failed, kind + ", " + mode + ", request " + at + " " + trial.getKey());
            }
        }
        assertTrue(requests > 6, requests + " requests");
    }

    private boolean isFailed(Kind kind, IfExists mode) {
        try {
            write(kind, 2, mode);
            return false;
        } catch (IOException e) {
            assertTrue(e.getMessage().startsWith("s3://bucket/store"), e.getMessage());
            return true;
        }
    }

    private void assertHolds(Kind kind, IfExists mode, boolean failed, String when) throws IOException {
        int found = found(kind, when);
        assertTrue(failed || found == 2, when);
        // A pair is gone while it is replaced; one object never is.
        assertTrue(found > 0 || mode == IfExists.FAIL || kind == Kind.SEVERAL, when);
        try {
            write(kind, 2, mode);
        } catch (FileAlreadyExistsException e) {
            assertTrue(mode == IfExists.FAIL && found == 2, when + ": " + e.getMessage());
        }
        assertEquals(2, found(kind, when));
        assertEquals(kind.objects(2).keySet(), host.objects().keySet(), when);
        if (!when.contains("LOST")) {
            assertEquals(Set.of(), host.writes().open(), when);
        }
    }

    @Test
    void processesThatAreKilledLeaveTheOldOrTheNew() throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int before = -1;
        for (int i = 0; i < KILLS; i++) {
            Process writer = UploadWriter.start(host, folder, i);
            while (!host.objects().containsKey("started-" + i)) {
                assertTrue(writer.isAlive(), "the writer failed");
                Thread.sleep(5);
            }
            // At any instant of the uploads that follow each other.
            Thread.sleep(random.nextInt(200));
            writer.destroyForcibly().waitFor();
            host.remove("started-" + i);
            // One object is never gone, and never an older one. A pair may be gone, and is never a mixture.
            int now = UploadWriter.versions(host.objects()).getOrDefault("one", -1);
            assertTrue(now >= before, "seed " + seed + ": version " + before + " became " + now);
            before = now;
        }
        UploadWriter.writeOnce(files, "one", 1_000_000);
        UploadWriter.writeOnce(files, "pair", 1_000_000);
        assertEquals(Map.of("one", 1_000_000, "pair", 1_000_000), UploadWriter.versions(host.objects()));
        assertTrue(host.writes().open().size() <= KILLS, "uploads whose id nobody knows: " + host.writes().open());
    }
}
