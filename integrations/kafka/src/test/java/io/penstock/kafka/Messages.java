// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes messages that say which they are: partition and number, and any number of bytes behind. */
final class Messages {

    private Messages() {
    }

    static KafkaProducer<byte[], byte[]> producer(Broker broker, Map<String, Object> more) {
        Map<String, Object> settings = new HashMap<>(more);
        settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, broker.address());
        settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
        return new KafkaProducer<>(settings);
    }

    static byte[] message(long partition, long number, int bytes) {
        return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(partition).putLong(number).array();
    }

    /** Writes messages {@code from} up to {@code to} of each partition; fails if the broker does not take one. */
    static void write(Broker broker, String topic, int partitions, int from, int to, int bytes) throws Exception {
        broker.awaitLeaders(topic, partitions);
        var failure = new AtomicReference<Exception>();
        try (var producer = producer(broker, Map.of())) {
            for (int number = from; number < to; number++) {
                for (int partition = 0; partition < partitions; partition++) {
                    producer.send(new ProducerRecord<>(topic, partition, null, message(partition, number, bytes)),
                            (_, failed) -> failure.compareAndSet(null, failed));
                }
            }
        }
        if (failure.get() != null) {
            throw new IllegalStateException("a message was not written", failure.get());
        }
    }
}
