// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.penstock.io.Location;
import io.penstock.io.MappedFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An answer whose body is not the file is refused, or read as what its headers say. */
class EncodedBodiesTest {

    private static final byte[] BYTES = ObjectHost.bytes(200_000, 1);

    @TempDir
    private Path cache;

    private static byte[] read(Location location) throws IOException {
        try (MappedFile file = location.open()) {
            return file.segment().toArray(ValueLayout.JAVA_BYTE);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static byte[] gzip(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    private void assertRefused(ScriptedHost host, String name, String part) {
        String message = assertThrows(FileSystemException.class, () -> read(host.files(cache).locate(name)), name)
                .getMessage();
        assertTrue(message.startsWith(name + ": ") && message.contains(part), message);
    }

    @ParameterizedTest
    @CsvSource({"Content-Encoding,gzip", "Content-Encoding,br", "Content-Encoding,'aws-chunked, gzip'",
        "Content-Encoding,zstd", "Content-Encoding,deflate", "x-goog-stored-content-encoding,gzip"})
    void anEncodedFileIsRefusedWhereItIsNamed(String header, String coding) throws IOException {
        byte[] body = gzip(BYTES);
        try (ScriptedHost host = ScriptedHost.start(request -> request.with("ETag", "\"e\"").with(header, coding)
                .data(body))) {
            for (String name : List.of(host.url("x.bin"), "s3://bucket/x.bin")) {
                assertRefused(host, name, coding.substring(coding.lastIndexOf(' ') + 1));
            }
        }
    }

    /** As servers do that encode only what GET sends. */
    @Test
    void anEncodingThatOnlyTheBytesHaveIsRefusedToo() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> (request.isHead() ? request
                : request.with("Content-Encoding", "gzip")).data(BYTES))) {
            assertRefused(host, host.url("x.bin"), "Content-Encoding: gzip");
        }
    }

    @ParameterizedTest
    @CsvSource({"x.tar.gz,gzip", "x.tgz,x-gzip", "x.jsonl.zst,zstd", "x.bin,identity", "x.bin,aws-chunked",
        "x.bin,''"})
    void aBodyThatIsTheFileIsRead(String name, String coding) throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> request.with("Content-Encoding", coding).data(BYTES))) {
            assertArrayEquals(BYTES, read(host.files(cache).locate(host.url(name))));
            assertArrayEquals(BYTES, read(host.files(cache).locate("s3://bucket/" + name)));
        }
    }

    @Test
    void aRangeInSeveralPartsIsRefused() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.isHead()) {
                request.data(BYTES);
            } else {
                request.with("Content-Type", "multipart/byteranges; boundary=B").status(206, "--B\r\n\r\nx\r\n--B--");
            }
        })) {
            assertRefused(host, host.url("x.bin"), "multipart/byteranges");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bytes 1-65536/200000", "bytes 0-65534/200000", "bytes 0-65535/199999",
        "items 0-65535/200000", ""})
    void anAnswerWithAnotherRangeIsRefused(String range) throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.isHead()) {
                request.data(BYTES);
            } else {
                request.with("Content-Range", range).status(206, new byte[65536]);
            }
        })) {
            assertRefused(host, host.url("x.bin"), range.endsWith("199999") ? "two sizes" : "another range");
        }
    }

    @Test
    void aFileOfWhichHeadSaysThatItIsEmptyHasTheBytesOfGet() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            request.with("ETag", "\"e\"");
            if (request.isHead()) {
                request.headOf(0);
            } else {
                request.data(BYTES);
            }
        })) {
            assertArrayEquals(BYTES, read(host.files(cache).locate(host.url("x.bin"))));
            assertArrayEquals(BYTES, read(host.files(cache).locate("s3://bucket/x.bin")));
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1000, 300_000})
    void twoSizesOfAFileAreAnError(long length) throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.isHead()) {
                request.headOf(length);
            } else {
                request.data(BYTES);
            }
        })) {
            assertRefused(host, host.url("x.bin"), "two sizes: " + length);
            assertRefused(host, "s3://bucket/x.bin", "two sizes: " + length);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anEmptyFileIsEmpty(boolean hasRanges) throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (hasRanges) {
                request.data(new byte[0]);
            } else {
                request.headOf(0);
            }
        })) {
            assertEquals(0, host.files(cache).locate(host.url("x.bin")).byteSize());
            assertEquals(0, host.files(cache).locate("s3://bucket/x.bin").byteSize());
        }
    }

    @Test
    void anEncodedListOfObjectsIsRefused() throws IOException {
        try (ScriptedHost host = ScriptedHost.start(request -> {
            if (request.query().contains("list-type")) {
                request.with("Content-Encoding", "gzip").status(200, gzip("<ListBucketResult/>".getBytes(
                        StandardCharsets.UTF_8)));
            } else {
                request.status(404, "");
            }
        })) {
            String message = assertThrows(FileSystemException.class, () -> host.files(cache).locate("s3://bucket/a/")
                    .files(_ -> true)).getMessage();
            assertTrue(message.contains("Content-Encoding: gzip"), message);
        }
    }
}
