// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** A real broker, one KRaft node in a process of its own, on a loopback port. */
final class Broker implements AutoCloseable {

    private final Path settings;
    private final Path log;
    private final String address;
    private Process process;

    private Broker(Path settings, Path log, String address) {
        this.settings = settings;
        this.log = log;
        this.address = address;
    }

    /** Starts one whose files are in a folder. */
    static Broker start(Path folder) throws Exception {
        Path settings = folder.resolve("server.properties");
        var broker = new Broker(settings, folder.resolve("broker.log"), settings(settings, folder));
        Process format = broker.run("kafka.tools.StorageTool", "format", "-t", Uuid.randomUuid().toString(), "-c",
                settings.toString());
        if (format.waitFor() != 0) {
            throw new IllegalStateException("format: " + Files.readString(broker.log));
        }
        // Another process may have taken the ports.
        broker = new Broker(settings, broker.log, settings(settings, folder));
        broker.start();
        return broker;
    }

    /** Writes its settings; returns its address. */
    private static String settings(Path settings, Path folder) throws IOException {
        try (ServerSocket port = freePort(); ServerSocket controller = freePort()) {
            Files.writeString(settings, """
                    process.roles=broker,controller
                    node.id=1
                    controller.quorum.voters=1@localhost:%2$d
                    listeners=PLAINTEXT://localhost:%1$d,CONTROLLER://localhost:%2$d
                    advertised.listeners=PLAINTEXT://localhost:%1$d
                    controller.listener.names=CONTROLLER
                    listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
                    log.dirs=%3$s
                    offsets.topic.replication.factor=1
                    transaction.state.log.replication.factor=1
                    transaction.state.log.min.isr=1
                    transaction.state.log.num.partitions=1
                    offsets.topic.num.partitions=1
                    group.initial.rebalance.delay.ms=0
                    """.formatted(port.getLocalPort(), controller.getLocalPort(), folder.resolve("data")));
            return "localhost:" + port.getLocalPort();
        }
    }

    private static ServerSocket freePort() throws IOException {
        return new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    }

    private Process run(String main, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m", "-cp",
                System.getProperty("java.class.path"), main));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile())).start();
    }

    /** Starts it, again if it was stopped, and waits until it answers. */
    void start() throws Exception {
        process = run("kafka.Kafka", settings.toString());
        try (Admin admin = admin()) {
            admin.describeCluster().nodes().get(2, TimeUnit.MINUTES);
        }
    }

    /** Kills it. */
    void stop() {
        process.destroyForcibly().onExit().join();
    }

    String address() {
        return address;
    }

    Admin admin() {
        return Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 120_000));
    }

    void create(String topic, int partitions) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1))).all().get();
        }
    }

    /** Waits until the first partitions of a topic have leaders that answer: a producer may hang without them. */
    void awaitLeaders(String topic, int partitions) throws Exception {
        Map<TopicPartition, OffsetSpec> wanted = new HashMap<>();
        for (int partition = 0; partition < partitions; partition++) {
            wanted.put(new TopicPartition(topic, partition), OffsetSpec.latest());
        }
        try (Admin admin = admin()) {
            while (true) {
                try {
                    admin.listOffsets(wanted).all().get();
                    return;
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                        throw e;
                    }
                    Thread.sleep(20);                   // the topic was just created
                }
            }
        }
    }

    @Override
    public void close() {
        stop();
    }
}
