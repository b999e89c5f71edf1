// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What is read of {@code /proc} and of control groups. */
class HostReaderTest {

    @TempDir
    private Path root;

    private void put(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private static String stat(String name, int user, int system) {
        return "7 (" + name + ") S 1 7 7 0 -1 4194304 100 0 0 0 " + user + " " + system + " 0 0 20 0 1 0 5\n";
    }

    private HostSample counted() {
        var reader = new HostReader(root);
        reader.count();
        reader.readHeap();
        reader.readAll();
        return reader.sample();
    }

    @Test
    void aProcessIsReadAsProcDescribesIt() throws IOException {
        put("proc/self/status", "Name:\tjava\nVmRSS:\t    2048 kB\nRssAnon:\t    1024 kB\nThreads:\t17\n");
        put("proc/self/stat", stat("a (b) c", 250, 150));
        put("proc/self/task/7/stat", stat("main", 30, 20));
        put("proc/self/task/8/stat", stat("penstock-worker", 100, 0));
        put("proc/self/task/9/stat", stat("GC Thread#0", 25, 0));
        put("proc/self/task/10/stat", stat("C2 CompilerThre", 200, 0));
        put("proc/self/fd/0", "");
        put("proc/self/fd/1", "");
        put("proc/self/fd/2", "");
        put("proc/self/io", "rchar: 1\nwchar: 2\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 3\n");
        put("proc/self/net/dev", "Inter-|   Receive\n face |bytes    packets\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n"
                + "  eth0: 100 1 0 0 0 0 0 0 50 1 0 0 0 0 0 0\n  eth1:10 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n");
        put("proc/pressure/cpu", "some avg10=98.90 avg60=1.00 avg300=0.10 total=2500000\nfull avg10=0 total=7\n");
        HostSample seen = counted();
        assertEquals(2048 * 1024, seen.memory().residentBytes());
        assertEquals(1024 * 1024, seen.memory().anonymousBytes());
        assertEquals(17, seen.memory().threads());
        assertEquals(2, seen.memory().openFiles());
        assertTrue(seen.memory().heapBytes() > 0);
        assertEquals(new HostSample.Cpu(4, 1, 0.25, 2, 0.5), seen.cpu());
        assertEquals(new HostSample.Traffic(4096, 8192, 110, 55), seen.traffic());
        assertEquals(new HostSample.Pressure(2.5, Double.NaN, Double.NaN), seen.pressure());
    }

    @Test
    void theNarrowestLimitOfAGroupAndThoseAboveItCounts() throws IOException {
        put("proc/self/cgroup", "0::/pod/run\n");
        put("sys/fs/cgroup/pod/run/cpu.max", "max 100000\n");
        put("sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
        put("sys/fs/cgroup/pod/cpu.stat", "usage_usec 5\nnr_periods 400\nnr_throttled 100\nthrottled_usec 9\n");
        put("sys/fs/cgroup/pod/run/memory.current", "300\n");
        put("sys/fs/cgroup/pod/run/memory.max", "max\n");
        put("sys/fs/cgroup/pod/memory.current", "500\n");
        put("sys/fs/cgroup/pod/memory.max", "1000\n");
        assertEquals(new HostSample.GroupLimits(1.5, 400, 100, 500, 1000), counted().limits());
    }

    @Test
    void versionOneIsReadToo() throws IOException {
        put("proc/self/cgroup", "4:memory:/run\n2:cpu,cpuacct:/run\n1:name=systemd:/run\n");
        put("sys/fs/cgroup/cpu/run/cpu.cfs_quota_us", "50000\n");
        put("sys/fs/cgroup/cpu/run/cpu.cfs_period_us", "100000\n");
        put("sys/fs/cgroup/cpu/run/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 8\n");
        put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        put("sys/fs/cgroup/memory/run/memory.usage_in_bytes", "77\n");
        put("sys/fs/cgroup/memory/run/memory.limit_in_bytes", "9223372036854771712\n");
        assertEquals(new HostSample.GroupLimits(0.5, 10, 4, 77, Double.NaN), counted().limits());
    }

    @Test
    void whatIsMissingOrIsNoNumberIsLeftOut() throws IOException {
        double no = Double.NaN;
        HostSample nothing = counted();
        assertEquals(no, nothing.memory().residentBytes());
        assertEquals(new HostSample.Cpu(no, no, no, no, no), nothing.cpu());
        assertEquals(new HostSample.GroupLimits(no, no, no, no, no), nothing.limits());
        put("proc/self/stat", "7 (java");
        put("proc/self/status", "VmRSS: lots\nThreads:");
        put("proc/self/io", "read_bytes: \n");
        put("proc/self/cgroup", "0::\nx\n:::\n");
        HostSample garbage = counted();
        assertEquals(no, garbage.memory().residentBytes());
        assertEquals(no, garbage.memory().threads());
        assertEquals(no, garbage.cpu().totalSeconds());
        assertEquals(no, garbage.traffic().diskReadBytes());
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void thisProcessIsSeen() {
        var reader = new HostReader();
        reader.count();
        reader.readHeap();
        reader.readAll();
        HostSample seen = reader.sample();
        assertTrue(seen.memory().residentBytes() > 1 << 20, seen.toString());
        assertTrue(seen.memory().anonymousBytes() <= seen.memory().residentBytes(), seen.toString());
        assertTrue(seen.memory().threads() >= 2 && seen.memory().openFiles() >= 3, seen.toString());
        assertTrue(seen.cpu().totalSeconds() > 0 && seen.cpu().otherSeconds() > 0, seen.toString());
    }
}
