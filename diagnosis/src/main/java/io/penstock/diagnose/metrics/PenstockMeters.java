// SPDX-License-Identifier: Apache-2.0
package io.penstock.diagnose.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Binds metrics to a Micrometer registry: {@code new PenstockMeters(Metrics.of("train", loader)).bindTo(registry)}.
 * Names follow Micrometer, {@code penstock.slot.wait} in seconds, so that each registry converts them as usual; a
 * Prometheus registry arrives at {@link Metric#prometheusName}. The registry keeps the sources reachable.
 *
 * <p>Only this class needs the library {@code micrometer-core}.
 */
public final class PenstockMeters implements MeterBinder {

    private final Metrics metrics;

    /**
     * Creates a binder.
     *
     * @param metrics the metrics to bind
     */
    public PenstockMeters(Metrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        for (Metric metric : metrics.all()) {
            String name = "penstock." + metric.name().replace('_', '.');
            @Nullable String unit = metric.unit() == Metric.Unit.NONE ? null : metric.unit().toString();
            List<Tag> tags = metric.labels().entrySet().stream()
                    .map(label -> Tag.of(label.getKey(), label.getValue())).toList();
            // Meters refer weakly to what they read; the function keeps it alive.
            if (metric.type() == Metric.Type.COUNTER) {
                FunctionCounter.builder(name, metric, same -> metric.value().getAsDouble()).tags(tags)
                        .baseUnit(unit).description(metric.help()).register(registry);
            } else {
                Gauge.builder(name, metric, same -> metric.value().getAsDouble()).tags(tags)
                        .baseUnit(unit).description(metric.help()).register(registry);
            }
        }
    }
}
