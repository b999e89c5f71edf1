// SPDX-License-Identifier: Apache-2.0
package io.penstock.bench.jmh;

import io.penstock.bench.PrefilledSlots;
import io.penstock.device.Device;
import io.penstock.device.DeviceBuffer;
import io.penstock.device.DeviceEvent;
import io.penstock.device.DeviceEvent.EventWait;
import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.loader.Batch;
import io.penstock.loader.DataLoader;
import io.penstock.loader.TransferMode;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The engine's part of a transfer, on the simulated CUDA runtime of the tests: what Java, the downcalls and the
 * bookkeeping cost. It says nothing of a bus; {@code TransferBench} on a GPU does. Figures are nanoseconds a batch, 64
 * batches at a time with one synchronisation behind them.
 *
 * <p>{@code memcpy} is the bytes' own cost, {@code bareCopy} an asynchronous copy and an event as the device's
 * interface gives them, {@code loader} a batch of the loader taken on a stream and given back: waits, copy, three
 * records, lease, with slots that were filled on the first lap and so cost nothing to make. The
 * simulated runtime checks every call and has a thread a stream, which makes a call dearer than NVIDIA's.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = {JvmFlags.NATIVE_ACCESS, JvmFlags.SIMULATED_CUDA})
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CudaSubmit {
    private static final int BATCHES = 64;

    /** Of a batch. */
    @Param({"512", "65536"})
    int bytes;

    private Device device;
    private DeviceStream stream;

    @Setup
    public void open() {
        device = Device.cuda(0);
        device.makeCurrent();
        stream = device.openStream("trainer");
    }

    @TearDown
    public void close() {
        stream.close();
        device.close();
    }

    /** Two buffers and an event. */
    @State(Scope.Benchmark)
    public static class Bare {
        private PinnedBuffer source;
        private PinnedBuffer otherSource;
        private DeviceBuffer target;
        private DeviceEvent event;

        @Setup
        public void open(CudaSubmit of) {
            source = of.device.allocatePinned(of.bytes);
            otherSource = of.device.allocatePinned(of.bytes);
            target = of.device.allocate(of.bytes);
            event = of.device.openEvent(EventWait.BLOCK);
        }

        @TearDown
        public void close() {
            event.close();
            target.close();
            otherSource.close();
            source.close();
        }
    }

    /** A loader that copies. */
    @State(Scope.Benchmark)
    public static class Loader {
        private DataLoader loader;

        @Setup
        public void open(CudaSubmit of) {
            PrefilledSlots prefilled = new PrefilledSlots(of.bytes);
            loader = DataLoader.builder(prefilled).collator(prefilled).device(of.device).transfer(TransferMode.COPY)
                    .workers(1).open();
        }

        @TearDown
        public void close() {
            loader.close();
        }
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public void loader(Loader with) {
        for (int i = 0; i < BATCHES; i++) {
            try (Batch batch = with.loader.next(stream)) {
                batch.valid();
            }
        }
        stream.synchronize();
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public void bareCopy(Bare bare) {
        for (int i = 0; i < BATCHES; i++) {
            stream.copyToDevice(bare.target, 0, bare.source, 0, bytes);
            stream.record(bare.event);
        }
        stream.synchronize();
    }

    @Benchmark
    @OperationsPerInvocation(BATCHES)
    public long memcpy(Bare bare) {
        return GatherLibrary.copy(
                bare.otherSource.segment().address(), bare.source.segment().address(), bytes, BATCHES);
    }
}
