// SPDX-License-Identifier: Apache-2.0
package io.penstock.dataset;

import io.penstock.error.MalformedStoreException;
import io.penstock.internal.Sha256;
import io.penstock.io.local.RegularFile;
import io.penstock.io.publish.AtomicFile;
import io.penstock.json.Json;
import io.penstock.json.JsonException;
import io.penstock.json.JsonFields;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A file of the samples that a filter keeps: a line of JSON with the dataset's fingerprint and the SHA-256 of the rest,
 * then one bit per sample in 8-byte words, least significant first.
 */
final class FilterFile {

    private static final long VERSION = 1;
    private static final int MAX_HEADER_BYTES = 1 << 20;
    private static final int HEX_DIGITS = 16;
    private static final int BUFFER_BYTES = 1 << 16;

    /** Digests a selection for the fingerprint. */
    static String digest(long[] words) {
        return sha256(words).substring(0, HEX_DIGITS);
    }

    private static String sha256(long[] words) {
        MessageDigest sha256 = Sha256.digest();
        ByteBuffer word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (long bits : words) {
            sha256.update(word.putLong(0, bits).array());
        }
        return Sha256.hex(sha256);
    }

    static void write(Path file, String name, Dataset base, long[] words) throws IOException {
        Map<String, @Nullable Object> header = Json.members("penstock_filter", VERSION, "name", name,
                "dataset", base.fingerprint(), "samples", base.size(), "sha256", sha256(words));
        byte[] line = (Json.write(header) + "\n").getBytes(StandardCharsets.UTF_8);
        if (line.length > MAX_HEADER_BYTES) {
            throw new IOException(file + ": a header of " + line.length + " bytes, expected at most "
                    + MAX_HEADER_BYTES);
        }
        AtomicFile.write(file, out -> {
            out.write(line);
            ByteBuffer some = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int w = 0; w < words.length; w++) {
                some.putLong(words[w]);
                if (!some.hasRemaining() || w == words.length - 1) {
                    out.write(some.array(), 0, some.position());
                    some.clear();
                }
            }
        });
    }

    static Filtered read(Path file, Dataset base) throws IOException {
        try (FileChannel channel = RegularFile.open(file)) {
            JsonFields header = header(file, channel);
            long headerBytes = channel.position();
            header.expect("penstock_filter", VERSION);
            header.expect("dataset", base.fingerprint());
            header.expect("samples", base.size());
            String name = header.text("name");
            int count = Math.toIntExact(Math.ceilDiv(base.size(), (long) Long.SIZE));
            if (channel.size() - headerBytes != (long) count * Long.BYTES) {
                throw new MalformedStoreException(file, headerBytes, (channel.size() - headerBytes) + " bytes",
                        (long) count * Long.BYTES + ": a bit for each of " + base.size() + " samples");
            }
            long[] words = words(file, channel, count);
            header.expect("sha256", sha256(words));
            header.end();
            if (base.size() % Long.SIZE != 0 && words[count - 1] >>> base.size() != 0) {
                throw new MalformedStoreException(file, headerBytes + 8L * (count - 1), "a sample after the last",
                        "samples below " + base.size());
            }
            if (Arrays.stream(words).allMatch(bits -> bits == 0)) {
                throw new MalformedStoreException(file, headerBytes, "no kept sample", "1 or more");
            }
            return new Filtered(base, name, words);
        } catch (JsonException e) {
            throw new MalformedStoreException(file, e);
        }
    }

    private static JsonFields header(Path file, FileChannel channel) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(channel.size(), MAX_HEADER_BYTES));
        while (bytes.hasRemaining() && channel.read(bytes) > 0) { }
        int end = 0;
        while (end < bytes.position() && bytes.get(end) != '\n') {
            end++;
        }
        if (end == bytes.position()) {
            throw new MalformedStoreException(file, 0, "no line", "one of JSON");
        }
        channel.position(end + 1L);
        return JsonFields.parse(Arrays.copyOf(bytes.array(), end), "a filter's header");
    }

    private static long[] words(Path file, FileChannel channel, int count) throws IOException {
        long[] words = new long[count];
        ByteBuffer some = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        int w = 0;
        while (w < count) {
            some.clear().limit((int) Math.min(some.capacity(), 8L * (count - w)));
            while (some.hasRemaining()) {
                if (channel.read(some) < 0) {
                    throw new MalformedStoreException(file, channel.position(), "the end", "more");
                }
            }
            some.flip();
            while (some.hasRemaining()) {
                words[w++] = some.getLong();
            }
        }
        return words;
    }
}
