// SPDX-License-Identifier: Apache-2.0
package io.penstock.media;

import io.penstock.error.CodecException;
import io.penstock.image.ImageFit;
import io.penstock.media.IsolatedChild.Work;
import io.penstock.media.ffmpeg.DecoderLimits;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A process of its own that decodes, for one worker: a file that crashes a decoder ends that process, and the sample is
 * bad with the reason. The next sample gets a new process. What is decoded, and what comes of it, lies in a file that
 * both map; a socket carries its size to and fro, as a bell. For one thread.
 */
final class IsolatedDecoder implements AutoCloseable {

    /** The CPU time that a sample may take if nothing else is said. */
    static final Duration USUAL_CPU = Duration.ofSeconds(60);

    private static final Path MEMORY_FOLDER = Path.of("/dev/shm");
    private static final long ENOUGH_MEMORY_BYTES = 1L << 30;
    /** How often the CPU time is looked at while a sample is decoded. */
    private static final int LOOK_MILLISECONDS = 100;
    private static final int END_SECONDS = 10;

    private final Duration cpu;
    private final Class<?> main;
    private final ByteBuffer bell = ByteBuffer.allocateDirect(Long.BYTES);
    private @Nullable Child child;

    /** A process that runs, and what it shares with this one. */
    private record Child(Process process, SocketChannel socket, Selector selector, SharedMemory memory) {

        void close() {
            process.destroyForcibly();
            try (memory; selector; socket) {
                process.onExit().join();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** Creates a decoder without a process: the first sample starts it. */
    IsolatedDecoder(Duration cpu) {
        this(cpu, IsolatedChild.class);
    }

    /** The same, with another program in the process. */
    IsolatedDecoder(Duration cpu, Class<?> main) {
        this.cpu = cpu;
        this.main = main;
    }

    /**
     * Decodes frames, as {@link ClipReader#read} and {@link FramePixels#write} do.
     *
     * @param entry where the video's entry of the index begins, of {@code entryBytes}
     * @param first the first byte of the file that is needed; {@code end} is behind the last
     * @return where in {@link #memory} the frames are, each {@code u8[3, height, width]}, one behind the other
     */
    long frames(MemorySegment index, long entry, long entryBytes, MemorySegment file, long offset, long first, long end,
            int[] frames, int count, int rotation, ImageFit fit, DecoderLimits limits, int maxClipPackets)
            throws IOException {
        long frameBytes = 3L * fit.height() * fit.width();
        long numbers = (long) count * Integer.BYTES;
        SharedMemory shared = put(index, entry, entryBytes, file, offset, first, end, numbers + count * frameBytes);
        long at = behindInput(shared);
        MemorySegment.copy(frames, 0, shared.memory(), ValueLayout.JAVA_INT_UNALIGNED, at, count);
        set(shared, Work.FRAMES, count, rotation, fit.sizing().ordinal(), fit.height(), fit.width(),
                fit.shorterSide(), limits.maxPixels(), limits.maxPackets(), maxClipPackets);
        call(shared, cpu);
        return at + numbers;
    }

    /** Decodes samples, as {@link SoundClipReader#read} does, and returns where they are, a channel after the other. */
    long sound(MemorySegment index, long entry, long entryBytes, MemorySegment file, long offset, long first, long end,
            int sample, int count, int channels, int maxClipPackets) throws IOException {
        SharedMemory shared = put(index, entry, entryBytes, file, offset, first, end,
                (long) count * channels * Float.BYTES);
        set(shared, Work.SOUND, sample, count, channels, maxClipPackets);
        call(shared, cpu);
        return behindInput(shared);
    }

    /** Decodes a whole file, as {@link SoundDecoder} does; returns the bytes that come of it, at {@link #behind}. */
    long wholeSound(MemorySegment file, int channels, int rate, boolean isResampled) throws IOException {
        SharedMemory shared = put(file, 0, 0, file, 0, 0, file.byteSize(), 0);
        set(shared, Work.WHOLE_SOUND, channels, rate, isResampled ? 1 : 0);
        return call(shared, cpu);
    }

    /** Makes the entry of a file's index. A large file may take longer: it is decoded in part. */
    byte[] index(MemorySegment file, DecoderLimits limits, boolean isSound) throws IOException {
        SharedMemory shared = put(file, 0, 0, file, 0, 0, file.byteSize(), 0);
        set(shared, isSound ? Work.SOUND_INDEX : Work.VIDEO_INDEX, limits.maxPixels(), limits.maxPackets());
        long bytes = call(shared, cpu.plusSeconds(file.byteSize() >> 20));
        return shared.memory().asSlice(SharedMemory.BEGIN, bytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /** The memory with results, until the next call. */
    MemorySegment memory() {
        return Objects.requireNonNull(child).memory.memory();
    }

    /** Where the results of a whole file are. */
    static long behind(MemorySegment file) {
        return SharedMemory.BEGIN + file.byteSize();
    }

    /** How many packets the last call has decoded, if it was not the end of the process. */
    long decodedPackets() {
        return child == null ? 0 : child.memory.number(IsolatedChild.DECODED);
    }

    /** Puts the entry and the bytes of the file behind the numbers, with room behind them. */
    private SharedMemory put(MemorySegment index, long entry, long entryBytes, MemorySegment file, long offset,
            long first, long end, long more) {
        SharedMemory shared = started().memory;
        MemorySegment memory;
        try {
            memory = shared.require(SharedMemory.BEGIN + entryBytes + end - first + more);
        } catch (IOException e) {
            close();
            throw new UncheckedIOException("memory shared with a process that decodes", e);
        }
        shared.number(IsolatedChild.ENTRY_BYTES, entryBytes);
        shared.number(IsolatedChild.FIRST, first);
        shared.number(IsolatedChild.END, end);
        MemorySegment.copy(index, entry, memory, SharedMemory.BEGIN, entryBytes);
        MemorySegment.copy(file, offset + first, memory, SharedMemory.BEGIN + entryBytes, end - first);
        return shared;
    }

    private static long behindInput(SharedMemory shared) {
        return SharedMemory.BEGIN + shared.number(IsolatedChild.ENTRY_BYTES) + shared.number(IsolatedChild.END)
                - shared.number(IsolatedChild.FIRST);
    }

    private static void set(SharedMemory shared, Work work, long... numbers) {
        shared.number(IsolatedChild.WORK, work.ordinal());
        shared.number(IsolatedChild.DECODED, 0);
        for (int i = 0; i < numbers.length; i++) {
            shared.number(IsolatedChild.NUMBERS + i, numbers[i]);
        }
    }

    /** Rings, waits for the answer, and returns the number that comes with it. */
    private long call(SharedMemory shared, Duration limit) throws IOException {
        Child to = Objects.requireNonNull(child);
        try {
            long begin = cpu(to.process).toNanos();
            bell.clear().putLong(0, shared.memory().byteSize());
            while (bell.hasRemaining()) {
                to.socket.write(bell);
            }
            bell.clear();
            while (bell.hasRemaining()) {
                if (to.selector.select(LOOK_MILLISECONDS) == 0) {
                    look(to, begin, limit);
                }
                to.selector.selectedKeys().clear();
                if (to.socket.read(bell) < 0) {
                    throw new CodecException(ended(to.process));
                }
            }
            shared.map(bell.getLong(0));
        } catch (InterruptedIOException e) {
            close();
            throw e;
        } catch (IOException _) {
            String reason = ended(to.process);
            close();
            throw new CodecException(reason);
        } catch (Throwable t) {
            close();
            throw t;
        }
        long value = shared.number(IsolatedChild.VALUE);
        switch ((int) shared.number(IsolatedChild.STATUS)) {
            case IsolatedChild.GOOD -> {
                return value;
            }
            case IsolatedChild.BAD -> throw new CodecException(text(shared, value));
            default -> throw new IllegalStateException("the process that decodes failed: " + text(shared, value));
        }
    }

    private static void look(Child at, long begin, Duration limit) throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("interrupted while another process decodes");
        }
        if (cpu(at.process).toNanos() - begin > limit.toNanos()) {
            throw new CodecException("decoding that takes over " + limit.toSeconds() + " seconds of CPU time", "less");
        }
    }

    private static String text(SharedMemory shared, long bytes) {
        return new String(shared.memory().asSlice(SharedMemory.BEGIN, bytes).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }

    private static Duration cpu(Process process) {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Says how a process ended whose socket is closed. */
    private static String ended(Process process) {
        try {
            if (process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
                int status = process.exitValue();
                // Java ends itself with status 1 after a fault, if it is to write no core.
                return "the process that decoded it ended with status " + status
                        + (status > 128 ? ", signal " + (status - 128) : status == 1 ? ", a crash" : "");
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        return "the process that decoded it does not answer";
    }

    /** Returns the process; starts it if there is none, or it has ended since the last call. */
    private Child started() {
        Child now = child;
        if (now == null || !now.process.isAlive()) {
            close();
            try {
                now = start();
            } catch (IOException e) {
                throw new UncheckedIOException("a process that decodes cannot be started", e);
            }
            child = now;
        }
        return now;
    }

    private Child start() throws IOException {
        boolean isMemory = Files.isWritable(MEMORY_FOLDER)
                && Files.getFileStore(MEMORY_FOLDER).getUsableSpace() >= ENOUGH_MEMORY_BYTES;
        Path folder = isMemory ? Files.createTempDirectory(MEMORY_FOLDER, "penstock")
                : Files.createTempDirectory("penstock");
        Path socket = folder.resolve("bell");
        Path file = folder.resolve("memory");
        // Both have them open when this returns: no name is left behind, however the processes end.
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            var memory = new SharedMemory(file);
            try {
                memory.require(SharedMemory.BEGIN);
                server.bind(UnixDomainSocketAddress.of(socket));
                return start(server, socket, file, memory);
            } catch (Throwable t) {
                memory.close();
                throw t;
            }
        } finally {
            Files.deleteIfExists(socket);
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    private Child start(ServerSocketChannel server, Path socket, Path file, SharedMemory memory) throws IOException {
        Process process = new ProcessBuilder(command(socket, file)).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        Selector selector = Selector.open();
        try {
            server.configureBlocking(false);
            SelectionKey key = server.register(selector, SelectionKey.OP_ACCEPT);
            SocketChannel accepted = server.accept();
            while (accepted == null) {
                if (!process.isAlive()) {
                    throw new IllegalStateException("the process that is to decode did not start: status "
                            + process.exitValue() + " of " + command(socket, file));
                }
                selector.select(LOOK_MILLISECONDS);
                if (Thread.currentThread().isInterrupted()) {
                    throw new InterruptedIOException("interrupted while a process to decode starts");
                }
                accepted = server.accept();
            }
            key.cancel();
            accepted.configureBlocking(false);
            selector.selectNow();
            accepted.register(selector, SelectionKey.OP_READ);
            return new Child(process, accepted, selector, memory);
        } catch (Throwable t) {
            selector.close();
            process.destroyForcibly();
            throw t;
        }
    }

    /** The same Java with the same code and properties. */
    private List<String> command(Path socket, Path file) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java")
                .toString(), "-XX:+UseSerialGC", "-XX:+SuppressFatalErrorMessage", "-XX:-CreateCoredumpOnCrash"));
        System.getProperties().stringPropertyNames().stream().filter(name -> name.startsWith("penstock."))
                .sorted().forEach(name -> command.add("-D" + name + "=" + System.getProperty(name)));
        Module module = main.getModule();
        command.add("--enable-native-access=" + (module.isNamed() ? module.getName() : "ALL-UNNAMED"));
        if (module.isNamed()) {
            String path = System.getProperty("jdk.module.path");
            command.addAll(path == null ? List.of() : List.of("-p", path));
            command.addAll(List.of("-m", module.getName() + "/" + main.getName()));
        } else {
            command.addAll(List.of("-cp", classPath(), main.getName()));
        }
        command.addAll(List.of(socket.toString(), file.toString(),
                String.valueOf(ProcessHandle.current().pid())));
        return command;
    }

    /** Where these classes are, which a class loader may have brought, then the class path. */
    private String classPath() {
        Set<String> places = new LinkedHashSet<>();
        for (Class<?> type : List.of(main, IsolatedChild.class, ImageFit.class, CodecException.class)) {
            CodeSource source = type.getProtectionDomain().getCodeSource();
            if (source != null && source.getLocation().getProtocol().equals("file")) {
                places.add(Path.of(URI.create(source.getLocation().toString())).toString());
            }
        }
        places.add(System.getProperty("java.class.path"));
        return String.join(System.getProperty("path.separator"), places);
    }

    /** The process, if it runs; for tests. */
    @Nullable Process process() {
        return child == null ? null : child.process;
    }

    @Override
    public void close() {
        Child old = child;
        child = null;
        if (old != null) {
            old.close();
        }
    }
}
