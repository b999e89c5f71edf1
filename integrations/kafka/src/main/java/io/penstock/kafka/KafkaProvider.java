// SPDX-License-Identifier: Apache-2.0
package io.penstock.kafka;

import io.penstock.stream.StreamSource;
import io.penstock.stream.StreamSource.StreamEnd;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Opens a {@link KafkaSource} by name: {@code kafka://HOST:PORT,HOST:PORT/TOPIC}. Settings are those of Kafka's
 * consumer, for example {@code #security.protocol=SSL}.
 */
public final class KafkaProvider implements StreamSource.SourceProvider {

    private static final Pattern LOCATION = Pattern.compile("kafka://([^/]+)/([^/]+)");

    /** For {@link java.util.ServiceLoader}. */
    public KafkaProvider() {
    }

    @Override
    public String scheme() {
        return "kafka";
    }

    @Override
    public StreamSource open(String location, Map<String, String> settings, StreamEnd end) throws IOException {
        Matcher matcher = LOCATION.matcher(location);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(location + ": expected kafka://HOST:PORT/TOPIC");
        }
        KafkaSource.Builder builder = KafkaSource.builder(matcher.group(1), matcher.group(2));
        settings.forEach(builder::setting);
        return (end == StreamEnd.STOP ? builder.untilNow() : builder).open();
    }
}
