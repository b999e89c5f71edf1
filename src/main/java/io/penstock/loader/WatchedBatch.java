package io.penstock.loader;

import io.penstock.device.DeviceStream;
import io.penstock.device.PinnedBuffer;
import io.penstock.dlpack.DLPackCapsule;
import io.penstock.dlpack.DLPackForm;
import io.penstock.memory.Leak;
import io.penstock.memory.Tensor;
import java.lang.foreign.MemorySegment;

/**
 * What the trainer gets while leaks are looked for: a lease that the loader does not refer to, in front of the one that
 * it does. So it becomes unreachable when the trainer drops it.
 */
final class WatchedBatch extends Batch {

    private final Batch lease;
    private final Leak leak;
    private boolean over;

    WatchedBatch(Batch lease, String loader) {
        super(lease.lender(), lease.holder(), null);
        this.lease = lease;
        this.leak = Leak.watch(this, "batch of loader", loader + ": " + lease);
    }

    @Override
    BatchHolder open() {
        return lease.open();
    }

    @Override
    public int count() {
        return lease.count();
    }

    @Override
    public Tensor tensor(String name) {
        return lease.tensor(name);
    }

    @Override
    public MemorySegment segment() {
        return lease.segment();
    }

    @Override
    public void copyToHost(DeviceStream stream, PinnedBuffer target) {
        lease.copyToHost(stream, target);
    }

    @Override
    public void usedOn(DeviceStream stream) {
        lease.usedOn(stream);
    }

    @Override
    public DLPackCapsule toDLPack(String name, long stream, DLPackForm form) {
        return lease.toDLPack(name, stream, form);
    }

    @Override
    public void close() {
        if (!over) {
            lease.close();
            over = true;
            leak.closed();
        }
    }

    @Override
    long sequence() {
        return lease.sequence();
    }

    @Override
    boolean belongsToCaller() {
        return lease.belongsToCaller();
    }

    @Override
    boolean isClosed() {
        return lease.isClosed();
    }

    @Override
    public String toString() {
        return lease.toString();
    }
}
