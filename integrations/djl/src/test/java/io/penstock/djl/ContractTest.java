// SPDX-License-Identifier: Apache-2.0
package io.penstock.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.training.dataset.Batch;
import io.penstock.bridge.AliasContract;
import io.penstock.bridge.Bridge;
import io.penstock.bridge.DTypeContract;
import io.penstock.bridge.LifetimeContract;
import io.penstock.bridge.StreamContract;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.Iterator;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What every bridge has to keep. DJL keeps views of a closed batch: they show the slot's next one. */
class ContractTest implements DTypeContract, AliasContract, LifetimeContract, StreamContract, Bridge {

    private NDManager manager;
    private DataLoader last;
    private Iterator<Batch> batches;

    @BeforeEach
    void openManager() {
        manager = NDManager.newBaseManager();
    }

    @AfterEach
    void closeManager() {
        manager.close();
    }

    @Override
    public Bridge bridge() {
        return this;
    }

    @Override
    public boolean viewsEnd() {
        return false;
    }

    @Override
    public Set<DType> exact() {
        return EnumSet.of(DType.U8, DType.I8, DType.I32, DType.I64, DType.F16, DType.F32, DType.F64, DType.BOOL);
    }

    @Override
    public Set<DType> refused() {
        return EnumSet.of(DType.U64);
    }

    @Override
    public Taken take(DataLoader loader) {
        try {
            if (loader != last || !batches.hasNext()) {
                last = loader;
                batches = PenstockDataset.of(loader).getData(manager).iterator();
            }
            return new Lent(batches.next());
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private record Lent(Batch batch) implements Alias {

        private NDArray array(String field) {
            return batch.getData().get(field);
        }

        @Override
        public long[] shape(String field) {
            return array(field).getShape().getShape();
        }

        @Override
        public byte[] bytes(String field) {
            ByteBuffer buffer = array(field).toByteBuffer();
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        }

        @Override
        public double[] values(String field) {
            try (NDArray wide = array(field).toType(DataType.FLOAT64, true)) {
                return wide.toDoubleArray();
            }
        }

        @Override
        public long address(String field) {
            return MemorySegment.ofBuffer(array(field).toByteBuffer(true)).address();
        }

        @Override
        public Runnable view(String field) {
            NDArray view = array(field).get(0);
            return view::toByteBuffer;
        }

        @Override
        public void close() {
            try {
                batch.close();
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
