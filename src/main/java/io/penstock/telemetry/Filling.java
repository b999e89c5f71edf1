package io.penstock.telemetry;

/**
 * A batch that is being made, as the thread knows it that makes it: written by that thread alone, used again for every
 * batch, and read by the {@linkplain LoaderProbe probe} within its calls. Times are what the loader's clock says.
 */
public final class Filling {

    /** Stands for a sequence where nothing is left to make. */
    public static final long NOTHING = -1;

    /** The thread's number. */
    public final int worker;
    /** The batch's number in the loader's life, from 0. */
    public long sequence = NOTHING;
    /** When the thread began with the batch. */
    public long claimedAt;
    /** When the batch's slot was free. */
    public long slotAt;
    /** When it was known which samples make the batch; as {@link #slotAt} if that could not be told. */
    public long plannedAt;
    /** When the batch was whole. */
    public long madeAt;
    /** The epoch of its samples. */
    public long epoch;
    /** Whether it is the first of its epoch, or the first after the loader was opened or moved. */
    public boolean first;
    /** Samples in it. */
    public int samples;
    /** Bytes of it in its slot. */
    public long bytes;
    /** Time within planned to made that went to bringing bytes in. */
    public long readNanos;
    /** Time within planned to made that went to decoding. */
    public long decodeNanos;
    /** Time within planned to made that went to maps of samples. */
    public long transformNanos;

    /** Whether an account of it is kept: told by whoever keeps them, as all below. */
    boolean kept;
    /** Of planned to made, the time that the thread ran; NOT_MEASURED if it was not looked at, and neither was: */
    long cpuNanos = BatchAccount.NOT_MEASURED;
    long diskBytes;
    long majorFaults;
    long voluntarySwitches;
    long involuntarySwitches;
    /** May be NOT_MEASURED alone. */
    long queuedNanos;

    /**
     * For one thread.
     *
     * @param worker the thread's number, from 0
     */
    public Filling(int worker) {
        this.worker = worker;
    }
}
