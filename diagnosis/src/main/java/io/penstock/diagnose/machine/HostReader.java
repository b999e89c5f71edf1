// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads what Linux tells of this process ({@code proc(5)}) and of its control group (versions 1 and 2). A file that is
 * missing, or that this process may not read, leaves its values out: they are NaN. Files stay open, because opening one
 * costs more than reading it. For one thread.
 */
final class HostReader implements AutoCloseable {

    /** {@code USER_HZ}, which is 100 on every Linux that runs a JVM. */
    private static final double TICKS_A_SECOND = 100;
    /** Where the fields of {@code stat} are, counted from behind the command's name: user and system time. */
    private static final int USER_TICKS = 11;
    private static final int SYSTEM_TICKS = 12;
    private static final double UNKNOWN = Double.NaN;
    private static final HostSample.Cpu NO_GROUPS = new HostSample.Cpu(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN);
    /** Version 1 writes a limit of about 2^63 bytes where there is none. */
    private static final double NO_LIMIT_BYTES = 0x1p60;

    /** Of all files that are read again and again, the open ones. */
    private final Map<Path, FileChannel> open = new HashMap<>();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(4 << 10);
    private double heapBytes = UNKNOWN;
    private double liveBytes = UNKNOWN;
    private final Path proc;
    private final Path self;
    private final List<Path> cpuGroups;
    private final List<Path> memoryGroups;
    private final List<MemoryPoolMXBean> heapPools = ManagementFactory.getMemoryPoolMXBeans().stream()
            .filter(pool -> pool.getType() == MemoryType.HEAP && pool.getCollectionUsage() != null).toList();
    private HostSample.Cpu groups = NO_GROUPS;
    private double openFiles = UNKNOWN;
    private HostSample latest = new HostSample(new HostSample.ProcessMemory(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN,
            UNKNOWN), NO_GROUPS, new HostSample.Pressure(UNKNOWN, UNKNOWN, UNKNOWN),
            new HostSample.Traffic(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN),
            new HostSample.GroupLimits(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN));

    HostReader() {
        this(Path.of("/"));
    }

    /** Reads below another root, which a test has made. */
    HostReader(Path root) {
        this.proc = root.resolve("proc");
        this.self = proc.resolve("self");
        Path mount = root.resolve("sys/fs/cgroup");
        String names = once(self.resolve("cgroup"));
        this.cpuGroups = groups(mount, names, "cpu");
        this.memoryGroups = groups(mount, names, "memory");
    }

    /** The folders of a controller's group: its own and those above it, of both versions; the innermost first. */
    private static List<Path> groups(Path mount, String names, String controller) {
        return names.lines().map(line -> line.split(":", 3)).filter(parts -> parts.length == 3).flatMap(parts -> {
            boolean unified = parts[0].equals("0") && parts[1].isEmpty();
            boolean own = List.of(parts[1].split(",")).contains(controller);
            if (!parts[2].startsWith("/")) {
                return Stream.empty();
            }
            Stream<Path> mounts = unified ? Stream.of(mount, mount.resolve("unified"))
                    : own ? Stream.of(mount.resolve(controller), mount.resolve(parts[1])) : Stream.of();
            return mounts.flatMap(at -> Stream.iterate(at.resolve(parts[2].substring(1)).normalize(),
                    path -> path.startsWith(at), Path::getParent));
        }).distinct().filter(Files::isDirectory).toList();
    }

    /**
     * Reads memory and threads, from one file. All else is as of the last {@link #readHeap}, {@link #readAll} and
     * {@link #count}.
     */
    HostSample sample() {
        HostSample known = latest;
        return new HostSample(memory(), known.cpu(), known.pressure(), known.traffic(), known.limits());
    }

    /** Asks the JVM for the heap in use, now and after the last collections. */
    void readHeap() {
        long after = 0;
        for (MemoryPoolMXBean pool : heapPools) {
            after += pool.getCollectionUsage().getUsed();
        }
        heapBytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        liveBytes = after == 0 ? UNKNOWN : after;
    }

    /** Reads all that takes a file or two each. */
    void readAll() {
        latest = new HostSample(latest.memory(), cpu(), pressure(), traffic(), limits());
    }

    /** Counts open files, and processor time by groups of threads: takes some microseconds for each of them. */
    void count() {
        openFiles = entries(self.resolve("fd"));
        groups = threads();
    }

    // ---- the process

    private HostSample.ProcessMemory memory() {
        String status = text(self.resolve("status"));
        return new HostSample.ProcessMemory(1024 * after(status, "VmRSS:"), 1024 * after(status, "RssAnon:"),
                heapBytes, liveBytes, openFiles, after(status, "Threads:"));
    }

    private HostSample.Cpu cpu() {
        return new HostSample.Cpu(seconds(text(self.resolve("stat"))), groups.loaderSeconds(), groups.gcSeconds(),
                groups.compilerSeconds(), groups.otherSeconds());
    }

    private HostSample.Cpu threads() {
        double loader = 0;
        double gc = 0;
        double compiler = 0;
        double other = 0;
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(self.resolve("task"))) {
            for (Path task : tasks) {
                String stat = once(task.resolve("stat"));
                double seconds = seconds(stat);
                if (Double.isNaN(seconds)) {
                    continue;                           // the thread has ended
                }
                String name = stat.substring(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
                if (name.startsWith("penstock")) {
                    loader += seconds;
                } else if (name.startsWith("GC ") || name.startsWith("G1 ") || name.startsWith("ZWorker")
                        || name.startsWith("ZDriver") || name.startsWith("Shenandoah")) {
                    gc += seconds;
                } else if (name.startsWith("C1 ") || name.startsWith("C2 ")) {
                    compiler += seconds;
                } else {
                    other += seconds;
                }
            }
        } catch (IOException _) {
            return NO_GROUPS;
        }
        return new HostSample.Cpu(UNKNOWN, loader, gc, compiler, other);
    }

    private static double seconds(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
        return fields.length <= SYSTEM_TICKS ? UNKNOWN
                : (number(fields[USER_TICKS]) + number(fields[SYSTEM_TICKS])) / TICKS_A_SECOND;
    }

    private HostSample.Traffic traffic() {
        String io = text(self.resolve("io"));
        double received = UNKNOWN;
        double sent = UNKNOWN;
        for (String line : text(self.resolve("net/dev")).lines().toList()) {
            int colon = line.indexOf(':');
            String[] counts = line.substring(colon + 1).strip().split("\\s+");
            if (colon > 0 && !line.substring(0, colon).strip().equals("lo") && counts.length > 8) {
                received = (Double.isNaN(received) ? 0 : received) + number(counts[0]);
                sent = (Double.isNaN(sent) ? 0 : sent) + number(counts[8]);
            }
        }
        return new HostSample.Traffic(after(io, "read_bytes:"), after(io, "\nwrite_bytes:"), received, sent);
    }

    // ---- what is above it

    private HostSample.Pressure pressure() {
        return new HostSample.Pressure(stalled("cpu"), stalled("io"), stalled("memory"));
    }

    /** Of the line {@code some avg10=0.00 … total=123}, in microseconds. */
    private double stalled(String what) {
        return after(text(proc.resolve("pressure").resolve(what)), "total=") / 1e6;
    }

    private HostSample.GroupLimits limits() {
        double cores = UNKNOWN;
        double periods = UNKNOWN;
        double throttled = UNKNOWN;
        for (Path group : cpuGroups) {
            String[] limit = text(group.resolve("cpu.max")).strip().split(" ");
            double found = limit.length == 2 ? number(limit[0]) / number(limit[1])
                    : after(text(group.resolve("cpu.cfs_quota_us")), "")
                            / after(text(group.resolve("cpu.cfs_period_us")), "");
            if (found > 0 && !(found >= cores)) {       // the narrowest
                String stat = text(group.resolve("cpu.stat"));
                cores = found;
                periods = after(stat, "nr_periods ");
                throttled = after(stat, "nr_throttled ");
            }
        }
        double bytes = UNKNOWN;
        double limit = UNKNOWN;
        for (Path group : memoryGroups) {
            double used = Math.max(0, first(group, "memory.current", "memory.usage_in_bytes"));
            double most = first(group, "memory.max", "memory.limit_in_bytes");
            if (Double.isNaN(bytes) || most < NO_LIMIT_BYTES && !(most >= limit)) {
                bytes = used;
                limit = most < NO_LIMIT_BYTES ? most : limit;
            }
        }
        return new HostSample.GroupLimits(cores, periods, throttled, bytes, limit);
    }

    private double first(Path group, String file, String older) {
        double found = after(text(group.resolve(file)), "");
        return Double.isNaN(found) ? after(text(group.resolve(older)), "") : found;
    }

    // ---- files

    private static String once(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException | SecurityException _) {
            return "";
        }
    }

    /** Reads a file anew, and leaves it open. */
    private String text(Path file) {
        try {
            FileChannel channel = open.get(file);
            if (channel == null) {
                channel = FileChannel.open(file);
                open.put(file, channel);
            }
            buffer.clear();
            while (channel.read(buffer, buffer.position()) > 0) {
                if (!buffer.hasRemaining()) {
                    buffer = ByteBuffer.allocateDirect(2 * buffer.capacity()).put(buffer.flip());
                }
            }
            return StandardCharsets.ISO_8859_1.decode(buffer.flip()).toString();
        } catch (IOException | SecurityException _) {
            close(open.remove(file));
            return "";
        }
    }

    private static void close(@Nullable FileChannel channel) {
        if (channel != null) {
            try {
                channel.close();
            } catch (IOException _) {
                // It was only read.
            }
        }
    }

    /** Closes the files. Repeating it has no effect. */
    @Override
    public void close() {
        open.values().forEach(HostReader::close);
        open.clear();
    }

    private static double entries(Path folder) {
        int count = 0;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path _ : files) {
                count++;
            }
        } catch (IOException _) {
            return UNKNOWN;
        }
        return count - 1;                               // without the one that lists them
    }

    /** The number behind a key, spaces before it skipped; NaN if the text does not have it. */
    private static double after(String text, String key) {
        int at = text.indexOf(key);
        if (at < 0) {
            return UNKNOWN;
        }
        int begin = at + key.length();
        while (begin < text.length() && Character.isWhitespace(text.charAt(begin))) {
            begin++;
        }
        int end = begin;
        while (end < text.length() && (Character.isDigit(text.charAt(end)) || text.charAt(end) == '-')) {
            end++;
        }
        return number(text.substring(begin, end));
    }

    private static double number(String digits) {
        try {
            return Long.parseLong(digits);
        } catch (NumberFormatException _) {
            return UNKNOWN;
        }
    }
}
