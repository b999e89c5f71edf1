// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import io.penstock.os.Uninterrupted;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.OptionalInt;

/**
 * Looks at the machine beside a run, on daemon threads of its own: at the memory of the process five times a second at
 * first and twice a second after {@value #QUICK_LOOKS} looks, at the GPU once a second, at the heap every fourth look,
 * at all else every twentieth, at open files and groups of threads every hundredth. Nothing here can fail the run: what
 * cannot be read is left out. Thread-safe.
 */
public final class MachineWatch implements AutoCloseable {

    private static final int MOST_SAMPLES = 4096;
    /** While a run begins, growth is found soon; later looks cost at most a thousandth of a core. */
    private static final int QUICK_LOOKS = 150;
    private static final long QUICK_MILLIS = 200;
    private static final long PERIOD_MILLIS = 500;
    /** In looks. */
    private static final int HEAP_EVERY = 4;
    private static final int READ_EVERY = 20;
    private static final int COUNT_EVERY = 100;
    private static final long GPU_PERIOD_MILLIS = 1000;
    private static final long GPU_PATIENCE_MILLIS = 10_000;

    private final HostReader host;
    private final GpuWatch gpu;
    private final Thread thread;
    /** Guarded by itself. */
    private final Deque<MachineSample> samples = new ArrayDeque<>();

    private MachineWatch(HostReader host, GpuWatch gpu) {
        this.host = host;
        this.gpu = gpu;
        this.thread = Thread.ofPlatform().daemon().name("penstock-machine").start(this::run);
    }

    /**
     * Starts to look.
     *
     * @param ordinal CUDA's ordinal of the device that the run trains on; empty if it is not known
     * @return the watch, which the caller closes
     */
    public static MachineWatch start(OptionalInt ordinal) {
        String visible = System.getenv("CUDA_VISIBLE_DEVICES");
        return new MachineWatch(new HostReader(), new GpuWatch(null, ordinal, visible == null ? "" : visible,
                GPU_PERIOD_MILLIS, GPU_PATIENCE_MILLIS));
    }

    private void run() {
        try (host) {
            for (long look = 0; !Thread.currentThread().isInterrupted(); look++) {
                if (look % COUNT_EVERY == 0) {
                    host.count();
                }
                if (look % HEAP_EVERY == 0) {
                    host.readHeap();
                }
                if (look % READ_EVERY == 0) {
                    host.readAll();
                }
                keep(new MachineSample(System.nanoTime(), host.sample(), gpu.take()));
                Thread.sleep(look < QUICK_LOOKS ? QUICK_MILLIS : PERIOD_MILLIS);
            }
        } catch (InterruptedException _) {
            // Closed.
        }
    }

    private void keep(MachineSample sample) {
        synchronized (samples) {
            if (samples.size() == MOST_SAMPLES) {
                samples.removeFirst();
            }
            samples.addLast(sample);
        }
    }

    /** {@return what was seen so far} */
    public MachineLog log() {
        synchronized (samples) {
            return new MachineLog(new ArrayList<>(samples), gpu.name());
        }
    }

    /** Stops looking, and waits for the thread that does. Repeating it has no effect. */
    @Override
    public void close() {
        gpu.close();
        thread.interrupt();
        Uninterrupted.join(thread);
    }
}
