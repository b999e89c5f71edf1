// SPDX-License-Identifier: Apache-2.0
package io.penstock.tensorflow;

import io.penstock.bridge.Bridge;
import io.penstock.bridge.DTypeContract;
import io.penstock.bridge.LeakContract;
import io.penstock.bridge.LifetimeContract;
import io.penstock.bridge.StreamContract;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import java.util.EnumSet;
import java.util.Set;
import org.tensorflow.Tensor;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/** What every bridge has to keep. TensorFlow's tensors are copies, so the contract of aliases is not theirs. */
class ContractTest implements DTypeContract, LifetimeContract, LeakContract, StreamContract, Bridge {

    @Override
    public Bridge bridge() {
        return this;
    }

    @Override
    public int steps() {
        return 10_000;
    }

    @Override
    public Set<DType> exact() {
        return EnumSet.of(DType.U8, DType.U16, DType.I32, DType.I64, DType.F16, DType.BF16, DType.F32, DType.F64,
                DType.BOOL);
    }

    @Override
    public Set<DType> refused() {
        return EnumSet.of(DType.U64, DType.F8E4M3, DType.F8E5M2);
    }

    @Override
    public Taken take(DataLoader loader) {
        Batch batch = loader.next();
        try {
            return new Copied(batch, BatchTensors.copyOf(batch));
        } catch (RuntimeException | Error e) {
            batch.close();
            throw e;
        }
    }

    private record Copied(Batch batch, BatchTensors tensors) implements Taken {

        @Override
        public long[] shape(String field) {
            return tensors.get(field).shape().asArray();
        }

        @Override
        public byte[] bytes(String field) {
            Tensor tensor = tensors.get(field);
            byte[] bytes = new byte[Math.toIntExact(tensor.numBytes())];
            tensor.asRawTensor().data().read(bytes);
            return bytes;
        }

        @Override
        public double[] values(String field) {
            double[] values = new double[Math.toIntExact(tensors.get(field).shape().size())];
            int[] next = {0};
            if (tensors.get(field) instanceof TInt32 ints) {
                ints.scalars().forEach(each -> values[next[0]++] = each.getInt());
            } else {
                ((TInt64) tensors.get(field)).scalars().forEach(each -> values[next[0]++] = each.getLong());
            }
            return values;
        }

        @Override
        public void close() {
            tensors.close();
            batch.close();
        }
    }
}
