// SPDX-License-Identifier: Apache-2.0
package io.penstock.spark;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.spark.launcher.JavaModuleOptions;
import org.apache.spark.sql.SparkSession;

/**
 * A master and workers of one core each, as processes on addresses of their own: Spark puts a speculative copy on
 * another host only.
 */
final class Cluster implements AutoCloseable {

    private final Path home;
    private final int port;
    private final List<Process> processes = new ArrayList<>();
    /** The hosts of the workers, by the numbers of their processes. */
    private final Map<Long, String> hosts = new HashMap<>();

    Cluster(Path folder) throws IOException {
        home = folder;
        Files.createDirectories(folder.resolve("jars"));             // Spark looks for it
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            port = socket.getLocalPort();
        }
        start("127.0.0.1", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port",
                Integer.toString(port), "--webui-port", "0");
    }

    /** Starts a worker; Spark finds the master when it is there. */
    void startWorker(String host) throws IOException {
        Process worker = start(host, "org.apache.spark.deploy.worker.Worker", "--host", host, "--cores", "1",
                "--memory", "512m", "--webui-port", "0", "--work-dir", home.resolve("work-" + host).toString(),
                master());
        hosts.put(worker.pid(), host);
    }

    private Process start(String address, String program, String... arguments) throws IOException {
        processes.add(start(address, List.of("-Xmx256m"), program, arguments));
        return processes.getLast();
    }

    /** Starts a Java program with the class path of the tests. */
    Process start(String address, List<String> options, String program, String... arguments) throws IOException {
        ProcessBuilder builder = java(options, program, arguments).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(home.resolve("log").toFile()));
        builder.environment().put("SPARK_HOME", home.toString());
        builder.environment().put("SPARK_SCALA_VERSION", "2.13");
        builder.environment().put("SPARK_LOCAL_IP", address);
        return builder.start();
    }

    /** A Java program with the class path of the tests, as Spark starts it. */
    static ProcessBuilder java(List<String> options, String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin/java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    String master() {
        return "spark://127.0.0.1:" + port;
    }

    /** A session whose executors have the class path of the tests. */
    static SparkSession session(String master, Map<String, Object> more) {
        return SparkSession.builder().master(master).config("spark.ui.enabled", false)
                .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.executor.memory", "512m").config("spark.executor.extraJavaOptions",
                        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
                .config("spark.executor.extraClassPath", System.getProperty("java.class.path"))
                .config("spark.sql.shuffle.partitions", 2)
                .config(more).getOrCreate();
    }

    /** Kills an executor and its worker, which would start it again; then starts another worker on that host. */
    void killWorkerOf(long executor) throws IOException {
        ProcessHandle process = ProcessHandle.of(executor).orElseThrow();
        ProcessHandle worker = process.parent().orElseThrow();
        worker.destroyForcibly();
        process.destroyForcibly();
        startWorker(hosts.get(worker.pid()));
    }

    /** Ends all processes, and those that they have started. */
    @Override
    public void close() {
        for (Process process : processes.reversed()) {
            List<ProcessHandle> children = process.descendants().toList();
            process.destroyForcibly();
            children.forEach(ProcessHandle::destroyForcibly);
        }
        for (Process process : processes) {
            try {
                process.waitFor(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while processes end", e);
            }
        }
    }
}
