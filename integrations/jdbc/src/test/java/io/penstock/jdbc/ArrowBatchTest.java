// SPDX-License-Identifier: Apache-2.0
package io.penstock.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.penstock.arrow.ArrowCapsule;
import io.penstock.dataset.TensorRows;
import io.penstock.format.npy.NpyWriter;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import io.penstock.memory.Tensor;
import io.penstock.store.IfExists;
import io.penstock.store.TensorStore;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowArrayStream;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.Schema;
import org.duckdb.DuckDBConnection;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Batches as Arrow Java imports them, with {@code arrow-c-data}: what DuckDB's driver and others build on. */
class ArrowBatchTest {

    @TempDir
    Path folder;

    @Test
    void arrowJavaReadsEveryTypeAndShape() {
        AtomicInteger released = new AtomicInteger();
        try (Arena arena = Arena.ofShared(); BufferAllocator allocator = new RootAllocator()) {
            Map<String, Tensor> columns = new LinkedHashMap<>();
            for (DType dtype : List.of(DType.I8, DType.U8, DType.I16, DType.U16, DType.I32, DType.U32, DType.I64,
                    DType.U64, DType.F16, DType.F32, DType.F64, DType.BOOL)) {
                columns.put(dtype.toString(), Tensor.of(arena.allocate(6L * dtype.byteSize(), 64), dtype, 3, 2));
            }
            MemorySegment offsets = arena.allocateFrom(ValueLayout.JAVA_INT, 0, 2, 2, 5);
            MemorySegment ids = arena.allocateFrom(ValueLayout.JAVA_LONG, 10, 11, 12, 13, 14);
            columns.put("ids_offsets", Tensor.of(offsets, DType.I32, 4));
            columns.put("ids", Tensor.of(ids, DType.I64, 5));
            try (ArrowCapsule capsule = ArrowCapsule.of(columns, released::incrementAndGet);
                    VectorSchemaRoot root = Data.importVectorSchemaRoot(allocator,
                            ArrowArray.wrap(capsule.arrayAddress()), ArrowSchema.wrap(capsule.schemaAddress()),
                            null)) {
                assertEquals(3, root.getRowCount());
                assertEquals(13, root.getFieldVectors().size());
                assertEquals("[[10,11],[],[12,13,14]]", List.of(root.getVector("ids").getObject(0).toString(),
                        root.getVector("ids").getObject(1).toString(), root.getVector("ids").getObject(2).toString())
                        .toString().replace(" ", ""));
                assertEquals("[0.0,0.0]", root.getVector("f32").getObject(2).toString().replace(" ", ""));
            }
        }
        assertEquals(1, released.get());
    }

    /** Writes the numbers from 0 to 63. */
    private Path numbers() throws IOException {
        Path file = folder.resolve("rows.npy");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(64 * Long.BYTES, 64);
            for (int i = 0; i < 64; i++) {
                numbers.setAtIndex(ValueLayout.JAVA_LONG, i, i);
            }
            NpyWriter.write(file, Tensor.of(numbers, DType.I64, 64), IfExists.FAIL);
        }
        return file;
    }

    @Test
    void aBatchStaysAsLongAsArrowJavaHasIt() throws Exception {
        try (TensorStore store = TensorStore.open(numbers());
                DataLoader loader = DataLoader.builder(TensorRows.of("n", store)).batchSize(8).shuffle(1).endEpoch(2)
                        .open();
                BufferAllocator allocator = new RootAllocator()) {
            long sum = 0;
            for (int i = 0; i < 2 * 64 / 8; i++) {
                Batch batch = loader.next();
                VectorSchemaRoot root;
                try (ArrowCapsule capsule = batch.toArrow()) {
                    root = Data.importVectorSchemaRoot(allocator, ArrowArray.wrap(capsule.arrayAddress()),
                            ArrowSchema.wrap(capsule.schemaAddress()), null);
                }
                batch.close();
                for (int row = 0; row < root.getRowCount(); row++) {
                    sum += (long) root.getVector("n").getObject(row);
                }
                root.close();
            }
            assertEquals(2 * 63 * 64 / 2, sum);
        }
    }

    /** Gives capsules one after the other, as DuckDB asks for them. */
    private static final class Capsules extends ArrowReader {

        private final Iterator<ArrowCapsule> source;
        private final BufferAllocator memory;
        private ArrowCapsule first;

        Capsules(BufferAllocator memory, Iterator<ArrowCapsule> source) {
            super(memory);
            this.memory = memory;
            this.source = source;
            this.first = source.next();
        }

        @Override
        protected Schema readSchema() {
            return Data.importSchema(memory, ArrowSchema.wrap(first.schemaAddress()), null);
        }

        @Override
        public boolean loadNextBatch() throws IOException {
            prepareLoadNextBatch();
            if (first == null && !source.hasNext()) {
                return false;
            }
            try (ArrowCapsule capsule = first != null ? first : source.next()) {
                first = null;
                Data.importIntoVectorSchemaRoot(memory, ArrowArray.wrap(capsule.arrayAddress()),
                        getVectorSchemaRoot(), null);
            }
            return true;
        }

        @Override
        public long bytesRead() {
            return 0;
        }

        @Override
        protected void closeReadSource() {
        }
    }

    /** Asks DuckDB for sums over a table, with the rows that it takes from capsules. */
    private static String sums(Iterator<ArrowCapsule> capsules) throws Exception {
        try (BufferAllocator allocator = new RootAllocator();
                Capsules reader = new Capsules(allocator, capsules);
                ArrowArrayStream stream = ArrowArrayStream.allocateNew(allocator);
                DuckDBConnection connection = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            Data.exportArrayStream(allocator, reader, stream);
            connection.registerArrowStream("batches", stream);
            StringBuilder found = new StringBuilder();
            try (ResultSet rows = statement.executeQuery("SELECT n % 3 AS k, count(*), sum(n) FROM batches"
                    + " WHERE n >= 4 GROUP BY k ORDER BY k")) {
                while (rows.next()) {
                    found.append(rows.getLong(1)).append(':').append(rows.getLong(2)).append(':')
                            .append(rows.getLong(3)).append(' ');
                }
            }
            return found.toString().strip();
        }
    }

    /** The sums of {@link #sums} of the numbers below a limit, each so many times. */
    private static String expectedSums(int limit, int times) {
        StringBuilder sums = new StringBuilder();
        for (int k = 0; k < 3; k++) {
            int rest = k;
            long[] numbers = LongStream.range(4, limit).filter(n -> n % 3 == rest).toArray();
            sums.append(k).append(':').append(times * numbers.length).append(':')
                    .append(times * LongStream.of(numbers).sum()).append(' ');
        }
        return sums.toString().strip();
    }

    @Test
    void duckDbAnswersOverEachCapsuleAndReleasesItOnce() throws Exception {
        AtomicInteger released = new AtomicInteger();
        try (Arena arena = Arena.ofShared()) {
            List<ArrowCapsule> capsules = new ArrayList<>();
            for (int batch = 0; batch < 7; batch++) {
                MemorySegment numbers = arena.allocate(10 * Long.BYTES, 64);
                for (int i = 0; i < 10; i++) {
                    numbers.setAtIndex(ValueLayout.JAVA_LONG, i, 10 * batch + i);
                }
                capsules.add(ArrowCapsule.of(Map.of("n", Tensor.of(numbers, DType.I64, 10)),
                        released::incrementAndGet));
            }
            assertEquals(expectedSums(70, 1), sums(capsules.iterator()));
        }
        assertEquals(7, released.get());
    }

    /** A loader has few slots: if a batch were not released, it would wait for ever. */
    @Test
    void duckDbAnswersOverEpochsOfALoader() throws Exception {
        try (TensorStore store = TensorStore.open(numbers());
                DataLoader loader = DataLoader.builder(TensorRows.of("n", store)).batchSize(8).shuffle(1).endEpoch(3)
                        .open()) {
            Iterator<ArrowCapsule> batches = IntStream.range(0, 3 * 64 / 8).mapToObj(_ -> {
                try (Batch batch = loader.next()) {
                    return batch.toArrow();
                }
            }).iterator();
            assertEquals(expectedSums(64, 3), sums(batches));
        }
    }
}
