// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.FileInfo;
import io.penstock.io.FileInfo.EntryKind;
import io.penstock.remote.cache.ObjectReader;
import io.penstock.remote.cache.RemoteObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is remembered of the files of a server, which are counted here and not read. */
class RemoteSourceTest {

    private final Map<String, FileInfo> files = new HashMap<>();
    /** Run by the server when it has looked, before it answers. */
    private Runnable meanwhile = () -> { };

    private final RemoteSource source = new RemoteSource(new ObjectServer() {
        @Override
        public String root() {
            return "s3://bucket/";
        }

        @Override
        public FileInfo info(String path) {
            FileInfo info = files.getOrDefault(path, FileInfo.ABSENT);
            meanwhile.run();
            return info;
        }

        @Override
        public Map<String, FileInfo> list(String folder) {
            Map<String, FileInfo> list = new HashMap<>(files);
            meanwhile.run();
            return list;
        }

        @Override
        public void read(String path, RemoteObject object, long offset, long bytes, ObjectReader.Sink sink) {
            throw new IllegalStateException();
        }
    }, RemoteFiles.of(RemoteSettings.of(Map.of()), Map.of()), () -> 0);

    private static FileInfo file(long bytes) {
        return new FileInfo(EntryKind.FILE, bytes, "v" + bytes);
    }

    @Test
    void aFolderOfMoreFilesThanAreRememberedHasThemAll() throws IOException {
        for (int i = 0; i <= RemoteSource.MOST_REMEMBERED; i++) {
            files.put("file-" + i, file(i));
        }
        assertEquals(files.size(), source.files("", _ -> true).size());
        for (String name : files.keySet()) {
            assertEquals(files.get(name), source.info(name), name);
        }
    }

    @Test
    void whatARequestLearnsThatBeganBeforeAWriteIsNotRemembered() throws IOException {
        files.put("x", file(1));
        meanwhile = () -> {
            files.put("x", file(2));
            files.put("y", file(3));
            source.forget();
        };
        assertEquals(file(1), source.infoNow("x"));
        assertEquals(file(2), source.info("x"));
        files.remove("y");
        assertEquals(1, source.files("", _ -> true).size());
        meanwhile = () -> { };
        assertTrue(source.info("y").kind() == EntryKind.FILE, "taken for absent, since a list lacked it");
    }
}
