// SPDX-License-Identifier: Apache-2.0
package io.penstock.image.nvjpeg;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.penstock.device.Device;
import io.penstock.device.DeviceException;
import io.penstock.device.DeviceStream;
import io.penstock.device.internal.DeviceThread;
import io.penstock.internal.Opened;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Decodes JPEG files in host memory to RGB in device memory. The files that the batched decoder takes are decoded at
 * once, by the device's JPEG engine if it has one; the others are decoded one by one. If the batched decoder refuses
 * the batch, all files are decoded one by one, to find the damaged ones.
 *
 * <p><b>The engine does not wait for its stream:</b> it may write before the work queued on the stream has run. Before
 * {@link #decode}, the host must therefore have seen the end of all work that uses the pixels' memory, and of the
 * decoding before. What is enqueued after a decoding does wait for it. The files must stay unchanged until the decoding
 * has ended.
 *
 * <p>For one thread at a time, which must have made the device current.
 */
final class NvJpeg implements AutoCloseable {

    /** The library's buffers grow in these steps: large ones, so that they soon hold the largest image. */
    private static final long DEVICE_PADDING_BYTES = 16 << 20;
    private static final long PINNED_PADDING_BYTES = 8 << 20;

    /** Statuses that an image may be the reason for, by bit. A device that has failed says so at the next launch. */
    private static final int OF_IMAGE = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 8 | 1 << 10;

    private final NvJpegLibrary library;
    private final Device device;
    private final Opened opened = new Opened();
    private final boolean hasEngine;
    /** The decoder of batches, which may be that of single images. */
    private final long batchHandle;
    private final long batchState;
    private final long singleHandle;
    private final long singleState;
    private final long header;
    private final MemorySegment answer;
    /** Addresses of files, their sizes and their pixels: the batched ones from the front, the others from the end. */
    private final MemorySegment files;
    private final MemorySegment lengths;
    private final MemorySegment images;
    private final int[] rows;
    private final int most;
    private int batched;
    private int singles;
    /** The batch size that the state was initialized for. */
    private int initialized;
    private final int[] damaged;
    private int damagedCount;

    private NvJpeg(Device device, int most) {
        this.library = NvJpegLibrary.load();
        this.device = device;
        this.most = most;
        this.rows = new int[most];
        this.damaged = new int[most];
        Arena arena = opened.add(Arena.ofShared(), Arena::close);
        try {
            this.answer = arena.allocate(JAVA_LONG);
            this.files = arena.allocate(JAVA_LONG, most);
            this.lengths = arena.allocate(JAVA_LONG, most);
            this.images = arena.allocate(NvJpegLibrary.IMAGE, most);
            check(library.create(NvJpegLibrary.BACKEND_DEFAULT, answer), "nvjpegCreateEx");
            this.singleHandle = handle();
            this.hasEngine = library.create(NvJpegLibrary.BACKEND_HARDWARE, answer) == NvJpegLibrary.SUCCESS;
            this.batchHandle = hasEngine ? handle() : singleHandle;
            this.singleState = state(singleHandle);
            this.batchState = state(batchHandle);
            check(NvJpegLibrary.call(library.streamCreate(), batchHandle, answer.address()), "nvjpegJpegStreamCreate");
            this.header = made(library.streamDestroy(), "nvjpegJpegStreamDestroy");
        } catch (Throwable t) {
            opened.closeAfter(t);
            throw t;
        }
    }

    /**
     * Opens a decoder of up to a number of files at once.
     *
     * @throws io.penstock.device.DeviceUnavailableException if there is no nvJPEG
     * @throws DeviceException if it does not work on the device
     */
    static NvJpeg open(Device device, int most) {
        NvJpeg[] made = new NvJpeg[1];
        DeviceThread.run(device, "nvJPEG", () -> made[0] = new NvJpeg(device, most));
        return made[0];
    }

    /** Registers the object that the last call made, to be destroyed on close. */
    private long made(MethodHandle destroy, String call) {
        return opened.add(answer.get(JAVA_LONG, 0), made -> check(NvJpegLibrary.call(destroy, made), call));
    }

    /** Registers the handle that the last call made, and sets its padding. */
    private long handle() {
        long handle = made(library.destroy(), "nvjpegDestroy");
        check(NvJpegLibrary.call(library.setDevicePadding(), DEVICE_PADDING_BYTES, handle),
                "nvjpegSetDeviceMemoryPadding");
        check(NvJpegLibrary.call(library.setPinnedPadding(), PINNED_PADDING_BYTES, handle),
                "nvjpegSetPinnedMemoryPadding");
        return handle;
    }

    private long state(long handle) {
        check(NvJpegLibrary.call(library.stateCreate(), handle, answer.address()), "nvjpegJpegStateCreate");
        return made(library.stateDestroy(), "nvjpegJpegStateDestroy");
    }

    private void check(int status, String call) {
        if (status != NvJpegLibrary.SUCCESS) {
            throw new DeviceException(device.name(), call, status, NvJpegLibrary.name(status), "nvJPEG failed");
        }
    }

    /** For example {@code nvJPEG 13.0.1, JPEG engine}: decoders of other descriptions may give other pixels. */
    String description() {
        return "nvJPEG " + library.version() + (hasEngine ? ", JPEG engine" : ", no JPEG engine");
    }

    /** Begins a new list of files. */
    void begin() {
        batched = 0;
        singles = 0;
        damagedCount = 0;
    }

    /**
     * Adds a file.
     *
     * @param row names it in {@link #damaged}
     * @param file its address in host memory
     * @param pixels the address in device memory of u8 [height, width, 3]
     */
    void add(int row, long file, long bytes, long pixels, int width) {
        int at = isForBatch(file, bytes) ? batched++ : most - ++singles;
        rows[at] = row;
        files.setAtIndex(JAVA_LONG, at, file);
        lengths.setAtIndex(JAVA_LONG, at, bytes);
        long image = at * NvJpegLibrary.IMAGE.byteSize();
        images.set(JAVA_LONG, image, pixels);
        images.set(JAVA_LONG, image + NvJpegLibrary.PITCH, 3L * width);
    }

    private boolean isForBatch(long file, long bytes) {
        return library.parse(batchHandle, file, bytes, header) == NvJpegLibrary.SUCCESS
                && library.isSupported(batchHandle, header, answer.address()) == NvJpegLibrary.SUCCESS
                && answer.get(JAVA_INT, 0) == 0;
    }

    /**
     * Enqueues the decoding of the files that were added.
     *
     * @throws DeviceException if the library or the device fails
     */
    void decode(DeviceStream stream) {
        if (batched > 0) {
            decodeBatch(stream);
        }
        for (int at = most - singles; at < most; at++) {
            decodeSingle(at, stream);
        }
    }

    private void decodeBatch(DeviceStream stream) {
        if (initialized != batched) {
            initialized = 0;
            check(library.initialize(batchHandle, batchState, batched), "nvjpegDecodeBatchedInitialize");
            initialized = batched;
        }
        int status = library.decodeBatch(batchHandle, batchState, files.address(), lengths.address(),
                images.address(), stream.handle());
        if (status == NvJpegLibrary.SUCCESS) {
            return;
        }
        checkIsOfImage(status, "nvjpegDecodeBatched");
        initialized = 0;
        stream.synchronize();                           // the engine may have begun with the others
        for (int at = 0; at < batched; at++) {
            decodeSingle(at, stream);
        }
    }

    private void decodeSingle(int at, DeviceStream stream) {
        int status = library.decode(singleHandle, singleState, files.getAtIndex(JAVA_LONG, at),
                lengths.getAtIndex(JAVA_LONG, at), images.address() + at * NvJpegLibrary.IMAGE.byteSize(),
                stream.handle());
        if (status != NvJpegLibrary.SUCCESS) {
            checkIsOfImage(status, "nvjpegDecode");
            damaged[damagedCount++] = rows[at];
        }
    }

    private void checkIsOfImage(int status, String call) {
        if ((OF_IMAGE >>> status & 1) == 0) {
            check(status, call);
        }
    }

    /** How many of the files could not be decoded. */
    int damagedCount() {
        return damagedCount;
    }

    /** The row of the i-th file that could not be decoded. */
    int damaged(int i) {
        return damaged[i];
    }

    /** Frees the decoder. Nothing that it has enqueued may still run. */
    @Override
    public void close() {
        DeviceThread.run(device, "nvJPEG", opened::close);
    }
}
