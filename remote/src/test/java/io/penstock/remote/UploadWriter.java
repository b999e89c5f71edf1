// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import io.penstock.store.IfExists;
import io.penstock.testing.JavaCommand;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A process that replaces an object and a pair of objects in a bucket again and again, until it is killed. */
public final class UploadWriter {

    private static final int PART = 4096;
    private static final Map<String, String[]> STORES = Map.of("one", new String[] {"", ".crc32c"},
            "pair", new String[] {".bin", ".idx"});

    private UploadWriter() {
    }

    static Process start(ObjectHost host, Path cache, int number) throws IOException {
        List<String> command = JavaCommand.of("-Xmx64m");
        command.addAll(List.of(UploadWriter.class.getName(), host.endpoint().toString(), cache.toString(),
                Integer.toString(number)));
        return new ProcessBuilder(command).inheritIO().start();
    }

    /** Arguments: endpoint, cache, number of the process. */
    public static void main(String[] args) throws Exception {
        S3Settings s3 = new S3Settings(URI.create(args[0]), null, S3Settings.Addressing.AUTO, () ->
                Optional.of(ObjectHost.KEY));
        RemoteFiles files = RemoteFiles.of(RemoteSettings.of(Map.of()).withCache(Path.of(args[1]), 1L << 30)
                .withBlockBytes(1 << 16).withS3(s3), Map.of());
        int number = Integer.parseInt(args[2]);
        for (int version = 1000 * number;; version++) {
            writeOnce(files, "one", version);
            writeOnce(files, "pair", version);
            if (version == 1000 * number) {
                try (Upload upload = files.upload("s3://bucket/started-" + number, IfExists.REPLACE)) {
                    Files.write(upload.path(), new byte[1]);
                    upload.publish();
                }
            }
        }
    }

    /** Writes a version, whose objects hold nothing but its number. */
    static void writeOnce(RemoteFiles files, String store, int version) throws IOException {
        try (Upload upload = files.upload("s3://bucket/" + store, IfExists.REPLACE, PART)) {
            for (String ending : STORES.get(store)) {
                ByteBuffer content = ByteBuffer.allocate(ending.equals(".crc32c") ? Integer.BYTES : 3 * PART);
                while (content.hasRemaining()) {
                    content.putInt(version);
                }
                Files.write(upload.path().resolveSibling(store + ending), content.array());
            }
            upload.publish();
        }
    }

    /** The versions of the stores that are there; fails if one is a mixture. */
    static Map<String, Integer> versions(Map<String, byte[]> objects) {
        Map<String, Integer> versions = new HashMap<>();
        STORES.forEach((store, endings) -> {
            for (String ending : endings) {
                byte[] bytes = objects.get(store + ending);
                if (bytes == null && store.equals("pair")) {
                    versions.remove(store);
                    return;
                }
                if (bytes != null) {
                    int version = only(bytes);
                    Integer other = versions.putIfAbsent(store, version);
                    if (other != null && other != version) {
                        throw new AssertionError(store + ending + " is of version " + version + ", another object of "
                                + other);
                    }
                }
            }
        });
        return versions;
    }

    private static int only(byte[] bytes) {
        ByteBuffer content = ByteBuffer.wrap(bytes);
        int version = content.getInt();
        while (content.hasRemaining()) {
            if (content.getInt() != version) {
                throw new AssertionError("an object of several versions");
            }
        }
        return version;
    }
}
