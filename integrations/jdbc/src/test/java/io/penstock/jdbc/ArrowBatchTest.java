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
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.arrow.c.ArrowArray;
import org.apache.arrow.c.ArrowSchema;
import org.apache.arrow.c.Data;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
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

    @Test
    void aBatchStaysAsLongAsArrowJavaHasIt() throws Exception {
        Path file = folder.resolve("rows.npy");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(64 * Long.BYTES, 64);
            for (int i = 0; i < 64; i++) {
                numbers.setAtIndex(ValueLayout.JAVA_LONG, i, i);
            }
            NpyWriter.write(file, Tensor.of(numbers, DType.I64, 64), IfExists.FAIL);
        }
        try (TensorStore store = TensorStore.open(file);
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
}
