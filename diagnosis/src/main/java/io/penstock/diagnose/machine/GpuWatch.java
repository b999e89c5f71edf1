// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Looks at this process's GPU every second, on a daemon thread of its own: a call of NVML may hang with the driver, and
 * then hangs this thread alone. Which GPU: that of the device's ordinal among {@code CUDA_VISIBLE_DEVICES}, by the
 * order of the bus; without an ordinal, the only one, or the one on which this process computes.
 */
final class GpuWatch implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(GpuWatch.class.getName());
    private static final long NEVER = Long.MIN_VALUE;

    private final String library;
    private final OptionalInt ordinal;
    private final String visible;
    private final long periodMillis;
    private final long patienceNanos;
    private final Thread thread;
    /** When the thread went into NVML; {@link #NEVER} while it is not there. */
    private volatile long wentIn = NEVER;
    private volatile boolean ended;
    private volatile @Nullable GpuSample latest;
    private volatile String name = "(not looked at yet)";
    /** That thread's. */
    private boolean missing;

    /**
     * Starts.
     *
     * @param library the name or path of NVML; null for the driver's
     * @param ordinal of CUDA's device; empty if it is not known
     * @param visible {@code CUDA_VISIBLE_DEVICES}; empty for all
     * @param periodMillis how often to look
     * @param patienceMillis how long a look may take before it counts as hung
     */
    GpuWatch(@Nullable String library, OptionalInt ordinal, String visible, long periodMillis, long patienceMillis) {
        this.library = library == null ? "" : library;
        this.ordinal = ordinal;
        this.visible = visible;
        this.periodMillis = periodMillis;
        this.patienceNanos = patienceMillis * 1_000_000;
        this.thread = Thread.ofPlatform().daemon().name("penstock-nvml").start(this::run);
    }

    private void run() {
        try {
            wentIn = System.nanoTime();
            Nvml nvml = library.isEmpty() ? Nvml.load() : Nvml.load(library);
            long pid = ProcessHandle.current().pid();
            long device = find(nvml, pid);
            while (!ended) {
                wentIn = System.nanoTime();
                if (device == 0) {
                    device = find(nvml, pid);
                }
                if (device != 0) {
                    latest = nvml.sample(device, pid);
                }
                wentIn = NEVER;
                Thread.sleep(periodMillis);
            }
        } catch (Nvml.NvmlException e) {
            end("(" + e.getMessage() + ")");
        } catch (InterruptedException _) {
            // Closed.
        } catch (RuntimeException e) {
            end("(" + e + ")");
        } finally {
            wentIn = NEVER;
        }
    }

    /** The device, once it is known; 0 until then. */
    private long find(Nvml nvml, long pid) throws Nvml.NvmlException {
        long device = 0;
        if (ordinal.isPresent()) {
            String[] listed = visible.isBlank() ? new String[0] : visible.split(",");
            String chosen = ordinal.getAsInt() < listed.length ? listed[ordinal.getAsInt()].strip()
                    : Integer.toString(ordinal.getAsInt());
            device = chosen.matches("\\d{1,4}") ? nvml.device(Integer.parseInt(chosen)) : nvml.device(chosen);
        } else {
            int count = nvml.devices();
            for (int i = 0; i < count && device == 0; i++) {
                long one = nvml.device(i);
                device = count == 1 || nvml.runs(one, pid) ? one : 0;
            }
        }
        if (device != 0) {
            say(nvml.name(device) + (nvml.isDivided(device) ? " (MIG: its utilization is not known)" : ""));
        } else if (!missing) {
            missing = true;
            say("(this process computes on none of the GPUs)");
        }
        return device;
    }

    /** What a thread finds that was left alone is not said. */
    private synchronized void say(String text) {
        if (!ended) {
            name = text;
        }
    }

    private synchronized void end(String why) {
        latest = null;
        if (!ended) {
            ended = true;
            name = why;
            // Most machines without NVML have no GPU: the report says so, and nothing is wrong.
            LOG.log(name.startsWith("(no NVML") ? System.Logger.Level.DEBUG : System.Logger.Level.WARNING,
                    "no figures of the GPU: {0}", why.substring(1, why.length() - 1));
        }
    }

    /** The latest look, once; null if there was none since. Ends the watch if a look hangs. */
    @Nullable GpuSample take() {
        long since = wentIn;
        if (!ended && since != NEVER && System.nanoTime() - since > patienceNanos) {
            // The thread stays in the driver until that returns; it then ends.
            end("(NVML does not return: left alone)");
        }
        GpuSample found = latest;
        latest = null;
        return ended ? null : found;
    }

    /** The GPU's name, or why there are no figures, in parentheses. */
    String name() {
        return name;
    }

    /** Stops looking, without waiting for a call of NVML. */
    @Override
    public void close() {
        ended = true;
        thread.interrupt();
    }
}
