// SPDX-License-Identifier: Apache-2.0
package io.penstock.loader;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A file system of one file, every read of which takes as long as the test wants, however many there are at once: a
 * device of any latency and great depth. It speaks the kernel's FUSE protocol ({@code linux/fuse.h}, 7.31) itself.
 *
 * <p>Only other processes may read the file: a thread of this one that waited in a page fault would hold up the
 * safepoint behind which the answer comes.
 */
final class SlowFileSystem implements AutoCloseable {

    static final String FILE = "tokens.bin";

    private static final int REQUEST_BYTES = 1 << 17;
    private static final int HEADER_BYTES = 16;
    private static final int O_RDWR_CLOEXEC = 0x80002;
    private static final int MS_RDONLY_NODEV = 5;
    private static final int MNT_DETACH = 2;
    private static final int ENOENT = 2;
    private static final int ENOSYS = 38;
    private static final int FOLDER_MODE = 0x416D;          // 040555
    private static final int FILE_MODE = 0x8124;            // 0100444
    private static final long ROOT_NODE = 1;
    private static final long FILE_NODE = 2;
    private static final long FOREVER = 1 << 30;
    private static final int ASYNC_READ = 1;
    private static final int MOST_IN_BACKGROUND = 128;

    private final Path folder;
    private final byte[] content;
    private final Arena arena = Arena.ofShared();
    private final int device;
    private final MethodHandle read;
    private final MethodHandle write;
    private final MethodHandle unmount;
    private final MethodHandle close;
    /** Reads that wait for their answer. Guarded by this, as is whether they do. */
    private final List<Runnable> waiting = new ArrayList<>();
    private boolean held;
    private volatile boolean closed;

    /**
     * Mounts it.
     *
     * @throws IOException if this process may not, or the kernel has no FUSE
     */
    SlowFileSystem(Path folder, int fileBytes, long seed) throws IOException {
        this.folder = folder;
        this.content = new byte[fileBytes];
        new Random(seed).nextBytes(content);
        this.read = function("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
        this.write = function("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
        this.unmount = function("umount2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
        this.close = function("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
        this.device = open();
        if (device < 0 || !mount()) {
            closeQuietly();
            throw new IOException("no FUSE file system can be mounted here");
        }
        Thread.ofPlatform().name("slow-file-system").daemon().start(this::serve);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle function(String name, FunctionDescriptor type, Linker.Option... options) {
        var linker = Linker.nativeLinker();
        return linker.downcallHandle(linker.defaultLookup().findOrThrow(name), type, options);
    }

    private int open() {
        try {
            return (int) function("open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
                    Linker.Option.firstVariadicArg(2)).invokeExact(arena.allocateFrom("/dev/fuse"), O_RDWR_CLOEXEC);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private boolean mount() {
        String options = "fd=" + device + ",rootmode=40000,user_id=0,group_id=0";
        try {
            return 0 == (int) function("mount",
                    FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS)).invokeExact(
                            arena.allocateFrom("penstock-slow"), arena.allocateFrom(folder.toString()),
                            arena.allocateFrom("fuse"), (long) MS_RDONLY_NODEV, arena.allocateFrom(options));
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    Path file() {
        return folder.resolve(FILE);
    }

    byte[] content() {
        return content;
    }

    private void serve() {
        MemorySegment request = arena.allocate(REQUEST_BYTES, Long.BYTES);
        ByteBuffer in = request.asByteBuffer().order(ByteOrder.nativeOrder());
        try {
            while (true) {
                long bytes = (long) read.invokeExact(device, request, (long) REQUEST_BYTES);
                if (bytes < 0) {
                    if (closed || !Files.exists(Path.of("/proc/self/fd/" + device))) {
                        return;
                    }
                    Thread.sleep(1);                        // interrupted, or the request was withdrawn
                    continue;
                }
                answer(in);
            }
        } catch (Throwable _) {
            // The device is gone, and with it whoever asked.
        }
    }

    private void answer(ByteBuffer in) {
        int opcode = in.getInt(4);
        long unique = in.getLong(8);
        long node = in.getLong(16);
        switch (opcode) {
            case 1 -> lookup(unique, in);
            case 2, 36, 42 -> { }                           // forget, interrupt: no answer
            case 3 -> reply(unique, 0, attributes(buffer(104).putLong(FOREVER).putLong(0), node));
            case 14, 27 -> reply(unique, 0, buffer(16).putLong(1).putInt(2).putInt(0));     // keep the page cache
            case 15 -> read(unique, in.getLong(48), in.getInt(56));
            case 18, 25, 29, 34 -> reply(unique, 0, buffer(0));                             // release, flush, access
            case 26 -> init(unique, in);
            default -> reply(unique, -ENOSYS, buffer(0));
        }
    }

    private void init(long unique, ByteBuffer in) {
        int readAhead = in.getInt(48);
        reply(unique, 0, buffer(64).putInt(7).putInt(31).putInt(readAhead).putInt(in.getInt(52) & ASYNC_READ)
                .putShort((short) MOST_IN_BACKGROUND).putShort((short) MOST_IN_BACKGROUND).putInt(4096).putInt(1));
    }

    private void lookup(long unique, ByteBuffer in) {
        var name = new StringBuilder();
        for (int at = 40; in.get(at) != 0; at++) {
            name.append((char) in.get(at));
        }
        if (name.toString().equals(FILE)) {
            reply(unique, 0, attributes(buffer(128).putLong(FILE_NODE).putLong(0).putLong(FOREVER).putLong(FOREVER)
                    .putLong(0), FILE_NODE));
        } else {
            reply(unique, -ENOENT, buffer(0));
        }
    }

    private ByteBuffer attributes(ByteBuffer out, long node) {
        boolean root = node == ROOT_NODE;
        out.putLong(node).putLong(root ? 0 : content.length).putLong(0).putLong(0).putLong(0).putLong(0)
                .putInt(0).putInt(0).putInt(0).putInt(root ? FOLDER_MODE : FILE_MODE).putInt(1).putInt(0).putInt(0)
                .putInt(0).putInt(4096).putInt(0);
        return out;
    }

    private void read(long unique, long offset, int bytes) {
        int count = Math.clamp(content.length - offset, 0, bytes);
        Runnable answer = () -> reply(unique, 0, buffer(count).put(content, (int) offset, count));
        synchronized (this) {
            if (held) {
                waiting.add(answer);
                notifyAll();
                return;
            }
        }
        answer.run();
    }

    /** Answers no reads from now on. */
    synchronized void hold() {
        held = true;
    }

    /** Answers what waits, and from now on all at once. */
    synchronized void release() {
        held = false;
        waiting.forEach(Runnable::run);
        waiting.clear();
    }

    /** Answers so many of the reads that have waited longest; others are held as before. */
    synchronized void answer(int reads) {
        List<Runnable> oldest = waiting.subList(0, reads);
        oldest.forEach(Runnable::run);
        oldest.clear();
    }

    /** Waits until so many reads do at the same time. */
    synchronized void awaitReads(int reads) throws InterruptedException {
        while (waiting.size() < reads) {
            wait();
        }
    }

    synchronized int reads() {
        return waiting.size();
    }

    private static ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocateDirect(HEADER_BYTES + bytes).order(ByteOrder.nativeOrder()).position(HEADER_BYTES);
    }

    private void reply(long unique, int error, ByteBuffer out) {
        out.putInt(0, out.capacity()).putInt(4, error).putLong(8, unique);
        try {
            long _ = (long) write.invokeExact(device, MemorySegment.ofBuffer(out.clear()), (long) out.capacity());
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    private void closeQuietly() {
        try {
            int _ = (int) unmount.invokeExact(arena.allocateFrom(folder.toString()), MNT_DETACH);
            if (device >= 0) {
                int _ = (int) close.invokeExact(device);
            }
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
    }

    /** Unmounts it; whoever still reads gets an error. */
    @Override
    public void close() {
        closed = true;
        closeQuietly();
    }
}
