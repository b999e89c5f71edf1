// SPDX-License-Identifier: Apache-2.0
package io.penstock.pytorch;

import io.penstock.bridge.Bridge;
import io.penstock.loader.DataLoader;
import io.penstock.memory.DType;
import java.util.EnumSet;
import java.util.Set;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch.ScalarType;

/** How torch reads a batch, for the contracts. */
final class Torches implements Bridge {

    private DataLoader last;
    private TorchBatches batches;

    @Override
    public Taken take(DataLoader loader) {
        if (loader != last) {
            last = loader;
            batches = TorchBatches.of(loader);
        }
        TorchBatch batch = batches.next();
        return new Taken(batch);
    }

    @Override
    public Set<DType> exact() {
        return EnumSet.allOf(DType.class);
    }

    /** The bytes of a tensor, read by torch: a clone first, so that views without memory are found. */
    static byte[] bytes(Tensor tensor) {
        try (Tensor clone = tensor.clone(); Pointer data = clone.data_ptr();
                BytePointer bytes = new BytePointer(data)) {
            byte[] read = new byte[Math.toIntExact(clone.numel() * clone.element_size())];
            bytes.capacity(read.length).get(read);
            return read;
        }
    }

    record Taken(TorchBatch batch) implements Alias {

        @Override
        public long[] shape(String field) {
            return batch.get(field).shape();
        }

        @Override
        public byte[] bytes(String field) {
            return Torches.bytes(batch.get(field));
        }

        @Override
        public double[] values(String field) {
            return DLPackTorch.values(batch.get(field));
        }

        @Override
        public long address(String field) {
            return batch.get(field).data_ptr().address();
        }

        @Override
        public Runnable view(String field) {
            Tensor view = batch.get(field).slice(0, new org.bytedeco.pytorch.LongOptional(0),
                    new org.bytedeco.pytorch.LongOptional(1), 1);
            return () -> Torches.bytes(view);
        }

        @Override
        public void close() {
            batch.close();
        }
    }

    /** A tensor that torch took by DLPack. */
    record DLPackTorch(Tensor x) implements Bridge.Taken {

        static double[] values(Tensor tensor) {
            try (Tensor wide = tensor.to(ScalarType.Double)) {
                double[] values = new double[Math.toIntExact(wide.numel())];
                wide.data_ptr_double().get(values);
                return values;
            }
        }

        @Override
        public long[] shape(String field) {
            return x.shape();
        }

        @Override
        public byte[] bytes(String field) {
            return Torches.bytes(x);
        }

        @Override
        public double[] values(String field) {
            return values(x);
        }

        @Override
        public void close() {
            x.close();
        }
    }
}
