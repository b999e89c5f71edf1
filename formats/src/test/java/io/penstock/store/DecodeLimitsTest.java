// SPDX-License-Identifier: Apache-2.0
package io.penstock.store;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.github.luben.zstd.ZstdOutputStream;
import io.penstock.error.LimitException;
import io.penstock.error.MalformedStoreException;
import io.penstock.format.webdataset.WebDatasetSource;
import io.penstock.io.DecodeLimit;
import io.penstock.io.Location;
import io.penstock.io.Span;
import io.penstock.stream.PartitionReader;
import io.penstock.stream.RecordBuffer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that decode to more than they may, in every format that is compressed. */
class DecodeLimitsTest {

    private static final long GIB = 1L << 30;

    @TempDir
    Path folder;

    private static OpenOptions limited(long maxBytes) {
        return OpenOptions.DEFAULT.withDecodeLimit(DecodeLimit.DEFAULT.withMaxBytes(maxBytes));
    }

    /** Opens a store and reads all of it. */
    private static void readAll(Path path, OpenOptions options) throws IOException {
        Span span = new Span();
        try (Store store = Store.open(path, options)) {
            switch (store) {
                case TensorStore tensors -> {
                    for (int i = 0; i < tensors.tensors().size(); i++) {
                        tensors.tensor(i);
                    }
                }
                case RecordStore records -> {
                    for (long record = 0; record < records.size(); record++) {
                        for (int column = 0; column < records.columns().size(); column++) {
                            if (records.isPresent(record, column)) {
                                records.locate(record, column, span);
                            }
                        }
                    }
                }
                case TokenStore _ -> throw new AssertionError("tokens are not compressed");
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"npz/deflated.npz", "hdf5/chunked_gzip.h5", "arrow/file_lz4.arrow", "arrow/file_zstd.arrow",
        "parquet/tokens_zstd.parquet", "parquet/tokens_snappy.parquet", "parquet/data_page_v2.parquet",
        "mds/tokens_zstd", "webdataset/compressed.tar.gz", "webdataset/compressed.tar.zst"})
    void aFileBeyondTheLimitIsRefusedByNameAndOneWithinItIsRead(String name) throws IOException {
        Path path = Fixtures.path(name);
        readAll(path, OpenOptions.DEFAULT);
        readAll(path, limited(1 << 20));
        String message = assertThrows(LimitException.class, () -> readAll(path, limited(100))).getMessage();
        assertTrue(message.startsWith(path.toString()), message);
        assertTrue(message.contains("expected at most 100 (--max-decoded raises this limit)"), message);
    }

    @Test
    void aColumnOfATableThatIsRefusedTakesNothingFromTheOthers() throws IOException {
        Path path = Fixtures.path("parquet/tokens_none.parquet");
        Span span = new Span();
        try (RecordStore store = RecordStore.open(path, limited(3000))) {
            List<String> columns = store.columns().stream().map(Column::name).toList();
            int large = columns.indexOf("input_ids");
            for (int i = 0; i < 5; i++) {
                assertThrows(LimitException.class, () -> store.locate(0, large, span));
            }
            store.locate(0, columns.indexOf("score"), span);
            assertEquals(4, span.byteSize());
        }
    }

    @Test
    void tokensOfAnIndexThatLiesAreNotDecoded() throws IOException {
        Path source = Fixtures.path("mds/tokens_zstd");
        try (Stream<Path> files = Files.list(source)) {
            for (Path file : files.toList()) {
                Files.copy(file, folder.resolve(file.getFileName()));
            }
        }
        Path index = folder.resolve("index.json");
        String text = Files.readString(index);
        String sizes = text.replaceFirst("(\"raw_data\": *\\{[^}]*\"bytes\": *)[0-9]+", "$14000000000");
        assertTrue(!sizes.equals(text), "the index names no size of a raw shard");
        Files.writeString(index, sizes);
        String message = assertThrows(LimitException.class, () -> Store.open(folder)).getMessage();
        assertTrue(message.contains("shard.00000.mds.zstd: found "), message);
        assertTrue(message.contains(" bytes that decode to 4000000000, expected at most 1073741824"), message);
    }

    @Test
    void aShardOfZerosIsRefusedByDefaultBeforeACopyIsMadeAndReadIfTold() throws IOException {
        Path shard = folder.resolve("bomb.tar.zst");
        try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(shard))) {
            out.write(header("a.bin", GIB + (1 << 20)));
            zeros(out, GIB + (1 << 20) + 1024);
        }
        assertTrue(Files.size(shard) < 200_000);
        String message = assertThrows(LimitException.class, () -> Store.open(shard)).getMessage();
        assertEquals(shard + ": found " + Files.size(shard) + " bytes that decode to more than 1073741824, expected at"
                + " most 1073741824, the greater of 1073741824 and 1100 times the file's size (--max-ratio raises this"
                + " limit)", message);
        assertThrows(LimitException.class, () -> {
            Path small = Fixtures.path("webdataset/compressed.tar.gz");
            try (PartitionReader reader = WebDatasetSource.of(List.of(Location.of(small)),
                    DecodeLimit.DEFAULT.withMaxBytes(1000), "txt").open(0, "");
                    RecordBuffer into = new RecordBuffer()) {
                reader.poll(into);
            }
        });
        try (RecordStore store = RecordStore.open(shard,
                OpenOptions.DEFAULT.withDecodeLimit(DecodeLimit.DEFAULT.withMaxRatio(100_000)))) {
            assertEquals(1, store.size());
        }
    }

    @Test
    void manyLongNamesInASmallTarTakeNoMemory() throws IOException {
        Path shard = folder.resolve("names.tar.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(shard))) {
            byte[] name = new byte[1 << 20];
            Arrays.fill(name, (byte) 'x');
            for (int i = 0; i < 40; i++) {
                byte[] start = ("k." + i).getBytes(US_ASCII);
                System.arraycopy(start, 0, name, 0, start.length);
                name[name.length - 1] = 0;
                byte[] header = header("././@LongLink", name.length);
                header[156] = 'L';
                out.write(checksummed(header));
                out.write(name);
                out.write(header("k.x", 0));
            }
            out.write(new byte[1024]);
        }
        assertTrue(Files.size(shard) < 100_000);
        String message = assertThrows(MalformedStoreException.class, () -> Store.open(shard)).getMessage();
        assertTrue(message.contains("different suffixes of more than 16777216 bytes in all"), message);
    }

    @Test
    void zerosOfAnArrayAreReadUpToTheFreePart() throws IOException {
        Path archive = folder.resolve("zeros.npz");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(archive))) {
            zip.setLevel(Deflater.BEST_COMPRESSION);
            zip.putNextEntry(new ZipEntry("zeros.npy"));
            String dictionary = "{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,), }";
            byte[] head = ("\u0093NUMPY\u0001\u0000v\u0000" + String.format("%-117s\n", dictionary))
                    .getBytes(ISO_8859_1);
            zip.write(head);
            zeros(zip, 64 << 20);
        }
        try (TensorStore store = TensorStore.open(archive)) {
            assertEquals(64 << 20, store.tensor(0).byteSize());
        }
        OpenOptions strict = OpenOptions.DEFAULT.withDecodeLimit(new DecodeLimit(GIB, 100, 0));
        assertTrue(assertThrows(LimitException.class, () -> Store.open(archive, strict)).getMessage()
                .contains("100 times the file's size"));
    }

    private static void zeros(OutputStream out, long bytes) throws IOException {
        byte[] zeros = new byte[1 << 16];
        for (long left = bytes; left > 0; left -= zeros.length) {
            out.write(zeros, 0, (int) Math.min(left, zeros.length));
        }
    }

    private static byte[] header(String name, long bytes) {
        byte[] header = new byte[512];
        put(header, 0, name);
        put(header, 100, "0000644\0");
        put(header, 124, String.format("%011o\0", bytes));
        put(header, 156, "0");
        put(header, 257, "ustar\00000");
        return checksummed(header);
    }

    private static byte[] checksummed(byte[] header) {
        put(header, 148, "        ");
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xFF;
        }
        put(header, 148, String.format("%06o\0 ", sum));
        return header;
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(US_ASCII);
        System.arraycopy(bytes, 0, header, at, bytes.length);
    }
}
